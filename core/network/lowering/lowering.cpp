#include "network/lowering/lowering.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "network/expression_bounds.hpp"
#include "network/network_checks.hpp"
#include "network/projection_rule.hpp"
#include "network/receptor_choice.hpp"
#include "network/site_choice.hpp"
#include "network/value_checks.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::network {

namespace {

// Offsets of the objects of random keys: objects with separate draws must not share a key.
constexpr std::uint64_t variable_keys = std::uint64_t{1} << 16;
constexpr std::uint64_t objects_per_population = std::uint64_t{1} << 20;
constexpr std::uint64_t most_parameters = std::uint64_t{1} << 8;  // of a synapse model
constexpr std::uint64_t stimulus_keys = std::uint64_t{1} << 60;

/// The draw for an object after a step: the number of the step is the position in the stream of the object.
double draw_at(const Distribution& distribution, RandomKey key, std::uint64_t thing, Step step) {
    const auto number = static_cast<std::uint64_t>(step);
    if (number >> 32 != 0) key = make_key(key.low | std::uint64_t{key.high} << 32, Purpose::parameter, number >> 32);
    return distribution.draw(key, thing, static_cast<std::uint32_t>(number));
}

/// The values of some neurons of a population of `all`; `step` is the step after which they were given.
models::GroupValues local_values(const Values& values, RandomKey key, const IdSequence& ids, const IdSequence& all,
                                 const connect::Space* space, Step step = 0) {
    models::GroupValues local;
    if (const auto* number = std::get_if<double>(&values)) {
        local.values = {*number};
        return local;
    }
    // GroupValues are never empty: one value applies to all.
    if (ids.empty()) {
        local.values = {0.0};
        return local;
    }
    if (const auto* expression = std::get_if<ExpressionValues>(&values)) {
        const std::vector<double> made = evaluate_neurons(*expression->function, space, all, ids, key, step);
        local.values.assign(made.begin(), made.end());
        return local;
    }
    local.values.resize(ids.size());
    for (std::uint64_t i = 0; i < ids.size(); ++i) {
        const std::uint64_t index = all.count_below(ids[i]);
        local.values[i] = std::holds_alternative<Distribution>(values)
                              ? draw_at(std::get<Distribution>(values), key, index, step)
                              : std::get<SharedArray>(values)[index];
    }
    return local;
}

/// Lowers values of the synapses of projections.
class SynapseLowering {
   public:
    SynapseLowering(const Projection& projection, const connect::PairSpace& pairs,
                    std::shared_ptr<const connect::Space> space)
        : projection_(projection), pairs_(pairs), space_(std::move(space)) {}

    struct Use {
        bool is_whole = false;
        bool is_reversed = false;  ///< the value of the synapse from the target to the source
    };

    connect::SynapseValues values(const Values& values, RandomKey key, Use use) {
        if (const auto* number = std::get_if<double>(&values)) return {*number, key};
        if (const auto* array = std::get_if<SharedArray>(&values)) return {*array, key};
        if (const auto* distribution = std::get_if<Distribution>(&values)) return {*distribution, key, use.is_whole};
        const auto& expression = std::get<ExpressionValues>(values);
        needs_positions_ = needs_positions_ || expression.function->is_spatial();
        return {connect::SynapseExpression{.function = expression.function,
                                           .least = expression.least.value,
                                           .greatest = expression.greatest.value,
                                           .is_reversed = use.is_reversed},
                key, use.is_whole};
    }

    /// The parameters that differ between the synapses.
    std::vector<connect::SynapseValues> parameters(std::uint64_t seed) {
        std::vector<connect::SynapseValues> lowered;
        for (const std::uint32_t i : projection_.synapse.per_synapse_parameters()) {
            // A parameter that follows another one uses the draws of that parameter.
            const RandomKey key = make_key(seed, Purpose::synapse_parameter,
                                           projection_.id.value * most_parameters + projection_.synapse.source_of(i));
            lowered.push_back(values(projection_.synapse.per_synapse_values(i), key,
                                     {.is_whole = projection_.synapse.model->parameters[i].is_whole}));
        }
        return lowered;
    }

