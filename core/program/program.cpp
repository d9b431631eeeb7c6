#include "ranvier/program/program.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "base/counted.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::program {

namespace {

constexpr std::array<std::string_view, operation_count> operation_names{
    "constant", "add",     "subtract",       "multiply",    "divide",     "negate",     "absolute",   "square_root",
    "minimum",  "maximum", "floor",          "exp",         "expm1",      "expm1_over", "over_expm1", "log",
    "log1p",    "pow",     "sine_of_cycles", "less",        "less_equal", "equal",      "both",       "either",
    "not",      "select",  "uniform_draw",   "normal_draw", "loop"};

constexpr std::array<std::string_view, 2> type_names{"number", "truth"};

constexpr std::array one_number{Type::number};
constexpr std::array two_numbers{Type::number, Type::number};
constexpr std::array one_truth{Type::truth};
constexpr std::array two_truths{Type::truth, Type::truth};
constexpr std::array choice{Type::truth, Type::number, Type::number};

/// Traverses a program, and tracks the position for errors.
class Checker {
   public:
    Checker(std::string_view name, bool may_draw) : name_(name), may_draw_(may_draw) {}

    std::vector<Type> check(const Program& program, std::size_t depth) {
        limit("inputs", program.inputs.size(), most_inputs);
        limit("results", program.results.size(), most_instructions);
        std::vector<Type> types = program.inputs;
        for (std::size_t i = 0; i < program.instructions.size(); ++i) {
            limit("instructions", ++instructions_, most_instructions);
            const Instruction& instruction = program.instructions[i];
            place_ = "instruction " + std::to_string(i) + " (" + std::string(to_string(instruction.operation)) + ")" +
                     (depth > 0 ? " of a loop" : "") + " of program '" + name_ + "'";
            for (const std::uint32_t operand : instruction.operands) check_value("operand", operand, types.size());
            if (instruction.operation == Operation::loop) {
                check_loop(instruction, types, depth);
            } else {
                check_plain(instruction, types, depth);
            }
            limit("values", types.size(), 2 * most_instructions);
        }
        place_ = "results of program '" + name_ + "'";
        for (const std::uint32_t result : program.results) check_value("result", result, types.size());
        return types;
    }

   private:
    [[noreturn]] void refuse(std::string object, std::string value, std::string bound) const {
        throw ValueOutOfBoundsError({.object = std::move(object) + " of " + place_,
                                     .value = std::move(value),
                                     .bound = std::move(bound),
                                     .remedy = "create programs from equations with ranvier.neuron()"});
    }

    void limit(std::string_view what, std::size_t count, std::size_t most) {
        if (count <= most) return;
        place_ = "program '" + name_ + "'";
        refuse("number of " + std::string(what), std::to_string(count), "it can be at most " + std::to_string(most));
    }

    void check_value(std::string_view what, std::uint32_t value, std::size_t count) const {
        if (value < count) return;
        refuse(std::string(what), std::to_string(value), there_are(count, "value") + " so far");
    }

    void check_type(std::string_view what, std::size_t index, Type given, Type wanted) const {
        if (given == wanted) return;
        refuse(std::string(what) + " " + std::to_string(index), "a " + std::string(to_string(given)),
               "it must be a " + std::string(to_string(wanted)));
    }

    void check_count(std::string_view what, std::size_t given, std::size_t wanted) const {
        if (given == wanted) return;
        throw ShapeError({.object = std::string(what) + " of " + place_,
                          .value = std::to_string(given),
                          .bound = "there must be " + std::to_string(wanted),
                          .remedy = "create programs from equations with ranvier.neuron()"});
    }

    void check_plain(const Instruction& instruction, std::vector<Type>& types, std::size_t depth) const {
        const Signature expected = signature(instruction.operation);
        check_count("operands", instruction.operands.size(), expected.operands.size());
        for (std::size_t k = 0; k < expected.operands.size(); ++k) {
            check_type("operand", k, types[instruction.operands[k]], expected.operands[k]);
        }
        if (instruction.body != nullptr || instruction.count != 0) refuse("body", "one", "only loops have one");
        if (is_draw(instruction.operation)) {
            const double index = instruction.number;
            if (!(index >= 0.0 && index < most_draws && index == std::floor(index))) {
                refuse("number", to_text(index), "draws are numbered from 0 to " + to_text(most_draws - 1.0));
            }
            if (!may_draw_) refuse("operation", "a draw", "only the program of a step can draw random numbers");
            if (depth > 0) refuse("operation", "a draw", "a loop cannot draw random numbers");
        } else if (instruction.operation != Operation::constant && instruction.number != 0.0) {
            refuse("number", to_text(instruction.number), "only constants, draws and loops have one");
        }
        types.push_back(expected.result);
    }

