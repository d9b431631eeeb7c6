#include "engine/simulation.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/errors.hpp"
#include "engine/agreement.hpp"
#include "engine/forecast/memory.hpp"
#include "engine/forecast/memory_samples.hpp"
#include "engine/option_choices.hpp"
#include "engine/shard/weight_checks.hpp"
#include "engine/simulation/fingerprint.hpp"
#include "engine/simulation/simulation_implementation.hpp"
#include "network/network_checks.hpp"
#include "network/value_checks.hpp"

namespace ranvier::engine {

namespace {

std::vector<connect::PopulationRange> to_vector(std::span<const connect::PopulationRange> ranges) {
    return {ranges.begin(), ranges.end()};
}

}  // namespace

Simulation::Implementation::Implementation(network::Network description, SimulationOptions chosen,
                                           std::shared_ptr<comm::Communicator> processes, OwnMachine own_machine)
    : communicator(std::move(processes)),
      network(std::move(description)),
      lowered(network),
      options(std::move(chosen)),
      window(choose_window(options, network)),
      build_options(make_build_options(network, options)),
      machine(std::move(own_machine)),
      places(machine.place(options.pinning, choose_threads(options, machine.default_threads()))),
      stealing(choose_stealing(options)),
      layout(make_placement(network, options, communicator->size()), communicator->rank(),
             choose_shards(options, network, communicator->size(), threads()), to_vector(lowered.ranges()),
             choose_costs(options, network)) {
    if (network.unit_count() == 0) {
        throw StateError({.object = "network",
                          .value = "empty",
                          .bound = "a simulation needs at least one neuron",
                          .remedy = "create a population first"});
    }
    check_options(options, network, layout.placement().kind(), communicator->size(), communicator->is_dry_run());
    sorted = choose_sorting(options, lowered.plan(), communicator->size(), shard_count());
    for (std::size_t i = 0; i < network.stimuli().size(); ++i) {
        for (const PopulationId id : network.populations_of(network.stimuli()[i].targets)) {
            lowered.receptor(i, network.population(id));
        }
    }
    check_given_weights(lowered, build_options.double_weights);
    for (const network::Projection& projection : network.projections()) {
        if (projection.synapse.is_static()) continue;
        network::check_changes(projection.synapse, network::range_of(projection.weight).second,
                               build_options.double_weights, projection.name);
    }
    network::check_step_conflicts(network);
}

void Simulation::Implementation::start_workers() {
    team = std::make_unique<parallel::Team>(places, machine.team_options(options.pinning, places, stealing));
    worker_times.resize(threads());
}

void Simulation::Implementation::build(const Poll& poll) {
    // Processes with different numbers of shards may decide differently, but must do the same.
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
        builder = std::make_unique<connect::TableBuilder>(lowered.plan(), layout, build_options, *team, communicator);
        shards.resize(shard_count());
    });
    communicator->expect_threads(static_cast<std::int32_t>(threads()));
    may_gather = machine.may_gather(*communicator, options.pinning, team->places());
    // An interruption would leave processes behind that wait in a collective.
    const Poll build_poll = is_alone() ? poll : Poll{};
    // By the workers who will update the shards, so that memory is touched first by them.
    run_together(
        [&](std::uint32_t worker) {
            team->for_own_items(worker, shard_count(), [&](std::uint32_t shard) {
                shards[shard] =
                    std::make_unique<Shard>(lowered, layout.shard(shard), options, build_options.instruction_set,
                                            shared_parts, account, node_of_worker());
            });
            builder->build(worker, [&](std::uint32_t shard) {
                const ShardMemory& memory = shards[shard]->memory();
                return connect::TableMemory{.synapses = memory[Component::synapses],
                                            .spikes = memory[Component::spikes]};
            });
        },
        build_poll);
    phases.build = timer.lap();
    WeightAgreement weights = agree_on_weights(*builder, lowered, build_options.double_weights, *communicator);
    run_for_shards(
        [&](std::uint32_t shard) {
            shards[shard]->set_tables(builder->finish(shard, weights.quanta), weights.ranges, window,
                                      choose_most_steps(options, network));
        },
        build_poll);
    weight_bounds = std::move(weights.bounds);
    parameters_set.resize(network.populations().size());
    spikes_set.resize(network.populations().size());
    weights_set.resize(lowered.plan().kinds.size());
    remember_sent_spikes();
    const connect::RowNumbering numbering = builder->numbering();
    builder.reset();
    build_traffic(numbering, build_poll);
    build_stepping();
    phases.init = timer.lap();
}

