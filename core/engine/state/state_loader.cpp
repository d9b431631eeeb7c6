#include "engine/state/state_loader.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/agreement.hpp"
#include "engine/shard/input_state.hpp"
#include "engine/simulation/simulation_implementation.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::engine {

namespace {

StateError impossible(std::string object, std::string value) {
    return StateError({.object = std::move(object),
                       .value = std::move(value),
                       .bound = "the network that was built does not have it",
                       .remedy = "load the state of the same network"});
}

WeightRanges to_ranges(const std::vector<std::vector<double>>& saved) {
    WeightRanges ranges;
    for (const std::vector<double>& range : saved) {
        if (range.size() != 4 || !(range[3] >= 0.0)) throw impossible("range of saved weights", "");
        ranges.push_back({.least = range[0],
                          .greatest = range[1],
                          .quantum = range[2],
                          .most_inputs = static_cast<std::uint64_t>(range[3])});
    }
    return ranges;
}

}  // namespace

StateLoader::StateLoader(Simulation& simulation, StateTotals totals)
    : simulation_(simulation), totals_(std::move(totals)) {
    Simulation::Implementation& implementation = self();
    agree(*implementation.communicator, "loading a state", [&] {
        if (implementation.communicator->is_dry_run() || !implementation.options.invented_rates.empty()) {
            throw StateError({.object = "state of a dry run",
                              .value = "",
                              .bound = "the other ranks, and their state, do not exist",
                              .remedy = "load the state into a simulation without dry_run"});
        }
        if (implementation.step.load() != 0 || totals_.step < 0 ||
            totals_.population_spikes.size() != implementation.network.populations().size() ||
            totals_.parameters_set.size() != implementation.network.populations().size() ||
            totals_.weights_set.size() != implementation.changes.weights.size() ||
            totals_.weight_ranges.size() != implementation.lowered.receptors()) {
            throw impossible("saved state", "");
        }
        implementation.need_tables();
        WeightRanges ranges = implementation.shards.front()->inputs().weights();
        const WeightRanges saved = to_ranges(totals_.weight_ranges);
        for (std::size_t i = 0; i < ranges.size(); ++i) {
            ranges[i].join(saved[i]);
            check_sums(ranges[i], "weights of the saved state");
        }
        for (const auto& shard : implementation.shards) shard->inputs().fit_sums(ranges);
        for (const auto& shard : implementation.shards) {
            for (const auto& table : shard->synapses().tables()) {
                if (table && table->learning()) table->learning()->begin_loading(totals_.step);
            }
        }
    });
    for (const auto& [number, lists] : totals_.spikes_set) {
        const PopulationId id{number};
        std::vector<std::unique_ptr<models::ParameterChange>> changes;
        agree(*implementation.communicator, "loading a state", [&] {
            const network::Population& population = implementation.network.population(id);
            if (!population.model->plays_spikes || lists.size() != population.size) {
                throw impossible("population that plays saved spikes", std::to_string(number));
            }
            changes = implementation.prepare_spikes(id, lists);
        });
        implementation.play(id, lists, changes);
    }
    sources_ = std::make_unique<RestoredSources>(implementation);
    tables_ = state_tables(implementation.network.populations().size(), implementation.network.stimuli().size(),
                           implementation.changes.weights.size());
    sent_.resize(implementation.shards.size());
    implementation.changes.weights = totals_.weights_set;
    for (std::size_t i = 0; i < implementation.changes.parameters.size(); ++i) {
        implementation.changes.parameters[i] = {totals_.parameters_set[i].begin(), totals_.parameters_set[i].end()};
    }
}

