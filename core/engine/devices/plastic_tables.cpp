#include "engine/devices/plastic_tables.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory_resource>
#include <optional>
#include <utility>

#include "connect/plasticity/decay.hpp"
#include "engine/shard/input_state.hpp"
#include "models/equations/program_release.hpp"
#include "models/equations/program_rule.hpp"
#include "models/equations/program_synapse.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::engine {

namespace {

using device::i64;
using device::u16;
using device::u32;
using device::u64;

std::vector<u32> words_of(std::span<const std::byte> bytes) {
    std::vector<u32> words(bytes.size() / sizeof(u32));
    std::memcpy(words.data(), bytes.data(), words.size() * sizeof(u32));
    return words;
}

template <class Real>
device::DecayFactors<Real> factors_of(double steps) {
    const connect::Decay<Real> decay(steps);
    const auto view = decay.view();
    return {.within = {view.short_, view.short_ + connect::Decay<Real>::stretch_steps},
            .stretches = {view.long_, view.long_ + view.last + 1}};
}

/// The change of one weight, for the emulator.
float changed(const connect::LearningRule<float>& rule, bool is_postsynaptic, float weight, float trace,
              float same_side_trace, const float* parameters) {
    struct alignas(64) Lanes : std::array<float, connect::rule_lanes> {};
    Lanes weights;
    Lanes traces;
    Lanes same_side;
    weights.fill(weight);
    traces.fill(trace);
    same_side.fill(same_side_trace);
    constexpr InstructionSet set = InstructionSet::baseline;
    if (rule.per_synapse.any()) {
        std::array<Lanes, connect::most_rule_parameters> values;
        std::array<const float*, connect::most_rule_parameters> pointers = {};
        for (std::size_t k = 0; k < rule.per_synapse.parameter_count; ++k) {
            values[k].fill(parameters[k]);
            pointers[k] = values[k].data();
        }
        const auto& change = is_postsynaptic ? rule.per_synapse.postsynaptic : rule.per_synapse.presynaptic;
        change(set, weights.data(), traces.data(), same_side.data(), pointers.data(), connect::rule_lanes,
               rule.per_synapse.constants);
    } else {
        const auto& change = is_postsynaptic ? rule.postsynaptic : rule.presynaptic;
        change(set, weights.data(), traces.data(), same_side.data(), connect::rule_lanes, rule.constants.get());
    }
    return weights[0];
}

std::function<float(bool, float, float, float, const float*)> change_by(connect::LearningRule<float> rule) {
    return [rule = std::move(rule)](bool is_postsynaptic, float weight, float trace, float same_side_trace,
                                    const float* parameters) {
        return changed(rule, is_postsynaptic, weight, trace, same_side_trace, parameters);
    };
}

device::LearningRule learning_rule(const connect::LearningRule<float>& rule, const network::SynapseSpec& synapse) {
    device::LearningRule made;
    if (rule.modulation) return made;
    made.has_same_side_presynaptic = rule.same_side_presynaptic_traces > 0;
    made.has_same_side_postsynaptic = rule.same_side_postsynaptic_traces > 0;
    if (rule.per_synapse.any()) made.parameter_count = static_cast<u32>(rule.per_synapse.parameter_count);
    if (const auto* const user = dynamic_cast<const models::ProgramSynapse*>(synapse.model->user)) {
        const models::SynapseProgramDescription& description = user->description();
        made.presynaptic = std::make_shared<const program::Program>(description.presynaptic);
        made.postsynaptic = std::make_shared<const program::Program>(description.postsynaptic);
        for (const double value : synapse.values()) {
            made.parameters.push_back(models::rounded_parameter<float>(value));
        }
        made.per_synapse_parameters = models::read_by_events(description, synapse.per_synapse_parameters());
        // Those of tables have memory of their shard.
        const std::vector<double> values = synapse.values();
        made.change = change_by(models::make_program_rule<float>(
            description,
            {.values = values, .some_differ = rule.per_synapse.any(), .per_synapse = made.per_synapse_parameters},
            std::pmr::new_delete_resource(), std::nullopt));
    } else {
        const bool differ = rule.per_synapse.any();
        made.header = "models/synapses/learning_rules.hpp";
        made.presynaptic_type = differ ? rule.per_synapse.presynaptic.rule : rule.presynaptic.rule;
        made.postsynaptic_type = differ ? rule.per_synapse.postsynaptic.rule : rule.postsynaptic.rule;
        if (!differ) {
            made.constants = words_of({static_cast<const std::byte*>(rule.constants.get()), rule.constant_bytes});
        }
        made.change = change_by(rule);
    }
    return made;
}

device::ReleaseRule release_rule(const connect::FactorRule& rule, const network::SynapseSpec& synapse) {
    device::ReleaseRule made{
        .states = static_cast<u32>(rule.states), .draws = rule.blocks > 0, .has_parameters = !rule.parameters.empty()};
    made.resolution = rule.resolution;
    if (const auto* const user = dynamic_cast<const models::ProgramRelease*>(synapse.model->user)) {
        made.release = std::make_shared<const program::Program>(user->description().release);
        made.parameters = synapse.values();
    } else {
        made.header = "models/synapses/release_rules.hpp";
        made.type = std::string(rule.type);
        made.constants = words_of(rule.constants);
    }
    if (rule.of_row) {
        made.of_row = [calculate = rule.of_row](double* values, i64& last, i64 step) {
            Step last_step = last;
            const double factor = calculate(values, last_step, step);
            last = last_step;
            return factor;
        };
    }
    if (rule.of_synapse) {
        made.of_synapse = [calculate = rule.of_synapse, has_parameters = made.has_parameters](
                              double* values, i64 last, i64 step, const double* parameters,
                              const device::SynapseDraws& draws, u32& count) {
            const RandomKey key{static_cast<std::uint32_t>(draws.key), static_cast<std::uint32_t>(draws.key >> 32)};
            return calculate({.values = values,
                              .count = &count,
                              .last = last,
                              .step = step,
                              .parameters = has_parameters ? parameters : nullptr,
                              .stream = {.key = key, .stream = draws.stream, .attempt = draws.attempt},
                              .block = draws.block});
        };
    }
    return made;
}

/// What the synapses of a table do not share; see device::SynapseReleases.
void add_synapse_releases(const connect::SynapseTable& table, const connect::FactorRule& rule,
                          const connect::FactorsOnDevice& factors, device::FactorImage& image) {
    image.has_synapse_releases = rule.of_synapse != nullptr;
    image.has_synapse_states = rule.has_synapse_states();
    image.has_counts = rule.has_counts;
    image.shared = rule.shared;
    for (const std::span<const float> values : rule.parameters) {
        image.parameters.emplace_back(values.begin(), values.end());
    }
    if (rule.blocks == 0) return;
    image.blocks = rule.blocks;
    image.key_low = rule.key.low;
    image.key_high = rule.key.high;
    for (u32 row = 0; row < table.rows(); ++row) image.sources.push_back(table.source(RowIndex{row}).value);
    image.targets.assign(rule.ids.begin(), rule.ids.end());
    image.numbers = factors.numbers_in_pairs();
}

/// Pulses of a transmitter that have come are numbered, and those to come are spikes again.
/// @param delay of the transmitter
void to_device(const connect::LearningState& from, const connect::ModulationConstants& constants, DelaySteps delay,
               Step now, device::LearningState& to) {
    to.eligibility = from.eligibility;
    to.remainders = from.remainders;
    to.transmitter_spikes.assign(delay + std::size_t{1}, 0);
    to.pulse_count.assign(1, 0);
    to.pulses.assign(PlasticTables::pulse_room, 0);
    to.concentrations.assign(PlasticTables::pulse_room, 0.0);
    const connect::Decay<double> decay(constants.tau_transmitter / constants.resolution);
    double left = 0.0;
    for (std::size_t i = 0; i < from.pulses.size(); ++i) {
        const connect::LearningState::Pulse& pulse = from.pulses[i];
        if (i > 0) left = from.pulses[i - 1].after * decay(pulse.step - from.pulses[i - 1].step);
        if (pulse.step > now) {
            to.transmitter_spikes[static_cast<std::size_t>(pulse.step % (delay + Step{1}))] =
                static_cast<u32>(std::llround((pulse.after - left) * constants.tau_transmitter));
            continue;
        }
        const std::size_t place = to.pulse_count[0]++ % PlasticTables::pulse_room;
        to.pulses[place] = pulse.step;
        to.concentrations[place] = pulse.after;
    }
}

/// @param arrived all synapses have learnt from what had arrived in this step
void from_device(const device::LearningState& from, const connect::ModulationConstants& constants, DelaySteps delay,
                 Step now, connect::LearningState& to) {
    to.eligibility = from.eligibility;
    to.remainders = from.remainders;
    to.pulses.clear();
    const u32 count = from.pulse_count[0];
    for (u32 pulse = count > PlasticTables::pulse_room ? count - PlasticTables::pulse_room : 0; pulse < count;
         ++pulse) {
        const std::size_t place = pulse % PlasticTables::pulse_room;
        // All synapses have learnt from those that have come; later ones need the last of these.
        if (pulse + 1 < count) continue;
        to.pulses.push_back({.step = from.pulses[place], .after = from.concentrations[place]});
    }
    const connect::Decay<double> decay(constants.tau_transmitter / constants.resolution);
    for (Step step = now + 1; step <= now + delay; ++step) {
        const u32 spikes = from.transmitter_spikes[static_cast<std::size_t>(step % (delay + Step{1}))];
        if (spikes == 0) continue;
        const double left = to.pulses.empty() ? 0.0 : to.pulses.back().after * decay(step - to.pulses.back().step);
        to.pulses.push_back({.step = step, .after = left + static_cast<double>(spikes) / constants.tau_transmitter});
    }
}

/// Copies what the states of a table have in common.
template <class From, class To>
void copy_traces(const From& from, To& to) {
    to.weights = from.weights;
    to.synapse_traces = from.synapse_traces;
    to.timed_traces = from.timed_traces;
    to.last.assign(from.last.begin(), from.last.end());
    to.traces = from.traces;
    to.same_side = from.same_side;
    to.last_traces = from.last_traces;
    to.last_same_side = from.last_same_side;
}

/// @param room of each neuron for its spikes @param axonal the greatest axonal delay
void to_device(const connect::LearningState& from, u32 room, u32 axonal, device::LearningState& to) {
    copy_traces(from, to);
    const std::size_t rows = from.last.size();
    const std::size_t places = axonal == 0 ? 0 : (axonal + std::size_t{1}) * rows;
    to.stamps.assign(places, device::never);
    to.axonal_last.assign(places, device::never);
    to.axonal_traces.assign(places, 0.0F);
    to.axonal_same_side.assign(places, 0.0F);
    for (const connect::LearningState::Waiting& spike : from.waiting) {
        const std::size_t place = static_cast<std::size_t>(spike.stamp % (axonal + Step{1})) * rows + spike.row;
        to.stamps[place] = spike.stamp;
        to.axonal_last[place] = spike.last;
        to.axonal_traces[place] = spike.trace;
        to.axonal_same_side[place] = spike.same_side;
    }
    to.greatest = device::absolute_bits(from.greatest);
    const std::size_t neurons = from.last_traces.size();
    to.counts.assign(neurons, 0);
    to.steps.assign(neurons * room, 0);
    to.after.assign(neurons * room, 0.0F);
    to.before.assign(neurons * room, 0.0F);
    for (std::size_t n = 0; n < neurons; ++n) {
        const u32 count = from.spike_begin[n + 1] - from.spike_begin[n];
        to.counts[n] = count;
        for (u32 i = 0; i < count; ++i) {
            const std::size_t spike = from.spike_begin[n + 1] - std::size_t{1} - i;
            const std::size_t place = (i & (room - 1)) * neurons + n;
            to.steps[place] = from.steps[spike];
            to.after[place] = from.after[spike];
            to.before[place] = from.before[spike];
        }
    }
}

/// @param arrived spikes up to this step have arrived at all synapses
void from_device(const device::LearningState& from, u32 room, u32 axonal, Step now, Step arrived,
                 connect::LearningState& to) {
    copy_traces(from, to);
    to.waiting.clear();
    const std::size_t rows = from.last.size();
    for (u32 row = 0; axonal > 0 && row < rows; ++row) {
        for (Step stamp = std::max<Step>(1, now - axonal + 1); stamp <= now; ++stamp) {
            const std::size_t place = static_cast<std::size_t>(stamp % (axonal + Step{1})) * rows + row;
            if (from.stamps[place] != stamp) continue;
            to.waiting.push_back({.row = row,
                                  .stamp = stamp,
                                  .last = from.axonal_last[place],
                                  .trace = from.axonal_traces[place],
                                  .same_side = from.axonal_same_side[place]});
        }
    }
    to.greatest = std::bit_cast<float>(from.greatest);
    const std::size_t neurons = from.last_traces.size();
    to.spike_begin.assign(1, 0);
    to.steps.clear();
    to.after.clear();
    to.before.clear();
    for (std::size_t n = 0; n < neurons; ++n) {
        const u32 count = from.counts[n];
        const u32 oldest = count > room ? count - room : 0;
        for (u32 number = count; number > oldest; --number) {
            const std::size_t place = ((number - 1) & (room - 1)) * neurons + n;
            to.steps.push_back(from.steps[place]);
            to.after.push_back(from.after[place]);
            to.before.push_back(from.before[place]);
            if (from.steps[place] <= arrived) break;
        }
        to.spike_begin.push_back(static_cast<u32>(to.steps.size()));
    }
}

connect::LearningOnDevice* learning_of(connect::SynapseTable& table) {
    return table.learning() == nullptr ? nullptr : table.learning()->on_device();
}

bool devices_have(connect::SynapseTable& table) {
    return learning_of(table) != nullptr || table.synapses()->factors_on_device() != nullptr;
}

}  // namespace

