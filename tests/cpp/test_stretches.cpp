#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <memory_resource>
#include <numeric>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "models/neurons/clear_inputs.hpp"
#include "ranvier/models/neuron.hpp"
#include "ranvier/models/registry.hpp"

namespace ranvier::models {
namespace TEST_FILE {

/// More than what groups take through several steps at a time, and no multiple of any block.
constexpr std::size_t neurons = 261;
constexpr std::size_t rows = 16;
constexpr Step steps = 150;

/// What a group did: its spikes by step and index, and the first variable of all neurons after steps that were observed.
struct Course {
    std::vector<std::pair<Step, std::uint32_t>> spikes;
    std::map<Step, std::vector<double>> observed;

    friend bool operator==(const Course&, const Course&) = default;
};

class Reader final : public StateObserver {
   public:
    Reader(const NeuronGroup& group, Course& course) : group_(group), course_(course) {}
    void observe(Step step, std::size_t begin, std::size_t end) override {
        std::vector<std::uint32_t> indices(end - begin);
        std::iota(indices.begin(), indices.end(), static_cast<std::uint32_t>(begin));
        std::vector<double>& values = course_.observed[step];
        values.resize(neurons, std::numeric_limits<double>::infinity());
        group_.read(0, indices, values.data() + begin);
    }

   private:
    const NeuronGroup& group_;
    Course& course_;
};

std::unique_ptr<NeuronGroup> create(const NeuronModel& model, std::size_t size = neurons,
                                    InstructionSet set = InstructionSet::baseline) {
    std::vector<GroupValues> parameters;
    std::vector<GroupValues> variables;
    for (const ParameterInfo& info : model.parameters) {
        // One that fires at a rate fires within the run.
        parameters.push_back({{info.name == "rate" ? 500.0 : info.default_value}});
    }
    for (const VariableInfo& info : model.variables) {
        variables.push_back({{info.initial_value}});
        for (std::size_t p = 0; p < parameters.size(); ++p) {
            if (model.parameters[p].name == info.initial_parameter) variables.back() = parameters[p];
        }
    }
    const std::vector<std::vector<Step>> played(size, std::vector<Step>{3, 3, 40, 41});
    GroupArguments arguments;
    arguments.model = &model;
    arguments.ids = {NeuronId{0}, 1, size};
    arguments.population_size = size;
    arguments.instruction_set = set;
    arguments.key = make_key(1, Purpose::test, 1);
    arguments.parameters = parameters;
    arguments.variables = variables;
    if (model.plays_spikes) arguments.spike_steps = played;
    return model.create(arguments);
}

/// Rows of inputs and currents.
class Rows {
   public:
    explicit Rows(const NeuronModel& model)
        : model_(model),
          inputs_(model.receptors.size(), std::vector<double>(rows * neurons, -0.0)),
          currents_(rows * neurons) {
        for (std::vector<double>& own : inputs_) of_receptors.push_back(rows_of(own));
        if (model.takes_current) current = rows_of(currents_);
    }

    /// Draws those of the next step: the same in each run.
    void fill(Step step) {
        for (std::size_t i = 0; i < neurons; ++i) {
            for (std::size_t r = 0; r < of_receptors.size(); ++r) {
                const auto drawn = static_cast<double>(random_() % 64);
                if (drawn < 16.0) of_receptors[r].row(step)[i] += input_of(model_.receptors[r], drawn);
            }
            if (current.data != nullptr) current.row(step)[i] = 10.0 * static_cast<double>(random_() % 64);
        }
    }
    bool are_cleared() const {
        return std::ranges::all_of(inputs_, [](const std::vector<double>& own) {
            return std::ranges::all_of(own, [](double x) { return x == 0.0 && std::signbit(x); });
        });
    }

    std::vector<StepRows> of_receptors;
    StepRows current;