void StateLoader::load(std::size_t table, std::vector<StateColumns::Column> saved) {
    StateColumns columns(std::move(saved));
    const StateTable& what = tables_.at(table);
    if (what.kind != StateTableKind::parameters || what.number != parameters_of_) set_parameters();
    const connect::KindIndex kind{what.number};
    switch (what.kind) {
        case StateTableKind::parameters:
            return load_parameters(what.number, columns);
        case StateTableKind::neurons:
            return load_neurons(what.number, columns);
        case StateTableKind::stimuli:
            return load_stimulus(what.number, columns);
        case StateTableKind::synapses:
            return load_synapses(kind, columns);
        case StateTableKind::sources:
            return load_sources(kind, columns);
        case StateTableKind::targets:
            return load_targets(kind, columns);
        case StateTableKind::common:
            return load_common(kind, columns);
        case StateTableKind::spikes:
            return load_spikes(columns);
        case StateTableKind::inputs:
            return load_inputs(columns);
    }
}

NeuronId StateLoader::read_id(StateColumns& columns, std::size_t row) const {
    columns.seek(row);
    std::int64_t id = 0;
    columns.serialize("id", id);
    if (id < 0 || static_cast<std::uint64_t>(id) >= self().network.unit_count()) {
        throw impossible("global id in a saved state", std::to_string(id));
    }
    return NeuronId{static_cast<std::uint64_t>(id)};
}

std::uint32_t StateLoader::read_input(StateColumns& columns, const connect::InputLayout& inputs, NeuronId id,
                                      bool has_sites) const {
    const PopulationId population = self().layout.population_of(id);
    std::uint32_t site = 0;
    if (has_sites) columns.serialize("site", site);
    if (site >= inputs.sites(population)) throw impossible("site of a receptor in a saved state", std::to_string(site));
    return inputs.input(population, inputs.shard().local_index(population, id), site);
}

void StateLoader::load_parameters(std::uint32_t population, StateColumns& columns) {
    const models::NeuronModel& model = *self().network.population(PopulationId{population}).model;
    if (parameters_.empty()) {
        parameters_of_ = population;
        parameters_.resize(self().shards.size());
        for (std::size_t i = 0; i < parameters_.size(); ++i) {
            Shard& shard = *self().shards[i];
            const ShardGroup& group = shard.groups()[PopulationId{population}];
            for (const models::GroupValues& present : group.parameters) {
                models::GroupValues& parameter =
                    parameters_[i].emplace_back(present.copy(shard.memory()[Component::neurons]));
                if (parameter.values.size() != group.size)
                    parameter.values.assign(group.size, parameter.values.front());
            }
        }
    }
    for (std::size_t row = 0; row < columns.owners(); ++row) {
        const NeuronId id = read_id(columns, row);
        if (!self().layout.owns(id)) continue;
        const std::size_t shard = self().layout.shard_of(id).value;
        const IdSequence& ids = self().shards[shard]->layout().share(PopulationId{population}).ids;
        const auto place = ids.find(id);
        if (!place) throw impossible("global id in a saved state", std::to_string(id.value));
        for (std::size_t k = 0; k < model.parameters.size(); ++k) {
            if (!self().changes.parameters[population].contains(model.parameters[k].name)) continue;
            columns.serialize(model.parameters[k].name, parameters_[shard][k].values[*place]);
        }
    }
}

void StateLoader::set_parameters() {
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
        ShardGroup& group = self().shards[i]->groups()[PopulationId{parameters_of_}];
        if (!group.neurons) continue;
        for (models::GroupValues& parameter : parameters_[i]) {
            const auto other = std::ranges::adjacent_find(parameter.values, std::not_equal_to{});
            if (!parameter.values.empty() && other == parameter.values.end()) parameter.values.resize(1);
        }
        group.neurons->set_parameters(parameters_[i]);
        group.parameters.swap(parameters_[i]);
    }
    parameters_.clear();
}

