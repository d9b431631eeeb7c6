#include "program/intervals.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "program/evaluate.hpp"
#include "program/operations.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::program {

namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();

const double least_uniform = to_open_unit(0);
const double greatest_uniform = to_open_unit(~std::uint64_t{0});

constexpr Interval anything{-unbounded, unbounded, true};

Interval truth_between(bool may_be_false, bool may_be_true) {
    return {may_be_false ? 0.0 : 1.0, may_be_true ? 1.0 : 0.0};
}

double product(double a, double b) {
    // An infinite end represents finite numbers.
    return a == 0.0 || b == 0.0 ? 0.0 : a * b;
}

Interval hull(std::initializer_list<double> ends, bool may_fail) { return {std::min(ends), std::max(ends), may_fail}; }

Interval hull(const Interval& a, const Interval& b) {
    return {std::min(a.low, b.low), std::max(a.high, b.high), a.may_fail || b.may_fail};
}

/// For functions whose rounding error exceeds half of the last bit and may break monotonicity.
Interval widened(double low, double high, bool may_fail) {
    const auto slack = [](double end) { return std::isinf(end) ? 0.0 : std::abs(end) * 0x1p-46 + 0x1p-1022; };
    return {low - slack(low), high + slack(high), may_fail};
}

Interval multiply(const Interval& a, const Interval& b) {
    return hull({product(a.low, b.low), product(a.low, b.high), product(a.high, b.low), product(a.high, b.high)},
                a.may_fail || b.may_fail);
}

Interval divide(const Interval& a, const Interval& b) {
    if (b.low <= 0.0 && b.high >= 0.0) return anything;
    const auto quotient = [](double x, double y) { return std::isinf(y) ? 0.0 : x / y; };
    return hull({quotient(a.low, b.low), quotient(a.low, b.high), quotient(a.high, b.low), quotient(a.high, b.high)},
                a.may_fail || b.may_fail);
}

Interval absolute(const Interval& a) {
    const double farthest = std::max(std::abs(a.low), std::abs(a.high));
    if (a.low <= 0.0 && a.high >= 0.0) return {0.0, farthest, a.may_fail};
    return {std::min(std::abs(a.low), std::abs(a.high)), farthest, a.may_fail};
}

/// A power of non-negative numbers.
Interval power_of_positive(const Interval& a, const Interval& b) {
    // At 0, negative powers are infinite.
    if (a.low == 0.0 && b.low < 0.0) return {0.0, unbounded, true};
    if (!std::isfinite(b.low) || !std::isfinite(b.high)) return {0.0, unbounded, false};
    // A power is monotone in its base and in its exponent.
    const auto of = [](double x, double y) { return y == 0.0 ? 1.0 : std::pow(x, y); };
    const Interval ends = hull({of(a.low, b.low), of(a.low, b.high), of(a.high, b.low), of(a.high, b.high)}, false);
    const Interval wide = widened(ends.low, ends.high, false);
    return {std::max(wide.low, 0.0), wide.high, false};
}

Interval negated(const Interval& a) { return {-a.high, -a.low, a.may_fail}; }

Interval power(const Interval& a, const Interval& b) {
    if (a.may_fail || b.may_fail) return anything;
    if (a.low >= 0.0) return power_of_positive(a, b);
    // Negative numbers have only powers with a whole exponent.
    constexpr double greatest_whole = 0x1p51;
    if (!b.is_point() || b.low != std::floor(b.low) || std::abs(b.low) >= greatest_whole) return anything;
    if (std::fmod(b.low, 2.0) == 0.0) return power_of_positive(absolute(a), b);
    if (a.high <= 0.0) return negated(power_of_positive(negated(a), b));
    if (b.low < 0.0) return anything;
    return {-power_of_positive({0.0, -a.low}, b).high, power_of_positive({0.0, a.high}, b).high, false};
}

Interval grown(const Interval& a, double (*function)(double), double least) {
    const Interval wide = widened(function(a.low), function(a.high), a.may_fail);
    return {std::max(wide.low, least), wide.high, wide.may_fail};
}

Interval logarithm(const Interval& a, double (*function)(double), double pole) {
    if (a.low <= pole || a.may_fail) return anything;
    return widened(function(a.low), function(a.high), false);
}

