#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/equations/program_model.hpp"
#include "program_building.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::models {
namespace {

using program::Operation;

std::string refusal(const ProgramDescription& description) {
    try {
        const ProgramModel model(description);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(ProgramDescriptions, AreCheckedAsAWhole) {
    const ProgramDescription good = described_iaf_psc_exp();
    EXPECT_EQ(refusal(good), "");
    const auto expect = [&](auto change, std::string_view text) {
        ProgramDescription bad = good;
        change(bad);
        const std::string message = refusal(bad);
        EXPECT_NE(message.find(text), std::string::npos) << text << " in: " << message;
    };
    expect([](auto& d) { d.name = ""; }, "a model needs a name");
    expect([](auto& d) { d.variables[1].name = "E_L"; }, "it is given twice");
    expect([](auto& d) { d.derived[0].name = ""; }, "names are not empty");
    expect([](auto& d) { d.receptors[1] = "excitatory"; }, "it is given twice");
    expect([](auto& d) { d.receptors.pop_back(); }, "chooses between two receptors");
    expect([](auto& d) { d.parameters[1].default_value = 0.0; }, "within its bounds");
    expect([](auto& d) { d.parameters[1].bounds = {.lower = 1.0, .upper = 0.0}; }, "must not be above");
    expect([](auto& d) { d.variables[0].initial_parameter = "V_0"; }, "no such parameter");
    expect([](auto& d) { d.variables[0].initial_value = std::nan(""); }, "must be finite");
    expect([](auto& d) { d.prepare.inputs.pop_back(); }, "there are 10 values so far");
    expect([](auto& d) { d.parameters.pop_back(); }, "inputs of 'prepare'");
    expect([](auto& d) { d.constants = 3; }, "propagators give 6");
    expect([](auto& d) { d.constants = 30; }, "'prepare' has 10 results");
    expect([](auto& d) { d.conditions[0].result = 10; }, "'prepare' has 10 results");
    expect([](auto& d) { d.conditions[0].result = 0; }, "it must be a truth");
    expect([](auto& d) { d.refractory = 9; }, "it must be a number");
    expect([](auto& d) { d.propagators[0].size = 5; }, "entries of a propagator");
    expect([](auto& d) { d.propagators[0].size = 0; }, "it must be from 1 to 64");
    expect([](auto& d) { d.propagators[0].entries[0] = -2; }, "'prepare' has 10 results");
    expect([](auto& d) { d.propagators[0].entries[0] = 9; }, "it must be a number");
    expect([](auto& d) { d.propagators[0].outputs[0].row = 4; }, "rows and columns");
    expect([](auto& d) { d.propagators[0].outputs[0].constant = 5; }, "each once");
    expect([](auto& d) { d.propagators[0].outputs[0].constant = 3; }, "each once");
    expect([](auto& d) { d.takes_current = false; }, "inputs of 'step'");
    expect([](auto& d) { d.step.results.pop_back(); }, "results of 'step'");
    expect([](auto& d) { d.step.results[3] = 0; }, "it must be a truth");
    expect([](auto& d) { d.step.results[0] = 16; }, "it must be a number");
    expect([](auto& d) { d.observe.results.push_back(0); }, "results of 'observe'");
    expect([](auto& d) { d.observe.instructions.push_back({.operation = Operation::uniform_draw}); },
           "only the program of a step");
}

TEST(ProgramDescriptions, HaveFingerprintsThatDifferWhereTheyDo) {
    const ProgramDescription good = described_iaf_psc_exp();
    const std::uint64_t expected = fingerprint_of(good);
    EXPECT_EQ(fingerprint_of(described_iaf_psc_exp()), expected);
    const auto changed = [&](auto change) {
        ProgramDescription other = good;
        change(other);
        return fingerprint_of(other);
    };
    EXPECT_EQ(changed([](auto& d) { d.summary = "other words"; }), expected);
    EXPECT_NE(changed([](auto& d) { d.name = "other"; }), expected);
    EXPECT_NE(changed([](auto& d) { d.parameters[2].default_value = 11.0; }), expected);
    EXPECT_NE(changed([](auto& d) { d.parameters[2].bounds.lower_open = false; }), expected);
    EXPECT_NE(changed([](auto& d) { d.step.instructions[0].operation = Operation::add; }), expected);
    EXPECT_NE(changed([](auto& d) { d.step.results[0] = 0; }), expected);
    EXPECT_NE(changed([](auto& d) { d.propagators[0].entries[1] = 5; }), expected);
    EXPECT_NE(changed([](auto& d) { d.refractory = std::nullopt; }), expected);
}

TEST(ProgramDescriptions, TellConflictsAsSoonAsTheyCanBeKnown) {
    const ProgramModel model(described_iaf_psc_exp());
    std::vector<double> values;
    for (const ParameterInfo& info : model.parameters) values.push_back(info.default_value);
    const auto conflict = [&](std::size_t parameter, double value, std::optional<double> h) {
        std::vector<double> own = values;
        own[parameter] = value;
        return model.conflict(own, h);
    };
    EXPECT_EQ(conflict(0, -70.0, std::nullopt), std::nullopt);
    EXPECT_EQ(conflict(0, -70.0, 0.1), std::nullopt);
    EXPECT_EQ(conflict(4, -71.0, std::nullopt), "V_reset must be below V_th");
    EXPECT_NE(conflict(3, 1e300, 0.1), std::nullopt);
    EXPECT_EQ(conflict(3, 1e300, std::nullopt), std::nullopt);
    // Only the propagator tells that such a time constant cannot be calculated with.
    EXPECT_EQ(conflict(2, 1e-300, std::nullopt), std::nullopt);
    EXPECT_NE(conflict(2, 1e-300, 0.1), std::nullopt);
}

}  // namespace
}  // namespace ranvier::models
