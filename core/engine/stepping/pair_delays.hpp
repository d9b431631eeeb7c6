#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/shard/shard.hpp"
#include "engine/stepping/remote_pairs.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/connect/placement/layout.hpp"
#include "ranvier/parallel/team.hpp"

namespace ranvier::engine {

/// Which shards of a process get spikes from which others, and how late at the earliest: how far a shard may be ahead of
/// another one follows from this alone. Shards of other processes that are read here are numbered after the own ones.
class PairDelays {
   public:
    struct Pair {
        std::uint32_t shard = 0;
        Step least = 0;  ///< steps, of all synapses of the pair
    };

    /// Looks at all synapses. @pre the tables know the sources of their rows
    PairDelays(std::span<const std::unique_ptr<Shard>> shards, const connect::ProcessLayout& layout,
               parallel::Team& team, const RemotePairs& remote = {});

    /// How many there are, with those of other processes.
    std::uint32_t shards() const { return static_cast<std::uint32_t>(targets_.size()); }

    /// From whom a shard gets spikes, without itself, the shortest delays first.
    std::span<const Pair> sources(std::uint32_t shard) const { return sources_[shard]; }
    /// Which shards of this process it sends spikes to, without itself.
    std::span<const std::uint32_t> targets(std::uint32_t shard) const { return targets_[shard]; }
    /// Of the synapses between neurons of one shard; 0: there are none.
    Step own(std::uint32_t shard) const { return own_[shard]; }
    /// Whether no shard could advance by more than two steps at a time: each that gets spikes also sends some to one of those
    /// that it gets them from, both after a single step. So it is for a single shard, too. Where other processes have shards,
    /// only if each shard of this one gets spikes from each other one after a single step.
    /// @param all shards of all processes
    bool is_lockstep(std::uint64_t all) const;

   private:
    std::vector<std::vector<Pair>> sources_;
    std::vector<std::vector<std::uint32_t>> targets_;
    std::vector<Step> own_;
};

}  // namespace ranvier::engine
