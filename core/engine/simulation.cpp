#include "engine/simulation.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <numeric>
#include <utility>

#include "base/errors.hpp"
#include "connect/placement.hpp"
#include "connect/presynaptic_table.hpp"
#include "connect/row_addresses.hpp"
#include "connect/table_builder.hpp"
#include "engine/agreement.hpp"
#include "engine/description.hpp"
#include "engine/lowering.hpp"
#include "engine/memory.hpp"
#include "engine/memory_samples.hpp"
#include "engine/neuron_access.hpp"
#include "engine/options.hpp"
#include "engine/queries.hpp"
#include "engine/shard.hpp"
#include "engine/shard_memory.hpp"
#include "engine/spike_traffic.hpp"
#include "engine/workers.hpp"
#include "parallel/team.hpp"

namespace ranvier::engine {

namespace {

std::vector<connect::PopulationRange> to_vector(std::span<const connect::PopulationRange> ranges) {
    return {ranges.begin(), ranges.end()};
}

/// Empties a list and its memory.
template <class T>
void give_back(std::pmr::vector<T>& list) {
    list = std::pmr::vector<T>(list.get_allocator());
}

}  // namespace

struct Simulation::Implementation {
    Implementation(const Network& description, SimulationOptions chosen, std::shared_ptr<comm::Communicator> processes,
                   OwnMachine own_machine)
        : communicator(std::move(processes)),
          network(description),
          lowered(network),
          options(std::move(chosen)),
          window(choose_window(options)),
          build_options(make_build_options(network, options)),
          machine(std::move(own_machine)),
          places(machine.place(options.pinning, choose_threads(options, machine.default_threads()))),
          stealing(parallel::parse_stealing(options.stealing)),
          layout(make_placement(network, options, communicator->size()), communicator->rank(),
                 choose_shards(options, threads()), to_vector(lowered.ranges()), checked_costs(options, network)) {
        if (network.unit_count() == 0) {
            throw StateError({.object = "network",
                              .value = "empty",
                              .bound = "a simulation needs at least one neuron",
                              .remedy = "create a population first"});
        }
        check_options(options, network, layout.placement().kind(), communicator->is_dry_run());
        sorted = choose_sorting(options, lowered.plans(), communicator->size(), shard_count());
        for (std::size_t i = 0; i < network.stimuli().size(); ++i) lowered.receptor(i);
    }

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

/// Runs a job on the team in which processes meet. What one of them throws on the way cannot be waited for by the others:
/// it ends the run of all.
template <class Job>
void Simulation::Implementation::run_together(parallel::Team& workers, Job job, const Poll& poll) {
    if (is_alone()) {
        workers.run(job, poll);
        return;
    }
    std::exception_ptr interruption;
    try {
        workers.run(job, [&] {
            if (!poll || interruption) return;
            try {
                poll();
            } catch (...) {
                interruption = std::current_exception();
                throw;
            }
        });
    } catch (...) {
        const std::exception_ptr failure = std::current_exception();
        // The processes have stopped together, or this one had done all that was asked for.
        if (failure == interruption) throw;
        end_all(*communicator, failure);
    }
}

void Simulation::Implementation::start_workers() {
    team = std::make_unique<parallel::Team>(places, machine.team_options(places, stealing));
    worker_times.resize(threads());
    shard_team = team.get();
    if (shard_count() == threads()) return;
    // Where the workers are who will update the shards, so that memory is touched first from there.
    std::vector<parallel::Place> of_shards;
    for (std::uint32_t shard = 0; shard < shard_count(); ++shard) of_shards.push_back(places[shard % threads()]);
    more_workers =
        std::make_unique<parallel::Team>(of_shards, parallel::TeamOptions{.spinning = parallel::Spinning::never});
    shard_team = more_workers.get();
}

void Simulation::Implementation::build(const Poll& poll) {
    // Processes that differ in their shards may see it differently, but must do the same.
    sorted = communicator->greatest(sorted ? 1 : 0) != 0;
    if (!sorted) build_options.numbering = connect::RowNumbering::unsorted;
    agree(*communicator, "building the network", [&] {
        check_memory(estimate_memory(lowered, layout, build_options, options, window, 0.0), options.memory_limit,
                     communicator->host_size());
    });
    account.add(node_of_all, purpose_of(Component::neurons), layout.bytes());
    LapTimer timer;
    std::unique_ptr<connect::TableBuilder> builder;
    agree(*communicator, "building the network", [&] {
        start_workers();
        builder =
            std::make_unique<connect::TableBuilder>(lowered.plans(), layout, build_options, *shard_team, communicator);
        shards.resize(shard_count());
    });
    communicator->expect_threads(static_cast<std::int32_t>(threads()));
    // An interruption would leave processes behind that wait in a collective.
    const Poll build_poll = is_alone() ? poll : Poll{};
    run_together(
        *shard_team,
        [&](std::uint32_t worker) {
            shards[worker] = std::make_unique<Shard>(lowered, layout.shard(worker), options,
                                                     build_options.instruction_set, account, node_of_worker());
            const ShardMemory& memory = shards[worker]->memory();
            builder->build(worker, {.synapses = memory[Component::synapses], .spikes = memory[Component::spikes]});
        },
        build_poll);
    phases.build = timer.lap();
    run_together(
        *shard_team, [&](std::uint32_t worker) { shards[worker]->set_tables(builder->finish(worker), window); },
        build_poll);
    const connect::RowNumbering numbering = builder->numbering();
    builder.reset();
    build_traffic(numbering, build_poll);
    phases.init = timer.lap();
}

/// The presynaptic side and the exchange, where spikes have to travel.
void Simulation::Implementation::build_traffic(connect::RowNumbering numbering, const Poll& poll) {
    const Step shortest = std::min(lowered.shortest_delay(), longest_epoch);
    epoch_steps = shortest;
    if (communicator->size() == 1 && sorted) {
        traffic = std::make_unique<SpikeTraffic>(shards, *team);
        return;
    }
    std::vector<const connect::ShardTables*> tables;
    for (const auto& shard : shards) tables.push_back(&shard->tables());
    addresses = connect::RowAddresses(numbering, lowered.plans(), std::move(tables));
    const comm::ExchangeInfo& method = comm::find_exchange(options.exchange);
    if (method.directed || method.name == "auto") {
        connect::PresynapticTableBuilder presynaptic_builder(layout, addresses, communicator, options.connection_buffer,
                                                             *shard_team);
        run_together(
            *shard_team,
            [&](std::uint32_t worker) {
                presynaptic_builder.build(worker, shards[worker]->memory()[Component::presynaptic]);
            },
            poll);
        presynaptic = presynaptic_builder.finish();
        build_rounds = presynaptic_builder.rounds();
    }
    if (!options.keep_sources) {
        for (const auto& shard : shards) shard->forget_sources();
    }
    // With two intervals, a spike that is emitted at the beginning of one arrives after the end of the next.
    const std::uint32_t intervals = shortest >= 2 ? options.intervals : 1;
    const comm::ExchangeArguments arguments{
        .communicator = communicator,
        .destinations = presynaptic,
        .source_of = [this](Rank rank, std::uint64_t place) { return layout.placement().id_at(rank, place); },
        .place_of =
            [this](std::uint32_t shard, std::uint32_t local) {
                return layout.placement().place_of(layout.shard(shard).id_of(LocalIndex{local}));
            },
        .options = {.buffer_bytes = options.spike_buffer,
                    .allgather_spikes = options.allgather_spikes,
                    .workers = shard_count(),
                    .most_sources = layout.placement().places(),
                    .most_lags = static_cast<std::uint32_t>(shortest),
                    .intervals = intervals,
                    .finds_sources = sorted && options.keep_sources}};
    std::unique_ptr<comm::SpikeExchange> exchange = method.make(arguments);
    if (exchange->has_latency()) epoch_steps = std::max<Step>(1, shortest / 2);
    traffic = std::make_unique<SpikeTraffic>(shards, *team, communicator, std::move(exchange), &addresses,
                                             options.wait_apart);
}

void Simulation::Implementation::run(Step steps, const Poll& poll) {
    if (steps <= 0) return;
    const Step first = step.load(std::memory_order_relaxed) + 1;
    constexpr Step most_steps = std::int64_t{1} << 60;
    if (steps > most_steps - first) {
        throw ValueOutOfBoundsError({.object = "steps to run",
                                     .value = std::to_string(steps),
                                     .bound = "a simulation has at most 2^60 steps",
                                     .remedy = "run for a shorter time"});
    }
    LapTimer timer;
    const auto finish = [&] { phases.simulation += timer.lap(); };
    stopped = false;
    try {
        run_together(*team, [&](std::uint32_t worker) { run_worker(worker, first, first + steps - 1); }, poll);
    } catch (...) {
        finish();
        throw;
    }
    finish();
    if (stopped && !is_alone()) {
        throw RemoteError({.object = "run",
                           .value = "",
                           .bound = "another rank was interrupted after step " + std::to_string(step.load()),
                           .remedy = "continue it on all ranks"});
    }
}

/// Whether the run ends after this epoch, by worker 0. Processes decide together, and ask each other now and then only.
bool Simulation::Implementation::stops(std::uint64_t epoch_number) {
    if (is_alone()) return team->stop_requested();
    constexpr std::uint64_t epochs_between = 16;
    if (epoch_number % epochs_between != 0) return false;
    return communicator->greatest(team->stop_requested() ? 1 : 0) != 0;
}

/// All workers do this side by side, and meet once an epoch, between updating the shards and telling their tables of the
/// spikes. One meeting suffices where nothing is exchanged, since outboxes alternate: who runs ahead into the next epoch
/// writes the other box, and cannot reach the one after before all have read this one.
void Simulation::Implementation::run_worker(std::uint32_t worker, Step first, Step last) {
    WorkerTimes& times = worker_times[worker];
    Epoch present{.number = epoch, .earliest = first, .begin = first};
    Epoch past;
    team->wait();  // nobody may change `epoch` before all have read it
    LapTimer timer;
    WorkerTimes before = times;
    for (bool ends = false; !ends;) {
        present.end = std::min(last, (present.begin + epoch_steps - 1) / epoch_steps * epoch_steps);
        team->loop(worker, shard_count(), [&](std::uint32_t shard) {
            if (past.end > 0) traffic->deliver(shard, past);
            times.deliver += timer.lap();
            run_epoch(shard, present, times, timer);
        });
        team->wait();
        times.wait += timer.lap();
        const bool stop = stop_decision[present.number % 2];
        ends = stop || present.end == last;
        traffic->exchange(worker, present, ends, times, timer);
        if (worker == 0) {
            step.store(present.end, std::memory_order_relaxed);
            if (options.trace_epochs) trace_epoch(before, times);
            if (stop) stopped = true;
        }
        before = times;
        past = present;
        present = {.number = past.number + 1, .earliest = past.begin, .begin = past.end + 1};
    }
    team->loop(worker, shard_count(), [&](std::uint32_t shard) {
        traffic->deliver(shard, past);
        shards[shard]->begin_epoch(present.number, present.begin);
    });
    times.deliver += timer.lap();
    if (worker == 0) epoch = present.number;
}

/// Updates a shard to the end of an epoch. Who does so for the first one also talks to the other processes.
void Simulation::Implementation::run_epoch(std::uint32_t index, const Epoch& present, WorkerTimes& times,
                                           LapTimer& timer) {
    Shard& shard = *shards[index];
    shard.begin_epoch(present.number, present.begin);
    if (index == 0) traffic->begin(present.begin);
    times.communicate += timer.lap();
    for (Step now = present.begin; now <= present.end; ++now) {
        shard.begin_step(now);
        times.deliver += timer.lap();
        shard.update(now);
        times.update += timer.lap();
        shard.record(now);
        times.record += timer.lap();
        if (index != 0) continue;
        traffic->advance(shard.outbox(present.number));
        times.collocate += timer.lap();
    }
    shard.publish_recorded_bytes();
    if (index != 0) return;
    stop_decision[present.number % 2] = stops(present.number);
    times.communicate += timer.lap();
}

void Simulation::Implementation::trace_epoch(const WorkerTimes& before, const WorkerTimes& after) {
    const auto busy = [](const WorkerTimes& t) { return t.update + t.deliver + t.record + t.collocate; };
    const comm::SpikeExchange* const exchange = traffic->exchange();
    const std::uint64_t received = exchange == nullptr ? 0 : exchange->counts().spikes_received;
    epoch_times.push_back({.compute = busy(after) - busy(before),
                           .wait = after.wait - before.wait,
                           .exchange = after.communicate - before.communicate,
                           .spikes_received = received - traced_spikes});
    traced_spikes = received;
}

Simulation::Simulation(const Network& network, SimulationOptions options, const Poll& poll,
                       std::shared_ptr<comm::Communicator> communicator) {
    if (!communicator) communicator = comm::make_local_communicator();
    OwnMachine machine(*communicator);
    // What a process finds wrong with its own description goes before how it differs from that of others.
    agree(*communicator, "describing the network", [&] {
        implementation_ = std::make_unique<Implementation>(network, options, communicator, std::move(machine));
    });
    compare_descriptions(*communicator, network, options);
    implementation_->build(poll);
}

Simulation::~Simulation() = default;
Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;

void Simulation::run(Step steps, const Poll& poll) { implementation_->run(steps, poll); }
Step Simulation::step() const { return implementation_->step.load(std::memory_order_relaxed); }
double Simulation::resolution() const { return implementation_->network.resolution(); }
std::uint32_t Simulation::threads() const { return implementation_->threads(); }
std::uint32_t Simulation::shards() const { return implementation_->shard_count(); }
std::span<const parallel::Place> Simulation::places() const { return implementation_->team->places(); }
bool Simulation::is_crowded() const { return implementation_->machine.is_crowded(implementation_->places); }
std::vector<parallel::StealingCounts> Simulation::stealing_counts() const {
    const Implementation& self = *implementation_;
    std::vector<parallel::StealingCounts> counts;
    for (std::uint32_t worker = 0; worker < self.threads(); ++worker) counts.push_back(self.team->loop_counts(worker));
    return counts;
}
std::uint32_t Simulation::ranks() const { return static_cast<std::uint32_t>(implementation_->communicator->size()); }
bool Simulation::sorts_connections() const { return implementation_->sorted; }
comm::Communicator& Simulation::communicator() const { return *implementation_->communicator; }
Step Simulation::epoch_steps() const { return implementation_->epoch_steps; }
std::string_view Simulation::instruction_set() const {
    return to_string(implementation_->build_options.instruction_set);
}

Counts Simulation::counts() const {
    const Implementation& self = *implementation_;
    Counts counts;
    counts.neurons = self.network.neuron_count();
    counts.steps = step() - self.counted_from;
    counts.population_spikes.resize(self.network.populations().size(), 0);
    for (const auto& shard : self.shards) {
        counts.synapses += shard->synapses();
        counts.synaptic_events += shard->synaptic_events();
        for (const Shard::Group& group : shard->groups()) {
            counts.population_spikes[group.population.value] += group.spikes;
            if (!group.plays_spikes) counts.spikes += group.spikes;
        }
    }
    self.communicator->reduce(counts.population_spikes, comm::Reduction::sum);
    std::array<std::uint64_t, 3> sums{counts.synapses, counts.synaptic_events, counts.spikes};
    self.communicator->reduce(sums, comm::Reduction::sum);
    counts.synapses = sums[0];
    counts.synaptic_events = sums[1];
    counts.spikes = sums[2];
    return counts;
}

void Simulation::reset_counts() {
    Implementation& self = *implementation_;
    for (const auto& shard : self.shards) shard->reset_counts();
    self.worker_times.assign(self.threads(), {});
    self.counted_from = step();
    self.phases.simulation = 0.0;
    self.epoch_times.clear();
    self.traced_spikes = 0;
    if (self.traffic->exchange() != nullptr) self.traffic->exchange()->reset_counts();
}

std::vector<double> Simulation::costs() const {
    const Implementation& self = *implementation_;
    const Counts counts = this->counts();
    if (!self.options.measure_costs || counts.steps == 0) {
        throw StateError({.object = "costs of the populations",
                          .value = "",
                          .bound = "they have not been measured",
                          .remedy = "make the simulation with measure_costs, and run it"});
    }
    const std::size_t populations = self.network.populations().size();
    // In nanoseconds, of all processes: of the update by population, of delivery in all.
    std::vector<std::uint64_t> nanoseconds(populations + 1, 0);
    const auto add = [&](std::size_t i, double seconds) {
        nanoseconds[i] += static_cast<std::uint64_t>(seconds * 1e9);
    };
    for (const auto& shard : self.shards) {
        for (const Shard::Group& group : shard->groups()) add(group.population.value, group.update_seconds);
    }
    for (const WorkerTimes& times : self.worker_times) add(populations, times.deliver);
    self.communicator->reduce(nanoseconds, comm::Reduction::sum);
    // Synapses onto each population that were reached, if all sources have as many as they have on average.
    const std::span<const connect::PopulationRange> ranges = self.lowered.ranges();
    std::vector<double> events(populations, 0.0);
    double all_events = 0.0;
    for (const connect::ProjectionPlan& plan : self.lowered.plans()) {
        const auto source = self.layout.population_of(plan.pairs.first_source).value;
        if (plan.pairs.sources == 0 || ranges[source].size == 0) continue;
        const double reached = plan.sampler->expected_synapses() *
                               static_cast<double>(counts.population_spikes[source]) /
                               static_cast<double>(ranges[source].size);
        events[plan.target_population.value] += reached;
        all_events += reached;
    }
    std::vector<double> costs(populations, 0.0);
    for (std::size_t i = 0; i < populations; ++i) {
        if (ranges[i].size == 0) continue;
        const double delivery =
            all_events > 0.0 ? static_cast<double>(nanoseconds[populations]) * events[i] / all_events : 0.0;
        costs[i] = (static_cast<double>(nanoseconds[i]) + delivery) * 1e-9 /
                   (static_cast<double>(ranges[i].size) * static_cast<double>(counts.steps));
    }
    return costs;
}

PhaseTimes Simulation::times() const {
    PhaseTimes times = implementation_->phases;
    const double share = 1.0 / static_cast<double>(implementation_->threads());
    for (const WorkerTimes& own : implementation_->worker_times) {
        times.update += own.update * share;
        times.collocate += own.collocate * share;
        times.deliver += own.deliver * share;
        times.wait += own.wait * share;
        times.communicate += own.communicate * share;
        times.record += own.record * share;
    }
    return times;
}

std::vector<WorkerTimes> Simulation::worker_times() const { return implementation_->worker_times; }

const std::vector<EpochTimes>& Simulation::epoch_times() const { return implementation_->epoch_times; }

Traffic Simulation::traffic() const {
    const Implementation& self = *implementation_;
    Traffic traffic;
    if (const comm::SpikeExchange* exchange = self.traffic->exchange()) {
        traffic.method = exchange->name();
        traffic.counts = exchange->counts();
    }
    if (self.presynaptic) {
        traffic.presynaptic_entries = self.presynaptic->size();
        traffic.presynaptic_bytes = self.presynaptic->bytes();
    }
    traffic.build_rounds = self.build_rounds;
    return traffic;
}

void Simulation::Implementation::count_foreign_memory() {
    const comm::SpikeExchange* const exchange = traffic->exchange();
    account.set(node_of_all, purpose_of(Component::exchange),
                exchange == nullptr ? 0 : exchange->counts().buffer_bytes);
}

std::vector<MemoryItem> Simulation::memory() const {
    implementation_->count_foreign_memory();
    std::vector<MemoryItem> items;
    for (std::uint32_t i = 0; i < component_names.size(); ++i) {
        const std::uint64_t bytes = implementation_->account.bytes(parallel::MemoryPurpose{i});
        // Every simulation has the first ones, if nothing of them.
        if (i <= static_cast<std::uint32_t>(Component::recordings) || bytes > 0) {
            items.push_back({component_names[i], bytes});
        }
    }
    return items;
}

std::vector<NodeMemoryItem> Simulation::memory_by_node() const {
    implementation_->count_foreign_memory();
    std::vector<NodeMemoryItem> items;
    for (const parallel::MemoryAccount::Entry& entry : implementation_->account.entries()) {
        NodeMemoryItem item{
            .node = {}, .component = component_names[static_cast<std::size_t>(entry.purpose)], .bytes = entry.bytes};
        if (entry.node != parallel::any_node) item.node = entry.node;
        items.push_back(std::move(item));
    }
    return items;
}

parallel::PagesByNode Simulation::memory_pages() const {
    // Pages that are not on the owner's node lie together, where its memory was used up.
    constexpr std::size_t most_looked_at = 4096;
    parallel::PagesByNode sum;
    for (const auto& shard : implementation_->shards) sum += shard->memory().pages(most_looked_at);
    return sum;
}

SpikeData Simulation::take_spikes(RecorderIndex recorder, Gather how) {
    std::vector<Shard::RecordedSpike> all;
    for (const auto& shard : implementation_->shards) {
        std::pmr::vector<Shard::RecordedSpike>& own = shard->recorded_spikes(recorder);
        all.insert(all.end(), own.begin(), own.end());
        give_back(own);
        shard->publish_recorded_bytes();
    }
    all = gather(*implementation_->communicator, std::move(all), how);
    std::sort(all.begin(), all.end());
    SpikeData data;
    data.steps.reserve(all.size());
    data.neurons.reserve(all.size());
    for (const Shard::RecordedSpike& spike : all) {
        data.steps.push_back(spike.step);
        data.neurons.push_back(spike.neuron.value);
    }
    return data;
}

StateData Simulation::take_state(RecorderIndex recorder, Gather how) {
    const std::size_t variables = implementation_->network.state_recorders()[recorder].variables.size();
    StateData data;
    std::vector<std::uint64_t> places;
    for (const auto& shard : implementation_->shards) {
        Shard::StateRecorder& own = shard->state_recorder(recorder);
        data.steps.assign(own.steps.begin(), own.steps.end());
        give_back(own.steps);
        places.insert(places.end(), own.places.begin(), own.places.end());
    }
    // One column for each neuron, in the order of the shards, then of the processes.
    const std::size_t rows = data.steps.size() * variables;
    std::vector<double> columns;
    columns.reserve(rows * places.size());
    for (const auto& shard : implementation_->shards) {
        Shard::StateRecorder& own = shard->state_recorder(recorder);
        const std::size_t neurons = own.places.size();
        for (std::size_t i = 0; i < neurons; ++i) {
            for (std::size_t row = 0; row < rows; ++row) columns.push_back(own.values[row * neurons + i]);
        }
        give_back(own.values);
        shard->publish_recorded_bytes();
    }
    places = gather(*implementation_->communicator, std::move(places), how);
    columns = gather(*implementation_->communicator, std::move(columns), how);
    std::vector<std::size_t> order(places.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return places[a] < places[b]; });
    data.values.resize(columns.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        data.places.push_back(places[order[i]]);
        for (std::size_t row = 0; row < rows; ++row) {
            data.values[row * order.size() + i] = columns[order[i] * rows + row];
        }
    }
    return data;
}

std::uint64_t Simulation::recorded_bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& shard : implementation_->shards) bytes += shard->published_recorded_bytes();
    return bytes;
}

std::uint64_t Simulation::count_connections(const ConnectionQuery& query) const {
    return implementation_->connections().count(query, *implementation_->shard_team);
}

ConnectionData Simulation::connections(const ConnectionQuery& query) const {
    return implementation_->connections().find(query, *implementation_->shard_team);
}

std::vector<double> Simulation::weights(std::span<const std::uint64_t> handles) const {
    return implementation_->connections().weights(handles);
}

std::vector<std::uint64_t> Simulation::stored_here(std::span<const std::uint64_t> handles) const {
    return implementation_->connections().stored_here(handles);
}

void Simulation::set_weights(std::span<const std::uint64_t> handles, std::span<const double> weights) {
    implementation_->connections().set_weights(handles, weights, implementation_->build_options.double_weights, step());
}

std::vector<double> Simulation::get(PopulationId population, std::string_view name,
                                    std::span<const std::uint32_t> indices) const {
    return implementation_->neurons().get(population, name, indices);
}

void Simulation::set(PopulationId population, std::string_view name, std::span<const std::uint32_t> indices,
                     std::span<const double> values) {
    implementation_->neurons().set(population, name, indices, values);
}

}  // namespace ranvier::engine
