#include "network/network_parts.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/errors.hpp"
#include "network/fingerprint_mixer.hpp"

namespace ranvier::network {

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

// Each walk names all fields of its struct, so that a new field does not compile until it is a part, or is listed as
// one that need not be.

void add_population(Parts& parts, const Population& population) {
    // The id is the place in the list, and the first neuron follows from the sizes.
    const auto& [id, name, model, owner, first, size, parameters, variables, spike_steps, sequences, stride,
                 has_given_step] = population;
    const auto part = [&population](std::string_view what) { return of(what, "population", population.name); };
    parts.add_name("name of population " + std::to_string(id.value), name);
    parts.add_name(part("model"), model->name);
    if (model->own_fingerprint != 0) parts.add(part("description of the model"), model->own_fingerprint);
    parts.add_number(part("size"), size);
    parts.add_number(part("steps of the resolution in a step"), static_cast<std::uint64_t>(stride));
    for (const models::ParameterInfo& info : model->parameters) {
        const auto given = parameters.find(info.name);
        parts.add_values(part("parameter " + std::string(info.name)),
                         given == parameters.end() ? Values(info.default_value) : given->second);
    }
    for (const auto& [variable, value] : variables) parts.add_values(part(variable), value);
    if (model->plays_spikes) parts.add(part("spike_times"), spike_steps.all());
    for (const auto& [sequence, values] : sequences) parts.add(part(sequence), values);
}

void add_synapse(Parts& parts, const SynapseSpec& synapse, std::string_view projection) {
    const auto part = [projection](std::string_view what) { return of(what, "projection", projection); };
    if (synapse.is_static()) {
        parts.add_name(part("synapse"), "static_synapse");
        return;
    }
    // Values are parts as those of all parameters.
    const auto& [model, parameters, modulators, owner] = synapse;
    parts.add_name(part("synapse"), model->name);
    if (model->own_fingerprint != 0) parts.add(part("description of the synapse"), model->own_fingerprint);
    if (!model->transmitter.empty()) parts.add(part(model->transmitter), modulators);
    const std::vector<double> values = synapse.values();
    const std::vector<std::uint32_t> own = synapse.own_parameters();
    for (std::uint32_t i = 0; i < model->parameters.size(); ++i) {
        const std::string parameter = part("parameter " + std::string(model->parameters[i].name));
        if (std::ranges::find(own, i) != own.end()) {
            parts.add_values(parameter, synapse.own_values(i));
        } else {
            parts.add(parameter, values[i], to_text(values[i]));
        }
    }
}

void add_projection(Parts& parts, const Projection& projection) {
    // The id is the place in the list.
    const auto& [id, name, sources, targets, rule, weight, delay, weight_bound, receptor, synapse, site] = projection;
    const auto part = [&projection](std::string_view what) { return of(what, "projection", projection.name); };
    parts.add_name("name of projection " + std::to_string(id.value), name);
    parts.add(part("sources"), sources);
    parts.add(part("targets"), targets);
    parts.add_name(part("name of the rule"), rule.name);
    parts.add_mixed(part("rule"), [&projection](Fingerprint& mixed) { add_rule(mixed, projection.rule); });
    parts.add_values(part("weight"), weight);
    parts.add_values(part("delay"), delay);
    parts.add(part("weight_bound"), weight_bound, to_text(weight_bound));
    parts.add_name(part("receptor"), receptor);
    parts.add_site(part("site"), site);
    add_synapse(parts, synapse, name);
}

void add_stimulus(Parts& parts, const StimulusSpec& stimulus, std::size_t index) {
    // Changes during a run are a part of the state.
    const auto& [name, model, targets, parameters, sequences, weight, delay, receptor, site, changed_at] = stimulus;
    const auto part = [&stimulus](std::string_view what) { return of(what, "stimulus", stimulus.name); };
    parts.add_name("name of stimulus " + std::to_string(index), name);
    parts.add_name(part("stimulator"), model->name);
    parts.add(part("targets"), targets);
    for (const models::ParameterInfo& info : model->parameters) {
        const auto given = parameters.find(info.name);
        parts.add_values(part("parameter " + std::string(info.name)),
                         given == parameters.end() ? Values(info.default_value) : given->second);
    }
    for (const auto& [sequence, values] : sequences) parts.add(part(sequence), values);
    parts.add_values(part("weight"), weight);
    parts.add(part("delay"), delay, to_text(delay));
    const bool is_current = model->output == models::StimulatorOutput::current;
    parts.add_name(part(is_current ? "electrode" : "receptor"), receptor);
    parts.add_site(part("site"), site);
}

void add_recorder(Parts& parts, const SpikeRecorderSpec& recorder, std::size_t index) {
    const auto& [neurons] = recorder;
    parts.add("neurons of spike recorder " + std::to_string(index), neurons);
}

void add_recorder(Parts& parts, const StateRecorderSpec& recorder, std::size_t index) {
    const auto& [neurons, variables, interval] = recorder;
    const std::string name = " of state recorder " + std::to_string(index);
    parts.add("neurons" + name, neurons);
    parts.add("variables" + name, variables);
    parts.add_number("interval" + name, static_cast<std::uint64_t>(interval));
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
        add_recorder(parts, network.spike_recorders()[i], i);
    }
    for (std::size_t i = 0; i < network.state_recorders().size(); ++i) {
        add_recorder(parts, network.state_recorders()[i], i);
    }
    return parts.take();
}

}  // namespace ranvier::network
