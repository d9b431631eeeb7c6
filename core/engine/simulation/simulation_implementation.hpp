#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "connect/routing/played_sources.hpp"
#include "connect/routing/presynaptic_table.hpp"
#include "connect/routing/row_addresses.hpp"
#include "connect/tables/table_builder.hpp"
#include "engine/queries/neuron_access.hpp"
#include "engine/queries/queries.hpp"
#include "engine/shard/shard.hpp"
#include "engine/shard/shard_memory.hpp"
#include "engine/simulation.hpp"
#include "engine/simulation/machine.hpp"
#include "engine/stepping/async_stepping.hpp"
#include "engine/stepping/spike_traffic.hpp"
#include "engine/times.hpp"
#include "network/lowering/lowering.hpp"
#include "parallel/team.hpp"

namespace ranvier::engine {

/// What the workers do in a round: the same for each shard.
enum class RoundKind : std::uint8_t {
    update,     ///< deliver the spikes of the last epoch, then update to the end of the present one
    collocate,  ///< put the spikes of the present epoch where the exchange takes them from
    collect,    ///< sort what has arrived
    finish,     ///< deliver the spikes of the last epoch of the run
};

/// How far a run is. Changed between two rounds, by one worker while the others do nothing.
struct RunProgress {
    RoundKind kind = RoundKind::update;
    Epoch present;
    Epoch past;  ///< the one before; its end is 0 when there is none in this run
    Step last = 0;
    bool first_transfer = true;  ///< of the present epoch
    bool ends = false;           ///< with the present epoch
    bool stops = false;          ///< all processes have decided to end early, with the present epoch
    bool fails_here = false;     ///< a neuron has failed in an epoch before
    bool fails = false;          ///< one of any process has, and all know
    // Of what is traced.
    EpochTimes traced;  ///< all until the last epoch
    LapTimer epoch_timer;
};

/// What a simulation consists of. Only the files of the engine that implement one include this: simulation.cpp builds it,
/// simulation_run.cpp runs it, simulation_measures.cpp tells what it took, simulation_data.cpp reads and changes what is in it.
struct Simulation::Implementation {
    Implementation(network::Network description, SimulationOptions chosen,
                   std::shared_ptr<comm::Communicator> processes, OwnMachine own_machine);

    /// The node that the memory of the calling worker will lie on, if that is known before it is touched.
    std::uint32_t node_of_worker() const { return team->pinned() ? parallel::current_node() : node_of_all; }
    /// Enters in the account what others allocate.
    void count_foreign_memory();
    void start_workers();
    void build(const Poll& poll);
    /// So that they can be saved while they are under way. @note Collective.
    void remember_sent_spikes();
    void build_traffic(connect::RowNumbering numbering, const Poll& poll);
    /// Through the exchange, at the end of each epoch. @note Collective.
    std::unique_ptr<SpikeTraffic> make_epoch_traffic();
    /// @note Collective.
    void build_stepping();
    void run(Step steps, const Poll& poll);
    void run_epochs(const Poll& poll);
    void run_asynchronously(Step first, Step last, const Poll& poll);
    /// Brings what static synapses have under way after step `now` to where it is then: their spikes are sent again, those of
    /// the last `steps` steps, which each shard has been given. @note Collective.
    void replay(Step now, Step steps);
    /// @throws StateError after a worker has failed within a run
    void check_whole() const;
    /// @throws StateError when a variable of a neuron is infinite or not a number, or beyond its bounds
    void check_finite() const;
    struct FirstFailure {
        models::GroupFailure failure;
        Step step;
        NeuronId neuron;
        PopulationId population;
    };
    [[noreturn]] void tell(const FirstFailure& first) const;
    void note_failures();
    /// @throws ValueOutOfBoundsError when a weight has grown beyond what sums have room for
    void check_growth() const;
    /// @throws StateError when a variable that synapses share has become infinite
    void check_rows() const;
    Crowding crowding_since_start() const;
    void run_item(std::uint32_t shard, WorkerTimes& times, LapTimer& timer);
    void update_shard(std::uint32_t shard, WorkerTimes& times, LapTimer& timer);
    bool begin_next_round(WorkerTimes& times, LapTimer& timer);
    void begin_epoch();
    bool end_epoch();
    bool stops(std::uint64_t epoch_number);
    void trace_epoch();
    void run_together(const std::function<void(std::uint32_t)>& job, const Poll& poll);
    /// The same for a job that is done for each shard, by the worker that it belongs to.
    void run_for_shards(const std::function<void(std::uint32_t)>& job, const Poll& poll);
    /// For each shard that has units of a population, to play other lists of spikes.
    std::vector<std::unique_ptr<models::ParameterChange>> prepare_spikes(PopulationId population,
                                                                         std::span<const std::vector<Step>> lists);
    void play(PopulationId population, network::SpikeLists lists,
              std::span<const std::unique_ptr<models::ParameterChange>> changes);
    void note_set(PopulationId population, std::string_view name);
    NeuronAccess neurons() const { return {lowered, layout, shards, *communicator}; }
    ConnectionAccess connections() const { return {lowered, shards, weight_bounds, *communicator}; }
    std::uint32_t threads() const { return static_cast<std::uint32_t>(places.size()); }
    std::uint32_t shard_count() const { return static_cast<std::uint32_t>(layout.shards().size()); }
    /// Whether no other process ever waits for this one.
    bool is_alone() const { return communicator->size() == 1 || communicator->is_dry_run(); }

    std::shared_ptr<comm::Communicator> communicator;
    network::Network network;
    network::LoweredNetwork lowered;
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
    bool may_gather = false;  ///< see OwnMachine::may_gather()
    parallel::MemoryAccount account = make_memory_account();
    /// Of memory that no worker owns.
    std::uint32_t node_of_all = parallel::node_count() == 1 ? 0 : parallel::any_node;
    /// What groups of neurons of all shards have in common.
    parallel::NodeMemory shared_memory{account, purpose_of(Component::neurons), {.node = node_of_all}};
    models::SharedParts shared_parts{&shared_memory};
    std::vector<std::unique_ptr<Shard>> shards;
    connect::RowAddresses addresses;
    std::shared_ptr<const connect::PresynapticTable> presynaptic;
    std::optional<connect::PlayedSources> played_sources;  ///< in a dry run
    std::uint64_t build_rounds = 0;
    /// By kind: the greatest absolute value that weights that learn may come to have; 0 for static ones.
    std::vector<double> weight_bounds;
    std::unique_ptr<SpikeTraffic> traffic;
    std::unique_ptr<AsyncStepping> async;  ///< null: all shards advance together
    std::atomic<Step> step{0};
    Step counted_from = 0;
    Step timed_from = 0;  ///< later than that where a state was loaded: times are not part of it
    PhaseTimes phases;
    std::vector<WorkerTimes> worker_times;
    Crowding crowding_before;  ///< until the last reset of the counts
    std::vector<EpochTimes> epoch_times;
    RunProgress progress;
    Step longest_static_delay = 0;  ///< of all processes
    bool replays = false;
    bool has_failed = false;
    /// What the user has changed since the network was built: names of parameters and spikes by population, weights by kind.
    std::vector<std::set<std::string, std::less<>>> parameters_set;
    std::vector<bool> spikes_set;
    std::vector<bool> weights_set;
    /// Whole epochs begun since the start; chooses the outbox.
    std::uint64_t epoch = 0;
};

}  // namespace ranvier::engine
