#include "engine/simulation/simulation_implementation.hpp"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "engine/agreement.hpp"
#include "engine/devices/backends.hpp"
#include "engine/devices/device_image.hpp"
#include "engine/devices/table_rows.hpp"
#include "engine/forecast/device_memory.hpp"
#include "engine/forecast/memory.hpp"
#include "engine/option_choices.hpp"
#include "engine/shard/group_creation.hpp"
#include "engine/shard/weight_checks.hpp"
#include "network/network_checks.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::engine {

namespace {

/// By projection: whether its synapses change with spikes.
std::vector<bool> dynamic_projections(const connect::NetworkPlan& network) {
    std::vector<bool> dynamic;
    for (const connect::ProjectionPlan& plan : network.projections) {
        dynamic.push_back(network.dynamics_of(plan.positive_kind) != nullptr);
    }
    return dynamic;
}

std::vector<connect::PopulationRange> to_vector(std::span<const connect::PopulationRange> ranges) {
    return {ranges.begin(), ranges.end()};
}

}  // namespace

Simulation::Implementation::Implementation(network::Network description, SimulationOptions chosen,
                                           std::shared_ptr<comm::Communicator> processes, MachineShare machine_share)
    : communicator(std::move(processes)),
      network(std::move(description)),
      lowered(network),
      options(std::move(chosen)),
      window(choose_window(options, network)),
      workers(communicator, std::move(machine_share), options),
      backend(make_backend(options, workers.size(), network.seed(), *communicator)),
      layout(make_placement(network, options, communicator->size()), communicator->rank(),
             backend ? backend->blocks() : choose_shards(options, network, communicator->size(), workers.size()),
             to_vector(lowered.ranges()), choose_costs(options, network)),
      build_options(
          make_build_options(network, options, lowered.shortest_delay(), communicator->size(), shard_count())) {
    if (network.unit_count() == 0) {
        throw StateError({.object = "network",
                          .value = "empty",
                          .bound = "a simulation needs at least one neuron",
                          .remedy = "create a population first"});
    }
    check_options(options, network, layout.placement().kind(), *communicator);
    if (backend) {
        if (communicator->is_dry_run()) {
            throw StateError({.object = "device",
                              .value = "'" + options.device + "'",
                              .bound = "it has no dry runs",
                              .remedy = "run on processors: device='cpu'"});
        }
        check_for_device(network, options, communicator->size());
    }
    lowered.draw_for(layout.ids(), communicator->size() == 1);
    sorted = backend || choose_sorting(options, lowered.plan(), communicator->size(), shard_count());
    for (std::size_t i = 0; i < network.stimuli().size(); ++i) {
        for (const PopulationId id : network.populations_of(network.stimuli()[i].targets)) {
            lowered.receptor(i, network.population(id));
        }
    }
    check_given_weights(lowered, build_options.double_weights);
    for (const connect::ProjectionPlan& plan : lowered.plan().projections) {
        const network::Projection& projection = network.projections()[plan.id.value];
        if (projection.synapse.is_static()) continue;
        network::check_changes(projection.synapse, plan.weights.greatest(), build_options.double_weights,
                               projection.name);
    }
    network::check_step_conflicts(network);
}