    /// What the expressions among all values need.
    connect::PairNeurons neurons() const {
        connect::PairNeurons made{.positions = nullptr,
                                  .sources = projection_.sources,
                                  .targets = projection_.targets,
                                  .first_source = pairs_.first_source,
                                  .first_target = pairs_.first_target};
        if (needs_positions_) {
            made.positions = connect::pair_positions(space_, projection_.sources, projection_.targets,
                                                     "projection " + quoted(projection_.name));
        }
        return made;
    }

   private:
    const Projection& projection_;
    const connect::PairSpace& pairs_;
    std::shared_ptr<const connect::Space> space_;
    bool needs_positions_ = false;
};

/// Maximum number of spikes of a unit in a step: the multiplicity of the most frequent time of its list.
std::uint32_t most_repeated(const Population& population, const IdSequence& units) {
    if (!population.model->plays_spikes) return population.model->most_spikes;
    std::size_t most = 1;
    for (std::uint64_t i = 0; i < units.size(); ++i) {
        const std::vector<Step>& steps = population.spike_steps[units[i].value - population.first.value];
        for (std::size_t begin = 0, end = 0; begin < steps.size(); begin = end) {
            while (end < steps.size() && steps[end] == steps[begin]) ++end;
            most = std::max(most, end - begin);
        }
    }
    return static_cast<std::uint32_t>(std::min<std::size_t>(most, std::numeric_limits<std::uint32_t>::max()));
}

/// The distinct pairs of a synapse model and its shared parameters, numbered from 1; 0 is the static synapse.
struct SynapseSets {
    std::vector<std::shared_ptr<const connect::SynapseDynamics>> dynamics;
    std::vector<ProjectionId> projections;  ///< the first projection of each
    /// Includes the parameters that differ between synapses, the projection id plus one if synapses draw random
    /// numbers, and the neurons of a transmitter. Equal user-defined models are recognised by their fingerprint.
    using Key = std::tuple<const models::SynapseModel*, std::uint64_t, std::vector<double>, std::vector<std::uint32_t>,
                           std::uint64_t, std::vector<std::uint64_t>>;
    std::map<Key, std::uint32_t> numbers;

    std::uint32_t number(const SynapseSpec& synapse, ProjectionId projection, const Network& network) {
        if (synapse.is_static()) return 0;
        const std::vector<double> values = synapse.values();
        const auto next = static_cast<std::uint32_t>(dynamics.size() + 1);
        const std::uint64_t separate_projection = synapse.model->is_random ? projection.value + std::uint64_t{1} : 0;
        const bool is_of_user = synapse.model->user != nullptr;
        const IdSequence& modulators = synapse.modulators;
        std::vector<std::uint64_t> ids(modulators.size());
        modulators.copy(0, ids);
        const std::vector<std::uint32_t> parameters = synapse.per_synapse_parameters();
        std::unique_ptr<connect::SynapseDynamics> created = synapse.make_dynamics(network.resolution());
        // Sums have room for weights up to the greatest bound of the projections that share tables, so it is part of
        // the key.
        const auto bound = created->bound_parameter();
        std::vector<double> shared = values;
        for (const std::uint32_t i : parameters) {
            if (i != bound) shared[i] = 0.0;
        }
        if (is_of_user) {
            // Any of them may bound weights.
            for (const auto& [least, greatest] : synapse.per_synapse_ranges()) {
                shared.push_back(least);
                shared.push_back(greatest);
            }
        }
        const auto [place, is_new] =
            numbers.try_emplace({is_of_user ? nullptr : synapse.model, synapse.model->user_fingerprint,
                                 std::move(shared), parameters, separate_projection, std::move(ids)},
                                next);
        if (!is_new) return place->second;
        projections.push_back(projection);
        if (!modulators.empty()) {
            const double delay = transmitter_delay(synapse);
            created->use_transmitter({modulators, connect::round_delay(delay, 1.0 / network.resolution())});
        }
        created->use_key(make_key(network.seed(), Purpose::release, projection.value));
        dynamics.push_back(std::move(created));
        return place->second;
    }
};

/// See NetworkPlan::sites.
std::vector<std::vector<std::uint32_t>> lower_inputs(const Network& network, std::uint32_t receptors) {
    std::vector<std::vector<std::uint32_t>> inputs(receptors);
    for (std::uint32_t receptor = 0; receptor < receptors; ++receptor) {
        bool has_sites = false;
        std::vector<std::uint32_t> most_sites;
        for (const Population& population : network.populations()) {
            const bool has_receptor = receptor < population.model->receptors.size();
            most_sites.push_back(has_receptor ? population.model->sites_at(receptor).most : 0);
            has_sites = has_sites || most_sites.back() > 1;
        }
        if (has_sites) inputs[receptor] = std::move(most_sites);
    }
    return inputs;
}

std::uint32_t times_saturated(std::uint32_t number, std::uint64_t factor) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(number * factor, UINT32_MAX));
}

