#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numbers>
#include <ostream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "group_driver.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::models {
namespace TEST_FILE {

enum class Synapse { exponential, alpha, delta };

struct Neuron {
    Synapse synapse = Synapse::exponential;
    double E_L = -70.0, C_m = 250.0, tau_m = 10.0, t_ref = 2.0, V_th = -55.0, V_reset = -70.0, I_e = 0.0;
    double V_min = -1e30, tau_syn_ex = 2.0, tau_syn_in = 2.0;

    std::string_view model() const {
        return synapse == Synapse::exponential ? "iaf_psc_exp"
               : synapse == Synapse::alpha     ? "iaf_psc_alpha"
                                               : "iaf_psc_delta";
    }
    std::map<std::string_view, std::vector<double>> values() const {
        return {{"E_L", {E_L}},
                {"C_m", {C_m}},
                {"tau_m", {tau_m}},
                {"t_ref", {t_ref}},
                {"V_th", {V_th}},
                {"V_reset", {V_reset}},
                {"I_e", {I_e}},
                {"V_min", {V_min}},
                {"tau_syn_ex", {tau_syn_ex}},
                {"tau_syn_in", {tau_syn_in}}};
    }
};

/// Integrates the differential equations by the classical Runge-Kutta method of order 4, in steps so small that its error
/// (about (h / 200 / tau)^4 / 120 a step, 1e-13 for the shortest time constant here) is far below the tolerance. It shares
/// nothing with the models but the equations.
class Reference {
   public:
    Reference(const Neuron& neuron, double resolution)
        : neuron_(neuron), h_(resolution), state_{neuron.E_L, 0.0, 0.0, 0.0, 0.0} {}

    bool step(double excitatory, double inhibitory, double current) {
        auto next = state_;
        constexpr int parts = 200;
        for (int i = 0; i < parts; ++i) next = runge_kutta(next, h_ / parts, current);
        const bool refractory = left_ > 0;
        if (refractory) {
            next[0] = state_[0];
            --left_;
        }
        state_ = next;
        switch (neuron_.synapse) {
            case Synapse::exponential:
                state_[1] += excitatory;
                state_[2] += inhibitory;
                break;
            case Synapse::alpha:
                state_[3] += std::numbers::e / neuron_.tau_syn_ex * excitatory;
                state_[4] += std::numbers::e / neuron_.tau_syn_in * inhibitory;
                break;
            case Synapse::delta:
                if (!refractory) state_[0] += excitatory + inhibitory;
                break;
        }
        if (!refractory) state_[0] = std::max(state_[0], neuron_.V_min);
        if (state_[0] < neuron_.V_th) return false;
        state_[0] = neuron_.V_reset;
        left_ = static_cast<int>(std::lround(neuron_.t_ref / h_));
        return true;
    }

    double potential() const { return state_[0]; }
    double current_ex() const { return state_[1]; }

   private:
    using State = std::array<double, 5>;  // V, I_ex, I_in, and of alpha currents what drives them

    State derivative(const State& s, double current) const {
        const Neuron& n = neuron_;
        return {(n.E_L - s[0]) / n.tau_m + (s[1] + s[2] + n.I_e + current) / n.C_m, -s[1] / n.tau_syn_ex + s[3],
                -s[2] / n.tau_syn_in + s[4], -s[3] / n.tau_syn_ex, -s[4] / n.tau_syn_in};
    }
    State runge_kutta(const State& s, double dt, double current) const {
        const auto along = [&](const State& slope, double length) {
            State moved = s;
            for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += length * slope[i];
            return moved;
        };
        const State a = derivative(s, current);
        const State b = derivative(along(a, dt / 2), current);
        const State c = derivative(along(b, dt / 2), current);
        const State d = derivative(along(c, dt), current);
        State next = s;
        for (std::size_t i = 0; i < next.size(); ++i) next[i] += dt / 6 * (a[i] + 2 * b[i] + 2 * c[i] + d[i]);
        return next;
    }