void Simulation::Implementation::build(const Poll& poll) {
    // Processes with different numbers of shards may choose differently, but must agree.
    sorted = communicator->greatest(sorted ? 1 : 0) != 0;
    if (!sorted) build_options.numbering = connect::RowNumbering::unsorted;
    // The emulator shares nothing.
    if (backend && communicator->size() > 1 && options.device != "cuda-emulator") {
        agree(*communicator, "choosing a GPU",
              [&] { check_different_devices(backend->name(), backend->identity(), options, *communicator); });
    }
    build_options.drawn = drawn_on_device(options, lowered.plan(), communicator->size(), sorted);
    if (!build_options.drawn.empty()) backend->expect_construction();
    agree(*communicator, "building the network", [&] {
        const MemoryEstimate estimate = estimate_memory(lowered, layout, build_options, options, window, {.rate = 0.0});
        check_memory(estimate, options.memory_limit, communicator->host_size());
        if (backend) check_device_memory(*estimate.device, backend->name(), backend->room(), communicator->size());
    });
    account.add(node_of_all, purpose_of(Component::neurons), layout.bytes());
    account.add(node_of_all, purpose_of(Component::arrays), lowered.array_bytes());
    LapTimer timer;
    agree(*communicator, "building the network", [&] {
        workers.start(options);
        shards.resize(shard_count());
    });
    communicator->expect_threads(static_cast<std::int32_t>(workers.size()));
    epochs = std::make_unique<EpochStepping>(EpochSteppingArguments{
        .shards = shards,
        .team = workers.team(),
        .communicator = *communicator,
        .traces = workers.traces(),
        .may_gather = workers.machine().may_gather(*communicator, options.pinning, workers.team().places()),
        .traces_epochs = options.trace_epochs,
        .part_stealing = choose_part_stealing(options)});
    // An interruption would leave other processes waiting in a collective operation.
    const Poll build_poll = workers.is_alone() ? poll : Poll{};
    build_shards(build_poll);
    connect::NetworkPlan plan_of_tables;
    std::unique_ptr<connect::TableBuilder> builder;
    std::unique_ptr<DrawnRowWeights> drawn;
    if (!build_options.drawn.empty()) {
        plan_of_tables = connect::without(lowered.plan(), build_options.drawn);
        if (std::ranges::find(build_options.drawn, false) != build_options.drawn.end()) {
            builder = make_tables(plan_of_tables, build_poll);
        }
        drawn = draw_on_device(builder.get(), build_poll);
    }
    if (drawn == nullptr) {
        build_options.drawn.clear();
        builder = make_tables(lowered.plan(), build_poll);
    }
    const std::uint64_t index_bytes = lowered.index_bytes();
    account.add(node_of_all, purpose_of(Component::arrays), index_bytes);
    lowered.free_indexes();
    account.remove(node_of_all, purpose_of(Component::arrays), index_bytes);
    phases.build = timer.lap();
    WeightAgreement weights = agree_on_weights(drawn ? static_cast<const connect::SynapseWeights&>(*drawn) : *builder,
                                               lowered, build_options.double_weights, *communicator);
    workers.run_for_shards(
        shard_count(),
        [&](std::uint32_t shard) {
            connect::ShardTables tables(lowered.plan().kinds.size());
            if (builder) tables = builder->finish(shard, weights.quanta);
            shards[shard]->set_tables(std::move(tables), weights.ranges, window, choose_most_steps(options, network));
        },
        build_poll);
    weight_bounds = std::move(weights.bounds);
    changes = UserChanges(network.populations().size(), lowered.plan().kinds.size());
    remember_sent_spikes();
    const connect::RowNumbering numbering = builder ? builder->numbering() : connect::RowNumbering::dense;
    builder.reset();
    build_epochs(numbering, build_poll);
    if (is_asynchronous(options)) build_async();
    if (backend) build_on_device();
    phases.init = timer.lap();
}

/// Called on the workers that will update the shards, so that memory is first touched by them.
void Simulation::Implementation::build_shards(const Poll& poll) {
    if (pools_small_blocks(options, workers.team().pinned(), workers.machine().topology()))
        pools.resize(workers.size());
    workers.run_together(
        [&](std::uint32_t worker) {
            parallel::NodePool* pool = nullptr;
            if (!pools.empty()) {
                pools[worker] = std::make_unique<parallel::NodePool>(
                    account, purpose_of(Component::pools), parallel::NodeMemoryOptions{.node = node_of_worker()});
                pool = pools[worker].get();
            }
            workers.team().for_assigned_items(worker, shard_count(), [&](std::uint32_t shard) {
                shards[shard] =
                    std::make_unique<Shard>(lowered, layout.shard(shard), options, build_options.instruction_set,
                                            shared_parts, account, node_of_worker(), pool);
            });
        },
        poll);
}