   private:
    /// @param drawn from 0 to 15
    double input_of(std::string_view receptor, double drawn) const {
        if (receptor == model_.counting_receptor) return drawn;
        return model_.name == "interval_fire" ? drawn / 100.0 : 30.0 * drawn;
    }
    static StepRows rows_of(std::vector<double>& numbers) {
        return {.data = numbers.data(), .stride = neurons, .mask = rows - 1};
    }

    const NeuronModel& model_;
    std::vector<std::vector<double>> inputs_;
    std::vector<double> currents_;
    std::mt19937 random_{7};
};

/// @param seed of the cuts; 0: step by step
Course run(const NeuronModel& model, std::uint32_t seed) {
    const std::unique_ptr<NeuronGroup> group = create(model);
    std::mt19937 random(seed);
    Rows given(model);
    std::vector<std::uint32_t> room(group->largest_output());
    std::pmr::vector<GroupSpike> spikes;
    Course course;
    Reader reader(*group, course);
    for (Step first = 1, last = 0; first <= steps; first = last + 1) {
        const Step length = seed == 0 ? 1 : std::uniform_int_distribution<Step>(1, rows)(random);
        last = std::min(steps, first + length - 1);
        std::vector<Step> observed;
        for (Step step = first; step <= last; ++step) {
            given.fill(step);
            if (step % 3 == 0) observed.push_back(step);
        }
        group->advance({.first = first,
                        .last = last,
                        .size = neurons,
                        .inputs = given.of_receptors,
                        .current = given.current,
                        .spikes = &spikes,
                        .room = room.data(),
                        .observed = observed,
                        .observer = &reader});
    }
    EXPECT_TRUE(given.are_cleared()) << model.name;
    for (const GroupSpike& spike : spikes) course.spikes.emplace_back(spike.step, spike.neuron);
    std::ranges::sort(course.spikes);
    return course;
}

TEST(Stretches, DoAsSingleSteps) {
    for (const NeuronModel* model : neuron_models()) {
        const Course expected = run(*model, 0);
        EXPECT_FALSE(expected.spikes.empty()) << model->name << ": silent neurons prove nothing";
        for (std::uint32_t seed = 1; seed <= 2; ++seed) {
            EXPECT_EQ(run(*model, seed), expected) << model->name << ", cuts " << seed;
        }
    }
}

/// More neurons than point neurons take at once, of which all can fire in the same step.
TEST(Stretches, SingleStepsOfManyNeuronsDoAsStretches) {
    constexpr std::size_t many = 8192 + 137;
    constexpr Step last = 60;
    std::vector<double> currents(many);
    for (std::size_t i = 0; i < many; ++i) currents[i] = 20'000.0 + 10.0 * static_cast<double>(i % 97);
    for (const NeuronModel* named : {&iaf_psc_alpha, &iaf_psc_delta, &iaf_psc_exp}) {
        const NeuronModel& model = *named;
        const std::unique_ptr<NeuronGroup> single = create(model, many);
        const std::unique_ptr<NeuronGroup> stretched = create(model, many);
        std::vector<std::vector<double>> inputs(model.receptors.size(), std::vector<double>(many, -0.0));
        std::vector<double*> pointers;
        std::vector<StepRows> input_rows;
        for (std::vector<double>& own : inputs) {
            pointers.push_back(own.data());
            input_rows.push_back({.data = own.data(), .stride = many});
        }
        std::vector<std::uint32_t> room(many);
        std::vector<std::pair<Step, std::uint32_t>> expected;
        std::size_t most = 0;
        for (Step step = 1; step <= last; ++step) {
            const std::size_t fired = single->update(
                {.step = step, .inputs = pointers.data(), .current = currents.data(), .spikes = room.data()});
            for (std::size_t k = 0; k < fired; ++k) expected.emplace_back(step, room[k]);
            EXPECT_TRUE(std::is_sorted(room.begin(), room.begin() + static_cast<std::ptrdiff_t>(fired)));
            most = std::max(most, fired);
        }
        EXPECT_EQ(most, many) << model.name << ": all have to fire at once";
        std::pmr::vector<GroupSpike> spikes;
        stretched->advance({.first = 1,
                            .last = last,
                            .size = many,
                            .inputs = input_rows,
                            .current = {.data = currents.data(), .stride = many},
                            .spikes = &spikes,
                            .room = room.data(),
                            .observed = {}});
        std::vector<std::pair<Step, std::uint32_t>> found;
        for (const GroupSpike& spike : spikes) found.emplace_back(spike.step, spike.neuron);
        std::ranges::sort(found);
        EXPECT_EQ(found, expected) << model.name;
    }
}

/// What many neurons do in single steps in which one of `rarity` inputs gets something. Inputs are -0.0 after each step.
std::pair<std::vector<std::uint32_t>, std::vector<double>> drive(const NeuronModel& model, InstructionSet set,
                                                                 std::uint32_t rarity) {
    constexpr std::size_t many = 4096 + 137;
    const std::unique_ptr<NeuronGroup> group = create(model, many, set);
    std::vector<std::vector<double>> inputs(model.receptors.size(), std::vector<double>(many, -0.0));
    std::vector<double*> pointers;
    for (std::vector<double>& own : inputs) pointers.push_back(own.data());
    std::vector<std::uint32_t> room(many);
    std::vector<std::uint32_t> fired;
    std::mt19937 random(5);
    const auto is_nothing = [](double x) { return x == 0.0 && std::signbit(x); };
    for (Step step = 1; step <= 600; ++step) {
        for (std::size_t k = 0; k < many * inputs.size() / rarity; ++k) {
            // One that is 0.0 is not one where nothing came.
            inputs[random() % inputs.size()][random() % many] += 30.0 * static_cast<double>(random() % 32);
        }
        const std::size_t spikes = group->update({.step = step, .inputs = pointers.data(), .spikes = room.data()});
        fired.insert(fired.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(spikes));
        for (const std::vector<double>& own : inputs) EXPECT_TRUE(std::ranges::all_of(own, is_nothing));
    }
    std::vector<std::uint32_t> all(many);
    std::iota(all.begin(), all.end(), 0U);
    std::vector<double> potentials(many);
    group->read(0, all, potentials.data());
    return {fired, potentials};
}

/// Some instruction sets clear only what needs it, if that is little.
TEST(Stretches, InputsAreClearedWhetherManyOrFewCome) {
    for (const NeuronModel* model : {&iaf_psc_alpha, &iaf_psc_delta, &iaf_psc_exp}) {
        for (const std::uint32_t rarity : {2, 100}) {
            const auto expected = drive(*model, InstructionSet::baseline, rarity);
            EXPECT_FALSE(expected.first.empty()) << model->name << ": silent neurons prove nothing";
            for (const InstructionSet set : available_instruction_sets()) {
                EXPECT_EQ(drive(*model, set, rarity), expected) << model->name << ", " << to_string(set);
            }
        }
    }
}

/// A group that fits the nearest cache clears all; a larger one what needs it, until it has counted that this is much.
TEST(Stretches, HowInputsAreClearedIsChosenByWhatCame) {
    if (!point_neuron::can_clear_where_needed) GTEST_SKIP() << "this processor cannot";
    const auto count = [](point_neuron::ClearingChoice& choice) {
        for (int call = 0; call < 1000; ++call) {
            if (choice.next() == point_neuron::Clearing::where_needed_and_count) return;
        }
        ADD_FAILURE() << "it never counts";
    };
    point_neuron::ClearingChoice near(1000);
    point_neuron::ClearingChoice far(1'000'000);
    EXPECT_EQ(near.next(), point_neuron::Clearing::all);
    EXPECT_EQ(far.next(), point_neuron::Clearing::where_needed);
    for (const bool many : {true, false}) {
        count(far);
        far.learn(100, many ? 60 : 10);
        EXPECT_EQ(far.next(), many ? point_neuron::Clearing::all : point_neuron::Clearing::where_needed);
    }
}

}  // namespace TEST_FILE
}  // namespace ranvier::models
