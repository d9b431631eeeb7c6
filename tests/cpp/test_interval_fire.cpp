// The artificial cell against its equations, solved from event to event.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/math.hpp"
#include "counting_memory.hpp"
#include "group_driver.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/base/random.hpp"
#include "statistics.hpp"

namespace ranvier::models {
namespace TEST_FILE {

using Spikes = std::vector<std::vector<Step>>;  ///< by cell

/// Inputs of one step: cell and weight.
using Inputs = std::vector<std::pair<std::size_t, double>>;

constexpr std::size_t jump_receptor = 0;
constexpr std::size_t spikes_receptor = 1;

/// Calls `inputs(step)` before each step and gathers the spikes.
template <class InputsOf>
Spikes run(GroupDriver& driver, std::size_t cells, Step last, const InputsOf& inputs,
           std::size_t receptor = jump_receptor) {
    Spikes spikes(cells);
    for (Step step = 1; step <= last; ++step) {
        for (const auto& [cell, weight] : inputs(step)) driver.give(receptor, cell, weight);
        for (const std::uint32_t cell : driver.step()) spikes[cell].push_back(step);
    }
    EXPECT_TRUE(driver.sound());
    return spikes;
}
Spikes run(GroupDriver& driver, std::size_t cells, Step last) {
    return run(driver, cells, last, [](Step) { return Inputs{}; });
}

/// Weights of both signs, and of 0, for about a tenth of the cells in each step.
class RandomInputs {
   public:
    RandomInputs(std::size_t cells, double size) : cells_(cells), size_(size) {}

    Inputs operator()(Step step) const {
        Inputs inputs;
        for (std::size_t cell = 0; cell < cells_; ++cell) {
            SequentialRandom random({make_key(3, Purpose::test, static_cast<std::uint64_t>(step)), cell});
            if (random.next_unit() > 0.1) continue;
            const double weight = random.next_unit() < 0.2 ? 0.0 : size_ * (random.next_unit() - 0.45);
            inputs.emplace_back(cell, weight);
        }
        return inputs;
    }

   private:
    std::size_t cells_;
    double size_;
};

/// Numbers of spikes, up to 6, for some of the cells in each step.
class RandomCounts {
   public:
    explicit RandomCounts(std::size_t cells) : cells_(cells) {}

    Inputs operator()(Step step) const {
        Inputs inputs;
        for (std::size_t cell = 0; cell < cells_; ++cell) {
            SequentialRandom random({make_key(4, Purpose::test, static_cast<std::uint64_t>(step)), cell});
            const double count = std::floor(random.next_unit() * 30.0) - 23.0;
            if (count >= 0.0) inputs.emplace_back(cell, count);
        }
        return inputs;
    }

   private:
    std::size_t cells_;
};

struct CellParameters {
    double tau = 10.0;
    double interval_min = 20.0;
    double interval_max = 40.0;
    double burst_begin = 0.0;
    double burst_duration = 0.0;
    double burst_factor = 1.0;
};

/// One cell as the paper writes it, advanced from event to event.
class Reference {
   public:
    Reference(std::uint64_t id, double resolution, const CellParameters& parameters)
        : id_(id), resolution_(resolution), p_(parameters) {
        begin_interval(0.0);
    }

    /// Spikes until the end of step `last`, given what arrives in which step: weights, or numbers of spikes that each
    /// change the state by `jump`. Ends early where a time or state is so near to its boundary that rounding decides;
    /// known_until() tells where.
    std::vector<Step> run(const std::map<Step, double>& inputs, Step last, std::optional<double> jump = std::nullopt) {
        std::vector<Step> spikes;
        auto input = inputs.begin();
        while (true) {
            const Step fires = step_of(next_);
            const Step event = std::min(fires, input == inputs.end() ? last + 1 : input->first);
            if (event > last) break;
            if (near_a_boundary(event)) {
                known_until_ = event - 1;
                return spikes;
            }
            const double now = local_time(event);
            bool fire = fires == event;
            if (input != inputs.end() && input->first == event) {
                const double spikes_left = jump ? input->second : 1.0;
                for (double taken = 0.0; taken < spikes_left && !fire; ++taken) {
                    fire = receive(now, jump.value_or(input->second));
                }
                if (!fire && std::abs(next_ - now) < 1e-9) {
                    known_until_ = event - 1;
                    return spikes;
                }
                ++input;
            }
            if (!fire) continue;
            spikes.push_back(event);
            begin_interval(now);
        }
        known_until_ = last;
        return spikes;
    }

