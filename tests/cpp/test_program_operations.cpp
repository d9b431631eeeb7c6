#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "base/aligned_array.hpp"
#include "hostile_numbers.hpp"
#include "program/block_code.hpp"
#include "program/evaluate.hpp"
#include "program/interpreter.hpp"
#include "program/operations.hpp"
#include "program_building.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/base/page_memory.hpp"

namespace ranvier::program {
namespace {

/// Operands in lanes: all combinations of hostile values.
std::vector<std::vector<double>> combinations(const Signature& own) {
    std::vector<std::vector<double>> lanes{{}};
    for (const Type type : own.operands) {
        const std::vector<double> values =
            type == Type::truth ? std::vector{lane::to_lane(false), lane::to_lane(true)} : hostile_values;
        std::vector<std::vector<double>> longer;
        for (const auto& lane : lanes) {
            for (const double value : values) {
                longer.push_back(lane);
                longer.back().push_back(value);
            }
        }
        lanes = std::move(longer);
    }
    return lanes;
}

/// Carries out one instruction, some of whose operands are the same in all lanes.
void compare_with_evaluation(Operation operation, InstructionSet set, unsigned uniform) {
    const Signature own = signature(operation);
    const std::size_t count = own.operands.size();
    Writer writer(std::vector<Type>(own.operands.begin(), own.operands.end()));
    std::vector<std::uint32_t> operands;
    for (std::uint32_t k = 0; k < count; ++k) operands.push_back(k);
    const Program program = writer.finish({writer.add(operation, operands)});
    check(program, "test", false);

    std::map<std::vector<std::uint64_t>, std::vector<std::vector<double>>> by_uniform;
    for (const auto& lane : combinations(own)) {
        std::vector<std::uint64_t> key;
        for (std::size_t k = 0; k < count; ++k) key.push_back((uniform >> k & 1) != 0 ? lane::bits(lane[k]) : 0);
        by_uniform[key].push_back(lane);
    }
    for (const auto& [key, lanes] : by_uniform) {
        std::vector<InputForm> inputs;
        for (std::size_t k = 0; k < count; ++k) {
            inputs.push_back(
                {(uniform >> k & 1) != 0 ? InputForm::Kind::uniform : InputForm::Kind::lanes, lanes[0][k]});
        }
        const OutputForm output{.result = program.results[0]};
        Interpreter interpreter(lower(program, inputs, std::span(&output, 1)), set, page_memory());
        for (std::size_t begin = 0; begin < lanes.size(); begin += 64) {
            std::vector<AlignedVector<double>> arrays(count + 1, AlignedVector<double>(64, 0.0));
            for (std::size_t k = 0; k < count; ++k) {
                for (std::size_t i = begin; i < std::min(begin + 64, lanes.size()); ++i)
                    arrays[k][i - begin] = lanes[i][k];
                interpreter.set_input(k, arrays[k].data());
            }
            interpreter.set_output(0, arrays[count].data());
            (void)interpreter.run({.lanes = 64, .valid = 64});
            const std::optional<double> of_all = interpreter.code().uniform[0];
            for (std::size_t i = begin; i < std::min(begin + 64, lanes.size()); ++i) {
                const double expected = evaluate(program, lanes[i])[0];
                const double found = of_all ? *of_all : arrays[count][i - begin];
                EXPECT_TRUE(alike(found, expected))
                    << to_string(operation) << " of " << lanes[i][0] << ", " << (count > 1 ? lanes[i][1] : 0.0)
                    << " on " << ranvier::to_string(set) << ": " << found << " for " << expected;
                if (own.result == Type::truth) {
                    EXPECT_TRUE(is_lane_of_truth(found));
                }
            }
        }
    }
}

TEST(Operations, GiveTheBitsOfEvaluationOnAllInstructionSets) {
    for (const InstructionSet set : available_instruction_sets()) {
        for (const Operation operation : plain_operations()) {
            const unsigned forms = 1U << signature(operation).operands.size();
            for (unsigned uniform = 0; uniform < forms; ++uniform) compare_with_evaluation(operation, set, uniform);
        }
    }
}

double value_of(Operation operation, double a) {
    return evaluate(Instruction{.operation = operation}, std::vector{a})[0];
}
double value_of(Operation operation, double a, double b) {
    return evaluate(Instruction{.operation = operation}, std::vector{a, b})[0];
}

TEST(Operations, AreThoseOfTheCLibraryWithinTheirErrors) {
    const auto expect_near = [](double found, double expected, double units, const char* what, double x) {
        if (std::isfinite(expected)) {
            EXPECT_LE(std::abs(found - expected), units * 0x1p-52 * std::abs(expected)) << what << " of " << x;
        } else {
            EXPECT_TRUE(alike(found, expected)) << what << " of " << x << ": " << found;
        }
    };
    for (const double x : hostile_values) {
        expect_near(value_of(Operation::floor, x), std::floor(x), 0.0, "floor", x);
        expect_near(value_of(Operation::square_root, x), std::sqrt(x), 0.0, "square_root", x);
        expect_near(value_of(Operation::absolute, x), std::abs(x), 0.0, "absolute", x);
        // Subnormal numbers count as 0, and exponentials end at e^700 and e^-700.
        const double visible = std::abs(x) < std::numeric_limits<double>::min() ? 0.0 : x;
        expect_near(value_of(Operation::log, x), std::log(visible), 4.0, "log", x);
        expect_near(value_of(Operation::log1p, x), std::log1p(x), 4.0, "log1p", x);
        const double bounded = std::isnan(x) ? x : std::clamp(x, -700.0, 700.0);
        expect_near(value_of(Operation::exp, x), std::exp(bounded), 4.0, "exp", x);
        expect_near(value_of(Operation::expm1, x), std::expm1(bounded), 4.0, "expm1", x);
    }
    for (const double x : {0.1, 0.25, 0.4, -0.1, 7.3, -123.2}) {
        expect_near(value_of(Operation::sine_of_cycles, x), std::sin(2.0 * M_PI * (x - std::round(x))), 8.0,
                    "sine_of_cycles", x);
    }
    EXPECT_TRUE(alike(value_of(Operation::minimum, not_a_number, 1.0), 1.0));
    EXPECT_TRUE(alike(value_of(Operation::minimum, 1.0, not_a_number), not_a_number));
    EXPECT_TRUE(alike(value_of(Operation::maximum, 0.0, -0.0), -0.0));
}

TEST(Operations, RaiseNegativeNumbersToWholePowers) {
    std::mt19937_64 random(1);
    for (int trial = 0; trial < 2000; ++trial) {
        const double x =
            -std::ldexp(1.0 + static_cast<double>(random() % 1000) / 1000.0, static_cast<int>(random() % 9) - 4);
        const double y = static_cast<double>(random() % 201) - 100.0;
        const double found = value_of(Operation::pow, x, y);
        EXPECT_NEAR(found / std::pow(x, y), 1.0, 4.0 * 0x1p-52 * (1.0 + std::abs(y * std::log(-x)))) << x << "^" << y;
        EXPECT_TRUE(std::isnan(value_of(Operation::pow, x, y + 0.5))) << x << "^" << y + 0.5;
    }
    EXPECT_DOUBLE_EQ(value_of(Operation::pow, -3.0, 2.0), 9.0);
    EXPECT_DOUBLE_EQ(value_of(Operation::pow, -3.0, 3.0), -27.0);
}

TEST(Operations, RaiseToPowersAsTheyAreDefined) {
    for (const double x : hostile_values) {
        for (const double y : hostile_values) {
            const double found = value_of(Operation::pow, x, y);
            if (y == 0.0) {
                EXPECT_EQ(found, 1.0);
            } else if (y == 1.0) {
                EXPECT_EQ(std::bit_cast<std::uint64_t>(found), std::bit_cast<std::uint64_t>(x));
            } else if (std::isnan(x) || std::isnan(y)) {
                EXPECT_TRUE(std::isnan(found)) << x << "^" << y << ": " << found;
            } else if (x <= -std::numeric_limits<double>::min()) {
                if (std::abs(y) >= 0x1p51 || y != std::floor(y)) {
                    EXPECT_TRUE(std::isnan(found)) << x << "^" << y << ": " << found;
                } else {
                    const double of_positive = value_of(Operation::pow, -x, y);
                    EXPECT_EQ(found, std::fmod(y, 2.0) == 0.0 ? of_positive : -of_positive) << x << "^" << y;
                }
            } else if (x < std::numeric_limits<double>::min()) {
                EXPECT_EQ(found, y > 0.0 ? 0.0 : infinity);
            } else if (std::abs(y * std::log(x)) < 690.0) {
                const double bound = 4.0 * 0x1p-52 * (1.0 + std::abs(y * std::log(x)));
                EXPECT_NEAR(found / std::pow(x, y), 1.0, bound) << x << "^" << y;
            }
        }
    }
}

}  // namespace
}  // namespace ranvier::program
