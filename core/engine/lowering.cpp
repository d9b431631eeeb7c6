#include "engine/lowering.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "base/errors.hpp"
#include "engine/value_checks.hpp"

namespace ranvier::engine {

namespace {

/// Headroom for weights that are set while a simulation runs, unless the user gave a bound.
constexpr double default_weight_headroom = 64.0;
/// Inputs that may always arrive in one step at one receptor, whatever the in-degree.
constexpr double least_simultaneous_inputs = 4096.0;
/// In-degrees that are drawn scatter around their mean.
constexpr double degree_headroom = 4.0;

// Objects of random keys: the things that have values of their own must not share a key.
constexpr std::uint64_t variable_keys = std::uint64_t{1} << 16;
constexpr std::uint64_t objects_per_population = std::uint64_t{1} << 20;
constexpr std::uint64_t stimulus_keys = std::uint64_t{1} << 60;

/// The values of some neurons; `first` is the id of the neuron whose value is the first one.
models::GroupValues local_values(const Values& values, RandomKey key, const IdSequence& ids, NeuronId first) {
    models::GroupValues local;
    if (const auto* number = std::get_if<double>(&values)) {
        local.values = {*number};
        return local;
    }
    local.values.resize(ids.size());
    for (std::uint64_t i = 0; i < ids.size(); ++i) {
        const std::uint64_t index = ids[i].value - first.value;
        local.values[i] = std::holds_alternative<Distribution>(values)
                              ? std::get<Distribution>(values).draw(key, index, 0)
                              : std::get<SharedArray>(values)[index];
    }
    // The rule for reading GroupValues is that one value stands for all.
    if (ids.empty()) local.values = {0.0};
    return local;
}

connect::SynapseValues lower_values(const Values& values, RandomKey key) {
    if (const auto* number = std::get_if<double>(&values)) return {*number, key};
    if (const auto* array = std::get_if<SharedArray>(&values)) return {*array, key};
    return {std::get<Distribution>(values), key};
}

/// Weights with fewer than this many points of the grid between them and zero have lost digits that somebody may miss.
constexpr double least_points = 1024.0;

double largest_absolute(const Values& values) {
    const auto [least, greatest] = range_of(values);
    return std::max(std::abs(least), std::abs(greatest));
}

}  // namespace

LoweredNetwork::LoweredNetwork(const Network& network) : network_(&network) {
    for (const Population& population : network.populations()) ranges_.push_back({population.first, population.size});
    lower_projections();
    choose_grids();
}

void LoweredNetwork::lower_projections() {
    shortest_delay_ = std::numeric_limits<std::int32_t>::max();
    const double steps_per_millisecond = 1.0 / network_->resolution();
    for (const Projection& projection : network_->projections()) {
        const Population& sources = network_->population(projection.sources.population);
        const Population& targets = network_->population(projection.targets.population);
        connect::ProjectionPlan plan;
        plan.id = projection.id;
        plan.pairs = {NeuronId{sources.first.value + projection.sources.begin}, projection.sources.size(),
                      NeuronId{targets.first.value + projection.targets.begin}, projection.targets.size()};
        plan.target_population = projection.targets.population;
        plan.sampler = connect::bind_rule(projection.rule, plan.pairs, network_->seed(), projection.id);
        plan.weights =
            lower_values(projection.weight, make_key(network_->seed(), Purpose::weight, projection.id.value));
        plan.delays = lower_values(projection.delay, make_key(network_->seed(), Purpose::delay, projection.id.value));
        plan.receptors = static_cast<std::uint32_t>(targets.model->receptors.size());
        if (plan.pairs.sources > 0 && plan.pairs.targets > 0) {
            shortest_delay_ =
                std::min<Step>(shortest_delay_, connect::round_delay(plan.delays.least(), steps_per_millisecond));
        }
        plans_.push_back(std::move(plan));
    }
}

std::uint64_t LoweredNetwork::array_bytes() const {
    std::uint64_t bytes = network_->array_bytes();
    for (const connect::ProjectionPlan& plan : plans_) bytes += plan.sampler->bytes();
    return bytes;
}

void LoweredNetwork::choose_grids() {
    const std::size_t populations = ranges_.size();
    std::vector<double> largest(2 * populations, 0.0);
    std::vector<double> inputs(2 * populations, 0.0);
    for (const connect::ProjectionPlan& plan : plans_) {
        const Projection& projection = network_->projections()[plan.id.value];
        const double bound = projection.weight_bound > 0.0
                                 ? projection.weight_bound
                                 : default_weight_headroom * largest_absolute(projection.weight);
        // Only a list can put most of its synapses on one target.
        const double degree = projection.rule.name == "explicit"
                                  ? plan.sampler->expected_synapses()
                                  : degree_headroom * plan.sampler->expected_synapses() /
                                        static_cast<double>(std::max<std::uint64_t>(plan.pairs.targets, 1));
        for (std::uint32_t receptor = 0; receptor < 2; ++receptor) {
            const std::size_t slot = plan.target_population.value * 2 + receptor;
            largest[slot] = std::max(largest[slot], bound);
            inputs[slot] += degree;
        }
    }
    for (const StimulusSpec& stimulus : network_->stimuli()) {
        if (stimulus.model->output != models::StimulatorOutput::spikes) continue;
        for (std::uint32_t receptor = 0; receptor < 2; ++receptor) {
            const std::size_t slot = stimulus.targets.population.value * 2 + receptor;
            largest[slot] = std::max(largest[slot], default_weight_headroom * largest_absolute(stimulus.weight));
        }
    }
    for (std::size_t slot = 0; slot < 2 * populations; ++slot) {
        grids_.emplace_back(largest[slot], std::max(inputs[slot], least_simultaneous_inputs));
    }
    for (const Projection& projection : network_->projections()) {
        check_grid("weights of projection '" + projection.name + "'", projection.weight, projection.targets.population);
    }
    for (const StimulusSpec& stimulus : network_->stimuli()) {
        if (stimulus.model->output != models::StimulatorOutput::spikes) continue;
        check_grid("weights of stimulus '" + stimulus.name + "'", stimulus.weight, stimulus.targets.population);
    }
    for (connect::ProjectionPlan& plan : plans_) {
        for (std::uint32_t receptor = 0; receptor < 2; ++receptor) {
            plan.grids[receptor] = grid(plan.target_population, receptor);
        }
    }
}

void LoweredNetwork::check_grid(const std::string& object, const Values& weight, PopulationId target) const {
    const double largest = largest_absolute(weight);
    const double spacing = grid(target, 0).spacing();
    if (largest == 0.0 || largest >= least_points * spacing) return;
    throw ValueOutOfBoundsError(
        {.object = object,
         .value = "at most " + to_text(largest),
         .bound = "other weights onto '" + network_->population(target).name + "' may be " +
                  to_text(grid(target, 0).largest_weight()) + ", beside which sums keep only multiples of " +
                  to_text(spacing),
         .remedy = "bring the weights closer together, or give the larger ones a weight_bound that is not above them"});
}

std::vector<models::GroupValues> LoweredNetwork::parameters(const Population& population,
                                                            const IdSequence& neurons) const {
    std::vector<models::GroupValues> values;
    for (std::size_t i = 0; i < population.model->parameters.size(); ++i) {
        const models::ParameterInfo& info = population.model->parameters[i];
        const auto given = population.parameters.find(info.name);
        const RandomKey key =
            make_key(network_->seed(), Purpose::parameter, population.id.value * objects_per_population + i);
        values.push_back(given == population.parameters.end()
                             ? models::GroupValues{{info.default_value}}
                             : local_values(given->second, key, neurons, population.first));
    }
    return values;
}

std::vector<models::GroupValues> LoweredNetwork::variables(const Population& population, const IdSequence& neurons,
                                                           std::span<const models::GroupValues> parameters) const {
    std::vector<models::GroupValues> values;
    for (std::size_t i = 0; i < population.model->variables.size(); ++i) {
        const models::VariableInfo& info = population.model->variables[i];
        if (const auto given = population.variables.find(info.name); given != population.variables.end()) {
            const RandomKey key = make_key(network_->seed(), Purpose::parameter,
                                           population.id.value * objects_per_population + variable_keys + i);
            values.push_back(local_values(given->second, key, neurons, population.first));
            continue;
        }
        models::GroupValues initial{{0.0}};
        for (std::size_t k = 0; k < population.model->parameters.size(); ++k) {
            if (population.model->parameters[k].name == info.initial_parameter) initial = parameters[k];
        }
        values.push_back(std::move(initial));
    }
    return values;
}

NeuronId LoweredNetwork::first_target(std::size_t stimulus) const {
    const StimulusSpec& spec = network_->stimuli()[stimulus];
    return NeuronId{network_->population(spec.targets.population).first.value + spec.targets.begin};
}

std::vector<models::GroupValues> LoweredNetwork::parameters(std::size_t stimulus, const IdSequence& targets) const {
    const StimulusSpec& spec = network_->stimuli()[stimulus];
    const NeuronId first = first_target(stimulus);
    std::vector<models::GroupValues> values;
    for (std::size_t i = 0; i < spec.model->parameters.size(); ++i) {
        const models::ParameterInfo& info = spec.model->parameters[i];
        const auto given = spec.parameters.find(info.name);
        const RandomKey key =
            make_key(network_->seed(), Purpose::parameter, stimulus_keys + stimulus * objects_per_population + i);
        values.push_back(given == spec.parameters.end() ? models::GroupValues{{info.default_value}}
                                                        : local_values(given->second, key, targets, first));
    }
    return values;
}

models::GroupValues LoweredNetwork::weights(std::size_t stimulus, const IdSequence& targets) const {
    const StimulusSpec& spec = network_->stimuli()[stimulus];
    models::GroupValues values = local_values(
        spec.weight, make_key(network_->seed(), Purpose::stimulus_weight, stimulus), targets, first_target(stimulus));
    if (spec.model->output == models::StimulatorOutput::spikes) {
        const connect::WeightGrid& grid = this->grid(spec.targets.population, receptor(stimulus));
        for (double& weight : values.values) weight = grid.round(weight);
    }
    return values;
}

std::uint32_t LoweredNetwork::receptor(std::size_t stimulus) const {
    const StimulusSpec& spec = network_->stimuli()[stimulus];
    const Population& targets = network_->population(spec.targets.population);
    // A current goes to no receptor, so that its weights may have both signs.
    if (spec.model->output == models::StimulatorOutput::current || targets.model->receptors.size() == 1) return 0;
    const auto [least, greatest] = range_of(spec.weight);
    if (least < 0.0 && greatest > 0.0) {
        throw ValueOutOfBoundsError(
            {.object = "weights of a " + std::string(spec.model->name) + " for '" + targets.name + "'",
             .value = "from " + to_text(least) + " to " + to_text(greatest),
             .bound = "all weights of a stimulus must have one sign, since it goes to one receptor",
             .remedy = "give two stimuli, or bounds to the distribution"});
    }
    return least < 0.0 ? 1 : 0;
}

}  // namespace ranvier::engine