std::optional<std::string> refused_synapses(const network::Projection& projection, double resolution) {
    const network::SynapseSpec& synapse = projection.synapse;
    if (synapse.is_static()) return std::nullopt;
    const models::SynapseModel& model = *synapse.model;
    const std::string of = "synapses '" + std::string(model.name) + "' such as those of '" + projection.name + "'";
    if (!model.followed_variables.empty()) return "it does not have " + of + " yet, which follow potentials";
    if (synapse.make_dynamics(resolution)->runs_on_device()) return std::nullopt;
    return "it does not have " + of + " yet";
}

bool SynapseRules::add(connect::SynapseTable& table, const network::SynapseSpec& synapse) {
    if (!devices_have(table)) return false;
    if (const connect::LearningOnDevice* const learns = learning_of(table)) {
        learning.push_back(learning_rule(learns->rule(), synapse));
        learning.back().has_timed_traces = learns->plasticity().per_synapse_times.any();
        learning.back().has_axonal_delays = learns->plasticity().axonal_fraction > 0.0;
        learning.back().has_modulation = learns->rule().modulation != nullptr;
    } else {
        release.push_back(release_rule(table.synapses()->factors_on_device()->factor_rule(), synapse));
    }
    return true;
}

SynapseRules synapse_rules(const network::Network& network) {
    SynapseRules rules;
    for (const network::Projection& projection : network.projections()) {
        if (refused_synapses(projection, network.resolution()) || projection.synapse.is_static()) continue;
        const auto dynamics = projection.synapse.make_dynamics(network.resolution());
        connect::TableColumns<std::uint16_t, float> columns;
        columns.parameters.resize(dynamics->per_synapse_parameters().size());
        rules.add(*dynamics->make_table(std::move(columns), {.resolution = network.resolution()}), projection.synapse);
    }
    return rules;
}

