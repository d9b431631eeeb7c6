#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/simulation/machine.hpp"
#include "ranvier/comm/communicator.hpp"
#include "ranvier/engine/options.hpp"
#include "ranvier/engine/simulation.hpp"
#include "ranvier/engine/times.hpp"
#include "ranvier/parallel/pinning.hpp"
#include "ranvier/parallel/stealing.hpp"
#include "ranvier/parallel/team.hpp"

namespace ranvier::engine {

/// The threads of a process that build and advance its shards.
class Workers {
   public:
    Workers(std::shared_ptr<comm::Communicator> communicator, OwnMachine machine, const SimulationOptions& options);

    /// Starts the threads: before, only their number and their places are known.
    void start(const SimulationOptions& options);

    std::uint32_t size() const { return static_cast<std::uint32_t>(places_.size()); }
    const std::vector<parallel::Place>& places() const { return places_; }
    const OwnMachine& machine() const { return machine_; }
    parallel::StealingPolicy stealing() const { return stealing_; }
    parallel::Team& team() const { return *team_; }
    /// Whether no other process ever waits for this one.
    bool is_alone() const { return communicator_->size() == 1 || communicator_->is_dry_run(); }

    /// Runs a job on the team in which processes meet. If one of the workers throws on the way, the others would wait for it
    /// for ever: so this ends the run of all processes. Where there are no others, the shards stop at different steps; see
    /// has_failed().
    void run_together(const std::function<void(std::uint32_t)>& job, const Poll& poll);
    /// The same for a job that is done for each shard, by the worker that it belongs to.
    void run_for_shards(std::uint32_t shards, const std::function<void(std::uint32_t)>& job, const Poll& poll);
    /// Whether a worker has failed within a run.
    bool has_failed() const { return has_failed_; }
    /// @throws StateError then
    void check_whole() const;

    /// Seconds that each has spent since the last reset of the counts.
    std::vector<WorkerTimes>& times() { return times_; }
    const std::vector<WorkerTimes>& times() const { return times_; }
    /// What other programs took from them since then.
    Crowding crowding() const;
    void reset_counts();

   private:
    Crowding crowding_since_start() const;

    std::shared_ptr<comm::Communicator> communicator_;
    OwnMachine machine_;
    std::vector<parallel::Place> places_;
    parallel::StealingPolicy stealing_;
    std::unique_ptr<parallel::Team> team_;
    std::vector<WorkerTimes> times_;
    Crowding crowding_before_;  ///< until the last reset of the counts
    bool has_failed_ = false;
};

}  // namespace ranvier::engine
