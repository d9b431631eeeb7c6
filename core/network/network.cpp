#include "network/network.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <numeric>
#include <set>
#include <utility>

#include "base/errors.hpp"
#include "base/step_times.hpp"
#include "connect/rules/selected.hpp"
#include "network/network_checks.hpp"
#include "network/receptor_choice.hpp"
#include "network/site_choice.hpp"
#include "network/value_checks.hpp"

namespace ranvier::network {

namespace {

void check_resolution(double resolution) {
    if (std::isfinite(resolution) && resolution > 0.0) return;
    throw ValueOutOfBoundsError({.object = "resolution",
                                 .value = to_text(resolution) + " ms",
                                 .bound = "it must be > 0 and finite",
                                 .remedy = "0.1 ms is usual"});
}

}  // namespace

Network::Network(double resolution, std::uint64_t seed) : resolution_(resolution), seed_(seed) {
    check_resolution(resolution);
}

void Network::set_resolution(double resolution) {
    check_resolution(resolution);
    if (resolution == resolution_) return;
    const bool plays_spikes =
        std::ranges::any_of(populations_, [](const Population& population) { return population.model->plays_spikes; });
    std::string_view what;
    if (!projections_.empty()) what = "delays of projections";
    if (!stimuli_.empty()) what = "delays of stimuli";
    if (!state_recorders_.empty()) what = "recording intervals";
    if (std::ranges::any_of(populations_, &Population::has_given_step)) what = "steps of populations";
    if (plays_spikes) what = "spike times";
    if (!what.empty()) {
        throw StateError({.object = "resolution",
                          .value = to_text(resolution_) + " ms",
                          .bound = std::string(what) +
                                   " have been rounded to this resolution already, so it cannot become " +
                                   to_text(resolution) + " ms",
                          .remedy = "set the resolution before anything else"});
    }
    resolution_ = resolution;
}

double Network::step_of(const Population& population) const {
    return population.stride == 1 ? resolution_ : StepTimes(resolution_)(population.stride);
}

Step Network::longest_stride() const {
    Step longest = 1;
    for (const Population& population : populations_) {
        if (population.size > 0) longest = std::max(longest, population.stride);
    }
    return longest;
}

Step Network::stride_of(double step, const std::string& population) const {
    const std::string object = "step of population " + quoted(population);
    const auto fail = [&](std::string bound, std::string remedy) {
        throw ValueOutOfBoundsError(
            {.object = object, .value = to_text(step) + " ms", .bound = std::move(bound), .remedy = std::move(remedy)});
    };
    if (!std::isfinite(step) || step <= 0.0) fail("it must be finite and greater than 0", "give a time in ms");
    const auto stride = steps_on_grid(step, resolution_);
    if (!stride || *stride < 1) throw grid_error(step, resolution_, object);
    if (*stride > longest_step) {
        fail("it can be at most " + std::to_string(longest_step) + " steps of the resolution, " + to_text(resolution_) +
                 " ms",
             "choose a shorter step, or a larger resolution");
    }
    return *stride;
}

PopulationId Network::create(std::string_view model_name, std::uint64_t size, std::string name, NamedValues values,
                             std::optional<double> step, Sequences sequences) {
    const models::NeuronModel& model = models::find_neuron_model(model_name);
    if (model.plays_spikes) {
        throw ValueOutOfBoundsError({.object = name.empty() ? "model" : "model of population " + quoted(name),
                                     .value = quoted(model_name),
                                     .bound = "it needs the spike times of each unit",
                                     .remedy = "use create_spike_generators"});
    }
    return create(model, nullptr, size, std::move(name), std::move(values), step, std::move(sequences));
}

PopulationId Network::create(const models::NeuronModel& model, std::shared_ptr<const void> owner, std::uint64_t size,
                             std::string name, NamedValues values, std::optional<double> step, Sequences sequences) {
    Population population;
    population.name = name_population(std::move(name), model.name);
    population.model = &model;
    population.model_owner = std::move(owner);
    population.size = size;
    population.has_given_step = step.has_value();
    if (step) population.stride = stride_of(*step, population.name);
    population.sequences = std::move(sequences);
    give(population, std::move(values));
    return add(std::move(population));
}

void Network::give(Population& population, NamedValues values) const {
    const models::NeuronModel& model = *population.model;
    for (auto& [key, value] : values) {
        const std::string object = key + " of population " + quoted(population.name);
        if (const auto parameter = find_info(model.parameters, key); parameter != model.parameters.end()) {
            check_values(value, *parameter, object, population.size);
            population.parameters.emplace(key, std::move(value));
        } else if (const auto variable = find_info(model.variables, key); variable != model.variables.end()) {
            if (variable->is_read_only) throw read_only_variable(object);
            check_values(value, object, population.size);
            population.variables.emplace(key, std::move(value));
        } else {
            std::vector<std::string_view> known;
            append_names(model.parameters, known);
            append_names(model.variables, known);
            throw unknown_name("parameter of " + std::string(model.name), key, known);
        }
    }
    if (model.stimulator != nullptr) check_sources(population);
    if (model.conflict != nullptr) {
        check_conflicts(model.parameters, population.parameters, population.size, model.conflict,
                        "population " + quoted(population.name));
    }
    if (model.own_conflict != nullptr) {
        check_conflicts(
            model.parameters, population.parameters, population.size,
            [&](std::span<const double> parameters) { return model.own_conflict(model, parameters, std::nullopt); },
            "population " + quoted(population.name));
    }
    if (model.range_conflict != nullptr) {
        check_range_conflicts(
            model.parameters, population.parameters, population.size,
            [&](std::optional<std::uint64_t> neuron, std::span<const double> least, std::span<const double> greatest) {
                return model.range_conflict(model, neuron, least, greatest);
            },
            "population " + quoted(population.name));
    }
}

void Network::set_values(PopulationId id, NamedValues values, Sequences sequences) {
    const Population& present = population(id);
    Population changed{.id = id,
                       .name = present.name,
                       .model = present.model,
                       .model_owner = present.model_owner,
                       .first = present.first,
                       .size = present.size,
                       .parameters = {},
                       .variables = {},
                       .spike_steps = present.spike_steps,
                       .sequences = std::move(sequences),
                       .stride = present.stride,
                       .has_given_step = present.has_given_step};
    give(changed, std::move(values));
    populations_[id.value] = std::move(changed);
}

PopulationId Network::create_spike_generators(std::string name, std::span<const std::vector<double>> spike_times) {
    const models::NeuronModel& model = models::find_neuron_model("spike_generator");
    Population population;
    population.name = name_population(std::move(name), model.name);
    population.model = &model;
    population.size = spike_times.size();
    give(population, spike_times);
    return add(std::move(population));
}

void Network::give(Population& population, std::span<const std::vector<double>> spike_times) const {
    std::vector<std::vector<Step>> steps;
    steps.reserve(spike_times.size());
    for (std::size_t unit = 0; unit < spike_times.size(); ++unit) {
        steps.push_back(spike_steps(spike_times[unit], resolution_, population.name, unit));
    }
    population.spike_steps = std::move(steps);
}

void Network::set_spike_times(PopulationId id, std::span<const std::vector<double>> spike_times) {
    const Population& present = population(id);
    if (!present.model->plays_spikes || spike_times.size() != present.size) {
        throw ShapeError({.object = "lists of spike times of population " + quoted(present.name),
                          .value = std::to_string(spike_times.size()),
                          .bound = "it has " + std::to_string(present.model->plays_spikes ? present.size : 0) +
                                   " units that play spikes",
                          .remedy = "give one list for each unit"});
    }
    give(populations_[id.value], spike_times);
}

std::string Network::name_population(std::string name, std::string_view model) const {
    const auto taken = [&](std::string_view candidate) {
        return std::ranges::any_of(populations_,
                                   [&](const Population& population) { return population.name == candidate; });
    };
    if (name.empty()) {
        for (std::size_t number = populations_.size(); name.empty() || taken(name); ++number) {
            name = std::string(model) + "_" + std::to_string(number);
        }
    }
    if (!taken(name)) return name;
    throw ValueOutOfBoundsError({.object = "name of a population",
                                 .value = quoted(name),
                                 .bound = "another population has this name",
                                 .remedy = "choose another"});
}

PopulationId Network::add(Population population) {
    if (population.size > most_units - unit_count()) {
        throw ValueOutOfBoundsError({.object = "size of population " + quoted(population.name),
                                     .value = std::to_string(population.size),
                                     .bound = "a network can have at most 2^48 neurons and sources",
                                     .remedy = "make it smaller"});
    }
    population.id = PopulationId{static_cast<std::uint32_t>(populations_.size())};
    population.first = NeuronId{unit_count()};
    populations_.push_back(std::move(population));
    return populations_.back().id;
}

ProjectionId Network::connect(IdSequence sources, IdSequence targets, connect::RuleSpec rule, Values weight,
                              Values delay, std::string name, double weight_bound, std::string receptor,
                              SynapseSpec synapse, SiteSpec site) {
    check_ids(sources, "sources");
    check_ids(targets, "targets");
    check_takes_input(targets);
    if (name.empty()) name = name_of(sources) + " to " + name_of(targets);
    Projection projection{.id = ProjectionId{static_cast<std::uint32_t>(projections_.size())},
                          .name = std::move(name),
                          .sources = std::move(sources),
                          .targets = std::move(targets),
                          .rule = std::move(rule),
                          .weight = std::move(weight),
                          .delay = std::move(delay),
                          .weight_bound = weight_bound,
                          .receptor = std::move(receptor),
                          .synapse = std::move(synapse),
                          .site = std::move(site)};
    const double synapses = checked_synapses(projection);
    projections_.push_back(std::move(projection));
    synapses_.push_back(synapses);
    return projections_.back().id;
}

Step Network::stride_of_targets(const Projection& projection) const {
    Step stride = 0;
    for (const PopulationId id : populations_of(projection.targets)) {
        const Step own = population(id).stride;
        if (stride == 0) stride = own;
        if (own == stride) continue;
        throw ValueOutOfBoundsError({.object = "targets of projection " + quoted(projection.name),
                                     .value = "steps of " + to_text(StepTimes(resolution_)(stride)) + " and " +
                                              to_text(StepTimes(resolution_)(own)) + " ms",
                                     .bound = "all targets of a projection must have the same step",
                                     .remedy = "connect populations with different steps in separate calls"});
    }
    return std::max<Step>(stride, 1);
}

double Network::checked_synapses(const Projection& projection) const {
    check_ids(projection.synapse.modulators, "the transmitter of projection " + quoted(projection.name));
    check_receptors(*this, projection.targets, projection.receptor, "projection " + quoted(projection.name));
    const connect::SelectedRule rule =
        connect::bind_selected(projection.rule, projection.sources, projection.targets, seed_, projection.id);
    const auto& sampler = rule.sampler;
    check_sites(*this, projection.targets, projection.receptor, projection.site,
                "projection " + quoted(projection.name), &rule);
    check_weights(projection.weight, projection.name, projection.rule, *sampler);
    check_weight_bounds(*this, projection.targets, projection.weight,
                        "weight of projection " + quoted(projection.name));
    check_weight_bound(projection.weight_bound, projection.weight, projection.name);
    check_weight_unit(*this, projection.targets, projection.synapse, projection.name);
    check_followed_variables(*this, projection.targets, projection.synapse, projection.name);
    const Step stride = stride_of_targets(projection);
    check_delays(projection.delay,
                 {.resolution = resolution_, .step = StepTimes(resolution_)(stride), .stride = stride},
                 "delay of projection " + quoted(projection.name), *sampler);
    const auto [least_weight, greatest_weight] = range_of(projection.weight);
    check_synapse(projection.synapse,
                  {.least_weight = least_weight,
                   .greatest_weight = greatest_weight,
                   .least_delay = range_of(projection.delay).first},
                  resolution_, projection.name);
    check_own_values(projection.synapse, *sampler, projection.weight, resolution_, projection.name);
    return sampler->expected_synapses();
}

void Network::set_projection(ProjectionId id, connect::RuleSpec rule, Values weight, Values delay, double weight_bound,
                             std::string receptor, SynapseSpec synapse, SiteSpec site) {
    if (id.value >= projections_.size()) {
        throw ValueOutOfBoundsError({.object = "projection",
                                     .value = "number " + std::to_string(id.value),
                                     .bound = "this network has " + std::to_string(projections_.size()),
                                     .remedy = "use projections of the same network"});
    }
    const Projection& present = projections_[id.value];
    Projection changed{.id = id,
                       .name = present.name,
                       .sources = present.sources,
                       .targets = present.targets,
                       .rule = std::move(rule),
                       .weight = std::move(weight),
                       .delay = std::move(delay),
                       .weight_bound = weight_bound,
                       .receptor = std::move(receptor),
                       .synapse = std::move(synapse),
                       .site = std::move(site)};
    synapses_[id.value] = checked_synapses(changed);
    projections_[id.value] = std::move(changed);
}

SpikeLists Network::later_spikes(PopulationId id, std::span<const std::uint64_t> units,
                                 std::span<const std::vector<double>> spike_times, Step now) const {
    const Population& present = population(id);
    SpikeLists::Lists all = present.spike_steps.all();
    for (std::size_t i = 0; i < units.size(); ++i) {
        std::vector<Step> steps =
            spike_steps(spike_times[i], resolution_, present.name, static_cast<std::size_t>(units[i]));
        if (!steps.empty() && steps.front() <= now) {
            throw ValueOutOfBoundsError(
                {.object = "first spike time of unit " + std::to_string(units[i]) + " of " + quoted(present.name),
                 .value = to_text(spike_times[i].front()) + " ms",
                 .bound = "it is " + to_text(StepTimes(resolution_)(now)) + " ms already",
                 .remedy = "give the times of spikes that are still to come"});
        }
        all[units[i]] = std::move(steps);
    }
    return all;
}

RecorderIndex Network::record_spikes(std::vector<IdSequence> neurons) {
    for (const IdSequence& ids : neurons) check_ids(ids, "recorded neurons");
    spike_recorders_.push_back({std::move(neurons)});
    return spike_recorders_.size() - 1;
}

RecorderIndex Network::record_state(IdSequence neurons, std::vector<std::string> variables, double interval) {
    check_ids(neurons, "recorded neurons");
    const std::string of_recorder = " of a recorder of " + name_of(neurons);
    if (variables.empty()) {
        throw ShapeError({.object = "number of variables" + of_recorder,
                          .value = "0",
                          .bound = "there must be at least one",
                          .remedy = "name the variables"});
    }
    for (auto variable = variables.begin(); variable != variables.end(); ++variable) {
        if (std::find(variables.begin(), variable, *variable) == variable) continue;
        throw ValueOutOfBoundsError({.object = "variable" + of_recorder,
                                     .value = quoted(*variable),
                                     .bound = "it is in the list twice",
                                     .remedy = "name each once"});
    }
    for (const PopulationId id : populations_of(neurons)) {
        const models::NeuronModel& model = *population(id).model;
        std::vector<std::string_view> known;
        append_names(model.variables, known);
        for (const std::string& variable : variables) {
            if (std::ranges::find(known, variable) != known.end()) continue;
            throw unknown_name("variable of " + std::string(model.name), variable, known);
        }
    }
    const Step steps = to_steps(interval, "interval" + of_recorder);
    if (steps < 1) {
        throw ValueOutOfBoundsError({.object = "interval" + of_recorder,
                                     .value = to_text(interval) + " ms",
                                     .bound = "it must be at least one step, " + to_text(resolution_) + " ms",
                                     .remedy = "raise it"});
    }
    for (const PopulationId id : populations_of(neurons)) {
        if (steps % population(id).stride == 0) continue;
        throw GridError(
            {.object = "interval" + of_recorder,
             .value = to_text(interval) + " ms",
             .bound = "it must be a multiple of the step of population " + quoted(population(id).name) + ", " +
                      to_text(step_of(population(id))) + " ms",
             .remedy = "choose such an interval, or record populations with different steps in separate calls"});
    }
    state_recorders_.push_back({.neurons = std::move(neurons), .variables = std::move(variables), .interval = steps});
    return state_recorders_.size() - 1;
}

const Population& Network::population(PopulationId id) const {
    if (id.value < populations_.size()) return populations_[id.value];
    throw ValueOutOfBoundsError({.object = "population",
                                 .value = "number " + std::to_string(id.value),
                                 .bound = "this network has " + std::to_string(populations_.size()),
                                 .remedy = "use populations of the same network"});
}

std::uint64_t Network::unit_count() const {
    return populations_.empty() ? 0 : populations_.back().first.value + populations_.back().size;
}

std::uint64_t Network::neuron_count() const {
    std::uint64_t count = 0;
    for (const Population& population : populations_) count += population.model->is_source ? 0 : population.size;
    return count;
}

std::uint64_t Network::array_bytes() const {
    std::uint64_t bytes = 0;
    // An array that several parts share counts once.
    std::set<const void*> counted;
    const auto add_array = [&](const auto& array) {
        if (counted.insert(array.data()).second) bytes += array.bytes();
    };
    const auto add = [&](const Values& values) {
        if (const auto* array = std::get_if<SharedArray>(&values)) add_array(*array);
    };
    const auto add_all = [&](const NamedValues& named) {
        for (const auto& [name, values] : named) add(values);
    };
    for (const Population& population : populations_) {
        add_all(population.parameters);
        add_all(population.variables);
        bytes += population.spike_steps.bytes();
        for (const auto& [name, numbers] : population.sequences) bytes += numbers.size() * sizeof(double);
    }
    for (const Projection& projection : projections_) {
        add(projection.weight);
        add(projection.delay);
        add_all(projection.synapse.parameters);
        add_array(projection.rule.sources);
        add_array(projection.rule.targets);
        if (const auto* sites = std::get_if<SharedArray>(&projection.site)) add_array(*sites);
    }
    for (const StimulusSpec& stimulus : stimuli_) {
        add(stimulus.weight);
        add_all(stimulus.parameters);
        if (const auto* sites = std::get_if<SharedArray>(&stimulus.site)) add_array(*sites);
        for (const auto& [name, numbers] : stimulus.sequences) bytes += numbers.size() * sizeof(double);
    }
    return bytes;
}

double Network::expected_synapses() const { return std::accumulate(synapses_.begin(), synapses_.end(), 0.0); }

Step Network::to_steps(double milliseconds, std::string_view object) const {
    if (const auto steps = steps_on_grid(milliseconds, resolution_)) return *steps;
    throw grid_error(milliseconds, resolution_, std::string(object));
}

}  // namespace ranvier::network