void Simulation::Implementation::build_tables(connect::TableBuilder& builder, std::uint32_t worker) {
    builder.build(worker, [&](std::uint32_t shard) {
        const ShardMemory& memory = shards[shard]->memory();
        return connect::TableMemory{.synapses = memory[Component::synapses], .spikes = memory[Component::spikes]};
    });
}

std::unique_ptr<connect::TableBuilder> Simulation::Implementation::make_tables(const connect::NetworkPlan& plan,
                                                                               const Poll& poll) {
    std::unique_ptr<connect::TableBuilder> builder;
    agree(*communicator, "building the network", [&] {
        builder = std::make_unique<connect::TableBuilder>(plan, layout, build_options, workers.team(), communicator);
        if (!build_options.drawn.empty()) builder->keep_inputs();
    });
    workers.run_together([&](std::uint32_t worker) { build_tables(*builder, worker); }, poll);
    return builder;
}

std::unique_ptr<DrawnRowWeights> Simulation::Implementation::draw_on_device(connect::TableBuilder* builder,
                                                                            const Poll& poll) {
    DrawnRows rows;
    rows.receptors = drawn_receptors(lowered.plan(), layout, lowered.receptors());
    device::ConstructionImage image =
        construction_image(lowered.plan(), layout, rows.receptors, build_options.drawn, workers.team());
    // Those of projections that the device does not draw, until it has them.
    std::vector<connect::ShardTables> tables(builder != nullptr ? shard_count() : 0);
    if (builder != nullptr) {
        workers.run_for_shards(
            shard_count(), [&](std::uint32_t shard) { tables[shard] = builder->finish_static(shard); }, poll);
        image.input_counts = input_counts(*builder, image, lowered.receptors());
    }
    const auto has_synapses = [](const connect::ShardTables& of_shard) {
        return std::ranges::any_of(of_shard, [](const auto& table) { return table != nullptr; });
    };
    // Of as many blocks as there are workers.
    std::vector<device::BlockRows> ahead(workers.size());
    if (std::ranges::any_of(tables, has_synapses)) {
        const auto copy = [&](std::uint32_t block, bool with_synapses, device::BlockRows& given) {
            const std::span<const device::Receptor> receptors =
                std::span(image.receptors).subspan(std::size_t{block} * lowered.receptors(), lowered.receptors());
            const auto row_of = [&](connect::KindIndex kind, RowIndex row) {
                return image.numbers[tables[block][kind.value]->source(row).value];
            };
            copy_table_rows(tables[block], lowered.plan(), receptors, static_cast<std::uint32_t>(image.ids.size()),
                            row_of, with_synapses, given);
        };
        image.given = [&, copy](std::uint32_t block, bool with_synapses, device::BlockRows& given) {
            const auto count = static_cast<std::uint32_t>(ahead.size());
            if (block % count == 0) {
                workers.team().run([&](std::uint32_t worker) {
                    if (block + worker < shard_count()) copy(block + worker, with_synapses, ahead[worker]);
                });
            }
            std::swap(given, ahead[block % count]);
        };
    }
    auto drawn = std::make_unique<DrawnRowWeights>(lowered.plan(), backend->construct(image), builder);
    if (drawn->are_lost()) return nullptr;
    rows.synapses.assign(drawn->rows().synapses.begin(), drawn->rows().synapses.end());
    drawn_rows = std::move(rows);
    return drawn;
}

