#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "connect/tables/synapse_stage.hpp"

namespace ranvier::connect {

/// Capacity of the container of a source with so many synapses: exact for up to three, then doubled.
constexpr std::uint64_t container_capacity(std::uint64_t synapses) {
    return synapses <= 3 ? synapses : std::bit_ceil(synapses);
}

/// The synapses of one kind on a shard during construction, as in the kernel before the two-tier infrastructure (Kunkel
/// et al. 2014; Jordan et al. 2018, Figure 2): each source has a container that is allocated separately and grows with
/// each synapse, and a sparse table over all possible sources has the containers. It is kept for comparison.
template <class Weight>
class SourceContainers {
   public:
    struct Synapse {
        Weight weight;
        std::uint32_t target;
        std::uint16_t delay;
        std::uint16_t tag;
    };

    /// @param possible number of possible sources @param parameters number of per-synapse parameters
    SourceContainers(std::uint64_t possible, std::size_t parameters)
        : groups_((possible + group_size - 1) / group_size), parameters_(parameters) {}

    template <class Batch>
    void add(const Batch& batch) {
        for (std::size_t i = 0; i < batch.count; ++i) {
            std::byte* const place = grow(batch.row(i));
            const Synapse synapse{.weight = static_cast<Weight>(batch.weight(i)),
                                  .target = batch.target(i),
                                  .delay = batch.delay(i),
                                  .tag = batch.tag};
            std::memcpy(place, &synapse, sizeof(Synapse));
            if constexpr (requires { batch.parameters; }) {
                for (std::size_t k = 0; k < parameters_; ++k) {
                    const auto value = static_cast<Weight>(batch.parameters[k * batch.stride + i]);
                    std::memcpy(place + sizeof(Synapse) + k * sizeof(Weight), &value, sizeof(Weight));
                }
            }
        }
    }

    /// Calls visit(row, synapse, parameters) for each synapse, in ascending order of rows, and those of a row in the
    /// order in which they were added.
    template <class Visit>
    void for_each(Visit visit) const {
        std::vector<Weight> parameters(parameters_);
        for (std::size_t index = 0; index < groups_.size(); ++index) {
            const Group& group = groups_[index];
            std::uint64_t left = group.bits;
            for (std::size_t turn = 0; left != 0; ++turn, left &= left - 1) {
                const auto row =
                    static_cast<std::uint32_t>(index * group_size + static_cast<std::size_t>(std::countr_zero(left)));
                const std::byte* const container = group.containers[turn].get();
                const std::uint64_t count = size(container);
                for (std::uint64_t i = 0; i < count; ++i) {
                    const std::byte* const place = container + head_bytes + i * record_bytes();
                    Synapse synapse;
                    std::memcpy(&synapse, place, sizeof(Synapse));
                    std::memcpy(parameters.data(), place + sizeof(Synapse), parameters_ * sizeof(Weight));
                    visit(row, synapse, std::span<const Weight>(parameters));
                }
            }
        }
    }

    /// Bytes of a container with so many synapses.
    static constexpr std::size_t bytes(std::uint64_t synapses, std::size_t parameters) {
        return head_bytes + container_capacity(synapses) * (sizeof(Synapse) + parameters * sizeof(Weight));
    }
    /// Bytes of the sparse table without the pointers to containers, 8 bytes each.
    static constexpr std::size_t table_bytes(std::uint64_t possible) {
        return (possible + group_size - 1) / group_size * sizeof(Group);
    }

   private:
    using Container = std::unique_ptr<std::byte[]>;
    /// As in google::sparsetable, which the paper's kernel uses: 48 entries; only those in use are stored.
    static constexpr std::uint64_t group_size = 48;
    struct Group {
        std::uint64_t bits = 0;
        std::unique_ptr<Container[]> containers;
    };
    /// Number of synapses, padded.
    static constexpr std::size_t head_bytes = sizeof(std::uint64_t);

    std::size_t record_bytes() const { return sizeof(Synapse) + parameters_ * sizeof(Weight); }
    static std::uint64_t size(const std::byte* container) {
        std::uint64_t count = 0;
        std::memcpy(&count, container, sizeof(count));
        return count;
    }

    /// Returns the place of a further synapse of a row.
    std::byte* grow(std::uint32_t row) {
        Container& container = find(row);
        const std::uint64_t count = container == nullptr ? 0 : size(container.get());
        if (container == nullptr || container_capacity(count) == count) {
            // Not make_unique, which would clear it.
            Container larger(new std::byte[bytes(count + 1, parameters_)]);
            if (count > 0) std::memcpy(larger.get(), container.get(), head_bytes + count * record_bytes());
            container = std::move(larger);
        }
        const std::uint64_t grown = count + 1;
        std::memcpy(container.get(), &grown, sizeof(grown));
        return container.get() + head_bytes + count * record_bytes();
    }

    /// Returns the container of a row, null if it has no synapses yet.
    Container& find(std::uint32_t row) {
        Group& group = groups_[row / group_size];
        const std::uint64_t bit = std::uint64_t{1} << row % group_size;
        const auto before = static_cast<std::size_t>(std::popcount(group.bits & (bit - 1)));
        if ((group.bits & bit) == 0) {
            const auto present = static_cast<std::size_t>(std::popcount(group.bits));
            auto larger = std::make_unique<Container[]>(present + 1);
            std::move(group.containers.get(), group.containers.get() + before, larger.get());
            std::move(group.containers.get() + before, group.containers.get() + present, larger.get() + before + 1);
            group.containers = std::move(larger);
            group.bits |= bit;
        }
        return group.containers[before];
    }

    std::vector<Group> groups_;
    std::size_t parameters_ = 0;
};

}  // namespace ranvier::connect
