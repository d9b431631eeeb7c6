#include "ranvier/network/network.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/step_times.hpp"
#include "network/expression_bounds.hpp"
#include "network/network_checks.hpp"
#include "network/projection_rule.hpp"
#include "network/receptor_choice.hpp"
#include "network/site_choice.hpp"
#include "network/value_checks.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::network {

namespace {

void check_resolution(double resolution) {
    if (std::isfinite(resolution) && resolution > 0.0) return;
    throw ValueOutOfBoundsError({.object = "resolution",
                                 .value = to_text(resolution) + " ms",
                                 .bound = "it must be > 0 and finite",
                                 .remedy = "0.1 ms is usual"});
}

/// Sums the bytes of arrays in the fields of specs. An array that several fields share counts once.
class ArrayBytes {
   public:
    template <class Spec>
    void add_fields(const Spec& spec) {
        for_each_field(spec, [this](const auto&, const auto& value) { add(value); });
    }
    void add(const SpikeLists& lists) { bytes_ += lists.bytes(); }
    void add(const std::shared_ptr<const connect::Rotations>& rotations) {
        if (rotations == nullptr) return;
        for (const connect::Rotations::Step& step : rotations->steps) add(step.angles);
    }
    void add(const std::shared_ptr<const connect::Positions>& positions) {
        if (positions == nullptr) return;
        if (const auto* const array = std::get_if<connect::Positions::Array>(&positions->form)) add(array->coordinates);
    }
    std::uint64_t sum() const { return bytes_; }

   private:
    // A field of any other type does not compile: add an overload that says whether it has arrays.
    template <class Value>
        requires std::is_arithmetic_v<Value> || std::is_pointer_v<Value>
    void add(Value) {}
    void add(const std::string&) {}
    void add(const IdSequence&) {}
    template <class Number>
    void add(const SharedNumbers<Number>& array) {
        if (counted_.insert(array.data()).second) bytes_ += array.bytes();
    }
    void add(const Values& values) {
        if (const auto* array = std::get_if<SharedArray>(&values)) add(*array);
        const auto* const expression = std::get_if<ExpressionValues>(&values);
        if (expression != nullptr && counted_.insert(expression->function.get()).second) {
            bytes_ += expression->function->bytes();
        }
    }
    void add(const NamedValues& named) {
        for (const auto& [name, values] : named) add(values);
    }
    void add(const SiteSpec& site) {
        if (const auto* sites = std::get_if<SharedArray>(&site)) add(*sites);
    }
    void add(const Sequences& sequences) {
        for (const auto& [name, numbers] : sequences) bytes_ += numbers.size() * sizeof(double);
    }
    void add(const SpikeTimes& lists) {
        for (const std::vector<double>& times : lists) bytes_ += times.size() * sizeof(double);
    }
    void add(const std::shared_ptr<const models::NeuronModel>&) {}
    void add(const std::optional<double>&) {}
    void add(const connect::RuleSpec& rule) {
        for (const connect::RuleValue& value : rule.values()) {
            if (const auto* const indices = std::get_if<SharedIndices>(&value)) add(*indices);
        }
    }
    void add(const SynapseSpec& synapse) { add_fields(synapse); }

