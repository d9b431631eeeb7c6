#include <nanobind/stl/shared_ptr.h>

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

#include "base/subnormals.hpp"
#include "bindings.hpp"
#include "models/equations/program_model.hpp"
#include "program/step_function.hpp"
#include "program/step_interpreter.hpp"
#include "programs.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/base/instruction_set.hpp"
#include "ranvier/models/equations/program_text.hpp"
#include "ranvier/program/program.hpp"

namespace ranvier::bindings {

namespace {

using models::ProgramDescription;
using models::ProgramModel;
using program::Instruction;
using program::Program;

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
        throw ValueOutOfBoundsError({.object = "depth of a loop",
                                     .value = std::to_string(depth + 1),
                                     .bound = "nested loops can be " + std::to_string(program::deepest_loop) + " deep",
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
        // Bodies of loops may be repeated.
        if (++instructions > program::most_instructions) {
            throw ValueOutOfBoundsError({.object = "number of instructions of a program",
                                         .value = "more than " + std::to_string(program::most_instructions),
                                         .bound = "it exceeds the maximum",
                                         .remedy = "write fewer equations"});
        }
        made.instructions.push_back(to_instruction(instruction, depth, instructions));
    }
    made.results = read<std::vector<std::uint32_t>>(given, "results");
    return made;
}

}  // namespace

Program to_program(const nb::handle& given) {
    std::size_t instructions = 0;
    return to_program(given, 0, instructions);
}

Program read_program(const nb::handle& description, const char* name) { return to_program(description.attr(name)); }

std::vector<models::ProgramParameter> read_parameters(const nb::handle& description) {
    std::vector<models::ProgramParameter> made;
    for (const nb::handle parameter : read<nb::sequence>(description, "parameters")) {
        made.push_back({.name = read<std::string>(parameter, "name"),
                        .unit = read<std::string>(parameter, "unit"),
                        .default_value = read<double>(parameter, "default"),
                        .bounds = {.lower = read<double>(parameter, "lower"),
                                   .upper = read<double>(parameter, "upper"),
                                   .lower_open = read<bool>(parameter, "lower_open"),
                                   .upper_open = read<bool>(parameter, "upper_open")},
                        .meaning = read<std::string>(parameter, "meaning")});
    }
    return made;
}

/// A Python object that keeps compiled code alive; it is released by the last thread that uses it.
std::shared_ptr<const void> keep(nb::object owner) {
    auto kept = std::make_unique<nb::object>(std::move(owner));
    return {kept.release(), [](nb::object* object) {
                // The objects are gone after the interpreter has ended.
                if (!nb::is_alive()) return;
                const nb::gil_scoped_acquire lock;
                delete object;
            }};
}

namespace {

void read_lists(const nb::handle& given, ProgramDescription& made) {
    read_parameters_and_conditions(given, made);
    for (const nb::handle variable : read<nb::sequence>(given, "variables")) {
        made.variables.push_back({.name = read<std::string>(variable, "name"),
                                  .unit = read<std::string>(variable, "unit"),
                                  .meaning = read<std::string>(variable, "meaning"),
                                  .initial_parameter = read<std::string>(variable, "initial_parameter"),
                                  .initial_value = read<double>(variable, "initial_value")});
    }
    for (const nb::handle derived : read<nb::sequence>(given, "derived")) {
        made.derived.push_back({.name = read<std::string>(derived, "name"),
                                .unit = read<std::string>(derived, "unit"),
                                .meaning = read<std::string>(derived, "meaning")});
    }
    for (const nb::handle given_propagator : read<nb::sequence>(given, "propagators")) {
        models::Propagator propagator{.size = read<std::uint32_t>(given_propagator, "n"),
                                      .entries = read<std::vector<std::int32_t>>(given_propagator, "entries"),
                                      .outputs = {}};
        for (const auto& [row, column, constant] : read<std::vector<InputOutput>>(given_propagator, "outputs")) {
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
                            .observe = read_program(given, "observe"),
                            .failure = read<std::string>(given, "failure")};
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

/// Calls the interpreter, or compiled code, once.
/// @pre the arguments fit the program
std::uint32_t step_once(const ProgramModel& self, std::string_view set, std::uintptr_t address, bool compiled) {
    program::StepArguments arguments = *reinterpret_cast<const program::StepArguments*>(address);
    const InstructionSet chosen = parse_instruction_set(set);
    const FlushSubnormals flush;
    if (compiled) {
        const models::CompiledStep step = self.compiled(chosen);
        if (step.function == nullptr) throw InternalError("there is no compiled code for this instruction set");
        return step.function(&arguments);
    }
    const ProgramDescription& description = self.description();
    std::vector<std::optional<double>> constants(description.constants);
    for (std::size_t c = 0; c < constants.size(); ++c) {
        const bool differs = arguments.constants_per_lane != 0 && arguments.constant_masks[c] != 0;
        if (!differs) constants[c] = arguments.constants[c][0];
    }
    program::StepInterpreter interpreter(description.step,
                                         {.variables = description.variables.size(),
                                          .constants = description.constants,
                                          .receptors = description.receptors.size(),
                                          .takes_current = description.takes_current},
                                         constants, chosen, std::pmr::get_default_resource());
    if (arguments.lanes > interpreter.most_lanes()) throw InternalError("too many lanes for a step");
    arguments.context = &interpreter;
    return program::StepInterpreter::step(&arguments);
}

}  // namespace

void bind_programs(nb::module_& module) {
    nb::class_<ProgramModel, models::UserModel>(module, "ProgramModel",
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
            "prepare, conditions, propagators, constants, refractory, step, observe, failure.")
        .def_prop_ro(
            "fingerprint", [](const ProgramModel& self) { return self.fingerprint(); },
            "Hash of the whole description.")
        .def_prop_ro(
            "text", [](const ProgramModel& self) { return models::program_text(self.description()); },
            "The model as text, which `ranvier::models::parse_program` reads (docs/design/programs.md).")
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
    // Version of the interface of compiled step functions.
    module.attr("step_function_version") = program::step_function_version;
}

}  // namespace ranvier::bindings