void StateLoader::load_neurons(std::uint32_t population, StateColumns& columns) {
    for (std::size_t row = 0; row < columns.owners(); ++row) {
        const NeuronId id = read_id(columns, row);
        if (!self().layout.owns(id)) continue;
        Shard& shard = *self().shards[self().layout.shard_of(id).value];
        const auto place = shard.layout().share(PopulationId{population}).ids.find(id);
        if (!place) throw impossible("global id in a saved state", std::to_string(id.value));
        const ShardGroup& group = shard.groups()[PopulationId{population}];
        group.neurons->serialize_state(static_cast<std::uint32_t>(*place), totals_.step / group.stride, columns);
    }
}

void StateLoader::load_stimulus(std::uint32_t index, StateColumns& columns) {
    for (std::size_t row = 0; row < columns.owners(); ++row) {
        const NeuronId id = read_id(columns, row);
        if (!self().layout.owns(id)) continue;
        const Shard& shard = *self().shards[self().layout.shard_of(id).value];
        const PopulationId population = self().layout.population_of(id);
        const auto is_it = [&](const ShardStimulus& stimulus) {
            return stimulus.index == index && stimulus.population == population;
        };
        const auto found = std::ranges::find_if(shard.stimuli().all(), is_it);
        const auto place = found == shard.stimuli().all().end()
                               ? std::nullopt
                               : shard.stimuli().targets_of(*found, self().network).find(id);
        if (!place) throw impossible("target of a saved stimulus", std::to_string(id.value));
        found->stimulus->serialize_state(static_cast<std::uint32_t>(*place), columns);
    }
}

void StateLoader::load_synapses(connect::KindIndex kind, StateColumns& columns) {
    const connect::ProcessLayout& layout = self().layout;
    struct Here {
        std::vector<std::uint32_t> inputs;
        std::vector<std::size_t> rows;
    };
    std::vector<Here> by_shard(self().shards.size());
    for (std::size_t row = 0; row < columns.owners(); ++row) {
        const NeuronId id = read_id(columns, row);
        if (!layout.owns(id)) continue;
        const std::uint32_t shard = layout.shard_of(id).value;
        const connect::InputLayout& inputs = self().shards[shard]->synapses().inputs(kind);
        by_shard[shard].inputs.push_back(read_input(columns, inputs, id, inputs.has_sites()));
        by_shard[shard].rows.push_back(row);
    }
    for (std::size_t shard = 0; shard < by_shard.size(); ++shard) {
        const auto& [inputs, rows] = by_shard[shard];
        if (inputs.empty()) continue;
        connect::StoredSynapses* const synapses = self().shards[shard]->synapses().stored(kind);
        if (synapses == nullptr) throw impossible("saved synapses", "");
        std::vector<std::uint32_t> counts(self().shards[shard]->synapses().inputs(kind).size(), 0);
        synapses->count_onto(counts);
        std::vector<std::uint64_t> ends;
        ends.reserve(inputs.size());
        for (const std::uint32_t input : inputs) ends.push_back((ends.empty() ? 0 : ends.back()) + counts[input]);
        std::vector<std::uint64_t> positions(ends.back());
        synapses->find_onto(inputs, ends, positions);
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            columns.seek(rows[i]);
            if (columns.serialize_size(0) != counts[inputs[i]]) {
                throw impossible("number of saved synapses of a neuron", "");
            }
            const std::uint64_t begin = i == 0 ? 0 : ends[i - 1];
            synapses->serialize_synapses(std::span(positions).subspan(begin, counts[inputs[i]]), columns);
        }
    }
}

std::vector<std::int32_t> StateLoader::ranks_of(std::span<const std::int64_t> ids) const {
    std::vector<std::int32_t> ranks;
    ranks.reserve(ids.size());
    const std::uint64_t units = self().network.unit_count();
    for (const std::int64_t id : ids) {
        if (id < 0 || static_cast<std::uint64_t>(id) >= units) {
            throw impossible("global id in a saved state", std::to_string(id));
        }
        ranks.push_back(self().layout.placement().rank_of(NeuronId{static_cast<std::uint64_t>(id)}).value);
    }
    return ranks;
}