void Simulation::Implementation::need_tables(const Poll& poll) {
    if (build_options.drawn.empty()) return;
    connect::BuildOptions with_tables = build_options;
    with_tables.drawn.clear();
    const MemoryEstimate estimate = estimate_memory(lowered, layout, with_tables, options, window, {.rate = 0.0});
    check_memory(estimate, options.memory_limit, communicator->host_size());
    // Those of synapses that change with spikes are there.
    const connect::NetworkPlan plan = connect::without(lowered.plan(), dynamic_projections(lowered.plan()));
    // What fails here leaves the simulation as it was: so it does not count as a failure of workers.
    connect::TableBuilder builder(plan, layout, with_tables, workers.team(), communicator);
    workers.team().run([&](std::uint32_t worker) { build_tables(builder, worker); }, poll);
    std::vector<connect::ShardTables> tables(shard_count());
    const auto for_shards = [&](const auto& action) {
        return [&](std::uint32_t worker) { workers.team().for_assigned_items(worker, shard_count(), action); };
    };
    workers.team().run(for_shards([&](std::uint32_t shard) { tables[shard] = builder.finish_static(shard); }), poll);
    const Step now = step.load();
    workers.team().run(for_shards([&](std::uint32_t shard) {
        shards[shard]->add_static_tables(std::move(tables[shard]), window, choose_most_steps(options, network), now);
    }));
    build_options.drawn.clear();
}

bool Simulation::Implementation::needs_tables(const ConnectionQuery& query) const {
    if (build_options.drawn.empty()) return false;
    const auto has_any = [](const std::optional<std::vector<std::uint64_t>>& ids, NeuronId first, std::uint64_t size) {
        if (!ids) return size > 0;
        return std::ranges::any_of(*ids, [&](std::uint64_t id) { return id - first.value < size; });
    };
    return std::ranges::any_of(lowered.plans(), [&](const connect::ProjectionPlan& plan) {
        const connect::PairSpace& pairs = plan.pairs;
        return lowered.plan().dynamics_of(plan.positive_kind) == nullptr &&
               (!query.projection || *query.projection == plan.id) &&
               has_any(query.sources, pairs.first_source, pairs.sources) &&
               has_any(query.targets, pairs.first_target, pairs.targets);
    });
}

bool Simulation::Implementation::needs_tables(std::span<const std::uint64_t> handles) const {
    if (build_options.drawn.empty()) return false;
    // Unknown kinds are reported by whoever looks for them.
    return std::ranges::any_of(handles, [&](std::uint64_t handle) {
        const connect::KindIndex kind = SynapseHandle::unpack(handle).kind;
        return kind.value < lowered.plan().kinds.size() && lowered.plan().dynamics_of(kind) == nullptr;
    });
}

void Simulation::Implementation::remember_sent_spikes() {
    for (const auto& shard : shards) {
        for (std::uint32_t kind = 0; kind < lowered.plan().kinds.size(); ++kind) {
            const connect::SynapseTable* const table = shard->synapses().table(connect::KindIndex{kind});
            if (table == nullptr || !shard->synapses().is_static(connect::KindIndex{kind})) continue;
            longest_static_delay = std::max<Step>(longest_static_delay, table->greatest_delay());
        }
    }
    for (const connect::ProjectionPlan& plan : lowered.plan().projections) {
        if (build_options.drawn.empty() || lowered.plan().dynamics_of(plan.positive_kind) != nullptr) continue;
        if (plan.pairs.sources == 0 || plan.pairs.targets == 0) continue;
        longest_static_delay =
            std::max<Step>(longest_static_delay, connect::round_delay(plan.delays.greatest(), plan.delay_grid));
    }
    longest_static_delay = static_cast<Step>(communicator->greatest(static_cast<std::uint64_t>(longest_static_delay)));
    // The state of a dry run is not saved.
    if (communicator->is_dry_run() || !options.invented_rates.empty()) return;
    for (const auto& shard : shards) shard->outboxes().keep_sent(longest_static_delay);
}

