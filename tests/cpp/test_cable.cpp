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

#include "base/errors.hpp"
#include "base/instruction_set.hpp"
#include "cable/cell.hpp"
#include "cable/rate_table.hpp"
#include "cable/registry.hpp"
#include "group_driver.hpp"

namespace ranvier::cable {
namespace {

using models::GroupDriver;
using Matrix = std::vector<std::vector<double>>;

constexpr double step = 0.025;
// From S/cm^2 and um^2 to nS, from uF/cm^2 and um^2 to pF, from 1/(ohm cm 1/um) to nS.
constexpr double nanosiemens = 10.0;
constexpr double picofarads = 0.01;
constexpr double axial_nanosiemens = 1e5;

/// A tree of sections, some of which begin between the ends of their parents.
Compartments random_cell(std::mt19937& random, std::uint32_t sections) {
    const auto uniform = [&](double low, double high) {
        return std::uniform_real_distribution<double>(low, high)(random);
    };
    const auto below = [&](std::uint32_t n) { return std::uniform_int_distribution<std::uint32_t>(0, n - 1)(random); };
    constexpr std::array positions{0.0, 0.3, 1.0, 1.0, 1.0};
    std::vector<Section> all(sections);
    std::vector<std::uint32_t> counts(sections);
    for (std::uint32_t i = 0; i < sections; ++i) {
        all[i].parent = i == 0 ? -1 : static_cast<std::int32_t>(below(i));
        all[i].parent_position = positions.at(below(positions.size()));
        all[i].tag = i == 0 ? 1 : 3;
        all[i].distances = {0.0, uniform(5.0, 100.0)};
        all[i].radii = {uniform(0.2, 3.0), uniform(0.2, 3.0)};
        counts[i] = 1 + below(5);
    }
    return {Morphology(std::move(all)), counts};
}

PaintedMechanism painted(std::string_view name, std::vector<double> covered) {
    PaintedMechanism made{.mechanism = &find_mechanism(name), .covered = std::move(covered), .parameters = {}};
    for (const models::ParameterInfo& parameter : made.mechanism->parameters) {
        made.parameters.push_back({parameter.default_value});
    }
    return made;
}

double parameter(const PaintedMechanism& mechanism, std::string_view name) {
    const auto parameters = mechanism.mechanism->parameters;
    const auto found = std::ranges::find(parameters, name, &models::ParameterInfo::name);
    return mechanism.parameters.at(static_cast<std::size_t>(found - parameters.begin())).front();
}

Place middle_of(const Compartment& own) { return {own.section, 0.5 * (own.begin + own.end)}; }

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
                  .electrode = {.section = 0, .position = 0.5}};
    const std::size_t size = spec.compartments.size();
    std::vector<double> half(size, 0.0);
    for (std::size_t i = 0; i < size; i += 2) half[i] = 1.0;
    spec.mechanisms = {painted("pas", {1.0}), painted("hh", half)};
    spec.receptors.push_back({.name = "exc",
                              .model = &find_receptor("expsyn"),
                              .parameters = {2.0, 0.0},
                              .place = middle_of(spec.compartments.compartments().back())});
    for (std::size_t i = 0; i < size; ++i) {
        spec.probes.push_back(
            {.name = "V" + std::to_string(i), .place = middle_of(spec.compartments.compartments()[i])});
    }
    return spec;
}

/// Solves a system of equations by elimination with pivots, whatever its matrix.
std::vector<double> solve(Matrix matrix, std::vector<double> values) {
    const std::size_t size = values.size();
    for (std::size_t column = 0; column < size; ++column) {
        std::size_t pivot = column;
        for (std::size_t row = column; row < size; ++row) {
            if (std::abs(matrix[row][column]) > std::abs(matrix[pivot][column])) pivot = row;
        }
        std::swap(matrix[pivot], matrix[column]);
        std::swap(values[pivot], values[column]);
        for (std::size_t row = column + 1; row < size; ++row) {
            const double factor = matrix[row][column] / matrix[column][column];
            for (std::size_t k = column; k < size; ++k) matrix[row][k] -= factor * matrix[column][k];
            values[row] -= factor * values[column];
        }
    }
    for (std::size_t row = size; row-- > 0;) {
        for (std::size_t k = row + 1; k < size; ++k) values[row] -= matrix[row][k] * values[k];
        values[row] /= matrix[row][row];
    }
    return values;
}

/// A cell as the equations say: a full matrix, rates from their formulas, one thing after the other.
class DenseCell {
   public:
    explicit DenseCell(const CellSpec& spec)
        : spec_(spec), potential_(spec.compartments.nodes().size(), spec.initial_potential) {
        for (const GateInfo& gate : spec.mechanisms[1].mechanism->gates) {
            gates_.emplace_back(spec.compartments.size(), rates(gate, spec.initial_potential).steady);
        }
    }