Step step_of_change(const StimulusSpec& spec, std::string_view name) {
    const auto found = spec.changed_at.find(name);
    return found == spec.changed_at.end() ? 0 : found->second;
}

}  // namespace

LoweredNetwork::LoweredNetwork(const Network& network) : network_(&network), space_(network.space()) {
    for (const Population& population : network.populations()) {
        ranges_.push_back({population.first, population.size});
        receptors_ = std::max(receptors_, static_cast<std::uint32_t>(population.model->receptors.size()));
    }
    lower_projections();
}

void LoweredNetwork::lower_projections() {
    shortest_delay_ = std::numeric_limits<std::int32_t>::max();
    std::vector<connect::ProjectionPlan> plans;
    std::vector<connect::KindChoice> kinds;
    SynapseSets synapses;
    for (const Projection& projection : network_->projections()) {
        connect::ProjectionPlan plan;
        plan.id = projection.id;
        connect::SelectedRule selected = bind_rule_of(*network_, projection, projection.id);
        plan.pairs = std::move(selected.hull);
        plan.sources = selected.sources;
        plan.sampler = selected.sampler;
        samplers_.push_back(std::move(selected.sampler));
        plan.target_populations = network_->populations_of(projection.targets);
        const std::optional<connect::Reversal>& reversal = projection.rule.reversal();
        const bool same_weights = reversal && reversal->same_weights;
        const bool same_delays = reversal && reversal->same_delays;
        const RandomKey key_of_weights =
            make_key(network_->seed(), Purpose::weight, (same_weights ? reversal->of : projection.id).value);
        const RandomKey key_of_delays =
            make_key(network_->seed(), Purpose::delay, (same_delays ? reversal->of : projection.id).value);
        SynapseLowering synapse_values(projection, plan.pairs, space_);
        plan.weights = synapse_values.values(projection.weight, key_of_weights, {.is_reversed = same_weights});
        plan.weight_bound = projection.weight_bound;
        plan.delays = synapse_values.values(projection.delay, key_of_delays, {.is_reversed = same_delays});
        plan.parameters = synapse_values.parameters(network_->seed());
        plan.neurons = synapse_values.neurons();
        plan.sites = lower_sites(*network_, projection);
        ReceptorChoice receptors;
        // The same for all targets.
        for (const PopulationId id : plan.target_populations) {
            receptors = choose_receptors(*network_->population(id).model, projection.receptor);
        }
        const std::uint32_t synapse = synapses.number(projection.synapse, projection.id, *network_);
        kinds.push_back({.positive = {.receptor = receptors.positive, .synapse = synapse},
                         .negative = {.receptor = receptors.negative, .synapse = synapse}});
        for (const PopulationId id : network_->populations_of(projection.sources)) {
            const Population& sources = network_->population(id);
            const IdSequence played = network_->part_of(id, projection.sources);
            plan.most_spikes = std::max(plan.most_spikes, most_repeated(sources, played));
        }
        for (const PopulationId id : plan.target_populations) {
            const Population& targets = network_->population(id);
            plan.delay_grid = {.steps_per_millisecond = 1.0 / network_->step_of(targets),
                               .stride = static_cast<DelaySteps>(targets.stride)};
        }
        plan.most_spikes = times_saturated(plan.most_spikes, spikes_at_once(projection));
        if (plan.pairs.sources > 0 && plan.pairs.targets > 0) {
            shortest_delay_ =
                std::min<Step>(shortest_delay_, connect::round_delay(plan.delays.least(), plan.delay_grid));
        }
        plans.push_back(std::move(plan));
    }
    for (const auto& dynamics : synapses.dynamics) {
        const connect::Transmitter* const transmitter = dynamics->transmitter();
        if (transmitter != nullptr) shortest_delay_ = std::min<Step>(shortest_delay_, transmitter->delay);
    }
    plan_ = connect::make_network_plan(std::move(plans), kinds);
    plan_.dynamics = std::move(synapses.dynamics);
    plan_.sites = lower_inputs(*network_, receptors_);
    synapses_ = std::move(synapses.projections);
}

