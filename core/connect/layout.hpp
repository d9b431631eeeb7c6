#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "base/ids.hpp"

namespace ranvier::connect {

/// Where a population stands in the network.
struct PopulationRange {
    NeuronId first;
    std::uint64_t size = 0;
};

/// Which neurons one shard owns and how it numbers them: neurons are dealt to shards round-robin by id, and a shard
/// numbers its own population by population, ids ascending.
class ShardLayout {
   public:
    /// Each population begins at a multiple of this, so that arrays over the neurons of a shard are aligned for vector
    /// instructions wherever a population begins. The indices in between are unused.
    static constexpr std::uint64_t alignment = 8;

    /// The neurons of one population on this shard: ids first, first + shards, ...
    struct Part {
        NeuronId first;
        std::uint64_t count = 0;
        std::uint32_t offset = 0;  ///< local index of the first one
    };

    ShardLayout() = default;
    ShardLayout(ShardId shard, std::uint32_t shards, std::span<const PopulationRange> populations)
        : shard_(shard), shards_(shards) {
        std::uint64_t offset = 0;
        for (const PopulationRange& population : populations) {
            const auto [skip, count] = local(population.first, population.size);
            offset = (offset + alignment - 1) / alignment * alignment;
            parts_.push_back({NeuronId{population.first.value + skip}, count, static_cast<std::uint32_t>(offset)});
            offset += count;
            if (offset > UINT32_MAX) {
                throw ValueOutOfBoundsError({.object = "number of neurons on one shard",
                                             .value = std::to_string(offset),
                                             .bound = "a shard holds at most 4294967295",
                                             .remedy = "use more threads"});
            }
        }
        size_ = static_cast<std::uint32_t>(offset);
    }

    ShardId shard() const { return shard_; }
    std::uint32_t shards() const { return shards_; }
    /// One more than the largest local index.
    std::uint32_t size() const { return size_; }
    std::span<const Part> parts() const { return parts_; }
    const Part& part(PopulationId population) const { return parts_[population.value]; }

    struct LocalRange {
        std::uint64_t skip = 0;   ///< how many ids come before the first that is here
        std::uint64_t count = 0;  ///< how many are here
    };
    /// Which of the ids first, first + 1, ..., first + size - 1 are on this shard.
    LocalRange local(NeuronId first, std::uint64_t size) const {
        const std::uint64_t skip = (shard_.value + shards_ - first.value % shards_) % shards_;
        return {skip, skip < size ? (size - skip - 1) / shards_ + 1 : 0};
    }

    /// @pre the neuron is on this shard and belongs to this population
    LocalIndex local_index(PopulationId population, NeuronId id) const {
        const Part& own = part(population);
        return LocalIndex{own.offset + static_cast<std::uint32_t>((id.value - own.first.value) / shards_)};
    }

    /// The population and the id of a local neuron.
    PopulationId population_of(LocalIndex local) const {
        std::size_t low = 0;
        std::size_t high = parts_.size();
        while (high - low > 1) {
            const std::size_t middle = (low + high) / 2;
            (parts_[middle].offset <= local.value ? low : high) = middle;
        }
        // Empty parts share the offset of the next one; the last of them is the one that has neurons.
        return PopulationId{static_cast<std::uint32_t>(low)};
    }
    NeuronId id_of(LocalIndex local) const {
        const Part& own = part(population_of(local));
        return NeuronId{own.first.value + std::uint64_t{local.value - own.offset} * shards_};
    }

   private:
    ShardId shard_;
    std::uint32_t shards_ = 1;
    std::uint32_t size_ = 0;
    std::vector<Part> parts_;
};

}  // namespace ranvier::connect
