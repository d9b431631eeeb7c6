#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ranvier/comm/communicator.hpp"
#include "ranvier/engine/simulation.hpp"
#include "ranvier/parallel/pinning.hpp"
#include "ranvier/parallel/team.hpp"
#include "ranvier/parallel/topology.hpp"

namespace ranvier::engine {

/// The share of the machine that this process can use: the processors it may use, or its part of those that all
/// processes of the host may use.
class MachineShare {
   public:
    /// @note Collective.
    explicit MachineShare(comm::Communicator& communicator);

    const parallel::Topology& topology() const { return topology_; }
    /// Default number of threads of a process: one for each processor, or as many as a quota allows.
    std::uint32_t default_threads() const { return default_threads_; }

    /// Places the threads of this process.
    /// @throws UnknownNameError, ShapeError, ValueOutOfBoundsError for a pinning that is neither a policy nor a valid
    ///         list
    std::vector<parallel::Place> place(const std::string& pinning, std::uint32_t threads) const;
    /// Whether some processor has more than one thread of the processes of this program.
    bool is_crowded(const std::vector<parallel::Place>& places) const;
    /// Whether the only threads of two processes may be put on one processor while other programs compete: since they
    /// wait for each other in each epoch, they then take little longer than one. The same on both. @note Collective.
    bool may_gather(comm::Communicator& communicator, const std::string& pinning,
                    std::span<const parallel::Place> places) const;
    parallel::TeamOptions team_options(const std::string& pinning, const std::vector<parallel::Place>& places,
                                       parallel::StealingPolicy stealing) const;

   private:
    parallel::Topology topology_;
    std::int32_t host_rank_;
    std::int32_t host_size_;
    bool is_shared_;  ///< by all processes of the host, which are not bound to different processors
    bool shares_;  ///< whether the processes of the host have more threads than the host has processors
    std::uint32_t default_threads_;
};

}  // namespace ranvier::engine
