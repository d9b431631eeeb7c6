#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/errors.hpp"
#include "network/network.hpp"
#include "network/network_checks.hpp"
#include "network/receptor_choice.hpp"
#include "network/site_choice.hpp"
#include "network/value_checks.hpp"

// The stimuli of a network.
namespace ranvier::network {

namespace {

/// Whether all targets have the electrode that is named.
void check_electrodes(const Network& network, const StimulusSpec& spec, const std::string& stimulus) {
    if (!std::holds_alternative<std::monostate>(spec.site)) {
        throw ValueOutOfBoundsError({.object = "site of " + stimulus,
                                     .value = "a site",
                                     .bound = "the currents of " + std::string(spec.model->name) + " go to no receptor",
                                     .remedy = "leave it out"});
    }
    if (spec.receptor.empty()) return;
    for (const PopulationId id : network.populations_of(spec.targets)) {
        const Population& population = network.population(id);
        const std::string model(population.model->name);
        const auto electrodes = population.model->electrodes;
        if (electrodes.empty()) {
            throw ValueOutOfBoundsError({.object = "electrode of " + stimulus,
                                         .value = quoted(spec.receptor),
                                         .bound = "neurons of population " + quoted(population.name) +
                                                  ", of the model " + quoted(model) +
                                                  ", take currents at one place, without a name",
                                         .remedy = "leave it out, or stimulate them in a separate call"});
        }
        if (std::ranges::find(electrodes, spec.receptor) != electrodes.end()) continue;
        throw unknown_name("electrode of population " + quoted(population.name), spec.receptor, electrodes);
    }
}

/// Whether the spikes of a stimulus have a receptor to go to, and weights that it takes.
void check_target_receptors(const Network& network, const StimulusSpec& spec, const std::string& stimulus) {
    if (spec.model->output == models::StimulatorOutput::current) return check_electrodes(network, spec, stimulus);
    check_receptors(network, spec.targets, spec.receptor, stimulus);
    check_sites(network, spec.targets, spec.receptor, spec.site, stimulus, nullptr);
    check_weight_bounds(network, spec.targets, spec.weight, "weight of " + stimulus);
    const std::vector<PopulationId> populations = network.populations_of(spec.targets);
    const auto [least, greatest] = range_of(spec.weight);
    if (populations.empty() || !(least < 0.0 && greatest > 0.0)) return;
    if (!choose_receptors(*network.population(populations[0]).model, spec.receptor).by_sign()) return;
    throw ValueOutOfBoundsError({.object = "weights of " + stimulus,
                                 .value = "from " + to_text(least) + " to " + to_text(greatest),
                                 .bound = "all must have one sign, since they go to one receptor",
                                 .remedy =
                                     "name it with receptor=, make two stimuli, or restrict the distribution with "
                                     "low= or high="});
}

UnknownNameError unknown_parameter(const models::StimulatorModel& model, std::string_view key) {
    std::vector<std::string_view> known;
    append_names(model.parameters, known);
    append_names(model.sequences, known);
    return unknown_name("parameter of " + std::string(model.name), key, known);
}

void check_lists(const models::StimulatorModel& model, const Sequences& sequences, const std::string& object) {
    for (const auto& [key, numbers] : sequences) {
        if (find_info(model.sequences, key) == model.sequences.end()) throw unknown_parameter(model, key);
        check_values(SharedArray(numbers), key + " of " + object, numbers.size());
    }
}

/// Parameters of `count` targets, and lists, which are completed.
void check_numbers(const models::StimulatorModel& model, const NamedValues& parameters, Sequences& sequences,
                   std::uint64_t count, const std::string& object) {
    for (const auto& [key, value] : parameters) {
        const auto info = find_info(model.parameters, key);
        if (info == model.parameters.end()) throw unknown_parameter(model, key);
        check_values(value, *info, key + " of " + object, count);
    }
    check_lists(model, sequences, object);
    for (const models::SequenceInfo& info : model.sequences) sequences.try_emplace(std::string(info.name));
    if (model.conflict == nullptr) return;
    const std::vector<std::vector<double>> lists = ordered(model.sequences, sequences);
    check_conflicts(
        model.parameters, parameters, count,
        [&](std::span<const double> values) { return model.conflict(values, lists); }, object);
}

}  // namespace

void Network::check_sources(Population& population) const {
    check_numbers(*population.model->stimulator, population.parameters, population.sequences, population.size,
                  "population " + quoted(population.name));
    try_sources(population, step_of(population));
}

Sequences Network::changed_sequences(PopulationId id, Sequences sequences) const {
    Population changed = population(id);
    if (changed.model->sequences.empty()) {
        throw ValueOutOfBoundsError({.object = "lists of numbers of population " + quoted(changed.name),
                                     .value = std::to_string(sequences.size()),
                                     .bound = "the model " + quoted(changed.model->name) + " has none",
                                     .remedy = "set its parameters"});
    }
    for (auto& [name, numbers] : sequences) changed.sequences.insert_or_assign(name, std::move(numbers));
    check_lists(*changed.model->stimulator, changed.sequences, "population " + quoted(changed.name));
    return std::move(changed.sequences);
}

void Network::stimulate(IdSequence targets, std::string_view stimulator, NamedValues values, Sequences sequences,
                        Values weight, double delay, std::string name, std::string receptor, SiteSpec site) {
    const models::StimulatorModel& model = models::find_stimulator_model(stimulator);
    check_ids(targets, "targets");
    check_takes_input(targets);
    for (const PopulationId id : populations_of(targets)) {
        const Population& population = this->population(id);
        if (model.output != models::StimulatorOutput::current || population.model->takes_current) continue;
        throw ValueOutOfBoundsError({.object = "target population " + quoted(population.name),
                                     .value = "of the model " + quoted(population.model->name),
                                     .bound = "this model takes spikes but no current",
                                     .remedy = "use a stimulator that emits spikes"});
    }
    if (name.empty()) name = std::string(model.name) + " of " + name_of(targets);
    StimulusSpec spec{.name = std::move(name),
                      .model = &model,
                      .targets = std::move(targets),
                      .parameters = std::move(values),
                      .sequences = std::move(sequences),
                      .weight = std::move(weight),
                      .delay = delay,
                      .receptor = std::move(receptor),
                      .site = std::move(site)};
    check(spec);
    stimuli_.push_back(std::move(spec));
}

void Network::set_stimulus(std::size_t index, NamedValues values, Sequences sequences, Values weight, double delay,
                           std::string receptor, SiteSpec site) {
    if (index >= stimuli_.size()) {
        throw ValueOutOfBoundsError({.object = "stimulus",
                                     .value = "number " + std::to_string(index),
                                     .bound = "this network has " + std::to_string(stimuli_.size()),
                                     .remedy = "use stimuli of the same network"});
    }
    const StimulusSpec& present = stimuli_[index];
    StimulusSpec changed{.name = present.name,
                         .model = present.model,
                         .targets = present.targets,
                         .parameters = std::move(values),
                         .sequences = std::move(sequences),
                         .weight = std::move(weight),
                         .delay = delay,
                         .receptor = std::move(receptor),
                         .site = std::move(site)};
    check(changed);
    stimuli_[index] = std::move(changed);
}

StimulusSpec Network::changed_stimulus(std::size_t index, NamedValues values, Sequences sequences,
                                       std::optional<Values> weight, Step now) const {
    StimulusSpec changed = stimuli_[index];
    for (auto& [name, value] : values) {
        changed.parameters.insert_or_assign(name, std::move(value));
        changed.changed_at.insert_or_assign(name, now);
    }
    for (auto& [name, numbers] : sequences) changed.sequences.insert_or_assign(name, std::move(numbers));
    if (weight) {
        changed.weight = std::move(*weight);
        changed.changed_at.insert_or_assign("weight", now);
    }
    check(changed);
    return changed;
}

void Network::check(StimulusSpec& spec) const {
    const std::uint64_t targets = spec.targets.size();
    const std::string stimulus = "stimulus " + quoted(spec.name);
    check_numbers(*spec.model, spec.parameters, spec.sequences, targets, stimulus);
    check_values(spec.weight, "weight of " + stimulus, targets);
    check_magnitudes(spec.weight, "weight of " + stimulus);
    check_target_receptors(*this, spec, stimulus);
    check_delay(spec.delay, resolution_, "delay of " + stimulus);
    try_stimulus(spec, resolution_);
    for (const PopulationId id : populations_of(spec.targets)) {
        if (population(id).stride > 1) try_stimulus(spec, population(id), step_of(population(id)));
    }
}

}  // namespace ranvier::network
