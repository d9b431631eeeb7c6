#include "engine/neuron_access.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>

#include "base/errors.hpp"
#include "engine/agreement.hpp"
#include "engine/value_checks.hpp"

namespace ranvier::engine {

namespace {

template <class Infos>
std::optional<std::size_t> find_name(const Infos& infos, std::string_view name) {
    for (std::size_t i = 0; i < infos.size(); ++i) {
        if (infos[i].name == name) return i;
    }
    return std::nullopt;
}

UnknownNameError unknown_value(const Population& population, std::string_view name) {
    std::vector<std::string_view> known;
    for (const models::VariableInfo& info : population.model->variables) known.push_back(info.name);
    for (const models::ParameterInfo& info : population.model->parameters) known.push_back(info.name);
    return unknown_name("variable or parameter of " + std::string(population.model->name), name, known);
}

/// Gives each neuron its own value, so that single ones can change.
void expand(models::GroupValues& values, std::size_t size) {
    if (values.values.size() != size) values.values.assign(size, values.values.front());
}

}  // namespace

const Population& NeuronAccess::checked(PopulationId id, std::span<const std::uint64_t> indices) const {
    const Population& population = network_.network().population(id);
    for (const std::uint64_t index : indices) {
        if (index < population.size) continue;
        throw ValueOutOfBoundsError({.object = "index of a neuron in '" + population.name + "'",
                                     .value = std::to_string(index),
                                     .bound = "the population has " + std::to_string(population.size) + " neurons",
                                     .remedy = "use indices from 0"});
    }
    return population;
}

std::vector<NeuronAccess::ShardPart> NeuronAccess::by_shard(const Population& population,
                                                            std::span<const std::uint64_t> indices) const {
    std::vector<ShardPart> parts(shards_.size());
    for (std::size_t i = 0; i < indices.size(); ++i) {
        const NeuronId id{population.first.value + indices[i]};
        if (!layout_.owns(id)) continue;
        const std::size_t shard = layout_.shard_of(id).value;
        const IdSequence& ids = shards_[shard]->layout().part(population.id).ids;
        parts[shard].local.push_back(static_cast<std::uint32_t>(ids.count_below(id)));
        parts[shard].places.push_back(i);
    }
    return parts;
}

std::vector<double> NeuronAccess::get(PopulationId id, std::string_view name,
                                      std::span<const std::uint64_t> indices) const {
    const Population& population = checked(id, indices);
    const auto variable = find_name(population.model->variables, name);
    const auto parameter = find_name(population.model->parameters, name);
    if (!variable && !parameter) throw unknown_value(population, name);
    std::vector<double> values(indices.size());
    std::vector<double> read;
    const std::vector<ShardPart> parts = by_shard(population, indices);
    for (std::size_t shard = 0; shard < parts.size(); ++shard) {
        const ShardPart& part = parts[shard];
        if (part.local.empty()) continue;
        const Shard::Group& group = shards_[shard]->group(id);
        read.resize(part.local.size());
        if (variable) {
            group.neurons->read(*variable, part.local, read.data());
        } else {
            for (std::size_t i = 0; i < read.size(); ++i) read[i] = group.parameters[*parameter][part.local[i]];
        }
        for (std::size_t i = 0; i < read.size(); ++i) values[part.places[i]] = read[i];
    }
    if (communicator_.size() > 1) {
        // One process has each value and the others have zero bits, which are the least of all.
        std::vector<std::uint64_t> bits(values.size());
        std::memcpy(bits.data(), values.data(), values.size() * sizeof(double));
        communicator_.reduce(bits, comm::Reduction::greatest);
        std::memcpy(values.data(), bits.data(), values.size() * sizeof(double));
    }
    return values;
}

void NeuronAccess::set(PopulationId id, std::string_view name, std::span<const std::uint64_t> indices,
                       std::span<const double> values) {
    const Population& population = checked(id, indices);
    if (values.size() != indices.size()) {
        throw ShapeError({.object = std::string(name) + " of " + std::to_string(indices.size()) + " neurons",
                          .value = std::to_string(values.size()) + " values",
                          .bound = "one value is needed for each neuron",
                          .remedy = "give an array of that length, or one number"});
    }
    const auto variable = find_name(population.model->variables, name);
    const auto parameter = find_name(population.model->parameters, name);
    if (!variable && !parameter) throw unknown_value(population, name);
    for (const double value : values) {
        if (std::isfinite(value)) continue;
        if (parameter && population.model->parameters[*parameter].may_be_infinite && !std::isnan(value)) continue;
        throw ValueOutOfBoundsError({.object = std::string(name) + " of '" + population.name + "'",
                                     .value = to_text(value),
                                     .bound = "it must be finite",
                                     .remedy = "give a number"});
    }
    // Everything that can fail comes first, on all processes and for all of their shards: from here on, nothing does.
    const std::string what = "setting " + std::string(name) + " of '" + population.name + "'";
    std::vector<ShardPart> parts;
    if (parameter) {
        std::vector<PreparedChange> changes;
        agree(communicator_, what, [&] {
            parts = by_shard(population, indices);
            changes = prepare(population, *parameter, parts, values);
        });
        for (PreparedChange& prepared : changes) {
            prepared.change->apply();
            prepared.group->parameters.swap(prepared.parameters);
        }
        return;
    }
    std::vector<std::vector<double>> own;
    agree(communicator_, what, [&] {
        parts = by_shard(population, indices);
        own = checked_values(population, *variable, parts, values);
    });
    for (std::size_t shard = 0; shard < parts.size(); ++shard) {
        if (parts[shard].local.empty()) continue;
        shards_[shard]->group(id).neurons->write(*variable, parts[shard].local, own[shard].data());
    }
}

std::vector<std::vector<double>> NeuronAccess::checked_values(const Population& population, std::size_t variable,
                                                              std::span<const ShardPart> parts,
                                                              std::span<const double> values) const {
    std::vector<std::vector<double>> own(parts.size());
    for (std::size_t shard = 0; shard < parts.size(); ++shard) {
        const ShardPart& part = parts[shard];
        if (part.local.empty()) continue;
        for (const std::size_t i : part.places) own[shard].push_back(values[i]);
        shards_[shard]->group(population.id).neurons->check(variable, part.local, own[shard].data());
    }
    return own;
}

std::vector<NeuronAccess::PreparedChange> NeuronAccess::prepare(const Population& population, std::size_t parameter,
                                                                std::span<const ShardPart> parts,
                                                                std::span<const double> values) const {
    const models::ParameterInfo& info = population.model->parameters[parameter];
    for (const double value : values) {
        if (info.bounds.contains(value)) continue;
        throw ValueOutOfBoundsError({.object = std::string(info.name) + " of '" + population.name + "'",
                                     .value = to_text(value),
                                     .bound = "it must be " + describe(info.bounds),
                                     .remedy = "give a value within its bounds"});
    }
    std::vector<PreparedChange> changes;
    std::vector<double> one(population.model->parameters.size());
    for (std::size_t shard = 0; shard < parts.size(); ++shard) {
        const ShardPart& part = parts[shard];
        if (part.local.empty()) continue;
        Shard::Group& group = shards_[shard]->group(population.id);
        PreparedChange& prepared = changes.emplace_back(PreparedChange{&group, {}, nullptr});
        parallel::NodeMemory* const memory = shards_[shard]->memory()[Component::neurons];
        for (const models::GroupValues& now : group.parameters) prepared.parameters.push_back(now.copy(memory));
        models::GroupValues& own = prepared.parameters[parameter];
        const bool whole = part.local.size() == group.size &&
                           std::all_of(part.places.begin(), part.places.end(),
                                       [&](std::size_t i) { return values[i] == values[part.places[0]]; });
        if (whole) {
            own.values = std::pmr::vector<double>({values[part.places[0]]}, memory);
        } else {
            expand(own, group.size);
            for (std::size_t i = 0; i < part.local.size(); ++i) own.values[part.local[i]] = values[part.places[i]];
        }
        for (const std::uint32_t local : part.local) {
            if (population.model->conflict == nullptr) break;
            for (std::size_t k = 0; k < one.size(); ++k) one[k] = prepared.parameters[k][local];
            if (const auto conflict = population.model->conflict(one)) {
                throw ValueOutOfBoundsError({.object = std::string(info.name) + " of '" + population.name + "'",
                                             .value = to_text(own[local]),
                                             .bound = *conflict,
                                             .remedy = "change both"});
            }
        }
        prepared.change = group.neurons->prepare_parameters(prepared.parameters);
    }
    return changes;
}

}  // namespace ranvier::engine
