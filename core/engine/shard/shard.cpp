#include "engine/shard/shard.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "base/errors.hpp"
#include "base/tight_list.hpp"
#include "engine/shard/group_creation.hpp"
#include "network/site_choice.hpp"

namespace ranvier::engine {

namespace {

/// Whether synapses onto a population change with its spikes.
bool has_learning_synapses(const network::LoweredNetwork& network, PopulationId population) {
    return std::ranges::any_of(network.plans(), [&](const connect::ProjectionPlan& plan) {
        const network::SynapseSpec& synapse = network.network().projections()[plan.id.value].synapse;
        return plan.reaches(population) && !synapse.is_static() && synapse.model->learns();
    });
}

/// Of one neuron.
double bytes_of_step(const models::NeuronModel& model) {
    if (model.step_bytes > 0.0) return model.step_bytes;
    return 2.0 * sizeof(double) * static_cast<double>(model.variables.size() + model.receptors.size());
}

}  // namespace

Shard::Shard(const network::LoweredNetwork& network, const connect::ShardLayout& layout,
             const SimulationOptions& options, InstructionSet instruction_set, models::SharedParts& shared,
             parallel::MemoryAccount& account, std::uint32_t node)
    : memory_(account, node),
      layout_(layout),
      measure_costs_(options.measure_costs),
      instruction_set_(instruction_set),
      fired_in_step_(memory_[Component::spikes]),
      kinds_(network.plan().kinds),
      stimulated_(network.stimulated_receptors(layout)),
      receptors_(network.receptors()),
      group_inputs_(network.receptors()),
      group_rows_(network.receptors()),
      group_spikes_(memory_[Component::spikes]),
      fired_(memory_[Component::spikes]),
      outboxes_{std::pmr::vector<comm::EmittedSpike>(memory_[Component::spikes]),
                std::pmr::vector<comm::EmittedSpike>(memory_[Component::spikes])},
      unordered_(memory_[Component::spikes]),
      rows_(memory_[Component::spikes]),
      sent_(memory_[Component::spikes]) {
    for (std::uint32_t receptor = 0; receptor < network.receptors(); ++receptor) {
        input_layouts_.push_back(network.plan().inputs_at(receptor, layout_));
        receptors_[receptor].size = input_layouts_.back().size();
    }
    for (std::uint32_t kind = 0; kind < kinds_.size(); ++kind) {
        static_kinds_.push_back(network.plan().dynamics_of(connect::KindIndex{kind}) == nullptr);
    }
    longest_stride_ = network.network().longest_stride();
    create_groups(network, options, shared);
    create_stimuli(network);
    create_recorders(network.network());
    if (options.invented_rates.empty()) return;
    std::vector<InventedSpikes::Sender> senders;
    for (const Group& group : groups_) {
        const std::size_t place = options.invented_rates.size() == 1 ? 0 : group.population.value;
        const double spikes_per_step = options.invented_rates[place] * network.network().resolution() / 1000.0;
        if (!group.is_source) senders.push_back({group.population, spikes_per_step, group.stride});
    }
    invented_ =
        std::make_unique<InventedSpikes>(layout_, senders, network.network().seed(), memory_[Component::invention]);
}

void Shard::create_groups(const network::LoweredNetwork& network, const SimulationOptions& options,
                          models::SharedParts& shared) {
    std::size_t largest_output = 0;
    parallel::NodeMemory* const memory = memory_[Component::neurons];
    for (const network::Population& population : network.network().populations()) {
        const connect::ShardLayout::PopulationShare& share = layout_.share(population.id);
        Group group;
        group.population = population.id;
        group.model = population.model;
        group.offset = share.offset;
        group.size = static_cast<std::uint32_t>(share.ids.size());
        group.receptors = static_cast<std::uint32_t>(population.model->receptors.size());
        for (std::uint32_t receptor = 0; receptor < group.receptors; ++receptor) {
            group.first_inputs.push_back(input_layouts_[receptor].first(population.id));
            group.inputs.push_back(group.size * input_layouts_[receptor].sites(population.id));
        }
        group.is_source = population.model->is_source;
        group.fires_repeatedly = population.model->most_spikes > 1;
        group.stride = population.stride;
        group.learns = has_learning_synapses(network, population.id);
        group.stimulated_electrodes = network.stimulated_electrodes(layout_, population);
        group.advances_by_stretches = group.size > 0 && population.model->stretch_gain != models::StretchGain::none;
        group.step_bytes = group.size * bytes_of_step(*population.model);
        GroupParts parts = create_group(network, population, share.ids, options, instruction_set_, memory, &shared);
        group.parameters = std::move(parts.parameters);
        group.neurons = std::move(parts.neurons);
        if (group.neurons && !group.fires_repeatedly)
            largest_output = std::max(largest_output, group.neurons->largest_output());
        groups_.push_back(std::move(group));
    }
    fired_.resize(largest_output);
}

void Shard::create_stimuli(const network::LoweredNetwork& network) {
    for (std::size_t i = 0; i < network.network().stimuli().size(); ++i) {
        for (ShardStimulus& stimulus : make_stimuli(network, i)) {
            group(stimulus.population).stimuli.push_back(stimuli_.size());
            stimuli_.push_back(std::move(stimulus));
        }
    }
}

std::vector<Shard::ShardStimulus> Shard::make_stimuli(const network::LoweredNetwork& network, std::size_t index) const {
    const network::Network& description = network.network();
    const network::StimulusSpec& spec = description.stimuli()[index];
    std::vector<ShardStimulus> made;
    for (const PopulationId id : description.populations_of(spec.targets)) {
        const IdSequence own = layout_.share(id).ids.among(spec.targets);
        if (own.empty()) continue;
        ShardStimulus stimulus(memory_[Component::stimuli]);
        stimulus.index = index;
        stimulus.stimulus = create_stimulus(network, index, description.population(id), own, instruction_set_,
                                            memory_[Component::stimuli]);
        stimulus.population = id;
        stimulus.offset = layout_.local_index(id, own[0]).value;
        stimulus.current = spec.model->output == models::StimulatorOutput::current;
        const network::Population& population = description.population(id);
        stimulus.receptor =
            stimulus.current ? network.electrode(index, population) : network.receptor(index, population);
        place(
            stimulus, own,
            network::sites_of_stimulus(description, index, population, stimulus.current ? 0 : stimulus.receptor, own));
        made.push_back(std::move(stimulus));
    }
    return made;
}

void Shard::replace_stimulus(ShardStimulus& stimulus) noexcept {
    for (ShardStimulus& present : stimuli_) {
        if (present.index != stimulus.index || present.population != stimulus.population) continue;
        stimulus.stimulus->take_state(*present.stimulus);
        present.stimulus.swap(stimulus.stimulus);
        present.receptor = stimulus.receptor;
    }
}

void Shard::place(ShardStimulus& stimulus, const IdSequence& targets, std::span<const std::uint32_t> sites) const {
    const connect::ShardLayout::PopulationShare& share = layout_.share(stimulus.population);
    std::uint64_t first = share.ids.count_below(targets[0]);
    std::uint64_t stride = 1;
    if (!stimulus.current && input_layouts_[stimulus.receptor].has_sites()) {
        const connect::InputLayout& inputs = input_layouts_[stimulus.receptor];
        stride = inputs.sites(stimulus.population);
        stimulus.offset = inputs.first(stimulus.population) + static_cast<std::uint32_t>(first * stride);
    }
    if (sites.empty() && share.ids.count_below(targets.back()) - first == targets.size() - 1) return;
    for (std::uint64_t i = 0; i < targets.size(); ++i) {
        const std::uint64_t place = (share.ids.count_below(targets[i]) - first) * stride;
        stimulus.places.push_back(static_cast<std::uint32_t>(place + (sites.empty() ? 0 : sites[i])));
    }
    stimulus.sums.resize(targets.size());
}

void Shard::create_recorders(const network::Network& network) {
    for (const network::SpikeRecorderSpec& spec : network.spike_recorders()) {
        SpikeRecorder recorder{
            .ranges = {}, .sparse = {}, .spikes = std::pmr::vector<RecordedSpike>(memory_[Component::recordings])};
        for (const IdSequence& ids : spec.neurons) {
            if (ids.empty()) continue;
            if (ids.is_contiguous()) {
                recorder.ranges.emplace_back(ids[0], NeuronId{ids.back().value + 1});
            } else {
                recorder.sparse.push_back(ids);
            }
        }
        std::sort(recorder.ranges.begin(), recorder.ranges.end());
        std::vector<std::pair<NeuronId, NeuronId>> joined;
        for (const auto& range : recorder.ranges) {
            if (!joined.empty() && range.first <= joined.back().second) {
                joined.back().second = std::max(joined.back().second, range.second);
            } else {
                joined.push_back(range);
            }
        }
        recorder.ranges = std::move(joined);
        spike_recorders_.push_back(std::move(recorder));
    }
    for (const network::StateRecorderSpec& spec : network.state_recorders()) {
        StateRecorder recorder(memory_[Component::recordings]);
        recorder.interval = spec.interval;
        recorder.variables = spec.variables.size();
        for (const PopulationId id : network.populations_of(spec.neurons)) {
            const connect::ShardLayout::PopulationShare& share = layout_.share(id);
            const IdSequence own = share.ids.among(spec.neurons);
            if (own.empty()) continue;
            StateRecorder::RecordedGroup recorded(memory_[Component::recordings]);
            recorded.population = id;
            recorded.first_place = recorder.places.size();
            group(id).recorders.push_back(state_recorders_.size());
            for (const std::string& name : spec.variables) {
                const auto variables = network.population(id).model->variables;
                const auto found = std::ranges::find(variables, name, &models::VariableInfo::name);
                if (found == variables.end()) throw InternalError("recorder of an unknown variable " + name);
                recorded.variables.push_back(static_cast<std::size_t>(found - variables.begin()));
            }
            for (std::uint64_t i = 0; i < own.size(); ++i) {
                recorded.local.push_back(static_cast<std::uint32_t>(share.ids.count_below(own[i])));
                recorder.places.push_back(spec.neurons.count_below(own[i]));
            }
            recorder.parts.push_back(std::move(recorded));
        }
        state_recorders_.push_back(std::move(recorder));
    }
}

void Shard::set_tables(connect::ShardTables tables, const WeightRanges& weights, std::uint32_t window,
                       Step most_steps) {
    tables_ = std::move(tables);
    // Transmitters, which add nothing to any input.
    kinds_.resize(tables_.size());
    static_kinds_.resize(tables_.size(), false);
    window_ = window;
    stretch_rows_ = std::ranges::any_of(groups_, &Group::advances_by_stretches) ? window_ : 1;
    std::vector<std::uint32_t> slots(receptors_.size(), static_cast<std::uint32_t>(stretch_rows_));
    for (std::size_t kind = 0; kind < tables_.size(); ++kind) {
        const connect::KindIndex index{static_cast<std::uint32_t>(kind)};
        if (tables_[kind] && tables_[kind]->deferred() != nullptr) deferred_.push_back(index);
        if (synapses(index) == nullptr || synapses(index)->size() == 0) continue;
        if (connect::LearningSynapses* const own = learning(index)) {
            learning_.push_back(index);
            if (own->spike_follower() != nullptr) spike_followers_.push_back(own->spike_follower());
            if (own->potential_follower() != nullptr) add_follower(*own->potential_follower());
        }
        const std::uint32_t receptor = kinds_[kind].receptor;
        receptors_[receptor].has_tables = true;
        // Neurons with longer steps have not read the inputs of the latest steps.
        const auto waiting = static_cast<std::uint32_t>(longest_stride_ - 1);
        slots[receptor] = std::max(slots[receptor], input_slots(window, tables_[kind]->reach(), waiting, most_steps));
    }
    // -0.0 is an input that nothing has reached (see UpdateArguments).
    const auto make_inputs = [&](std::uint32_t of_slots, std::uint32_t size) {
        Buffer<double> inputs(std::size_t{of_slots} * size, memory_[Component::inputs]);
        std::fill_n(inputs.data(), inputs.size(), -0.0);
        return inputs;
    };
    for (std::size_t receptor = 0; receptor < receptors_.size(); ++receptor) {
        ReceptorInputs& own = receptors_[receptor];
        if (own.has_tables || stimulated_[receptor]) {
            own.inputs = make_inputs(slots[receptor], own.size);
        } else if (no_inputs_.size() < own.size) {
            no_inputs_ = make_inputs(1, own.size);
        }
    }
    for (std::size_t receptor = 0; receptor < receptors_.size(); ++receptor) {
        ReceptorInputs& own = receptors_[receptor];
        const bool is_reached = !own.inputs.empty();
        own.ring = {is_reached ? own.inputs.data() : no_inputs_.data(), own.size, is_reached ? slots[receptor] - 1 : 0};
        own.row_mask = static_cast<std::uint64_t>(stretch_rows_ - 1);
    }
    for (Group& group : groups_) make_currents(group);
    fit_sums(weights);
}

void Shard::make_currents(Group& group) {
    group.currents.clear();
    for (const bool is_stimulated : group.stimulated_electrodes) {
        const std::size_t size = is_stimulated ? static_cast<std::size_t>(stretch_rows_) * group.size : 0;
        group.currents.emplace_back(size, memory_[Component::inputs]);
        std::fill_n(group.currents.back().data(), size, 0.0);
    }
}

WeightRanges Shard::weights() const {
    WeightRanges ranges;
    for (const ReceptorInputs& receptor : receptors_) ranges.push_back(receptor.weights);
    return ranges;
}

void Shard::fit_sums(const WeightRanges& ranges) {
    for (std::size_t receptor = 0; receptor < receptors_.size(); ++receptor) {
        fit_sums(receptors_[receptor], ranges[receptor]);
    }
}

void Shard::fit_sums(ReceptorInputs& receptor, const connect::WeightRange& range) {
    receptor.weights = range;
    connect::InputRing& ring = receptor.ring;
    if (!receptor.has_tables || (ring.wide == nullptr && range.fits_double())) return;
    const std::int32_t exponent = std::ilogb(range.quantum) - 1;
    if (ring.wide != nullptr) {
        const std::int32_t finer = ring.exponent - exponent;
        if (finer <= 0) return;
        for (connect::WideSum& sum : receptor.wide_sums.span()) {
            if (sum != 0) sum = (sum >> 1) << (finer + 1) | 1;
        }
        ring.exponent = exponent;
        return;
    }
    Buffer<connect::WideSum> sums(receptor.inputs.size(), memory_[Component::inputs]);
    for (std::size_t i = 0; i < sums.size(); ++i) {
        const double input = receptor.inputs[i];
        sums[i] = input == 0.0 && std::signbit(input) ? 0 : connect::to_wide(input, exponent) | 1;
    }
    Buffer<double> inputs(static_cast<std::size_t>(stretch_rows_) * receptor.size, memory_[Component::inputs]);
    std::fill_n(inputs.data(), inputs.size(), -0.0);
    receptor.inputs = std::move(inputs);
    receptor.wide_sums = std::move(sums);
    ring.data = receptor.inputs.data();
    ring.wide = receptor.wide_sums.data();
    ring.exponent = exponent;
}

void Shard::ReceptorInputs::gather(Step step, Step stride, std::uint32_t first, std::uint32_t count) {
    for (Step before = step - stride + 1; before < step; ++before) {
        if (ring.wide != nullptr) {
            connect::WideSum* const sums = ring.wide_slot(step) + first;
            connect::WideSum* const added = ring.wide_slot(before) + first;
            // The lowest bit tells whether there is an input.
            for (std::size_t i = 0; i < count; ++i) {
                const auto is_there = static_cast<connect::WideSum>((sums[i] | added[i]) & 1);
                sums[i] = ((sums[i] >> 1) + (added[i] >> 1)) << 1 | is_there;
                added[i] = 0;
            }
            continue;
        }
        double* const sums = ring.slot(step) + first;
        double* const added = ring.slot(before) + first;
        for (std::size_t i = 0; i < count; ++i) {
            sums[i] += added[i];
            added[i] = -0.0;
        }
    }
}

void Shard::ReceptorInputs::round_sums(Step step, std::uint32_t first, std::uint32_t count) {
    const double quantum = std::ldexp(1.0, ring.exponent + 1);
    connect::WideSum* const sums = ring.wide_slot(step) + first;
    double* const rounded = of_step(step) + first;
    for (std::size_t i = 0; i < count; ++i) {
        rounded[i] = connect::from_wide(sums[i], quantum);
        sums[i] = 0;
    }
}

void Shard::forget_sources() {
    for (const auto& table : tables_) {
        if (!table || table->synapses() == nullptr) continue;
        if (auto* const sources = table->synapses()->forgettable_sources()) sources->forget_sources();
    }
}

void Shard::add_follower(connect::PotentialFollower& synapses) {
    Follower follower{.synapses = &synapses, .variables = {}};
    for (const Group& group : groups_) {
        std::vector<std::size_t>& own = follower.variables.emplace_back();
        for (const std::string_view name : synapses.followed_variables()) {
            const auto found = std::ranges::find(group.model->variables, name, &models::VariableInfo::name);
            if (found != group.model->variables.end())
                own.push_back(static_cast<std::size_t>(found - group.model->variables.begin()));
        }
        // One that none of the synapses reaches may have some of the names.
        if (own.size() < synapses.followed_variables().size()) own.clear();
    }
    followers_.push_back(std::move(follower));
}

void Shard::read_followed(const Follower& follower, std::size_t variable, std::uint32_t first,
                          std::span<double> values) const {
    constexpr std::uint32_t most = 256;
    std::array<std::uint32_t, most> neurons;
    const std::uint32_t end = first + static_cast<std::uint32_t>(values.size());
    for (std::size_t g = 0; g < groups_.size(); ++g) {
        const Group& group = groups_[g];
        if (!group.neurons || follower.variables[g].empty()) continue;
        std::uint32_t local = std::max(first, group.offset);
        for (const std::uint32_t last = std::min(end, group.offset + group.size); local < last;) {
            const std::uint32_t count = std::min(most, last - local);
            std::iota(neurons.begin(), neurons.begin() + count, local - group.offset);
            group.neurons->read(follower.variables[g][variable], std::span(neurons).first(count),
                                values.data() + (local - first));
            local += count;
        }
    }
}

connect::PotentialReader Shard::reader_of(const Follower& follower) const {
    return [this, &follower](std::size_t variable, std::uint32_t first, std::span<double> values) {
        read_followed(follower, variable, first, values);
    };
}

void Shard::arrive(Step step) {
    for (const Follower& follower : followers_) {
        follower.synapses->begin_following(step - 1, reader_of(follower));
    }
    for (const connect::KindIndex kind : learning_) learning(kind)->arrive(instruction_set_, step, ring(kind));
}

void Shard::begin_step(Step step) {
    arrive(step);
    if (step % window_ != 0) return;
    deliver_window(step);
}

void Shard::deliver_window(Step step) {
    for (const connect::KindIndex kind : deferred_) {
        tables_[kind.value]->deferred()->deliver(instruction_set_, step, step + window_, ring(kind));
    }
}

void Shard::accept(Step stamp, std::span<const NeuronId> sources, Step now) {
    for (std::uint32_t kind = 0; kind < tables_.size(); ++kind) {
        if (!tables_[kind]) continue;
        rows_.clear();
        tables_[kind]->find_rows(sources, rows_);
        if (!rows_.empty()) accept(stamp, connect::KindIndex{kind}, rows_, now);
    }
}

void Shard::accept(Step stamp, connect::KindIndex kind, std::span<const RowIndex> rows, Step now) {
    if (replays_ && !is_static(kind)) return;
    synaptic_events_ += tables_[kind.value]->accept(instruction_set_, stamp, rows, now, window_end(now), ring(kind));
}

void Shard::set_weights(connect::KindIndex kind, std::span<const std::uint64_t> positions,
                        std::span<const double> weights, Step now) {
    synapses(kind)->set_weights(positions, weights, now, window_end(now), ring(kind));
}

std::uint64_t Shard::synapses() const {
    std::uint64_t total = 0;
    for (const auto& table : tables_) {
        if (table && table->synapses() != nullptr) total += table->synapses()->size();
    }
    return total;
}

double Shard::step_bytes() const {
    double bytes = 0.0;
    for (const Group& group : groups_) bytes += group.step_bytes;
    return bytes;
}

void Shard::reset_counts() {
    synaptic_events_ = 0;
    visits_ = 0;
    for (Group& group : groups_) {
        group.spikes = 0;
        group.update_seconds = 0.0;
    }
}

std::uint64_t Shard::recorded_bytes() const {
    std::uint64_t bytes = 0;
    for (const SpikeRecorder& recorder : spike_recorders_) bytes += recorder.spikes.size() * sizeof(RecordedSpike);
    for (const StateRecorder& recorder : state_recorders_) {
        bytes += recorder.values.size() * sizeof(double) + recorder.steps.size() * sizeof(Step);
    }
    return bytes;
}

}  // namespace ranvier::engine
