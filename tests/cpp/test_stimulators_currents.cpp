#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <string>
#include <string_view>
#include <vector>

#include "ranvier/base/errors.hpp"
#include "statistics.hpp"
#include "stimulus_driver.hpp"

namespace ranvier::models {
namespace TEST_FILE {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Steps in which a current flows, as first and last; 0, 0 when it never does.
std::pair<Step, Step> flowing(StimulusDriver& driver, Step last) {
    Step begin = 0;
    Step end = 0;
    for (Step step = 1; step <= last; ++step) {
        if (driver.at(step)[0] == 0.0) continue;
        if (begin == 0) begin = step;
        EXPECT_TRUE(end == 0 || end == step - 1) << "a gap before step " << step;
        end = step;
    }
    return {begin, end};
}

// The steps are those in which NEST 3.10 lets the current flow, with the same numbers for start, stop and delay; but with
// start = 0, NEST leaves out the first one, and with it the charge of a step.
TEST(DcGenerator, FlowsFromStartToStopAfterTheDelay) {
    struct Case {
        double start, stop;
        DelaySteps delay;
        Step first, last;
    };
    for (const Case& c :
         {Case{1.0, 2.0, 1, 12, 21}, Case{1.0, 2.0, 3, 14, 23}, Case{1.0, 2.0, 10, 21, 30}, Case{0.5, 0.6, 2, 8, 8},
          Case{0.0, 0.3, 1, 2, 4}, Case{0.1, 0.3, 1, 3, 4}, Case{3.0, infinity, 1, 32, 60}, Case{2.0, 2.0, 1, 0, 0}}) {
        StimulusDriver driver(
            "dc_generator",
            {.values = {{"amplitude", {8.0}}, {"start", {c.start}}, {"stop", {c.stop}}}, .delay = c.delay});
        EXPECT_EQ(flowing(driver, 60), std::pair(c.first, c.last))
            << "start " << c.start << ", stop " << c.stop << ", delay " << c.delay;
    }
}

TEST(DcGenerator, MayDifferAmongTargets) {
    StimulusDriver driver("dc_generator", {.size = 3,
                                           .values = {{"amplitude", {1.0, 2.0, 4.0}}, {"start", {0.0, 0.5, 0.0}}},
                                           .weights = {1.0, 1.0, 0.5}});
    EXPECT_EQ(driver.at(5), (std::vector<double>{1.0, 0.0, 2.0}));
    EXPECT_EQ(driver.at(10), (std::vector<double>{1.0, 2.0, 2.0}));
    StimulusDriver common("dc_generator", {.size = 3, .values = {{"amplitude", {2.0}}}, .weights = {1.0, 2.0, -4.0}});
    EXPECT_EQ(common.at(5), (std::vector<double>{2.0, 4.0, -8.0}));
}

TEST(StepCurrentGenerator, ChangesAtItsTimes) {
    StimulusDriver driver("step_current_generator", {.sequences = {{1.0, 2.0, 2.5}, {128.0, 64.0, 0.0}}, .delay = 3});
    const auto values = driver.first_target_until(40);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t step = i + 1;
        // Step 14 begins at 1.3 ms, that is, at 1.0 ms and the delay.
        const double expected = step < 14 ? 0.0 : step < 24 ? 128.0 : step < 29 ? 64.0 : 0.0;
        EXPECT_EQ(values[i], expected) << "step " << step;
    }
}

TEST(StepCurrentGenerator, KeepsToStartAndStop) {
    StimulusDriver driver("step_current_generator", {.values = {{"start", {1.5}}, {"stop", {2.2}}},
                                                     .sequences = {{1.0, 2.0, 2.5}, {128.0, 64.0, 32.0}}});
    EXPECT_EQ(flowing(driver, 60), std::pair(Step{17}, Step{23}));
    EXPECT_EQ(driver.at(17)[0], 128.0);
    EXPECT_EQ(driver.at(22)[0], 64.0);
}

TEST(StepCurrentGenerator, WithoutTimesIsSilent) {
    StimulusDriver driver("step_current_generator", {.sequences = {{}, {}}});
    EXPECT_EQ(flowing(driver, 20), std::pair(Step{0}, Step{0}));
}

TEST(AcGenerator, IsASineOfTheTimeOfEmission) {
    StimulusDriver driver("ac_generator", {.size = 2,
                                           .values = {{"amplitude", {100.0}},
                                                      {"offset", {20.0}},
                                                      {"frequency", {50.0}},
                                                      {"phase", {30.0, 90.0}},
                                                      {"start", {1.0}}},
                                           .delay = 3});
    EXPECT_EQ(driver.at(13), (std::vector<double>{0.0, 0.0}));
    for (const Step step : {Step{14}, Step{15}, Step{100}, Step{1000000000}}) {
        const double emitted = static_cast<double>(step - 4) * 0.1;
        const auto values = driver.at(step);
        // Cycles are counted exactly; what is lost is the rounding of a long time (5e6 cycles) in the reference.
        const double tolerance = step > 1000 ? 1e-5 : 1e-11;
        for (std::size_t i = 0; i < 2; ++i) {
            const double phase = (i == 0 ? 30.0 : 90.0) * std::numbers::pi / 180.0;
            const double expected = 20.0 + 100.0 * std::sin(2.0 * std::numbers::pi * 0.05 * emitted + phase);
            EXPECT_NEAR(values[i], expected, tolerance) << "step " << step;
        }
    }
}

StimulusDriver::Options noise(std::size_t size) {
    return {.size = size, .values = {{"mean", {2.0}}, {"std", {3.0}}, {"interval", {0.5}}, {"start", {1.2}}}};
}

TEST(NoiseGenerator, HoldsEachValueForTheInterval) {
    StimulusDriver driver("noise_generator", noise(5));
    for (Step step = 1; step <= 13; ++step) EXPECT_EQ(driver.at(step), std::vector<double>(5, 0.0));
    auto previous = driver.at(14);
    for (Step step = 15; step < 60; ++step) {
        const auto values = driver.at(step);
        const bool changes = (step - 14) % 5 == 0;
        for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(values[i] != previous[i], changes) << "step " << step;
        previous = values;
    }
}

// Chance of failing if correct, for a seed not tried before: 1e-6 for each of the tests of fit below.
TEST(NoiseGenerator, IsNormal) {
    StimulusDriver driver("noise_generator", noise(2000));
    std::vector<double> sample;
    for (Step step = 14; step < 64; step += 5) {
        for (const double value : driver.at(step)) sample.push_back(value);
    }
    const auto cumulative = [](double x) { return statistics::normal_cumulative((x - 2.0) / 3.0); };
    EXPECT_GT(statistics::kolmogorov_smirnov_p_value(sample, cumulative), statistics::significance);
}

/// Correlation times the square root of the number of pairs, which is standard normal when there is none.
double correlation_score(const std::vector<double>& a, const std::vector<double>& b) {
    double mean_a = 0.0, mean_b = 0.0;
    const auto n = static_cast<double>(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
        mean_a += a[i] / n;
        mean_b += b[i] / n;
    }
    double aa = 0.0, bb = 0.0, ab = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        aa += (a[i] - mean_a) * (a[i] - mean_a);
        bb += (b[i] - mean_b) * (b[i] - mean_b);
        ab += (a[i] - mean_a) * (b[i] - mean_b);
    }
    return ab / std::sqrt(aa * bb) * std::sqrt(n);
}

