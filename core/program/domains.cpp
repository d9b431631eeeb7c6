#include "program/domains.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace ranvier::program {

namespace {

using Outcome = DomainCheck::Outcome;

constexpr double no_end = std::numeric_limits<double>::infinity();
/// Both outcomes of at most this number of conditions are examined; each condition doubles the work.
constexpr int most_conditions = 10;

// Subnormal numbers count as 0.
double next_above(double x) {
    const double next = std::nextafter(x, no_end);
    return next > 0.0 ? std::max(next, std::numeric_limits<double>::min()) : next;
}
double next_below(double x) { return -next_above(-x); }

Interval intersection(const Interval& a, const Interval& b) {
    return {std::max(a.low, b.low), std::min(a.high, b.high), a.may_fail};
}

bool hides(Operation operation, std::size_t operand) {
    using enum Operation;
    switch (operation) {
        case minimum:
        case maximum:
        case less:
        case less_equal:
        case equal:
        case exp:
        case expm1:
        case expm1_over:
        case over_expm1:
        case pow:
            return true;
        case divide:
            return operand == 1;
        default:
            return false;
    }
}

bool is_defined(Operation operation, std::span<const Interval> x) {
    using enum Operation;
    switch (operation) {
        case divide:
            return x[1].low > 0.0 || x[1].high < 0.0;
        case square_root:
            return x[0].low >= 0.0;
        case log:
            return x[0].low >= std::numeric_limits<double>::min();
        case log1p:
            return x[0].low > -1.0;
        case pow: {
            const std::array operands{Interval{x[0].low, x[0].high}, Interval{x[1].low, x[1].high}};
            const Program power{.inputs = {Type::number, Type::number},
                                .instructions = {{.operation = pow, .operands = {0, 1}}},
                                .results = {2}};
            return !intervals_of(power, operands)[0].may_fail;
        }
        default:
            return true;
    }
}

/// A program under assumptions on some of its values.
class Case {
   public:
    Case(const Program& program, std::span<const Interval> inputs)
        : program_(program),
          inputs_(inputs),
          first_(program.inputs.size()),
          assumed_(first_ + program.instructions.size()) {}

    std::vector<DomainCheck> run(int conditions) {
        calculate();
        std::vector<DomainCheck> results;
        results.reserve(program_.results.size());
        for (const std::uint32_t result : program_.results) results.push_back(checks_[result]);
        const bool is_defined =
            std::ranges::all_of(results, [](const DomainCheck& each) { return each.outcome == Outcome::defined; });
        const std::optional<std::uint32_t> truth = is_defined || conditions == 0 ? std::nullopt : open_condition();
        if (!truth) return results;
        for (DomainCheck& each : results) each = {};
        for (const bool holds : {true, false}) {
            Case one = *this;
            if (!one.assume(*truth, holds)) continue;
            const std::vector<DomainCheck> found = one.run(conditions - 1);
            for (std::size_t i = 0; i < results.size(); ++i) {
                if (found[i].outcome > results[i].outcome) results[i] = found[i];
            }
        }
        return results;
    }

   private:
    void calculate() {
        values_.assign(inputs_.begin(), inputs_.end());
        checks_.assign(first_, {});
        for (std::size_t i = 0; i < first_; ++i) apply(i);
        for (std::size_t i = 0; i < program_.instructions.size(); ++i) {
            const Instruction& instruction = program_.instructions[i];
            std::vector<Interval> operands;
            operands.reserve(instruction.operands.size());
            for (const std::uint32_t operand : instruction.operands) operands.push_back(values_[operand]);
            checks_.push_back(check(instruction, operands));
            for (Interval& operand : operands) operand.may_fail = false;
            values_.push_back(range(instruction, operands));
            apply(first_ + i);
        }
    }
    void apply(std::size_t value) {
        const std::optional<Interval>& assumed = assumed_[value];
        if (assumed) values_[value] = intersection(values_[value], *assumed);
    }

    static Interval range(const Instruction& instruction, std::span<const Interval> operands) {
        Program one{
            .inputs = {}, .instructions = {instruction}, .results = {static_cast<std::uint32_t>(operands.size())}};
        const Signature types = signature(instruction.operation);
        one.inputs.assign(types.operands.begin(), types.operands.end());
        for (std::uint32_t k = 0; k < operands.size(); ++k) one.instructions[0].operands[k] = k;
        Interval made = intervals_of(one, operands)[0];
        made.may_fail = false;
        return made;
    }

