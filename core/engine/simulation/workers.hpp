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
#include "ranvier/engine/trace.hpp"
#include "ranvier/parallel/pinning.hpp"
#include "ranvier/parallel/stealing.hpp"
#include "ranvier/parallel/team.hpp"

namespace ranvier::engine {

/// The threads of a process, which build and advance its shards.
class Workers {
   public:
    Workers(std::shared_ptr<comm::Communicator> communicator, MachineShare machine, const SimulationOptions& options);

    /// Starts the threads; before that, only their number and places are defined.
    void start(const SimulationOptions& options);

    std::uint32_t size() const { return static_cast<std::uint32_t>(places_.size()); }
    const std::vector<parallel::Place>& places() const { return places_; }
    const MachineShare& machine() const { return machine_; }
    parallel::StealingPolicy stealing() const { return stealing_; }
    parallel::Team& team() const { return *team_; }
    /// Whether no other process waits for this one.
    bool is_alone() const { return communicator_->size() == 1 || communicator_->is_dry_run(); }

    /// Runs a collective job on the team. If one of the workers throws, the other processes would wait forever: so
    /// all processes are aborted. Without other processes, the shards stop at different steps; see has_failed().
    void run_together(const std::function<void(std::uint32_t)>& job, const Poll& poll);
    /// The same for a job for each shard, on the worker to which it belongs.
    void run_for_shards(std::uint32_t shards, const std::function<void(std::uint32_t)>& job, const Poll& poll);
    /// Whether a worker has failed within a run.
    bool has_failed() const { return has_failed_; }
    /// @throws StateError then
    void check_whole() const;

    /// Seconds spent by each worker since the last reset of the counts.
    std::vector<WorkerTimes>& times() { return times_; }
    const std::vector<WorkerTimes>& times() const { return times_; }
    /// The latest work of each.
    std::vector<WorkTrace>& traces() { return traces_; }
    const std::vector<WorkTrace>& traces() const { return traces_; }
    /// Time taken by other programs since then.
    Crowding crowding() const;
    void reset_counts();

   private:
    Crowding crowding_since_start() const;

    std::shared_ptr<comm::Communicator> communicator_;
    MachineShare machine_;
    std::vector<parallel::Place> places_;
    parallel::StealingPolicy stealing_;
    std::unique_ptr<parallel::Team> team_;
    std::vector<WorkerTimes> times_;
    std::vector<WorkTrace> traces_;
    Crowding crowding_before_;  ///< at the last reset of the counts
    bool has_failed_ = false;
};

}  // namespace ranvier::engine