/// Builds the presynaptic side and the exchange, if spikes go to other processes.
void Simulation::Implementation::build_epochs(connect::RowNumbering numbering, const Poll& poll) {
    routing = std::make_unique<SpikeRouting>(SpikeRoutingArguments{.network = lowered,
                                                                   .layout = layout,
                                                                   .options = options,
                                                                   .communicator = communicator,
                                                                   .shards = shards,
                                                                   .sorted = sorted});
    if (routing->is_needed()) routing->build(numbering, workers, poll);
    // With asynchronous stepping, epochs are used only for loading a state.
    if (communicator->size() > 1 && choose_exchange(options, communicator->size()).on_host) {
        const Step epoch_steps = routing->shortest_delay();
        std::unique_ptr<SpikeRecords> spikes;
        agree(*communicator, "building the network", [&] {
            spikes = std::make_unique<SpikeRecords>(shards, network.unit_count(), epoch_steps, *communicator,
                                                    options.spike_buffer);
        });
        epochs->set_records(std::move(spikes), epoch_steps);
    } else if (routing->is_needed() && (!is_asynchronous(options) || communicator->size() == 1)) {
        set_epoch_traffic();
    } else {
        set_local_epochs();
    }
}

/// Spikes stay on this process, or are exchanged by asynchronous stepping.
void Simulation::Implementation::set_local_epochs() {
    epochs->set_records(std::make_unique<SpikeRecords>(shards, network.unit_count(), routing->shortest_delay()),
                        routing->shortest_delay());
}

void Simulation::Implementation::set_epoch_traffic() {
    std::unique_ptr<SpikeTraffic> traffic = routing->make_traffic();
    const Step epoch_steps = routing->epoch_steps(&traffic->exchange());
    epochs->set_traffic(std::move(traffic), epoch_steps);
}

/// If shards could only advance in lockstep, the bulk-synchronous stepping is kept.
void Simulation::Implementation::build_async() {
    const bool has_ranks = communicator->size() > 1;
    const comm::Notifications notifications = options.notifications;
    RemotePairs remote;
    if (has_ranks) {
        remote =
            find_remote_pairs(shards, layout, *communicator, notifications, options.connection_buffer, workers.team());
    }
    PairDelays delays(shards, layout, workers.team(), remote);
    const std::uint64_t all_shards = communicator->sum(shard_count());
    if (communicator->least(delays.is_lockstep(all_shards) ? 1 : 0) == 1) {
        if (has_ranks) set_epoch_traffic();
        return;
    }
    std::unique_ptr<comm::ProgressExchange> ranks;
    if (has_ranks) {
        ranks = std::make_unique<comm::ProgressExchange>(communicator, routing->presynaptic(), std::move(remote.routes),
                                                         notifications);
    }
    async = std::make_unique<AsyncStepping>(shards, std::move(delays), choose_most_steps(options, network),
                                            workers.team(), workers.traces(), workers.stealing(), std::move(ranks));
}

void Simulation::Implementation::build_on_device() {
    comm::SpikeExchange* const exchange = epochs->exchange();
    agree(*communicator, "building the network", [&] {
        on_device = std::make_unique<DeviceStepping>(
            DeviceStepping::Arguments{.shards = shards,
                                      .layout = layout,
                                      .team = workers.team(),
                                      .backend = *backend,
                                      .drawn = drawn_rows ? &*drawn_rows : nullptr,
                                      .network = lowered,
                                      .device = options.device,
                                      .epoch_steps = std::min(routing->shortest_delay(), device::longest_epoch),
                                      .kept_steps = longest_static_delay,
                                      .communicator = *communicator,
                                      .exchange = exchange,
                                      .addresses = exchange != nullptr ? &routing->addresses() : nullptr,
                                      .exchange_steps = epochs->epoch_steps()});
    });
}

void Simulation::Implementation::run(Step steps, const Poll& poll) { run(stepping(), steps, poll, !couplings.empty()); }

bool Simulation::Implementation::couple(bool is_interrupted) {
    const Step now = step.load(std::memory_order_relaxed);
    bool is_due = false;
    for (const auto& coupling : couplings) is_due = coupling->is_due(now) || is_due;
    if (!is_due) return false;
    if (!workers.is_alone() && communicator->greatest(is_interrupted ? 1 : 0) == 1) return true;
    try {
        for (const auto& coupling : couplings) {
            if (coupling->is_due(now)) coupling->act(now);
        }
    } catch (...) {
        if (!workers.is_alone()) end_all(*communicator, std::current_exception());
        throw;
    }
    return false;
}

