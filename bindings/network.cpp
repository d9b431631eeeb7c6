#include "ranvier/network/network.hpp"

#include <nanobind/stl/shared_ptr.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

#include "bindings.hpp"
#include "network/value_checks.hpp"
#include "positions.hpp"
#include "ranvier/base/mapped_numbers.hpp"
#include "ranvier/models/user_model.hpp"
#include "values.hpp"

namespace ranvier::bindings {

namespace {

using network::NamedValues;
using network::Network;

/// Ascending ids: (first, stride, size), or a list of them.
using InputIds = std::variant<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>, InputArray<std::int64_t>>;

IdSequence to_ids(const InputIds& ids) {
    if (const auto* list = std::get_if<InputArray<std::int64_t>>(&ids)) {
        auto shared = std::make_shared<const std::vector<std::uint64_t>>(to_vector<std::uint64_t>(*list));
        const std::uint64_t size = shared->size();
        return {std::move(shared), 0, size};
    }
    const auto& [first, stride, size] = std::get<0>(ids);
    return {NeuronId{first}, stride, size};
}

/// One site, an array with one each, or a tuple of probabilities of sites.
using InputSite = std::optional<std::variant<std::uint64_t, InputArray<double>, std::tuple<InputArray<double>>>>;

network::SiteSpec to_site(const InputSite& site) {
    if (!site) return {};
    if (const auto* one = std::get_if<std::uint64_t>(&*site)) return *one;
    if (const auto* array = std::get_if<InputArray<double>>(&*site)) return to_shared_array(*array);
    return network::SiteProbabilities{to_shared_array(std::get<0>(std::get<2>(*site)))};
}

IdSequence to_ids(const std::optional<InputIds>& ids) { return ids ? to_ids(*ids) : IdSequence(); }

/// The name of a neuron model, or a user-defined one.
using InputNeuronModel = std::variant<std::string, std::shared_ptr<const models::UserModel>>;

std::shared_ptr<const models::NeuronModel> to_neuron_model(const InputNeuronModel& model) {
    if (const auto* const name = std::get_if<std::string>(&model)) return network::registered_model(*name);
    return std::get<std::shared_ptr<const models::UserModel>>(model);
}

/// The spike times of all units, ms, and the number of those of each unit.
using InputSpikeTimes = std::tuple<InputArray<double>, InputArray<std::int64_t>>;

/// The name of a synapse model or a user-defined one, values of its parameters, and the neurons of its transmitter.
using InputSynapse = std::tuple<std::variant<std::string, std::shared_ptr<const models::UserSynapse>>, InputValues,
                                std::optional<InputIds>>;

network::SynapseSpec to_synapse(const InputSynapse& input) {
    const auto& [model, parameters, modulators] = input;
    network::SynapseSpec synapse{.parameters = to_values(parameters), .modulators = to_ids(modulators)};
    if (const auto* const given = std::get_if<std::shared_ptr<const models::UserSynapse>>(&model)) {
        synapse.model = &(*given)->synapse_model();
        synapse.owner = *given;
    } else {
        synapse.model = &models::find_synapse_model(std::get<std::string>(model));
    }
    return synapse;
}

// Reads a field of each type from Python.
void read_field(nb::handle given, std::string& value) { value = nb::cast<std::string>(given); }
void read_field(nb::handle given, double& value) { value = nb::cast<double>(given); }
void read_field(nb::handle given, std::optional<double>& value) { value = nb::cast<double>(given); }
void read_field(nb::handle given, std::uint64_t& value) { value = nb::cast<std::uint64_t>(given); }
void read_field(nb::handle given, std::vector<std::string>& names) {
    names = nb::cast<std::vector<std::string>>(given);
}
void read_field(nb::handle given, bool& value) { value = nb::cast<bool>(given); }
void read_field(nb::handle given, IdSequence& ids) { ids = to_ids(nb::cast<InputIds>(given)); }
void read_field(nb::handle given, std::vector<IdSequence>& parts) {
    for (const InputIds& ids : nb::cast<std::vector<InputIds>>(given)) parts.push_back(to_ids(ids));
}
void read_field(nb::handle given, network::Values& values) { values = to_values(nb::cast<InputValue>(given)); }
void read_field(nb::handle given, NamedValues& values) { values = to_values(nb::cast<InputValues>(given)); }
void read_field(nb::handle given, network::Sequences& lists) { lists = to_lists(nb::cast<InputSequences>(given)); }
void read_field(nb::handle given, connect::RuleSpec& rule) { rule = nb::cast<connect::RuleSpec>(given); }
void read_field(nb::handle given, network::SiteSpec& site) { site = to_site(nb::cast<InputSite>(given)); }
void read_field(nb::handle given, network::SynapseSpec& synapse) {
    synapse = to_synapse(nb::cast<InputSynapse>(given));
}
void read_field(nb::handle given, network::SpikeTimes& lists) {
    const auto [times, counts] = nb::cast<InputSpikeTimes>(given);
    lists = to_lists(times, counts);
}
void read_field(nb::handle given, std::shared_ptr<const models::NeuronModel>& model) {
    model = to_neuron_model(nb::cast<InputNeuronModel>(given));
}
void read_field(nb::handle given, std::shared_ptr<const connect::Positions>& positions) {
    positions = nb::cast<std::shared_ptr<const connect::Positions>>(given);
}
void read_field(nb::handle given, std::shared_ptr<const connect::Rotations>& rotations) {
    rotations = nb::cast<std::shared_ptr<const connect::Rotations>>(given);
}
void read_field(nb::handle given, const models::StimulatorModel*& model) {
    model = &models::find_stimulator_model(nb::cast<std::string>(given));
}

/// All fields of a spec, by name; those that are None keep their defaults.
using InputFields = nb::typed<nb::dict, nb::str, nb::any>;

template <class Spec>
Spec to_spec(const InputFields& given) {
    Spec spec;
    std::size_t known = 0;
    network::for_each_field(spec, [&](const auto& field, auto& value) {
        const std::string name(field.name);
        if (!given.contains(name.c_str())) throw nb::type_error(("the field " + name + " is missing").c_str());
        ++known;
        const nb::object item = given[name.c_str()];
        if (item.is_none()) return;
        try {
            read_field(item, value);
        } catch (const nb::cast_error&) {
            throw nb::type_error(("the field " + name + " cannot have this type").c_str());
        }
    });
    if (known != given.size()) throw nb::type_error("there are fields that do not exist");
    return spec;
}

void bind_distribution(nb::module_& module) {
    using Kind = Distribution::Kind;
    using Restriction = Distribution::Restriction;
    nb::class_<Distribution>(module, "Distribution", "A distribution of real numbers.")
        .def(
            "__init__",
            [](Distribution* self, std::string_view kind, double first, double second, std::string_view restriction,
               double lower, double upper) {
                static const std::map<std::string_view, Kind> kinds{{"normal", Kind::normal},
                                                                    {"lognormal", Kind::lognormal},
                                                                    {"uniform", Kind::uniform},
                                                                    {"exponential", Kind::exponential}};
                static const std::map<std::string_view, Restriction> restrictions{
                    {"none", Restriction::none}, {"clip", Restriction::clip}, {"redraw", Restriction::redraw}};
                new (self) Distribution{.kind = kinds.at(kind),
                                        .first = first,
                                        .second = second,
                                        .restriction = restrictions.at(restriction),
                                        .lower = lower,
                                        .upper = upper};
            },
            nb::arg("kind"), nb::arg("first"), nb::arg("second"), nb::arg("restriction"), nb::arg("lower"),
            nb::arg("upper"))
        .def(
            "range", [](const Distribution& self) { return std::pair(self.least(), self.greatest()); },
            "The least and the greatest value that can be drawn.")
        .def("check", &Distribution::check, nb::arg("object"), "Raise ValueOutOfBoundsError if it is invalid.");
}

/// A value of a parameter of a rule.
using InputRuleValue = std::variant<bool, std::uint64_t, double, InputArray<std::int64_t>, SharedIndices,
                                    std::shared_ptr<const connect::PairFunction>, connect::Mask::Pointer>;

/// As `to_shared_array`; indices are signed in Python, but not negative.
SharedIndices to_shared(const InputArray<std::int64_t>& indices) {
    const auto owner = std::make_shared<const InputArray<std::int64_t>>(indices);
    const auto* const data = reinterpret_cast<const std::uint64_t*>(owner->data());
    return {std::shared_ptr<const std::uint64_t>(owner, data), owner->size()};
}

connect::RuleValue to_rule_value(const InputRuleValue& value) {
    if (const auto* const indices = std::get_if<InputArray<std::int64_t>>(&value)) return to_shared(*indices);
    if (const auto* const mapped = std::get_if<SharedIndices>(&value)) return *mapped;
    if (const auto* const flag = std::get_if<bool>(&value)) return *flag;
    if (const auto* const count = std::get_if<std::uint64_t>(&value)) return *count;
    if (const auto* const function = std::get_if<std::shared_ptr<const connect::PairFunction>>(&value)) {
        return *function;
    }
    if (const auto* const mask = std::get_if<connect::Mask::Pointer>(&value)) return *mask;
    return std::get<double>(value);
}

void bind_mapped_numbers(nb::module_& module) {
    nb::class_<SharedArray>(module, "MappedArray", "The numbers of a file, of 64 bits, mapped into memory.")
        .def(
            "__init__",
            [](SharedArray* self, const std::string& path, std::uint64_t size) {
                new (self) SharedArray(map_array(path, size));
            },
            nb::arg("path"), nb::arg("size"));
    nb::class_<SharedIndices>(module, "MappedIndices", "The whole numbers of a file, of 64 bits, mapped into memory.")
        .def(
            "__init__",
            [](SharedIndices* self, const std::string& path, std::uint64_t size) {
                new (self) SharedIndices(map_indices(path, size));
            },
            nb::arg("path"), nb::arg("size"));
}

void bind_rule(nb::module_& module) {
    nb::class_<connect::RuleSpec>(module, "RuleSpec", "A connection rule with values for its parameters.")
        .def(
            "__init__",
            [](connect::RuleSpec* self, std::string_view name, const std::map<std::string, InputRuleValue>& values) {
                std::vector<connect::RuleArgument> arguments;
                arguments.reserve(values.size());
                for (const auto& [parameter, value] : values) arguments.emplace_back(parameter, to_rule_value(value));
                new (self) connect::RuleSpec(connect::find_rule(name), arguments);
            },
            nb::arg("name"), nb::arg("values"))
        .def(
            "reversed",
            [](const connect::RuleSpec& self, std::uint32_t projection, bool same_weights, bool same_delays) {
                return self.reversed(
                    {.of = ProjectionId(projection), .same_weights = same_weights, .same_delays = same_delays});
            },
            nb::arg("projection"), nb::arg("same_weights"), nb::arg("same_delays"),
            "The rule for the opposite direction of a projection.");
}

/// Functions that add to a network.
void bind_creation(nb::class_<Network>& network) {
    network.def(nb::init<double, std::uint64_t>(), nb::arg("resolution"), nb::arg("seed"))
        .def(nb::init<const Network&>(), nb::arg("other"))
        .def_prop_ro("resolution", &Network::resolution)
        .def_prop_ro("seed", &Network::seed)
        .def("set_resolution", &Network::set_resolution, nb::arg("resolution"))
        .def(
            "set_seed", [](Network& self, std::uint64_t seed) { self.set_seed(seed, make_poll(nullptr)); },
            nb::arg("seed"))
        .def(
            "create",
            [](Network& self, const InputFields& population,
               const std::optional<nb::typed<nb::callable, void()>>& poll) {
                return self.create(to_spec<network::PopulationSpec>(population), make_poll(poll ? &*poll : nullptr))
                    .value;
            },
            nb::arg("population"), nb::arg("poll") = nb::none())
        .def(
            "connect",
            [](Network& self, const InputFields& projection) {
                return self.connect(to_spec<network::ProjectionSpec>(projection)).value;
            },
            nb::arg("projection"))
        .def(
            "stimulate",
            [](Network& self, const InputFields& stimulus) {
                self.stimulate(to_spec<network::StimulusSpec>(stimulus));
            },
            nb::arg("stimulus"));
}

/// Functions that replace values.
void bind_changes(nb::class_<Network>& network) {
    network
        .def(
            "set_population",
            [](Network& self, std::uint32_t population, const InputFields& changed) {
                self.set(PopulationId(population), to_spec<network::PopulationSpec>(changed));
            },
            nb::arg("population"), nb::arg("changed"), "Replace the description of a population.")
        .def(
            "set_projection",
            [](Network& self, std::uint32_t projection, const InputFields& changed) {
                self.set(ProjectionId(projection), to_spec<network::ProjectionSpec>(changed));
            },
            nb::arg("projection"), nb::arg("changed"), "Replace the description of a projection.")
        .def(
            "set_stimulus",
            [](Network& self, std::size_t stimulus, const InputFields& changed) {
                self.set(stimulus, to_spec<network::StimulusSpec>(changed));
            },
            nb::arg("stimulus"), nb::arg("changed"), "Replace the description of a stimulus.");
}

void bind_recorders(nb::class_<Network>& network) {
    network
        .def(
            "record_spikes",
            [](Network& self, const InputFields& recorder) {
                return self.record_spikes(to_spec<network::SpikeRecorderSpec>(recorder));
            },
            nb::arg("recorder"))
        .def(
            "record_state",
            [](Network& self, const InputFields& recorder) {
                return self.record_state(to_spec<network::StateRecorderSpec>(recorder));
            },
            nb::arg("recorder"))
        .def(
            "add_field",
            [](Network& self, const InputFields& field) { return self.add_field(to_spec<network::FieldSpec>(field)); },
            nb::arg("field"));
}

/// Queries of a network.
void bind_queries(nb::class_<Network>& network) {
    network
        .def(
            "population_name",
            [](const Network& self, std::uint32_t id) { return self.population(PopulationId(id)).name; }, nb::arg("id"))
        .def_prop_ro("unit_count", &Network::unit_count)
        .def_prop_ro("neuron_count", &Network::neuron_count)
        .def_prop_ro("expected_synapses", [](const Network& self) { return self.expected_synapses(); })
        .def(
            "expected_synapses_of",
            [](const Network& self, std::uint32_t projection) {
                return self.expected_synapses(ProjectionId(projection));
            },
            nb::arg("projection"))
        .def(
            "first_compartments",
            [](const Network& self, const InputIds& ids) {
                return to_array<std::int64_t>(self.first_compartments(to_ids(ids)));
            },
            nb::arg("ids"), "The first compartment of each of some neurons among those of all, and their number.")
        .def(
            "positions",
            [](const Network& self, const InputIds& ids) { return coordinates_of(*self.space(), to_ids(ids)); },
            nb::arg("ids"), "Positions of neurons that all have some, of as many dimensions: one row each.")
        .def(
            "ranks",
            [](const Network& self, std::string_view placement, std::int32_t ranks) {
                const connect::Placement placed(self.unit_count(), ranks, Choice<connect::PlacementKind>(placement),
                                                self.seed(), self.space());
                std::vector<std::int32_t> of_units(self.unit_count());
                for (std::uint64_t id = 0; id < of_units.size(); ++id) {
                    of_units[id] = placed.rank_of(NeuronId{id}).value;
                }
                return to_array<std::int32_t>(std::move(of_units));
            },
            nb::arg("placement"), nb::arg("ranks"), "The rank of each neuron and source.")
        .def(
            "rotations", [](const Network& self, const InputIds& ids) { return rotations_of(self, to_ids(ids)); },
            nb::arg("ids"), "Rotations of neurons: one matrix each, the identity without a rotation.")
        .def(
            "weight_range",
            [](const Network& self, std::size_t projection) {
                return network::range_of(self.projections()[projection].weight);
            },
            nb::arg("projection"), "Bounds of the weights that the synapses of a projection can have.")
        .def(
            "delay_range",
            [](const Network& self, std::size_t projection) {
                return network::range_of(self.projections()[projection].delay);
            },
            nb::arg("projection"), "The same of its delays, ms.")
        .def(
            "value_range",
            [](const Network& self, std::uint32_t population, const std::string& name) {
                return network::range_of(self.population(PopulationId(population)).values.at(name));
            },
            nb::arg("population"), nb::arg("name"), "Bounds of a value that a population was given.")
        .def("to_steps", &Network::to_steps, nb::arg("milliseconds"), nb::arg("object"));
}

}  // namespace

void bind_network(nb::module_& module) {
    bind_distribution(module);
    bind_mapped_numbers(module);
    bind_rule(module);
    nb::class_<Network> network(module, "Network", "The description of a network, checked by the core.");
    bind_creation(network);
    bind_changes(network);
    bind_recorders(network);
    bind_queries(network);
}

}  // namespace ranvier::bindings
