#include "engine/simulation.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/errors.hpp"
#include "engine/agreement.hpp"
#include "engine/description.hpp"
#include "engine/memory.hpp"
#include "engine/memory_samples.hpp"
#include "engine/network_checks.hpp"
#include "engine/options.hpp"
#include "engine/simulation_implementation.hpp"
#include "engine/weight_checks.hpp"

namespace ranvier::engine {

namespace {

std::vector<connect::PopulationRange> to_vector(std::span<const connect::PopulationRange> ranges) {
    return {ranges.begin(), ranges.end()};
}

}  // namespace

Simulation::Implementation::Implementation(Network description, SimulationOptions chosen,
                                           std::shared_ptr<comm::Communicator> processes, OwnMachine own_machine)
    : communicator(std::move(processes)),
      network(std::move(description)),
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
    check_given_weights(lowered, build_options.double_weights);
    check_step_conflicts(network);
}

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
        check_memory(estimate_memory(lowered, layout, build_options, options, window, {.rate = 0.0}),
                     options.memory_limit, communicator->host_size());
    });
    account.add(node_of_all, purpose_of(Component::neurons), layout.bytes());
    account.add(node_of_all, purpose_of(Component::arrays), lowered.array_bytes());
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
    const WeightRanges weights = agree_on_weights(*builder, lowered, build_options.double_weights, *communicator);
    run_together(
        *shard_team,
        [&](std::uint32_t worker) { shards[worker]->set_tables(builder->finish(worker), weights, window); },
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
    if (communicator->is_dry_run()) played_sources.emplace(layout);
    // With two intervals, a spike that is emitted at the beginning of one arrives after the end of the next.
    const std::uint32_t intervals = shortest >= 2 ? options.intervals : 1;
    const comm::ExchangeArguments arguments{
        .communicator = communicator,
        .destinations = presynaptic,
        .source_of =
            [this](Rank rank, std::uint64_t place) {
                return layout.placement().id_at(rank, played_sources ? played_sources->there(rank, place) : place);
            },
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
    // Those who were interrupted are not here.
    if (!stopped) agree(*communicator, "run", [&] { check_finite(); });
    if (stopped && !is_alone()) {
        throw RemoteError({.object = "run",
                           .value = "",
                           .bound = "another rank was interrupted after step " + std::to_string(step.load()),
                           .remedy = "continue it on all ranks"});
    }
}

/// Parameters, weights and currents have bounds, but no check of each of them can rule out that together they lead beyond
/// what numbers hold. Neurons whose potential is not a number would be silent for ever.
void Simulation::Implementation::check_finite() const {
    for (const auto& shard : shards) {
        for (const Shard::Group& group : shard->groups()) {
            if (!group.neurons || group.neurons->is_finite()) continue;
            throw StateError(
                {.object = "state of population " + quoted(network.population(group.population).name),
                 .value = "not finite",
                 .bound = "a variable has left the range of numbers by step " + std::to_string(step.load()),
                 .remedy = "check the units of weights, currents and parameters, or use double precision"});
        }
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

Simulation::Simulation(Network network, SimulationOptions options, const Poll& poll,
                       std::shared_ptr<comm::Communicator> communicator) {
    if (!communicator) communicator = comm::make_local_communicator();
    OwnMachine machine(*communicator);
    // What a process finds wrong with its own description goes before how it differs from that of others.
    agree(*communicator, "describing the network", [&] {
        implementation_ =
            std::make_unique<Implementation>(std::move(network), options, communicator, std::move(machine));
    });
    compare_descriptions(*communicator, implementation_->network, options);
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

}  // namespace ranvier::engine
