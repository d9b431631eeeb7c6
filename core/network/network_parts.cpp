#include "network/network_parts.hpp"

#include <algorithm>
#include <concepts>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>

#include "network/fingerprint_mixer.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::network {

namespace {

/// Collects the parts of one spec. Each type of field has an overload.
class Parts {
   public:
    /// @param owner "population 'exc'", "state recorder 0", ...
    explicit Parts(std::string owner = {}) : owner_(std::move(owner)) {}

    /// Adds all fields of a spec.
    /// @param part the spec, with what the network made of it
    /// @param numbered name and index of a spec without a name: "population 0", ...
    template <class Spec, class Part>
    void add_fields(const Part& part, const std::string& numbered) {
        for_each_field<const Spec>(
            part, [&](const auto& field, const auto& value) { add_field(part, field, value, numbered); });
    }

    void add(std::string_view what, std::string_view text) { add_mixed(what, text, std::string(text)); }
    void add(std::string_view what, std::uint64_t number) { add_mixed(what, number, std::to_string(number)); }
    /// Not by conversion: a string literal would rather become a truth value than a string view.
    void add(std::string_view what, std::same_as<bool> auto value) {
        add_mixed(what, std::uint64_t{value}, value ? "yes" : "no");
    }
    void add(std::string_view what, Step number) { add(what, static_cast<std::uint64_t>(number)); }
    void add(std::string_view what, double number) { add_mixed(what, number, to_text(number)); }
    void add(std::string_view what, double number, std::string text) { add_mixed(what, number, std::move(text)); }
    std::vector<NetworkPart> take() { return std::move(parts_); }

   private:
    template <class Part, class Listed, class Value>
    void add_field(const Part& part, const Listed& field, const Value& value, const std::string& numbered) {
        if constexpr (Listed::role == FieldRole::parameters) {
            add_parameters(part.model->parameters, value);
        } else if constexpr (Listed::role == FieldRole::time) {
            add_steps(part, value);
        } else if constexpr (std::is_same_v<Value, std::string>) {
            if (field.name == "name") return add_named("name of " + numbered, value, value);
            if (applies(part, field.name)) add(field.name, value);
        } else {
            add(field.name, value);
        }
    }

    // Each time of a part has an overload, which adds the steps that the network rounded it to.
    void add_steps(const Population& population, const std::optional<double>&) {
        add("steps of the resolution in a step", population.stride);
    }
    void add_steps(const Population& population, const SpikeTimes&) {
        if (population.model->plays_spikes) add_mixed("spike_times", population.spike_steps.all());
    }
    void add_steps(const StateRecorder& recorder, double) { add("interval", recorder.steps); }
    void add_steps(const OutsideField& field, double) { add("interval", field.steps); }

    /// Spikes go to receptors, and currents to electrodes.
    template <class Part>
    static bool applies(const Part&, std::string_view) {
        return true;
    }
    static bool applies(const StimulusSpec& stimulus, std::string_view field) {
        const bool is_current = stimulus.model->output == models::StimulatorOutput::current;
        return field != (is_current ? "receptor" : "electrode");
    }

