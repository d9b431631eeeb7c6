/// Tables of synapses that learn, against a simulation that goes from event to event of each synapse.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <tuple>
#include <vector>

#include "base/math.hpp"
#include "connect/plasticity/plastic_table.hpp"
#include "connect/plasticity/rule_loops.hpp"
#include "ranvier/base/instruction_set.hpp"

namespace ranvier::connect {
namespace TEST_FILE {

/// By a power up to a bound, multiplicative down to another, so that the order of changes matters, and bounds are met.
template <class Number>
struct TestRule {
    using Real = Number;
    struct Constants {
        Real up;
        Real down;
        Real greatest;
    };
    static constexpr bool presynaptic_trace_accumulates = true;
    static constexpr bool postsynaptic_trace_accumulates = true;
    RANVIER_ALWAYS_INLINE static Real postsynaptic(Real weight, Real trace, const Constants& c) {
        const Real grown = weight + c.up * math::pow(weight, Real(0.4)) * trace;
        return grown < c.greatest ? grown : c.greatest;
    }
    RANVIER_ALWAYS_INLINE static Real presynaptic(Real weight, Real trace, const Constants& c) {
        const Real less = weight - c.down * weight * trace;
        return less > Real{1} ? less : Real{1};
    }
};

/// With another trace on each side, which spikes of the same side read.
template <class Number>
struct TripletRule : TestRule<Number> {
    using Real = Number;
    using Constants = typename TestRule<Number>::Constants;
    static constexpr std::size_t same_side_presynaptic_traces = 1;
    static constexpr std::size_t same_side_postsynaptic_traces = 1;
    RANVIER_ALWAYS_INLINE static Real postsynaptic(Real weight, Real trace, Real own, const Constants& c) {
        return TestRule<Number>::postsynaptic(weight, trace * (Real(0.2) + own), c);
    }
    RANVIER_ALWAYS_INLINE static Real presynaptic(Real weight, Real trace, Real own, const Constants& c) {
        return TestRule<Number>::presynaptic(weight, trace * (Real(0.2) + own), c);
    }
};

/// The same, with the power in a loop before.
template <class Number>
struct StagedRule : TestRule<Number> {
    using Real = Number;
    using Constants = typename TestRule<Number>::Constants;
    RANVIER_ALWAYS_INLINE static Real first_stage(Real weight, const Constants& /*c*/) {
        return math::pow(weight, Real(0.4));
    }
    RANVIER_ALWAYS_INLINE static Real second_stage(Real weight, Real trace, Real power, const Constants& c) {
        const Real grown = weight + c.up * power * trace;
        return grown < c.greatest ? grown : c.greatest;
    }
};

template <class Number, Pairing paired>
struct NearestRule : TestRule<Number> {
    static constexpr Pairing pairing = paired;
    static constexpr bool presynaptic_trace_accumulates = false;
    static constexpr bool postsynaptic_trace_accumulates = false;
};

struct Synapse {
    std::uint32_t row;
    std::uint32_t target;
    DelaySteps delay;
};

constexpr std::uint32_t rows = 12;
constexpr std::uint32_t neurons = 40;
constexpr Step steps = 1500;
constexpr DelaySteps least_delay = 4;
constexpr DelaySteps delays = 9;
constexpr double pre_steps = 150.0;
constexpr double post_steps = 300.0;
constexpr double first_weight = 40.0;

struct Scene {
    DelaySteps delay_count = delays;
    std::vector<Synapse> synapses;  ///< by row, then delay
    std::vector<std::vector<std::uint32_t>> pre;   ///< by step: rows
    std::vector<std::vector<std::uint32_t>> post;  ///< by step: neurons

