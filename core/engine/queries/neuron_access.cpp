#include "engine/queries/neuron_access.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <optional>
#include <string>

#include "base/counted.hpp"
#include "engine/agreement.hpp"
#include "network/expression_bounds.hpp"
#include "network/network_checks.hpp"
#include "network/value_checks.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::engine {

namespace {

template <class Infos>
std::optional<std::size_t> find_name(const Infos& infos, std::string_view name) {
    for (std::size_t i = 0; i < infos.size(); ++i) {
        if (infos[i].name == name) return i;
    }
    return std::nullopt;
}

UnknownNameError unknown_value(const network::Population& population, std::string_view name) {
    std::vector<std::string_view> known;
    for (const models::VariableInfo& info : population.model->variables) known.push_back(info.name);
    for (const models::ParameterInfo& info : population.model->parameters) known.push_back(info.name);
    return unknown_name("variable or parameter of " + std::string(population.model->name), name, known);
}

ValueOutOfBoundsError initial_parameter(const std::string& object) {
    return ValueOutOfBoundsError({.object = object,
                                  .value = "set while a simulation runs",
                                  .bound = "it only says at which potential cells begin",
                                  .remedy = "set V_m, or give it to net.create() or net.set()"});
}

/// Gives each neuron a separate value, so that single ones can change.
void expand(models::GroupValues& values, std::size_t size) {
    if (values.values.size() != size) values.values.assign(size, values.values.front());
}

}  // namespace

const network::Population& NeuronAccess::checked(PopulationId id, std::span<const std::uint64_t> indices) const {
    const network::Population& population = network_.network().population(id);
    for (const std::uint64_t index : indices) {
        if (index < population.size) continue;
        throw ValueOutOfBoundsError({.object = "index of a neuron in '" + population.name + "'",
                                     .value = std::to_string(index),
                                     .bound = "the population has " + counted(population.size, "neuron"),
                                     .remedy = "use indices from 0"});
    }
    return population;
}

std::vector<NeuronAccess::ShardPart> NeuronAccess::by_shard(const network::Population& population,
                                                            std::span<const std::uint64_t> indices) const {
    std::vector<ShardPart> parts(shards_.size());
    for (std::size_t i = 0; i < indices.size(); ++i) {
        const NeuronId id{population.first.value + indices[i]};
        if (!layout_.owns(id)) continue;
        const std::size_t shard = layout_.shard_of(id).value;
        const IdSequence& ids = shards_[shard]->layout().share(population.id).ids;
        parts[shard].local.push_back(static_cast<std::uint32_t>(ids.count_below(id)));
        parts[shard].places.push_back(i);
    }
    return parts;
}

std::vector<double> NeuronAccess::get(PopulationId id, std::string_view name,
                                      std::span<const std::uint64_t> indices) const {
    const network::Population& population = checked(id, indices);
    const auto variable = find_name(population.model->variables, name);
    const auto parameter = find_name(population.model->parameters, name);
    if (!variable && !parameter) throw unknown_value(population, name);
    std::vector<double> values(indices.size());
    std::vector<double> read;
    const std::vector<ShardPart> parts = by_shard(population, indices);
    for (std::size_t shard = 0; shard < parts.size(); ++shard) {
        const ShardPart& part = parts[shard];
        if (part.local.empty()) continue;
        const ShardGroup& group = shards_[shard]->groups()[id];
        read.resize(part.local.size());
        if (variable) {
            group.neurons->read(*variable, part.local, read.data());
        } else {
            for (std::size_t i = 0; i < read.size(); ++i) read[i] = group.parameters[*parameter][part.local[i]];
        }
        for (std::size_t i = 0; i < read.size(); ++i) values[part.places[i]] = read[i];
    }
    if (communicator_.size() > 1) {
        // One process has each value; the others have zero bits, which are the smallest.
        std::vector<std::uint64_t> bits(values.size());
        std::memcpy(bits.data(), values.data(), values.size() * sizeof(double));
        communicator_.reduce(bits, comm::Reduction::greatest);
        std::memcpy(values.data(), bits.data(), values.size() * sizeof(double));
    }
    return values;
}

void NeuronAccess::set(std::span<const network::NeuronChange> changes, Step now) {
    // Everything that can fail is done first, on all processes and for all of their shards.
    PreparedChanges prepared;
    agree(communicator_, "setting values of neurons", [&] { prepared = prepare(changes, now); });
    for (auto& [place, change] : prepared) {
        ShardGroup& group = shards_[place.first]->groups()[place.second];
        if (change.change) {
            change.change->apply();
            group.parameters.swap(change.parameters);
        }
        for (const PreparedChange::Written& written : change.written) {
            group.neurons->write(written.variable, written.local, written.values.data());
        }
    }
}