PlasticTables::PlasticTables(std::span<const std::unique_ptr<Shard>> shards, const network::LoweredNetwork& network,
                             Step epoch_steps, const std::string& device)
    : shards_(shards), plan_(network.plan()), epoch_steps_(epoch_steps) {
    if (shards.empty()) return;
    // Tables of transmitters follow.
    for (u32 kind = 0; kind < plan_.kinds.size(); ++kind) {
        if (shards.front()->synapses().is_static(connect::KindIndex{kind})) continue;
        add_kind(connect::KindIndex{kind}, network, device);
    }
}

bool PlasticTables::are_in(const network::Network& network) {
    return std::ranges::any_of(network.projections(),
                               [](const network::Projection& each) { return !each.synapse.is_static(); });
}

void PlasticTables::add_kind(connect::KindIndex index, const network::LoweredNetwork& network,
                             const std::string& device) {
    std::optional<Kind> kind;
    for (const auto& shard : shards_) {
        connect::SynapseTable* const table = shard->synapses().table(index);
        if (table == nullptr) continue;
        if (!devices_have(*table)) {
            throw StateError({.object = "device",
                              .value = "'" + device + "'",
                              .bound = "it does not have synapses '" + std::string(network.synapse(index).model->name) +
                                       "' with these parameters or options yet",
                              .remedy = "run on processors: device='cpu'"});
        }
        if (kind) continue;
        const bool learns = learning_of(*table) != nullptr;
        kind = {.index = index,
                .learns = learns,
                .rule = static_cast<u32>(learns ? rules_.learning.size() : rules_.release.size())};
        rules_.add(*table, network.synapse(index));
    }
    if (kind) kinds_.push_back(*kind);
}