const SynapseSpec& LoweredNetwork::synapse(connect::KindIndex kind) const {
    static const SynapseSpec static_synapse;
    const std::uint32_t number = plan_.kinds[kind.value].synapse;
    return number == 0 ? static_synapse : network_->projections()[synapses_[number - 1].value].synapse;
}

std::uint64_t LoweredNetwork::growth_of_bursts(const Population& changed, std::uint32_t receptor) const {
    std::uint64_t growth = 1;
    for (const connect::ProjectionPlan& plan : plan_.projections) {
        const IdSequence played = network_->part_of(changed.id, network_->projections()[plan.id.value].sources);
        if (played.empty() || !plan_.feeds_receptor(plan, receptor)) continue;
        const std::uint64_t before = plan.most_spikes;
        const std::uint64_t after =
            most_repeated(changed, played) * spikes_at_once(network_->projections()[plan.id.value]);
        growth = std::max(growth, (after + before - 1) / before);
    }
    return growth;
}

void LoweredNetwork::count_bursts(PopulationId population) {
    for (connect::ProjectionPlan& plan : plan_.projections) {
        const IdSequence played = network_->part_of(population, network_->projections()[plan.id.value].sources);
        if (played.empty()) continue;
        // The sums have room for the previous values, too.
        const std::uint64_t at_once = spikes_at_once(network_->projections()[plan.id.value]);
        const std::uint32_t repeated = most_repeated(network_->population(population), played);
        plan.most_spikes = std::max(plan.most_spikes, times_saturated(repeated, at_once));
    }
}

/// Maximum number of steps of the sources that end within one step of the targets.
std::uint64_t LoweredNetwork::spikes_at_once(const Projection& projection) const {
    Step most = 1;
    for (const PopulationId target : network_->populations_of(projection.targets)) {
        for (const PopulationId source : network_->populations_of(projection.sources)) {
            const Step stride = network_->population(source).stride;
            most = std::max(most, (network_->population(target).stride + stride - 1) / stride);
        }
    }
    return static_cast<std::uint64_t>(most);
}

std::uint64_t LoweredNetwork::array_bytes() const {
    std::uint64_t bytes = network_->array_bytes();
    for (const connect::ProjectionPlan& plan : plan_.projections) bytes += plan.sampler->bytes();
    return bytes;
}

void LoweredNetwork::draw_for(const IdSequence& neurons, bool all) {
    indexes_ = std::make_unique<connect::ProcessIndexes>(space_, all ? std::nullopt : std::optional(neurons));
    for (const auto& sampler : samplers_) sampler->use(*indexes_);
    // That of all neurons, of the description.
    if (!all && space_ != nullptr) space_->forget_index();
}

