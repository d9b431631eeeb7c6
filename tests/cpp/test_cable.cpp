#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "cable/kernels/rate_table.hpp"
#include "cell_testing.hpp"
#include "group_driver.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/base/instruction_set.hpp"
#include "ranvier/cable/groups/cell_model.hpp"
#include "ranvier/cable/mechanisms/registry.hpp"
#include "scalar_cell.hpp"

namespace ranvier::cable {
namespace TEST_FILE {

using models::GroupDriver;

constexpr double step = 0.025;

/// With a leak, squid's channels on every second compartment, a receptor in the last one, and a probe in each.
CellSpec cell_spec(Compartments compartments, RateMethod rates) {
    CellSpec spec{.compartments = std::move(compartments),
                  .capacitance = {1.3},
                  .axial_resistivity = 120.0,
                  .rates = rates,
                  .mechanisms = {},
                  .receptors = {},
                  .clamps = {},
                  .probes = {},
                  .detector = {.section = 0, .position = 0.5},
                  .electrodes = {{.name = "", .place = {.section = 0, .position = 0.5}}}};
    const std::size_t size = spec.compartments.size();
    std::vector<double> half(size, 0.0);
    for (std::size_t i = 0; i < size; i += 2) half[i] = 1.0;
    spec.mechanisms = {painted("pas", {1.0}), painted("hh", half)};
    spec.receptors.push_back({.name = "exc",
                              .model = &find_receptor("expsyn"),
                              .parameters = {2.0, 0.0},
                              .places = {middle_of(spec.compartments.compartments().back())}});
    for (std::size_t i = 0; i < size; ++i) {
        spec.probes.push_back(
            {.name = "V" + std::to_string(i), .place = middle_of(spec.compartments.compartments()[i])});
    }
    return spec;
}

GroupDriver::Options options_for(std::size_t size, InstructionSet set = InstructionSet::baseline) {
    GroupDriver::Options options{.size = size, .resolution = step, .instruction_set = set};
    options.values["V_m"] = {-65.0};
    return options;
}

std::vector<double> potentials(const GroupDriver& driver, std::size_t compartments, std::size_t cell) {
    std::vector<double> all;
    for (std::size_t i = 0; i < compartments; ++i) all.push_back(driver.read("V" + std::to_string(i))[cell]);
    return all;
}

/// 100 steps with spikes and a current, in cells of random forms.
void compare_with_scalar(RateMethod rates, double tolerance) {
    std::mt19937 random(7);
    for (const std::uint32_t sections : {1U, 2U, 5U, 12U}) {
        const CellModel model(cell_spec(random_cell(random, sections), rates));
        const std::size_t size = model.spec().compartments.size();
        ScalarCell scalar(model.spec(), step);
        GroupDriver driver(model, options_for(1));
        driver.give_current({200.0});
        for (int n = 0; n < 100; ++n) {
            const double weight = n % 30 == 5 ? 4.0 : 0.0;
            if (weight > 0.0) driver.give(std::size_t{0}, 0, weight);
            driver.step();
            scalar.advance(n + 1, std::array{std::vector{weight}}, 200.0);
            const std::vector<double> found = potentials(driver, size, 0);
            for (std::size_t i = 0; i < size; ++i) {
                ASSERT_NEAR(found[i], scalar.potential(i), tolerance) << sections << " sections, step " << n;
            }
        }
    }
}

// Potentials are some 100 mV, and 100 steps of rounding in another order are some hundred times 1e-16 of that.
TEST(Cable, EliminationGivesWhatAFullMatrixDoes) { compare_with_scalar(RateMethod::exact, 1e-9); }

// Rates that are 1e-6 off move potentials by less than 1e-3 mV in 100 steps.
TEST(Cable, TablesGiveNearlyWhatFormulasDo) { compare_with_scalar(RateMethod::table, 1e-3); }

TEST(Cable, PotentialsDependOnNeitherCompanyNorInstructionSet) {
    std::mt19937 random(11);
    for (const RateMethod rates : {RateMethod::table, RateMethod::exact}) {
        const CellModel model(cell_spec(random_cell(random, 9), rates));
        const std::size_t size = model.spec().compartments.size();
        std::vector<double> expected;
        for (const InstructionSet set : available_instruction_sets()) {
            for (const std::size_t cells : {1U, 7U, 8U, 9U, 20U}) {
                GroupDriver driver(model, options_for(cells, set));
                // The last cell gets what the others do not.
                std::vector<double> current(cells, 0.0);
                current.back() = 150.0;
                driver.give_current(current);
                for (int n = 0; n < 60; ++n) {
                    if (n % 20 == 3) driver.give(std::size_t{0}, cells - 1, 3.0);
                    driver.step();
                }
                EXPECT_TRUE(driver.sound());
                const std::vector<double> found = potentials(driver, size, cells - 1);
                if (expected.empty()) expected = found;
                EXPECT_EQ(found, expected) << cells << " cells";
            }
        }
    }
}

TEST(Cable, ChargeIsKept) {
    std::mt19937 random(3);
    CellSpec spec = cell_spec(random_cell(random, 8), RateMethod::table);
    spec.mechanisms = {painted("pas", {1.0})};
    spec.mechanisms[0].parameters = {{0.0}, {-70.0}};
    const CellModel model(std::move(spec));
    const auto compartments = model.spec().compartments.compartments();
    GroupDriver driver(model, options_for(1));
    driver.give_current({50.0});
    const auto charge = [&] {
        const std::vector<double> now = potentials(driver, compartments.size(), 0);
        double sum = 0.0;
        for (std::size_t i = 0; i < now.size(); ++i) {
            sum += compartments[i].area * model.spec().capacitance[0] * picofarads * now[i];
        }
        return sum;
    };
    const double before = charge();
    for (int n = 0; n < 200; ++n) driver.step();
    // Rounding of 200 steps of what lies in the cell.
    EXPECT_NEAR(charge() - before, 200 * 50.0 * step, 1e-10 * std::abs(before));
}

TEST(Cable, TellsThatAPotentialHasLeftTheTables) {
    std::mt19937 random(5);
    const CellModel model(cell_spec(random_cell(random, 3), RateMethod::table));
    GroupDriver driver(model, options_for(2));
    driver.step();
    EXPECT_FALSE(driver.group().failure().has_value());
    driver.give_current({0.0, 1e9});
    for (int n = 0; n < 3; ++n) driver.step();
    ASSERT_TRUE(driver.group().failure().has_value());
    const models::GroupFailure failure = driver.group().failure().value();
    EXPECT_NE(failure.what.find("250"), std::string::npos) << failure.what;
    EXPECT_EQ(failure.neuron, 1u);
    EXPECT_EQ(failure.variable, "potential");
    EXPECT_EQ(failure.place.find("section "), 0u) << failure.place;
    EXPECT_TRUE(failure.step.has_value());
}

TEST(Cable, TablesAreAsCloseAsTheySay) {
    std::mt19937 random(13);
    for (const MechanismModel* const mechanism : mechanisms()) {
        std::vector<double> parameters;
        for (const auto& info : mechanism->parameters) parameters.push_back(info.default_value);
        for (const GateInfo& info : mechanism->gates) {
            const std::vector gate{GateOfMechanism{&info, parameters}};
            const RateTable table(gate, step, 34.0, page_memory());
            const RateRange& range = range_of(info.follows);
            std::uniform_real_distribution<double> draw(range.lowest, range.highest);
            for (int i = 0; i < 2000; ++i) {
                const std::vector<double> argument{draw(random)};
                double steady = 0.0;
                double part = 0.0;
                double exact_steady = 0.0;
                double exact_part = 0.0;
                table.look_up(0, argument[0], steady, part);
                exact_rates(InstructionSet::baseline, gate[0], step, 34.0, argument, &exact_steady, &exact_part);
                // The table is checked at 16 points of each interval: a little more may lie between them.
                ASSERT_NEAR(steady, exact_steady, 1.05e-6)
                    << mechanism->name << " " << info.name << " at " << argument[0];
                ASSERT_NEAR(part, exact_part, 1.05e-6 * exact_part)
                    << mechanism->name << " " << info.name << " at " << argument[0];
            }
        }
    }
}

Section section(std::int32_t parent, std::vector<double> distances, std::vector<double> radii) {
    Section made;
    made.parent = parent;
    made.distances = std::move(distances);
    made.radii = std::move(radii);
    return made;
}

TEST(Cable, RefusesFormsThatAreNone) {
    const Section good = section(-1, {0.0, 10.0}, {1.0, 1.0});
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const std::vector<std::vector<Section>> bad{
        {},
        {good, good},
        {section(0, {0.0, 10.0}, {1.0, 1.0})},
        {good, section(1, {0.0, 10.0}, {1.0, 1.0})},
        {good, section(2, {0.0, 10.0}, {1.0, 1.0}), good},
        {section(-1, {0.0}, {1.0})},
        {section(-1, {0.0, 0.0}, {1.0, 1.0})},
        {section(-1, {0.0, 10.0}, {0.0, 1.0})},
        {section(-1, {0.0, 10.0}, {1.0, -1.0})},
        {section(-1, {0.0, nan}, {1.0, 1.0})},
        {section(-1, {0.0, 10.0}, {nan, 1.0})},
        {section(-1, {0.0, std::numeric_limits<double>::infinity()}, {1.0, 1.0})},
    };
    for (const auto& sections : bad) EXPECT_THROW(Morphology{sections}, Error);
    const Morphology tree({good});
    EXPECT_THROW(Compartments(tree, std::vector<std::uint32_t>{0}), Error);
    EXPECT_THROW(Compartments(tree, std::vector<std::uint32_t>{1, 1}), Error);
    const Compartments cut(tree, std::vector<std::uint32_t>{3});
    EXPECT_THROW(cut.at({.section = 1, .position = 0.5}, "place"), Error);
    EXPECT_THROW(cut.at({.section = 0, .position = 1.5}, "place"), Error);
    EXPECT_THROW(cut.at({.section = 0, .position = nan}, "place"), Error);
}

}  // namespace TEST_FILE
}  // namespace ranvier::cable