template <class Visit>
void PlasticTables::for_tables(const Shard& shard, Visit visit) const {
    u32 learning = 0;
    u32 factors = 0;
    for (const Kind& kind : kinds_) {
        if (shard.synapses().stored(kind.index) == nullptr) continue;
        visit(kind, kind.learns ? learning++ : factors++);
    }
}

device::TablesImage PlasticTables::tables(std::uint32_t shard, std::uint32_t rows, const RowOf& row_of) const {
    device::TablesImage image;
    const Shard& from = *shards_[shard];
    for_tables(from, [&](const Kind& kind, u32) {
        if (kind.learns) {
            const double quantum = from.synapses().learning(kind.index)->on_device()->plasticity().quantum;
            image.learning.push_back(learning(from, kind, rows_of(from, kind, rows, row_of, quantum)));
            image.learning.back().modulation = modulation(from, kind, rows, row_of);
            return;
        }
        const connect::FactorsOnDevice& factors = *from.synapses().stored(kind.index)->factors_on_device();
        const connect::FactorRule rule = factors.factor_rule();
        device::FactorImage made{.of = rows_of(from, kind, rows, row_of, rule.quantum),
                                 .states = static_cast<u32>(rule.states)};
        add_synapse_releases(*from.synapses().table(kind.index), rule, factors, made);
        image.factors.push_back(std::move(made));
    });
    return image;
}