void LoweredNetwork::free_indexes() {
    connect::ProcessIndexes unused(space_, indexes_->neurons());
    for (const auto& sampler : samplers_) sampler->use(unused);
    indexes_ = nullptr;
    if (space_ != nullptr) space_->forget_index();
}

double LoweredNetwork::weight_bound(PopulationId population, std::uint32_t receptor) const {
    double bound = 0.0;
    for (const connect::ProjectionPlan& plan : plan_.projections) {
        if (!plan.reaches(population) || !plan_.feeds_receptor(plan, receptor)) continue;
        const double weight_bound = network_->projections()[plan.id.value].weight_bound;
        if (weight_bound == 0.0) return largest_weight;
        bound = std::max(bound, weight_bound);
    }
    return bound;
}

std::vector<models::GroupValues> LoweredNetwork::parameters(const Population& population,
                                                            const IdSequence& neurons) const {
    const IdSequence all(population.first, 1, population.size);
    std::vector<models::GroupValues> values;
    for (std::size_t i = 0; i < population.model->parameters.size(); ++i) {
        const models::ParameterInfo& info = population.model->parameters[i];
        const auto given = population.values.find(info.name);
        const RandomKey key =
            make_key(network_->seed(), Purpose::parameter, population.id.value * objects_per_population + i);
        values.push_back(given == population.values.end()
                             ? models::GroupValues{{info.default_value}}
                             : local_values(given->second, key, neurons, all, space_.get()));
    }
    return values;
}

std::vector<models::GroupValues> LoweredNetwork::variables(const Population& population, const IdSequence& neurons,
                                                           std::span<const models::GroupValues> parameters) const {
    const IdSequence all(population.first, 1, population.size);
    std::vector<models::GroupValues> values;
    for (std::size_t i = 0; i < population.model->variables.size(); ++i) {
        const models::VariableInfo& info = population.model->variables[i];
        if (const auto given = population.values.find(info.name); given != population.values.end()) {
            const RandomKey key = make_key(network_->seed(), Purpose::parameter,
                                           population.id.value * objects_per_population + variable_keys + i);
            values.push_back(local_values(given->second, key, neurons, all, space_.get()));
            continue;
        }
        models::GroupValues initial{{info.initial_value}};
        for (std::size_t k = 0; k < population.model->parameters.size(); ++k) {
            if (population.model->parameters[k].name == info.initial_parameter) initial = parameters[k];
        }
        values.push_back(std::move(initial));
    }
    return values;
}

std::vector<double> LoweredNetwork::values_at(const Population& population, bool is_parameter, std::size_t number,
                                              const Values& value, std::span<const std::uint64_t> indices,
                                              std::span<const std::size_t> places, Step now) const {
    const RandomKey key =
        make_key(network_->seed(), Purpose::parameter,
                 population.id.value * objects_per_population + (is_parameter ? 0 : variable_keys) + number);
    if (const auto* const expression = std::get_if<ExpressionValues>(&value)) {
        std::vector<std::uint64_t> ids;
        for (const std::size_t place : places) ids.push_back(population.first.value + indices[place]);
        const std::size_t count = ids.size();
        return evaluate_neurons(*expression->function, space_.get(), {population.first, 1, population.size},
                                {std::make_shared<const std::vector<std::uint64_t>>(std::move(ids)), 0, count}, key,
                                now);
    }
    std::vector<double> values;
    values.reserve(places.size());
    for (const std::size_t place : places) {
        if (const auto* one = std::get_if<double>(&value)) {
            values.push_back(*one);
        } else if (const auto* array = std::get_if<SharedArray>(&value)) {
            values.push_back((*array)[place]);
        } else {
            values.push_back(draw_at(std::get<Distribution>(value), key, indices[place], now));
        }
    }
    return values;
}

