#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "cell_testing.hpp"
#include "group_driver.hpp"
#include "ranvier/base/instruction_set.hpp"
#include "ranvier/base/state_columns.hpp"
#include "ranvier/cable/groups/cell_model.hpp"
#include "ranvier/cable/mechanisms/registry.hpp"
#include "scalar_cell.hpp"

/// Cells of drawn shapes with drawn mechanisms, receptors and clamps: what the kernels make of them, by eights and packed,
/// against ScalarCell, and against each other.
namespace ranvier::cable {
namespace TEST_FILE {

using models::GroupDriver;
using State = std::map<std::string, std::vector<double>>;

constexpr double step = 0.025;
constexpr int steps = 60;
constexpr std::array<std::string_view, 3> receptor_names{"expsyn", "exp2syn", "nmda"};

/// A cell of a population: which kind it is, and what happens to it.
struct Member {
    std::uint32_t kind = 0;
    unsigned seed = 0;

    double current() const { return 40.0 * static_cast<double>(seed % 7); }
    /// nS to a site of a receptor in a step.
    double input(std::size_t receptor, std::size_t site, int n) const {
        const auto place = (static_cast<unsigned>(n) * 3 + static_cast<unsigned>(receptor * 5 + site * 11) + seed) % 23;
        return place == 0 ? 0.5 * static_cast<double>(1 + seed % 5) : 0.0;
    }
};

class Draw {
   public:
    explicit Draw(unsigned seed) : random_(seed) {}

    bool likely(double probability) { return uniform(0.0, 1.0) < probability; }
    double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random_); }
    std::uint32_t below(std::size_t n) {
        return std::uniform_int_distribution<std::uint32_t>(0, static_cast<std::uint32_t>(n) - 1)(random_);
    }
    std::mt19937& random() { return random_; }

   private:
    std::mt19937 random_;
};

/// Parts of the membrane, none outside of `region`: all, half or nothing of each compartment.
std::vector<double> draw_region(Draw& draw, const std::vector<double>& region) {
    std::vector<double> covered;
    for (const double part : region) covered.push_back(draw.likely(0.6) ? (draw.likely(0.8) ? part : 0.5 * part) : 0.0);
    return covered;
}

void draw_mechanisms(Draw& draw, CellSpec& spec) {
    const std::vector<double> all(spec.compartments.size(), 1.0);
    const std::vector<double> shell = draw.likely(0.6) ? draw_region(draw, all) : std::vector(all.size(), 0.0);
    spec.mechanisms.push_back(painted("pas", all));
    for (const MechanismModel* const model : mechanisms()) {
        const bool has_pool = model->pool != nullptr;
        const bool needs_pool =
            model->follows_calcium() || std::ranges::any_of(model->currents, &CurrentInfo::carries_calcium);
        if (model->name == "pas" || (!has_pool && draw.likely(0.6))) continue;
        PaintedMechanism own = painted(model->name, has_pool ? shell : draw_region(draw, needs_pool ? shell : all));
        if (std::ranges::all_of(own.covered, [](double part) { return part == 0.0; })) continue;
        for (const CurrentInfo& current : model->currents) {
            const double density = own.parameters[current.conductance].front();
            own.parameters[current.conductance].clear();
            for (std::size_t c = 0; c < all.size(); ++c) {
                own.parameters[current.conductance].push_back(density * draw.uniform(0.0, 1.0));
            }
        }
        spec.mechanisms.push_back(std::move(own));
    }
}

Place draw_place(Draw& draw, const CellSpec& spec) {
    return middle_of(spec.compartments.compartments()[draw.below(spec.compartments.size())]);
}

