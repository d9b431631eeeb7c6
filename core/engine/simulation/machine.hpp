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

/// The part of the machine that this process may count on: what it may use, or its share of what all processes of the host
/// may use.
class OwnMachine {
   public:
    /// @note Collective.
    explicit OwnMachine(comm::Communicator& communicator);

    const parallel::Topology& topology() const { return topology_; }
    /// Threads that a process has unless it says otherwise: one for each processor, or what a quota pays for.
    std::uint32_t default_threads() const { return default_threads_; }

    /// Where the threads of this process go.
    /// @throws UnknownNameError, ShapeError, ValueOutOfBoundsError for a pinning that is not a policy or a list that suits
    std::vector<parallel::Place> place(const std::string& pinning, std::uint32_t threads) const;
    /// Whether some processor has more than one thread of the processes of this program, so that they wait for each other.
    bool is_crowded(const std::vector<parallel::Place>& places) const;
    /// Whether the only thread of each of two processes may be put on one processor while other programs want theirs: as they
    /// wait for each other in each epoch, they then take little longer than one. The same on both.
    /// @note Collective.
    bool may_gather(comm::Communicator& communicator, const std::string& pinning,
                    std::span<const parallel::Place> places) const;
    parallel::TeamOptions team_options(const std::string& pinning, const std::vector<parallel::Place>& places,
                                       parallel::StealingPolicy stealing) const;

   private:
    parallel::Topology topology_;
    std::int32_t host_rank_;
    std::int32_t host_size_;
    bool is_shared_;  ///< by all processes of the host, which nobody has bound to processors of their own
    bool shares_;  ///< whether the processes of the host have more threads than the host has processors
    std::uint32_t default_threads_;
};

}  // namespace ranvier::engine
