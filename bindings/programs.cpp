#include <nanobind/stl/array.h>
#include <nanobind/stl/shared_ptr.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <memory_resource>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "base/instruction_set.hpp"
#include "base/subnormals.hpp"
#include "bindings.hpp"
#include "models/program_model.hpp"
#include "models/program_release.hpp"
#include "models/program_synapse.hpp"
#include "program/program.hpp"
#include "program/step_function.hpp"
#include "program/step_interpreter.hpp"
#include "programs.hpp"

namespace ranvier::bindings {

namespace {

using models::ProgramDescription;
using models::ProgramModel;
using models::ProgramRelease;
using models::ProgramSynapse;
using models::ReleaseProgramDescription;
using models::SynapseProgramDescription;
using program::Instruction;
using program::Program;

/// Result of `prepare`, text.
using InputCondition = std::pair<std::uint32_t, std::string>;
/// Row, column, constant.
using InputOutput = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;

Program to_program(const nb::handle& given, std::size_t depth, std::size_t& instructions);

Instruction to_instruction(const nb::handle& given, std::size_t depth, std::size_t& instructions) {
    Instruction instruction{.operation = program::parse_operation(read<std::string>(given, "op")),
                            .operands = read<std::vector<std::uint32_t>>(given, "operands"),
                            .number = without_subnormal(read<double>(given, "number")),
                            .body = nullptr,
                            .count = read<std::uint32_t>(given, "count")};
    const nb::object body = given.attr("body");
    if (body.is_none()) return instruction;
    if (depth == program::deepest_loop) {
        throw ValueOutOfBoundsError(
            {.object = "depth of a loop",
             .value = std::to_string(depth + 1),
             .bound = "loops in loops can be " + std::to_string(program::deepest_loop) + " deep",
             .remedy = "make fewer of them"});
    }
    instruction.body = std::make_shared<const Program>(to_program(body, depth + 1, instructions));
    return instruction;
}

Program to_program(const nb::handle& given, std::size_t depth, std::size_t& instructions) {
    Program made;
    for (const std::string& type : read<std::vector<std::string>>(given, "inputs")) {
        made.inputs.push_back(program::parse_type(type));
    }
    for (const nb::handle instruction : read<nb::sequence>(given, "instructions")) {
        // Bodies of loops may stand in several places.
        if (++instructions > program::most_instructions) {
            throw ValueOutOfBoundsError({.object = "number of instructions of a program",
                                         .value = "more than " + std::to_string(program::most_instructions),
                                         .bound = "there can be at most so many",
                                         .remedy = "write fewer equations"});
        }
        made.instructions.push_back(to_instruction(instruction, depth, instructions));
    }
    made.results = read<std::vector<std::uint32_t>>(given, "results");
    return made;
}

}  // namespace

Program read_program(const nb::handle& description, const char* name) {
    std::size_t instructions = 0;
    return to_program(description.attr(name), 0, instructions);
}

std::vector<models::ProgramParameter> read_parameters(const nb::handle& description) {
    std::vector<models::ProgramParameter> made;
    for (const nb::handle own : read<nb::sequence>(description, "parameters")) {
        made.push_back({.name = read<std::string>(own, "name"),
                        .unit = read<std::string>(own, "unit"),
                        .default_value = read<double>(own, "default"),
                        .bounds = {.lower = read<double>(own, "lower"),
                                   .upper = read<double>(own, "upper"),
                                   .lower_open = read<bool>(own, "lower_open"),
                                   .upper_open = read<bool>(own, "upper_open")},
                        .meaning = read<std::string>(own, "meaning")});
    }
    return made;
}

namespace {

template <class Description>
void read_parameters_and_conditions(const nb::handle& given, Description& made) {
    made.parameters = read_parameters(given);
    for (auto& [result, text] : read<std::vector<InputCondition>>(given, "conditions")) {
        made.conditions.push_back({result, std::move(text)});
    }
}

void read_lists(const nb::handle& given, ProgramDescription& made) {
    read_parameters_and_conditions(given, made);
    for (const nb::handle own : read<nb::sequence>(given, "variables")) {
        made.variables.push_back({.name = read<std::string>(own, "name"),
                                  .unit = read<std::string>(own, "unit"),
                                  .meaning = read<std::string>(own, "meaning"),
                                  .initial_parameter = read<std::string>(own, "initial_parameter"),
                                  .initial_value = read<double>(own, "initial_value")});
    }
    for (const nb::handle own : read<nb::sequence>(given, "derived")) {
        made.derived.push_back({.name = read<std::string>(own, "name"),
                                .unit = read<std::string>(own, "unit"),
                                .meaning = read<std::string>(own, "meaning")});
    }
    for (const nb::handle own : read<nb::sequence>(given, "propagators")) {
        models::Propagator propagator{.size = read<std::uint32_t>(own, "n"),
                                      .entries = read<std::vector<std::int32_t>>(own, "entries"),
                                      .outputs = {}};
        for (const auto& [row, column, constant] : read<std::vector<InputOutput>>(own, "outputs")) {
            propagator.outputs.push_back({row, column, constant});
        }
        made.propagators.push_back(std::move(propagator));
    }
}

ProgramDescription to_description(const nb::handle& given) {
    ProgramDescription made{.name = read<std::string>(given, "name"),
                            .summary = read<std::string>(given, "summary"),
                            .equations = read<std::string>(given, "equations"),
                            .reference = read<std::string>(given, "reference"),
                            .parameters = {},
                            .variables = {},
                            .derived = {},
                            .receptors = read<std::vector<std::string>>(given, "receptors"),
                            .sign_chooses_receptor = read<bool>(given, "sign_chooses_receptor"),
                            .weight_unit = read<std::string>(given, "weight_unit"),
                            .takes_current = read<bool>(given, "takes_current"),
                            .prepare = read_program(given, "prepare"),
                            .conditions = {},
                            .propagators = {},
                            .constants = read<std::uint32_t>(given, "constants"),
                            .refractory = std::nullopt,
                            .step = read_program(given, "step"),
                            .observe = read_program(given, "observe")};
    read_lists(given, made);
    const auto refractory = read<std::int64_t>(given, "refractory");
    if (refractory < -1 || refractory > std::numeric_limits<std::int32_t>::max()) {
        throw ValueOutOfBoundsError({.object = "refractory of neuron model '" + made.name + "'",
                                     .value = std::to_string(refractory),
                                     .bound = "it must be a result of 'prepare', or -1",
                                     .remedy = "models are made of equations by ranvier.neuron()"});
    }
    if (refractory >= 0) made.refractory = static_cast<std::uint32_t>(refractory);
    return made;
}

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

/// What keeps compiled code: an object of Python, which whichever thread lets it go last gives back.
std::shared_ptr<const void> keep(nb::object owner) {
    auto kept = std::make_unique<nb::object>(std::move(owner));
    return {kept.release(), [](nb::object* object) {
                // When the interpreter is gone, so are its objects.
                if (!nb::is_alive()) return;
                const nb::gil_scoped_acquire lock;
                delete object;
            }};
}

void use_compiled(ProgramModel& self, std::string_view set, std::uintptr_t address, nb::object owner) {
    if (address == 0) {
        throw ValueOutOfBoundsError({.object = "address of a step function",
                                     .value = "0",
                                     .bound = "it must be that of a function",
                                     .remedy = "without one, programs are interpreted"});
    }
    self.use_compiled(parse_instruction_set(set),
                      {.function = reinterpret_cast<program::StepFunction>(address), .owner = keep(std::move(owner))});
}

/// Calls the interpreter, or compiled code, once. @pre the arguments fit the program
std::uint32_t step_once(const ProgramModel& self, std::string_view set, std::uintptr_t address, bool compiled) {
    program::StepArguments arguments = *reinterpret_cast<const program::StepArguments*>(address);
    const InstructionSet chosen = parse_instruction_set(set);
    const FlushSubnormals flush;
    if (compiled) {
        const models::CompiledStep step = self.compiled(chosen);
        if (step.function == nullptr) throw InternalError("nothing was compiled for this instruction set");
        return step.function(&arguments);
    }
    const ProgramDescription& description = self.description();
    std::vector<std::optional<double>> constants(description.constants);
    for (std::size_t c = 0; c < constants.size(); ++c) {
        const bool is_own = arguments.constants_per_lane != 0 && arguments.constant_masks[c] != 0;
        if (!is_own) constants[c] = arguments.constants[c][0];
    }
    program::StepInterpreter interpreter(description.step,
                                         {.variables = description.variables.size(),
                                          .constants = description.constants,
                                          .receptors = description.receptors.size(),
                                          .takes_current = description.takes_current},
                                         constants, chosen, std::pmr::get_default_resource());
    if (arguments.lanes > interpreter.most_lanes()) throw InternalError("a step of so many lanes at once");
    arguments.context = &interpreter;
    return program::StepInterpreter::step(&arguments);
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

void bind_synapse_programs(nb::module_& module) {
    nb::class_<ProgramSynapse, models::OwnSynapse>(module, "ProgramSynapse",
                                                   "Synapses that learn by programs, checked by the core.")
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
            "fingerprint", [](const ProgramSynapse& self) { return self.synapse_model().own_fingerprint; },
            "Of all that the synapses do.")
        .def(
            "conflict",
            [](const ProgramSynapse& self, const std::vector<double>& parameters) {
                need_parameters(self, parameters);
                return self.conflict(parameters);
            },
            nb::arg("parameters"), "Why parameters do not fit together, or None.")
        .def(
            "weight_range",
            [](const ProgramSynapse& self, const std::vector<double>& parameters) {
                need_parameters(self, parameters);
                return models::weight_range(self.description(), parameters);
            },
            nb::arg("parameters"), "The weights that synapses keep to, or None where they might change their sign.");
    nb::class_<ProgramRelease, models::OwnSynapse>(
        module, "ProgramRelease", "Synapses of which a program tells what part of the weight a spike adds.")
        .def(
            "__init__",
            [](ProgramRelease* self, const nb::object& description) {
                new (self) ProgramRelease(to_release_description(description));
            },
            nb::arg("description"),
            "Of an object with the attributes of a ReleaseProgram (ranvier.equations.program): name, summary, "
            "equations, reference, weight_unit, parameters, states, prepare, conditions, release.")
        .def_prop_ro(
            "fingerprint", [](const ProgramRelease& self) { return self.synapse_model().own_fingerprint; },
            "Of all that the synapses do.")
        .def(
            "conflict",
            [](const ProgramRelease& self, const std::vector<double>& parameters) {
                need_parameters(self, parameters);
                return self.conflict(parameters);
            },
            nb::arg("parameters"), "Why parameters do not fit together, or None.");
}

}  // namespace

void bind_programs(nb::module_& module) {
    bind_synapse_programs(module);
    nb::class_<ProgramModel, models::OwnModel>(module, "ProgramModel",
                                               "Neurons whose equations are programs, checked by the core.")
        .def(
            "__init__",
            [](ProgramModel* self, const nb::object& description) {
                new (self) ProgramModel(to_description(description));
            },
            nb::arg("description"),
            "Of an object with the attributes of a NeuronProgram (ranvier.equations.program): name, summary, "
            "equations, "
            "reference, parameters, variables, derived, receptors, sign_chooses_receptor, weight_unit, takes_current, "
            "prepare, conditions, propagators, constants, refractory, step, observe.")
        .def_prop_ro(
            "fingerprint", [](const ProgramModel& self) { return self.neuron_model().own_fingerprint; },
            "Of all that the neurons do.")
        .def(
            "conflict",
            [](const ProgramModel& self, const std::vector<double>& parameters, std::optional<double> step) {
                if (parameters.size() != self.description().parameters.size()) {
                    throw ShapeError({.object = "parameters of neuron model '" + self.description().name + "'",
                                      .value = std::to_string(parameters.size()),
                                      .bound = "there are " + std::to_string(self.description().parameters.size()),
                                      .remedy = "give one number for each"});
                }
                return self.conflict(parameters, step);
            },
            nb::arg("parameters"), nb::arg("step") = nb::none(),
            "Why parameters of a neuron do not fit together with a step (ms), or None.")
        .def("use_compiled", use_compiled, nb::arg("instruction_set"), nb::arg("address"), nb::arg("owner"),
             "Let simulations with `compiled_programs` that are built from now on for an instruction set call a "
             "compiled step function (core/program/step_function.hpp), which must do what the interpreter does, bit "
             "for bit. `owner` keeps its code in memory, and is kept as long as the code may be called.")
        .def(
            "is_compiled",
            [](const ProgramModel& self, std::string_view set) {
                return self.compiled(parse_instruction_set(set)).function != nullptr;
            },
            nb::arg("instruction_set"), "Whether there is such a function.")
        .def("step_once", step_once, nb::arg("instruction_set"), nb::arg("arguments"), nb::arg("compiled"),
             "Call a step function on the StepArguments at an address, so that tests can compare what carries out a "
             "program.");
    // Of the interface of compiled step functions.
    module.attr("step_function_version") = program::step_function_version;
}

}  // namespace ranvier::bindings