void draw_clamps(Draw& draw, CellSpec& spec) {
    const bool is_current = spec.scheme == Scheme::staggered || draw.likely(0.7);
    for (std::uint32_t k = draw.below(3); k-- > 0;) {
        spec.clamps.push_back({.name = "clamp" + std::to_string(k),
                               .kind = is_current || k > 0 ? PlacedClamp::Kind::current : PlacedClamp::Kind::voltage,
                               .place = draw_place(draw, spec),
                               .start = draw.uniform(0.0, 1.0),
                               .levels = {draw.uniform(-60.0, 40.0), draw.uniform(-60.0, 40.0)},
                               .durations = {draw.uniform(0.01, 0.5), draw.uniform(0.01, 0.5)},
                               .resistance = is_current || k > 0 ? 0.0 : 5.0});
    }
}

std::shared_ptr<const CellModel> draw_kind(Draw& draw, RateMethod rates, Scheme scheme) {
    const std::uint32_t sections = 1 + draw.below(7);
    CellSpec spec{.compartments = random_cell(draw.random(), sections),
                  .capacitance = {draw.uniform(0.7, 2.0)},
                  .axial_resistivity = draw.uniform(50.0, 200.0),
                  .celsius = 20.0,
                  .rates = rates,
                  .scheme = scheme,
                  .mechanisms = {},
                  .receptors = {},
                  .clamps = {},
                  .probes = {},
                  .detector = {},
                  .threshold = draw.uniform(-60.0, -20.0),
                  .electrodes = {{}}};
    draw_mechanisms(draw, spec);
    for (const std::string_view name : receptor_names) {
        PlacedReceptor receptor{
            .name = std::string(name), .model = &find_receptor(name), .parameters = {}, .places = {}};
        for (const models::ParameterInfo& info : receptor.model->parameters) {
            // Some kinds share the constants of a receptor, and are calculated together.
            receptor.parameters.push_back(info.default_value * (draw.likely(0.5) ? 1.0 : draw.uniform(0.8, 1.2)));
        }
        // Some of them in one compartment.
        for (std::uint32_t sites = 1 + draw.below(4); sites > 0; --sites) {
            receptor.places.push_back(draw_place(draw, spec));
        }
        spec.receptors.push_back(std::move(receptor));
    }
    draw_clamps(draw, spec);
    spec.detector = draw_place(draw, spec);
    spec.electrodes[0].place = draw_place(draw, spec);
    return std::make_shared<const CellModel>(std::move(spec));
}

std::vector<std::shared_ptr<const CellModel>> draw_kinds(unsigned seed, std::size_t count, RateMethod rates,
                                                         Scheme scheme) {
    Draw draw(seed);
    std::vector<std::shared_ptr<const CellModel>> kinds;
    for (std::size_t k = 0; k < count; ++k) kinds.push_back(draw_kind(draw, rates, scheme));
    return kinds;
}

/// Of some kinds blocks of equal cells, full and not, and others that are packed, in any order.
std::vector<Member> draw_members(unsigned seed) {
    std::vector<Member> members;
    constexpr std::array<std::uint32_t, 5> counts{9, 7, 3, 1, 1};
    for (std::uint32_t kind = 0; kind < counts.size(); ++kind) {
        for (std::uint32_t i = 0; i < counts.at(kind); ++i) {
            members.push_back({kind, seed + static_cast<unsigned>(members.size())});
        }
    }
    Draw draw(seed);
    std::ranges::shuffle(members, draw.random());
    return members;
}

struct Outcome {
    State state;
    std::vector<int> spikes;  ///< steps
    bool operator==(const Outcome&) const = default;
};

State state_of(GroupDriver& driver, std::uint32_t cell) {
    StateColumns columns;
    driver.group().serialize_state(cell, steps, columns);
    State state;
    for (StateColumns::Column& column : std::move(columns).take()) {
        if (auto* const values = std::get_if<std::vector<double>>(&column.values)) state[column.name] = *values;
    }
    return state;
}

