#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "base/subnormals.hpp"
#include "program/evaluate.hpp"
#include "program/operations.hpp"
#include "program_building.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/connect/space/pair_function.hpp"

namespace ranvier::connect {
namespace TEST_FILE {

using program::Operation;
using program::Program;
using program::Writer;
using Objects = PairFunction::Objects;

constexpr std::array some_quantities{PairQuantity::distance, PairQuantity::displacement_y, PairQuantity::source_x,
                                     PairQuantity::target_index};

/// A random program of numbers that may draw.
Program random_program(std::mt19937& random, std::size_t inputs) {
    constexpr std::array operations{Operation::add,         Operation::subtract, Operation::multiply,
                                    Operation::divide,      Operation::negate,   Operation::absolute,
                                    Operation::square_root, Operation::minimum,  Operation::maximum,
                                    Operation::exp,         Operation::log,      Operation::pow,
                                    Operation::floor,       Operation::log1p,    Operation::sine_of_cycles};
    const auto below = [&](std::size_t count) {
        return static_cast<std::uint32_t>(std::uniform_int_distribution<std::size_t>(0, count - 1)(random));
    };
    Writer writer(inputs);
    auto count = static_cast<std::uint32_t>(inputs);
    const std::uint32_t length = 2 + below(14);
    for (std::uint32_t i = 0; i < length; ++i) {
        const std::uint32_t kind = below(8);
        if (kind == 0) {
            writer.constant(std::uniform_real_distribution(-2.0, 2.0)(random));
        } else if (kind == 1) {
            writer.add(below(2) == 0 ? Operation::uniform_draw : Operation::normal_draw, {}, below(3));
        } else {
            const Operation operation = operations[below(operations.size())];
            std::vector<std::uint32_t> operands(program::signature(operation).operands.size());
            for (std::uint32_t& operand : operands) operand = below(count);
            writer.add(operation, operands);
        }
        ++count;
    }
    return writer.finish({count - 1});
}

/// Arrays of quantities and of random words.
struct Pairs {
    std::vector<std::vector<double>> numbers;
    std::vector<std::vector<std::uint64_t>> words;
    PairFunction::Quantities quantities{};
    std::vector<const std::uint64_t*> drawn;