NeuronAccess::PreparedChanges NeuronAccess::prepare(std::span<const network::NeuronChange> changes, Step now) const {
    PreparedChanges prepared;
    for (const network::NeuronChange& change : changes) prepare(change, now, prepared);
    for (auto& [place, change] : prepared) {
        ShardGroup& group = shards_[place.first]->groups()[place.second];
        if (!change.parameters.empty()) {
            check_conflicts(network_.network().population(place.second),
                            shards_[place.first]->layout().share(place.second).ids, change);
            change.change = group.neurons->prepare_parameters(change.parameters);
        }
        for (const PreparedChange::Written& written : change.written) {
            if (change.change) {
                change.change->check(written.variable, written.local, written.values.data());
            } else {
                group.neurons->check(written.variable, written.local, written.values.data());
            }
        }
    }
    return prepared;
}

void NeuronAccess::prepare(const network::NeuronChange& change, Step now, PreparedChanges& prepared) const {
    const network::Population& population = checked(change.population, change.indices);
    const models::NeuronModel& model = *population.model;
    const std::vector<ShardPart> parts = by_shard(population, change.indices);
    for (const auto& [name, given] : change.values) {
        const auto parameter = find_name(model.parameters, name);
        const auto variable = find_name(model.variables, name);
        if (!parameter && !variable) throw unknown_value(population, name);
        const std::string object = name + " of population " + network::quoted(population.name);
        network::Values value = given;
        // Indices are those of the population.
        network::bound_neurons(value,
                               {.space = network_.network().space(),
                                .network = &network_.network(),
                                .ids = {population.first, 1, population.size}},
                               object);
        if (variable && model.variables[*variable].is_read_only) throw network::read_only_variable(object);
        if (parameter && !variable) {
            if (model.parameters[*parameter].is_initial) throw initial_parameter(object);
            network::check_values(value, model.parameters[*parameter], object, change.indices.size());
        } else {
            network::check_values(value, object, change.indices.size());
        }
        for (std::size_t shard = 0; shard < parts.size(); ++shard) {
            const ShardPart& part = parts[shard];
            if (part.local.empty()) continue;
            PreparedChange& prepared_change = prepared[{shard, population.id}];
            std::vector<double> values =
                network_.values_at(population, !variable, variable.value_or(parameter.value_or(0)), value,
                                   change.indices, part.places, now);
            if (variable) {
                prepared_change.written.push_back({*variable, part.local, std::move(values)});
                continue;
            }
            const ShardGroup& group = shards_[shard]->groups()[population.id];
            parallel::NodeMemory* const memory = shards_[shard]->memory()[Component::neurons];
            if (prepared_change.parameters.empty()) {
                for (const models::GroupValues& present : group.parameters) {
                    prepared_change.parameters.push_back(present.copy(memory));
                }
            }
            models::GroupValues& present = prepared_change.parameters[*parameter];
            if (part.local.size() == group.size &&
                std::ranges::adjacent_find(values, std::not_equal_to{}) == values.end()) {
                present.values = std::pmr::vector<double>({values.front()}, memory);
            } else {
                expand(present, group.size);
                for (std::size_t i = 0; i < part.local.size(); ++i) present.values[part.local[i]] = values[i];
            }
        }
    }
}

void NeuronAccess::check_conflicts(const network::Population& population, const IdSequence& ids,
                                   const PreparedChange& prepared) const {
    const models::NeuronModel& model = *population.model;
    const auto refuse = [&](const std::string& reason) {
        throw ValueOutOfBoundsError({.object = "parameters of population " + network::quoted(population.name),
                                     .value = "",
                                     .bound = reason,
                                     .remedy = "change both"});
    };
    if (model.stimulator != nullptr) {
        const auto lists = network::ordered(model.sequences, population.sequences);
        const auto reason = network::conflict_of_sources(*model.stimulator, prepared.parameters, ids.size(), lists);
        if (reason) refuse(*reason);
    }
    if (!model.has_conflicts() && !model.has_range_conflicts()) return;
    const double step = network_.network().step_of(population);
    std::vector<double> one(model.parameters.size());
    const bool uniform = std::ranges::all_of(prepared.parameters, [](const auto& values) { return values.uniform(); });
    for (std::size_t neuron = 0; neuron < (uniform ? 1 : ids.size()); ++neuron) {
        for (std::size_t k = 0; k < one.size(); ++k) one[k] = prepared.parameters[k][neuron];
        const auto number =
            uniform ? std::nullopt : std::optional<std::uint64_t>(ids[neuron].value - population.first.value);
        auto conflict = model.conflict(one, step);
        if (!conflict) conflict = model.range_conflict(number, one, one);
        if (conflict) refuse(*conflict);
    }
}

}  // namespace ranvier::engine