std::optional<std::vector<std::int64_t>> StateLoader::next_sources(std::size_t table) {
    constexpr std::uint32_t rows_at_once = 1U << 16;
    const connect::KindIndex kind{tables_.at(table).number};
    for (; named_.shard < self().shards.size(); named_ = {.shard = named_.shard + 1}) {
        const Shard& shard = *self().shards[named_.shard];
        const connect::StoredSynapses* const synapses = shard.synapses().stored(kind);
        if (synapses == nullptr || synapses->row_state() == nullptr) continue;
        const connect::SynapseTable& rows = *shard.synapses().table(kind);
        std::vector<std::int64_t> sources;
        while (sources.empty() && named_.end < rows.rows()) {
            named_.begin = named_.end;
            named_.end += std::min(rows_at_once, rows.rows() - named_.end);
            for (RowIndex row{named_.begin}; row.value < named_.end; ++row.value) {
                if (synapses->row_begin(row) == synapses->row_end(row)) continue;
                sources.push_back(static_cast<std::int64_t>(rows.source(row).value));
            }
        }
        if (sources.empty()) continue;
        std::ranges::sort(sources);
        sources.erase(std::ranges::unique(sources).begin(), sources.end());
        return sources;
    }
    named_ = {};
    return std::nullopt;
}

void StateLoader::load_named(connect::SynapseTable& table, StateColumns& columns) {
    connect::StoredSynapses& synapses = *table.synapses();
    std::vector<std::pair<NeuronId, std::size_t>> saved;
    saved.reserve(columns.owners());
    for (std::size_t row = 0; row < columns.owners(); ++row) saved.emplace_back(read_id(columns, row), row);
    std::ranges::sort(saved);
    for (RowIndex row{named_.begin}; row.value < named_.end; ++row.value) {
        if (synapses.row_begin(row) == synapses.row_end(row)) continue;
        const NeuronId id = table.source(row);
        const auto found = std::ranges::lower_bound(saved, id, {}, &std::pair<NeuronId, std::size_t>::first);
        if (found == saved.end() || found->first != id) {
            throw impossible("synapse of neuron without a saved state", std::to_string(id.value));
        }
        columns.seek(found->second);
        synapses.row_state()->serialize_row(row, columns);
    }
}

void StateLoader::load_sources(connect::KindIndex kind, StateColumns& columns) {
    if (named_.begin < named_.end) return load_named(*self().shards[named_.shard]->synapses().table(kind), columns);
    // A source may occur several times.
    std::vector<std::pair<NeuronId, std::size_t>> wanted;
    wanted.reserve(columns.owners());
    for (std::size_t row = 0; row < columns.owners(); ++row) wanted.emplace_back(read_id(columns, row), row);
    std::sort(wanted.begin(), wanted.end());
    std::vector<NeuronId> sources;
    for (const auto& [id, row] : wanted) {
        if (sources.empty() || sources.back() != id) sources.push_back(id);
    }
    std::pmr::vector<RowIndex> rows;
    for (const auto& shard : self().shards) {
        connect::StoredSynapses* const synapses = shard->synapses().stored(kind);
        connect::RowState* const state = synapses == nullptr ? nullptr : synapses->row_state();
        if (state == nullptr) continue;
        rows.clear();
        shard->synapses().table(kind)->find_rows(sources, rows);
        for (const RowIndex row : rows) {
            const NeuronId id = shard->synapses().table(kind)->source(row);
            for (auto one = std::lower_bound(wanted.begin(), wanted.end(), std::pair(id, std::size_t{0}));
                 one != wanted.end() && one->first == id; ++one) {
                columns.seek(one->second);
                state->serialize_row(row, columns);
            }
        }
    }
}

