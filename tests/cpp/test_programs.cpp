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
#include "program/kernels.hpp"
#include "program/operations.hpp"
#include "program_building.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/base/page_memory.hpp"

namespace ranvier::program {
namespace {

/// A random program over numbers and truths.
class RandomProgram {
   public:
    explicit RandomProgram(unsigned seed) : random_(seed) {}

    std::size_t below(std::size_t count) { return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_); }

    Program make(std::vector<Type> inputs, std::size_t instructions, bool may_draw, unsigned depth) {
        Writer writer(inputs);
        std::vector<Type> types = std::move(inputs);
        const auto pick = [&](Type type) -> std::uint32_t {
            std::vector<std::uint32_t> fitting;
            for (std::uint32_t i = 0; i < types.size(); ++i) {
                if (types[i] == type) fitting.push_back(i);
            }
            if (!fitting.empty()) return fitting[below(fitting.size())];
            const std::uint32_t made =
                type == Type::number ? writer.constant(0.5) : writer.add(Operation::less, {0, 0});
            types.push_back(type);
            return made;
        };
        for (std::size_t i = 0; i < instructions; ++i) {
            const std::size_t kind = below(20);
            if (kind == 0) {
                writer.constant(std::uniform_real_distribution(-2.0, 2.0)(random_));
                types.push_back(Type::number);
            } else if (kind == 1 && may_draw) {
                writer.add(below(2) == 0 ? Operation::uniform_draw : Operation::normal_draw, {},
                           static_cast<double>(below(5)));
                types.push_back(Type::number);
            } else if (kind == 2 && depth < 2) {
                add_loop(writer, types, pick, depth);
            } else {
                const std::vector<Operation> operations = plain_operations();
                const Operation operation = operations[below(operations.size())];
                std::vector<std::uint32_t> operands;
                for (const Type type : signature(operation).operands) operands.push_back(pick(type));
                writer.add(operation, operands);
                types.push_back(signature(operation).result);
            }
        }
        types_ = types;
        return writer.finish({});
    }

    /// Of the program that was made last.
    std::uint32_t pick_result(Type type) {
        std::vector<std::uint32_t> fitting;
        for (std::uint32_t i = 0; i < types_.size(); ++i) {
            if (types_[i] == type) fitting.push_back(i);
        }
        return fitting.empty() ? UINT32_MAX : fitting[below(fitting.size())];
    }

   private:
    template <class Pick>
    void add_loop(Writer& writer, std::vector<Type>& types, Pick pick, unsigned depth) {
        const auto count = static_cast<std::uint32_t>(1 + below(3));
        std::vector<Type> inputs;
        std::vector<std::uint32_t> operands;
        for (std::size_t k = 0; k < count + below(3); ++k) {
            inputs.push_back(k > 0 && below(4) == 0 ? Type::truth : Type::number);
            operands.push_back(pick(inputs.back()));
        }
        if (operands.size() < count) return;
        Program body = make(inputs, 1 + below(8), false, depth + 1);
        std::vector<std::uint32_t> results{pick_result(Type::truth)};
        for (std::uint32_t k = 0; k < count; ++k) results.push_back(pick_result(inputs[k]));
        for (const std::uint32_t result : results) {
            if (result == UINT32_MAX) return;
        }
        body.results = results;
        writer.loop(operands, count, static_cast<double>(1 + below(6)), std::move(body));
        types.insert(types.end(), inputs.begin(), inputs.begin() + count);
        types.push_back(Type::truth);
    }

    std::mt19937 random_;
    std::vector<Type> types_;
};

/// Runs a program as a step is run, on all instruction sets, and lane by lane.
class Comparison {
   public:
    static constexpr std::size_t lanes = 64;
    static constexpr std::size_t valid = 41;
    static constexpr std::size_t states = 3;

    explicit Comparison(unsigned seed) : random_(seed), values_(seed + 1) {
        const std::vector<Type> inputs{Type::number, Type::number, Type::number, Type::number,
                                       Type::number, Type::number, Type::truth};
        program_ = random_.make(inputs, 3 + random_.below(30), true, 0);
        forms_ = {{},
                  {},
                  {},
                  {},
                  {InputForm::Kind::uniform, draw_value()},
                  {InputForm::Kind::weights},
                  {random_.below(2) == 0 ? InputForm::Kind::refractory : InputForm::Kind::last_refractory}};
        for (std::uint32_t v = 0; v < states; ++v) {
            program_.results.push_back(random_.pick_result(Type::number));
            outputs_.push_back({program_.results.back(), OutputForm::Kind::in_place, v});
        }
        for (int k = 0; k < 2; ++k) {
            program_.results.push_back(random_.pick_result(Type::number));
            outputs_.push_back({program_.results.back()});
        }
        program_.results.push_back(random_.pick_result(Type::truth));
        outputs_.push_back({program_.results.back(), OutputForm::Kind::fires});
        for (int k = 0; k < 2; ++k) {
            program_.results.push_back(random_.pick_result(Type::truth));
            outputs_.push_back({program_.results.back(), OutputForm::Kind::ended});
        }
        check(program_, "random", true);
        for (auto& array : given_) {
            for (double& value : array) value = draw_value();
        }
        for (double& value : given_[5]) value = random_.below(3) == 0 ? -0.0 : value;
        for (auto& release : release_) release = static_cast<std::int32_t>(random_.below(3));
        for (auto& words : words_) {
            for (std::uint64_t& word : words) word = values_();
        }
    }