    Pairs(std::mt19937& random, std::size_t count) {
        std::uniform_real_distribution<double> real(-3.0, 3.0);
        for (const PairQuantity quantity : some_quantities) {
            std::vector<double>& of_quantity = numbers.emplace_back(count);
            for (double& each : of_quantity) each = real(random);
            quantities[static_cast<std::size_t>(quantity)] = of_quantity.data();
        }
        std::mt19937_64 bits(random());
        for (std::size_t d = 0; d < 3; ++d) {
            std::vector<std::uint64_t>& of_draw = words.emplace_back(count);
            for (std::uint64_t& each : of_draw) each = bits();
            drawn.push_back(of_draw.data());
        }
    }
};

PairFunction function_of(const Program& program) {
    return {program, {some_quantities.begin(), some_quantities.end()}, "a test"};
}

/// Bits; all NaN are alike.
std::uint64_t bits_of(double value) {
    return std::isnan(value) ? ~std::uint64_t{0} : std::bit_cast<std::uint64_t>(value);
}

TEST(PairFunction, HasTheBitsOfTheOracleOnAllInstructionSets) {
    std::mt19937 random(1);
    for (int trial = 0; trial < 100; ++trial) {
        const Program program = random_program(random, some_quantities.size());
        const PairFunction function = function_of(program);
        // Blocks of all sizes, with remainders.
        const std::size_t count = std::uniform_int_distribution<std::size_t>(0, 600)(random);
        const Pairs pairs(random, count);
        for (const InstructionSet set : available_instruction_sets()) {
            std::vector<double> found(count);
            function.evaluate(set, count, pairs.quantities, pairs.drawn, found.data());
            const FlushSubnormals flush;
            for (std::size_t i = 0; i < count; ++i) {
                std::vector<double> inputs;
                std::vector<std::uint64_t> words;
                for (const auto& each : pairs.numbers) inputs.push_back(each[i]);
                for (const auto& each : pairs.words) words.push_back(each[i]);
                ASSERT_EQ(bits_of(found[i]), bits_of(program::evaluate(program, inputs, words)[0])) << i;
            }
        }
    }
}

TEST(PairFunction, DrawsFunctionsOfTheObjectAlone) {
    std::mt19937 random(2);
    for (int trial = 0; trial < 30; ++trial) {
        const PairFunction function = function_of(random_program(random, some_quantities.size()));
        constexpr std::size_t count = 300;
        const Pairs pairs(random, count);
        const RandomKey key = make_key(7, Purpose::test, 1);
        std::vector<double> all(count);
        function.draw(InstructionSet::baseline, count, pairs.quantities, key, Objects::of(5, 0), all.data());
        std::vector<double> scattered(count);
        std::vector<std::uint64_t> streams(count, 5);
        std::vector<std::uint32_t> indices(count);
        std::iota(indices.begin(), indices.end(), 0);
        function.draw(InstructionSet::baseline, count, pairs.quantities, key,
                      Objects::at(streams.data(), indices.data()), scattered.data());
        for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(bits_of(scattered[i]), bits_of(all[i]));
        // Short and long stretches, from odd and even numbers on.
        std::vector<std::size_t> order;
        for (const auto& [begin, end] : std::vector<std::pair<std::size_t, std::size_t>>{
                 {7, 10}, {100, 240}, {4, 9}, {9, 10}, {10, 42}, {0, 58}}) {
            for (std::size_t i = begin; i < end; ++i) order.push_back(i);
        }
        std::vector<std::vector<double>> mixed;
        PairFunction::Quantities of_order{};
        for (const PairQuantity quantity : some_quantities) {
            std::vector<double>& numbers = mixed.emplace_back();
            const auto of = static_cast<std::size_t>(quantity);
            for (const std::size_t i : order) numbers.push_back(pairs.quantities[of][i]);
            of_order[of] = numbers.data();
        }
        streams.assign(order.size(), 5);
        indices.assign(order.begin(), order.end());
        std::vector<double> of_mixed(order.size());
        function.draw(detect_instruction_set(), order.size(), of_order, key,
                      Objects::at(streams.data(), indices.data()), of_mixed.data());
        for (std::size_t i = 0; i < order.size(); ++i) ASSERT_EQ(bits_of(of_mixed[i]), bits_of(all[order[i]]));
        for (const InstructionSet set : available_instruction_sets()) {
            for (std::size_t i = 0; i < count; i += 37) {
                PairFunction::Quantities one = pairs.quantities;
                for (const double*& each : one) each = each == nullptr ? nullptr : each + i;
                double value = 0.0;
                function.draw(set, 1, one, key, Objects::of(5, static_cast<std::uint32_t>(i)), &value);
                ASSERT_EQ(bits_of(value), bits_of(all[i]));
            }
        }
    }
}

TEST(PairFunction, DifferentDrawsKeysAndStreamsDiffer) {
    Writer writer(1);
    const std::uint32_t first = writer.add(Operation::uniform_draw, {}, 0.0);
    const std::uint32_t second = writer.add(Operation::uniform_draw, {}, 1.0);
    const std::uint32_t difference = writer.add(Operation::subtract, {first, second});
    const PairFunction function(writer.finish({difference}), {PairQuantity::distance}, "rand() - rand()");
    const std::vector<double> distances(500, 0.0);
    const PairFunction::Quantities quantities{distances.data()};
    std::vector<double> values;
    for (const auto& [seed, stream] : {std::pair(1, 1), std::pair(1, 2), std::pair(2, 1)}) {
        std::vector<double> some(500);
        function.draw(InstructionSet::baseline, 500, quantities,
                      make_key(static_cast<std::uint64_t>(seed), Purpose::test, 0),
                      Objects::of(static_cast<std::uint64_t>(stream), 0), some.data());
        values.insert(values.end(), some.begin(), some.end());
    }
    std::ranges::sort(values);
    EXPECT_EQ(std::ranges::adjacent_find(values), values.end());
}

/// distance + normal number, drawn again until it is from 0 to `high`; plus a uniform number, until the sum is below 1.
PairFunction nested_redraws(double high) {
    Writer writer(1);
    const auto zero = writer.constant(0.0);
    const auto limit = writer.constant(high);
    const auto one = writer.constant(1.0);
    const auto part = writer.add(Operation::add, {0, writer.add(Operation::normal_draw, {}, 0.0)});
    const auto is_inside = writer.add(Operation::both, {writer.add(Operation::less_equal, {zero, part}),
                                                        writer.add(Operation::less_equal, {part, limit})});
    const auto inner = writer.add(Operation::minimum, {writer.add(Operation::maximum, {part, zero}), limit});
    const auto sum = writer.add(Operation::add, {inner, writer.add(Operation::uniform_draw, {}, 1.0)});
    const auto is_below = writer.add(Operation::less_equal, {sum, one});
    const auto outer = writer.add(Operation::minimum, {sum, one});
    return {writer.finish({outer, is_inside, is_below}),
            {PairQuantity::distance},
            "nested",
            {{.accepted = 1, .draws = {0}}, {.accepted = 2, .draws = {0, 1}}}};
}

TEST(PairFunction, DrawsPartsAgainUntilTheyAreWithinTheirBounds) {
    const PairFunction function = nested_redraws(0.5);
    // More than are drawn together.
    constexpr std::size_t count = 5000;
    std::vector<double> distances(count);
    for (std::size_t i = 0; i < count; ++i) distances[i] = static_cast<double>(i) / count;
    const PairFunction::Quantities quantities{distances.data()};
    const RandomKey key = make_key(3, Purpose::test, 2);
    std::vector<double> found(count);
    function.draw(InstructionSet::baseline, count, quantities, key, Objects::of(9, 4), found.data());
    for (const InstructionSet set : available_instruction_sets()) {
        std::vector<double> other(count);
        function.draw(set, count, quantities, key, Objects::of(9, 4), other.data());
        EXPECT_EQ(other, found);
    }
    // One after another.
    for (std::size_t i = 0; i < count; ++i) {
        std::array<RandomKey, 2> keys{};
        for (std::uint32_t d = 0; d < 2; ++d) {
            keys[d] = make_key(key.low | std::uint64_t{key.high} << 32, Purpose::expression, d);
        }
        std::array<std::uint32_t, 2> attempts{};
        for (;;) {
            std::array<std::uint64_t, 2> words{};
            for (std::size_t d = 0; d < 2; ++d) {
                words[d] = RandomStream{keys[d], 9, attempts[d]}.word64(4 + static_cast<std::uint32_t>(i));
            }
            const std::vector<double> results = program::evaluate(function.program(), std::vector{distances[i]}, words);
            if (!program::lane::is_true(results[1])) {
                ++attempts[0];
            } else if (!program::lane::is_true(results[2])) {
                ++attempts[0];
                ++attempts[1];
            } else {
                ASSERT_EQ(found[i], results[0]);
                break;
            }
        }
    }
}

TEST(PairFunction, EstimatesTheAcceptance) {
    // P(0 <= d + N <= 0.5) at d = 0 is 0.1915; then P(U + X <= 1) with X in [0, 0.5] is about 0.75.
    EXPECT_NEAR(nested_redraws(0.5).acceptance({}), 0.1915, 0.05);
    EXPECT_LT(nested_redraws(0.001).acceptance({}), 1e-3);
    EXPECT_EQ(function_of(Writer(4).finish({0})).acceptance({}), 1.0);
}

TEST(PairFunction, CanBeUsedByManyThreads) {
    std::mt19937 random(5);
    std::vector<PairFunction> functions;
    // More than a thread keeps interpreters of.
    for (int k = 0; k < 9; ++k) functions.push_back(function_of(random_program(random, some_quantities.size())));
    constexpr std::size_t count = 200;
    const Pairs pairs(random, count);
    std::vector<std::vector<double>> expected(functions.size(), std::vector<double>(count));
    for (std::size_t k = 0; k < functions.size(); ++k) {
        functions[k].evaluate(InstructionSet::baseline, count, pairs.quantities, pairs.drawn, expected[k].data());
    }
    std::vector<int> differences(3, 0);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < 3; ++t) {
        threads.emplace_back([&, t] {
            std::vector<double> found(count);
            for (int trial = 0; trial < 50; ++trial) {
                for (std::size_t k = 0; k < functions.size(); ++k) {
                    functions[k].evaluate(available_instruction_sets().back(), count, pairs.quantities, pairs.drawn,
                                          found.data());
                    for (std::size_t i = 0; i < count; ++i) {
                        if (bits_of(found[i]) != bits_of(expected[k][i])) ++differences[t];
                    }
                }
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(differences, std::vector<int>(3, 0));
}

TEST(PairFunction, ValuesAreWithinTheirRange) {
    std::mt19937 random(6);
    for (int trial = 0; trial < 200; ++trial) {
        const PairFunction function = function_of(random_program(random, some_quantities.size()));
        constexpr std::size_t count = 64;
        const Pairs pairs(random, count);
        PairRanges ranges;
        for (std::size_t k = 0; k < some_quantities.size(); ++k) {
            const auto [low, high] = std::ranges::minmax(pairs.numbers[k]);
            ranges[some_quantities[k]] = {low, high};
        }
        const PairRanges::Range range = function.range(ranges);
        std::vector<double> found(count);
        function.evaluate(InstructionSet::baseline, count, pairs.quantities, pairs.drawn, found.data());
        for (const double value : found) {
            if (std::isinf(range.low) || std::isinf(range.high)) continue;
            EXPECT_LE(range.low, value);
            EXPECT_GE(range.high, value);
        }
    }
}

TEST(PairFunction, UpperBoundsAreThoseOfIntervals) {
    Writer writer(1);
    const auto kernel = writer.add(Operation::exp, {writer.add(Operation::negate, {0})});
    const PairFunction function(writer.finish({kernel}), {PairQuantity::distance}, "exp(-d)");
    std::vector<double> edges;
    for (int i = 0; i <= 100; ++i) edges.push_back(0.05 * i);
    const std::vector<double> bounds = function.upper_bounds(edges);
    ASSERT_EQ(bounds.size(), 100);
    for (std::size_t i = 0; i < bounds.size(); ++i) {
        EXPECT_GE(bounds[i], std::exp(-edges[i]));
        EXPECT_NEAR(bounds[i], std::exp(-edges[i]), 1e-12);
    }
    EXPECT_THROW(function_of(Writer(4).finish({1})).upper_bounds(edges), InternalError);
}

TEST(PairFunction, RefusesOtherPrograms) {
    using Redraws = std::vector<PairFunction::Redraw>;
    const auto make = [](const Program& program, std::size_t inputs, Redraws redraws = {}) {
        return PairFunction(program, std::vector<PairQuantity>(inputs, PairQuantity::distance), "x",
                            std::move(redraws));
    };
    EXPECT_THROW(make(Writer(2).finish({0}), 1), ShapeError);
    EXPECT_THROW(make(Writer(1).finish({}), 1), ShapeError);
    EXPECT_THROW(make(Writer(1).finish({0, 0}), 1), ShapeError);
    EXPECT_THROW(make(Writer(1).finish({0}), 1, {{.accepted = 1, .draws = {0}}}), ShapeError);
    EXPECT_THROW(parse_pair_quantity("distanse"), UnknownNameError);
    for (std::size_t q = 0; q < pair_quantity_count; ++q) {
        EXPECT_EQ(parse_pair_quantity(to_string(static_cast<PairQuantity>(q))), static_cast<PairQuantity>(q));
    }
}

}  // namespace TEST_FILE
}  // namespace ranvier::connect