    Step last_step() const { return static_cast<Step>(pre.size()) - 1; }
};

/// @param silence so many steps without spikes, in the midst of the others
Scene make_scene(std::uint64_t seed, DelaySteps delay_count = delays, std::size_t silence = 0) {
    std::mt19937_64 random(seed);
    Scene scene;
    scene.delay_count = delay_count;
    for (std::uint32_t row = 0; row < rows; ++row) {
        const std::size_t count = row == 0 ? 0 : (row == 1 ? 700 : random() % 60);
        for (std::size_t i = 0; i < count; ++i) {
            scene.synapses.push_back({row, static_cast<std::uint32_t>(random() % neurons),
                                      least_delay + static_cast<DelaySteps>(random() % delay_count)});
        }
    }
    std::stable_sort(scene.synapses.begin(), scene.synapses.end(), [](const Synapse& a, const Synapse& b) {
        return std::tie(a.row, a.delay) < std::tie(b.row, b.delay);
    });
    scene.pre.resize(steps + 1);
    scene.post.resize(steps + 1);
    for (Step step = 1; step <= steps; ++step) {
        // Bursts of 500 spikes/s and more between long silences; the last row and neuron fire seldom or never.
        const bool burst = step / 200 % 3 == 1;
        for (std::uint32_t row = 0; row + 1 < rows; ++row) {
            if (random() % (burst ? 15 : 300) == 0) scene.pre[static_cast<std::size_t>(step)].push_back(row);
        }
        for (std::uint32_t neuron = 0; neuron + 1 < neurons; ++neuron) {
            // One fires so fast that more spikes than the newest few are on their way along the dendrite.
            const std::uint64_t one_of = burst ? (neuron == 3 ? 1 : 12) : 200;
            if (random() % one_of == 0) scene.post[static_cast<std::size_t>(step)].push_back(neuron);
        }
    }
    scene.pre.insert(scene.pre.begin() + 700, silence, {});
    scene.post.insert(scene.post.begin() + 700, silence, {});
    return scene;
}

/// What the equations say, from event to event.
struct Expected {
    std::vector<double> weights;                                  ///< after the last step
    std::map<std::pair<Step, std::uint32_t>, double> inputs;  ///< by step and neuron
};

Expected expect(const Scene& scene, double fraction, Step last_step) {
    constexpr TestRule<double>::Constants constants{0.4, 0.03, 50.0};
    Expected expected;
    for (const Synapse& synapse : scene.synapses) {
        const Step axonal = static_cast<Step>(std::floor(fraction * synapse.delay + 0.5));
        const Step dendritic = static_cast<Step>(synapse.delay) - axonal;
        struct Event {
            Step step;
            bool post;
        };
        std::vector<Event> events;
        for (Step step = 1; step <= last_step; ++step) {
            for (const std::uint32_t row : scene.pre[static_cast<std::size_t>(step)]) {
                if (row == synapse.row && step + axonal <= last_step) events.push_back({step + axonal, false});
            }
            for (const std::uint32_t neuron : scene.post[static_cast<std::size_t>(step)]) {
                if (neuron == synapse.target && step + dendritic <= last_step)
                    events.push_back({step + dendritic, true});
            }
        }
        // Of those of one step, the weight changes by the postsynaptic spike first, if it has come along a dendrite.
        std::stable_sort(events.begin(), events.end(), [&](const Event& a, const Event& b) {
            if (a.step != b.step) return a.step < b.step;
            return dendritic > 0 ? a.post && !b.post : b.post && !a.post;
        });
        double weight = first_weight;
        std::vector<Step> pre;
        std::vector<Step> post;
        for (const Event& event : events) {
            double trace = 0.0;
            if (event.post) {
                for (const Step other : pre) {
                    if (other < event.step || dendritic == 0)
                        trace += std::exp(-static_cast<double>(event.step - other) / pre_steps);
                }
                weight = TestRule<double>::postsynaptic(weight, trace, constants);
                post.push_back(event.step);
            } else {
                for (const Step other : post) {
                    if (other < event.step) trace += std::exp(-static_cast<double>(event.step - other) / post_steps);
                }
                weight = TestRule<double>::presynaptic(weight, trace, constants);
                pre.push_back(event.step);
                expected.inputs[{event.step + dendritic, synapse.target}] += weight;
            }
        }
        expected.weights.push_back(weight);
    }
    return expected;
}

template <class Real>
struct Driven {
    std::vector<double> weights;
    std::map<std::pair<Step, std::uint32_t>, double> inputs;
};

struct Drive {
    double fraction = 0.0;
    InstructionSet set = InstructionSet::baseline;
    Step epoch = least_delay;
    Step settle_every = 0;
    Step read_every = 0;
    bool wide = false;  ///< sums of 128 bits
};

template <class Real>
TableColumns<std::uint16_t, Real> make_columns(const Scene& scene) {
    std::pmr::memory_resource* const memory = page_memory();
    TableColumns<std::uint16_t, Real> columns;
    columns.row_map = RowMap({{NeuronId{0}, rows, 0}});
    columns.row_start = RowStarts(rows, scene.synapses.size(), memory);
    columns.targets = Buffer<std::uint16_t>(scene.synapses.size(), memory);
    columns.weights = Buffer<Real>(scene.synapses.size(), memory);
    Buffer<std::uint8_t> relative(scene.synapses.size(), memory);
    std::size_t next = 0;
    for (std::uint32_t row = 0; row < rows; ++row) {
        columns.row_start.set(row, next);
        for (; next < scene.synapses.size() && scene.synapses[next].row == row; ++next) {
            columns.targets[next] = static_cast<std::uint16_t>(scene.synapses[next].target);
            columns.weights[next] = static_cast<Real>(first_weight);
            relative[next] = static_cast<std::uint8_t>(scene.synapses[next].delay - least_delay);
        }
    }
    columns.row_start.set(rows, next);
    if (scene.delay_count > 1) columns.delays = std::move(relative);
    columns.least_delay = least_delay;
    columns.greatest_delay = least_delay + scene.delay_count - 1;
    return columns;
}

template <std::size_t traces>
std::vector<double> same_side_steps(double time_constant) {
    return std::vector<double>(traces, time_constant);
}

/// Reading some at once gives the same as each alone, in whatever order, and of the same synapse twice.
template <class Real>
void expect_same_weights(const PlasticTable<std::uint16_t, Real>& table, const Scene& scene,
                         const std::vector<double>& expected) {
    std::vector<std::uint64_t> positions(table.size());
    std::iota(positions.begin(), positions.end(), 0);
    std::mt19937_64 random(table.size());
    std::shuffle(positions.begin(), positions.end(), random);
    for (const std::size_t some : {table.size(), std::uint64_t{7}}) {
        positions.resize(some);
        positions.push_back(positions.front());
        std::vector<double> weights(positions.size());
        table.read_weights(positions, weights);
        for (std::size_t i = 0; i < weights.size(); ++i) EXPECT_EQ(weights[i], expected[positions[i]]);
    }
    std::vector<SynapseView> views;
    for (std::uint32_t row = 0; row < rows; ++row)
        table.read(RowIndex{row}, table.row_begin(RowIndex{row}), table.row_end(RowIndex{row}), views);
    EXPECT_EQ(views.size(), expected.size());
    for (std::size_t i = 0; i < views.size(); ++i) {
        EXPECT_EQ(views[i].delay, scene.synapses[i].delay);
    }
}

template <class Rule>
Driven<typename Rule::Real> drive_rule(const Scene& scene, const Drive& how) {
    using Real = typename Rule::Real;
    using Table = PlasticTable<std::uint16_t, Real>;
    const Learning learning{
        .presynaptic_steps = pre_steps,
        .postsynaptic_steps = post_steps,
        .same_side_presynaptic_steps = same_side_steps<detail::same_side_presynaptic_traces<Rule>>(400.0),
        .same_side_postsynaptic_steps = same_side_steps<detail::same_side_postsynaptic_traces<Rule>>(500.0),
        .axonal_fraction = how.fraction,
        .quantum = 0x1p-26};
    Table table(make_columns<Real>(scene), learning, make_learning_rule<Rule>({Real(0.4), Real(0.03), Real(50.0)}),
                {.local_neurons = neurons, .spikes = std::pmr::new_delete_resource()});
    constexpr std::uint32_t slots = 32;
    std::vector<double> ring(slots * neurons, 0.0);
    std::vector<WideSum> wide_ring(how.wide ? ring.size() : 0, 0);
    const InputRing inputs{ring.data(), neurons, slots - 1, -27, how.wide ? wide_ring.data() : nullptr};
    Driven<Real> driven;
    for (Step begin = 1; begin <= scene.last_step(); begin += how.epoch) {
        const Step end = std::min(begin + how.epoch - 1, scene.last_step());
        for (Step step = begin; step <= end; ++step) {
            table.arrive(how.set, step, inputs);
            for (std::uint32_t neuron = 0; neuron < neurons; ++neuron) {
                double& input = inputs.slot(step)[neuron];
                if (how.wide) {
                    WideSum& sum = inputs.wide_slot(step)[neuron];
                    input = from_wide(sum, 0x1p-26) + 0.0;
                    sum = 0;
                }
                if (input != 0.0) driven.inputs[{step, neuron}] = input;
                input = 0.0;
            }
            table.postsynaptic_spikes(step, scene.post[static_cast<std::size_t>(step)]);
        }
        for (Step step = begin; step <= end; ++step) {
            std::vector<RowIndex> fired;
            for (const std::uint32_t row : scene.pre[static_cast<std::size_t>(step)]) fired.emplace_back(row);
            if (!fired.empty()) table.accept(how.set, step, fired, end, end + 1, inputs);
        }
        if (how.settle_every > 0 && end % how.settle_every < how.epoch) table.settle(how.set, end);
        if (how.read_every > 0 && end % how.read_every < how.epoch) (void)table.weight(0);
    }
    for (std::uint64_t i = 0; i < table.size(); ++i) driven.weights.push_back(table.weight(i));
    expect_same_weights(table, scene, driven.weights);
    return driven;
}

template <class Real>
Driven<Real> drive(const Scene& scene, const Drive& how) {
    return drive_rule<TestRule<Real>>(scene, how);
}

constexpr double fractions[] = {0.0, 0.2, 0.5, 0.6, 0.9, 1.0};

void expect_those_of_the_equations(const Scene& scene) {
    for (const double fraction : fractions) {
        const Expected expected = expect(scene, fraction, scene.last_step());
        const Driven<double> driven = drive<double>(scene, {.fraction = fraction});
        ASSERT_EQ(driven.weights.size(), expected.weights.size());
        for (std::size_t i = 0; i < expected.weights.size(); ++i) {
            // The traces are sums of exponentials from tables, each with an error of some units in the last place.
            ASSERT_NEAR(driven.weights[i], expected.weights[i], 1e-11 * expected.weights[i])
                << "synapse " << i << ", axonal fraction " << fraction;
        }
        for (const auto& [key, input] : driven.inputs) {
            const auto found = expected.inputs.find(key);
            ASSERT_TRUE(found != expected.inputs.end());
            // Every weight is rounded to the grid.
            ASSERT_NEAR(input, found->second, 700 * 0x1p-26);
        }
    }
}

TEST(Plasticity, WeightsAndInputsAreThoseOfTheEquations) {
    for (const std::uint64_t seed : {1U, 2U}) expect_those_of_the_equations(make_scene(seed));
}

/// Then, all synapses share one look at the neurons in steps with many spikes.
TEST(Plasticity, WithOneDelayTheyAreToo) { expect_those_of_the_equations(make_scene(5, 1)); }

/// Longer than the table of decays that is looked at first.
TEST(Plasticity, AfterALongSilenceTheyAreToo) {
    const Scene scene = make_scene(6, delays, Decay<double>::near_steps + 1000);
    expect_those_of_the_equations(scene);
    const auto first = drive<double>(scene, {});
    for (const InstructionSet set : available_instruction_sets()) {
        EXPECT_TRUE(first.weights == drive<double>(scene, {.set = set}).weights) << to_string(set);
    }
}

TEST(Plasticity, SumsOfManyBitsAreTheSame) {
    for (const DelaySteps delay_count : {DelaySteps{1}, delays}) {
        const Scene scene = make_scene(7, delay_count);
        for (const double fraction : {0.0, 0.6}) {
            const auto narrow = drive<float>(scene, {.fraction = fraction});
            const auto wide = drive<float>(scene, {.fraction = fraction, .wide = true});
            EXPECT_TRUE(narrow.inputs == wide.inputs) << delay_count << " delays, axonal fraction " << fraction;
            EXPECT_TRUE(narrow.weights == wide.weights) << delay_count << " delays, axonal fraction " << fraction;
        }
    }
}

TEST(Plasticity, SinglePrecisionIsClose) {
    const Scene scene = make_scene(3);
    for (const double fraction : fractions) {
        const Expected expected = expect(scene, fraction, steps);
        const Driven<float> driven = drive<float>(scene, {.fraction = fraction});
        for (std::size_t i = 0; i < expected.weights.size(); ++i) {
            ASSERT_NEAR(driven.weights[i], expected.weights[i], 1e-5 * expected.weights[i]);
        }
    }
}

template <class Rule>
void expect_same_however_driven(DelaySteps delay_count = delays) {
    const Scene scene = make_scene(4, delay_count);
    for (const double fraction : {0.0, 0.6, 1.0}) {
        const auto first = drive_rule<Rule>(scene, {.fraction = fraction});
        for (const InstructionSet set : available_instruction_sets()) {
            const auto other = drive_rule<Rule>(
                scene, {.fraction = fraction, .set = set, .epoch = 3, .settle_every = 7, .read_every = 5});
            EXPECT_TRUE(first.weights == other.weights) << to_string(set) << ", axonal fraction " << fraction;
            EXPECT_TRUE(first.inputs == other.inputs) << to_string(set) << ", axonal fraction " << fraction;
        }
        const auto cut = drive_rule<Rule>(scene, {.fraction = fraction, .epoch = 1, .settle_every = 1});
        EXPECT_TRUE(first.weights == cut.weights) << "axonal fraction " << fraction;
        EXPECT_TRUE(first.inputs == cut.inputs) << "axonal fraction " << fraction;
    }
}

TEST(Plasticity, RulesInTwoStagesGiveTheSameBits) {
    const Scene scene = make_scene(9);
    for (const InstructionSet set : available_instruction_sets()) {
        const Drive how{.fraction = 0.6, .set = set};
        EXPECT_EQ(drive_rule<StagedRule<double>>(scene, how).weights, drive_rule<TestRule<double>>(scene, how).weights);
        EXPECT_EQ(drive_rule<StagedRule<float>>(scene, how).weights, drive_rule<TestRule<float>>(scene, how).weights);
    }
}

TEST(Plasticity, WeightsDoNotDependOnSetsEpochsSettlingOrReading) {
    expect_same_however_driven<TestRule<float>>();
    expect_same_however_driven<TestRule<double>>();
}

TEST(Plasticity, NorDoThoseWithOneDelay) {
    expect_same_however_driven<TestRule<float>>(1);
    expect_same_however_driven<TripletRule<double>>(1);
    expect_same_however_driven<NearestRule<double, Pairing::restricted>>(1);
}

TEST(Plasticity, NorDoThoseWithTracesOfTheirOwnSide) {
    expect_same_however_driven<TripletRule<float>>();
    expect_same_however_driven<TripletRule<double>>();
}

TEST(Plasticity, NorDoThoseOfNearestSpikes) {
    expect_same_however_driven<NearestRule<float, Pairing::restricted>>();
    expect_same_however_driven<NearestRule<double, Pairing::restricted>>();
    expect_same_however_driven<NearestRule<float, Pairing::presynaptic_centred>>();
    expect_same_however_driven<NearestRule<double, Pairing::presynaptic_centred>>();
}

}  // namespace TEST_FILE
}  // namespace ranvier::connect