    void check_loop(const Instruction& instruction, std::vector<Type>& types, std::size_t depth) {
        if (depth == deepest_loop) {
            refuse("depth", std::to_string(depth + 1), "nested loops can be " + std::to_string(deepest_loop) + " deep");
        }
        const double most = instruction.number;
        if (!(most >= 1.0 && most <= most_iterations && most == std::floor(most))) {
            refuse("number", to_text(most),
                   "a loop needs a bound of its iterations, from 1 to " + to_text(most_iterations));
        }
        if (instruction.body == nullptr) refuse("body", "none", "a loop needs one");
        const Program& body = *instruction.body;
        const std::size_t count = instruction.count;
        if (count < 1 || count > instruction.operands.size()) {
            refuse("count", std::to_string(count),
                   "it must be from 1 to the number of operands, " + std::to_string(instruction.operands.size()));
        }
        check_count("inputs of the body", body.inputs.size(), instruction.operands.size());
        for (std::size_t k = 0; k < body.inputs.size(); ++k) {
            check_type("operand", k, types[instruction.operands[k]], body.inputs[k]);
        }
        const std::string place = place_;
        const std::vector<Type> body_types = check(body, depth + 1);
        place_ = place;
        check_count("results of the body", body.results.size(), count + 1);
        check_type("result of the body", 0, body_types[body.results[0]], Type::truth);
        for (std::size_t k = 0; k < count; ++k) {
            check_type("result of the body", k + 1, body_types[body.results[k + 1]], body.inputs[k]);
        }
        types.insert(types.end(), body.inputs.begin(), body.inputs.begin() + static_cast<std::ptrdiff_t>(count));
        types.push_back(Type::truth);
    }

    std::string name_;
    bool may_draw_;
    std::string place_;
    std::size_t instructions_ = 0;
};

void merge(std::vector<bool>& into, const std::vector<bool>& other) {
    for (std::size_t i = 0; i < into.size(); ++i) into[i] = into[i] || other[i];
}

}  // namespace

std::string_view to_string(Operation operation) { return operation_names[static_cast<std::size_t>(operation)]; }
std::string_view to_string(Type type) { return type_names[static_cast<std::size_t>(type)]; }

Operation parse_operation(std::string_view name) {
    const auto found = std::ranges::find(operation_names, name);
    if (found == operation_names.end()) throw unknown_name("operation of a program", name, operation_names);
    return static_cast<Operation>(found - operation_names.begin());
}

Type parse_type(std::string_view name) {
    const auto found = std::ranges::find(type_names, name);
    if (found == type_names.end()) throw unknown_name("type of an input of a program", name, type_names);
    return static_cast<Type>(found - type_names.begin());
}

Signature signature(Operation operation) {
    using enum Operation;
    switch (operation) {
        case constant:
        case uniform_draw:
        case normal_draw:
            return {{}, Type::number};
        case less:
        case less_equal:
        case equal:
            return {two_numbers, Type::truth};
        case both:
        case either:
            return {two_truths, Type::truth};
        case negation:
            return {one_truth, Type::truth};
        case select:
            return {choice, Type::number};
        case add:
        case subtract:
        case multiply:
        case divide:
        case minimum:
        case maximum:
        case pow:
            return {two_numbers, Type::number};
        default:
            return {one_number, Type::number};
    }
}

std::size_t value_count(const Instruction& instruction) {
    return instruction.operation == Operation::loop ? instruction.count + std::size_t{1} : 1;
}

std::size_t value_count(const Program& program) {
    std::size_t count = program.inputs.size();
    for (const Instruction& instruction : program.instructions) count += value_count(instruction);
    return count;
}

std::vector<Type> check(const Program& program, std::string_view name, bool may_draw) {
    return Checker(name, may_draw).check(program, 0);
}

std::vector<Type> result_types(const Program& program) {
    std::vector<Type> types = program.inputs;
    for (const Instruction& instruction : program.instructions) {
        if (instruction.operation != Operation::loop) {
            types.push_back(signature(instruction.operation).result);
            continue;
        }
        const auto& carried = instruction.body->inputs;
        types.insert(types.end(), carried.begin(), carried.begin() + instruction.count);
        types.push_back(Type::truth);
    }
    std::vector<Type> results;
    results.reserve(program.results.size());
    for (const std::uint32_t result : program.results) results.push_back(types[result]);
    return results;
}

std::vector<std::uint32_t> draws_of(const Program& program) {
    std::set<std::uint32_t> draws;
    for (const Instruction& instruction : program.instructions) {
        if (is_draw(instruction.operation)) draws.insert(static_cast<std::uint32_t>(instruction.number));
    }
    return {draws.begin(), draws.end()};
}

std::vector<std::vector<bool>> dependencies(const Program& program) {
    const std::size_t inputs = program.inputs.size();
    std::vector<std::vector<bool>> of_values(inputs, std::vector<bool>(inputs, false));
    for (std::size_t i = 0; i < inputs; ++i) of_values[i][i] = true;
    for (const Instruction& instruction : program.instructions) {
        std::vector<bool> inputs_used(inputs, false);
        for (const std::uint32_t operand : instruction.operands) merge(inputs_used, of_values[operand]);
        of_values.insert(of_values.end(), value_count(instruction), inputs_used);
    }
    std::vector<std::vector<bool>> of_results;
    of_results.reserve(program.results.size());
    for (const std::uint32_t result : program.results) of_results.push_back(of_values[result]);
    return of_results;
}

}  // namespace ranvier::program
