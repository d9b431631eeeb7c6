#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "engine/simulation.hpp"
#include "parallel/pinning.hpp"
#include "parallel/team.hpp"
#include "parallel/topology.hpp"

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
    parallel::TeamOptions team_options(const std::string& pinning, const std::vector<parallel::Place>& places,
                                       parallel::StealingPolicy stealing) const;

   private:
    parallel::Topology topology_;
    std::int32_t host_rank_;
    std::int32_t host_size_;
    bool shares_;  ///< whether the processes of the host have more threads than the host has processors
    std::uint32_t default_threads_;
};

}  // namespace ranvier::engine