void Simulation::Implementation::remember_sent_spikes() {
    for (const auto& shard : shards) {
        for (std::uint32_t kind = 0; kind < weights_set.size(); ++kind) {
            const connect::SynapseTable* const table = shard->synapses().table(connect::KindIndex{kind});
            if (table == nullptr || !shard->synapses().is_static(connect::KindIndex{kind})) continue;
            longest_static_delay = std::max<Step>(longest_static_delay, table->greatest_delay());
        }
    }
    longest_static_delay = static_cast<Step>(communicator->greatest(static_cast<std::uint64_t>(longest_static_delay)));
    // The state of a dry run is not saved.
    if (communicator->is_dry_run() || !options.invented_rates.empty()) return;
    for (const auto& shard : shards) shard->outboxes().keep_sent(longest_static_delay);
}

/// Where all shards of all processes could only ever advance together, they do.
void Simulation::Implementation::build_stepping() {
    if (!is_asynchronous(options)) return;
    const bool has_ranks = communicator->size() > 1;
    const comm::Notifications notifications = choose_notifications(options);
    RemotePairs remote;
    if (has_ranks) {
        remote = find_remote_pairs(shards, layout, *communicator, notifications, options.connection_buffer, *team);
    }
    PairDelays delays(shards, layout, *team, remote);
    const std::uint64_t all_shards = communicator->sum(shard_count());
    if (communicator->least(delays.is_lockstep(all_shards) ? 1 : 0) == 1) {
        if (has_ranks) traffic = make_epoch_traffic();
        return;
    }
    std::unique_ptr<comm::ProgressExchange> ranks;
    if (has_ranks) {
        ranks = std::make_unique<comm::ProgressExchange>(communicator, presynaptic, std::move(remote.routes),
                                                         notifications);
    }
    async = std::make_unique<AsyncStepping>(shards, std::move(delays), choose_most_steps(options, network), *team,
                                            stealing, std::move(ranks));
}

/// The presynaptic side and the exchange, where spikes have to travel.
void Simulation::Implementation::build_traffic(connect::RowNumbering numbering, const Poll& poll) {
    const Step shortest = std::min(lowered.shortest_delay(), longest_epoch);
    epoch_steps = shortest;
    if (communicator->size() == 1 && sorted) {
        traffic = std::make_unique<SpikeTraffic>(shards);
        return;
    }
    std::vector<const connect::ShardTables*> tables;
    tables.reserve(shards.size());
    for (const auto& shard : shards) tables.push_back(&shard->synapses().tables());
    addresses = connect::RowAddresses(numbering, lowered.plan(), std::move(tables));
    const comm::ExchangeInfo& method = choose_exchange(options);
    if (method.directed || method.name == "auto") {
        connect::PresynapticTableBuilder presynaptic_builder(layout, addresses, communicator, options.connection_buffer,
                                                             *team);
        run_together(
            [&](std::uint32_t worker) {
                presynaptic_builder.build(
                    worker, [&](std::uint32_t shard) { return shards[shard]->memory()[Component::presynaptic]; });
            },
            poll);
        presynaptic = presynaptic_builder.finish();
        build_rounds = presynaptic_builder.rounds();
    }
    if (!options.keep_sources) {
        for (const auto& shard : shards) shard->synapses().forget_sources();
    }
    if (communicator->is_dry_run()) played_sources.emplace(layout);
    // Where shards do not wait for all others, there are epochs only while a state is loaded.
    traffic = is_asynchronous(options) && communicator->size() > 1 ? std::make_unique<SpikeTraffic>(shards)
                                                                   : make_epoch_traffic();
}

std::unique_ptr<SpikeTraffic> Simulation::Implementation::make_epoch_traffic() {
    const comm::ExchangeInfo& method = choose_exchange(options);
    const Step shortest = std::min(lowered.shortest_delay(), longest_epoch);
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
    return std::make_unique<SpikeTraffic>(shards, communicator, std::move(exchange), &addresses, options.wait_apart);
}

Simulation::Simulation(network::Network network, SimulationOptions options, const Poll& poll,
                       std::shared_ptr<comm::Communicator> communicator) {
    if (!communicator) communicator = comm::make_local_communicator();
    OwnMachine machine(*communicator);
    // An error in a process's own description comes before its differences from others.
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
    counts.reserve(self.threads());
    for (std::uint32_t worker = 0; worker < self.threads(); ++worker)
        counts.push_back(self.async ? self.async->stealing(worker) : self.team->item_counts(worker));
    return counts;
}
std::uint32_t Simulation::ranks() const { return static_cast<std::uint32_t>(implementation_->communicator->size()); }
bool Simulation::sorts_connections() const { return implementation_->sorted; }
comm::Communicator& Simulation::communicator() const { return *implementation_->communicator; }
const IdSequence& Simulation::own_ids() const { return implementation_->layout.ids(); }
Step Simulation::epoch_steps() const { return implementation_->epoch_steps; }
std::string_view Simulation::instruction_set() const {
    return to_string(implementation_->build_options.instruction_set);
}

}  // namespace ranvier::engine
