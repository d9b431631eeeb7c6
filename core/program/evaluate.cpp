#include "program/evaluate.hpp"

#include <bit>
#include <cstdint>

#include "program/operations.hpp"

namespace ranvier::program {

double evaluate(Operation operation, std::span<const double> operands) {
    if (operation == Operation::select) return lane::select(operands[0], operands[1], operands[2]);
    if (operands.size() == 1) {
        return lane::visit_unary(operation,
                                 [&]<Operation selected>() -> double { return lane::apply<selected>(operands[0]); });
    }
    return lane::visit_binary(
        operation, [&]<Operation selected>() -> double { return lane::apply<selected>(operands[0], operands[1]); });
}

namespace {

std::vector<double> evaluate_loop(const Instruction& loop, std::span<const double> operands) {
    std::vector<double> inputs(operands.begin(), operands.end());
    bool has_ended = false;
    for (std::uint64_t iteration = 0; static_cast<double>(iteration) < loop.number && !has_ended; ++iteration) {
        const std::vector<double> results = evaluate(*loop.body, inputs);
        has_ended = !lane::is_true(results[0]);
        for (std::size_t k = 0; k < loop.count && !has_ended; ++k) inputs[k] = results[k + 1];
    }
    inputs.resize(loop.count);
    inputs.push_back(lane::to_lane(has_ended));
    return inputs;
}

}  // namespace

std::vector<double> evaluate(const Instruction& instruction, std::span<const double> operands) {
    if (instruction.operation == Operation::loop) return evaluate_loop(instruction, operands);
    if (instruction.operation == Operation::constant) return {instruction.number};
    return {evaluate(instruction.operation, operands)};
}

std::vector<double> evaluate(const Program& program, std::span<const double> inputs,
                             std::span<const std::uint64_t> words) {
    std::vector<double> values(inputs.begin(), inputs.end());
    std::vector<double> operands;
    for (const Instruction& instruction : program.instructions) {
        operands.clear();
        for (const std::uint32_t operand : instruction.operands) operands.push_back(values[operand]);
        if (is_draw(instruction.operation)) {
            operands = {std::bit_cast<double>(words[static_cast<std::size_t>(instruction.number)])};
            values.push_back(evaluate(instruction.operation, operands));
            continue;
        }
        const std::vector<double> made = evaluate(instruction, operands);
        values.insert(values.end(), made.begin(), made.end());
    }
    std::vector<double> results;
    results.reserve(program.results.size());
    for (const std::uint32_t result : program.results) results.push_back(values[result]);
    return results;
}

std::vector<double> evaluate_in_single(const Program& program, std::span<const double> inputs) {
    std::vector<double> values(inputs.begin(), inputs.end());
    std::vector<double> operands;
    for (const Instruction& instruction : program.instructions) {
        operands.clear();
        for (const std::uint32_t operand : instruction.operands) operands.push_back(values[operand]);
        const double value = evaluate(instruction, operands).front();
        const bool is_rounded = instruction.operation == Operation::constant || rounds_to_single(instruction.operation);
        values.push_back(is_rounded ? static_cast<double>(static_cast<float>(value)) : value);
    }
    std::vector<double> results;
    results.reserve(program.results.size());
    for (const std::uint32_t result : program.results) results.push_back(values[result]);
    return results;
}

}  // namespace ranvier::program
