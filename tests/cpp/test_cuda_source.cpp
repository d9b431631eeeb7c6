#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/subnormals.hpp"
#include "device/cuda/kernel_texts.hpp"
#include "device/cuda/program_source.hpp"
#include "device_networks.hpp"
#include "error_fields.hpp"
#include "hostile_numbers.hpp"
#include "program/evaluate.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::device {
namespace TEST_FILE {

using program::Operation;
using program::Program;
using program::Type;
using program::Writer;

std::size_t count_of(std::string_view text, std::string_view part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++count;
    return count;
}

/// The program of a step without variables that fires if it is not refractory, and has this instruction.
DeviceProgram with_instruction(Operation operation, std::vector<std::uint32_t> operands, double number = 0.0) {
    Writer writer({Type::number, Type::truth});
    writer.add(operation, std::move(operands), number);
    return {.step = std::make_shared<const Program>(writer.finish({1})), .receptors = 1};
}

/// Numbers of all magnitudes that are not subnormal.
std::vector<double> normal_numbers(std::size_t count) {
    std::vector<double> numbers;
    for (const double each : program::hostile_values) numbers.push_back(without_subnormal(each));
    for (const double each : {0x1p-1022, 0x1.8p-1022, 0x1p-1021, 0x1.fffffffffffffp-1022, 0x1p-512, 0x1p511}) {
        numbers.insert(numbers.end(), {each, -each});
    }
    std::mt19937_64 random(1);
    while (numbers.size() < count) numbers.push_back(without_subnormal(std::bit_cast<double>(random())));
    return numbers;
}

/// What a GPU computes: subnormal numbers exist within an operation.
double without_flushing(Operation operation, std::vector<double> operands) {
    const double result = program::evaluate(operation, operands);
    return may_be_subnormal(operation) ? without_subnormal(result) : result;
}

double with_flushing(Operation operation, std::vector<double> operands) {
    const FlushSubnormals flush;
    return program::evaluate(operation, operands);
}

TEST(CudaSource, NeedsNoFlushingWithinOperations) {
    const std::vector<double> numbers = normal_numbers(20'000);
    std::mt19937_64 random(2);
    for (const Operation operation : program::plain_operations()) {
        const program::Signature signature = program::signature(operation);
        if (signature.result == Type::truth || std::ranges::count(signature.operands, Type::truth) > 0) continue;
        for (const double first : numbers) {
            std::vector<double> operands{first};
            if (signature.operands.size() == 2) operands.push_back(numbers[random() % numbers.size()]);
            const double expected = with_flushing(operation, operands);
            const double given = without_flushing(operation, operands);
            ASSERT_TRUE(program::alike(given, expected))
                << program::to_string(operation) << " of " << operands.front() << " and " << operands.back() << ": "
                << given << ", not " << expected;
            ASSERT_FALSE(std::fpclassify(given) == FP_SUBNORMAL) << program::to_string(operation);
        }
    }
    // Pairs of small numbers: their sums, differences, products and quotients.
    for (const Operation operation : {Operation::add, Operation::subtract, Operation::multiply, Operation::divide}) {
        for (int i = 0; i < 20'000; ++i) {
            const auto draw = [&](int exponent) {
                return std::ldexp(1.0 + static_cast<double>(random() >> 12) * 0x1p-52, exponent);
            };
            const int exponent = -1022 + static_cast<int>(random() % 3);
            const bool is_product = operation == Operation::multiply || operation == Operation::divide;
            const std::vector<double> operands{draw(exponent), is_product ? draw(-1) : -draw(exponent)};
            ASSERT_TRUE(program::alike(without_flushing(operation, operands), with_flushing(operation, operands)));
        }
    }
}

TEST(CudaSource, HasAStatementForEachInstruction) {
    const std::string source = models_source(std::vector{simple_program()});
    EXPECT_NE(source.find("const double v1 = view.constant(0);"), std::string::npos) << source;
    EXPECT_NE(source.find("const bool v4 = view.is_refractory;"), std::string::npos) << source;
    EXPECT_NE(source.find("const double v5 = flushed(lane::apply<Operation::multiply>(v0, v1));"), std::string::npos)
        << source;
    EXPECT_NE(source.find(" ? v0 : "), std::string::npos) << source;
    EXPECT_NE(source.find("flags |= step_fails;"), std::string::npos) << source;
    const Program& step = *simple_program().step;
    // The declarations of the inputs and of each instruction.
    EXPECT_EQ(count_of(source.substr(source.find("step_0(View")), "        const "),
              step.inputs.size() + step.instructions.size());
}

TEST(CudaSource, WritesConstantsWithAllTheirBits) {
    const auto text = [](double number) {
        const std::string source = models_source(std::vector{with_instruction(Operation::constant, {}, number)});
        const std::size_t begin = source.find("v2 = ") + 5;
        return source.substr(begin, source.find(";", begin) - begin);
    };
    EXPECT_EQ(text(0.1), "0x1.999999999999ap-4");
    EXPECT_EQ(text(-2.5), "-0x1.4p+1");
    EXPECT_EQ(text(0.0), "0x0p+0");
    EXPECT_EQ(text(-0.0), "-0x0p+0");
    EXPECT_EQ(text(-5e-324), "-0x0p+0");
    EXPECT_EQ(text(HUGE_VAL), "std::bit_cast<double>(0x7ff0000000000000ULL)");
}

TEST(CudaSource, TakesNextValuesOfALoopAtOnce) {
    // (a, b) becomes (b, a) while a < b: once.
    Writer body({Type::number, Type::number});
    const auto goes_on = body.add(Operation::less, {0, 1});
    Writer writer({Type::number, Type::number, Type::truth});
    const std::uint32_t first = writer.loop({0, 1}, 2, 10.0, body.finish({goes_on, 1, 0}));
    const DeviceProgram model{.step = std::make_shared<const Program>(writer.finish({first, first + 1, 2, first + 2})),
                              .variables = 2};
    const std::string source = models_source(std::vector{model});
    EXPECT_NE(source.find("< 10U;"), std::string::npos);
    const std::size_t loop = source.find("for (u32");
    const std::string text = source.substr(loop, source.find("\n        }\n", loop) - loop);
    // Copies of both are made before the first one is assigned.
    EXPECT_NE(
        text.find(
            "const double v8 = v4;\n            const double v9 = v3;\n            v3 = v8;\n            v4 = v9;"),
        std::string::npos)
        << text;
}

TEST(CudaSource, HasOneFunctionForProgramsThatAreAlike) {
    DeviceProgram other = simple_program();
    Program changed = *other.step;
    changed.results[0] = 0;
    other.step = std::make_shared<const Program>(changed);
    const std::string source = models_source(std::vector{simple_program(), other, simple_program()});
    EXPECT_EQ(count_of(source, "static u32 step_"), 2U);
    EXPECT_NE(source.find("case 0:\n            case 2:\n                return step_0(view);"), std::string::npos)
        << source;
}

TEST(CudaSource, RefusesWhatRunsNowhere) {
    DeviceProgram many{.step = nullptr, .receptors = 9};
    std::vector<Type> inputs(9, Type::number);
    inputs.push_back(Type::truth);
    many.step = std::make_shared<const Program>(Writer(inputs).finish({9}));
    fields_of<StateError>([&] { models_source(std::vector{many}); }, {"receptors", "9", "8"});
    DeviceProgram wrong = simple_program();
    wrong.constants = 3;
    EXPECT_THROW(models_source(std::vector{wrong}), InternalError);
}

TEST(CudaSource, DrawsSingleNumbersAndPairs) {
    const std::string source = [] {
        Writer writer({Type::number, Type::truth});
        for (const double index : {0.0, 1.0, 4.0}) writer.add(Operation::normal_draw, {}, index);
        DeviceProgram model{.step = std::make_shared<const Program>(writer.finish({1})), .receptors = 1};
        model.draws = program::draws_of(*model.step);
        return models_source(std::vector{model});
    }();
    for (const char* const draw : {"view.draw(0, false)", "view.draw(1, false)", "view.draw(4, true)"}) {
        EXPECT_NE(source.find("normal_draw>(std::bit_cast<double>(" + std::string(draw)), std::string::npos) << source;
    }
}

TEST(CudaSource, RoundsToSinglePrecision) {
    DeviceProgram model = simple_program();
    model.is_single = true;
    const std::string source = models_source(std::vector{model});
    EXPECT_NE(source.find("const double v3 = rounded(view.input(0));"), std::string::npos) << source;
    EXPECT_NE(source.find("const double v5 = rounded(lane::apply<Operation::multiply>(v0, v1));"), std::string::npos)
        << source;
    EXPECT_EQ(source.find("flushed(lane"), std::string::npos) << source;
}

TEST(CudaSource, IncludesOnlyEmbeddedTexts) {
    std::vector<std::string> names;
    std::string all = kernel_source(std::vector{simple_program()}, {.threads = 256});
    EXPECT_NE(all.find("__launch_bounds__(256, 1)"), std::string::npos);
    for (const KernelText& text : kernel_texts()) {
        names.emplace_back(text.name);
        all += text.text;
    }
    std::size_t includes = 0;
    for (std::size_t at = all.find("\n#include "); at != std::string::npos; at = all.find("\n#include ", at + 1)) {
        const std::size_t begin = at + 11;
        const std::string name = all.substr(begin, all.find_first_of("\">", begin) - begin);
        EXPECT_NE(std::ranges::find(names, name), names.end()) << name;
        ++includes;
    }
    EXPECT_GT(includes, 15U);
    EXPECT_NE(all.find("RANVIER_ALWAYS_INLINE double expm1_over(double x)"), std::string::npos);
}

}  // namespace TEST_FILE
}  // namespace ranvier::device