device::TableImage PlasticTables::rows_of(const Shard& shard, const Kind& kind, std::uint32_t rows, const RowOf& row_of,
                                          double quantum) {
    const connect::SynapseTable& table = *shard.synapses().table(kind.index);
    const connect::StoredSynapses& stored = *table.synapses();
    device::TableImage image;
    image.receptor = shard.synapses().receptor(kind.index);
    image.rule = kind.rule;
    image.quantum = quantum;
    image.row_of.assign(rows, device::no_row);
    image.begin.push_back(0);
    image.targets.resize(stored.size());
    image.delays.resize(stored.size());
    image.weights.resize(stored.size());
    std::vector<u32> targets;
    std::vector<DelaySteps> delays;
    std::vector<std::uint64_t> positions;
    std::vector<double> weights;
    for (u32 row = 0; row < table.rows(); ++row) {
        const u64 begin = stored.row_begin(RowIndex{row});
        const u64 length = stored.row_end(RowIndex{row}) - begin;
        image.begin.push_back(begin + length);
        if (length == 0) continue;
        image.row_of[row_of(kind.index, RowIndex{row})] = row;
        targets.resize(std::max<u64>(targets.size(), length));
        delays.resize(targets.size());
        stored.copy_row(RowIndex{row}, targets.data(), delays.data());
        for (u64 i = 0; i < length; ++i) {
            image.targets[begin + i] = static_cast<u16>(targets[i]);
            image.delays[begin + i] = static_cast<u16>(delays[i]);
        }
        // Weights that learn come with the state.
        if (kind.learns) continue;
        positions.clear();
        for (u64 i = 0; i < length; ++i) positions.push_back(begin + i);
        weights.resize(length);
        stored.read_weights(positions, weights);
        for (u64 i = 0; i < length; ++i) image.weights[begin + i] = static_cast<float>(weights[i]);
    }
    return image;
}