std::vector<Outcome> run(const std::vector<std::shared_ptr<const CellModel>>& kinds, std::span<const Member> members,
                         InstructionSet set) {
    std::vector<std::uint32_t> kind_of;
    std::vector<double> current;
    for (const Member& member : members) {
        kind_of.push_back(member.kind);
        current.push_back(member.current());
    }
    const CellModel model(kinds, kind_of);
    GroupDriver::Options options{.size = members.size(), .resolution = step, .instruction_set = set};
    options.values["V_m"] = {-65.0};
    GroupDriver driver(model, options);
    driver.give_current(current);
    std::vector<Outcome> outcomes(members.size());
    for (int n = 0; n < steps; ++n) {
        for (std::size_t i = 0; i < members.size(); ++i) {
            for (std::uint32_t r = 0; r < receptor_names.size(); ++r) {
                for (std::size_t site = 0; site < model.sites_at(r).of(i); ++site) {
                    const double weight = members[i].input(r, site, n);
                    if (weight > 0.0) driver.give(r, i, weight, site);
                }
            }
        }
        for (const std::uint32_t cell : driver.step()) outcomes[cell].spikes.push_back(n);
    }
    EXPECT_TRUE(driver.sound());
    EXPECT_FALSE(driver.group().failure().has_value());
    for (std::uint32_t i = 0; i < members.size(); ++i) outcomes[i].state = state_of(driver, i);
    return outcomes;
}

/// Exponentials of a receptor, of all nodes or, where each cell has one site, of that.
void compare(const std::vector<double>& found, const std::vector<double>& expected) {
    if (found.size() == 1) {
        const double sum = std::accumulate(expected.begin(), expected.end(), 0.0);
        ASSERT_NEAR(found.front(), sum, 1e-12 * sum);
        return;
    }
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t node = 0; node < found.size(); ++node) {
        ASSERT_NEAR(found[node], expected[node], 1e-12 * expected[node]) << "node " << node;
    }
}

/// Potentials and concentrations have deviations of up to `tolerance` of their size.
void compare(const State& found, const ScalarCell& expected, double tolerance) {
    const std::vector<double>& potentials = found.at("V_m");
    ASSERT_EQ(potentials.size(), expected.potentials().size());
    for (std::size_t node = 0; node < potentials.size(); ++node) {
        ASSERT_NEAR(potentials[node], expected.potentials()[node], 100.0 * tolerance) << "node " << node;
    }
    for (std::size_t r = 0; r < receptor_names.size(); ++r) {
        compare(found.at("slow_" + std::to_string(r)), expected.slow(r));
        compare(found.at("fast_" + std::to_string(r)), expected.fast(r));
    }
    if (!found.contains("calcium")) return;
    for (std::size_t node = 0; node < potentials.size(); ++node) {
        const double calcium = expected.calcium(node);
        ASSERT_NEAR(found.at("calcium")[node], calcium, tolerance * calcium) << "node " << node;
    }
}

ScalarCell scalar_run(const CellSpec& spec, const Member& member) {
    ScalarCell cell(spec, step);
    for (int n = 0; n < steps; ++n) {
        std::vector<std::vector<double>> inputs;
        for (std::size_t r = 0; r < receptor_names.size(); ++r) {
            std::vector<double>& own = inputs.emplace_back();
            for (std::size_t site = 0; site < spec.receptors[r].places.size(); ++site) {
                own.push_back(member.input(r, site, n));
            }
        }
        cell.advance(n + 1, inputs, member.current());
    }
    return cell;
}

void compare_with_scalar_cells(unsigned seed, RateMethod rates, double tolerance) {
    const Scheme scheme = seed % 2 == 0 ? Scheme::staggered : Scheme::backward_euler;
    const auto kinds = draw_kinds(seed, 5, rates, scheme);
    const std::vector<Member> members = draw_members(seed);
    const auto sets = available_instruction_sets();
    const std::vector<Outcome> outcomes = run(kinds, members, sets[seed % sets.size()]);
    for (std::size_t i = 0; i < members.size(); ++i) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", cell " + std::to_string(i));
        const CellSpec& spec = kinds[members[i].kind]->spec();
        compare(outcomes[i].state, scalar_run(spec, members[i]), tolerance);
    }
}

// Rounding in another order: some hundred times 1e-16, which spikes enlarge.
TEST(CableKernels, CellsOfAnyFormsAreWhatTheEquationsSay) {
    for (unsigned seed = 1; seed <= 8; ++seed) compare_with_scalar_cells(seed, RateMethod::exact, 1e-9);
}