void StateLoader::load_targets(connect::KindIndex kind, StateColumns& columns) {
    const connect::ProcessLayout& layout = self().layout;
    for (std::size_t row = 0; row < columns.owners(); ++row) {
        const NeuronId id = read_id(columns, row);
        if (!layout.owns(id)) continue;
        const std::uint32_t shard = layout.shard_of(id).value;
        connect::LearningSynapses* const learning = self().shards[shard]->synapses().learning(kind);
        if (learning == nullptr) throw impossible("saved synapses", "");
        learning->serialize_target(layout.shard(shard).local_index(layout.population_of(id), id).value, columns);
    }
}

void StateLoader::load_common(connect::KindIndex kind, StateColumns& columns) {
    for (const auto& shard : self().shards) {
        connect::LearningSynapses* const learning = shard->synapses().learning(kind);
        if (learning == nullptr) continue;
        for (std::size_t row = 0; row < columns.owners(); ++row) {
            columns.seek(row);
            learning->serialize_common(columns);
        }
    }
}

void StateLoader::load_spikes(StateColumns& columns) {
    const connect::ProcessLayout& layout = self().layout;
    for (std::size_t row = 0; row < columns.owners(); ++row) {
        const NeuronId id = read_id(columns, row);
        if (!layout.owns(id)) continue;
        Step step = 0;
        columns.serialize("step", step);
        if (step <= totals_.step - self().longest_static_delay) continue;
        if (step < 1 || step > totals_.step) throw impossible("step of a saved spike", std::to_string(step));
        const std::uint32_t shard = layout.shard_of(id).value;
        sent_[shard].emplace_back(step, layout.shard(shard).local_index(layout.population_of(id), id));
    }
}

void StateLoader::replay() {
    Simulation::Implementation& implementation = self();
    set_parameters();
    for (std::size_t i = 0; i < sent_.size(); ++i) implementation.shards[i]->begin_replay(std::move(sent_[i]));
    implementation.replay(totals_.step, std::min(totals_.step, implementation.longest_static_delay));
    for (const auto& shard : implementation.shards) shard->end_replay();
}

void StateLoader::load_inputs(StateColumns& columns) {
    const connect::ProcessLayout& layout = self().layout;
    for (std::size_t row = 0; row < columns.owners(); ++row) {
        const NeuronId id = read_id(columns, row);
        if (!layout.owns(id)) continue;
        std::uint32_t receptor = 0;
        Step step = 0;
        double sum = 0.0;
        columns.serialize("receptor", receptor);
        const bool has_sites = self().lowered.plan().has_sites();
        columns.serialize("step", step);
        columns.serialize("sum", sum);
        const std::uint32_t index = layout.shard_of(id).value;
        Shard& shard = *self().shards[index];
        const PopulationId population = layout.population_of(id);
        const bool is_known = receptor < shard.inputs().receptors() &&
                              (step > totals_.step ? has_dynamic_inputs(shard.synapses(), receptor)
                                                   : shard.inputs().has_synapses(receptor));
        if (!is_known || step < shard.groups().first_unread(population, totals_.step) ||
            step > totals_.step + shard.inputs().steps_ahead(receptor) || !std::isfinite(sum)) {
            throw impossible("input in a saved state", "");
        }
        shard.inputs().ring(receptor).add(step, read_input(columns, shard.inputs().layout(receptor), id, has_sites),
                                          sum);
    }
}

void StateLoader::finish() {
    Simulation::Implementation& implementation = self();
    for (const auto& shard : implementation.shards) {
        for (const auto& table : shard->synapses().tables()) {
            if (table && table->learning()) table->learning()->end_serialization();
        }
    }
    sources_.reset();
    simulation_.reset_counts();
    implementation.counted_from = totals_.counted_from;
    if (implementation.communicator->rank() != Rank{0}) return;
    Shard& first = *implementation.shards.front();
    first.synapses().add_events(totals_.synaptic_events);
    for (std::uint32_t i = 0; i < totals_.population_spikes.size(); ++i) {
        first.groups()[PopulationId{i}].spikes = totals_.population_spikes[i];
    }
}

}  // namespace ranvier::engine