device::LearningImage PlasticTables::learning(const Shard& shard, const Kind& kind, device::TableImage rows) const {
    const connect::LearningOnDevice& table = *shard.synapses().learning(kind.index)->on_device();
    const connect::Learning& times = table.plasticity();
    const connect::LearningRule<float>& rule = table.rule();
    device::LearningImage image;
    image.of = std::move(rows);
    image.presynaptic_accumulates = rule.presynaptic_trace_accumulates;
    image.postsynaptic_accumulates = rule.postsynaptic_trace_accumulates;
    image.has_same_side_presynaptic = rule.same_side_presynaptic_traces > 0;
    image.has_same_side_postsynaptic = rule.same_side_postsynaptic_traces > 0;
    image.row_decay = factors_of<double>(times.presynaptic_steps);
    image.presynaptic = factors_of<float>(times.presynaptic_steps);
    image.postsynaptic = factors_of<float>(times.postsynaptic_steps);
    image.neuron_decay = factors_of<double>(times.postsynaptic_steps);
    image.first_neuron = table.first_learning_neuron();
    image.neurons = table.learning_neurons();
    switch (rule.pairing) {
        case connect::Pairing::all:
            image.pairing = device::SpikePairing::all;
            break;
        case connect::Pairing::restricted:
            image.pairing = device::SpikePairing::restricted;
            break;
        case connect::Pairing::presynaptic_centred:
            image.pairing = device::SpikePairing::presynaptic_centred;
            break;
    }
    if (image.has_same_side_presynaptic) {
        image.row_same_side_decay = factors_of<double>(times.same_side_presynaptic_steps[0]);
    }
    if (image.has_same_side_postsynaptic) {
        image.neuron_same_side_decay = factors_of<double>(times.same_side_postsynaptic_steps[0]);
    }
    if (rule.per_synapse.any()) {
        for (std::size_t k = 0; k < rule.per_synapse.parameter_count; ++k) {
            const std::span<const float> values = table.parameter_of_rule(k);
            image.parameters.emplace_back(values.begin(), values.end());
            image.shared.push_back(rule.per_synapse.parameters[k].shared);
        }
    }
    image.is_timed = times.per_synapse_times.any();
    image.resolution = times.per_synapse_times.resolution;
    for (std::size_t k = 0; image.is_timed && k < connect::trace_kinds; ++k) {
        const auto trace = static_cast<connect::TraceKind>(k);
        const std::span<const float> values = table.time_constants(trace);
        image.time_constants[k].assign(values.begin(), values.end());
        image.has_timed_trace[k] = table.has_timed_trace(trace);
    }
    if (greatest_axonal(shard, kind) > 0) {
        const connect::SynapseTable& synapses = *shard.synapses().table(kind.index);
        for (DelaySteps delay = 0; delay <= synapses.greatest_delay(); ++delay) {
            image.axonal.push_back(static_cast<u16>(times.axonal(delay)));
        }
        image.least_axonal = times.axonal(synapses.least_delay());
    }
    image.room = room_of(shard, kind);
    image.most_new = image.room - other_spikes(shard, kind) - 1;
    return image;
}

device::ModulationImage PlasticTables::modulation(const Shard& shard, const Kind& kind, std::uint32_t rows,
                                                  const RowOf& row_of) const {
    device::ModulationImage image;
    const connect::ModulationConstants* const given =
        shard.synapses().learning(kind.index)->on_device()->rule().modulation.get();
    if (given == nullptr) return image;
    const connect::StretchGains gains(*given, std::pmr::get_default_resource());
    image.is_used = true;
    device::Modulation& constants = image.constants;
    constants.up = given->up;
    constants.down = given->down;
    constants.baseline = given->baseline;
    constants.least = static_cast<double>(static_cast<float>(given->least));
    constants.greatest = static_cast<double>(static_cast<float>(given->greatest));
    constants.to_grid = connect::grid_of_modulated(*given);
    constants.resolution = given->resolution;
    constants.tau_eligibility = given->tau_eligibility;
    constants.tau_both = gains.tau_both();
    constants.tau_transmitter = given->tau_transmitter;
    image.eligibility_decay = factors_of<double>(given->tau_eligibility / given->resolution);
    image.concentration_decay = factors_of<double>(given->tau_transmitter / given->resolution);
    for (std::int32_t steps = 0; steps < connect::StretchGains::table_steps; ++steps) {
        image.falling_gains.push_back(gains.falling(steps));
        image.constant_gains.push_back(gains.constant(steps));
    }
    constants.delay = transmitter_of(kind).delay;
    constants.slots = constants.delay + 1;
    constants.room = pulse_room;
    // The table of the transmitter, as append_transmitters() makes it.
    std::vector<const connect::SynapseDynamics*> others;
    for (u32 k = 0; plan_.dynamics_of(connect::KindIndex{k}) != plan_.dynamics_of(kind.index); ++k) {
        const connect::SynapseDynamics* const other = plan_.dynamics_of(connect::KindIndex{k});
        const bool is_new = std::ranges::find(others, other) == others.end();
        if (other != nullptr && other->transmitter() != nullptr && is_new) others.push_back(other);
    }
    const connect::KindIndex transmitter{static_cast<u32>(plan_.kinds.size() + others.size())};
    image.sources.assign((rows + std::size_t{31}) / 32, 0);
    for (u32 row = 0; row < shard.synapses().table(transmitter)->rows(); ++row) {
        const u32 source = row_of(transmitter, RowIndex{row});
        image.sources[source / 32] |= 1U << source % 32;
    }
    return image;
}

