#include "ranvier/models/equations/program_description.hpp"

#include <cmath>
#include <set>
#include <string_view>

#include "base/counted.hpp"
#include "program/matrix_exponential.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::models {

namespace {

using program::Program;
using program::Type;

/// Upper limit of the number of values of each kind, far beyond any model.
constexpr std::uint32_t most_values = 10'000;

class Checker {
   public:
    explicit Checker(const ProgramDescription& description) : description_(description) {}

    void check() {
        if (description_.name.empty()) refuse("name", "''", "a model needs a name");
        check_names();
        for (const ProgramParameter& parameter : description_.parameters) check(parameter);
        for (const ProgramVariable& variable : description_.variables) check(variable);
        if (description_.sign_chooses_receptor && description_.receptors.size() < 2) {
            refuse("sign_chooses_receptor", "true", "the sign of a weight chooses between two receptors");
        }
        if (description_.constants > most_values) {
            refuse("number of constants", std::to_string(description_.constants), "it can be at most 10000");
        }
        check_prepare();
        check_propagators();
        check_step();
        check_observe();
    }

   private:
    [[noreturn]] void refuse(std::string_view what, std::string value, std::string bound) const {
        throw ValueOutOfBoundsError({.object = std::string(what) + " of neuron model '" + description_.name + "'",
                                     .value = std::move(value),
                                     .bound = std::move(bound),
                                     .remedy = "models are made of equations by ranvier.neuron()"});
    }

    void need(std::string_view what, std::size_t given, std::size_t wanted) const {
        if (given == wanted) return;
        throw ShapeError({.object = "number of " + std::string(what) + " of neuron model '" + description_.name + "'",
                          .value = std::to_string(given),
                          .bound = "there must be " + std::to_string(wanted),
                          .remedy = "models are made of equations by ranvier.neuron()"});
    }

    void need(std::string_view what, Type given, Type wanted) const {
        if (given == wanted) return;
        refuse(what, "a " + std::string(to_string(given)), "it must be a " + std::string(to_string(wanted)));
    }

    void check_names() const {
        std::set<std::string_view> names;
        const auto add = [&](std::string_view name) {
            if (name.empty()) refuse("a name", "''", "names are not empty");
            if (!names.insert(name).second) refuse("a name", "'" + std::string(name) + "'", "it is given twice");
        };
        for (const ProgramParameter& parameter : description_.parameters) add(parameter.name);
        for (const ProgramVariable& variable : description_.variables) add(variable.name);
        for (const DerivedVariable& derived : description_.derived) add(derived.name);
        if (names.size() > most_values) {
            refuse("number of parameters and variables", std::to_string(names.size()), "it can be at most 10000");
        }
        names.clear();
        for (const std::string& receptor : description_.receptors) add(receptor);
    }

    void check(const ProgramParameter& parameter) const {
        const Bounds& bounds = parameter.bounds;
        const std::string object = "parameter " + parameter.name;
        if (!(bounds.lower <= bounds.upper)) {
            refuse("bounds of " + object, to_text(bounds.lower) + " to " + to_text(bounds.upper),
                   "the lower one must not be above the upper one");
        }
        if (!std::isfinite(parameter.default_value) || !bounds.contains(parameter.default_value)) {
            refuse("default of " + object, to_text(parameter.default_value), "it must be finite and within its bounds");
        }
    }

    void check(const ProgramVariable& variable) const {
        if (!std::isfinite(variable.initial_value)) {
            refuse("initial value of variable " + variable.name, to_text(variable.initial_value), "it must be finite");
        }
        if (variable.initial_parameter.empty()) return;
        for (const ProgramParameter& parameter : description_.parameters) {
            if (parameter.name == variable.initial_parameter) return;
        }
        refuse("initial value of variable " + variable.name, "'" + variable.initial_parameter + "'",
               "the model has no such parameter");
    }