    Neuron neuron_;
    double h_;
    State state_;
    int left_ = 0;
};

struct Scenario {
    std::string name;
    Neuron neuron;
    double resolution = 0.1;
};

void PrintTo(const Scenario& scenario, std::ostream* out) { *out << scenario.name; }

std::vector<Scenario> scenarios() {
    std::vector<Scenario> result;
    for (const Synapse synapse : {Synapse::exponential, Synapse::alpha, Synapse::delta}) {
        const std::string name(Neuron{.synapse = synapse}.model());
        result.push_back({name + "_short_synapses",
                          {.synapse = synapse,
                           .E_L = -65,
                           .V_th = -50,
                           .V_reset = -65,
                           .I_e = 450,
                           .tau_syn_ex = 0.5,
                           .tau_syn_in = 0.5}});
        result.push_back({name + "_no_refractoriness", {.synapse = synapse, .t_ref = 0.0, .I_e = 380}});
        result.push_back({name + "_reset_above_rest", {.synapse = synapse, .t_ref = 0.1, .V_reset = -60, .I_e = 380}});
        result.push_back({name + "_coarse_grid", {.synapse = synapse, .t_ref = 2.0, .I_e = 350}, 0.5});
        if (synapse != Synapse::exponential) {
            result.push_back({name + "_lower_limit", {.synapse = synapse, .V_min = -70.5}});
        }
        if (synapse == Synapse::delta) continue;
        result.push_back({name + "_equal_constants",
                          {.synapse = synapse, .tau_m = 5, .I_e = 700, .tau_syn_ex = 5, .tau_syn_in = 5}});
        result.push_back(
            {name + "_nearly_equal_constants",
             {.synapse = synapse, .tau_m = 5, .I_e = 700, .tau_syn_ex = 5 + 1e-9, .tau_syn_in = 5 - 1e-5}});
        result.push_back({name + "_slow_synapses",
                          {.synapse = synapse, .tau_m = 2, .I_e = 1500, .tau_syn_ex = 50, .tau_syn_in = 8}});
    }
    return result;
}

class Dynamics : public testing::TestWithParam<Scenario> {};

TEST_P(Dynamics, FollowTheDifferentialEquations) {
    const Neuron& neuron = GetParam().neuron;
    const double h = GetParam().resolution;
    GroupDriver driver(neuron.model(), {.resolution = h, .values = neuron.values()});
    Reference reference(neuron, h);
    const double scale = neuron.synapse == Synapse::delta ? 0.01 : 1.0;
    std::mt19937 random(1);
    std::uniform_real_distribution<double> uniform;
    int fired = 0;
    for (int n = 0; n < 1500; ++n) {
        double excitatory = 0.0;
        double inhibitory = 0.0;
        // In some steps several spikes arrive together, of both signs.
        while (uniform(random) < 0.3) (uniform(random) < 0.5 ? excitatory : inhibitory) += 150.0 * scale;
        inhibitory = -inhibitory;
        const double current = n > 500 && n < 1000 ? 200.0 * std::sin(0.05 * n) : 0.0;
        if (excitatory != 0.0) driver.give(0, excitatory);
        if (inhibitory != 0.0) driver.give(0, inhibitory);
        driver.give_current({current});
        const bool expected = reference.step(excitatory, inhibitory, current);
        const auto spikes = driver.step();
        ASSERT_EQ(spikes.size(), expected ? 1u : 0u) << "step " << n;
        fired += expected ? 1 : 0;
        // Rounding of 1500 steps of numbers near 70, and the error of the reference.
        ASSERT_NEAR(driver.potential(), reference.potential(), 1e-10) << "step " << n;
        if (neuron.synapse != Synapse::delta) {
            ASSERT_NEAR(driver.read("I_syn_ex")[0], reference.current_ex(), 1e-8) << "step " << n;
        }
    }
    EXPECT_TRUE(driver.sound());
    if (neuron.V_min < -100.0) {
        EXPECT_GT(fired, 5) << "the scenario does not test threshold and reset";
    }
}

INSTANTIATE_TEST_SUITE_P(Scenarios, Dynamics, testing::ValuesIn(scenarios()),
                         [](const auto& tested) { return tested.param.name; });

class AnyModel : public testing::TestWithParam<std::string_view> {};

INSTANTIATE_TEST_SUITE_P(Models, AnyModel, testing::Values("iaf_psc_exp", "iaf_psc_alpha", "iaf_psc_delta"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST_P(AnyModel, ChargesWithItsTimeConstant) {
    GroupDriver driver(GetParam(), {.values = {{"I_e", {100.0}}}});
    for (int n = 1; n <= 1000; ++n) {
        driver.step();
        const double expected = -70.0 + 100.0 * 10.0 / 250.0 * -std::expm1(-0.1 * n / 10.0);
        ASSERT_NEAR(driver.potential(), expected, 1e-12) << n;
    }
}

TEST_P(AnyModel, ReachesThresholdWhenTheSolutionDoes) {
    GroupDriver driver(GetParam(), {.values = {{"I_e", {400.0}}}});
    // -70 + 16 (1 - exp(-t / 10)) crosses -55 at t = 10 ln 16 = 27.7259 ms, in the step that ends at 27.8 ms.
    for (int n = 1; n < 278; ++n) ASSERT_TRUE(driver.step().empty()) << n;
    EXPECT_EQ(driver.step().size(), 1u);
}

TEST_P(AnyModel, FiresAtThresholdExactlyAndNotBelow) {
    for (const bool reached : {true, false}) {
        // With a membrane this slow nothing leaks away, and 15 mV are the distance to the threshold.
        const double start = reached ? -55.0 : std::nextafter(-55.0, -100.0);
        GroupDriver driver(GetParam(), {.values = {{"V_m", {start}}, {"tau_m", {1e300}}}});
        EXPECT_EQ(driver.step().size(), reached ? 1u : 0u);
    }
}

TEST_P(AnyModel, StaysAtResetForTheRefractoryPeriod) {
    struct Case {
        double t_ref;
        int steps;
    };
    for (const auto& [t_ref, steps] : {Case{0.0, 0}, {0.1, 1}, {0.3, 3}, {2.0, 20}, {0.24, 3}, {0.26, 3}}) {
        GroupDriver driver(GetParam(), {.values = {{"V_m", {-50.0}}, {"I_e", {100.0}}, {"t_ref", {t_ref}}}});
        ASSERT_EQ(driver.step().size(), 1u);
        for (int n = 0; n < steps; ++n) {
            EXPECT_EQ(driver.potential(), -70.0);
            EXPECT_TRUE(driver.step().empty());
        }
        EXPECT_EQ(driver.potential(), -70.0) << "t_ref " << t_ref;
        driver.step();
        EXPECT_GT(driver.potential(), -70.0) << "t_ref " << t_ref;
    }
}

TEST_P(AnyModel, KeepsItsStateWhenParametersChange) {
    GroupDriver driver(GetParam(), {.size = 3, .values = {{"V_m", {-60.0, -62.5, -50.0}}, {"I_e", {100.0}}}});
    driver.give(0, 1.0);
    driver.step();  // the third fires and becomes refractory
    const auto potentials = driver.read("V_m");
    for (const auto& resting : {std::vector{-65.0}, std::vector{-71.0, -65.0, -68.0}, std::vector{-72.0}}) {
        driver.set("E_L", resting);
        const auto kept = driver.read("V_m");
        for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(kept[i], potentials[i], 1e-13);
    }
    driver.set("tau_m", {20.0});
    driver.step();
    const auto next = driver.read("V_m");
    EXPECT_NEAR(next[2], potentials[2], 1e-13) << "the refractory period was forgotten";
    const double decay = std::exp(-0.1 / 20.0);
    const double drive = 100.0 * 20.0 / 250.0 * (1.0 - decay);
    EXPECT_NEAR(next[1], -72.0 + (potentials[1] + 72.0) * decay + drive, 1e-12) << "new parameters do not hold";
}

TEST_P(AnyModel, ReadsWhatWasWritten) {
    GroupDriver driver(GetParam(), {.size = 2});
    double value = -61.0;
    for (const VariableInfo& variable : driver.model().variables) {
        driver.write(variable.name, 1, value);
        EXPECT_EQ(driver.read(variable.name)[1], value) << variable.name;
        EXPECT_NE(driver.read(variable.name)[0], value) << variable.name;
        value += 1.5;
    }
}

TEST_P(AnyModel, TreatsEachNeuronByItsOwnParameters) {
    const std::vector<double> currents{400.0, 0.0, 500.0};
    GroupDriver together(GetParam(), {.size = 3, .values = {{"I_e", currents}, {"t_ref", {0.0, 1.0, 3.0}}}});
    const std::vector<double> refractory{0.0, 1.0, 3.0};
    std::vector<GroupDriver> alone;
    for (std::size_t i = 0; i < 3; ++i) {
        alone.emplace_back(GetParam(),
                           GroupDriver::Options{.values = {{"I_e", {currents[i]}}, {"t_ref", {refractory[i]}}}});
    }
    for (int n = 0; n < 1000; ++n) {
        const auto spikes = together.step();
        std::vector<std::uint32_t> expected;
        for (std::uint32_t i = 0; i < 3; ++i) {
            if (!alone[i].step().empty()) expected.push_back(i);
            ASSERT_EQ(together.read("V_m")[i], alone[i].potential());
        }
        ASSERT_EQ(spikes, expected);
    }
}

TEST_P(AnyModel, RefusesARefractoryPeriodOfTooManySteps) {
    EXPECT_THROW(GroupDriver(GetParam(), {.resolution = 1e-4, .values = {{"t_ref", {1e6}}}}), ValueOutOfBoundsError);
}

TEST(IafPscExp, HasTheAmplitudeOfTheMicrocircuit) {
    // 87.81 pA is the weight that the microcircuit's formula gives for a potential of 0.15 mV.
    GroupDriver driver("iaf_psc_exp", {.resolution = 0.01, .values = {{"tau_syn_ex", {0.5}}}});
    driver.give(0, 87.8080588);
    double peak = -100.0;
    for (int n = 0; n < 1000; ++n) {
        driver.step();
        peak = std::max(peak, driver.potential());
    }
    // The peak lies between two points of the grid; the potential there is flat to second order.
    EXPECT_NEAR(peak, -70.0 + 0.15, 2e-6);
}

TEST(IafPscAlpha, ReachesTheWeightAfterTheRiseTime) {
    GroupDriver driver("iaf_psc_alpha", {.values = {{"tau_syn_ex", {2.0}}, {"tau_syn_in", {3.0}}}});
    driver.give(0, 10.0);
    driver.give(0, -20.0);
    driver.step();
    for (int n = 0; n < 20; ++n) driver.step();
    EXPECT_NEAR(driver.read("I_syn_ex")[0], 10.0, 1e-12);
    for (int n = 0; n < 10; ++n) driver.step();
    EXPECT_NEAR(driver.read("I_syn_in")[0], -20.0, 1e-12);
}

TEST(IafPscDelta, JumpsByTheSumOfTheWeights) {
    GroupDriver driver("iaf_psc_delta", {});
    driver.give(0, 3.0);
    driver.give(0, -1.25);
    driver.give(0, 0.5);
    driver.step();
    EXPECT_NEAR(driver.potential(), -70.0 + 2.25, 1e-13);
}

TEST(IafPscDelta, LosesSpikesThatArriveWhileItIsRefractory) {
    GroupDriver driver("iaf_psc_delta", {.values = {{"V_m", {-50.0}}, {"t_ref", {0.3}}}});
    ASSERT_EQ(driver.step().size(), 1u);
    for (int n = 0; n < 3; ++n) {
        driver.give(0, 5.0);
        driver.step();
        EXPECT_EQ(driver.potential(), -70.0);
    }
    EXPECT_TRUE(driver.sound()) << "inputs that are lost must be cleared too";
    driver.give(0, 5.0);
    driver.step();
    EXPECT_NEAR(driver.potential(), -65.0, 1e-13);
}

TEST(IafPscExp, IntegratesCurrentsWhileItIsRefractory) {
    GroupDriver driver("iaf_psc_exp", {.values = {{"V_m", {-50.0}}, {"t_ref", {0.3}}, {"tau_syn_ex", {2.0}}}});
    driver.step();
    driver.give(0, 100.0);
    driver.step();
    EXPECT_EQ(driver.read("I_syn_ex")[0], 100.0);
    driver.step();
    EXPECT_NEAR(driver.read("I_syn_ex")[0], 100.0 * std::exp(-0.05), 1e-12);
    EXPECT_EQ(driver.potential(), -70.0);
}

}  // namespace TEST_FILE
}  // namespace ranvier::models
