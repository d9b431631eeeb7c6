#include "engine/network_parts.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/errors.hpp"
#include "engine/fingerprint_mixer.hpp"

namespace ranvier::engine {

namespace {

class Parts {
   public:
    template <class Value>
    void add(std::string name, const Value& value, std::string text = {}) {
        parts_.push_back(
            {std::move(name), fingerprint_of([&](Fingerprint& mixed) { mixed.add(value); }), std::move(text)});
    }
    void add_number(std::string name, std::uint64_t value) { add(std::move(name), value, std::to_string(value)); }
    /// One that was given.
    void add_site(std::string name, const SiteSpec& site) {
        const auto* const number = std::get_if<std::uint64_t>(&site);
        if (!std::holds_alternative<std::monostate>(site))
            add(std::move(name), site, number == nullptr ? std::string() : std::to_string(*number));
    }
    void add_name(std::string name, std::string_view value) { add(std::move(name), value, std::string(value)); }
    void add_values(std::string name, const Values& value) {
        const auto* const number = std::get_if<double>(&value);
        add(std::move(name), value, number == nullptr ? std::string() : to_text(*number));
    }
    template <class Add>
    void add_mixed(std::string name, Add add) {
        parts_.push_back({std::move(name), fingerprint_of(add), {}});
    }
    std::vector<NetworkPart> take() { return std::move(parts_); }

   private:
    std::vector<NetworkPart> parts_;
};

std::string of(std::string_view what, std::string_view kind, std::string_view name) {
    return std::string(what) + " of " + std::string(kind) + " '" + std::string(name) + "'";
}

void add_population(Parts& parts, const Population& population) {
    const auto name = [&](std::string_view what) { return of(what, "population", population.name); };
    parts.add_name("name of population " + std::to_string(population.id.value), population.name);
    parts.add_name(name("model"), population.model->name);
    if (population.model->own_fingerprint != 0)
        parts.add(name("description of the model"), population.model->own_fingerprint);
    parts.add_number(name("size"), population.size);
    parts.add_number(name("steps of the resolution in a step"), static_cast<std::uint64_t>(population.stride));
    for (const models::ParameterInfo& info : population.model->parameters) {
        const auto given = population.parameters.find(info.name);
        parts.add_values(name("parameter " + std::string(info.name)),
                         given == population.parameters.end() ? Values(info.default_value) : given->second);
    }
    for (const auto& [variable, value] : population.variables) parts.add_values(name(variable), value);
    if (population.model->plays_spikes) parts.add(name("spike_times"), population.spike_steps.all());
    for (const auto& [sequence, values] : population.sequences) parts.add(name(sequence), values);
}

void add_projection(Parts& parts, const Projection& projection) {
    const auto name = [&](std::string_view what) { return of(what, "projection", projection.name); };
    parts.add_name("name of projection " + std::to_string(projection.id.value), projection.name);
    parts.add(name("sources"), projection.sources);
    parts.add(name("targets"), projection.targets);
    parts.add_name(name("name of the rule"), projection.rule.name);
    parts.add_mixed(name("rule"), [&](Fingerprint& mixed) { add_rule(mixed, projection.rule); });
    parts.add_values(name("weight"), projection.weight);
    parts.add_values(name("delay"), projection.delay);
    parts.add(name("weight_bound"), projection.weight_bound, to_text(projection.weight_bound));
    parts.add_name(name("receptor"), projection.receptor);
    parts.add_site(name("site"), projection.site);
    if (projection.synapse.is_static()) {
        parts.add_name(name("synapse"), "static_synapse");
        return;
    }
    const models::SynapseModel& model = *projection.synapse.model;
    parts.add_name(name("synapse"), model.name);
    if (model.own_fingerprint != 0) parts.add(name("description of the synapse"), model.own_fingerprint);
    if (!model.transmitter.empty()) parts.add(name(model.transmitter), projection.synapse.modulators);
    const std::vector<double> values = projection.synapse.values();
    const std::vector<std::uint32_t> own = projection.synapse.own_parameters();
    for (std::uint32_t i = 0; i < model.parameters.size(); ++i) {
        const std::string parameter = name("parameter " + std::string(model.parameters[i].name));
        if (std::ranges::find(own, i) != own.end()) {
            parts.add_values(parameter, projection.synapse.own_values(i));
        } else {
            parts.add(parameter, values[i], to_text(values[i]));
        }
    }
}

void add_stimulus(Parts& parts, const StimulusSpec& stimulus, std::size_t index) {
    const auto name = [&](std::string_view what) { return of(what, "stimulus", stimulus.name); };
    parts.add_name("name of stimulus " + std::to_string(index), stimulus.name);
    parts.add_name(name("stimulator"), stimulus.model->name);
    parts.add(name("targets"), stimulus.targets);
    for (const models::ParameterInfo& info : stimulus.model->parameters) {
        const auto given = stimulus.parameters.find(info.name);
        parts.add_values(name("parameter " + std::string(info.name)),
                         given == stimulus.parameters.end() ? Values(info.default_value) : given->second);
    }
    for (const auto& [sequence, values] : stimulus.sequences) parts.add(name(sequence), values);
    parts.add_values(name("weight"), stimulus.weight);
    parts.add(name("delay"), stimulus.delay, to_text(stimulus.delay));
    const bool is_current = stimulus.model->output == models::StimulatorOutput::current;
    parts.add_name(name(is_current ? "electrode" : "receptor"), stimulus.receptor);
    parts.add_site(name("site"), stimulus.site);
}

std::string_view to_name(models::Precision precision) {
    return precision == models::Precision::single_precision ? "single" : "double";
}

}  // namespace

std::vector<NetworkPart> network_parts(const Network& network, models::Precision precision,
                                       models::Precision weight_precision) {
    Parts parts;
    parts.add("resolution", network.resolution(), to_text(network.resolution()) + " ms");
    parts.add_number("seed", network.seed());
    parts.add_name("precision", to_name(precision));
    parts.add_name("weight_precision", to_name(weight_precision));
    parts.add_number("number of populations", network.populations().size());
    parts.add_number("number of projections", network.projections().size());
    parts.add_number("number of stimuli", network.stimuli().size());
    parts.add_number("number of spike recorders", network.spike_recorders().size());
    parts.add_number("number of state recorders", network.state_recorders().size());
    for (const Population& population : network.populations()) add_population(parts, population);
    for (const Projection& projection : network.projections()) add_projection(parts, projection);
    for (std::size_t i = 0; i < network.stimuli().size(); ++i) add_stimulus(parts, network.stimuli()[i], i);
    for (std::size_t i = 0; i < network.spike_recorders().size(); ++i) {
        parts.add("neurons of spike recorder " + std::to_string(i), network.spike_recorders()[i].neurons);
    }
    for (std::size_t i = 0; i < network.state_recorders().size(); ++i) {
        const StateRecorderSpec& recorder = network.state_recorders()[i];
        const std::string name = " of state recorder " + std::to_string(i);
        parts.add("neurons" + name, recorder.neurons);
        parts.add("variables" + name, recorder.variables);
        parts.add_number("interval" + name, static_cast<std::uint64_t>(recorder.interval));
    }
    return parts.take();
}

}  // namespace ranvier::engine
