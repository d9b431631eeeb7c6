#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "models/stimulators/poisson_sampler.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/models/neuron.hpp"
#include "statistics.hpp"
#include "stimulus_driver.hpp"

namespace ranvier::models {
namespace TEST_FILE {

// Every test of fit here has the level statistics::significance: with a seed that was not tried before, a correct
// generator fails with that probability.

/// A generator with this mean number of spikes in a step of 0.1 ms.
StimulusDriver::Options poisson(std::size_t size, std::vector<double> means) {
    for (double& mean : means) mean *= 1e4;
    return {.size = size, .values = {{"rate", means}}};
}

double log_probability(double mean, double k) { return k * std::log(mean) - mean - std::lgamma(k + 1.0); }

class PoissonMean : public testing::TestWithParam<double> {};

// Both methods and the border between them; 1e6 spikes in a step is a rate of 1e10 and more than a parameter may be, so
// the largest is 1e5.
INSTANTIATE_TEST_SUITE_P(Means, PoissonMean,
                         testing::Values(0.003, 0.5, 1.28, 2.32, 7.7, 15.99, 16.0, 16.01, 25.0, 100.0, 1e5));

TEST_P(PoissonMean, GivesThePoissonDistribution) {
    const double mean = GetParam();
    const std::size_t size = mean > 16.0 ? 20000 : 200000;
    StimulusDriver driver("poisson_generator", poisson(size, {mean}));
    const double width = 8.0 * std::sqrt(mean) + 30.0;
    const double lowest = std::max(0.0, std::floor(mean - width));
    std::vector<double> counts(static_cast<std::size_t>(2.0 * width) + 2);
    std::vector<double> expected(counts.size());
    constexpr int steps = 12;
    for (Step step = 2; step < 2 + steps; ++step) {
        for (const double value : driver.at(step)) {
            const double cell = value - lowest;
            ASSERT_TRUE(cell >= 0.0 && cell < static_cast<double>(counts.size())) << value;
            counts[static_cast<std::size_t>(cell)] += 1.0;
        }
    }
    const double total = static_cast<double>(size) * steps;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        expected[i] = total * std::exp(log_probability(mean, lowest + static_cast<double>(i)));
    }
    EXPECT_GT(statistics::chi_square_p_value(counts, expected), statistics::significance);
}

TEST(PoissonGenerator, ContinuesItsTablesInTheTail) {
    // The table of mean 0.5 ends where less than 2^-14 of all remain, at 6 spikes. Of 2e7 numbers, 283 reach that and 20
    // exceed it.
    StimulusDriver driver("poisson_generator", poisson(200000, {0.5}));
    std::vector<double> counts(30);
    double total = 0.0;
    for (Step step = 2; step < 102; ++step) {
        for (const double value : driver.at(step)) {
            total += 1.0;
            if (value >= 5.0) counts[static_cast<std::size_t>(value) - 5] += 1.0;
        }
    }
    std::vector<double> expected(counts.size());
    for (std::size_t i = 0; i < counts.size(); ++i) {
        expected[i] = total * std::exp(log_probability(0.5, static_cast<double>(i + 5)));
    }
    EXPECT_GT(std::accumulate(counts.begin() + 2, counts.end(), 0.0), 5.0) << "the tail is cut off";
    EXPECT_GT(statistics::chi_square_p_value(counts, expected), statistics::significance);
}

TEST(PoissonGenerator, IsIndependentAmongTargetsAndSteps) {
    for (const double mean : {2.0, 30.0}) {
        constexpr std::size_t size = 20000;
        StimulusDriver driver("poisson_generator", poisson(size, {mean}));
        std::vector<std::vector<double>> steps;
        for (Step step = 2; step < 12; ++step) steps.push_back(driver.at(step));
        const auto score = [&](std::size_t a, std::size_t b, std::size_t shift) {
            double sum = 0.0;
            for (std::size_t i = 0; i + shift < size; ++i) {
                sum += (steps[a][i] - mean) * (steps[b][i + shift] - mean) / mean;
            }
            return sum / std::sqrt(static_cast<double>(size - shift));
        };
        for (std::size_t lag = 1; lag < 6; ++lag) {
            for (std::size_t a = 0; a + lag < steps.size(); ++a) EXPECT_LT(std::abs(score(a, a + lag, 0)), 5.5);
            EXPECT_LT(std::abs(score(0, 0, lag)), 5.5);
            EXPECT_LT(std::abs(score(0, 1, lag)), 5.5);
        }
        // 5.5 standard deviations: 4e-8 for one score, 3e-6 for all of one mean.
    }
}

TEST(PoissonGenerator, AddsWeightTimesNumber) {
    auto options = poisson(100, {2.0});
    StimulusDriver plain("poisson_generator", options);
    options.weights = {-0.25};
    StimulusDriver common("poisson_generator", options);
    options.weights.clear();
    for (int i = 0; i < 100; ++i) options.weights.push_back(0.5 * i);
    StimulusDriver own("poisson_generator", options);
    for (Step step = 2; step < 20; ++step) {
        const auto numbers = plain.at(step);
        const auto with_common = common.at(step);
        const auto with_own = own.at(step);
        for (std::size_t i = 0; i < 100; ++i) {
            ASSERT_EQ(with_common[i], -0.25 * numbers[i]);
            ASSERT_EQ(with_own[i], 0.5 * static_cast<double>(i) * numbers[i]);
        }
    }
}

TEST(PoissonGenerator, EmitsAfterStartUpToStop) {
    struct Case {
        double start, stop;
        DelaySteps delay;
        Step first, last;
    };
    for (const Case& c : {Case{0.0, 0.5, 1, 2, 6}, Case{1.0, 1.3, 1, 12, 14}, Case{1.0, 1.3, 15, 26, 28},
                          Case{1.0, 1.0, 1, 0, -1}, Case{2.0, std::numeric_limits<double>::infinity(), 3, 24, 60}}) {
        auto options = poisson(200, {5.0});
        options.values["start"] = {c.start};
        options.values["stop"] = {c.stop};
        options.delay = c.delay;
        StimulusDriver driver("poisson_generator", options);
        for (Step step = 0; step <= 60; ++step) {
            const auto values = driver.at(step);
            const bool any = std::any_of(values.begin(), values.end(), [](double value) { return value != 0.0; });
            EXPECT_EQ(any, step >= c.first && step <= c.last) << "step " << step << ", start " << c.start;
        }
    }
}

TEST(PoissonGenerator, MayStartAndStopDifferentlyForEachTarget) {
    auto options = poisson(3, {8.0});
    StimulusDriver always("poisson_generator", options);
    options.values["start"] = {0.0, 1.0, 0.0};
    options.values["stop"] = {100.0, 100.0, 2.0};
    StimulusDriver driver("poisson_generator", options);
    for (Step step = 2; step < 40; ++step) {
        auto expected = always.at(step);
        if (step < 12) expected[1] = 0.0;
        if (step > 21) expected[2] = 0.0;
        EXPECT_EQ(driver.at(step), expected) << "step " << step;
    }
}

/// Means that meet every path: none, tabulated, at the border, and large.
std::vector<double> mixed_means(std::size_t size) {
    const std::vector<double> some{0.0, 1.3, 2.3, 16.0, 16.5, 0.001, 300.0, 9.0};
    std::vector<double> means;
    for (std::size_t i = 0; i < size; ++i) means.push_back(some[i % some.size()]);
    return means;
}

TEST(PoissonGenerator, IsTheSameOnAllInstructionSets) {
    for (const std::size_t size : {0, 1, 31, 32, 33, 100, 3000}) {
        for (const bool mixed : {false, true}) {
            if (mixed && size < 2) continue;
            auto options = poisson(size, mixed ? mixed_means(size) : std::vector{2.3});
            StimulusDriver expected("poisson_generator", options);
            for (const InstructionSet set : available_instruction_sets()) {
                options.instruction_set = set;
                StimulusDriver driver("poisson_generator", options);
                for (Step step = 1; step < 60; ++step) {
                    ASSERT_EQ(driver.at(step), expected.at(step)) << to_string(set) << ", " << size << " targets";
                }
            }
        }
    }
}

TEST(PoissonGenerator, DependsOnTheRateOfATargetAlone) {
    // Whether a rate is given for all or for each, and what the others have, makes no difference.
    const auto means = mixed_means(40);
    StimulusDriver mixed("poisson_generator", poisson(40, means));
    for (const double mean : {0.0, 1.3, 16.0, 16.5, 300.0}) {
        StimulusDriver uniform("poisson_generator", poisson(40, {mean}));
        for (Step step = 1; step < 400; ++step) {
            const auto all = uniform.at(step);
            const auto own = mixed.at(step);
            for (std::size_t i = 0; i < 40; ++i) {
                if (means[i] != mean) continue;
                ASSERT_EQ(own[i], all[i]);
            }
        }
    }
}

TEST(PoissonGenerator, IsAPureFunctionOfTheStep) {
    StimulusDriver forwards("poisson_generator", poisson(40, mixed_means(40)));
    StimulusDriver jumping("poisson_generator", poisson(40, mixed_means(40)));
    std::vector<std::vector<double>> expected;
    for (Step step = 0; step < 250; ++step) expected.push_back(forwards.at(step));
    for (Step i = 0; i < 250; ++i) {
        const Step step = (i * 107) % 250;
        EXPECT_EQ(jumping.at(step), expected[static_cast<std::size_t>(step)]) << "step " << step;
    }
}

TEST(PoissonGenerator, DoesNotDependOnHowTargetsAreDealt) {
    StimulusDriver whole("poisson_generator", poisson(120, {2.3}));
    for (const std::uint64_t shards : {2, 3, 7}) {
        for (std::uint64_t shard = 0; shard < shards; ++shard) {
            auto options = poisson((120 - shard + shards - 1) / shards, {2.3});
            options.first_target = shard;
            options.target_stride = shards;
            StimulusDriver part("poisson_generator", options);
            for (Step step = 1; step < 60; ++step) {
                const auto all = whole.at(step);
                const auto own = part.at(step);
                for (std::size_t i = 0; i < own.size(); ++i) ASSERT_EQ(own[i], all[shard + shards * i]);
            }
        }
    }
}

TEST(PoissonGenerators, GiveTheSameForAListOfIds) {
    // Lists of whole batches of 32, of less and of more; means that are tabulated, with tails, and that are not.
    std::vector<std::uint64_t> regular, irregular;
    for (std::uint64_t i = 0; i < 200; ++i) {
        if (i % 3 == 1) regular.push_back(i);
        if (i * i % 11 < 5) irregular.push_back(i);
    }
    const std::vector<std::uint64_t> batch(irregular.begin(), irregular.begin() + 32);
    const std::vector<double> means = mixed_means(200);
    const std::vector<double> times{0.3, 0.5, 1.0, 2.0};
    const std::vector<double> rates{2e4, 5e4, 4e5, 1e3};
    const auto compare = [](StimulusDriver& whole, StimulusDriver& listed, const std::vector<std::uint64_t>& ids) {
        for (Step step = 1; step < 60; ++step) {
            const auto all = whole.at(step);
            const auto own = listed.at(step);
            for (std::size_t i = 0; i < own.size(); ++i) ASSERT_EQ(own[i], all[ids[i]]) << "id " << ids[i];
        }
    };
    for (const std::vector<std::uint64_t>& ids : {regular, irregular, batch}) {
        for (const InstructionSet set : available_instruction_sets()) {
            std::vector<double> own_means;
            for (const std::uint64_t id : ids) own_means.push_back(means[id]);
            StimulusDriver whole("poisson_generator", poisson(200, means));
            auto options = poisson(ids.size(), own_means);
            options.instruction_set = set;
            options.ids = ids;
            StimulusDriver listed("poisson_generator", options);
            compare(whole, listed, ids);
        }
        const std::string_view model = "inhomogeneous_poisson_generator";
        StimulusDriver whole(model, {.size = 200, .sequences = {times, rates}});
        StimulusDriver listed(model, {.size = ids.size(), .ids = ids, .sequences = {times, rates}});
        compare(whole, listed, ids);
    }
}

TEST(PoissonGenerator, DependsOnTheKey) {
    auto options = poisson(100, {2.3});
    StimulusDriver one("poisson_generator", options);
    options.key = make_key(1, Purpose::test, 2);
    StimulusDriver other("poisson_generator", options);
    EXPECT_NE(one.at(2), other.at(2));
}

TEST(PoissonGenerator, WorksInSteps2To34AndBeyond) {
    // The block index of a step overflows 32 bits there.
    const Step late = Step{1} << 34;
    StimulusDriver driver("poisson_generator", poisson(100, {2.3}));
    const auto early = driver.at(10 + 1);
    EXPECT_NE(driver.at(late + 10 + 1), early) << "numbers repeat after 2^34 steps";
}

TEST(PoissonGenerator, RefusesMoreSpikesInAStepThanItCanCount) {
    StimulusDriver::Options options{.resolution = 10000.0, .values = {{"rate", {1e9}}}};
    EXPECT_THROW(StimulusDriver("poisson_generator", options), ValueOutOfBoundsError);
    options.values["rate"] = {1e7};
    options.weights = {0x1p-30};
    StimulusDriver most("poisson_generator", options);
    EXPECT_NEAR(most.at(2)[0], 1e8 * 0x1p-30, 10.0 * std::sqrt(1e8) * 0x1p-30);
}

TEST(InhomogeneousPoissonGenerator, IsThePoissonGeneratorOfTheRateOfTheMoment) {
    // Changes inside a group of four steps that are drawn together, and to and from large means.
    const std::vector<double> times{0.3, 0.5, 1.0, 2.0};
    const std::vector<double> rates{2e4, 5e4, 4e5, 0.0};
    StimulusDriver driver("inhomogeneous_poisson_generator", {.size = 70, .sequences = {times, rates}, .delay = 2});
    for (Step step = 1; step < 60; ++step) {
        // Spikes of the step that ends at `emitted` belong to times[i] < t <= times[i + 1].
        const Step emitted = step - 2;
        const double rate = emitted <= 3 ? 0.0 : emitted <= 5 ? 2e4 : emitted <= 10 ? 5e4 : emitted <= 20 ? 4e5 : 0.0;
        StimulusDriver constant("poisson_generator", {.size = 70, .values = {{"rate", {rate}}}, .delay = 2});
        EXPECT_EQ(driver.at(step), constant.at(step)) << "step " << step;
    }
    for (const Step step : {40, 7, 6, 13, 6, 1}) {
        StimulusDriver fresh("inhomogeneous_poisson_generator", {.size = 70, .sequences = {times, rates}, .delay = 2});
        EXPECT_EQ(driver.at(step), fresh.at(step)) << "step " << step;
    }
}

TEST(InhomogeneousPoissonGenerator, KeepsToStartAndStop) {
    StimulusDriver driver("inhomogeneous_poisson_generator",
                          {.values = {{"start", {1.0}}, {"stop", {1.5}}}, .sequences = {{0.0}, {1e5}}});
    EXPECT_EQ(driver.at(11)[0], 0.0);
    EXPECT_GT(driver.at(12)[0] + driver.at(13)[0] + driver.at(14)[0] + driver.at(15)[0], 0.0);
    EXPECT_EQ(driver.at(17)[0], 0.0);
}

TEST(InhomogeneousPoissonGenerator, TellsWhatIsWrongWithItsSequences) {
    const StimulatorModel& model = find_stimulator_model("inhomogeneous_poisson_generator");
    const std::vector<double> values{0.0, 10.0};
    using Sequences = std::vector<std::vector<double>>;
    EXPECT_FALSE(model.conflict(values, Sequences{{1.0}, {5.0}}).has_value());
    EXPECT_TRUE(model.conflict(values, Sequences{{1.0}, {-5.0}}).has_value());
    EXPECT_TRUE(model.conflict(values, Sequences{{1.0}, {2e9}}).has_value());
    EXPECT_TRUE(model.conflict(values, Sequences{{1.0, 2.0}, {5.0}}).has_value());
    EXPECT_THROW(StimulusDriver("inhomogeneous_poisson_generator", {.sequences = {{0.15}, {1.0}}}), GridError);
}

class SpikeGeneratorDriver {
   public:
    explicit SpikeGeneratorDriver(std::vector<std::vector<Step>> lists) : lists_(std::move(lists)) {
        GroupArguments arguments;
        arguments.ids = {NeuronId{0}, 1, lists_.size()};
        arguments.spike_steps = lists_;
        group_ = find_neuron_model("spike_generator").create(arguments);
    }
    std::vector<std::uint32_t> at(Step step) {
        std::vector<std::uint32_t> spikes(group_->largest_output());
        const std::size_t count =
            group_->update({.step = step, .inputs = nullptr, .current = nullptr, .spikes = spikes.data()});
        spikes.resize(count);
        return spikes;
    }
    NeuronGroup& group() { return *group_; }

