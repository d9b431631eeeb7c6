#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "counting_memory.hpp"
#include "group_driver.hpp"
#include "models/equations/program_draws.hpp"
#include "models/equations/program_model.hpp"
#include "program/evaluate.hpp"
#include "program/operations.hpp"
#include "program_building.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/models/registry.hpp"

namespace ranvier::models {
namespace {

using program::Operation;
using program::Type;
using program::Writer;

/// All that came out of a run: spikes, and at the end every variable, as bits.
struct Outcome {
    std::vector<std::vector<std::uint32_t>> spikes;
    std::vector<std::vector<double>> state;
    bool sound = true;

    std::size_t spike_count() const {
        std::size_t count = 0;
        for (const auto& step : spikes) count += step.size();
        return count;
    }
    std::vector<std::uint64_t> bits() const {
        std::vector<std::uint64_t> all;
        for (const auto& values : state) {
            for (const double value : values) all.push_back(std::bit_cast<std::uint64_t>(value));
        }
        return all;
    }
};

struct Drive {
    std::size_t size = 1;
    bool with_current = false;
    bool heterogeneous = false;
};

/// Random potentials, parameters, inputs and currents, which do not depend on the model.
Outcome run(const NeuronModel& model, InstructionSet set, const Drive& drive, int steps = 300) {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> uniform;
    GroupDriver::Options options{.size = drive.size, .instruction_set = set, .values = {}};
    std::vector<double> potential, drive_current, time_constant, refractory;
    for (std::size_t i = 0; i < drive.size; ++i) {
        potential.push_back(-70.0 + 16.0 * uniform(random));
        drive_current.push_back(300.0 + 100.0 * uniform(random));
        time_constant.push_back(1.0 + 3.0 * uniform(random));
        refractory.push_back(0.1 * static_cast<double>(random() % 30));
    }
    options.values = {{"V_m", potential}, {"I_e", {340.0}}, {"tau_syn_in", {3.0}}};
    if (drive.heterogeneous) {
        options.values["I_e"] = drive_current;
        options.values["tau_syn_ex"] = time_constant;
        options.values["t_ref"] = refractory;
    }
    GroupDriver driver(model, options);
    Outcome outcome;
    std::vector<double> current(drive.size);
    for (int n = 0; n < steps; ++n) {
        for (std::size_t i = 0; i < drive.size; ++i) {
            if (uniform(random) < 0.2) driver.give(i, 300.0 * (uniform(random) - 0.4));
            current[i] = 100.0 * (uniform(random) - 0.5);
        }
        if (drive.with_current) driver.give_current(current);
        outcome.spikes.push_back(driver.step());
    }
    for (const char* const name : {"V_m", "I_syn_ex", "I_syn_in"}) outcome.state.push_back(driver.read(name));
    outcome.sound = driver.sound();
    return outcome;
}

TEST(ProgramNeurons, DoWhatTheBuiltInModelOfTheSameEquationsDoes) {
    const ProgramModel model(described_iaf_psc_exp());
    for (const std::size_t size : {1, 63, 64, 65, 300}) {
        for (const bool with_current : {false, true}) {
            for (const bool heterogeneous : {false, true}) {
                const Drive drive{.size = size, .with_current = with_current, .heterogeneous = heterogeneous};
                const Outcome expected = run(iaf_psc_exp, InstructionSet::baseline, drive);
                const Outcome found = run(model, InstructionSet::baseline, drive);
                EXPECT_TRUE(found.sound);
                EXPECT_EQ(found.spikes, expected.spikes);
                EXPECT_GE(found.spike_count(), size);
                for (std::size_t v = 0; v < found.state.size(); ++v) {
                    for (std::size_t i = 0; i < size; ++i) {
                        const double scale = std::max(1.0, std::abs(expected.state[v][i]));
                        EXPECT_NEAR(found.state[v][i], expected.state[v][i], 1e-12 * scale);
                    }
                }
                for (const InstructionSet set : available_instruction_sets()) {
                    const Outcome other = run(model, set, drive);
                    EXPECT_EQ(other.spikes, found.spikes) << to_string(set);
                    EXPECT_EQ(other.bits(), found.bits()) << to_string(set);
                }
            }
        }
    }
}

/// A step function that evaluates the program in each lane, as compiled code of somebody else could.
ProgramDescription* evaluated = nullptr;
std::uint64_t evaluated_lanes = 0;
std::uint64_t evaluated_per_lane = 0;

std::uint32_t evaluate_step(const program::StepArguments* a) {
    evaluated_lanes += a->lanes;
    evaluated_per_lane += a->constants_per_lane;
    std::uint32_t flags = 0;
    std::fill_n(a->fires, a->lanes / 8, std::uint8_t{0});
    std::fill_n(a->failures, a->lanes / 8, std::uint8_t{0});
    const std::size_t variables = evaluated->variables.size();
    for (std::size_t k = 0; k < a->lanes; ++k) {
        std::vector<double> inputs;
        for (std::size_t v = 0; v < variables; ++v) inputs.push_back(a->state[v][k]);
        for (std::size_t c = 0; c < evaluated->constants; ++c) {
            inputs.push_back(a->constants[c][a->constants_per_lane != 0 ? k & a->constant_masks[c] : 0]);
        }
        for (std::size_t r = 0; r < evaluated->receptors.size(); ++r) {
            inputs.push_back(a->inputs[r][k] + 0.0);
            a->inputs[r][k] = -0.0;
        }
        if (evaluated->takes_current) inputs.push_back(a->current != nullptr ? a->current[k] : 0.0);
        inputs.push_back(program::lane::to_lane(a->release[k] >= a->clock));
        std::vector<std::uint64_t> words;
        for (const std::uint32_t draw : program::draws_of(evaluated->step)) {
            words.resize(draw + std::size_t{1});
            words[draw] = a->draws[draw][k];
        }
        const std::vector<double> results = program::evaluate(evaluated->step, inputs, words);
        for (std::size_t v = 0; v < variables; ++v) a->state[v][k] = results[v];
        if (program::lane::is_true(results[variables])) {
            flags |= program::some_fire;
            a->fires[k / 8] = static_cast<std::uint8_t>(a->fires[k / 8] | 1U << k % 8);
        }
    }
    return flags;
}

TEST(ProgramNeurons, AreAdvancedByACompiledFunctionInPlaceOfTheInterpreter) {
    ProgramDescription description = described_iaf_psc_exp();
    ProgramModel model(description);
    evaluated = &description;
    const auto owner = std::make_shared<int>(1);
    for (const bool heterogeneous : {false, true}) {
        const Drive drive{.size = 300, .with_current = true, .heterogeneous = heterogeneous};
        model.use_compiled(InstructionSet::baseline, {});
        const Outcome expected = run(model, InstructionSet::baseline, drive);
        evaluated_lanes = evaluated_per_lane = 0;
        model.use_compiled(InstructionSet::baseline, {.function = evaluate_step, .owner = owner});
        const Outcome found = run(model, InstructionSet::baseline, drive);
        EXPECT_EQ(evaluated_lanes, 320U * 300U);
        EXPECT_EQ(evaluated_per_lane > 0, heterogeneous);
        EXPECT_EQ(found.spikes, expected.spikes);
        EXPECT_EQ(found.bits(), expected.bits());
    }
    EXPECT_EQ(owner.use_count(), 2);
    model.use_compiled(InstructionSet::baseline, {});
    EXPECT_EQ(owner.use_count(), 1);
}

/// Neurons that draw, fire with a probability, and count steps of a loop.
ProgramDescription drawing_neurons() {
    ProgramDescription made{
        .name = "drawing",
        .summary = "",
        .equations = "",
        .reference = "",
        .parameters = {{"p", "", 0.05, {.lower = 0.0, .upper = 1.0}, "Probability of a spike"}},
        .variables = {{"x", "", "Sum of normal draws", "", 0.0}, {"u", "", "Uniform draw", "", 0.5}},
        .derived = {},
        .receptors = {"input"},
        .weight_unit = "",
        .takes_current = false,
        .prepare = {},
        .conditions = {},
        .propagators = {},
        .constants = 1,
        .refractory = std::nullopt,
        .step = {},
        .observe = {}};
    made.prepare = Writer(2).finish({0});
    Writer writer({Type::number, Type::number, Type::number, Type::number, Type::truth});
    const auto normal = writer.add(Operation::normal_draw, {}, 3.0);
    const auto first = writer.add(Operation::uniform_draw, {}, 2.0);
    const auto second = writer.add(Operation::uniform_draw, {}, 0.0);
    const auto sum = writer.add(Operation::add, {writer.add(Operation::add, {0, normal}), 3});
    const auto fires = writer.add(Operation::less, {first, 2});
    made.step = writer.finish({sum, second, fires});
    made.observe = Writer(3).finish({});
    return made;
}

TEST(ProgramNeurons, DrawByNeuronStepAndIndexAlone) {
    const ProgramModel model(drawing_neurons());
    const IdSequence some(std::make_shared<const std::vector<std::uint64_t>>(std::vector<std::uint64_t>{5, 9, 40}), 0,
                          3);
    const auto unit = [](NeuronId id, Step step, std::uint32_t index) {
        return to_open_unit(program_draw(GroupDriver::key(), id, step, index, index == 0));
    };
    for (const InstructionSet set : available_instruction_sets()) {
        GroupDriver all(model, {.size = 100, .instruction_set = set, .values = {{"p", {0.3}}}});
        GroupDriver part(
            model, {.size = 3, .instruction_set = set, .values = {{"p", {0.3}}}, .ids = some, .population_size = 100});
        std::vector<double> sums(100, 0.0);
        for (Step step = 1; step <= 20; ++step) {
            const std::vector<std::uint32_t> fired = all.step();
            std::vector<std::uint32_t> expected;
            for (std::uint32_t i = 0; i < 100; ++i) {
                if (unit(NeuronId{i}, step, 2) < 0.3) expected.push_back(i);
                sums[i] = sums[i] + math::normal_quantile(unit(NeuronId{i}, step, 3)) + 0.0;
            }
            EXPECT_EQ(fired, expected);
            (void)part.step();
        }
        EXPECT_EQ(all.read("x"), sums);
        for (std::size_t k = 0; k < 3; ++k) {
            const std::size_t id = std::array{5, 9, 40}[k];
            EXPECT_EQ(part.read("x")[k], sums[id]);
            EXPECT_EQ(part.read("u")[k], unit(NeuronId{id}, 20, 0));
        }
    }
    // Steps beyond 32 bits, and neighbours in each of them, have numbers of their own.
    std::vector<std::uint64_t> words;
    for (const Step step : {Step{1}, Step{2}, Step{1} << 32, (Step{1} << 32) + 1, Step{1} << 40}) {
        for (const std::uint32_t index : {0U, 1U, 2U, 255U}) {
            for (const std::uint64_t id : {0ULL, 1ULL, 1ULL << 32, 1ULL << 40}) {
                words.push_back(program_draw(GroupDriver::key(), NeuronId{id}, step, index, false));
            }
        }
    }
    // So have steps that share a block, beside others.
    for (const Step step : {Step{0}, Step{1}, Step{2}, Step{1} << 33, (Step{1} << 33) + 1, Step{1} << 40}) {
        words.push_back(program_draw(GroupDriver::key(), NeuronId{7}, step, 4, true));
    }
    std::ranges::sort(words);
    EXPECT_EQ(std::ranges::adjacent_find(words), words.end());
}

/// Rings of inputs for `advance`, and what came out of it.
struct Stretch {
    static constexpr std::uint64_t rows = 16;