constexpr double score_of_significance = 4.9;  // |z| exceeds it with probability 1e-6

TEST(NoiseGenerator, IsIndependentAmongTargetsAndIntervals) {
    StimulusDriver driver("noise_generator", noise(20000));
    const auto first = driver.at(14);
    const auto second = driver.at(19);
    const auto third = driver.at(24);
    EXPECT_LT(std::abs(correlation_score(first, second)), score_of_significance);
    EXPECT_LT(std::abs(correlation_score(second, third)), score_of_significance);
    EXPECT_LT(std::abs(correlation_score({first.begin(), first.end() - 1}, {first.begin() + 1, first.end()})),
              score_of_significance);
}

TEST(NoiseGenerator, HasTheModulatedVariance) {
    auto options = noise(20000);
    options.values["std_mod"] = {2.0};
    options.values["frequency"] = {40.0};
    options.values["phase"] = {30.0};
    StimulusDriver driver("noise_generator", options);
    for (int j = 0; j < 50; ++j) {
        const auto values = driver.at(14 + 5 * j);
        double sum = 0.0;
        for (const double value : values) sum += (value - 2.0) * (value - 2.0);
        const double time = 1.2 + 0.5 * j;
        const double expected = 9.0 + 4.0 * std::sin(2.0 * std::numbers::pi * (0.04 * time + 30.0 / 360.0));
        const auto n = static_cast<double>(values.size());
        // The sum of squares is chi-square with n degrees of freedom, near normal with variance 2 n.
        const double score = (sum / expected - n) / std::sqrt(2.0 * n);
        EXPECT_LT(std::abs(score), score_of_significance + 0.5) << "interval " << j;
    }
}