    DomainCheck check(const Instruction& instruction, std::span<const Interval> operands) const {
        DomainCheck made;
        const auto take = [&](const DomainCheck& other, bool is_hidden) {
            const Outcome outcome = is_hidden && other.outcome != Outcome::defined ? Outcome::hidden : other.outcome;
            if (outcome > made.outcome) made = {outcome, other.operation};
        };
        if (instruction.operation == Operation::select) {
            // A condition hides operands that are not finite.
            take(checks_[instruction.operands[0]], true);
            if (operands[0].high != 0.0) take(checks_[instruction.operands[1]], false);
            if (operands[0].low != 1.0) take(checks_[instruction.operands[2]], false);
            return made;
        }
        for (std::size_t k = 0; k < operands.size(); ++k) {
            take(checks_[instruction.operands[k]], hides(instruction.operation, k));
        }
        if (!is_defined(instruction.operation, operands)) take({Outcome::shown, instruction.operation}, false);
        return made;
    }

    /// The first condition whose outcome is not assumed yet.
    std::optional<std::uint32_t> open_condition() const {
        for (const Instruction& instruction : program_.instructions) {
            if (instruction.operation != Operation::select) continue;
            const std::uint32_t truth = instruction.operands[0];
            if (!values_[truth].is_point()) return truth;
        }
        return std::nullopt;
    }

    /// Returns whether the assumption is possible.
    bool assume(std::uint32_t value, const Interval& range) {
        std::optional<Interval>& assumed = assumed_[value];
        const Interval limits = assumed ? intersection(*assumed, range) : range;
        assumed = limits;
        const Interval found = intersection(values_[value], limits);
        return found.low <= found.high;
    }
    bool assume(std::uint32_t truth, bool holds) {
        using enum Operation;
        if (!assume(truth, Interval::of(holds ? 1.0 : 0.0))) return false;
        if (truth < first_) return true;
        const Instruction& made = program_.instructions[truth - first_];
        const auto& x = made.operands;
        switch (made.operation) {
            case negation:
                return assume(x[0], !holds);
            case both:
                return !holds || (assume(x[0], true) && assume(x[1], true));
            case either:
                return holds || (assume(x[0], false) && assume(x[1], false));
            case less:
                return holds ? assume_order(x[0], x[1], true) : assume_order(x[1], x[0], false);
            case less_equal:
                return holds ? assume_order(x[0], x[1], false) : assume_order(x[1], x[0], true);
            case equal:
                return holds ? assume(x[0], values_[x[1]]) && assume(x[1], values_[x[0]])
                             : assume_other(x[0], x[1]) && assume_other(x[1], x[0]);
            default:
                return true;
        }
    }
    /// Assumes that the first value is less than the second, or at most equal to it.
    bool assume_order(std::uint32_t a, std::uint32_t b, bool is_less) {
        const double high = values_[b].high;
        const double low = values_[a].low;
        return assume(a, {-no_end, is_less && std::isfinite(high) ? next_below(high) : high}) &&
               assume(b, {is_less && std::isfinite(low) ? next_above(low) : low, no_end});
    }
    /// Assumes that the first value differs from the second.
    bool assume_other(std::uint32_t a, std::uint32_t b) {
        const Interval range = values_[a];
        const Interval other = values_[b];
        if (!other.is_point()) return true;
        return assume(a, {range.low == other.low ? next_above(range.low) : -no_end,
                          range.high == other.low ? next_below(range.high) : no_end});
    }

    const Program& program_;
    std::span<const Interval> inputs_;
    std::size_t first_;
    std::vector<std::optional<Interval>> assumed_;
    std::vector<Interval> values_;
    std::vector<DomainCheck> checks_;
};

}  // namespace

std::vector<DomainCheck> check_domains(const Program& program, std::span<const Interval> inputs) {
    return Case(program, inputs).run(most_conditions);
}

std::string undefined(Operation operation) {
    using enum Operation;
    switch (operation) {
        case divide:
            return " may divide by 0";
        case square_root:
            return " may take the root of a negative number";
        case pow:
            return " may take a power that is not defined";
        default:
            return " may take the logarithm of a number <= 0";
    }
}

}  // namespace ranvier::program
