#include "engine/state/state_saver.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "engine/agreement.hpp"
#include "engine/shard/input_state.hpp"
#include "engine/simulation/simulation_implementation.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::engine {

namespace {

constexpr std::uint64_t rows_at_once = std::uint64_t{1} << 16;

std::int64_t id_of(const Shard& shard, std::uint32_t local) {
    return static_cast<std::int64_t>(shard.layout().id_of(LocalIndex{local}).value);
}

/// Saves the id of the neuron of an input, and its site, if neurons have several.
void serialize_input(const Shard& shard, const connect::InputLayout& inputs, std::uint32_t input, bool has_sites,
                     StateColumns& columns) {
    auto [neuron, site] = inputs.site(input);
    std::int64_t id = id_of(shard, neuron.value);
    columns.serialize("id", id);
    if (has_sites) columns.serialize("site", site);
}

/// Whether tables have columns other than the ids of their rows.
bool has_more_than_ids(const std::vector<StateColumns::Column>& columns) { return columns.size() > 1; }

}  // namespace

std::uint64_t state_elements_at_once(std::uint64_t synapses) {
    // A scan of the targets of all synapses per piece takes less time than writing the piece.
    constexpr std::uint64_t least = std::uint64_t{4} << 20;
    return std::max(least, synapses / 32);
}

StateSaver::StateSaver(Simulation& simulation) : simulation_(simulation) {
    Simulation::Implementation& implementation = self();
    agree(*implementation.communicator, "saving the state", [&] {
        implementation.workers.check_whole();
        if (implementation.on_device) implementation.on_device->check_state();
        if (implementation.communicator->is_dry_run() || !implementation.options.invented_rates.empty()) {
            throw StateError({.object = "state of a dry run",
                              .value = "",
                              .bound = "the other ranks, and their state, do not exist",
                              .remedy = "save a simulation without dry_run"});
        }
    });
    sources_ = std::make_unique<RestoredSources>(implementation);
    const Counts counts = simulation.counts();
    totals_ = {.step = simulation.step(),
               .counted_from = implementation.counted_from,
               .synaptic_events = counts.synaptic_events,
               .population_spikes = counts.population_spikes,
               .weight_ranges = {},
               .parameters_set = {},
               .weights_set = implementation.changes.weights,
               .spikes_set = {}};
    for (const connect::WeightRange& range : implementation.shards.front()->inputs().weights()) {
        totals_.weight_ranges.push_back(
            {range.least, range.greatest, range.quantum, static_cast<double>(range.most_inputs)});
    }
    for (const auto& names : implementation.changes.parameters)
        totals_.parameters_set.emplace_back(names.begin(), names.end());
    for (const network::Population& population : implementation.network.populations()) {
        if (implementation.changes.spikes[population.id.value]) {
            totals_.spikes_set.emplace(population.id.value, population.spike_steps.all());
        }
    }
    tables_ = state_tables(implementation.network.populations().size(), implementation.network.stimuli().size(),
                           implementation.changes.weights.size());
    places_.resize(tables_.size());
    implementation.workers.team().run([&](std::uint32_t worker) {
        implementation.workers.team().for_assigned_items(
            worker, implementation.shard_count(), [&](std::uint32_t shard) {
                for (const auto& table : implementation.shards[shard]->synapses().tables()) {
                    if (table && table->learning()) table->learning()->begin_saving(totals_.step);
                }
            });
    });
}

StateSaver::~StateSaver() {
    for (const auto& shard : self().shards) {
        for (const auto& table : shard->synapses().tables()) {
            if (table && table->learning()) table->learning()->end_serialization();
        }
    }
}

std::optional<std::vector<StateColumns::Column>> StateSaver::next(std::size_t table) {
    Place& place = places_[table];
    while (place.shard < self().shards.size()) {
        StateColumns columns;
        if (!save(tables_[table], place, columns)) place = {.shard = place.shard + 1};
        std::vector<StateColumns::Column> saved = std::move(columns).take();
        if (has_more_than_ids(saved)) return saved;
    }
    return std::nullopt;
}