TEST(NoiseGenerator, MayDifferAmongTargets) {
    auto options = noise(3);
    const auto common = StimulusDriver("noise_generator", options).at(40);
    options.values["start"] = {1.2, 5.0, 1.2};
    options.values["interval"] = {0.5, 0.5, 1.0};
    StimulusDriver driver("noise_generator", options);
    EXPECT_EQ(driver.at(40)[0], common[0]);
    EXPECT_EQ(driver.at(40)[1], 0.0);
    const auto first = driver.at(14);
    EXPECT_EQ(driver.at(23)[2], first[2]);
    EXPECT_NE(driver.at(24)[2], first[2]);
}

StimulusDriver::Options currents_of(std::string_view model, std::size_t size) {
    StimulusDriver::Options options{.size = size, .values = {{"start", {0.5}}, {"stop", {20.0}}}, .delay = 2};
    options.weights.assign(std::max<std::size_t>(size, 2), 0.5);
    if (model == "dc_generator") options.values["amplitude"] = {3.0};
    if (model == "ac_generator") {
        options.values["amplitude"] = {3.0};
        options.values["frequency"] = {30.0};
    }
    if (model == "step_current_generator") options.sequences = {{1.0, 7.3, 12.0}, {3.0, -1.0, 2.0}};
    if (model == "noise_generator") {
        options.values["mean"] = {1.0};
        options.values["std"] = {3.0};
        options.values["interval"] = {0.3};
    }
    return options;
}

class AnyCurrent : public testing::TestWithParam<std::string_view> {};