    void check_prepare() {
        const Program& prepare = description_.prepare;
        (void)program::check(prepare, "prepare of " + description_.name, false);
        need("inputs of 'prepare'", prepare.inputs.size(), description_.parameters.size() + 1);
        for (const Type type : prepare.inputs) need("an input of 'prepare'", type, Type::number);
        prepared_ = program::result_types(prepare);
        if (description_.propagator_outputs() > description_.constants) {
            refuse("number of constants", std::to_string(description_.constants),
                   "propagators give " + std::to_string(description_.propagator_outputs()));
        }
        if (description_.prepared_constants() > prepared_.size()) {
            refuse("number of constants", std::to_string(description_.constants),
                   "'prepare' has " + std::to_string(prepared_.size()) + " results, and propagators give " +
                       std::to_string(description_.propagator_outputs()));
        }
        for (std::size_t i = 0; i < description_.prepared_constants(); ++i)
            need("a constant", prepared_[i], Type::number);
        for (const Condition& condition : description_.conditions)
            need_prepared("a condition", condition.result, Type::truth);
        if (description_.refractory) need_prepared("the refractory period", *description_.refractory, Type::number);
    }

    void need_prepared(std::string_view what, std::uint32_t result, Type type) const {
        if (result >= prepared_.size()) {
            refuse(what, "result " + std::to_string(result),
                   "'prepare' has " + std::to_string(prepared_.size()) + " results");
        }
        need(what, prepared_[result], type);
    }

    void check_propagators() const {
        std::set<std::uint32_t> constants;
        for (const Propagator& propagator : description_.propagators) {
            const std::size_t n = propagator.size;
            if (n < 1 || n > program::largest_matrix) {
                refuse("size of a propagator", std::to_string(n),
                       "it must be from 1 to " + std::to_string(program::largest_matrix));
            }
            need("entries of a propagator", propagator.entries.size(), n * n);
            for (const std::int32_t entry : propagator.entries) {
                if (entry != -1)
                    need_prepared("an entry of a propagator", static_cast<std::uint32_t>(entry), Type::number);
            }
            for (const Propagator::Output& output : propagator.outputs) {
                if (output.row >= n || output.column >= n) {
                    refuse("an output of a propagator",
                           std::to_string(output.row) + ", " + std::to_string(output.column),
                           "it has " + counted(n, "row") + " and columns");
                }
                if (output.constant < description_.prepared_constants() || output.constant >= description_.constants ||
                    !constants.insert(output.constant).second) {
                    refuse("an output of a propagator", "constant " + std::to_string(output.constant),
                           "propagators give the constants from " + std::to_string(description_.prepared_constants()) +
                               " to " + std::to_string(description_.constants - 1) + ", each once");
                }
            }
        }
    }

    void check_step() const {
        const Program& step = description_.step;
        const std::vector<Type> types = program::check(step, "step of " + description_.name, true);
        const std::size_t numbers = description_.variables.size() + description_.constants +
                                    description_.receptors.size() + (description_.takes_current ? 1 : 0);
        // The input that says whether a neuron is in its last refractory step is optional.
        const bool has_last = step.inputs.size() > 1 && step.inputs.end()[-2] == Type::truth;
        need("inputs of 'step'", step.inputs.size(), numbers + (has_last ? 2 : 1));
        for (std::size_t i = 0; i < step.inputs.size(); ++i) {
            need("an input of 'step'", step.inputs[i], i < numbers ? Type::number : Type::truth);
        }
        if (step.results.size() <= description_.variables.size()) {
            need("results of 'step'", step.results.size(), description_.variables.size() + 1);
        }
        for (std::size_t i = 0; i < step.results.size(); ++i) {
            need("a result of 'step'", types[step.results[i]],
                 i < description_.variables.size() ? Type::number : Type::truth);
        }
    }

    void check_observe() const {
        const Program& observe = description_.observe;
        const std::vector<Type> types = program::check(observe, "observe of " + description_.name, false);
        need("inputs of 'observe'", observe.inputs.size(), description_.variables.size() + description_.constants);
        for (const Type type : observe.inputs) need("an input of 'observe'", type, Type::number);
        need("results of 'observe'", observe.results.size(), description_.derived.size());
        for (const std::uint32_t result : observe.results) need("a result of 'observe'", types[result], Type::number);
    }