bool StateSaver::save(const StateTable& table, Place& place, StateColumns& columns) const {
    switch (table.kind) {
        case StateTableKind::parameters:
        case StateTableKind::neurons:
            return save_neurons(table, place, columns);
        case StateTableKind::stimuli:
            return save_stimulus(table, place, columns);
        case StateTableKind::synapses:
            return save_synapses(table, place, columns);
        case StateTableKind::sources:
            return save_sources(table, place, columns);
        case StateTableKind::targets:
            return save_targets(table, place, columns);
        case StateTableKind::common:
            if (auto* const learning =
                    self().shards[place.shard]->synapses().learning(connect::KindIndex{table.number})) {
                std::int64_t id = 0;
                columns.serialize("id", id);
                learning->serialize_common(columns);
            }
            return false;
        case StateTableKind::spikes:
            return save_spikes(place, columns);
        case StateTableKind::inputs:
            return save_inputs(place, columns);
    }
    return false;
}

bool StateSaver::save_neurons(const StateTable& table, Place& place, StateColumns& columns) const {
    Shard& shard = *self().shards[place.shard];
    ShardGroup& group = shard.groups()[PopulationId{table.number}];
    const models::NeuronModel& model = *self().network.population(group.population).model;
    if (table.kind == StateTableKind::parameters && totals_.parameters_set[table.number].empty()) return false;
    const std::uint64_t end = std::min<std::uint64_t>(place.next + rows_at_once, group.size);
    for (; place.next < end; ++place.next) {
        const auto neuron = static_cast<std::uint32_t>(place.next);
        std::int64_t id = id_of(shard, group.offset + neuron);
        columns.serialize("id", id);
        if (table.kind == StateTableKind::neurons) {
            group.neurons->serialize_state(neuron, totals_.step / group.stride, columns);
            continue;
        }
        for (std::size_t k = 0; k < model.parameters.size(); ++k) {
            if (!self().changes.parameters[table.number].contains(model.parameters[k].name)) continue;
            double value = group.parameters[k][neuron];
            columns.serialize(model.parameters[k].name, value);
        }
    }
    return place.next < group.size;
}

/// Iterates over the populations with targets, and the targets of each.
bool StateSaver::save_stimulus(const StateTable& table, Place& place, StateColumns& columns) const {
    const Shard& shard = *self().shards[place.shard];
    auto part = static_cast<std::uint32_t>(place.next >> 32);
    auto target = static_cast<std::uint32_t>(place.next & UINT32_MAX);
    for (std::uint32_t rows = 0; part < shard.stimuli().all().size(); ++part, target = 0) {
        const ShardStimulus& stimulus = shard.stimuli().all()[part];
        if (stimulus.index != table.number || !stimulus.stimulus->has_state()) continue;
        const IdSequence targets = shard.stimuli().targets_of(stimulus, self().network);
        for (; target < targets.size(); ++target, ++rows) {
            if (rows == rows_at_once) {
                place.next = std::uint64_t{part} << 32 | target;
                return true;
            }
            auto id = static_cast<std::int64_t>(targets[target].value);
            columns.serialize("id", id);
            stimulus.stimulus->serialize_state(target, columns);
        }
    }
    return false;
}

bool StateSaver::save_synapses(const StateTable& table, Place& place, StateColumns& columns) const {
    Shard& shard = *self().shards[place.shard];
    connect::StoredSynapses* const synapses = shard.synapses().stored(connect::KindIndex{table.number});
    if (synapses == nullptr) return false;
    if (!totals_.weights_set[table.number] && !synapses->has_synapse_state()) return false;
    const connect::InputLayout& inputs = shard.synapses().inputs(connect::KindIndex{table.number});
    if (place.counts.empty()) {
        place.counts.resize(inputs.size());
        synapses->count_onto(place.counts);
    }
    const std::uint64_t most = state_elements_at_once(synapses->size());
    std::vector<std::uint32_t> reached;
    std::vector<std::uint64_t> ends;
    std::uint64_t end = 0;
    for (; place.next < place.counts.size() && reached.size() < rows_at_once; ++place.next) {
        const std::uint32_t count = place.counts[place.next];
        if (count == 0) continue;
        if (!reached.empty() && end + count > most) break;
        end += count;
        reached.push_back(static_cast<std::uint32_t>(place.next));
        ends.push_back(end);
    }
    std::vector<std::uint64_t> positions(end);
    synapses->find_onto(reached, ends, positions);
    for (std::size_t i = 0; i < reached.size(); ++i) {
        serialize_input(shard, inputs, reached[i], inputs.has_sites(), columns);
        const std::uint64_t begin = i == 0 ? 0 : ends[i - 1];
        columns.serialize_size(ends[i] - begin);
        synapses->serialize_synapses(std::span(positions).subspan(begin, ends[i] - begin), columns);
    }
    return place.next < place.counts.size();
}