// Rates that are 1e-6 off change slow and steep variables by some 1e-4 of their size.
TEST(CableKernels, TablesGiveNearlyWhatTheEquationsSay) {
    for (unsigned seed = 21; seed <= 24; ++seed) compare_with_scalar_cells(seed, RateMethod::table, 1e-4);
}

void compare_companies(unsigned seed, RateMethod rates) {
    const Scheme scheme = seed % 2 == 0 ? Scheme::staggered : Scheme::backward_euler;
    const auto kinds = draw_kinds(seed, 5, rates, scheme);
    const std::vector<Member> members = draw_members(seed);
    const std::vector<Outcome> expected = run(kinds, members, InstructionSet::baseline);
    // Alone, and in groups of which few are equal.
    constexpr std::size_t alone = 5;
    const auto expect_the_same = [&](std::size_t first, const std::vector<Outcome>& found) {
        for (std::size_t i = 0; i < found.size(); ++i) {
            EXPECT_EQ(found[i].spikes, expected[first + i].spikes) << "cell " << first + i;
            for (const auto& [name, values] : found[i].state) {
                EXPECT_EQ(values, expected[first + i].state.at(name)) << "cell " << first + i << ", " << name;
            }
        }
    };
    for (const InstructionSet set : available_instruction_sets()) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::string(to_string(set)));
        expect_the_same(0, run(kinds, members, set));
        expect_the_same(0, run(kinds, std::span(members).first(members.size() / 2), set));
    }
    for (std::size_t i = 0; i < alone; ++i) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", alone");
        expect_the_same(i, run(kinds, std::span(members).subspan(i, 1), InstructionSet::baseline));
    }
}

TEST(CableKernels, BitsDependOnNeitherCompanyNorInstructionSet) {
    for (unsigned seed = 31; seed <= 36; ++seed) compare_companies(seed, RateMethod::exact);
    for (unsigned seed = 41; seed <= 42; ++seed) compare_companies(seed, RateMethod::table);
}

/// Eight cells of one compartment, in one slot: the first `squids` have channels, for which rates are tabulated.
bool a_slot_fails(std::size_t squids, std::size_t injected) {
    std::vector<std::shared_ptr<const CellModel>> kinds;
    for (std::uint32_t k = 0; k < 8; ++k) {
        Section soma;
        soma.distances = {0.0, 10.0};
        // No two cells are equal.
        soma.radii = {5.0 + k, 5.0 + k};
        CellSpec spec{.compartments = {Morphology({soma}), std::vector<std::uint32_t>{1}},
                      .capacitance = {1.0},
                      .mechanisms = {painted(k < squids ? "hh" : "pas", {1.0})},
                      .receptors = {},
                      .clamps = {},
                      .probes = {},
                      .detector = {},
                      .electrodes = {{}}};
        kinds.push_back(std::make_shared<const CellModel>(std::move(spec)));
    }
    const CellModel model(kinds, {0, 1, 2, 3, 4, 5, 6, 7});
    GroupDriver::Options options{.size = 8, .resolution = step};
    options.values["V_m"] = {-65.0};
    GroupDriver driver(model, options);
    std::vector<double> current(8, 0.0);
    current[injected] = 1e5;
    driver.give_current(current);
    for (int n = 0; n < 20; ++n) driver.step();
    EXPECT_GT(std::abs(driver.read("V_m")[injected]), 250.0);
    return driver.group().failure().has_value();
}

// Channels of most cells of a slot are calculated for all of it.
TEST(CableKernels, PotentialsLeaveTablesOnlyWhereThereAreChannels) {
    for (const std::size_t squids : {5U, 7U}) {
        EXPECT_FALSE(a_slot_fails(squids, 7)) << squids;
        EXPECT_TRUE(a_slot_fails(squids, 1)) << squids;
    }
}

}  // namespace TEST_FILE
}  // namespace ranvier::cable