    std::uint64_t bytes_ = 0;
    std::set<const void*> counted_;
};

/// Checks that all targets have the named electrode.
void check_electrodes(const Network& network, const StimulusSpec& spec, const std::string& stimulus) {
    if (!spec.receptor.empty()) {
        throw ValueOutOfBoundsError(
            {.object = "receptor of a " + std::string(spec.model->name),
             .value = quoted(spec.receptor),
             .bound = "the currents of " + std::string(spec.model->name) + " are not sent to a receptor",
             .remedy = "leave it out; electrode= names an electrode of cells"});
    }
    if (!std::holds_alternative<std::monostate>(spec.site)) {
        throw ValueOutOfBoundsError(
            {.object = "site of " + stimulus,
             .value = "a site",
             .bound = "the currents of " + std::string(spec.model->name) + " are not sent to a receptor",
             .remedy = "leave it out"});
    }
    if (spec.electrode.empty()) return;
    for (const PopulationId id : network.populations_of(spec.targets)) {
        const Population& population = network.population(id);
        const std::string model(population.model->name);
        const auto electrodes = population.model->electrodes;
        if (electrodes.empty()) {
            throw ValueOutOfBoundsError({.object = "electrode of " + stimulus,
                                         .value = quoted(spec.electrode),
                                         .bound = "neurons of population " + quoted(population.name) +
                                                  ", of the model " + quoted(model) +
                                                  ", take currents at one place, without a name",
                                         .remedy = "leave it out, or stimulate them in a separate call"});
        }
        if (std::ranges::find(electrodes, spec.electrode) != electrodes.end()) continue;
        throw unknown_name("electrode of population " + quoted(population.name), spec.electrode, electrodes);
    }
}

/// Checks that the spikes of a stimulus have a receptor that accepts their weights.
void check_target_receptors(const Network& network, const StimulusSpec& spec, const std::string& stimulus) {
    if (spec.model->output == models::StimulatorOutput::current) return check_electrodes(network, spec, stimulus);
    if (!spec.electrode.empty()) {
        throw ValueOutOfBoundsError(
            {.object = "electrode of a " + std::string(spec.model->name),
             .value = quoted(spec.electrode),
             .bound = "the spikes of " + std::string(spec.model->name) + " are not sent to an electrode",
             .remedy = "leave it out; receptor= names a receptor"});
    }
    check_receptors(network, spec.targets, spec.receptor, stimulus);
    check_sites(network, spec.targets, spec.receptor, spec.site, stimulus, nullptr);
    check_weight_bounds(network, spec.targets, spec.receptor, spec.weight, "weight of " + stimulus);
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

/// @param model of neurons or a stimulator
template <class Model>
UnknownNameError unknown_parameter(const Model& model, std::string_view key) {
    std::vector<std::string_view> known;
    append_names(model.parameters, known);
    if constexpr (requires { model.variables; }) append_names(model.variables, known);
    append_names(model.sequences, known);
    return unknown_name("parameter of " + std::string(model.name), key, known);
}

void check_lists(const models::StimulatorModel& model, const Sequences& sequences, const std::string& object) {
    for (const auto& [key, numbers] : sequences) {
        if (find_info(model.sequences, key) == model.sequences.end()) throw unknown_parameter(model, key);
        check_values(SharedArray(numbers), key + " of " + object, numbers.size());
    }
}

/// Checks the parameters of `count` targets, and checks and completes sequences.
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

std::shared_ptr<const models::NeuronModel> registered_model(std::string_view name) {
    return {std::shared_ptr<void>(), &models::find_neuron_model(name)};
}

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
    const auto counts = [](const SpikeRecorderSpec& recorder) { return recorder.bin > 0; };
    if (!state_recorders_.empty() || std::ranges::any_of(spike_recorders_, counts)) what = "recording intervals";
    if (!outside_fields_.empty()) what = "intervals of fields";
    if (std::ranges::any_of(populations_, [](const Population& population) { return population.step.has_value(); })) {
        what = "steps of populations";
    }
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

void Network::set_seed(std::uint64_t seed, const std::function<void()>& poll) {
    std::vector<std::shared_ptr<const connect::Positions>> positions;
    positions.reserve(populations_.size());
    for (const Population& population : populations_) positions.push_back(located(population, seed, poll));
    seed_ = seed;
    for (std::size_t i = 0; i < populations_.size(); ++i) populations_[i].located = std::move(positions[i]);
    space_ = nullptr;
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

PopulationId Network::create(std::string_view model, std::uint64_t size, std::string name, NamedValues values) {
    return create(
        {.name = std::move(name), .model = registered_model(model), .size = size, .values = std::move(values)});
}

PopulationId Network::create(PopulationSpec spec, const std::function<void()>& poll) {
    if (spec.model == nullptr) {
        throw ValueOutOfBoundsError({.object = "model of a population",
                                     .value = "none",
                                     .bound = "a population has neurons of a model",
                                     .remedy = "name one with registered_model()"});
    }
    spec.name = name_population(std::move(spec.name), spec.model->name);
    Population population{std::move(spec), PopulationId{static_cast<std::uint32_t>(populations_.size())},
                          NeuronId{unit_count()}};
    check(population);
    if (population.size > most_units - unit_count()) {
        throw ValueOutOfBoundsError({.object = "size of population " + quoted(population.name),
                                     .value = std::to_string(population.size),
                                     .bound = "a network can have at most 2^48 neurons and sources",
                                     .remedy = "make it smaller"});
    }
    population.located = located(population, seed_, poll);
    populations_.push_back(std::move(population));
    space_ = nullptr;
    return populations_.back().id;
}

void Network::set(PopulationId id, PopulationSpec changed) {
    const Population& present = population(id);
    if (changed.name != present.name || changed.model != present.model || changed.size != present.size ||
        changed.step != present.step || changed.positions != present.positions ||
        changed.rotations != present.rotations) {
        throw ValueOutOfBoundsError({.object = "population " + quoted(present.name),
                                     .value = "another name, model, size or step, or other positions or rotations",
                                     .bound = "they are fixed when a population is created",
                                     .remedy = "create another population"});
    }
    Population population{std::move(changed), present.id, present.first};
    check(population);
    population.located = present.located;
    populations_[id.value] = std::move(population);
}

void Network::check(Population& population) const {
    const models::NeuronModel& model = *population.model;
    const std::string object = "population " + quoted(population.name);
    if (model.population_size != 0 && model.population_size != population.size) {
        throw ShapeError({.object = "size of " + object,
                          .value = std::to_string(population.size),
                          .bound = "its model describes " + std::to_string(model.population_size) + " neurons",
                          .remedy = "create as many"});
    }
    if (population.step) population.stride = stride_of(*population.step, population.name);
    if (population.positions) population.positions->check(population.size, population.name);
    if (population.rotations) population.rotations->check(population.size, population.name);
    for (auto& [key, value] : population.values) {
        const std::string of_population = key + " of " + object;
        bound_expression(population, value, of_population);
        if (const auto parameter = find_info(model.parameters, key); parameter != model.parameters.end()) {
            check_values(value, *parameter, of_population, population.size);
        } else if (const auto variable = find_info(model.variables, key); variable != model.variables.end()) {
            if (variable->is_read_only) throw read_only_variable(of_population);
            check_values(value, of_population, population.size);
        } else {
            throw unknown_parameter(model, key);
        }
    }
    round_spike_times(population);
    if (model.stimulator != nullptr) {
        check_numbers(*model.stimulator, population.values, population.sequences, population.size, object);
        try_sources(population, step_of(population));
    } else if (!population.sequences.empty()) {
        throw unknown_parameter(model, population.sequences.begin()->first);
    }
    if (model.has_conflicts()) {
        check_conflicts(
            model.parameters, population.values, population.size,
            [&](std::span<const double> parameters) { return model.conflict(parameters, std::nullopt); }, object);
    }
    if (model.has_range_conflicts()) {
        check_range_conflicts(
            model.parameters, population.values, population.size,
            [&](std::optional<std::uint64_t> neuron, std::span<const double> least, std::span<const double> greatest) {
                return model.range_conflict(neuron, least, greatest);
            },
            object);
    }
}

void Network::bound_expression(const Population& population, Values& value, const std::string& object) const {
    if (!std::holds_alternative<ExpressionValues>(value)) return;
    if (population.positions == nullptr && std::get<ExpressionValues>(value).function->is_spatial()) {
        throw ValueOutOfBoundsError({.object = object,
                                     .value = "'" + std::get<ExpressionValues>(value).function->text() + "'",
                                     .bound = "it needs positions, and the population has none",
                                     .remedy = "give them: net.create(..., positions=...)"});
    }
    const connect::Space::Part part{
        .first = population.first, .size = population.size, .positions = population.positions};
    bound_neurons(value,
                  {.space = std::make_shared<const connect::Space>(std::vector{part}),
                   .network = this,
                   .ids = {population.first, 1, population.size}},
                  object);
}

void Network::bound_expressions(ProjectionSpec& projection) const {
    const auto is_expression = [](const Values& values) { return std::holds_alternative<ExpressionValues>(values); };
    NamedValues& parameters = projection.synapse.parameters;
    if (!is_expression(projection.weight) && !is_expression(projection.delay) &&
        std::ranges::none_of(parameters, [&](const auto& each) { return is_expression(each.second); })) {
        return;
    }
    const NeuronsInSpace sources{.space = described_space(), .network = this, .ids = projection.sources};
    const NeuronsInSpace targets{.space = sources.space, .network = this, .ids = projection.targets};
    const std::string of_projection = " of projection " + quoted(projection.name);
    const auto& reversal = projection.rule.reversal();
    const PairLimit mask{.mask = projection.rule.limit(), .is_reversed = reversal.has_value()};
    const auto bound = [&](Values& values, std::string_view name, bool is_of_other_direction) {
        const std::string object = std::string(name) + of_projection;
        if (is_of_other_direction) return bound_pairs(values, targets, sources, {.mask = mask.mask}, object);
        bound_pairs(values, sources, targets, mask, object);
    };
    bound(projection.weight, "weight", reversal && reversal->same_weights);
    bound(projection.delay, "delay", reversal && reversal->same_delays);
    for (auto& [name, value] : parameters) bound(value, name, false);
}

void Network::round_spike_times(Population& population) const {
    const std::uint64_t units = population.model->plays_spikes ? population.size : 0;
    if (population.spike_times.size() != units) {
        throw ShapeError({.object = "lists of spike times of population " + quoted(population.name),
                          .value = std::to_string(population.spike_times.size()),
                          .bound = "it has " + std::to_string(units) + " units that play spikes",
                          .remedy = "give one list for each unit"});
    }
    const SpikeTimes times = std::exchange(population.spike_times, {});
    SpikeLists::Lists steps;
    steps.reserve(times.size());
    for (std::size_t unit = 0; unit < times.size(); ++unit) {
        steps.push_back(spike_steps(times[unit], resolution_, population.name, unit));
    }
    population.spike_steps = std::move(steps);
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

ProjectionId Network::connect(ProjectionSpec projection) {
    const ProjectionId id{static_cast<std::uint32_t>(projections_.size())};
    const std::optional<double> synapses = checked_synapses(projection, id);
    projections_.push_back({std::move(projection), id});
    synapses_.push_back(synapses);
    return id;
}

Step Network::stride_of_targets(const ProjectionSpec& projection) const {
    Step stride = 0;
    for (const PopulationId id : populations_of(projection.targets)) {
        const Step stride_of_population = population(id).stride;
        if (stride == 0) stride = stride_of_population;
        if (stride_of_population == stride) continue;
        throw ValueOutOfBoundsError({.object = "targets of projection " + quoted(projection.name),
                                     .value = "steps of " + to_text(StepTimes(resolution_)(stride)) + " and " +
                                              to_text(StepTimes(resolution_)(stride_of_population)) + " ms",
                                     .bound = "all targets of a projection must have the same step",
                                     .remedy = "connect populations with different steps in separate calls"});
    }
    return std::max<Step>(stride, 1);
}

std::optional<double> Network::checked_synapses(ProjectionSpec& projection, ProjectionId id) const {
    check_ids(projection.sources, "sources");
    check_ids(projection.targets, "targets");
    if (projection.name.empty()) projection.name = name_of(projection.sources) + " to " + name_of(projection.targets);
    bound_expressions(projection);
    check_parameters(projection.synapse, projection.name);
    check_takes_input(projection.targets);
    check_ids(projection.synapse.modulators, "the transmitter of projection " + quoted(projection.name));
    check_receptors(*this, projection.targets, projection.receptor, "projection " + quoted(projection.name));
    const connect::SelectedRule rule = bind_rule_of(*this, projection, id);
    const auto& sampler = rule.sampler;
    check_sites(*this, projection.targets, projection.receptor, projection.site,
                "projection " + quoted(projection.name), &rule);
    check_weights(projection.weight, projection.name, projection.rule, *sampler);
    check_weight_bounds(*this, projection.targets, projection.receptor, projection.weight,
                        "weight of projection " + quoted(projection.name));
    check_counted_weights(*this, projection.targets, projection.receptor, projection.synapse, projection.name);
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
    check_per_synapse_values(projection.synapse, *sampler, projection.weight, resolution_, projection.name);
    return sampler->known_synapses();
}

void Network::set(ProjectionId id, ProjectionSpec changed) {
    if (id.value >= projections_.size()) {
        throw ValueOutOfBoundsError({.object = "projection",
                                     .value = "number " + std::to_string(id.value),
                                     .bound = "this network has " + std::to_string(projections_.size()),
                                     .remedy = "use projections of the same network"});
    }
    synapses_[id.value] = checked_synapses(changed, id);
    projections_[id.value] = {std::move(changed), id};
}

void Network::stimulate(StimulusSpec stimulus) {
    check(stimulus);
    stimuli_.push_back(std::move(stimulus));
}

void Network::set(std::size_t index, StimulusSpec changed) {
    if (index >= stimuli_.size()) {
        throw ValueOutOfBoundsError({.object = "stimulus",
                                     .value = "number " + std::to_string(index),
                                     .bound = "this network has " + std::to_string(stimuli_.size()),
                                     .remedy = "use stimuli of the same network"});
    }
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
    if (spec.model == nullptr) {
        throw ValueOutOfBoundsError({.object = "stimulator of a stimulus",
                                     .value = "none",
                                     .bound = "a stimulus has a stimulator",
                                     .remedy = "give one, as of models::find_stimulator_model"});
    }
    check_ids(spec.targets, "targets");
    check_takes_input(spec.targets);
    for (const PopulationId id : populations_of(spec.targets)) {
        const Population& population = this->population(id);
        if (spec.model->output != models::StimulatorOutput::current || population.model->takes_current) continue;
        throw ValueOutOfBoundsError({.object = "target population " + quoted(population.name),
                                     .value = "of the model " + quoted(population.model->name),
                                     .bound = "this model takes spikes but no current",
                                     .remedy = "use a stimulator that emits spikes"});
    }
    if (spec.name.empty()) spec.name = std::string(spec.model->name) + " of " + name_of(spec.targets);
    const std::uint64_t targets = spec.targets.size();
    const std::string stimulus = "stimulus " + quoted(spec.name);
    const NeuronsInSpace neurons{.space = described_space(), .network = this, .ids = spec.targets};
    for (auto& [name, value] : spec.parameters) bound_neurons(value, neurons, name + " of " + stimulus);
    bound_neurons(spec.weight, neurons, "weight of " + stimulus);
    check_numbers(*spec.model, spec.parameters, spec.sequences, targets, stimulus);
    check_values(spec.weight, "weight of " + stimulus, targets);
    check_magnitudes(spec.weight, "weight of " + stimulus);
    check_target_receptors(*this, spec, stimulus);
    if (!spec.delay) spec.delay = resolution_;
    check_delay(*spec.delay, resolution_, "delay of " + stimulus);
    try_stimulus(spec, resolution_);
    for (const PopulationId id : populations_of(spec.targets)) {
        if (population(id).stride > 1) try_stimulus(spec, population(id), step_of(population(id)));
    }
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

RecorderIndex Network::record_spikes(SpikeRecorderSpec recorder) {
    for (const IdSequence& ids : recorder.neurons) check_ids(ids, "recorded neurons");
    spike_recorders_.push_back(std::move(recorder));
    return spike_recorders_.size() - 1;
}

RecorderIndex Network::record_state(StateRecorderSpec recorder) {
    const auto& [neurons, variables, interval, at_compartments, outputs, by_neuron, readout, evaluation_bytes,
                 divided_evaluation_bytes] = recorder;
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
    if (outputs > 0 && variables.size() > 1) throw InternalError("a readout of several variables");
    for (const PopulationId id : populations_of(neurons)) {
        const models::NeuronModel& model = *population(id).model;
        std::vector<std::string_view> known;
        if (at_compartments && model.compartment_variables.empty()) {
            throw ValueOutOfBoundsError({.object = "neurons" + of_recorder + " at each compartment",
                                         .value = "population " + quoted(population(id).name),
                                         .bound = "its model, " + std::string(model.name) + ", has no compartments",
                                         .remedy = "record cells, or use record_state"});
        }
        append_names(at_compartments ? model.compartment_variables : model.variables, known);
        for (const std::string& variable : variables) {
            if (std::ranges::find(known, variable) != known.end()) continue;
            throw unknown_name(
                (at_compartments ? "variable of compartments of " : "variable of ") + std::string(model.name), variable,
                known);
        }
    }
    const Step steps = interval_steps(interval, neurons, "interval" + of_recorder, "record");
    state_recorders_.push_back({std::move(recorder), steps});
    return state_recorders_.size() - 1;
}

Step Network::interval_steps(double interval, const IdSequence& neurons, const std::string& object,
                             const std::string& verb) const {
    const Step steps = to_steps(interval, object);
    if (steps < 1) {
        throw ValueOutOfBoundsError({.object = object,
                                     .value = to_text(interval) + " ms",
                                     .bound = "it must be at least one step, " + to_text(resolution_) + " ms",
                                     .remedy = "raise it"});
    }
    for (const PopulationId id : populations_of(neurons)) {
        if (steps % population(id).stride == 0) continue;
        throw GridError(
            {.object = object,
             .value = to_text(interval) + " ms",
             .bound = "it must be a multiple of the step of population " + quoted(population(id).name) + ", " +
                      to_text(step_of(population(id))) + " ms",
             .remedy = "choose such an interval, or " + verb + " populations with different steps in separate calls"});
    }
    return steps;
}

std::size_t Network::add_field(FieldSpec field) {
    const auto& [cells, interval, courses, sigma, accuracy, potentials] = field;
    check_ids(cells, "cells");
    for (const PopulationId id : populations_of(cells)) {
        if (!population(id).model->compartment_variables.empty()) continue;
        throw ValueOutOfBoundsError(
            {.object = "neurons that a field acts on",
             .value = "population " + quoted(population(id).name),
             .bound = "its model, " + std::string(population(id).model->name) + ", has no compartments",
             .remedy = "choose detailed cells"});
    }
    const Step steps = interval_steps(interval, cells, "interval of a field on " + name_of(cells), "choose");
    for (const OutsideField& other : outside_fields_) {
        if (!courses.empty() || !other.couples() || cells.among(other.cells).empty()) continue;
        throw ValueOutOfBoundsError({.object = "coupled cells",
                                     .value = std::to_string(cells.among(other.cells)[0].value),
                                     .bound = "the cell is already coupled to others",
                                     .remedy = "couple all cells that act on each other in one call"});
    }
    static_cast<void>(models::FieldCourses(courses));
    outside_fields_.push_back({std::move(field), steps});
    return outside_fields_.size() - 1;
}

std::vector<std::size_t> Network::first_compartments(const IdSequence& neurons) const {
    std::vector<std::size_t> first{0};
    first.reserve(neurons.size() + 1);
    for (const PopulationId id : populations_of(neurons)) {
        const Population& of = population(id);
        const IdSequence ids = neurons.within(of.first, of.size);
        for (std::uint64_t i = 0; i < ids.size(); ++i) {
            first.push_back(first.back() + of.model->compartments(ids[i].value - of.first.value));
        }
    }
    return first;
}

const Population& Network::population(PopulationId id) const {
    if (id.value < populations_.size()) return populations_[id.value];
    throw ValueOutOfBoundsError({.object = "population",
                                 .value = "number " + std::to_string(id.value),
                                 .bound = "this network has " + std::to_string(populations_.size()),
                                 .remedy = "use populations of the same network"});
}

void Network::check_ids(const IdSequence& ids, std::string_view object) const {
    if (ids.empty()) return;
    const std::uint64_t last = ids.back().value;
    const auto fail = [&](std::string value, std::string bound) {
        throw ValueOutOfBoundsError({.object = "ids of " + std::string(object),
                                     .value = std::move(value),
                                     .bound = std::move(bound),
                                     .remedy = "use populations of the same network"});
    };
    if (!ids.is_progression()) {
        const std::span<const std::uint64_t> list = ids.list();
        const auto place = std::ranges::adjacent_find(list, std::greater_equal<>());
        if (place != list.end()) fail(std::to_string(*place), "they must ascend, each once");
    } else if (ids.stride() == 0 || ids.size() > most_units || ids.stride() > most_units) {
        fail(std::to_string(ids.size()), "there are fewer units");
    }
    if (last >= unit_count()) fail(std::to_string(last), "there are " + std::to_string(unit_count()) + " units");
}

void Network::check_takes_input(const IdSequence& targets) const {
    for (const PopulationId id : populations_of(targets)) {
        const Population& population = this->population(id);
        if (!population.model->is_source) continue;
        throw ValueOutOfBoundsError({.object = "target population " + quoted(population.name),
                                     .value = "of the model " + quoted(population.model->name),
                                     .bound = "this model takes no input",
                                     .remedy = "use it as a source only"});
    }
}

std::vector<PopulationId> Network::populations_of(const IdSequence& neurons) const {
    std::vector<PopulationId> found;
    if (neurons.empty() && !neurons.is_progression()) return found;
    const NeuronId first = neurons[0];
    auto population = std::ranges::partition_point(
        populations_, [&](const Population& earlier) { return earlier.first.value + earlier.size <= first.value; });
    for (; population != populations_.end(); ++population) {
        if (population->first > (neurons.empty() ? first : neurons.back())) break;
        if (neurons.empty() || !part_of(population->id, neurons).empty()) found.push_back(population->id);
    }
    return found;
}

IdSequence Network::part_of(PopulationId id, const IdSequence& neurons) const {
    const Population& whole = population(id);
    return neurons.within(whole.first, whole.size);
}

std::string Network::name_of(const IdSequence& neurons) const {
    std::string name;
    for (const PopulationId id : populations_of(neurons)) name += (name.empty() ? "" : " + ") + population(id).name;
    return name.empty() ? "nothing" : name;
}

std::uint64_t Network::unit_count() const {
    return populations_.empty() ? 0 : populations_.back().first.value + populations_.back().size;
}

std::uint64_t Network::neuron_count() const {
    std::uint64_t count = 0;
    for (const Population& population : populations_) count += population.model->is_source ? 0 : population.size;
    return count;
}

std::shared_ptr<const connect::Positions> Network::located(const Population& population, std::uint64_t seed,
                                                           const std::function<void()>& poll) {
    return connect::located(population.positions, population.size,
                            make_key(seed, Purpose::position, population.id.value), population.name, poll);
}

std::shared_ptr<const connect::Space> Network::described_space() const {
    std::vector<connect::Space::Part> parts;
    parts.reserve(populations_.size());
    for (const Population& each : populations_) {
        parts.push_back({.first = each.first, .size = each.size, .positions = each.positions});
    }
    return std::make_shared<const connect::Space>(std::move(parts));
}

std::shared_ptr<const connect::Space> Network::space() const {
    if (std::ranges::all_of(populations_, [](const Population& each) { return each.positions == nullptr; })) {
        return nullptr;
    }
    if (space_ != nullptr) return space_;
    std::vector<connect::Space::Part> parts;
    parts.reserve(populations_.size());
    for (const Population& each : populations_) {
        parts.push_back({.first = each.first,
                         .size = each.size,
                         .positions = each.located,
                         .key = make_key(seed_, Purpose::position, each.id.value)});
    }
    space_ = std::make_shared<const connect::Space>(std::move(parts));
    return space_;
}

connect::Matrix Network::rotation(NeuronId neuron) const {
    const auto after = std::ranges::upper_bound(
        populations_, neuron, [](NeuronId a, NeuronId b) { return a < b; }, &Population::first);
    const Population& found = *(after - 1);
    static const connect::Rotations none;
    return (found.rotations ? *found.rotations : none)
        .at(neuron.value - found.first.value, make_key(seed_, Purpose::rotation, found.id.value));
}

std::uint64_t Network::array_bytes() const {
    ArrayBytes bytes;
    for (const Population& population : populations_) {
        bytes.add_fields<PopulationSpec>(population);
        bytes.add(population.spike_steps);
        if (population.located != population.positions) bytes.add(population.located);
    }
    for (const Projection& projection : projections_) bytes.add_fields<ProjectionSpec>(projection);
    for (const StimulusSpec& stimulus : stimuli_) bytes.add_fields(stimulus);
    for (const OutsideField& field : outside_fields_) bytes.add_fields<FieldSpec>(field);
    return bytes.sum();
}

double Network::expected_synapses() const {
    double sum = 0.0;
    for (const Projection& projection : projections_) sum += expected_synapses(projection.id);
    return sum;
}

double Network::expected_synapses(ProjectionId id) const {
    std::optional<double>& synapses = synapses_[id.value];
    if (!synapses) synapses = bind_rule_of(*this, projections_[id.value], id).sampler->expected_synapses();
    return *synapses;
}

Step Network::to_steps(double milliseconds, std::string_view object) const {
    if (const auto steps = steps_on_grid(milliseconds, resolution_)) return *steps;
    throw grid_error(milliseconds, resolution_, std::string(object));
}

}  // namespace ranvier::network
