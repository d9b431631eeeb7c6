#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/aligned_array.hpp"
#include "base/subnormals.hpp"
#include "bindings.hpp"
#include "connect/plasticity/learning_rule.hpp"
#include "models/equations/compiled_events.hpp"
#include "models/equations/program_release.hpp"
#include "models/equations/program_rule.hpp"
#include "models/equations/program_synapse.hpp"
#include "program/event_function.hpp"
#include "programs.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/base/instruction_set.hpp"

/// User-defined synapses.
namespace ranvier::bindings {

namespace {

using models::ProgramRelease;
using models::ProgramSynapse;
using models::ReleaseProgramDescription;
using models::SynapseProgramDescription;

SynapseProgramDescription to_synapse_description(const nb::handle& given) {
    SynapseProgramDescription made{
        .name = read<std::string>(given, "name"),
        .summary = read<std::string>(given, "summary"),
        .equations = read<std::string>(given, "equations"),
        .reference = read<std::string>(given, "reference"),
        .weight_unit = read<std::string>(given, "weight_unit"),
        .parameters = {},
        .traces = {},
        .presynaptic_traces_accumulate = read<bool>(given, "presynaptic_traces_accumulate"),
        .postsynaptic_traces_accumulate = read<bool>(given, "postsynaptic_traces_accumulate"),
        .prepare = read_program(given, "prepare"),
        .conditions = {},
        .presynaptic = read_program(given, "presynaptic"),
        .postsynaptic = read_program(given, "postsynaptic")};
    read_parameters_and_conditions(given, made);
    const auto traces = read<std::array<std::optional<std::uint32_t>, connect::trace_kinds>>(given, "time_constants");
    for (std::size_t kind = 0; kind < traces.size(); ++kind) {
        made.traces[kind] = {.is_read = traces[kind].has_value(), .time_constant = traces[kind].value_or(0)};
    }
    return made;
}

ReleaseProgramDescription to_release_description(const nb::handle& given) {
    ReleaseProgramDescription made{.name = read<std::string>(given, "name"),
                                   .summary = read<std::string>(given, "summary"),
                                   .equations = read<std::string>(given, "equations"),
                                   .reference = read<std::string>(given, "reference"),
                                   .weight_unit = read<std::string>(given, "weight_unit"),
                                   .parameters = {},
                                   .states = read<std::vector<std::string>>(given, "states"),
                                   .prepare = read_program(given, "prepare"),
                                   .conditions = {},
                                   .release = read_program(given, "release")};
    read_parameters_and_conditions(given, made);
    return made;
}

/// Addresses of functions: of presynaptic, then of postsynaptic events, the functions that calculate uniform numbers
/// and change weights.
void use_compiled_events(ProgramSynapse& self, std::string_view set, bool double_weights,
                         std::vector<std::uint32_t> per_synapse_parameters,
                         const std::array<std::uintptr_t, 4>& addresses, nb::object owner) {
    if (std::ranges::count(addresses, std::uintptr_t{0}) > 0) {
        throw ValueOutOfBoundsError({.object = "address of an event function",
                                     .value = "0",
                                     .bound = "it must be that of a function",
                                     .remedy = "without one, programs are interpreted"});
    }
    const auto event = [&](std::size_t first) {
        return models::CompiledEvent{.prepare = reinterpret_cast<program::UniformsFunction>(addresses[first]),
                                     .run = reinterpret_cast<program::EventFunction>(addresses[first + 1])};
    };
    self.use_compiled({.set = parse_instruction_set(set),
                       .double_weights = double_weights,
                       .per_synapse_parameters = std::move(per_synapse_parameters)},
                      {.presynaptic = event(0), .postsynaptic = event(2), .owner = keep(std::move(owner))});
}

/// Changes weights by a spike, with the interpreter or compiled code.
template <class Real>
std::vector<double> change_once(const ProgramSynapse& self, const models::EventForm& form, bool is_presynaptic,
                                const std::vector<double>& parameters, const std::vector<std::vector<double>>& arrays,
                                bool compiled) {
    const auto copied = [](const std::vector<double>& from) {
        AlignedVector<Real> made(from.begin(), from.end());
        made.resize((from.size() + connect::rule_lanes - 1) / connect::rule_lanes * connect::rule_lanes, Real{0});
        return made;
    };
    AlignedVector<Real> weights = copied(arrays[0]);
    const AlignedVector<Real> traces = copied(arrays[1]);
    const AlignedVector<Real> same_side_traces = copied(arrays[2]);
    const std::optional<models::CompiledEvents> code = compiled ? self.compiled(form) : std::nullopt;
    if (compiled && !code) throw InternalError("there is no compiled code for this instruction set");
    const connect::LearningRule<Real> rule =
        models::make_program_rule<Real>(self.description(),
                                        {.values = parameters,
                                         .some_differ = !form.per_synapse_parameters.empty(),
                                         .per_synapse = form.per_synapse_parameters},
                                        std::pmr::get_default_resource(), code);
    std::vector<AlignedVector<Real>> per_synapse_parameters;
    std::vector<const Real*> first;
    for (std::size_t k = 3; k < arrays.size(); ++k) per_synapse_parameters.push_back(copied(arrays[k]));
    first.reserve(per_synapse_parameters.size());
    for (const AlignedVector<Real>& each : per_synapse_parameters) first.push_back(each.data());
    const FlushSubnormals flush;
    if (rule.per_synapse.any()) {
        (is_presynaptic ? rule.per_synapse.presynaptic : rule.per_synapse.postsynaptic)(
            form.set, weights.data(), traces.data(), same_side_traces.data(), first.data(), weights.size(),
            rule.per_synapse.constants);
    } else {
        (is_presynaptic ? rule.presynaptic : rule.postsynaptic)(
            form.set, weights.data(), traces.data(), same_side_traces.data(), weights.size(), rule.constants.get());
    }
    return {weights.begin(), weights.begin() + static_cast<std::ptrdiff_t>(arrays[0].size())};
}

template <class Synapse>
void need_parameters(const Synapse& self, const std::vector<double>& parameters) {
    const std::size_t wanted = self.description().parameters.size();
    if (parameters.size() == wanted) return;
    throw ShapeError({.object = "parameters of synapse model '" + self.description().name + "'",
                      .value = std::to_string(parameters.size()),
                      .bound = "there are " + std::to_string(wanted),
                      .remedy = "give one number for each"});
}

void bind_learning(nb::class_<ProgramSynapse, models::UserSynapse>& synapse) {
    synapse
        .def(
            "__init__",
            [](ProgramSynapse* self, const nb::object& description) {
                new (self) ProgramSynapse(to_synapse_description(description));
            },
            nb::arg("description"),
            "Of an object with the attributes of a SynapseProgram (ranvier.equations.program): name, summary, "
            "equations, reference, weight_unit, parameters, time_constants, presynaptic_traces_accumulate, "
            "postsynaptic_traces_accumulate, prepare, conditions, presynaptic, postsynaptic.")
        .def_prop_ro(
            "fingerprint", [](const ProgramSynapse& self) { return self.synapse_model().user_fingerprint; },
            "Hash of the whole description.")
        .def(
            "conflict",
            [](const ProgramSynapse& self, const std::vector<double>& least, const std::vector<double>& greatest,
               const std::vector<std::uint32_t>& per_synapse) {
                need_parameters(self, least);
                need_parameters(self, greatest);
                return self.conflict(least, greatest, per_synapse);
            },
            nb::arg("least"), nb::arg("greatest"), nb::arg("per_synapse"),
            "Why parameters between these values do not fit together, or None. `per_synapse` are the indices of those "
            "that differ between synapses.")
        .def(
            "conflict_of_events",
            [](const ProgramSynapse& self, const std::vector<double>& least, const std::vector<double>& greatest) {
                need_parameters(self, least);
                need_parameters(self, greatest);
                return self.conflict_of_events(least, greatest);
            },
            nb::arg("least"), nb::arg("greatest"), "Why events might change the sign of weights, or None.")
        .def(
            "weight_range",
            [](const ProgramSynapse& self, const std::vector<double>& least, const std::vector<double>& greatest) {
                need_parameters(self, least);
                need_parameters(self, greatest);
                return models::weight_range(self.description(), least, greatest);
            },
            nb::arg("least"), nb::arg("greatest"),
            "The weights that synapses keep to whose parameters lie between these, or None where they might change "
            "their sign.")
        .def(
            "read_by_events",
            [](const ProgramSynapse& self, const std::vector<std::uint32_t>& given) {
                return models::read_by_events(self.description(), given);
            },
            nb::arg("parameters"), "The subset of some parameters, ascending, that events read.");
}

/// Selection of the interpreter or compiled code.
void bind_compiled(nb::class_<ProgramSynapse, models::UserSynapse>& synapse) {
    synapse
        .def(
            "use_compiled", use_compiled_events, nb::arg("instruction_set"), nb::arg("double_weights"),
            nb::arg("per_synapse_parameters"), nb::arg("addresses"), nb::arg("owner"),
            "Let simulations with `compiled_rules` that are built from now on for an instruction set and a precision "
            "of "
            "weights call compiled functions (core/program/event_function.hpp): of presynaptic events, then of "
            "postsynaptic ones, what makes uniform numbers and what changes weights. They must do what the interpreter "
            "does, bit for bit. `owner` keeps their code in memory, and is kept as long as it may be called.")
        .def(
            "is_compiled",
            [](const ProgramSynapse& self, std::string_view set, bool double_weights,
               std::vector<std::uint32_t> per_synapse_parameters) {
                return self
                    .compiled({.set = parse_instruction_set(set),
                               .double_weights = double_weights,
                               .per_synapse_parameters = std::move(per_synapse_parameters)})
                    .has_value();
            },
            nb::arg("instruction_set"), nb::arg("double_weights"), nb::arg("per_synapse_parameters"),
            "Whether there are such functions.")
        .def(
            "change_once",
            [](const ProgramSynapse& self, std::string_view set, bool double_weights,
               std::vector<std::uint32_t> per_synapse_parameters, bool is_presynaptic,
               const std::vector<double>& parameters, const std::vector<std::vector<double>>& arrays, bool compiled) {
                need_parameters(self, parameters);
                if (arrays.size() != 3 + per_synapse_parameters.size()) throw InternalError("wrong number of arrays");
                const models::EventForm form{.set = parse_instruction_set(set),
                                             .double_weights = double_weights,
                                             .per_synapse_parameters = std::move(per_synapse_parameters)};
                return double_weights ? change_once<double>(self, form, is_presynaptic, parameters, arrays, compiled)
                                      : change_once<float>(self, form, is_presynaptic, parameters, arrays, compiled);
            },
            nb::arg("instruction_set"), nb::arg("double_weights"), nb::arg("per_synapse_parameters"),
            nb::arg("is_presynaptic"), nb::arg("parameters"), nb::arg("arrays"), nb::arg("compiled"),
            "Return weights after a spike; `arrays` are weights, traces of the other side and of this one, and "
            "parameters "
            "of each synapse. So tests can compare what carries out a program.");
}

void bind_releases(nb::module_& module) {
    nb::class_<ProgramRelease, models::UserSynapse>(
        module, "ProgramRelease", "Synapses whose spikes add a fraction of the weight that a program calculates.")
        .def(
            "__init__",
            [](ProgramRelease* self, const nb::object& description) {
                new (self) ProgramRelease(to_release_description(description));
            },
            nb::arg("description"),
            "Of an object with the attributes of a ReleaseProgram (ranvier.equations.program): name, summary, "
            "equations, reference, weight_unit, parameters, states, prepare, conditions, release.")
        .def_prop_ro(
            "fingerprint", [](const ProgramRelease& self) { return self.synapse_model().user_fingerprint; },
            "Hash of the whole description.")
        .def(
            "conflict",
            [](const ProgramRelease& self, const std::vector<double>& parameters) {
                need_parameters(self, parameters);
                return self.conflict(parameters, parameters, {});
            },
            nb::arg("parameters"), "Why parameters do not fit together, or None.")
        .def(
            "conflict_of_events",
            [](const ProgramRelease& self, const std::vector<double>& parameters) {
                need_parameters(self, parameters);
                return self.conflict_of_events(parameters);
            },
            nb::arg("parameters"), "Why the released part might be negative or unbounded, or None.");
}

}  // namespace

void bind_synapse_programs(nb::module_& module) {
    nb::class_<ProgramSynapse, models::UserSynapse> synapse(module, "ProgramSynapse",
                                                            "Synapses that learn by programs, checked by the core.");
    bind_learning(synapse);
    bind_compiled(synapse);
    bind_releases(module);
    // Version of the interface of compiled event functions.
    module.attr("event_function_version") = program::event_function_version;
}

}  // namespace ranvier::bindings