Step Simulation::Implementation::end_of_stretch(Step last) const {
    const Step now = step.load(std::memory_order_relaxed);
    Step end = last;
    for (const auto& coupling : couplings) {
        end = std::min(end, (now / coupling->interval() + 1) * coupling->interval());
    }
    return end;
}

void Simulation::Implementation::set_field(std::size_t field, NeuronId neuron, std::span<const double> potentials) {
    for (const auto& shard : shards) {
        for (ShardGroup& group : shard->groups()) {
            const IdSequence& ids = shard->layout().share(group.population).ids;
            const auto local = ids.find(neuron);
            if (!local) continue;
            const std::vector<std::size_t> fields = fields_of(network, network.population(group.population));
            const auto found = std::ranges::find(fields, field);
            if (found == fields.end()) throw InternalError("a field that does not act on the neuron");
            group.neurons->outside()->set_distributions(static_cast<std::size_t>(found - fields.begin()),
                                                        static_cast<std::uint32_t>(*local), potentials);
            return;
        }
    }
    throw InternalError("a field at a neuron of another process");
}

void Simulation::Implementation::run(Stepping& how, Step steps, const Poll& poll, bool couples) {
    if (steps <= 0) return;
    workers.check_whole();
    const Step first = step.load(std::memory_order_relaxed) + 1;
    constexpr Step most_steps = std::int64_t{1} << 60;
    if (steps > most_steps - first) {
        throw ValueOutOfBoundsError({.object = "steps to run",
                                     .value = std::to_string(steps),
                                     .bound = "a simulation has at most 2^60 steps",
                                     .remedy = "run for a shorter time"});
    }
    LapTimer run_timer;
    const auto finish = [&] { phases.simulation += run_timer.lap(); };
    std::exception_ptr interruption;
    bool was_ended = false;  // because another process was interrupted
    const Step last = first + steps - 1;
    try {
        for (Step begin = first; begin <= last; begin = step.load(std::memory_order_relaxed) + 1) {
            was_ended = couples && couple(interruption != nullptr);
            if (was_ended) break;
            const Step end = couples ? end_of_stretch(last) : last;
            how.begin(begin, end);
            try {
                advance(how, interruption ? Poll{} : poll);
            } catch (...) {
                // An interruption may come after the processes have finished a stretch: then the others stop with the
                // next one, or agree below.
                const bool stopped = how.was_stopped() && (!how.stops_for_failures() || workers.has_failed());
                if (workers.is_alone() || stopped) throw;
                interruption = std::current_exception();
            }
            if (step.load(std::memory_order_relaxed) < end) break;
        }
    } catch (...) {
        finish();
        throw;
    }
    finish();
    // If the processes stopped together, the interrupted ones are not here; but if a failed neuron is also a reason
    // to stop, the reason is unknown.
    if (!how.was_stopped() || how.stops_for_failures()) {
        agree(*communicator, "run", [&] {
            const RunChecks checks(lowered, shards, weight_bounds,
                                   options.precision == models::Precision::double_precision);
            checks.check_finite(step.load());
            checks.check_growth();
            checks.check_rows();
            if (on_device && &how == on_device.get()) on_device->check();
        });
    }
    if (interruption) std::rethrow_exception(interruption);
    if ((how.was_stopped() || was_ended) && !workers.is_alone()) {
        throw RemoteError({.object = "run",
                           .value = "",
                           .bound = "another rank was interrupted after step " + std::to_string(step.load()),
                           .remedy = "continue it on all ranks"});
    }
}