const connect::Transmitter& PlasticTables::transmitter_of(const Kind& kind) const {
    return *plan_.dynamics_of(kind.index)->transmitter();
}

u32 PlasticTables::greatest_axonal(const Shard& shard, const Kind& kind) {
    const connect::Learning& times = shard.synapses().learning(kind.index)->on_device()->plasticity();
    return times.axonal(shard.synapses().table(kind.index)->greatest_delay());
}

u32 PlasticTables::other_spikes(const Shard& shard, const Kind& kind) const {
    return shard.synapses().table(kind.index)->greatest_delay() + 1U + static_cast<u32>(epoch_steps_);
}

u32 PlasticTables::room_of(const Shard& shard, const Kind& kind) const {
    constexpr u32 least = 32;
    return std::bit_ceil(std::max(least, 2 * (other_spikes(shard, kind) + 1)));
}

void PlasticTables::put_states(device::Backend& backend, std::uint32_t shard, Step now) const {
    const Shard& from = *shards_[shard];
    connect::LearningState learnt;
    device::LearningState state;
    for_tables(from, [&](const Kind& kind, u32 number) {
        if (kind.learns) {
            connect::LearningOnDevice& table = *from.synapses().learning(kind.index)->on_device();
            table.get_state(now, learnt);
            to_device(learnt, room_of(from, kind), greatest_axonal(from, kind), state);
            if (const auto* const constants = table.rule().modulation.get()) {
                to_device(learnt, *constants, transmitter_of(kind).delay, now, state);
            }
            backend.set_learning(shard, number, state, now);
            return;
        }
        connect::FactorState factors;
        from.synapses().stored(kind.index)->factors_on_device()->get_state(factors);
        backend.set_factors(shard, number,
                            {.values = std::move(factors.values),
                             .last = {factors.last.begin(), factors.last.end()},
                             .synapse_values = std::move(factors.synapse_values),
                             .counts = std::move(factors.counts)});
    });
}

void PlasticTables::take_states(device::Backend& backend, std::uint32_t shard, Step now) const {
    const Shard& to = *shards_[shard];
    connect::LearningState learnt;
    device::LearningState state;
    for_tables(to, [&](const Kind& kind, u32 number) {
        if (kind.learns) {
            connect::LearningOnDevice& table = *to.synapses().learning(kind.index)->on_device();
            const u32 room = room_of(to, kind);
            const std::size_t rows = to.synapses().table(kind.index)->rows();
            const std::size_t neurons = table.learning_neurons();
            const std::uint64_t synapses = to.synapses().stored(kind.index)->size();
            const connect::LearningRule<float>& rule = table.rule();
            const bool is_centred = rule.pairing == connect::Pairing::presynaptic_centred;
            state.weights.resize(synapses);
            const bool is_timed = table.plasticity().per_synapse_times.any();
            state.synapse_traces.resize(is_centred && !is_timed ? synapses : 0);
            for (std::size_t k = 0; k < connect::trace_kinds; ++k) {
                const bool has_trace = table.has_timed_trace(static_cast<connect::TraceKind>(k));
                state.timed_traces[k].resize(has_trace ? synapses : 0);
            }
            const u32 axonal = greatest_axonal(to, kind);
            const std::size_t on_the_way = axonal == 0 ? 0 : (axonal + std::size_t{1}) * rows;
            state.stamps.resize(on_the_way);
            state.axonal_last.resize(on_the_way);
            state.axonal_traces.resize(on_the_way);
            state.axonal_same_side.resize(on_the_way);
            state.last.resize(rows);
            state.traces.resize(rows);
            state.same_side.resize(rule.same_side_presynaptic_traces > 0 ? rows : 0);
            state.counts.resize(neurons);
            state.steps.resize(neurons * room);
            state.after.resize(neurons * room);
            state.before.assign(neurons * room, 0.0F);
            state.last_traces.resize(neurons);
            state.last_same_side.assign(neurons, 0.0);
            const connect::ModulationConstants* const constants = rule.modulation.get();
            state.eligibility.resize(constants != nullptr ? synapses : 0);
            state.remainders.resize(constants != nullptr ? synapses : 0);
            state.transmitter_spikes.resize(constants != nullptr ? transmitter_of(kind).delay + std::size_t{1} : 0);
            state.pulse_count.resize(constants != nullptr ? 1 : 0);
            state.pulses.resize(constants != nullptr ? pulse_room : 0);
            state.concentrations.resize(constants != nullptr ? pulse_room : 0);
            backend.get_learning(shard, number, state);
            if (constants != nullptr) from_device(state, *constants, transmitter_of(kind).delay, now, learnt);
            from_device(state, room, axonal, now, now - to.synapses().table(kind.index)->greatest_delay(), learnt);
            table.set_state(now, learnt);
            return;
        }
        connect::FactorsOnDevice& table = *to.synapses().stored(kind.index)->factors_on_device();
        const connect::FactorRule rule = table.factor_rule();
        const std::size_t rows = to.synapses().table(kind.index)->rows();
        const std::uint64_t synapses = to.synapses().stored(kind.index)->size();
        device::FactorState factors;
        factors.last.resize(rows);
        factors.values.resize(rule.has_synapse_states() ? 0 : rows * rule.states);
        factors.synapse_values.resize(rule.has_synapse_states() ? synapses * rule.states : 0);
        factors.counts.resize(rule.has_counts ? synapses : 0);
        backend.get_factors(shard, number, factors);
        table.set_state({.values = std::move(factors.values),
                         .last = {factors.last.begin(), factors.last.end()},
                         .synapse_values = std::move(factors.synapse_values),
                         .counts = std::move(factors.counts)});
    });
}