    Step known_until() const { return known_until_; }

   private:
    double local_time(Step step) const {
        const double time = static_cast<double>(step) * resolution_;
        if (time < p_.burst_begin) return time;
        if (time < p_.burst_begin + p_.burst_duration)
            return p_.burst_begin + p_.burst_factor * (time - p_.burst_begin);
        return time + (p_.burst_factor - 1.0) * p_.burst_duration;
    }
    /// The first step that ends at or after a local time.
    Step step_of(double wanted) const {
        Step low = 0;
        Step high = 1 << 30;
        while (high - low > 1) {
            const Step middle = (low + high) / 2;
            (local_time(middle) >= wanted ? high : low) = middle;
        }
        return high;
    }
    bool near_a_boundary(Step event) const {
        return std::abs(local_time(event) - next_) < 1e-9 || std::abs(local_time(event - 1) - next_) < 1e-9;
    }

    void begin_interval(double now) {
        const double u = to_open_unit(RandomStream{GroupDriver::key(), id_}.word64(intervals_++));
        const double interval = p_.interval_min + (p_.interval_max - p_.interval_min) * u;
        limit_ = 1.0 / (1.0 - std::exp(-interval / p_.tau));
        state_ = 0.0;
        since_ = now;
        next_ = now + interval;
    }

    /// Returns whether the cell fires at once.
    bool receive(double now, double weight) {
        state_ = limit_ + (state_ - limit_) * std::exp(-(now - since_) / p_.tau);
        since_ = now;
        state_ += weight;
        if (state_ >= 1.0) return true;
        next_ = now + p_.tau * std::log((limit_ - state_) / (limit_ - 1.0));
        return false;
    }

