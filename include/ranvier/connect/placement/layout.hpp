#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ranvier/base/errors.hpp"
#include "ranvier/base/id_sequence.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/connect/placement/placement.hpp"

namespace ranvier::connect {

/// The ids of a population in the network.
struct PopulationRange {
    NeuronId first;
    std::uint64_t size = 0;
};

/// The neurons of one shard and their numbering: population by population, ids ascending.
class ShardLayout {
   public:
    /// Each population starts at a multiple of this, so that arrays over the neurons of a shard are aligned for vector
    /// instructions at the start of each population. The indices in between are unused.
    static constexpr std::uint64_t alignment = 8;

    /// The neurons of one population on this shard.
    struct PopulationShare {
        IdSequence ids;
        std::uint32_t offset = 0;  ///< local index of the first neuron
    };

    ShardLayout() = default;
    /// @param ids all ids of the shard
    ShardLayout(ShardId shard, IdSequence ids, std::span<const PopulationRange> populations)
        : shard_(shard), ids_(std::move(ids)) {
        std::uint64_t offset = 0;
        for (const PopulationRange& population : populations) {
            IdSequence local = ids_.within(population.first, population.size);
            offset = (offset + alignment - 1) / alignment * alignment;
            const std::uint64_t count = local.size();
            shares_.push_back({std::move(local), static_cast<std::uint32_t>(offset)});
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

    /// Index of the shard on its process.
    ShardId shard() const { return shard_; }
    /// One more than the largest local index.
    std::uint32_t size() const { return size_; }
    const IdSequence& ids() const { return ids_; }
    std::span<const PopulationShare> shares() const { return shares_; }
    const PopulationShare& share(PopulationId population) const { return shares_[population.value]; }

    /// @pre the neuron is on this shard and belongs to this population
    LocalIndex local_index(PopulationId population, NeuronId id) const {
        const PopulationShare& local = share(population);
        return LocalIndex{local.offset + static_cast<std::uint32_t>(local.ids.count_below(id))};
    }

    /// The population and the id of a local neuron.
    PopulationId population_of(LocalIndex local) const {
        std::size_t low = 0;
        std::size_t high = shares_.size();
        while (high - low > 1) {
            const std::size_t middle = (low + high) / 2;
            (shares_[middle].offset <= local.value ? low : high) = middle;
        }
        // Empty shares have the offset of the next one; the last share with this offset has neurons.
        return PopulationId{static_cast<std::uint32_t>(low)};
    }
    NeuronId id_of(LocalIndex local) const {
        const PopulationShare& found = share(population_of(local));
        return found.ids[local.value - found.offset];
    }

   private:
    ShardId shard_;
    std::uint32_t size_ = 0;
    IdSequence ids_;
    std::vector<PopulationShare> shares_;
};

/// The neurons of a process and of its shards: distributed over the shards round-robin, or by cost.
class ProcessLayout {
   public:
    /// @param costs of a neuron of each population, in any unit; empty: equal costs. With costs, shards get contiguous
    /// parts of each population, sized so that the sums of costs are as equal as possible.
    ProcessLayout(Placement placement, Rank rank, std::uint32_t shards, std::vector<PopulationRange> populations,
                  std::span<const double> costs = {});

    const Placement& placement() const { return placement_; }
    Rank rank() const { return rank_; }
    const IdSequence& ids() const { return ids_; }
    std::span<const PopulationRange> populations() const { return populations_; }
    std::span<const ShardLayout> shards() const { return shards_; }
    const ShardLayout& shard(std::uint32_t index) const { return shards_[index]; }
    /// Whether shards have contiguous parts of each population, sized by cost.
    bool divided_by_cost() const { return !ends_.empty(); }

    bool owns(NeuronId id) const { return placement_.rank_of(id) == rank_; }
    /// @pre owns(id)
    ShardId shard_of(NeuronId id) const {
        if (ends_.empty()) return ShardId{static_cast<std::uint32_t>(ids_.count_below(id) % shards_.size())};
        const std::uint32_t population = population_of(id).value;
        const std::uint64_t place = ids_.count_below(id) - ids_.count_below(populations_[population].first);
        const auto begin = ends_.begin() + static_cast<std::ptrdiff_t>(population * shards_.size());
        const auto end = begin + static_cast<std::ptrdiff_t>(shards_.size());
        return ShardId{static_cast<std::uint32_t>(std::upper_bound(begin, end, place) - begin)};
    }
    /// The population of a neuron. @pre it exists
    PopulationId population_of(NeuronId id) const {
        const auto after = std::upper_bound(populations_.begin(), populations_.end(), id,
                                            [](NeuronId n, const PopulationRange& range) { return n < range.first; });
        return PopulationId{static_cast<std::uint32_t>(after - populations_.begin() - 1)};
    }

    /// Bytes of lists of ids and of cuts, if the placement needs any.
    std::uint64_t bytes() const {
        std::uint64_t bytes = placement_.bytes() + ids_.bytes() + ends_.capacity() * sizeof(std::uint64_t);
        for (const ShardLayout& shard : shards_) bytes += shard.ids().bytes();
        return bytes;
    }

   private:
    Placement placement_;
    Rank rank_;
    IdSequence ids_;
    std::vector<PopulationRange> populations_;
    std::vector<ShardLayout> shards_;
    /// With costs, by population and shard: end of the shard's part among the local neurons of the population.
    std::vector<std::uint64_t> ends_;
};

/// Divides items of several kinds among owners so that the sums of costs differ by at most the cost of one item: the
/// most expensive kind first, each kind up to a common level.
/// @param counts of each kind @param costs of one of each kind, finite and not negative
/// @return counts by kind and owner
std::vector<std::uint64_t> divide_by_cost(std::span<const std::uint64_t> counts, std::span<const double> costs,
                                          std::uint32_t owners);

}  // namespace ranvier::connect