INSTANTIATE_TEST_SUITE_P(Stimulators, AnyCurrent,
                         testing::Values("dc_generator", "ac_generator", "step_current_generator", "noise_generator"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST_P(AnyCurrent, IsAPureFunctionOfTheStep) {
    StimulusDriver forwards(GetParam(), currents_of(GetParam(), 9));
    StimulusDriver jumping(GetParam(), currents_of(GetParam(), 9));
    std::vector<std::vector<double>> expected;
    for (Step step = 0; step < 250; ++step) expected.push_back(forwards.at(step));
    for (Step i = 0; i < 250; ++i) {
        const Step step = (i * 107) % 250;
        EXPECT_EQ(jumping.at(step), expected[static_cast<std::size_t>(step)]) << "step " << step;
    }
}

TEST_P(AnyCurrent, IsTheSameOnAllInstructionSets) {
    for (const std::size_t size : {0, 1, 5, 300}) {
        for (const InstructionSet set : available_instruction_sets()) {
            auto options = currents_of(GetParam(), size);
            StimulusDriver expected(GetParam(), options);
            options.instruction_set = set;
            StimulusDriver driver(GetParam(), options);
            for (Step step = 1; step < 50; ++step) ASSERT_EQ(driver.at(step), expected.at(step)) << to_string(set);
        }
    }
}

TEST_P(AnyCurrent, DoesNotDependOnHowTargetsAreDealt) {
    StimulusDriver whole(GetParam(), currents_of(GetParam(), 12));
    for (std::uint64_t shard = 0; shard < 3; ++shard) {
        auto options = currents_of(GetParam(), 4);
        options.first_target = shard;
        options.target_stride = 3;
        StimulusDriver part(GetParam(), options);
        for (Step step = 1; step < 60; ++step) {
            const auto all = whole.at(step);
            const auto own = part.at(step);
            for (std::size_t i = 0; i < 4; ++i) ASSERT_EQ(own[i], all[shard + 3 * i]);
        }
    }
}

TEST_P(AnyCurrent, IsTheSameForAListOfIds) {
    // A rule that could be a progression, and more than one batch of no rule.
    std::vector<std::uint64_t> regular, irregular;
    for (std::uint64_t i = 0; i < 600; ++i) {
        if (i % 3 == 1) regular.push_back(i);
        if (i * i % 11 < 5) irregular.push_back(i);
    }
    for (const std::vector<double>& intervals : {std::vector{0.3}, std::vector<double>(600, 0.3)}) {
        const auto with_intervals = [&](std::size_t size) {
            auto options = currents_of(GetParam(), size);
            if (GetParam() != "noise_generator") return options;
            options.values["interval"] = intervals;
            if (intervals.size() > 1) options.values["interval"].resize(size);
            return options;
        };
        StimulusDriver whole(GetParam(), with_intervals(600));
        for (const std::vector<std::uint64_t>& ids : {regular, irregular}) {
            auto options = with_intervals(ids.size());
            options.ids = ids;
            StimulusDriver listed(GetParam(), options);
            for (Step step = 1; step < 60; ++step) {
                const auto all = whole.at(step);
                const auto own = listed.at(step);
                for (std::size_t i = 0; i < own.size(); ++i) ASSERT_EQ(own[i], all[ids[i]]) << "id " << ids[i];
            }
        }
    }
}

TEST_P(AnyCurrent, MustStartAndStopOnTheGrid) {
    auto options = currents_of(GetParam(), 1);
    options.values["start"] = {0.55};
    EXPECT_THROW(StimulusDriver(GetParam(), options), GridError);
    options = currents_of(GetParam(), 0);
    options.values["stop"] = {10.01};
    EXPECT_THROW(StimulusDriver(GetParam(), options), GridError) << "size 0 serves as a check";
}

TEST_P(AnyCurrent, TellsThatItStopsBeforeItStarts) {
    const StimulatorModel& model = find_stimulator_model(GetParam());
    std::vector<double> values;
    for (const ParameterInfo& info : model.parameters) {
        values.push_back(info.name == "start" ? 10.0 : info.name == "stop" ? 9.0 : info.default_value);
    }
    const std::vector<std::vector<double>> sequences(model.sequences.size());
    EXPECT_TRUE(model.conflict(values, sequences).has_value());
}

TEST(NoiseGenerator, NeedsAnIntervalOnTheGrid) {
    auto options = noise(1);
    options.values["interval"] = {0.25};
    EXPECT_THROW(StimulusDriver("noise_generator", options), GridError);
    options.values["interval"] = {1e-9};
    EXPECT_THROW(StimulusDriver("noise_generator", options), ValueOutOfBoundsError);
}

TEST(NoiseGenerator, TellsThatTheModulationIsTooLarge) {
    const StimulatorModel& model = find_stimulator_model("noise_generator");
    std::vector<double> values;
    for (const ParameterInfo& info : model.parameters) {
        values.push_back(info.name == "std_mod" ? 1.0 : info.default_value);
    }
    EXPECT_TRUE(model.conflict(values, {}).has_value());
}

TEST(StepCurrentGenerator, TellsWhatIsWrongWithItsSequences) {
    const StimulatorModel& model = find_stimulator_model("step_current_generator");
    const std::vector<double> values{0.0, infinity};
    using Sequences = std::vector<std::vector<double>>;
    const double not_a_number = std::numeric_limits<double>::quiet_NaN();
    EXPECT_FALSE(model.conflict(values, Sequences{{1.0, 2.0}, {5.0, 6.0}}).has_value());
    for (const Sequences& wrong :
         {Sequences{{1.0, 2.0}, {5.0}}, Sequences{{2.0, 1.0}, {5.0, 6.0}}, Sequences{{1.0, 1.0}, {5.0, 6.0}},
          Sequences{{-1.0, 1.0}, {5.0, 6.0}}, Sequences{{1.0, infinity}, {5.0, 6.0}},
          Sequences{{1.0, 2.0}, {5.0, not_a_number}}}) {
        EXPECT_TRUE(model.conflict(values, wrong).has_value());
    }
    EXPECT_THROW(StimulusDriver("step_current_generator", {.sequences = {{0.15}, {1.0}}}), GridError);
}

}  // namespace TEST_FILE
}  // namespace ranvier::models