    std::uint64_t id_;
    double resolution_;
    CellParameters p_;
    double limit_ = 0.0;
    double state_ = 0.0;
    double since_ = 0.0;  ///< local time
    double next_ = 0.0;
    std::uint32_t intervals_ = 0;
    Step known_until_ = 0;
};

/// Compares all cells with the reference; returns how many could be compared to the end.
/// @param jump of each spike, if inputs are numbers of spikes
template <class InputsOf>
std::size_t compare_with_reference(GroupDriver& driver, std::size_t cells, double resolution, Step last,
                                   const InputsOf& inputs, const std::function<CellParameters(std::size_t)>& parameters,
                                   std::optional<double> jump = std::nullopt) {
    const Spikes spikes = run(driver, cells, last, inputs, jump ? spikes_receptor : jump_receptor);
    std::vector<std::map<Step, double>> by_cell(cells);
    for (Step step = 1; step <= last; ++step) {
        for (const auto& [cell, weight] : inputs(step)) by_cell[cell][step] = weight;
    }
    std::size_t complete = 0;
    for (std::size_t cell = 0; cell < cells; ++cell) {
        Reference reference(cell, resolution, parameters(cell));
        const std::vector<Step> expected = reference.run(by_cell[cell], last, jump);
        std::vector<Step> found = spikes[cell];
        std::erase_if(found, [&](Step step) { return step > reference.known_until(); });
        EXPECT_EQ(found, expected) << "cell " << cell;
        complete += reference.known_until() == last ? 1 : 0;
    }
    return complete;
}

TEST(IntervalFire, SolvesItsEquations) {
    constexpr std::size_t cells = 300;
    for (const double resolution : {0.1, 0.025}) {
        const auto last = static_cast<Step>(300.0 / resolution);
        GroupDriver driver("interval_fire", {.size = cells, .resolution = resolution});
        EXPECT_GE(compare_with_reference(driver, cells, resolution, last, RandomInputs(cells, 0.4),
                                         [](std::size_t) { return CellParameters{}; }),
                  cells - 2);
    }
}

TEST(IntervalFire, JumpsOnceForEachCountedSpike) {
    constexpr std::size_t cells = 300;
    for (const double jump : {0.0, 0.03, -0.02}) {
        GroupDriver driver("interval_fire", {.size = cells, .values = {{"jump", {jump}}}});
        EXPECT_GE(
            compare_with_reference(
                driver, cells, 0.1, 3000, RandomCounts(cells), [](std::size_t) { return CellParameters{}; }, jump),
            cells - 2)
            << jump;
    }
}

TEST(IntervalFire, EvaluatesOnceForEachCountedSpike) {
    constexpr std::size_t cells = 600;
    constexpr double now = 0.1;
    for (const double jump : {0.0, 0.01}) {
        GroupDriver driver("interval_fire", {.size = cells, .values = {{"jump", {jump}}}});
        for (std::size_t cell = 0; cell < cells; ++cell)
            driver.give(spikes_receptor, cell, static_cast<double>(cell % 8));
        EXPECT_TRUE(driver.step().empty());
        const std::vector<double> found = driver.read("m");
        const std::vector<double> evaluations = driver.read("evaluations");
        for (std::size_t cell = 0; cell < cells; ++cell) {
            EXPECT_EQ(evaluations[cell], static_cast<double>(cell % 8));
            const double interval = 20.0 + 20.0 * to_open_unit(RandomStream{GroupDriver::key(), cell}.word64(0));
            const double steepness = math::expm1(interval / 10.0);
            double fire_at = interval;
            for (std::size_t spike = 0; spike < cell % 8; ++spike) {
                fire_at = now + 10.0 * math::log(math::exp((fire_at - now) / 10.0) - jump * steepness);
            }
            EXPECT_EQ(found[cell], 1.0 - math::expm1((fire_at - now) / 10.0) / steepness) << cell;
        }
    }
}

TEST(IntervalFire, TakesNoMoreCountedSpikesOnceItFires) {
    GroupDriver driver("interval_fire", {.size = 3, .values = {{"jump", {0.4}}}});
    driver.give(spikes_receptor, 0, 2.0);
    driver.give(spikes_receptor, 1, 3.0);
    driver.give(spikes_receptor, 2, 1e6);
    EXPECT_EQ(driver.step(), (std::vector<std::uint32_t>{1, 2}));
    EXPECT_NEAR(driver.read("m")[0], 0.8, 0.03);
    EXPECT_EQ(driver.read("evaluations"), (std::vector<double>{2.0, 3.0, 3.0}));
    // A spike at the other receptor in the same step comes first.
    driver.give(jump_receptor, 1, 0.9);
    driver.give(spikes_receptor, 1, 1.0);
    EXPECT_EQ(driver.step(), (std::vector<std::uint32_t>{1}));
}

TEST(IntervalFire, FailsIfACountIsNotWhole) {
    for (const double count : {0.5, -1.0, 1e10, std::nan("")}) {
        GroupDriver driver("interval_fire", {.size = 300});
        driver.give(spikes_receptor, 299, 3.0);
        (void)driver.step();
        EXPECT_FALSE(driver.group().has_failed());
        EXPECT_FALSE(driver.group().failure());
        driver.give(spikes_receptor, 270, count);
        (void)driver.step();
        EXPECT_TRUE(driver.group().has_failed());
        const auto failure = driver.group().failure();
        ASSERT_TRUE(failure);
        EXPECT_EQ(failure->neuron, 270u);
        EXPECT_EQ(failure->step, 2);
        EXPECT_NE(failure->remedy.find("weights of 1"), std::string::npos);
    }
}

TEST(IntervalFire, SolvesItsEquationsWithOtherParametersOfEachCell) {
    constexpr std::size_t cells = 200;
    GroupDriver::Options options{.size = cells};
    std::vector<CellParameters> parameters(cells);
    for (std::size_t i = 0; i < cells; ++i) {
        const double x = static_cast<double>(i % 17);
        parameters[i] = {.tau = 5.0 + x, .interval_min = 3.0 + x, .interval_max = 30.0 + 4.0 * x};
        // Half of the cells burst, in groups of another number.
        const double groups = i % 2 == 0 ? 0.0 : 1.0 + static_cast<double>(i % 5);
        const auto group = static_cast<double>(i * static_cast<std::size_t>(groups) / cells);
        options.values["burst_groups"].push_back(groups);
        options.values["burst_duration"].push_back(10.0 + x);
        options.values["burst_factor"].push_back(0.3 + x);
        if (groups > 0.0) {
            parameters[i].burst_begin = group * (10.0 + x);
            parameters[i].burst_duration = 10.0 + x;
            parameters[i].burst_factor = 0.3 + x;
        }
        options.values["tau"].push_back(parameters[i].tau);
        options.values["interval_min"].push_back(parameters[i].interval_min);
        options.values["interval_max"].push_back(parameters[i].interval_max);
    }
    GroupDriver driver("interval_fire", options);
    EXPECT_GE(compare_with_reference(driver, cells, 0.1, 2500, RandomInputs(cells, 0.3),
                                     [&](std::size_t cell) { return parameters[cell]; }),
              cells - 2);
}

TEST(IntervalFire, RunsFasterInBursts) {
    constexpr std::size_t cells = 160;
    GroupDriver::Options options{.size = cells, .values = {{"burst_groups", {4.0}}}};
    const auto parameters = [](std::size_t cell) {
        return CellParameters{
            .burst_begin = 50.0 * static_cast<double>(cell / 40), .burst_duration = 50.0, .burst_factor = 5.0};
    };
    GroupDriver with_input("interval_fire", options);
    EXPECT_GE(compare_with_reference(with_input, cells, 0.1, 2500, RandomInputs(cells, 0.3), parameters), cells - 2);

    // Without input every cell fires 5 * 50 ms / 30 ms times in its burst and 50 ms / 30 ms times in 50 ms without one.
    // The first 50 ms are left out, which all begin in step.
    GroupDriver alone("interval_fire", options);
    const Spikes spikes = run(alone, cells, 2000);
    double in_bursts = 0.0;
    double elsewhere = 0.0;
    for (std::size_t cell = 0; cell < cells; ++cell) {
        for (const Step step : spikes[cell]) {
            if (step <= 500) continue;
            (static_cast<std::size_t>(step - 1) / 500 == cell / 40 ? in_bursts : elsewhere) += 1.0;
        }
    }
    // 120 bursts and 360 stretches of 50 ms without one; the number of spikes in either varies by less than 1.
    EXPECT_NEAR(in_bursts / 120.0, 5.0 * 50.0 / 30.05, 0.5);
    EXPECT_NEAR(elsewhere / 360.0, 50.0 / 30.05, 0.2);
}

TEST(IntervalFire, HasUniformIntervals) {
    constexpr std::size_t cells = 2000;
    GroupDriver driver("interval_fire", {.size = cells});
    const Spikes spikes = run(driver, cells, 10000);
    // An interval ends with a step: 201, 202, ... or 400 steps are as probable.
    std::vector<double> counts(200);
    std::vector<double> pairs(100);
    std::vector<double> first;
    for (const std::vector<Step>& own : spikes) {
        ASSERT_GE(own.size(), 24u);
        for (std::size_t i = 0; i < own.size(); ++i) {
            const Step interval = own[i] - (i == 0 ? 0 : own[i - 1]);
            ASSERT_TRUE(interval > 200 && interval <= 400) << interval;
        }
        // The same number of each cell, since the last one of a time that ends is more often a short one.
        for (std::size_t i = 1; i < 24; ++i) ++counts[static_cast<std::size_t>(own[i] - own[i - 1] - 201)];
        for (std::size_t i = 2; i < 24; i += 2) {
            const auto one = static_cast<std::size_t>(own[i - 1] - own[i - 2] - 201) / 20;
            const auto next = static_cast<std::size_t>(own[i] - own[i - 1] - 201) / 20;
            ++pairs[10 * one + next];
        }
        first.push_back(static_cast<double>(own[0]) / 10.0 - 0.05);
    }
    EXPECT_GT(statistics::uniform_p_value(counts), statistics::significance);
    EXPECT_GT(statistics::uniform_p_value(pairs), statistics::significance) << "intervals depend on the one before";
    EXPECT_GT(statistics::kolmogorov_smirnov_p_value(first, [](double x) { return (x - 20.0) / 20.0; }),
              statistics::significance);
}

TEST(IntervalFire, DrawsTheSameIntervalsAtAnyResolution) {
    GroupDriver coarse("interval_fire", {.size = 100, .resolution = 0.5});
    GroupDriver fine("interval_fire", {.size = 100, .resolution = 0.125});
    const Spikes at_coarse = run(coarse, 100, 80);
    const Spikes at_fine = run(fine, 100, 320);
    for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(at_coarse[i][0], (at_fine[i][0] + 3) / 4);
}

TEST(IntervalFire, FiresAtTheSameTimesWhenWeightsAreZero) {
    constexpr std::size_t cells = 500;
    GroupDriver undisturbed("interval_fire", {.size = cells});
    GroupDriver reached("interval_fire", {.size = cells});
    const Spikes expected = run(undisturbed, cells, 3000);
    EXPECT_EQ(run(reached, cells, 3000, RandomInputs(cells, 0.0)), expected);
}

TEST(IntervalFire, IsTheSameOnAllInstructionSetsAndForArraysOfParameters) {
    for (const std::size_t cells : {1, 15, 16, 17, 100, 257}) {
        for (const double groups : {0.0, 3.0}) {
            GroupDriver::Options options{.size = cells, .values = {{"burst_groups", {groups}}, {"jump", {0.02}}}};
            std::vector<Spikes> found;
            std::vector<std::vector<double>> states;
            for (const InstructionSet set : available_instruction_sets()) {
                for (const bool per_neuron : {false, true}) {
                    options.instruction_set = set;
                    options.per_neuron = per_neuron;
                    GroupDriver driver("interval_fire", options);
                    found.push_back(run(driver, cells, 1000, RandomInputs(cells, 0.3)));
                    const Spikes later = run(driver, cells, 500, RandomCounts(cells), spikes_receptor);
                    for (std::size_t i = 0; i < cells; ++i) {
                        found.back()[i].insert(found.back()[i].end(), later[i].begin(), later[i].end());
                    }
                    states.push_back(driver.read("m"));
                }
            }
            for (std::size_t i = 1; i < found.size(); ++i) {
                EXPECT_EQ(found[i], found[0]) << cells << " cells";
                EXPECT_EQ(states[i], states[0]) << cells << " cells";
            }
        }
    }
}

TEST(IntervalFire, DoesNotDependOnHowCellsAreDealt) {
    constexpr std::size_t cells = 90;
    constexpr std::uint64_t first = 1000;
    GroupDriver::Options options{.size = cells,
                                 .values = {{"burst_groups", {7.0}}, {"jump", {0.02}}},
                                 .ids = {NeuronId{first}, 1, cells},
                                 .population_first = first,
                                 .population_size = cells};
    GroupDriver whole("interval_fire", options);
    const RandomCounts inputs(cells);
    const Spikes expected = run(whole, cells, 2000, inputs, spikes_receptor);
    std::vector<std::uint64_t> odd_ones;
    for (std::uint64_t i = 0; i < cells; ++i) {
        if (i * i % 11 < 5) odd_ones.push_back(first + i);
    }
    const std::uint64_t count = odd_ones.size();
    for (const IdSequence& ids : {IdSequence{NeuronId{first + 1}, 3, cells / 3},
                                  IdSequence{std::make_shared<const std::vector<std::uint64_t>>(odd_ones), 0, count}}) {
        options.size = ids.size();
        options.ids = ids;
        GroupDriver part("interval_fire", options);
        const auto own_inputs = [&](Step step) {
            Inputs own;
            for (const auto& [cell, weight] : inputs(step)) {
                if (const auto place = ids.find(NeuronId{first + cell})) own.emplace_back(*place, weight);
            }
            return own;
        };
        const Spikes found = run(part, ids.size(), 2000, own_inputs, spikes_receptor);
        for (std::size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(found[i], expected[ids[i].value - first]) << i;
    }
}

TEST(IntervalFire, TellsAndTakesItsState) {
    GroupDriver driver("interval_fire", {.size = 4, .values = {{"m", {0.0, 0.5, 0.9, -2.0}}}});
    const std::vector<double> initial = driver.read("m");
    EXPECT_NEAR(initial[0], 0.0, 1e-14);
    EXPECT_NEAR(initial[1], 0.5, 1e-14);
    EXPECT_NEAR(initial[2], 0.9, 1e-14);
    EXPECT_NEAR(initial[3], -2.0, 1e-13);
    for (int i = 0; i < 50; ++i) driver.step();
    // After half a time constant, from the limit that the interval asks for.
    const std::vector<double> later = driver.read("m");
    for (std::size_t i = 0; i < 2; ++i) {
        const double interval = 20.0 + 20.0 * to_open_unit(RandomStream{GroupDriver::key(), i}.word64(0));
        const double limit = 1.0 / (1.0 - std::exp(-interval / 10.0));
        EXPECT_NEAR(later[i], limit + (initial[i] - limit) * std::exp(-0.5), 1e-12) << i;
    }
    driver.write("m", 1, 0.25);
    EXPECT_NEAR(driver.read("m")[1], 0.25, 1e-14);
    driver.write("m", 1, 1.0);
    driver.write("m", 3, 7.0);
    EXPECT_EQ(driver.step(), (std::vector<std::uint32_t>{1, 3}));
    EXPECT_NEAR(driver.read("m")[1], 0.0, 1e-14) << "a spike sets the state to 0";
}

TEST(IntervalFire, FiresAtOnceWhenItsStateReaches1) {
    GroupDriver driver("interval_fire", {.size = 3});
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(driver.step().empty());
    const std::vector<double> state = driver.read("m");
    driver.give(0, 0, 1.0);
    driver.give(0, 1, 1.0 - state[1] - 0.3);
    driver.give(0, 2, 1e6);
    EXPECT_EQ(driver.step(), (std::vector<std::uint32_t>{0, 2}));
    EXPECT_TRUE(driver.step().empty());
}

TEST(IntervalFire, KeepsItsStateWhenParametersChange) {
    GroupDriver driver("interval_fire", {.size = 3});
    GroupDriver unchanged("interval_fire", {.size = 3});
    const RandomInputs inputs(3, 0.1);
    (void)run(driver, 3, 155, inputs);
    (void)run(unchanged, 3, 155, inputs);
    const std::vector<double> before = driver.read("m");
    driver.set("tau", {10.0, 20.0, 10.0});
    driver.set("burst_groups", {0.0, 0.0, 2.0});
    const std::vector<double> after = driver.read("m");
    EXPECT_EQ(after[0], before[0]) << "not even rounding may touch a cell that keeps its parameters";
    for (std::size_t i = 1; i < 3; ++i) EXPECT_NEAR(after[i], before[i], 1e-13) << i;
    (void)driver.step();
    (void)unchanged.step();
    EXPECT_EQ(driver.read("m")[0], unchanged.read("m")[0]);
    EXPECT_LT(driver.read("m")[1] - before[1], unchanged.read("m")[1] - before[1]) << "a longer time constant";
}

TEST(IntervalFire, TellsConflicts) {
    const NeuronModel& model = find_neuron_model("interval_fire");
    const auto conflict = [&](std::string_view name, double value) {
        std::vector<double> values;
        for (const ParameterInfo& info : model.parameters) {
            values.push_back(info.name == name ? value : info.default_value);
        }
        return model.conflict(values, std::nullopt).value_or("");
    };
    EXPECT_EQ(conflict("interval_min", 40.0), "");
    EXPECT_NE(conflict("interval_min", 41.0).find("interval_max"), std::string::npos);
    EXPECT_NE(conflict("interval_max", 1001.0).find("100 tau"), std::string::npos);
    EXPECT_NE(conflict("tau", 0.1).find("100 tau"), std::string::npos);
    EXPECT_NE(conflict("burst_groups", 2.5).find("whole number"), std::string::npos);
    EXPECT_EQ(conflict("burst_groups", 3.0), "");
    GroupDriver::Options options{.size = 2, .values = {{"burst_groups", {0.0, 2.5}}}};
    EXPECT_THROW(GroupDriver("interval_fire", options), ValueOutOfBoundsError);
}

TEST(IntervalFire, TakesMemoryForItsState) {
    const auto bytes = [](std::size_t size) {
        CountingMemory memory;
        const GroupDriver driver("interval_fire", {.size = size, .memory = &memory});
        return memory.bytes();
    };
    EXPECT_EQ(bytes(6400) - bytes(64), (6400u - 64u) * 28u);
}

}  // namespace TEST_FILE
}  // namespace ranvier::models
