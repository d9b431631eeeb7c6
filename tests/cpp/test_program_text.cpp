// Neuron models of equations as text: what is read is what was written, and files that are damaged are refused.
#include "ranvier/models/equations/program_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "error_fields.hpp"
#include "models/equations/program_model.hpp"
#include "program_building.hpp"
#include "ranvier/base/errors.hpp"

namespace TEST_FILE {

using namespace ranvier;
using namespace ranvier::models;

using program::Operation;
using program::Type;

constexpr std::string_view source = "file some.program";

/// A model with everything that a description can hold.
ProgramDescription everything() {
    ProgramDescription made = described_iaf_psc_exp();
    made.summary = "Quotes \", backslashes \\, tabs \t, lines\nand more: \x01 \xc3\xa9";
    made.failure = "too many parts";
    made.parameters[4].bounds = {.lower = -100.0, .upper = 0.1, .lower_open = false, .upper_open = true};
    made.parameters[5].default_value = -0.1 - 0.2;
    made.variables[1].initial_value = std::numeric_limits<double>::min();
    // A loop that doubles a draw until it is above 1, in a loop that is evaluated once.
    program::Writer inner(std::vector<Type>{Type::number});
    const auto sum = inner.add(Operation::add, {0, 0});
    const auto goes_on = inner.add(Operation::less, {sum, inner.constant(1.0)});
    program::Writer outer(std::vector<Type>{Type::number});
    const auto ended = outer.loop({0}, 1, 4000.0, inner.finish({goes_on, sum}));
    const auto never = outer.add(Operation::negation, {ended + 1});
    program::Program& step = made.step;
    const auto values = static_cast<std::uint32_t>(program::value_count(step));
    step.instructions.push_back({.operation = Operation::uniform_draw, .number = 3.0});
    step.instructions.push_back({.operation = Operation::loop,
                                 .operands = {values},
                                 .number = 1.0,
                                 .body = std::make_shared<const program::Program>(outer.finish({never, ended})),
                                 .count = 1});
    step.results.push_back(values + 2);
    return made;
}

TEST(ProgramText, IsReadAsItWasWritten) {
    for (const ProgramDescription& description : {described_iaf_psc_exp(), everything()}) {
        check(description);
        const std::string text = program_text(description);
        const ProgramDescription read = parse_program(text, source);
        EXPECT_EQ(program_text(read), text);
        EXPECT_EQ(fingerprint_of(read), fingerprint_of(description));
        EXPECT_EQ(read.summary, description.summary);
        EXPECT_EQ(read.parameters[5].default_value, description.parameters[5].default_value);
        EXPECT_EQ(read.parameters[4].bounds.upper_open, description.parameters[4].bounds.upper_open);
        EXPECT_EQ(read.conditions[0].text, description.conditions[0].text);
        EXPECT_EQ(read.failure, description.failure);
        const ProgramModel model(read);
        EXPECT_EQ(model.description().variables.size(), 3U);
    }
}

TEST(ProgramText, ReadsFiles) {
    const std::filesystem::path folder = std::filesystem::path(testing::TempDir());
    const std::filesystem::path path = folder / "ranvier_program_text.program";
    std::ofstream(path, std::ios::binary) << program_text(described_iaf_psc_exp());
    EXPECT_EQ(fingerprint_of(read_program_file(path)), fingerprint_of(described_iaf_psc_exp()));
    std::filesystem::resize_file(path, longest_program_text + 1);
    fields_of<FileError>([&] { (void)read_program_file(path); }, {path.string(), "more than"});
    std::filesystem::remove(path);
    fields_of<FileError>([&] { (void)read_program_file(path); }, {path.string(), "no such regular file"});
    fields_of<FileError>([&] { (void)read_program_file(folder); }, {"no such regular file"});
}

/// Replaces the first place of `old`, which there must be.
std::string with(std::string text, std::string_view old, std::string_view changed) {
    const std::size_t place = text.find(old);
    EXPECT_NE(place, std::string::npos) << old;
    return place == std::string::npos ? text : text.replace(place, old.size(), changed);
}

TEST(ProgramText, RefusesWhatIsNotAProgramOfThisVersion) {
    const std::string good = program_text(everything());
    const auto refuse = [&](std::string_view old, std::string_view changed, const std::string& bound) {
        fields_of<FileError>([&] { (void)parse_program(with(good, old, changed), source); },
                             {std::string(source), "line ", bound});
    };
    refuse("program 1", "program 2", "another version");
    refuse("ranvier", "Ranvier", "not a neuron model");
    refuse("name ", "nome ", "begins with 'name'");
    refuse("takes_current true", "takes_current yes", "'true' or 'false'");
    refuse("constants 10", "constants ten", "'ten' is not a valid number");
    refuse("constants 10", "constants 10 11", "'11' is left over");
    refuse("constants 10", "constants -1", "'-1' is not a valid number");
    refuse("constants 10", "constants 4294967296", "is not a valid number");
    refuse("summary \"", "summary ", "a quoted text");
    refuse("\\\"", "\\q", "follows a backslash");
    refuse("\\x01", "\\xzz", "two hexadecimal digits");
    refuse("\"mV\"", "\"mV\"x", "a blank must follow");
    refuse("program step", "program stop", "'program step'");
    refuse("  inputs number", "  inputs numbers", "'numbers' is not the type");
    refuse("= subtract", "= minus", "'minus' is not an operation");
    refuse("v17 = ", "v18 = ", "the instruction of v17");
    refuse("v17 = ", "v17 : ", "the instruction of v17");
    refuse("results v", "results w", "values, such as v3");
    refuse("fingerprint ", "fingerprint 0", "16 hexadecimal digits");
    fields_of<FileError>([&] { (void)parse_program(good + "\n", source); }, {"nothing may follow"});
    fields_of<FileError>([&] { (void)parse_program("", source); }, {"truncated"});
    // What the lines allow and a model does not.
    fields_of<ValueOutOfBoundsError>([&] { (void)parse_program(with(good, "constants 10", "constants 99"), source); });
    // Changes with which it is still a model.
    refuse(" -55 ", " -56 ", "was changed");
    refuse("= add v", "= multiply v", "was changed");
}

TEST(ProgramText, RefusesEndlessPrograms) {
    const std::string good = program_text(described_iaf_psc_exp());
    const std::size_t prepare = good.find("program prepare\n");
    std::string nested = good.substr(0, prepare) + "program prepare\n";
    for (int i = 0; i < 1000; ++i) nested += "inputs number\nv1 = loop 1 10 v0\n";
    fields_of<FileError>([&] { (void)parse_program(nested, source); }, {"nested loops"});
    std::string many = good.substr(0, prepare) + "program prepare\ninputs number\n";
    for (std::size_t i = 1; i <= program::most_instructions + 1; ++i) {
        many += "v" + std::to_string(i) + " = constant 1\n";
    }
    fields_of<FileError>([&] { (void)parse_program(many, source); }, {"at most 100000 instructions"});
}

TEST(ProgramText, RefusesEveryPartOfAFile) {
    const std::string good = program_text(everything());
    for (std::size_t size = 0; size < good.size(); ++size) {
        EXPECT_THROW((void)parse_program(std::string_view(good).substr(0, size), source), FileError) << size;
    }
}

/// Puts back what a fingerprint leaves out: texts that neurons do not depend on.
void restore_texts(ProgramDescription& changed, const ProgramDescription& original) {
    changed.summary = original.summary;
    changed.equations = original.equations;
    changed.reference = original.reference;
    changed.failure = original.failure;
    const auto restore = [](auto& there, const auto& here, auto member) {
        ASSERT_EQ(there.size(), here.size());
        for (std::size_t i = 0; i < here.size(); ++i) there[i].*member = here[i].*member;
    };
    restore(changed.parameters, original.parameters, &ProgramParameter::meaning);
    restore(changed.variables, original.variables, &ProgramVariable::meaning);
    restore(changed.derived, original.derived, &DerivedVariable::meaning);
    restore(changed.conditions, original.conditions, &Condition::text);
}

TEST(ProgramText, RefusesEveryChangeThatMatters) {
    const ProgramDescription description = everything();
    const std::string good = program_text(description);
    std::size_t accepted = 0;
    for (std::size_t place = 0; place < good.size(); ++place) {
        for (const char letter : {'0', '9', 'v', ' ', '"', '\n', '\0', '\xff'}) {
            if (good[place] == letter) continue;
            std::string text = good;
            text[place] = letter;
            try {
                ProgramDescription read = parse_program(text, source);
                restore_texts(read, description);
                EXPECT_EQ(program_text(read), good) << place << ' ' << letter;
                ++accepted;
            } catch (const Error&) {  // NOLINT(bugprone-empty-catch): that is what it must do
            }
        }
    }
    // Letters of texts, hardly any others.
    EXPECT_GT(accepted, 0U);
    EXPECT_LT(accepted, good.size() * 8 / 2);
}

}  // namespace TEST_FILE