   private:
    std::vector<std::vector<Step>> lists_;
    std::unique_ptr<NeuronGroup> group_;
};

using Indices = std::vector<std::uint32_t>;

TEST(SpikeGenerator, PlaysItsLists) {
    SpikeGeneratorDriver driver({{1, 5, 7}, {}, {5, 100}});
    EXPECT_EQ(driver.at(1), (Indices{0}));
    EXPECT_EQ(driver.at(2), (Indices{}));
    EXPECT_EQ(driver.at(5), (Indices{0, 2}));
    EXPECT_EQ(driver.at(7), (Indices{0}));
    EXPECT_EQ(driver.at(100), (Indices{2}));
    EXPECT_EQ(driver.at(101), (Indices{}));
}

TEST(SpikeGenerator, RepeatsAUnitThatFiresSeveralTimes) {
    SpikeGeneratorDriver driver({{3, 3, 3, 4}, {3, 3}});
    EXPECT_EQ(driver.group().largest_output(), 5u);
    EXPECT_EQ(driver.at(3), (Indices{0, 0, 0, 1, 1}));
    EXPECT_EQ(driver.at(4), (Indices{0}));
}

TEST(SpikeGenerator, CanBeAskedForAnyStep) {
    SpikeGeneratorDriver driver({{2, 4, 6}, {4}});
    EXPECT_EQ(driver.at(6), (Indices{0}));
    EXPECT_EQ(driver.at(4), (Indices{0, 1}));
    EXPECT_EQ(driver.at(4), (Indices{0, 1}));
    EXPECT_EQ(driver.at(1), (Indices{}));
    EXPECT_EQ(driver.at(2), (Indices{0}));
}

TEST(SpikeGenerator, MayBeEmpty) {
    SpikeGeneratorDriver none({});
    EXPECT_EQ(none.at(1), (Indices{}));
    SpikeGeneratorDriver silent({{}, {}});
    EXPECT_EQ(silent.group().largest_output(), 2u);
    EXPECT_EQ(silent.at(1), (Indices{}));
}

}  // namespace TEST_FILE
}  // namespace ranvier::models
