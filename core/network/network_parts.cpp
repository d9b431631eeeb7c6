#include "network/network_parts.hpp"

#include <algorithm>
#include <iterator>
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
    /// @param numbered name and index of a spec without a name: "population 0", ...
    template <class Spec>
    void add_fields(const Spec& spec, const std::string& numbered) {
        for_each_field(spec, [&](const auto& field, const auto& value) { add_field(spec, field, value, numbered); });
    }

    void add(std::string_view what, std::string_view text) { add_mixed(what, text, std::string(text)); }
    void add(std::string_view what, std::uint64_t number) { add_mixed(what, number, std::to_string(number)); }
    void add(std::string_view what, Step number) { add(what, static_cast<std::uint64_t>(number)); }
    void add(std::string_view what, double number) { add_mixed(what, number, to_text(number)); }
    void add(std::string_view what, double number, std::string text) { add_mixed(what, number, std::move(text)); }
    std::vector<NetworkPart> take() { return std::move(parts_); }

   private:
    template <class Spec, class Listed, class Value>
    void add_field(const Spec& spec, const Listed& field, const Value& value, const std::string& numbered) {
        if constexpr (Listed::role == FieldRole::parameters) {
            add_parameters(spec.model->parameters, value);
        } else if constexpr (std::is_same_v<Value, SpikeLists>) {
            if (spec.model->plays_spikes) add_mixed(field.name, value.all());
        } else if constexpr (std::is_same_v<Value, std::string>) {
            if (field.name == "name") return add_named("name of " + numbered, value, value);
            if (applies(spec, field.name)) add(field.name, value);
        } else {
            add(field.name, value);
        }
    }

    /// Spikes go to receptors, and currents to electrodes.
    template <class Spec>
    static bool applies(const Spec&, std::string_view) {
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
    void add(std::string_view, const NamedValues& named) {
        for (const auto& [name, values] : named) add(name, values);
    }
    void add(std::string_view, const Sequences& sequences) {
        for (const auto& [name, numbers] : sequences) add_mixed(name, numbers);
    }
    void add(std::string_view what, const models::NeuronModel* model) {
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
    void add_parameters(std::span<const models::ParameterInfo> infos, const NamedValues& given) {
        for (const models::ParameterInfo& info : infos) {
            const auto found = given.find(info.name);
            add("parameter " + std::string(info.name),
                found == given.end() ? Values(info.default_value) : found->second);
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

template <class Spec>
void add_recorders(std::vector<std::vector<NetworkPart>>& parts, std::span<const Spec> specs, const std::string& kind) {
    for (std::size_t i = 0; i < specs.size(); ++i) {
        Parts found(kind + " " + std::to_string(i));
        found.add_fields(specs[i], {});
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
    add_recorders(parts, network.spike_recorders(), "spike recorder");
    add_recorders(parts, network.state_recorders(), "state recorder");
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
    std::vector<NetworkPart> parts = general.take();
    for (std::vector<NetworkPart>& of_spec : parts_of_specs(network)) {
        std::ranges::move(of_spec, std::back_inserter(parts));
    }
    return parts;
}

}  // namespace ranvier::network
