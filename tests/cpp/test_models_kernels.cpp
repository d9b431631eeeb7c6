#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "counting_memory.hpp"
#include "group_driver.hpp"
#include "models/neurons/point_neuron.hpp"

namespace ranvier::models {
namespace TEST_FILE {

/// All that came out of a run: spikes and, at the end, every variable, as bits.
struct Outcome {
    std::vector<std::vector<std::uint32_t>> spikes;
    std::vector<std::uint64_t> state;
    bool sound = true;

    std::size_t spike_count() const {
        std::size_t count = 0;
        for (const auto& step : spikes) count += step.size();
        return count;
    }
    friend bool operator==(const Outcome&, const Outcome&) = default;
};

struct Drive {
    std::size_t size;
    bool with_current = false;
    bool heterogeneous = false;
    std::string_view last_differs_in =
        {};  ///< the parameter of which the last neuron has another value than all others
    std::uint32_t seed = 1;
};

/// Random initial values, input and currents; those of a neuron do not depend on the size of the group.
Outcome run(std::string_view model, GroupDriver::Options options, const Drive& drive, int steps = 400) {
    const bool delta = model == "iaf_psc_delta";
    options.size = drive.size;
    std::vector<std::mt19937> random;
    std::vector<double> potential, drive_current, resting;
    std::uniform_real_distribution<double> uniform;
    for (std::size_t i = 0; i < drive.size; ++i) {
        random.emplace_back(drive.seed * 1000003 + static_cast<std::uint32_t>(i));
        potential.push_back(-70.0 + 16.0 * uniform(random[i]));
        drive_current.push_back(300.0 + 100.0 * uniform(random[i]));
        resting.push_back(-70.0 + uniform(random[i]));
    }
    if (drive.size > 0) options.values["V_m"] = potential;
    options.values["I_e"] = {340.0};
    options.values["tau_syn_in"] = {3.0};
    if (drive.heterogeneous) {
        options.values["I_e"] = drive_current;
        options.values["E_L"] = resting;
    }
    if (!drive.last_differs_in.empty()) {
        std::vector<double>& values = options.values[std::string(drive.last_differs_in)];
        values.assign(drive.size, drive.last_differs_in == "E_L" ? -70.0 : 340.0);
        values.back() += 1.0;
    }
    GroupDriver driver(model, options);
    Outcome outcome;
    std::vector<double> current(drive.size);
    for (int n = 0; n < steps; ++n) {
        for (std::size_t i = 0; i < drive.size; ++i) {
            while (uniform(random[i]) < 0.2) {
                const double weight = uniform(random[i]) - 0.4;
                if (model == "iaf_cond_nmda") {
                    // Conductances, of each neuron onto another receptor.
                    driver.give(i % 4, i, 5.0 * std::abs(weight));
                } else {
                    driver.give(i, weight * (delta ? 3.0 : 300.0));
                }
            }
            current[i] = drive.with_current ? 100.0 * (uniform(random[i]) - 0.5) : 0.0;
        }
        if (drive.with_current) driver.give_current(current);
        outcome.spikes.push_back(driver.step());
    }
    for (const VariableInfo& variable : driver.model().variables) {
        for (const double value : driver.read(variable.name)) {
            outcome.state.push_back(std::bit_cast<std::uint64_t>(value));
        }
    }
    outcome.sound = driver.sound();
    return outcome;
}

using KernelParameters = std::tuple<std::string_view, Precision>;

class Kernels : public testing::TestWithParam<KernelParameters> {
   protected:
    std::string_view model() const { return std::get<0>(GetParam()); }
    GroupDriver::Options options(InstructionSet set = InstructionSet::baseline) const {
        return {.precision = std::get<1>(GetParam()), .instruction_set = set, .values = {}};
    }
};

INSTANTIATE_TEST_SUITE_P(ModelsAndPrecisions, Kernels,
                         testing::Combine(testing::Values("iaf_cond_nmda", "iaf_psc_exp", "iaf_psc_alpha",
                                                          "iaf_psc_delta"),
                                          testing::Values(Precision::single_precision, Precision::double_precision)),
                         [](const auto& tested) {
                             return std::string(std::get<0>(tested.param)) +
                                    (std::get<1>(tested.param) == Precision::single_precision ? "_single" : "_double");
                         });

TEST_P(Kernels, AgreeBitForBitOnAllInstructionSets) {
    for (const std::size_t size : {0, 1, 63, 64, 65, 200}) {
        for (const bool with_current : {false, true}) {
            for (const bool heterogeneous : {false, true}) {
                const Drive drive{.size = size, .with_current = with_current, .heterogeneous = heterogeneous};
                const Outcome expected = run(model(), options(), drive);
                EXPECT_TRUE(expected.sound);
                if (size >= 63) {
                    EXPECT_GT(expected.spike_count(), size) << "too few spikes to compare";
                }
                for (const InstructionSet set : available_instruction_sets()) {
                    EXPECT_EQ(run(model(), options(set), drive), expected)
                        << to_string(set) << ", " << size << " neurons, current " << with_current << ", heterogeneous "
                        << heterogeneous;
                }
            }
        }
    }
}

TEST_P(Kernels, AgreeBitForBitWhetherParametersAreUniformOrNot) {
    for (const InstructionSet set : available_instruction_sets()) {
        for (const bool with_current : {false, true}) {
            const Drive drive{.size = 131, .with_current = with_current};
            auto per_neuron = options(set);
            per_neuron.per_neuron = true;
            EXPECT_EQ(run(model(), per_neuron, drive), run(model(), options(set), drive)) << to_string(set);
        }
    }
}

/// What came of a neuron, whose variables stand one after another in the state.
Outcome of_neurons(const Outcome& all, std::size_t size, std::size_t few) {
    Outcome outcome{.spikes = all.spikes, .state = {}, .sound = all.sound};
    for (auto& step : outcome.spikes) std::erase_if(step, [&](std::uint32_t i) { return i >= few; });
    for (std::size_t i = 0; i < all.state.size(); ++i) {
        if (i % size < few) outcome.state.push_back(all.state[i]);
    }
    return outcome;
}

TEST_P(Kernels, AgreeBitForBitWhicheverConstantsNeuronsShare) {
    constexpr std::size_t size = 131;
    for (const InstructionSet set : available_instruction_sets()) {
        for (const bool with_current : {false, true}) {
            auto chosen = options(set);
            chosen.values["E_L"] = {-70.0};
            const Outcome shared = run(model(), chosen, {.size = size, .with_current = with_current});
            ASSERT_GT(shared.spike_count(), 0u);
            for (const std::string_view own : {"I_e", "E_L"}) {
                const Outcome outcome =
                    run(model(), chosen, {.size = size, .with_current = with_current, .last_differs_in = own});
                EXPECT_NE(outcome, shared) << own << ", which is to make a difference for one neuron";
                EXPECT_EQ(of_neurons(outcome, size, size - 1), of_neurons(shared, size, size - 1))
                    << own << ", " << to_string(set);
            }
        }
    }
}

TEST_P(Kernels, TreatNoCurrentLikeOneOfZero) {
    for (const InstructionSet set : available_instruction_sets()) {
        GroupDriver without(model(), options(set));
        GroupDriver with(model(), options(set));
        with.give_current({0.0});
        for (int n = 0; n < 100; ++n) {
            without.give(0, n % 3 == 0 ? 2.0 : -1.0);
            with.give(0, n % 3 == 0 ? 2.0 : -1.0);
            without.step();
            with.step();
            ASSERT_EQ(without.potential(), with.potential());
        }
    }
}

TEST_P(Kernels, TreatANeuronTheSameWhereverItStands) {
    const InstructionSet set = detect_instruction_set();
    const Outcome many = run(model(), options(set), {.size = 150});
    for (const std::size_t size : {1, 20, 64, 100}) {
        const Outcome few = run(model(), options(set), {.size = size});
        for (std::size_t n = 0; n < many.spikes.size(); ++n) {
            auto expected = many.spikes[n];
            std::erase_if(expected, [&](std::uint32_t i) { return i >= size; });
            ASSERT_EQ(few.spikes[n], expected) << "step " << n << ", " << size << " neurons";
        }
        for (std::size_t i = 0; i < size; ++i) EXPECT_EQ(few.state[i], many.state[i]);
    }
}

TEST_P(Kernels, ReportSpikesInAscendingOrder) {
    auto all_fire = options(detect_instruction_set());
    all_fire.size = 130;
    all_fire.values["V_m"] = {-50.0};
    GroupDriver driver(model(), all_fire);
    std::vector<std::uint32_t> expected(130);
    std::iota(expected.begin(), expected.end(), 0u);
    EXPECT_EQ(driver.step(), expected);
    EXPECT_TRUE(driver.step().empty());
    EXPECT_TRUE(driver.sound());
}

/// The sign of -0.0 - 0.0 says "below" where blocks look for neurons that fire.
TEST(Threshold, OfZeroIsReachedByAPotentialOfMinusZero) {
    for (const std::size_t size : {1, 64, 65}) {
        for (const Precision precision : {Precision::double_precision, Precision::single_precision}) {
            GroupDriver driver(
                "iaf_psc_delta",
                {.size = size,
                 .precision = precision,
                 .values = {{"E_L", {0.0}}, {"V_th", {0.0}}, {"V_reset", {-10.0}}, {"I_e", {-0.0}}, {"V_m", {-0.0}}}});
            EXPECT_EQ(driver.step().size(), size);
        }
    }
}

TEST(State, IsNeverSubnormal) {
    for (const Precision precision : {Precision::double_precision, Precision::single_precision}) {
        const double subnormal = precision == Precision::double_precision ? 1e-310 : 1e-40;
        GroupDriver driver("iaf_psc_delta",
                           {.precision = precision, .values = {{"E_L", {0.0}}, {"V_m", {-subnormal}}}});
        EXPECT_EQ(driver.potential(), 0.0);
        driver.write("V_m", 0, subnormal);
        EXPECT_EQ(driver.potential(), 0.0);
        // A refractory neuron keeps its potential, and one that fires takes that of the reset.
        driver.set("V_th", {5.0});
        driver.set("V_reset", {subnormal});
        driver.give(0, 10.0);
        EXPECT_EQ(driver.step().size(), 1U);
        EXPECT_EQ(driver.potential(), 0.0);
        (void)driver.step();
        EXPECT_EQ(driver.potential(), 0.0);
    }
}

TEST(Currents, EndInZeroInsteadOfSubnormalNumbers) {
    for (const std::string_view model : {"iaf_psc_exp", "iaf_psc_alpha"}) {
        for (const Precision precision : {Precision::single_precision, Precision::double_precision}) {
            GroupDriver driver(model, {.precision = precision, .values = {{"tau_syn_ex", {0.1}}}});
            driver.give(0, 1.0);
            double smallest = 1.0;
            const double least_normal = precision == Precision::single_precision ? 0x1p-126 : 0x1p-1022;
            for (int n = 0; n < 2000; ++n) {
                driver.step();
                const double current = driver.read("I_syn_ex")[0];
                if (current == 0.0) continue;
                smallest = std::min(smallest, current);
                ASSERT_GE(current, least_normal);
            }
            EXPECT_EQ(driver.read("I_syn_ex")[0], 0.0);
            EXPECT_LT(smallest, 1e4 * least_normal) << "it did not come near the subnormal numbers";
        }
    }
    // The caller's arithmetic is not touched.
    volatile double tiny = 0x1p-1022;
    EXPECT_GT(tiny / 4.0, 0.0);
}

class Precisions : public testing::TestWithParam<std::string_view> {};

INSTANTIATE_TEST_SUITE_P(Models, Precisions, testing::Values("iaf_psc_exp", "iaf_psc_alpha", "iaf_psc_delta"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST_P(Precisions, AreClose) {
    GroupDriver single(GetParam(), {.precision = Precision::single_precision, .values = {{"I_e", {300.0}}}});
    GroupDriver full(GetParam(), {.values = {{"I_e", {300.0}}}});
    std::mt19937 random(5);
    std::uniform_real_distribution<double> uniform;
    const double weight = GetParam() == "iaf_psc_delta" ? 0.5 : 20.0;
    for (int n = 0; n < 2000; ++n) {
        const double given = (uniform(random) - 0.5) * weight;
        single.give(0, given);
        full.give(0, given);
        ASSERT_TRUE(full.step().empty()) << "a spike would let the two part";
        ASSERT_TRUE(single.step().empty());
        // About 100 steps (tau_m) of rounding 15 mV to 24 bits: 100 * 15 * 2^-24 = 1e-4 at most.
        ASSERT_NEAR(single.potential(), full.potential(), 1e-4) << "step " << n;
    }
}

/// The least that a model must have: it counts what it receives.
struct Counter {
    static constexpr std::size_t receptor_count = 1;
    static constexpr std::size_t resting_potential = 0;
    static constexpr std::size_t refractory_period = 1;
    static constexpr std::array variables{VariableInfo{"V_m", "mV", "Number of steps"}};

    template <class Real>
    struct State {
        Real potential;
    };
    template <class Real>
    struct Constants {
        Real gain_of_constant;
        Real drive;
        Real threshold;
        Real reset;
    };
    static Constants<double> constants(std::span<const double>, double) { return {0.0, 1.0, 3.0, 0.0}; }
    static std::optional<std::string> constants_conflict(const Constants<double>&) { return std::nullopt; }

    template <class Real>
    RANVIER_ALWAYS_INLINE static State<Real> step(const State<Real>& s, const Constants<Real>&,
                                                  const StepInput<Real, 1>& input) {
        return {input.refractory ? s.potential : s.potential + input.drive + input.received[0]};
    }
};

TEST(Clock, StartsAgainWithoutATrace) {
    // The clock of the first group starts again every few steps, within refractory periods and without.
    const std::vector<GroupValues> parameters{{{0.0}}, {{0.5}}};
    const std::vector<GroupValues> variables{{{0.0, 1.0, 2.0}}};
    GroupArguments arguments;
    arguments.ids = {NeuronId{0}, 1, 3};
    arguments.parameters = parameters;
    arguments.variables = variables;
    point_neuron::Group<Counter, double, 7> restarting(arguments);
    point_neuron::Group<Counter, double> plain(arguments);
    std::size_t total = 0;
    for (Step step = 1; step <= 200; ++step) {
        std::vector<std::vector<std::uint32_t>> spikes;
        for (NeuronGroup* group : {static_cast<NeuronGroup*>(&restarting), static_cast<NeuronGroup*>(&plain)}) {
            std::vector<double> input(3, 0.0);
            double* pointer = input.data();
            std::vector<std::uint32_t> indices(3);
            indices.resize(
                group->update({.step = step, .inputs = &pointer, .current = nullptr, .spikes = indices.data()}));
            spikes.push_back(indices);
        }
        ASSERT_EQ(spikes[0], spikes[1]) << "step " << step;
        total += spikes[0].size();
    }
    // Three steps to the threshold and five of refractoriness: 25 times in 200 steps.
    EXPECT_EQ(total, 75u);
}

TEST(Memory, OfNeuronsIsTheirState) {
    const auto bytes = [](std::size_t size, Precision precision) {
        CountingMemory memory;
        const GroupDriver driver("iaf_psc_exp", {.size = size, .precision = precision, .memory = &memory});
        return memory.bytes();
    };
    const std::size_t growth = bytes(6400, Precision::double_precision) - bytes(64, Precision::double_precision);
    EXPECT_EQ(growth, (6400u - 64u) * (3 * 8 + 4));
    EXPECT_EQ(bytes(6400, Precision::single_precision) - bytes(64, Precision::single_precision),
              (6400u - 64u) * (3 * 4 + 4));
}

}  // namespace TEST_FILE
}  // namespace ranvier::models