    template <class Value>
    void add_named(std::string name, const Value& value, std::string text) {
        parts_.push_back(
            {std::move(name), fingerprint_of([&](Fingerprint& mixed) { mixed.add(value); }), std::move(text)});
    }
    template <class Value>
    void add_mixed(std::string_view what, const Value& value, std::string text = {}) {
        add_named(std::string(what) + (owner_.empty() ? "" : " of " + owner_), value, std::move(text));
    }
    void add(std::string_view what, const IdSequence& ids) { add_mixed(what, ids); }
    void add(std::string_view what, const std::vector<IdSequence>& ids) { add_mixed(what, ids); }
    void add(std::string_view what, const std::vector<std::string>& names) { add_mixed(what, names); }
    void add(std::string_view what, const Values& values) {
        const auto* const number = std::get_if<double>(&values);
        add_mixed(what, values, number == nullptr ? std::string() : to_text(*number));
    }
    void add(std::string_view what, const std::optional<double>& number) {
        if (number) add(what, *number);
    }
    void add(std::string_view, const Sequences& sequences) {
        for (const auto& [name, numbers] : sequences) add_mixed(name, numbers);
    }
    void add(std::string_view what, const std::shared_ptr<const models::NeuronModel>& model) {
        add(what, model->name);
        if (model->fingerprint() != 0) add_mixed("description of the model", model->fingerprint());
    }
    void add(std::string_view what, const models::StimulatorModel* model) { add(what, model->name); }
    /// A site that was given.
    void add(std::string_view what, const SiteSpec& site) {
        const auto* const number = std::get_if<std::uint64_t>(&site);
        if (!std::holds_alternative<std::monostate>(site))
            add_mixed(what, site, number == nullptr ? std::string() : std::to_string(*number));
    }
    void add(std::string_view what, const connect::RuleSpec& rule) {
        add("name of the " + std::string(what), rule.name());
        add_mixed(what, rule);
    }
    void add(std::string_view what, const SynapseSpec& synapse) {
        if (synapse.is_static()) return add(what, "static_synapse");
        // The structured binding lists all fields, so that a new one does not compile until it is handled. The values
        // include the parameters.
        const auto& [model, parameters, modulators, owner] = synapse;
        add(what, model->name);
        if (model->user_fingerprint != 0) add_mixed("description of the synapse", model->user_fingerprint);
        if (!model->transmitter.empty()) add_mixed(model->transmitter, modulators);
        const std::vector<double> values = synapse.values();
        const std::vector<std::uint32_t> per_synapse = synapse.per_synapse_parameters();
        for (std::uint32_t i = 0; i < model->parameters.size(); ++i) {
            const std::string parameter = "parameter " + std::string(model->parameters[i].name);
            if (std::ranges::find(per_synapse, i) != per_synapse.end()) {
                add(parameter, synapse.per_synapse_values(i));
            } else {
                add(parameter, values[i]);
            }
        }
    }
    void add(std::string_view what, const std::shared_ptr<const connect::Positions>& positions) {
        if (positions != nullptr) add_mixed(what, *positions);
    }
    void add(std::string_view what, const std::shared_ptr<const connect::Rotations>& rotations) {
        if (rotations != nullptr) add_mixed(what, *rotations);
    }
    void add_parameters(std::span<const models::ParameterInfo> infos, const NamedValues& given) {
        for (const models::ParameterInfo& info : infos) {
            const auto found = given.find(info.name);
            add("parameter " + std::string(info.name),
                found == given.end() ? Values(info.default_value) : found->second);
        }
        // Initial values of variables have no defaults here: a variable may follow a parameter.
        for (const auto& [name, values] : given) {
            if (std::ranges::find(infos, name, &models::ParameterInfo::name) == infos.end()) add(name, values);
        }
    }

    std::string owner_;
    std::vector<NetworkPart> parts_;
};

/// Adds the parts of specs with names.
/// @param kind "population", ...
template <class Spec, class Parted>
void add_named_specs(std::vector<std::vector<NetworkPart>>& parts, std::span<const Parted> specs,
                     const std::string& kind) {
    for (std::size_t i = 0; i < specs.size(); ++i) {
        Parts found(kind + " '" + specs[i].name + "'");
        found.add_fields<Spec>(specs[i], kind + " " + std::to_string(i));
        parts.push_back(found.take());
    }
}

template <class Spec, class Recorder>
void add_recorders(std::vector<std::vector<NetworkPart>>& parts, std::span<const Recorder> specs,
                   const std::string& kind) {
    for (std::size_t i = 0; i < specs.size(); ++i) {
        Parts found(kind + " " + std::to_string(i));
        found.add_fields<Spec>(specs[i], {});
        parts.push_back(found.take());
    }
}

std::string_view to_name(models::Precision precision) {
    return precision == models::Precision::single_precision ? "single" : "double";
}

}  // namespace

std::vector<std::vector<NetworkPart>> parts_of_specs(const Network& network) {
    std::vector<std::vector<NetworkPart>> parts;
    add_named_specs<PopulationSpec>(parts, network.populations(), "population");
    add_named_specs<ProjectionSpec>(parts, network.projections(), "projection");
    add_named_specs<StimulusSpec>(parts, network.stimuli(), "stimulus");
    add_recorders<SpikeRecorderSpec>(parts, network.spike_recorders(), "spike recorder");
    add_recorders<StateRecorderSpec>(parts, network.state_recorders(), "state recorder");
    add_recorders<FieldSpec>(parts, network.outside_fields(), "field");
    return parts;
}

std::vector<NetworkPart> network_parts(const Network& network, models::Precision precision,
                                       models::Precision weight_precision) {
    Parts general;
    general.add("resolution", network.resolution(), to_text(network.resolution()) + " ms");
    general.add("seed", network.seed());
    general.add("precision", to_name(precision));
    general.add("weight_precision", to_name(weight_precision));
    general.add("number of populations", network.populations().size());
    general.add("number of projections", network.projections().size());
    general.add("number of stimuli", network.stimuli().size());
    general.add("number of spike recorders", network.spike_recorders().size());
    general.add("number of state recorders", network.state_recorders().size());
    general.add("number of fields", network.outside_fields().size());
    std::vector<NetworkPart> parts = general.take();
    for (std::vector<NetworkPart>& of_spec : parts_of_specs(network)) {
        std::ranges::move(of_spec, std::back_inserter(parts));
    }
    return parts;
}

}  // namespace ranvier::network