bool StateSaver::save_sources(const StateTable& table, Place& place, StateColumns& columns) const {
    Shard& shard = *self().shards[place.shard];
    connect::StoredSynapses* const synapses = shard.synapses().stored(connect::KindIndex{table.number});
    connect::RowState* const state = synapses == nullptr ? nullptr : synapses->row_state();
    if (state == nullptr) return false;
    const connect::SynapseTable& rows = *shard.synapses().table(connect::KindIndex{table.number});
    const std::uint64_t end = std::min<std::uint64_t>(place.next + rows_at_once, rows.rows());
    for (; place.next < end && columns.elements() < rows_at_once; ++place.next) {
        const RowIndex row{static_cast<std::uint32_t>(place.next)};
        if (synapses->row_begin(row) == synapses->row_end(row)) continue;
        auto id = static_cast<std::int64_t>(rows.source(row).value);
        columns.serialize("id", id);
        state->serialize_row(row, columns);
    }
    return place.next < rows.rows();
}

bool StateSaver::save_targets(const StateTable& table, Place& place, StateColumns& columns) const {
    Shard& shard = *self().shards[place.shard];
    connect::LearningSynapses* const learning = shard.synapses().learning(connect::KindIndex{table.number});
    if (learning == nullptr) return false;
    if (place.counts.empty()) {
        const connect::InputLayout& inputs = shard.synapses().inputs(connect::KindIndex{table.number});
        std::vector<std::uint32_t> counts(inputs.size());
        shard.synapses().stored(connect::KindIndex{table.number})->count_onto(counts);
        place.counts.resize(shard.layout().size());
        for (std::uint32_t input = 0; input < counts.size(); ++input) {
            if (counts[input] > 0) place.counts[inputs.neuron(input).value] += counts[input];
        }
    }
    const std::uint64_t end = std::min<std::uint64_t>(place.next + rows_at_once, place.counts.size());
    for (; place.next < end && columns.elements() < rows_at_once; ++place.next) {
        const auto neuron = static_cast<std::uint32_t>(place.next);
        if (place.counts[neuron] == 0) continue;
        std::int64_t id = id_of(shard, neuron);
        columns.serialize("id", id);
        learning->serialize_target(neuron, columns);
    }
    return place.next < place.counts.size();
}

bool StateSaver::save_spikes(Place& place, StateColumns& columns) const {
    const Shard& shard = *self().shards[place.shard];
    shard.outboxes().visit_sent([&](Step step, LocalIndex local) {
        if (step <= totals_.step - self().longest_static_delay) return;
        std::int64_t id = id_of(shard, local.value);
        columns.serialize("id", id);
        columns.serialize("step", step);
    });
    return false;
}

/// Iterates over the receptors and the steps of each.
bool StateSaver::save_inputs(Place& place, StateColumns& columns) const {
    const Shard& shard = *self().shards[place.shard];
    auto receptor = static_cast<std::uint32_t>(place.next >> 32);
    const auto done = static_cast<Step>(place.next & UINT32_MAX);
    const auto save = [&](Step step, std::uint32_t input, double sum) {
        serialize_input(shard, shard.inputs().layout(receptor), input, self().lowered.plan().has_sites(), columns);
        columns.serialize("receptor", receptor);
        columns.serialize("step", step);
        columns.serialize("sum", sum);
    };
    if (done == 0) visit_unread_inputs(shard.inputs(), shard.groups(), receptor, totals_.step, save);
    const Step steps = has_dynamic_inputs(shard.synapses(), receptor) ? shard.inputs().steps_ahead(receptor) : 0;
    const Step some = std::max<Step>(1, static_cast<Step>(rows_at_once / std::max(1U, shard.inputs().size(receptor))));
    const Step first = totals_.step + 1 + done;
    const Step end = std::min(totals_.step + 1 + steps, first + some);
    if (first < end) {
        visit_dynamic_inputs(shard.inputs(), shard.synapses(), receptor, totals_.step, {.begin = first, .end = end},
                             save);
    }
    const bool ends = end >= totals_.step + 1 + steps;
    if (ends) ++receptor;
    place.next = std::uint64_t{receptor} << 32 | static_cast<std::uint64_t>(ends ? 0 : done + some);
    return receptor < shard.inputs().receptors();
}

}  // namespace ranvier::engine