    /// @param weight nS of a spike that arrives at the end of the step
    void advance(double weight, double injected) {
        const auto nodes = spec_.compartments.nodes();
        Matrix matrix(nodes.size(), std::vector<double>(nodes.size(), 0.0));
        std::vector<double> values(nodes.size(), 0.0);
        for (std::size_t i = 1; i < nodes.size(); ++i) {
            const auto parent = static_cast<std::size_t>(nodes[i].parent);
            const double g = axial_nanosiemens / (spec_.axial_resistivity * nodes[i].resistance_integral);
            matrix[i][i] += g;
            matrix[parent][parent] += g;
            matrix[i][parent] -= g;
            matrix[parent][i] -= g;
        }
        for (std::size_t c = 0; c < spec_.compartments.size(); ++c) add_membrane(c, matrix, values);
        const std::size_t at_receptor = node_at(spec_.receptors[0].place);
        matrix[at_receptor][at_receptor] += conductance_;
        values[at_receptor] += conductance_ * spec_.receptors[0].parameters[1];
        values[node_at(spec_.electrode)] += injected;
        conductance_ = conductance_ * std::exp(-step / spec_.receptors[0].parameters[0]) + weight;
        potential_ = solve(std::move(matrix), std::move(values));
    }

    double potential(std::size_t compartment) const {
        return potential_[spec_.compartments.compartments()[compartment].node];
    }

   private:
    Rates rates(const GateInfo& gate, double potential) const {
        Rates found{};
        std::vector<double> parameters;
        for (const auto& values : spec_.mechanisms[1].parameters) parameters.push_back(values.front());
        gate.rates(InstructionSet::baseline, {.size = 1,
                                              .argument = &potential,
                                              .celsius = spec_.celsius,
                                              .parameters = parameters.data(),
                                              .steady = &found.steady,
                                              .tau = &found.tau});
        return found;
    }
    std::size_t node_at(Place place) const {
        return spec_.compartments.compartments()[spec_.compartments.at(place, "place")].node;
    }
    void add_membrane(std::size_t c, Matrix& matrix, std::vector<double>& values) {
        const Compartment& own = spec_.compartments.compartments()[c];
        const double v = potential_[own.node];
        const double capacity = own.area * spec_.capacitance[0] * picofarads / step;
        matrix[own.node][own.node] += capacity;
        values[own.node] += capacity * v;
        const auto add = [&](double density, double reversal) {
            const double g = own.area * density * nanosiemens;
            matrix[own.node][own.node] += g;
            values[own.node] += g * reversal;
        };
        add(parameter(spec_.mechanisms[0], "g"), parameter(spec_.mechanisms[0], "e"));
        const PaintedMechanism& squid = spec_.mechanisms[1];
        if (squid.covered[c] == 0.0) return;
        for (std::size_t i = 0; i < gates_.size(); ++i) {
            const Rates now = rates(squid.mechanism->gates[i], v);
            gates_[i][c] = now.steady + (gates_[i][c] - now.steady) * std::exp(-step / now.tau);
        }
        const double m = gates_[0][c];
        const double n = gates_[2][c];
        add(parameter(squid, "gnabar") * m * m * m * gates_[1][c], parameter(squid, "ena"));
        add(parameter(squid, "gkbar") * n * n * n * n, parameter(squid, "ek"));
        add(parameter(squid, "gl"), parameter(squid, "el"));
    }

    const CellSpec& spec_;
    std::vector<double> potential_;
    std::vector<std::vector<double>> gates_;  ///< of each gate, by compartment
    double conductance_ = 0.0;
};

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
void compare_with_dense(RateMethod rates, double tolerance) {
    std::mt19937 random(7);
    for (const std::uint32_t sections : {1U, 2U, 5U, 12U}) {
        const CellModel model(cell_spec(random_cell(random, sections), rates));
        const std::size_t size = model.spec().compartments.size();
        DenseCell dense(model.spec());
        GroupDriver driver(model.neuron_model(), options_for(1));
        driver.give_current({200.0});
        for (int n = 0; n < 100; ++n) {
            const double weight = n % 30 == 5 ? 4.0 : 0.0;
            if (weight > 0.0) driver.give(std::size_t{0}, 0, weight);
            driver.step();
            dense.advance(weight, 200.0);
            const std::vector<double> found = potentials(driver, size, 0);
            for (std::size_t i = 0; i < size; ++i) {
                ASSERT_NEAR(found[i], dense.potential(i), tolerance) << sections << " sections, step " << n;
            }
        }
    }
}

// Potentials are some 100 mV, and 100 steps of rounding in another order are some hundred times 1e-16 of that.
TEST(Cable, EliminationGivesWhatAFullMatrixDoes) { compare_with_dense(RateMethod::exact, 1e-9); }

// Rates that are 1e-6 off move potentials by less than 1e-3 mV in 100 steps.
TEST(Cable, TablesGiveNearlyWhatFormulasDo) { compare_with_dense(RateMethod::table, 1e-3); }

TEST(Cable, PotentialsDependOnNeitherCompanyNorInstructionSet) {
    std::mt19937 random(11);
    for (const RateMethod rates : {RateMethod::table, RateMethod::exact}) {
        const CellModel model(cell_spec(random_cell(random, 9), rates));
        const std::size_t size = model.spec().compartments.size();
        std::vector<double> expected;
        for (const InstructionSet set : available_instruction_sets()) {
            for (const std::size_t cells : {1U, 7U, 8U, 9U, 20U}) {
                GroupDriver driver(model.neuron_model(), options_for(cells, set));
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
    GroupDriver driver(model.neuron_model(), options_for(1));
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
    GroupDriver driver(model.neuron_model(), options_for(2));
    driver.step();
    EXPECT_FALSE(driver.group().failure().has_value());
    driver.give_current({0.0, 1e9});
    for (int n = 0; n < 3; ++n) driver.step();
    ASSERT_TRUE(driver.group().failure().has_value());
    EXPECT_NE(driver.group().failure()->find("250"), std::string::npos);
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

}  // namespace
}  // namespace ranvier::cable
