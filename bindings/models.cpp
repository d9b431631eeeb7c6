#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "bindings.hpp"
#include "descriptions.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/connect/rules/rule.hpp"
#include "ranvier/models/neuron.hpp"
#include "ranvier/models/stimulator.hpp"
#include "ranvier/models/synapse.hpp"
#include "ranvier/models/user_model.hpp"

namespace ranvier::bindings {

namespace {

using connect::RuleInfo;
using connect::RuleParameterInfo;
using models::NeuronModel;
using models::ParameterInfo;
using models::SequenceInfo;
using models::StimulatorModel;
using models::SynapseModel;
using models::VariableInfo;

std::string to_interval(const Bounds& bounds, bool may_be_infinite = false) {
    const bool no_lower = std::isinf(bounds.lower);
    const bool no_upper = std::isinf(bounds.upper);
    std::string text;
    if (no_lower && no_upper) return may_be_infinite ? "any number or infinite" : "any number";
    if (no_upper) {
        text = (bounds.lower_open ? "> " : ">= ") + to_text(bounds.lower);
    } else if (no_lower) {
        text = (bounds.upper_open ? "< " : "<= ") + to_text(bounds.upper);
    } else {
        text = (bounds.lower_open ? "> " : ">= ") + to_text(bounds.lower) + " and " +
               (bounds.upper_open ? "< " : "<= ") + to_text(bounds.upper);
    }
    return may_be_infinite ? text + ", may be infinite" : text;
}

std::string_view to_text(RuleParameterInfo::Kind kind) {
    switch (kind) {
        case RuleParameterInfo::Kind::flag:
            return "flag";
        case RuleParameterInfo::Kind::count:
            return "count";
        case RuleParameterInfo::Kind::real:
            return "real";
        case RuleParameterInfo::Kind::pair_value:
            return "pair_value";
        case RuleParameterInfo::Kind::mask:
            return "mask";
        case RuleParameterInfo::Kind::indices:
            break;
    }
    return "indices";
}

std::optional<std::variant<bool, std::uint64_t, double>> default_of(const RuleParameterInfo& parameter) {
    const std::optional<double>& value = parameter.default_value;
    if (!value) return std::nullopt;
    if (parameter.kind == RuleParameterInfo::Kind::flag) return *value != 0.0;
    if (parameter.kind == RuleParameterInfo::Kind::count) return static_cast<std::uint64_t>(*value);
    return *value;
}

void bind_parts(nb::module_& module) {
    nb::class_<ParameterInfo>(module, "ParameterInfo", "A parameter of a model.")
        .def_ro("name", &ParameterInfo::name)
        .def_ro("unit", &ParameterInfo::unit)
        .def_ro("default", &ParameterInfo::default_value)
        .def_ro("default_parameter", &ParameterInfo::default_parameter,
                "The parameter whose values are its default; empty: `default` is.")
        .def_prop_ro(
            "bounds",
            [](const ParameterInfo& parameter) { return to_interval(parameter.bounds, parameter.may_be_infinite); },
            "The valid values, as text.")
        .def_ro("meaning", &ParameterInfo::meaning)
        .def_prop_ro(
            "per_synapse",
            [](const ParameterInfo& parameter) { return parameter.per_synapse != models::PerSynapse::no; },
            "Of synapse models: whether it may differ between synapses.")
        .def_prop_ro(
            "may_change",
            [](const ParameterInfo& parameter) { return parameter.per_synapse == models::PerSynapse::yes; },
            "Of synapse models: whether per-synapse values may change while a simulation runs.")
        .def_ro("is_whole", &ParameterInfo::is_whole);
    nb::class_<VariableInfo>(module, "VariableInfo", "A state variable of a neuron model.")
        .def_ro("name", &VariableInfo::name)
        .def_ro("unit", &VariableInfo::unit)
        .def_ro("meaning", &VariableInfo::meaning)
        .def_ro("initial_parameter", &VariableInfo::initial_parameter,
                "The parameter that gives its initial value unless that is set; empty: `initial_value` does.")
        .def_ro("initial_value", &VariableInfo::initial_value)
        .def_ro("is_read_only", &VariableInfo::is_read_only, "Whether it can only be recorded and read.");
    nb::class_<SequenceInfo>(module, "SequenceInfo", "A list of numbers that a stimulator takes.")
        .def_ro("name", &SequenceInfo::name)
        .def_ro("unit", &SequenceInfo::unit)
        .def_ro("meaning", &SequenceInfo::meaning);
    nb::class_<RuleParameterInfo>(module, "RuleParameterInfo", "A parameter of a connection rule.")
        .def_ro("name", &RuleParameterInfo::name)
        .def_prop_ro(
            "kind", [](const RuleParameterInfo& parameter) { return to_text(parameter.kind); },
            "The type of its values: flag, count, real, indices, pair_value or mask.")
        .def_ro("unit", &RuleParameterInfo::unit)
        .def_prop_ro("default", default_of, "None if the user must give a value.")
        .def_ro("meaning", &RuleParameterInfo::meaning)
        .def_prop_ro("bounds", connect::describe_values, "The valid values, as text.");
}

void bind_lists(nb::module_& module) {
    module.def(
        "neuron_models",
        [] {
            const auto models = models::neuron_models();
            return std::vector<const NeuronModel*>(models.begin(), models.end());
        },
        nb::rv_policy::reference, "All neuron models, by name.");
    module.def(
        "stimulator_models",
        [] {
            const auto models = models::stimulator_models();
            return std::vector<const StimulatorModel*>(models.begin(), models.end());
        },
        nb::rv_policy::reference, "All stimulators, by name.");
    module.def(
        "synapse_models",
        [] {
            const auto models = models::synapse_models();
            return std::vector<const SynapseModel*>(models.begin(), models.end());
        },
        nb::rv_policy::reference, "All synapse models, by name.");
    module.def(
        "rules",
        [] {
            const auto rules = connect::rules();
            return std::vector<const RuleInfo*>(rules.begin(), rules.end());
        },
        nb::rv_policy::reference, "All connection rules.");
}

}  // namespace

void bind_models(nb::module_& module) {
    bind_parts(module);
    nb::class_<NeuronModel>(module, "NeuronModel", "The description of a neuron model.")
        .def_ro("name", &NeuronModel::name)
        .def_ro("summary", &NeuronModel::summary)
        .def_ro("equations", &NeuronModel::equations)
        .def_ro("reference", &NeuronModel::reference)
        .def_prop_ro("parameters",
                     [](nb::pointer_and_handle<NeuronModel> model) { return as_list_of(model.h, model.p->parameters); })
        .def_prop_ro("variables",
                     [](nb::pointer_and_handle<NeuronModel> model) { return as_list_of(model.h, model.p->variables); })
        .def_prop_ro("receptors", [](const NeuronModel& model) { return as_list(model.receptors); })
        .def_ro("sign_chooses_receptor", &NeuronModel::sign_chooses_receptor,
                "Whether, if no receptor is named, weights >= 0 go to the first and others to the second.")
        .def_ro("weight_unit", &NeuronModel::weight_unit)
        .def_prop_ro(
            "weight_bounds", [](const NeuronModel& model) { return to_interval(model.weight_bounds); },
            "The valid weights, as text.")
        .def_ro("counting_receptor", &NeuronModel::counting_receptor,
                "The receptor at which weights are whole numbers of spikes, which has to be named; empty: none.")
        .def_prop_ro(
            "has_step_program",
            [](const NeuronModel& self) { return self.has_step_program(models::Precision::double_precision); },
            "Whether its neurons, in double precision, can run on a GPU.")
        .def_ro("is_source", &NeuronModel::is_source)
        .def_ro("plays_spikes", &NeuronModel::plays_spikes);
    // NOLINTNEXTLINE(bugprone-unused-raii): the module holds the class.
    nb::class_<models::UserModel, NeuronModel>(module, "UserModel", "A user-defined neuron model.");
    nb::class_<StimulatorModel>(module, "StimulatorModel", "The description of a stimulator.")
        .def_ro("name", &StimulatorModel::name)
        .def_ro("summary", &StimulatorModel::summary)
        .def_ro("equations", &StimulatorModel::equations)
        .def_ro("reference", &StimulatorModel::reference)
        .def_prop_ro(
            "emits_spikes",
            [](const StimulatorModel& model) { return model.output == models::StimulatorOutput::spikes; },
            "Whether it adds to the synaptic input of its targets rather than to their current.")
        .def_prop_ro("parameters", [](const StimulatorModel& model) { return as_list(model.parameters); })
        .def_prop_ro("sequences", [](const StimulatorModel& model) { return as_list(model.sequences); });
    nb::class_<SynapseModel>(module, "SynapseModel", "The description of a synapse model.")
        .def_ro("name", &SynapseModel::name)
        .def_ro("summary", &SynapseModel::summary)
        .def_ro("equations", &SynapseModel::equations)
        .def_ro("reference", &SynapseModel::reference)
        .def_prop_ro("learns", &SynapseModel::learns, "Whether the weight changes with spikes.")
        .def_ro("transmitter", &SynapseModel::transmitter,
                "The name of the neurons whose spikes act on all synapses of a projection; empty: none.")
        .def_prop_ro("parameters", [](const SynapseModel& model) { return as_list(model.parameters); });
    nb::class_<models::UserSynapse>(module, "UserSynapse", "A user-defined synapse model.")
        .def_prop_ro("parameters", [](nb::pointer_and_handle<models::UserSynapse> self) {
            return as_list_of(self.h, self.p->synapse_model().parameters);
        });
    nb::class_<RuleInfo>(module, "RuleInfo", "The description of a connection rule.")
        .def_ro("name", &RuleInfo::name)
        .def_ro("summary", &RuleInfo::summary)
        .def_ro("notes", &RuleInfo::notes, "Additional sentences about its neurons and about arrays; may be empty.")
        .def_prop_ro("parameters", [](const RuleInfo& rule) { return as_list(rule.parameters); });
    bind_lists(module);
}

}  // namespace ranvier::bindings