    const ProgramDescription& description_;
    std::vector<Type> prepared_;
};

void add_names(DescriptionHash& hash, const ProgramDescription& description) {
    hash.text(description.name);
    add(hash, description.parameters);
    hash.whole(description.variables.size());
    for (const ProgramVariable& variable : description.variables) {
        hash.text(variable.name);
        hash.text(variable.unit);
        hash.text(variable.initial_parameter);
        hash.number(variable.initial_value);
    }
    hash.whole(description.derived.size());
    for (const DerivedVariable& derived : description.derived) {
        hash.text(derived.name);
        hash.text(derived.unit);
    }
    hash.whole(description.receptors.size());
    for (const std::string& receptor : description.receptors) hash.text(receptor);
    hash.whole((description.sign_chooses_receptor ? 1 : 0) + (description.takes_current ? 2 : 0));
    hash.text(description.weight_unit);
}

}  // namespace

void add(DescriptionHash& hash, std::span<const ProgramParameter> parameters) {
    hash.whole(parameters.size());
    for (const ProgramParameter& parameter : parameters) {
        hash.text(parameter.name);
        hash.text(parameter.unit);
        hash.numbers({parameter.default_value, parameter.bounds.lower, parameter.bounds.upper});
        hash.whole((parameter.bounds.lower_open ? 1 : 0) + (parameter.bounds.upper_open ? 2 : 0));
    }
}

std::vector<ParameterInfo> infos_of(std::span<const ProgramParameter> parameters) {
    std::vector<ParameterInfo> infos;
    for (const ProgramParameter& parameter : parameters) {
        infos.push_back({.name = parameter.name,
                         .unit = parameter.unit,
                         .default_value = parameter.default_value,
                         .bounds = parameter.bounds,
                         .meaning = parameter.meaning});
    }
    return infos;
}

void check_synapse_parameters(
    std::span<const ProgramParameter> parameters,
    const std::function<void(const std::string& what, const std::string& value, const std::string& bound)>& refuse) {
    std::set<std::string_view> names;
    for (const ProgramParameter& parameter : parameters) {
        const Bounds& bounds = parameter.bounds;
        if (parameter.name.empty() || !names.insert(parameter.name).second) {
            refuse("a name", "'" + parameter.name + "'", "names are not empty, and none is given twice");
        }
        if (!(bounds.lower <= bounds.upper)) {
            refuse("bounds of parameter " + parameter.name, to_text(bounds.lower) + " to " + to_text(bounds.upper),
                   "the lower one must not be above the upper one");
        }
        if (!std::isfinite(parameter.default_value) || !bounds.contains(parameter.default_value)) {
            refuse("default of parameter " + parameter.name, to_text(parameter.default_value),
                   "it must be finite and within its bounds");
        }
    }
}

void add(DescriptionHash& hash, const Program& program) {
    hash.whole(program.inputs.size());
    for (const Type type : program.inputs) hash.whole(static_cast<std::uint64_t>(type));
    hash.whole(program.instructions.size());
    for (const program::Instruction& instruction : program.instructions) {
        hash.whole(static_cast<std::uint64_t>(instruction.operation));
        hash.whole(instruction.operands.size());
        for (const std::uint32_t operand : instruction.operands) hash.whole(operand);
        hash.number(instruction.number);
        hash.whole(instruction.count);
        if (instruction.body != nullptr) add(hash, *instruction.body);
    }
    hash.whole(program.results.size());
    for (const std::uint32_t result : program.results) hash.whole(result);
}

void check(const ProgramDescription& description) { Checker(description).check(); }

std::uint64_t fingerprint_of(const ProgramDescription& description) {
    DescriptionHash hash;
    add_names(hash, description);
    add(hash, description.prepare);
    hash.whole(description.conditions.size());
    for (const Condition& condition : description.conditions) hash.whole(condition.result);
    hash.whole(description.propagators.size());
    for (const Propagator& propagator : description.propagators) {
        hash.whole(propagator.size);
        for (const std::int32_t entry : propagator.entries) hash.whole(static_cast<std::uint64_t>(entry));
        for (const Propagator::Output& output : propagator.outputs) {
            hash.whole(output.row);
            hash.whole(output.column);
            hash.whole(output.constant);
        }
    }
    hash.whole(description.constants);
    hash.whole(description.refractory ? *description.refractory + std::uint64_t{1} : 0);
    add(hash, description.step);
    add(hash, description.observe);
    return hash.value();
}

}  // namespace ranvier::models