    explicit Stretch(const NeuronModel& model, std::size_t size, bool with_current)
        : inputs(model.receptors.size(), std::vector<double>(rows * size, -0.0)),
          current(with_current ? rows * size : 0, 0.0),
          stride(size) {}

    StepRows rows_of(std::vector<double>& values) const {
        return values.empty() ? StepRows{} : StepRows{.data = values.data(), .stride = stride, .mask = rows - 1};
    }

    std::vector<std::vector<double>> inputs;
    std::vector<double> current;
    std::size_t stride;
};

class Samples final : public StateObserver {
   public:
    Samples(const NeuronGroup& group, std::size_t variables) : group_(group), variables_(variables) {}
    void observe(Step step, std::size_t begin, std::size_t end) override {
        for (std::uint32_t i = static_cast<std::uint32_t>(begin); i < end; ++i) {
            for (std::size_t v = 0; v < variables_; ++v) {
                double value = 0.0;
                group_.read(v, std::span(&i, 1), &value);
                seen.emplace_back(step, i, v, std::bit_cast<std::uint64_t>(value));
            }
        }
    }
    std::vector<std::tuple<Step, std::uint32_t, std::size_t, std::uint64_t>> seen;

   private:
    const NeuronGroup& group_;
    std::size_t variables_;
};

/// Advances by 12 steps in stretches of some length; returns all that was seen.
auto advance_in_stretches(const NeuronModel& model, std::size_t size, bool with_current, Step length) {
    GroupDriver driver(model, {.size = size, .instruction_set = detect_instruction_set(), .values = {}});
    Stretch stretch(model, size, with_current);
    std::mt19937 random(3);
    std::uniform_real_distribution<double> uniform(-4000.0, 8000.0);
    for (auto& values : stretch.inputs) {
        for (double& value : values) value = random() % 4 == 0 ? uniform(random) : -0.0;
    }
    for (double& value : stretch.current) value = uniform(random);
    std::vector<StepRows> inputs;
    for (auto& values : stretch.inputs) inputs.push_back(stretch.rows_of(values));
    std::pmr::vector<GroupSpike> spikes;
    std::vector<std::uint32_t> room(driver.group().largest_output());
    Samples samples(driver.group(), model.variables.size());
    for (Step first = 1; first <= 12; first += length) {
        std::vector<Step> observed;
        for (Step step = first; step < first + length; ++step) {
            if (step % 3 == 0) observed.push_back(step);
        }
        driver.group().advance({.first = first,
                                .last = first + length - 1,
                                .size = size,
                                .inputs = inputs,
                                .current = stretch.rows_of(stretch.current),
                                .spikes = &spikes,
                                .room = room.data(),
                                .observed = observed,
                                .observer = &samples});
    }
    std::vector<std::pair<Step, std::uint32_t>> fired;
    for (const GroupSpike& spike : spikes) fired.emplace_back(spike.step, spike.neuron);
    std::ranges::sort(fired);
    std::ranges::sort(samples.seen);
    for (const auto& values : stretch.inputs) {
        for (std::size_t i = 1 * size; i < 13 * size; ++i) EXPECT_TRUE(values[i] == 0.0 && std::signbit(values[i]));
    }
    return std::pair{fired, samples.seen};
}

TEST(ProgramNeurons, AdvanceBySeveralStepsWithTheSameBits) {
    const ProgramModel described(described_iaf_psc_exp());
    const ProgramModel drawing(drawing_neurons());
    for (const ProgramModel* const model : {&described, &drawing}) {
        for (const std::size_t size : {1, 64, 700}) {
            const bool with_current = model == &described;
            const auto one = advance_in_stretches(*model, size, with_current, 1);
            for (const Step length : {2, 4, 12}) {
                EXPECT_EQ(advance_in_stretches(*model, size, with_current, length), one) << length;
            }
            if (size == 700) {
                EXPECT_GT(one.first.size(), 100U);
            }
        }
    }
}

TEST(ProgramNeurons, GoOnFromASavedState) {
    const ProgramModel model(described_iaf_psc_exp());
    const GroupDriver::Options options{.size = 70, .values = {{"I_e", {900.0}}}};
    GroupDriver whole(model, options);
    GroupDriver first(model, options);
    for (int n = 0; n < 205; ++n) EXPECT_EQ(first.step(), whole.step());
    StateColumns saved;
    for (std::uint32_t i = 0; i < 70; ++i) first.group().serialize_state(i, 205, saved);
    std::vector<StateColumns::Column> columns = std::move(saved).take();
    StateColumns loaded(std::move(columns));
    GroupDriver second(model, options);
    for (std::uint32_t i = 0; i < 70; ++i) {
        loaded.seek(i);
        second.group().serialize_state(i, 205, loaded);
    }
    std::size_t spikes = 0;
    for (int n = 0; n < 200; ++n) {
        const auto expected = whole.step();
        EXPECT_EQ(second.step(), expected);
        spikes += expected.size();
    }
    EXPECT_GT(spikes, 0U);
    EXPECT_EQ(second.read("V_m"), whole.read("V_m"));
}

TEST(ProgramNeurons, KeepTheirStateWhenParametersChangeAndEverythingWhenTheyAreRefused) {
    const ProgramModel model(described_iaf_psc_exp());
    GroupDriver driver(model, {.size = 3, .values = {{"I_e", {900.0}}}});
    for (int n = 0; n < 37; ++n) (void)driver.step();
    const std::vector<double> before = driver.read("V_m");
    EXPECT_THROW(driver.set("V_th", {-80.0}), ValueOutOfBoundsError);
    EXPECT_THROW(driver.set("V_th", {-55.0, -80.0, -55.0}), ValueOutOfBoundsError);
    try {
        driver.set("V_th", {-55.0, -80.0, -55.0});
    } catch (const ValueOutOfBoundsError& error) {
        EXPECT_NE(std::string(error.what()).find("neuron 1"), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("V_reset must be below V_th"), std::string::npos) << error.what();
    }
    driver.set("V_th", {-55.0});
    EXPECT_THROW(driver.set("t_ref", {1e300}), ValueOutOfBoundsError);
    driver.set("t_ref", {2.0});
    EXPECT_EQ(driver.read("V_m"), before);
    driver.set("I_e", {0.0, 900.0, 2000.0});
    EXPECT_EQ(driver.read("V_m"), before);
    std::vector<std::size_t> counts(3, 0);
    for (int n = 0; n < 500; ++n) {
        for (const std::uint32_t i : driver.step()) ++counts[i];
    }
    EXPECT_EQ(counts[0], 0U);
    EXPECT_GT(counts[1], 0U);
    EXPECT_GT(counts[2], counts[1]);
    driver.set("I_e", {0.0});
    for (int n = 0; n < 50; ++n) EXPECT_EQ(driver.step(), std::vector<std::uint32_t>{});
}

TEST(ProgramNeurons, EndARefractoryPeriodAsItBegan) {
    const ProgramModel model(described_iaf_psc_exp());
    GroupDriver driver(model, {.size = 1, .values = {{"I_e", {900.0}}, {"t_ref", {5.0}}}});
    while (driver.step().empty()) {
    }
    driver.set("t_ref", {0.0});
    for (int n = 0; n < 50; ++n) {
        EXPECT_EQ(driver.potential(), -70.0) << n;
        (void)driver.step();
    }
    (void)driver.step();
    EXPECT_GT(driver.potential(), -70.0);
}

TEST(ProgramNeurons, HaveDerivedVariablesThatAreReadOnly) {
    const ProgramModel model(described_iaf_psc_exp());
    GroupDriver driver(model, {.size = 150, .values = {}});
    for (std::uint32_t i = 0; i < 150; ++i) {
        driver.write("I_syn_ex", i, static_cast<double>(i));
        driver.write("I_syn_in", i, 0.5);
    }
    const std::vector<double> values = driver.read("I_syn");
    for (std::size_t i = 0; i < 150; ++i) EXPECT_EQ(values[i], static_cast<double>(i) + 0.5);
    EXPECT_TRUE(model.variables[3].is_read_only);
    const std::uint32_t neuron = 0;
    const double value = 1.0;
    EXPECT_THROW(driver.group().check(3, std::span(&neuron, 1), &value), InternalError);
}

TEST(ProgramNeurons, TellWhichOfThemHasFailed) {
    const ProgramModel model(described_iaf_psc_exp());
    GroupDriver driver(model, {.size = 80, .values = {}});
    EXPECT_TRUE(driver.group().is_finite());
    driver.write("I_syn_in", 70, -std::numeric_limits<double>::infinity());
    EXPECT_EQ(driver.group().failure().value().what, "I_syn_in of neuron 70 has become -inf");
    (void)driver.step();
    EXPECT_EQ(driver.group().failure().value().what, "V_m of neuron 70 has become -inf");

    ProgramDescription looping = drawing_neurons();
    Writer body(2);
    const auto inner =
        body.finish({body.add(Operation::less, {0, 1}), body.add(Operation::add, {0, body.constant(1.0)})});
    Writer writer({Type::number, Type::number, Type::number, Type::number, Type::truth});
    const auto first = writer.loop({writer.constant(0.0), 0}, 1, 10.0, inner);
    const auto never = writer.add(Operation::less, {0, 0});
    looping.step = writer.finish({0, first, never, first + 1});
    const ProgramModel loops(looping);
    GroupDriver counting(loops, {.size = 100, .values = {{"x", {9.0}}}});
    (void)counting.step();
    EXPECT_FALSE(counting.group().failure().has_value());
    EXPECT_EQ(counting.read("u")[99], 9.0);
    counting.write("x", 66, 11.0);
    (void)counting.step();
    EXPECT_EQ(counting.group().failure().value().what, "a loop has not ended within its maximum number of iterations");
    EXPECT_EQ(counting.group().failure().value().neuron, 66u);
}

TEST(ProgramNeurons, TakeTheMemoryThatTheyAreGiven) {
    const ProgramModel model(described_iaf_psc_exp());
    const auto bytes = [&](std::size_t size, bool per_neuron) {
        CountingMemory memory;
        GroupDriver driver(model, {.size = size, .memory = &memory, .per_neuron = per_neuron, .values = {}});
        return memory.bytes();
    };
    EXPECT_EQ(bytes(6400, false) - bytes(640, false), (6400U - 640U) * (3 * sizeof(double) + sizeof(std::int32_t)));
    EXPECT_EQ(bytes(6400, true) - bytes(640, true), (6400U - 640U) * (13 * sizeof(double) + 2 * sizeof(std::int32_t)));
}

}  // namespace
}  // namespace ranvier::models