template <class Visit>
void PlasticTables::for_receptors(const Shard& shard, Visit visit) const {
    u32 first = 0;
    for (u32 receptor = 0; receptor < shard.inputs().receptors(); ++receptor) {
        if (has_dynamic_inputs(shard.synapses(), receptor)) visit(receptor, first);
        first += shard.inputs().size(receptor);
    }
}

namespace {

/// Steps after `now` whose inputs both the shard and a ring have.
Steps buffered_steps(const Shard& shard, u32 receptor, Step now, u32 slots) {
    return {.begin = now + 1,
            .end = std::min(now + 1 + shard.inputs().steps_ahead(receptor), now + static_cast<Step>(slots))};
}

/// Place of the sums of a step in a ring. @param first input of the receptor
std::size_t ring_place(const Shard& shard, u32 receptor, u32 first, u32 slots, Step step) {
    return std::size_t{slots} * first + static_cast<std::size_t>(step % slots) * shard.inputs().size(receptor);
}

}  // namespace

void PlasticTables::add_inputs(std::uint32_t number, Step now, double quantum, std::uint32_t slots,
                               std::span<i64> ring) const {
    const Shard& shard = *shards_[number];
    for_receptors(shard, [&](u32 receptor, u32 first) {
        visit_dynamic_inputs(shard.inputs(), shard.synapses(), receptor, now,
                             buffered_steps(shard, receptor, now, slots), [&](Step step, u32 input, double sum) {
                                 ring[ring_place(shard, receptor, first, slots, step) + input] +=
                                     static_cast<i64>(sum / quantum);
                             });
    });
}

void PlasticTables::set_inputs(std::uint32_t number, Step now, double quantum, std::uint32_t slots,
                               std::span<const i64> ring) const {
    const Shard& shard = *shards_[number];
    for_receptors(shard, [&](u32 receptor, u32 first) {
        const connect::InputRing& inputs = shard.inputs().ring(receptor);
        const Steps steps = buffered_steps(shard, receptor, now, slots);
        const u32 size = shard.inputs().size(receptor);
        for (Step step = steps.begin; step < steps.end; ++step) {
            if (inputs.wide == nullptr) {
                std::fill_n(inputs.slot(step), size, -0.0);
            } else {
                std::fill_n(inputs.wide_slot(step), size, connect::WideSum{0});
            }
        }
        // What is missing now from what static synapses of a loaded state have added.
        std::vector<std::pair<Step, std::pair<u32, double>>> missing;
        visit_dynamic_inputs(shard.inputs(), shard.synapses(), receptor, now, steps,
                             [&](Step step, u32 input, double sum) { missing.push_back({step, {input, -sum}}); });
        for (const auto& [step, sum] : missing) inputs.add(step, sum.first, sum.second);
        for (Step step = steps.begin; step < steps.end; ++step) {
            const std::size_t place = ring_place(shard, receptor, first, slots, step);
            for (u32 input = 0; input < size; ++input) {
                if (ring[place + input] != 0) {
                    inputs.add(step, input, static_cast<double>(ring[place + input]) * quantum);
                }
            }
        }
    });
}

}  // namespace ranvier::engine