    void run(InstructionSet set) {
        Interpreter interpreter(lower(program_, forms_, outputs_), set, page_memory());
        auto arrays = given_;
        std::array<std::array<double, lanes>, 2> made{};
        for (std::size_t i = 0; i < arrays.size(); ++i) interpreter.set_input(i, arrays[i].data());
        for (std::size_t d = 0; d < interpreter.code().draws; ++d) interpreter.set_draw(d, words_[d].data());
        for (std::size_t k = 0; k < made.size(); ++k) interpreter.set_output(states + k, made[k].data());
        std::array<std::uint8_t, lanes / 8> fires{}, failures{};
        const std::uint32_t flags = interpreter.run({.lanes = lanes,
                                                     .valid = valid,
                                                     .release = release_.data(),
                                                     .clock = 1,
                                                     .fires = fires.data(),
                                                     .failures = failures.data()});
        const auto bit = [](const auto& bytes, std::size_t k) { return (bytes[k / 8] >> k % 8 & 1) != 0; };
        for (std::size_t k = 0; k < valid; ++k) {
            const std::vector<double> expected = evaluate_lane(k);
            for (std::size_t v = 0; v < states; ++v) {
                EXPECT_TRUE(alike(arrays[v][k], expected[v])) << "state " << v << ", lane " << k;
            }
            for (std::size_t o = 0; o < 2; ++o) {
                const std::optional<double> of_all = interpreter.code().uniform[states + o];
                EXPECT_TRUE(alike(of_all.value_or(made[o][k]), expected[states + o]))
                    << "output " << o << ", lane " << k;
            }
            EXPECT_EQ((flags & some_fire) != 0 && bit(fires, k), lane::is_true(expected[states + 2])) << k;
            const bool ended = lane::is_true(expected[states + 3]) && lane::is_true(expected[states + 4]);
            EXPECT_EQ((flags & some_fail) != 0 && bit(failures, k), !ended) << k;
            EXPECT_TRUE(alike(arrays[5][k], -0.0));
        }
        for (const std::size_t untouched : {std::size_t{3}, std::size_t{4}})
            EXPECT_EQ(bits_of(arrays[untouched]), bits_of(given_[untouched]));
    }

   private:
    using Lanes = std::array<double, lanes>;

    static std::vector<std::uint64_t> bits_of(const Lanes& array) {
        std::vector<std::uint64_t> bits;
        for (const double value : array) bits.push_back(lane::bits(value));
        return bits;
    }

    double draw_value() {
        if (random_.below(3) == 0) return hostile_values[random_.below(hostile_values.size())];
        return std::uniform_real_distribution(-3.0, 3.0)(values_);
    }

    std::vector<double> evaluate_lane(std::size_t k) const {
        std::vector<double> inputs;
        for (std::size_t i = 0; i < 4; ++i) inputs.push_back(given_[i][k]);
        inputs.push_back(forms_[4].value);
        inputs.push_back(given_[5][k] + 0.0);
        const bool is_last = forms_[6].kind == InputForm::Kind::last_refractory;
        inputs.push_back(lane::to_lane(is_last ? release_[k] == 1 : release_[k] >= 1));
        std::vector<std::uint64_t> words;
        for (const auto& each : words_) words.push_back(each[k]);
        return evaluate(program_, inputs, words);
    }

