#include "ranvier/engine/simulation.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "engine/agreement.hpp"
#include "engine/forecast/memory.hpp"
#include "engine/shard/weight_checks.hpp"
#include "engine/simulation/fingerprint.hpp"
#include "engine/simulation/simulation_implementation.hpp"
#include "network/network_checks.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/engine/gather.hpp"

namespace ranvier::engine {

namespace {

/// Clears a list and frees its memory.
template <class T>
void release(std::pmr::vector<T>& list) {
    list = std::pmr::vector<T>(list.get_allocator());
}

/// Called before recordings are taken, so that none are lost: checks that all processes have memory for the data from
/// the shards, the gathered data, and the returned arrays. @note Collective, unless they stay local.
void check_room_for(comm::Communicator& communicator, const std::string& what, std::uint64_t local_bytes, Gather how) {
    // Below this size the system call takes longer than the copy.
    constexpr std::uint64_t least = 16 << 20;
    const auto check = [&](std::uint64_t bytes) {
        if (bytes < least) return;
        check_room("memory for " + what, bytes, communicator.host_size(),
                   "read the data more often, record less, or record to a file");
    };
    if (communicator.size() == 1 || communicator.is_dry_run() || how == Gather::local) {
        check(local_bytes);
        return;
    }
    const std::uint64_t all_bytes = communicator.sum(local_bytes);
    const bool gets = how == Gather::everywhere || communicator.rank() == Rank{0};
    agree(communicator, what, [&] { check(local_bytes + (gets ? 2 * all_bytes : 0)); });
}

}  // namespace

Simulation::Simulation(network::Network network, SimulationOptions options, const Poll& poll,
                       std::shared_ptr<comm::Communicator> communicator) {
    if (!communicator) communicator = comm::make_local_communicator();
    MachineShare machine(*communicator);
    // Errors in the description of a process are thrown before its differences from others.
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
std::uint32_t Simulation::threads() const { return implementation_->workers.size(); }
std::uint32_t Simulation::shards() const { return implementation_->shard_count(); }
parallel::Team& Simulation::team() const { return implementation_->workers.team(); }

std::span<const parallel::Place> Simulation::places() const { return implementation_->workers.team().places(); }
bool Simulation::is_crowded() const {
    return implementation_->workers.machine().is_crowded(implementation_->workers.places());
}
std::vector<parallel::StealingCounts> Simulation::stealing_counts() const {
    const Implementation& self = *implementation_;
    std::vector<parallel::StealingCounts> counts;
    counts.reserve(self.workers.size());
    for (std::uint32_t worker = 0; worker < self.workers.size(); ++worker) {
        counts.push_back(self.stepping().stealing(worker));
    }
    return counts;
}
std::uint64_t Simulation::shared_deliveries() const { return implementation_->epochs->parts_taken(); }
std::uint32_t Simulation::ranks() const { return static_cast<std::uint32_t>(implementation_->communicator->size()); }
bool Simulation::sorts_connections() const { return implementation_->sorted; }
comm::Communicator& Simulation::communicator() const { return *implementation_->communicator; }
const IdSequence& Simulation::local_ids() const { return implementation_->layout.ids(); }
Step Simulation::epoch_steps() const { return implementation_->epochs->epoch_steps(); }
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
        counts.synapses += shard->synapses().size();
        counts.synaptic_events += shard->synapses().events();
        for (const ShardGroup& group : shard->groups()) {
            counts.population_spikes[group.population.value] += group.spikes;
            if (!group.is_source) counts.spikes += group.spikes;
        }
    }
    // The same number, while the process has no static tables.
    if (!self.build_options.drawn.empty() && self.drawn_rows) {
        counts.synapses +=
            std::accumulate(self.drawn_rows->synapses.begin(), self.drawn_rows->synapses.end(), std::uint64_t{0});
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
    self.workers.reset_counts();
    self.counted_from = step();
    self.timed_from = step();
    self.phases.simulation = 0.0;
    self.epochs->reset_counts();
    if (self.async) self.async->reset_counts();
}

SteppingCounts Simulation::stepping() const {
    const Implementation& self = *implementation_;
    SteppingCounts stepping{.is_asynchronous = self.async != nullptr};
    for (const auto& shard : self.shards) {
        stepping.visits += shard->visits();
        stepping.moved_bytes += static_cast<double>(shard->visits()) * shard->groups().step_bytes();
    }
    return stepping;
}

std::vector<std::uint64_t> Simulation::visits() const {
    const Implementation& self = *implementation_;
    return self.async ? self.async->visits() : std::vector<std::uint64_t>{};
}

Step Simulation::timed_steps() const { return step() - implementation_->timed_from; }

std::vector<double> Simulation::costs() const {
    const Implementation& self = *implementation_;
    const Counts counts = this->counts();
    if (!self.options.measure_costs || timed_steps() == 0) {
        throw StateError({.object = "costs of the populations",
                          .value = "",
                          .bound = "they have not been measured",
                          .remedy = "make the simulation with measure_costs, and run it"});
    }
    const std::size_t populations = self.network.populations().size();
    // Nanoseconds of all processes: update by population, and delivery.
    std::vector<std::uint64_t> nanoseconds(populations + 1, 0);
    const auto add = [&](std::size_t i, double seconds) {
        nanoseconds[i] += static_cast<std::uint64_t>(seconds * 1e9);
    };
    for (const auto& shard : self.shards) {
        for (const ShardGroup& group : shard->groups()) add(group.population.value, group.update_seconds);
    }
    for (const WorkerTimes& times : self.workers.times()) add(populations, times.deliver);
    self.communicator->reduce(nanoseconds, comm::Reduction::sum);
    // Synapses onto each population that were reached, assuming that all sources have the average number of synapses.
    const std::span<const connect::PopulationRange> ranges = self.lowered.ranges();
    std::vector<double> events(populations, 0.0);
    double all_events = 0.0;
    for (const connect::ProjectionPlan& plan : self.lowered.plans()) {
        const network::Projection& projection = self.network.projections()[plan.id.value];
        double spikes = 0.0;
        for (const PopulationId id : self.network.populations_of(projection.sources)) {
            const double part = static_cast<double>(self.network.part_of(id, projection.sources).size());
            if (part == 0.0) continue;
            spikes += part * static_cast<double>(counts.population_spikes[id.value]) /
                      static_cast<double>(ranges[id.value].size);
        }
        if (spikes == 0.0) continue;
        const double reached =
            plan.sampler->expected_synapses() * spikes / static_cast<double>(projection.sources.size());
        for (const PopulationId id : plan.target_populations) {
            const double part = static_cast<double>(self.network.part_of(id, projection.targets).size());
            if (part > 0.0) events[id.value] += reached * part / static_cast<double>(projection.targets.size());
        }
        all_events += reached;
    }
    std::vector<double> costs(populations, 0.0);
    for (std::size_t i = 0; i < populations; ++i) {
        if (ranges[i].size == 0) continue;
        const double delivery =
            all_events > 0.0 ? static_cast<double>(nanoseconds[populations]) * events[i] / all_events : 0.0;
        costs[i] = (static_cast<double>(nanoseconds[i]) + delivery) * 1e-9 /
                   (static_cast<double>(ranges[i].size) * static_cast<double>(timed_steps()));
    }
    return costs;
}

PhaseTimes Simulation::times() const {
    PhaseTimes times = implementation_->phases;
    const double share = 1.0 / static_cast<double>(implementation_->workers.size());
    for (const WorkerTimes& worker : implementation_->workers.times()) {
        times.update += worker.update * share;
        times.collocate += worker.collocate * share;
        times.deliver += worker.deliver * share;
        times.wait += worker.wait * share;
        times.communicate += worker.communicate * share;
        times.record += worker.record * share;
    }
    return times;
}

Crowding Simulation::crowding() const { return implementation_->workers.crowding(); }

std::vector<WorkerTimes> Simulation::worker_times() const { return implementation_->workers.times(); }

std::vector<std::vector<TracedWork>> Simulation::trace() const {
    std::vector<std::vector<TracedWork>> pieces;
    for (const WorkTrace& trace : implementation_->workers.traces()) pieces.push_back(trace.pieces());
    return pieces;
}

std::vector<EpochTimes> Simulation::epoch_times() const { return implementation_->epochs->epoch_times(); }

Traffic Simulation::traffic() const {
    const Implementation& self = *implementation_;
    Traffic traffic;
    traffic.method = self.epochs->method();
    traffic.counts = self.epochs->counts();
    if (self.async && self.async->ranks() != nullptr) {
        traffic.method = self.async->ranks()->name();
        traffic.counts = self.async->ranks()->counts();
    }
    if (const auto& presynaptic = self.routing->presynaptic()) {
        traffic.presynaptic_entries = presynaptic->size();
        traffic.presynaptic_bytes = presynaptic->bytes();
    }
    traffic.build_rounds = self.routing->build_rounds();
    return traffic;
}

std::uint64_t Simulation::greatest_fan_out() const {
    const Implementation& self = *implementation_;
    const Rank here = self.communicator->rank();
    const std::int32_t ranks = self.communicator->size();
    const auto& presynaptic = self.routing->presynaptic();
    if (presynaptic == nullptr) return static_cast<std::uint64_t>(ranks - 1);
    std::uint64_t greatest = 0;
    std::vector<comm::Destination> found;
    for (std::uint32_t shard = 0; shard < self.shards.size(); ++shard) {
        for (std::uint32_t local = 0; local < presynaptic->sources(shard); ++local) {
            found.clear();
            presynaptic->find(shard, local, Rank{0}, Rank{ranks}, found);
            std::uint64_t others = 0;
            for (std::size_t i = 0; i < found.size(); ++i) {
                if (found[i].rank != here && (i == 0 || found[i].rank != found[i - 1].rank)) ++others;
            }
            greatest = std::max(greatest, others);
        }
    }
    return greatest;
}

std::vector<MemoryItem> Simulation::memory() const {
    implementation_->count_foreign_memory();
    std::vector<MemoryItem> items;
    for (std::uint32_t i = 0; i < component_names.size(); ++i) {
        const std::uint64_t bytes = implementation_->account.bytes(parallel::MemoryPurpose{i});
        // The first components are always listed, even if they are empty.
        if (i <= static_cast<std::uint32_t>(Component::recordings) || bytes > 0) {
            items.push_back({component_names[i], bytes});
        }
    }
    return items;
}

std::vector<MemoryItem> Simulation::device_memory() const {
    const auto& backend = implementation_->backend;
    return backend ? items_of(backend->memory()) : std::vector<MemoryItem>{};
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
    // Pages that are not on the owner's node are contiguous, since they were allocated when its memory was exhausted.
    constexpr std::size_t most_looked_at = 4096;
    parallel::PagesByNode sum;
    for (const auto& shard : implementation_->shards) sum += shard->memory().pages(most_looked_at);
    for (const auto& pool : implementation_->pools) sum += pool->pages(most_looked_at);
    return sum;
}

SpikeData Simulation::take_spikes(network::RecorderIndex recorder, Gather how) {
    std::uint64_t recorded = 0;
    for (const auto& shard : implementation_->shards) recorded += shard->recorders().spikes(recorder).size();
    check_room_for(*implementation_->communicator, "spikes that were recorded", recorded * sizeof(RecordedSpike), how);
    std::vector<RecordedSpike> all;
    all.reserve(recorded);
    for (const auto& shard : implementation_->shards) {
        std::pmr::vector<RecordedSpike>& spikes = shard->recorders().spikes(recorder);
        all.insert(all.end(), spikes.begin(), spikes.end());
        release(spikes);
        shard->recorders().publish_bytes();
    }
    all = gather(*implementation_->communicator, std::move(all), how);
    std::sort(all.begin(), all.end());
    SpikeData data;
    data.steps.reserve(all.size());
    data.neurons.reserve(all.size());
    for (const RecordedSpike& spike : all) {
        data.steps.push_back(spike.step);
        data.neurons.push_back(spike.neuron.value);
    }
    return data;
}

CountData Simulation::take_counts(network::RecorderIndex recorder, Gather how) {
    CountData data;
    const auto sets = implementation_->network.spike_recorders()[recorder].neurons.size();
    Step first = 0;
    for (const auto& shard : implementation_->shards) {
        SpikeCounts& of_shard = shard->recorders().counts(recorder);
        first = of_shard.first_end;
        data.counts.resize(of_shard.counts.size());
        for (std::size_t i = 0; i < data.counts.size(); ++i) data.counts[i] += of_shard.counts[i];
        release(of_shard.counts);
        shard->recorders().publish_bytes();
    }
    comm::Communicator& communicator = *implementation_->communicator;
    if (communicator.size() > 1 && !communicator.is_dry_run() && how != Gather::local) {
        communicator.reduce(data.counts, comm::Reduction::sum);
        if (how == Gather::root && communicator.rank() != Rank{0}) return {};
    }
    const auto bin = static_cast<Step>(implementation_->network.spike_recorders()[recorder].bin);
    for (std::size_t i = 0; sets > 0 && i < data.counts.size() / sets; ++i) {
        data.steps.push_back(first + static_cast<Step>(i) * bin);
    }
    return data;
}

StateData Simulation::take_state(network::RecorderIndex recorder, Gather how) {
    const network::StateRecorder& spec = implementation_->network.state_recorders()[recorder];
    const std::size_t variables = spec.by_neuron ? spec.outputs : spec.variables.size();
    std::uint64_t recorded = 0;
    for (const auto& shard : implementation_->shards) recorded += shard->recorders().state(recorder).values.size();
    check_room_for(*implementation_->communicator, "state variables that were recorded", recorded * sizeof(double),
                   how);
    if (spec.outputs > 0 && !spec.by_neuron) return implementation_->take_readout(recorder, how);
    StateData data;
    std::vector<std::uint64_t> places;
    for (const auto& shard : implementation_->shards) {
        StateRecorder& of_shard = shard->recorders().state(recorder);
        data.steps.assign(of_shard.steps.begin(), of_shard.steps.end());
        release(of_shard.steps);
        places.insert(places.end(), of_shard.places.begin(), of_shard.places.end());
    }
    // One column for each neuron, in the order of the shards, then of the processes.
    const std::size_t rows = data.steps.size() * variables;
    std::vector<double> columns;
    columns.reserve(rows * places.size());
    for (const auto& shard : implementation_->shards) {
        StateRecorder& of_shard = shard->recorders().state(recorder);
        const std::size_t neurons = of_shard.places.size();
        for (std::size_t i = 0; i < neurons; ++i) {
            for (std::size_t row = 0; row < rows; ++row) columns.push_back(of_shard.values[row * neurons + i]);
        }
        release(of_shard.values);
        shard->recorders().publish_bytes();
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

void Simulation::set_readout_exponent(network::RecorderIndex recorder, int exponent) {
    for (const auto& shard : implementation_->shards) shard->recorders().state(recorder).exponent = exponent;
}

void Simulation::set_readout(network::RecorderIndex recorder, NeuronId neuron, std::span<const double> weights) {
    for (const auto& shard : implementation_->shards) {
        if (shard->set_readout(recorder, neuron, weights)) return;
    }
    throw InternalError("a readout of a neuron of another process");
}

void Simulation::set_field(std::size_t field, NeuronId neuron, std::span<const double> potentials) {
    implementation_->set_field(field, neuron, potentials);
}

void Simulation::set_coupling(std::size_t field, std::span<const fmm::LinePiece> lines, const Poll& poll) {
    Implementation& self = *implementation_;
    // An interruption would leave other processes waiting in a collective operation.
    const Poll alone_poll = self.workers.is_alone() ? poll : Poll{};
    self.couplings.push_back(
        std::make_unique<FieldCoupling>(FieldCoupling::Arguments{.network = self.network,
                                                                 .field = field,
                                                                 .shards = self.shards,
                                                                 .team = self.workers.team(),
                                                                 .communicator = *self.communicator,
                                                                 .memory = &self.coupling_memory,
                                                                 .poll = alone_poll},
                                        lines));
    self.account.add(self.node_of_all, purpose_of(Component::fields), self.couplings.back()->bytes());
}

std::uint64_t Simulation::recorded_bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& shard : implementation_->shards) bytes += shard->recorders().published_bytes();
    return bytes;
}

void Simulation::prepare_connections(const ConnectionQuery& query, const Poll& poll) const {
    if (implementation_->needs_tables(query)) implementation_->need_tables(poll);
}

std::uint64_t Simulation::count_connections(const ConnectionQuery& query) const {
    return implementation_->connections(query).count(query, implementation_->workers.team());
}

ConnectionData Simulation::connections(const ConnectionQuery& query) const {
    return implementation_->connections(query).find(query, implementation_->workers.team());
}

std::vector<std::uint32_t> Simulation::receptors(std::span<const std::uint64_t> handles) const {
    return implementation_->connections(handles).receptors(handles);
}

std::vector<double> Simulation::weights(std::span<const std::uint64_t> handles) const {
    return implementation_->connections(handles).weights(handles);
}

std::vector<std::uint64_t> Simulation::stored_here(std::span<const std::uint64_t> handles) const {
    return implementation_->connections(handles).stored_here(handles);
}

void Simulation::set_weights(std::span<const std::uint64_t> handles, std::span<const double> weights) {
    implementation_->connections().set_weights(handles, weights, implementation_->build_options.double_weights, step());
    if (implementation_->on_device) implementation_->on_device->forget_weights();
    for (const std::uint64_t handle : handles) {
        implementation_->changes.weights[SynapseHandle::unpack(handle).kind.value] = true;
    }
}

std::vector<double> Simulation::synapse_parameters(std::span<const std::uint64_t> handles,
                                                   std::string_view name) const {
    return implementation_->connections(handles).parameters(handles, name);
}

void Simulation::set_synapse_parameters(std::span<const std::uint64_t> handles, const GivenParameters& given) {
    implementation_->connections().set_parameters(handles, given, implementation_->build_options.double_weights);
    if (implementation_->on_device) implementation_->on_device->forget_weights();
    for (const std::uint64_t handle : handles) {
        // Parameters are saved with weights.
        implementation_->changes.weights[SynapseHandle::unpack(handle).kind.value] = true;
    }
}

std::vector<double> Simulation::get(PopulationId population, std::string_view name,
                                    std::span<const std::uint64_t> indices) const {
    if (const auto& on_device = implementation_->on_device) {
        agree(*implementation_->communicator, "getting values of neurons", [&] { on_device->check_state(); });
    }
    return implementation_->neurons().get(population, name, indices);
}

void Simulation::set(std::span<const network::NeuronChange> changes) {
    Implementation& self = *implementation_;
    self.neurons().set(changes, step());
    for (const network::NeuronChange& change : changes) {
        for (const auto& [name, values] : change.values) {
            self.changes.note_value(self.network.population(change.population), name);
        }
    }
}

void Simulation::set(PopulationId population, std::string_view name, std::span<const std::uint64_t> indices,
                     std::span<const double> values) {
    network::NeuronChange change{.population = population, .indices = {indices.begin(), indices.end()}, .values = {}};
    change.values.emplace(std::string(name), SharedArray(std::vector<double>(values.begin(), values.end())));
    set(std::span(&change, 1));
}

void Simulation::set_stimulus(std::size_t index, std::map<std::string, network::Values, std::less<>> values,
                              std::map<std::string, std::vector<double>, std::less<>> sequences,
                              std::optional<network::Values> weight,
                              const std::map<std::string, Step, std::less<>>& steps) {
    Implementation& self = *implementation_;
    if (index >= self.network.stimuli().size()) {
        throw ValueOutOfBoundsError({.object = "stimulus",
                                     .value = "number " + std::to_string(index),
                                     .bound = "there are " + std::to_string(self.network.stimuli().size()),
                                     .remedy = "use stimuli of the network that was built"});
    }
    // Stimuli are created from the changed description, which is kept once all processes have created theirs.
    network::StimulusSpec other;
    bool is_swapped = false;
    std::vector<std::pair<Shard*, ShardStimulus>> made;
    try {
        agree(*self.communicator, "setting stimulus " + network::quoted(self.network.stimuli()[index].name), [&] {
            other = self.network.changed_stimulus(index, std::move(values), std::move(sequences), std::move(weight),
                                                  step());
            for (const auto& [name, step] : steps) other.changed_at.insert_or_assign(name, step);
            self.network.swap_stimulus(index, other);
            is_swapped = true;
            for (const auto& shard : self.shards) {
                for (ShardStimulus& stimulus_of_group : shard->stimuli().make(self.lowered, index)) {
                    made.emplace_back(shard.get(), std::move(stimulus_of_group));
                }
            }
        });
    } catch (...) {
        if (is_swapped) self.network.swap_stimulus(index, other);
        throw;
    }
    for (auto& [shard, stimulus] : made) shard->stimuli().replace(stimulus);
}

void Simulation::set_sequences(PopulationId id, network::Sequences sequences) {
    Implementation& self = *implementation_;
    const std::string name = network::quoted(self.network.population(id).name);
    std::vector<std::unique_ptr<models::ParameterChange>> changes;
    network::Sequences changed;
    agree(*self.communicator, "setting lists of numbers of population " + name, [&] {
        changed = self.network.changed_sequences(id, std::move(sequences));
        const models::NeuronModel& model = *self.network.population(id).model;
        const std::vector<std::vector<double>> lists = network::ordered(model.sequences, changed);
        for (const auto& shard : self.shards) {
            const ShardGroup& group = shard->groups()[id];
            if (!group.neurons) continue;
            // Parameters may differ from those of the description.
            if (const auto reason =
                    network::conflict_of_sources(*model.stimulator, group.parameters, group.size, lists)) {
                throw ValueOutOfBoundsError({.object = "parameters of population " + name,
                                             .value = "",
                                             .bound = *reason,
                                             .remedy = "change both"});
            }
            changes.push_back(group.neurons->prepare_sequences(group.parameters, lists));
        }
    });
    for (const auto& change : changes) change->apply();
    self.network.swap_sequences(id, changed);
}

void Simulation::set_spike_times(PopulationId id, std::span<const std::uint64_t> units,
                                 std::span<const std::vector<double>> spike_times) {
    Implementation& self = *implementation_;
    const network::Population& population = self.network.population(id);
    network::SpikeLists lists;
    std::vector<std::unique_ptr<models::ParameterChange>> changes;
    agree(*self.communicator, "setting spike times of population " + network::quoted(population.name), [&] {
        if (!population.model->plays_spikes || spike_times.size() != units.size()) {
            throw ShapeError({.object = "lists of spike times of population " + network::quoted(population.name),
                              .value = std::to_string(spike_times.size()),
                              .bound = "there are " +
                                       std::to_string(population.model->plays_spikes ? units.size() : 0) +
                                       " units that play spikes",
                              .remedy = "give one list for each"});
        }
        lists = self.network.later_spikes(id, units, spike_times, step());
        // More spikes at once give larger sums of inputs, which must stay exact.
        network::Population changed = population;
        changed.spike_steps = lists;
        WeightRanges ranges = self.shards.front()->inputs().weights();
        for (std::uint32_t receptor = 0; receptor < ranges.size(); ++receptor) {
            ranges[receptor].most_inputs *= self.lowered.growth_of_bursts(changed, receptor);
            check_sums(ranges[receptor], "weights of synapses that such spikes reach");
        }
        changes = self.prepare_spikes(id, lists.all());
        for (const auto& shard : self.shards) shard->inputs().fit_sums(ranges);
    });
    self.play(id, std::move(lists), changes);
}

}  // namespace ranvier::engine