std::vector<models::GroupValues> LoweredNetwork::parameters(std::size_t stimulus, const IdSequence& targets) const {
    const StimulusSpec& spec = network_->stimuli()[stimulus];
    std::vector<models::GroupValues> values;
    for (std::size_t i = 0; i < spec.model->parameters.size(); ++i) {
        const models::ParameterInfo& info = spec.model->parameters[i];
        const auto given = spec.parameters.find(info.name);
        const RandomKey key =
            make_key(network_->seed(), Purpose::parameter, stimulus_keys + stimulus * objects_per_population + i);
        values.push_back(given == spec.parameters.end() ? models::GroupValues{{info.default_value}}
                                                        : local_values(given->second, key, targets, spec.targets,
                                                                       space_.get(), step_of_change(spec, info.name)));
    }
    return values;
}

models::GroupValues LoweredNetwork::weights(std::size_t stimulus, const IdSequence& targets) const {
    const StimulusSpec& spec = network_->stimuli()[stimulus];
    models::GroupValues values =
        local_values(spec.weight, make_key(network_->seed(), Purpose::stimulus_weight, stimulus), targets, spec.targets,
                     space_.get(), step_of_change(spec, "weight"));
    for (double& weight : values.values) weight += 0.0;  // turns -0.0 into 0.0; see models::UpdateArguments
    return values;
}

std::uint32_t LoweredNetwork::receptor(std::size_t stimulus, const Population& targets) const {
    const StimulusSpec& spec = network_->stimuli()[stimulus];
    // Currents have no receptor, so that their weights may have both signs.
    if (spec.model->output == models::StimulatorOutput::current) return 0;
    const ReceptorChoice receptors = choose_receptors(*targets.model, spec.receptor);
    if (!receptors.by_sign()) return receptors.positive;
    const auto [least, greatest] = range_of(spec.weight);
    if (least < 0.0 && greatest > 0.0) {
        throw ValueOutOfBoundsError(
            {.object = "weights of a " + std::string(spec.model->name) + " for '" + targets.name + "'",
             .value = "from " + to_text(least) + " to " + to_text(greatest),
             .bound = "all weights of a stimulus must have one sign, since it goes to one receptor",
             .remedy = "make two stimuli, or restrict the distribution with low= or high="});
    }
    return least < 0.0 ? receptors.negative : receptors.positive;
}

std::uint32_t LoweredNetwork::electrode(std::size_t stimulus, const Population& targets) const {
    const std::string& name = network_->stimuli()[stimulus].electrode;
    const auto electrodes = targets.model->electrodes;
    const auto found = std::ranges::find(electrodes, name);
    return name.empty() ? 0 : static_cast<std::uint32_t>(found - electrodes.begin());
}

std::vector<bool> LoweredNetwork::stimulated_electrodes(const connect::ShardLayout& shard,
                                                        const Population& population) const {
    std::vector<bool> stimulated(population.model->electrode_count(), false);
    const IdSequence& local = shard.share(population.id).ids;
    for (std::size_t i = 0; i < network_->stimuli().size(); ++i) {
        const StimulusSpec& spec = network_->stimuli()[i];
        if (spec.model->output != models::StimulatorOutput::current) continue;
        if (!local.among(spec.targets).empty()) stimulated[electrode(i, population)] = true;
    }
    return stimulated;
}

std::vector<bool> LoweredNetwork::stimulated_receptors(const connect::ShardLayout& shard) const {
    std::vector<bool> stimulated(receptors_, false);
    for (const StimulusSpec& spec : network_->stimuli()) {
        if (spec.model->output == models::StimulatorOutput::current) continue;
        for (const PopulationId id : network_->populations_of(spec.targets)) {
            if (shard.share(id).ids.among(spec.targets).empty()) continue;
            const ReceptorChoice receptors = choose_receptors(*network_->population(id).model, spec.receptor);
            stimulated[receptors.positive] = true;
            stimulated[receptors.negative] = true;
        }
    }
    return stimulated;
}

}  // namespace ranvier::network