void Simulation::Implementation::advance(Stepping& how, const Poll& poll) {
    const auto note_end = [&] {
        step.store(workers.has_failed() ? how.step() : how.reached(), std::memory_order_relaxed);
    };
    const Poll poll_with_step = [&] {
        step.store(how.step(), std::memory_order_relaxed);
        if (poll) poll();
    };
    try {
        workers.run_together([&](std::uint32_t worker) { how.run(worker, workers.times()[worker]); },
                             poll ? poll_with_step : Poll{});
    } catch (...) {
        note_end();
        throw;
    }
    note_end();
}

void Simulation::Implementation::replay(Step now, Step steps) {
    need_tables();
    const bool lacks_exchange = async && !workers.is_alone();
    step.store(now - steps);
    epochs->set_replays(true);
    if (lacks_exchange) set_epoch_traffic();
    run(*epochs, steps, {}, false);
    if (lacks_exchange) set_local_epochs();
    epochs->set_replays(false);
    if (on_device) {
        on_device->forget_spikes();
        on_device->forget_weights();
    }
    step.store(now);
}

std::vector<std::unique_ptr<models::ParameterChange>> Simulation::Implementation::prepare_spikes(
    PopulationId id, std::span<const std::vector<Step>> lists) {
    std::vector<std::unique_ptr<models::ParameterChange>> prepared;
    const std::uint64_t first = network.population(id).first.value;
    for (const auto& shard : shards) {
        std::vector<std::vector<Step>> local_lists;
        const IdSequence& ids = shard->layout().share(id).ids;
        local_lists.reserve(ids.size());
        for (std::uint64_t i = 0; i < ids.size(); ++i) local_lists.push_back(lists[ids[i].value - first]);
        const ShardGroup& group = shard->groups()[id];
        if (!group.neurons) continue;
        prepared.push_back(group.neurons->prepare_spikes(local_lists));
        shard->make_room_for_output(prepared.back()->largest_output());
    }
    return prepared;
}

void Simulation::Implementation::play(PopulationId id, network::SpikeLists lists,
                                      std::span<const std::unique_ptr<models::ParameterChange>> prepared) {
    for (const auto& change : prepared) change->apply();
    network.swap_spikes(id, lists);
    lowered.count_bursts(id);
    changes.spikes[id.value] = true;
}

void Simulation::Implementation::count_foreign_memory() {
    std::uint64_t bytes = 0;
    bytes += epochs->counts().buffer_bytes;
    if (async && async->ranks() != nullptr) bytes += async->ranks()->counts().buffer_bytes;
    account.set(node_of_all, purpose_of(Component::exchange), bytes);
}

StateData Simulation::Implementation::take_readout(network::RecorderIndex recorder, Gather how) {
    StateData data;
    std::vector<ExactSum> sums;
    int exponent = 0;
    for (const auto& shard : shards) {
        StateRecorder& readout = shard->recorders().state(recorder);
        data.steps.assign(readout.steps.begin(), readout.steps.end());
        sums.resize(readout.sums.size());
        for (std::size_t i = 0; i < sums.size(); ++i) sums[i].add(readout.sums[i]);
        exponent = readout.exponent;
        readout.steps.clear();
        readout.sums.clear();
        shard->recorders().publish_bytes();
    }
    const bool joins = communicator->size() > 1 && !communicator->is_dry_run() && how != Gather::local;
    if (joins) {
        std::vector<std::uint64_t> parts;
        parts.reserve(3 * sums.size());
        for (const ExactSum& sum : sums) {
            for (const std::uint64_t part : sum.parts()) parts.push_back(part);
        }
        communicator->reduce(parts, comm::Reduction::sum);
        for (std::size_t i = 0; i < sums.size(); ++i) {
            sums[i] = ExactSum::from_parts(std::span(parts).subspan(3 * i).first<3>());
        }
    }
    if (joins && how == Gather::root && communicator->rank() != Rank{0}) return data;
    for (std::uint64_t output = 0; output < network.state_recorders()[recorder].outputs; ++output) {
        data.places.push_back(output);
    }
    for (const ExactSum& sum : sums) data.values.push_back(sum.value(exponent));
    return data;
}

}  // namespace ranvier::engine