/// An operation with truths as operands or result.
Interval carry_out_truths(Operation operation, std::span<const Interval> x) {
    using enum Operation;
    const Interval a = x[0];
    const Interval b = x.size() < 2 ? Interval{} : x[1];
    const bool fails = a.may_fail || b.may_fail;
    switch (operation) {
        case less:
            return truth_between(fails || a.high >= b.low, fails || a.low < b.high);
        case less_equal:
            return truth_between(fails || a.high > b.low, fails || a.low <= b.high);
        case equal:
            return truth_between(fails || !a.is_point() || !b.is_point() || a.low != b.low,
                                 fails || (a.low <= b.high && b.low <= a.high));
        case both:
            return {std::min(a.low, b.low), std::min(a.high, b.high)};
        case either:
            return {std::max(a.low, b.low), std::max(a.high, b.high)};
        case negation:
            return {1.0 - a.high, 1.0 - a.low};
        case select:
            return a.is_point() ? (a.low != 0.0 ? b : x[2]) : hull(b, x[2]);
        default:
            break;
    }
    throw InternalError("an interval of a program with loops");
}

Interval carry_out(const Instruction& instruction, std::span<const Interval> x) {
    using enum Operation;
    const Interval a = x.empty() ? Interval{} : x[0];
    const Interval b = x.size() < 2 ? Interval{} : x[1];
    const bool fails = a.may_fail || b.may_fail;
    switch (instruction.operation) {
        case constant:
            return Interval::of(instruction.number);
        case add:
            return {a.low + b.low, a.high + b.high, fails};
        case subtract:
            return {a.low - b.high, a.high - b.low, fails};
        case multiply:
            return program::multiply(a, b);
        case divide:
            return program::divide(a, b);
        case negate:
            return negated(a);
        case Operation::absolute:
            return program::absolute(a);
        case square_root:
            return a.low < 0.0 ? anything : Interval{std::sqrt(a.low), std::sqrt(a.high), a.may_fail};
        // If the first operand is NaN, the result is the second one.
        case minimum:
            return {std::min(a.low, b.low), a.may_fail ? b.high : std::min(a.high, b.high),
                    b.may_fail || (a.may_fail && a.low == -unbounded)};
        case maximum:
            return {a.may_fail ? b.low : std::max(a.low, b.low), std::max(a.high, b.high),
                    b.may_fail || (a.may_fail && a.high == unbounded)};
        case Operation::floor:
            return {std::floor(a.low), std::floor(a.high), a.may_fail};
        case exp:
            return grown(a, std::exp, 0.0);
        case expm1:
            return grown(a, std::expm1, -1.0);
        case expm1_over:
        case over_expm1:
            return {0.0, unbounded, a.may_fail};
        case log:
            return logarithm(a, std::log, 0.0);
        case log1p:
            return logarithm(a, std::log1p, -1.0);
        case pow:
            return power(a, b);
        case uniform_draw:
            return {least_uniform, greatest_uniform};
        case normal_draw:
            return widened(lane::apply<normal_draw>(std::bit_cast<double>(std::uint64_t{0})),
                           lane::apply<normal_draw>(std::bit_cast<double>(~std::uint64_t{0})), false);
        case sine_of_cycles:
            return {-1.0, 1.0, a.may_fail || std::isinf(a.low) || std::isinf(a.high)};
        default:
            return carry_out_truths(instruction.operation, x);
    }
}

}  // namespace

void find_intervals(const Program& program, std::span<const Interval> inputs, std::vector<Interval>& values) {
    // Of operations other than loops.
    constexpr std::size_t most_operands = 3;
    std::array<Interval, most_operands> operands;
    std::array<double, most_operands> numbers{};
    values.assign(inputs.begin(), inputs.end());
    for (const Instruction& instruction : program.instructions) {
        const std::size_t count = instruction.operands.size();
        if (instruction.operation == Operation::loop) throw InternalError("an interval of a program with loops");
        const Signature types = signature(instruction.operation);
        bool known = count > 0 && types.result == Type::number && instruction.operation != Operation::select;
        for (std::size_t k = 0; k < count; ++k) {
            operands[k] = values[instruction.operands[k]];
            numbers[k] = operands[k].low;
            known = known && operands[k].is_point() && !operands[k].may_fail && std::isfinite(operands[k].low);
        }
        if (known) {
            // Evaluate the instruction itself, with its rounding.
            const double value = evaluate(instruction.operation, std::span(numbers).first(count));
            values.push_back(std::isfinite(value) ? Interval::of(value) : anything);
        } else {
            values.push_back(carry_out(instruction, std::span(operands).first(count)));
        }
    }
}

std::vector<Interval> intervals_of(const Program& program, std::span<const Interval> inputs) {
    std::vector<Interval> values;
    find_intervals(program, inputs, values);
    std::vector<Interval> results;
    results.reserve(program.results.size());
    for (const std::uint32_t result : program.results) results.push_back(values[result]);
    return results;
}

}  // namespace ranvier::program