    RandomProgram random_;
    std::mt19937_64 values_;
    Program program_;
    std::vector<InputForm> forms_;
    std::vector<OutputForm> outputs_;
    std::array<Lanes, 6> given_{};
    std::array<std::int32_t, lanes> release_{};
    std::array<std::array<std::uint64_t, lanes>, 5> words_{};
};

TEST(Interpreter, GivesTheBitsOfEvaluationForRandomPrograms) {
    for (unsigned seed = 0; seed < 400; ++seed) {
        Comparison comparison(seed);
        for (const InstructionSet set : available_instruction_sets()) comparison.run(set);
        ASSERT_FALSE(HasFailure()) << "seed " << seed;
    }
}

/// Counts up to a number: a loop of as many iterations.
Program counting(double most) {
    Writer body(2);
    const Program inner =
        body.finish({body.add(Operation::less, {0, 1}), body.add(Operation::add, {0, body.constant(1.0)})});
    Writer writer(2);
    const std::uint32_t first = writer.loop({0, 1}, 1, most, inner);
    return writer.finish({first, first + 1});
}

TEST(Loops, LetEachLaneGoOnAsLongAsItsOwnTruthHolds) {
    const Program program = counting(10.0);
    check(program, "test", false);
    const auto run = [&](double from, double to) { return evaluate(program, std::vector{from, to}); };
    EXPECT_EQ(run(0.0, 3.0)[0], 3.0);
    EXPECT_TRUE(lane::is_true(run(0.0, 3.0)[1]));
    EXPECT_EQ(run(5.0, 3.0)[0], 5.0);
    // The evaluation that would end it is the eleventh.
    EXPECT_EQ(run(0.0, 9.0)[0], 9.0);
    EXPECT_TRUE(lane::is_true(run(0.0, 9.0)[1]));
    EXPECT_EQ(run(0.0, 10.0)[0], 10.0);
    EXPECT_FALSE(lane::is_true(run(0.0, 10.0)[1]));
}

TEST(Loops, AreNotKeptGoingByLanesThatAreNoNeurons) {
    const Program program = counting(1e6);
    const std::vector<InputForm> inputs(2);
    const std::vector<OutputForm> outputs{{.result = program.results[0]},
                                          {.result = program.results[1], .kind = OutputForm::Kind::ended}};
    Interpreter interpreter(lower(program, inputs, outputs), InstructionSet::baseline, page_memory());
    std::vector<double> from(64, 0.0), to(64, 2.0), made(64, 0.0);
    for (std::size_t k = 40; k < 64; ++k) to[k] = infinity;
    interpreter.set_input(0, from.data());
    interpreter.set_input(1, to.data());
    interpreter.set_output(0, made.data());
    EXPECT_EQ(interpreter.run({.lanes = 64, .valid = 40}), 0U);
    EXPECT_EQ(made[39], 2.0);
    EXPECT_LE(made[40], 3.0);
}

TEST(Loops, BringLanesTogetherThatGoOn) {
    // The second loop begins with what the first one has made.
    const Program inner = counting(40.0);
    Writer writer(2);
    const std::uint32_t first = writer.loop({0, 1}, 1, 40.0, *inner.instructions[0].body);
    const std::uint32_t twice = writer.add(Operation::add, {1, 1});
    const std::uint32_t second = writer.loop({first, twice}, 1, 60.0, *inner.instructions[0].body);
    const Program program = writer.finish({second, first + 1, second + 1});
    const std::vector<InputForm> inputs(2);
    const std::vector<OutputForm> outputs{{.result = program.results[0]},
                                          {.result = program.results[1], .kind = OutputForm::Kind::ended},
                                          {.result = program.results[2], .kind = OutputForm::Kind::ended}};
    for (const InstructionSet set : available_instruction_sets()) {
        Interpreter interpreter(lower(program, inputs, outputs), set, page_memory());
        const std::size_t lanes = interpreter.most_lanes();
        ASSERT_GE(lanes, 4 * lanes_of_kernel) << "else there is nothing to bring together";
        std::vector<double> from(lanes), to(lanes), made(lanes);
        for (std::size_t k = 0; k < lanes; ++k) {
            from[k] = static_cast<double>(k % 3);
            // A few go on for long, and these not equally long; one does not end.
            to[k] = from[k] + (k % 7 == 0 ? static_cast<double>(k % 30) : k % 2 == 0 ? 1.0 : 0.0);
        }
        to[33] = 100.0;
        interpreter.set_input(0, from.data());
        interpreter.set_input(1, to.data());
        interpreter.set_output(0, made.data());
        std::vector<std::uint8_t> failures(lanes / 8);
        EXPECT_EQ(interpreter.run({.lanes = lanes, .valid = lanes, .failures = failures.data()}), some_fail);
        for (std::size_t k = 0; k < lanes; ++k) {
            const std::vector<double> expected = evaluate(program, std::vector{from[k], to[k]});
            ASSERT_EQ(made[k], expected[0]) << "lane " << k;
            ASSERT_EQ((failures[k / 8] >> k % 8 & 1) != 0, !lane::is_true(expected[1]) || !lane::is_true(expected[2]))
                << "lane " << k;
        }
        EXPECT_NE(failures[33 / 8] >> 33 % 8 & 1, 0);
    }
}

TEST(Checks, RefuseWhatIsNoProgram) {
    const auto refused = [](const Program& program, bool may_draw = false) -> std::string {
        try {
            check(program, "test", may_draw);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    using enum Operation;
    const auto plain = [](Instruction instruction, std::vector<std::uint32_t> results = {2}) {
        return Program{.inputs = {Type::number, Type::truth},
                       .instructions = {std::move(instruction)},
                       .results = std::move(results)};
    };
    EXPECT_EQ(refused(plain({.operation = add, .operands = {0, 0}})), "");
    EXPECT_NE(refused(plain({.operation = add, .operands = {0, 2}})).find("there are 2 values so far"),
              std::string::npos);
    EXPECT_NE(refused(plain({.operation = add, .operands = {0}})).find("there must be 2"), std::string::npos);
    EXPECT_NE(refused(plain({.operation = add, .operands = {0, 1}})).find("it must be a number"), std::string::npos);
    EXPECT_NE(refused(plain({.operation = both, .operands = {0, 1}})).find("it must be a truth"), std::string::npos);
    EXPECT_NE(refused(plain({.operation = add, .operands = {0, 0}}, {3})).find("there are 3 values"),
              std::string::npos);
    EXPECT_NE(refused(plain({.operation = add, .operands = {0, 0}, .number = 1.0})), "");
    EXPECT_NE(refused(plain({.operation = add, .operands = {0, 0}, .count = 1})), "");
    EXPECT_NE(refused(plain({.operation = uniform_draw})).find("only the program of a step"), std::string::npos);
    EXPECT_EQ(refused(plain({.operation = uniform_draw, .number = 255.0}), true), "");
    for (const double index : {-1.0, 0.5, 256.0, not_a_number}) {
        EXPECT_NE(refused(plain({.operation = normal_draw, .number = index}), true), "") << index;
    }
    const auto of_loop = [&](double most, std::uint32_t count, const Program& body) {
        return refused(plain({.operation = Operation::loop,
                              .operands = {0},
                              .number = most,
                              .body = std::make_shared<const Program>(body),
                              .count = count}),
                       true);
    };
    Program body{
        .inputs = {Type::number}, .instructions = {{.operation = less, .operands = {0, 0}}}, .results = {1, 0}};
    EXPECT_EQ(of_loop(5.0, 1, body), "");
    for (const double most : {0.0, -1.0, 1.5, 1e9, infinity, not_a_number}) {
        EXPECT_NE(of_loop(most, 1, body).find("a loop needs a bound"), std::string::npos) << most;
    }
    EXPECT_NE(of_loop(5.0, 0, body), "");
    EXPECT_NE(of_loop(5.0, 2, body), "");
    body.results = {0, 0};
    EXPECT_NE(of_loop(5.0, 1, body).find("it must be a truth"), std::string::npos);
    body.results = {1};
    EXPECT_NE(of_loop(5.0, 1, body).find("there must be 2"), std::string::npos);
    body.results = {1, 0};
    body.instructions.push_back({.operation = uniform_draw});
    EXPECT_NE(of_loop(5.0, 1, body).find("a loop cannot draw"), std::string::npos);
    EXPECT_NE(refused(plain({.operation = Operation::loop, .operands = {0}, .number = 5.0, .count = 1})), "");
}

TEST(Checks, BoundTheDepthOfLoopsAndTheNumberOfInstructions) {
    Program body{.inputs = {Type::number},
                 .instructions = {{.operation = Operation::less, .operands = {0, 0}}},
                 .results = {1, 0}};
    for (std::size_t depth = 0; depth < deepest_loop + 1; ++depth) {
        EXPECT_NO_THROW(check(body, "test", false)) << depth;
        Writer writer(1);
        const std::uint32_t first = writer.loop({0}, 1, 2.0, body);
        body = writer.finish({first + 1, first});
    }
    EXPECT_THROW(check(body, "test", false), ValueOutOfBoundsError);
    Program long_one{
        .inputs = {Type::number},
        .instructions = std::vector<Instruction>(most_instructions + 1, {.operation = Operation::constant}),
        .results = {}};
    EXPECT_THROW(check(long_one, "test", false), ValueOutOfBoundsError);
    EXPECT_THROW((void)parse_operation("plus"), UnknownNameError);
    for (std::size_t i = 0; i < operation_count; ++i) {
        EXPECT_EQ(parse_operation(to_string(static_cast<Operation>(i))), static_cast<Operation>(i));
    }
}

TEST(Dependencies, FollowOperandsAndLoops) {
    Writer writer(3);
    const std::uint32_t sum = writer.add(Operation::add, {0, 1});
    Writer body(2);
    const Program inner = body.finish({body.add(Operation::less, {0, 1}), 0});
    const std::uint32_t loop = writer.loop({sum, 2}, 1, 3.0, inner);
    const auto found = dependencies(writer.finish({sum, loop, 2}));
    EXPECT_EQ(found[0], (std::vector{true, true, false}));
    EXPECT_EQ(found[1], (std::vector{true, true, true}));
    EXPECT_EQ(found[2], (std::vector{false, false, true}));
}

}  // namespace
}  // namespace ranvier::program
