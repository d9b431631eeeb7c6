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

/// The pairs of shards of a process with synapses between them, and their shortest delays, which alone determine how
/// far a shard may be ahead of another one. Shards of other processes that are read here are numbered after the local
/// ones.
class PairDelays {
   public:
    struct Pair {
        std::uint32_t shard = 0;
        Step least = 0;  ///< steps, of all synapses of the pair
    };

    /// Scans all synapses.
    /// @pre the tables have the sources of their rows
    PairDelays(std::span<const std::unique_ptr<Shard>> shards, const connect::ProcessLayout& layout,
               parallel::Team& team, const RemotePairs& remote = {});

    /// Number of shards, including those of other processes.
    std::uint32_t shards() const { return static_cast<std::uint32_t>(targets_.size()); }

    /// The source shards of a shard, without itself, the shortest delays first.
    std::span<const Pair> sources(std::uint32_t shard) const { return sources_[shard]; }
    /// The target shards of a shard on this process, without itself.
    std::span<const std::uint32_t> targets(std::uint32_t shard) const { return targets_[shard]; }
    /// The shortest delay between neurons of one shard; 0: no synapses.
    Step within_shard(std::uint32_t shard) const { return within_shards_[shard]; }
    /// Whether no shard could advance by more than two steps at a time: each shard with sources also sends spikes to
    /// one of these, both after a single step. Also true for a single shard. If other processes have shards, it is
    /// true only if each shard of this one gets spikes from each other shard after a single step.
    /// @param all shards of all processes
    bool is_lockstep(std::uint64_t all) const;

   private:
    std::vector<std::vector<Pair>> sources_;
    std::vector<std::vector<std::uint32_t>> targets_;
    std::vector<Step> within_shards_;
};

}  // namespace ranvier::engine
