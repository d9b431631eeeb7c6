#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "connect/played_sources.hpp"
#include "connect/presynaptic_table.hpp"
#include "connect/row_addresses.hpp"
#include "connect/table_builder.hpp"
#include "engine/lowering.hpp"
#include "engine/neuron_access.hpp"
#include "engine/queries.hpp"
#include "engine/shard.hpp"
#include "engine/shard_memory.hpp"
#include "engine/simulation.hpp"
#include "engine/spike_traffic.hpp"
#include "engine/times.hpp"
#include "engine/workers.hpp"
#include "parallel/team.hpp"

namespace ranvier::engine {

/// What a simulation consists of. Only the files of the engine that implement one include this: simulation.cpp builds and
/// runs it, simulation_measures.cpp tells what it took, simulation_data.cpp reads and changes what is in it.
struct Simulation::Implementation {
    Implementation(Network description, SimulationOptions chosen, std::shared_ptr<comm::Communicator> processes,
                   OwnMachine own_machine);

    /// The node that the memory of the calling worker will lie on, if that is known before it is touched.
    std::uint32_t node_of_worker() const { return team->pinned() ? parallel::current_node() : node_of_all; }
    /// Puts down in the account what others allocate.
    void count_foreign_memory();
    void start_workers();
    void build(const Poll& poll);
    void build_traffic(connect::RowNumbering numbering, const Poll& poll);
    void run(Step steps, const Poll& poll);
    void run_worker(std::uint32_t worker, Step first, Step last);
    void run_epoch(std::uint32_t shard, const Epoch& present, WorkerTimes& times, LapTimer& timer);
    /// @throws StateError when a variable of a neuron is infinite or not a number
    void check_finite() const;
    bool stops(std::uint64_t epoch_number);
    void trace_epoch(const WorkerTimes& before, const WorkerTimes& after);
    template <class Job>
    void run_together(parallel::Team& workers, Job job, const Poll& poll);
    NeuronAccess neurons() const { return {lowered, layout, shards, *communicator}; }
    ConnectionAccess connections() const { return {lowered, shards, *communicator}; }
    std::uint32_t threads() const { return static_cast<std::uint32_t>(places.size()); }
    std::uint32_t shard_count() const { return static_cast<std::uint32_t>(layout.shards().size()); }
    /// Whether no other process ever waits for this one.
    bool is_alone() const { return communicator->size() == 1 || communicator->is_dry_run(); }

    std::shared_ptr<comm::Communicator> communicator;
    Network network;
    LoweredNetwork lowered;
    SimulationOptions options;
    std::uint32_t window;
    connect::BuildOptions build_options;
    OwnMachine machine;
    std::vector<parallel::Place> places;
    parallel::StealingPolicy stealing;
    connect::ProcessLayout layout;
    bool sorted = true;  ///< connections, by source
    Step epoch_steps = 1;  ///< spikes are exchanged at its multiples: none arrives earlier than that
    std::unique_ptr<parallel::Team> team;
    /// One worker for each shard: building tables and looking at them is done side by side. The team itself, unless there
    /// are more shards than threads.
    std::unique_ptr<parallel::Team> more_workers;
    parallel::Team* shard_team = nullptr;
    parallel::MemoryAccount account = make_memory_account();
    /// Of memory that no worker owns.
    std::uint32_t node_of_all = parallel::node_count() == 1 ? 0 : parallel::any_node;
    std::vector<std::unique_ptr<Shard>> shards;
    connect::RowAddresses addresses;
    std::shared_ptr<const connect::PresynapticTable> presynaptic;
    std::optional<connect::PlayedSources> played_sources;  ///< in a dry run
    std::uint64_t build_rounds = 0;
    std::unique_ptr<SpikeTraffic> traffic;
    std::atomic<Step> step{0};
    Step counted_from = 0;
    PhaseTimes phases;
    std::vector<WorkerTimes> worker_times;
    std::vector<EpochTimes> epoch_times;
    std::uint64_t traced_spikes = 0;  ///< those of all epochs that were traced
    /// Whether a run ends early after an epoch, written by worker 0 before the barrier that ends it; one for each of two
    /// epochs in turn, like the outboxes.
    std::array<bool, 2> stop_decision{};
    bool stopped = false;  ///< the last run ended early
    /// Whole epochs begun since the start; chooses the outbox.
    std::uint64_t epoch = 0;
};

}  // namespace ranvier::engine
