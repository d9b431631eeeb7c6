#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory_resource>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "connect/tables/delay_blocks.hpp"
#include "connect/tables/layout_choice.hpp"
#include "table_building.hpp"

namespace ranvier::connect {
namespace TEST_FILE {

using namespace table_building;

TEST(DelayBlocks, AreAsLongAsCellsAllow) {
    EXPECT_EQ(divide_delays<std::uint16_t>(64, 4824), (DelayBlocks{.length = 13, .count = 5}));
    EXPECT_EQ(divide_delays<std::uint16_t>(64, 1024), (DelayBlocks{.length = 64, .count = 1}));
    EXPECT_EQ(divide_delays<std::uint16_t>(65, 1024), (DelayBlocks{.length = 64, .count = 2}));
    EXPECT_EQ(divide_delays<std::uint16_t>(64, 65536), (DelayBlocks{.length = 1, .count = 64}));
    EXPECT_EQ(divide_delays<std::uint16_t>(1, 5), (DelayBlocks{.length = 1, .count = 1}));
    EXPECT_EQ(divide_delays<std::uint32_t>(1000, 100'000), (DelayBlocks{.length = 1000, .count = 1}));
    EXPECT_EQ(divide_delays<std::uint32_t>(60'000, 100'000), (DelayBlocks{.length = 42949, .count = 2}));
}

TEST(DelayBlocks, AreDividedFurtherInLongRows) {
    const DelayBlocks longest{.length = 13, .count = 5};
    EXPECT_EQ(divide_further(longest, 64, 1000), (DelayBlocks{.length = 8, .count = 8}));
    EXPECT_EQ(divide_further(longest, 64, 24 * 6), (DelayBlocks{.length = 11, .count = 6}));
    // Not longer than cells allow.
    EXPECT_EQ(divide_further(longest, 64, 30), longest);
    EXPECT_EQ(divide_further({.length = 64, .count = 1}, 64, 47), (DelayBlocks{.length = 64, .count = 1}));
    EXPECT_EQ(divide_further({.length = 3, .count = 1}, 3, 1000), (DelayBlocks{.length = 1, .count = 3}));
    EXPECT_EQ(divide_further({.length = 1, .count = 1}, 1, 1000), (DelayBlocks{.length = 1, .count = 1}));
}

/// The layout of a shard's excitatory synapses in a microcircuit of 77,169 neurons.
TEST(LayoutChoice, DependsOnTheThreadsOfAMicrocircuit) {
    const auto choose = [](std::uint32_t shards) {
        const std::uint32_t inputs = 77'169 / shards;
        return choose_layout({.synapses = 240'000'000 / shards,
                              .rows = 61'843,
                              .delays = 56,
                              .longest_delay = 56,
                              .inputs = inputs,
                              .blocks = divide_delays<std::uint16_t>(56, inputs)});
    };
    for (const std::uint32_t shards : {1U, 2U, 4U, 8U}) EXPECT_EQ(choose(shards), TableLayout::runs) << shards;
    for (const std::uint32_t shards : {16U, 64U, 128U, 4000U}) EXPECT_EQ(choose(shards), TableLayout::blocks) << shards;
}

struct Case {
    std::string name;
    std::uint64_t neurons;
    DelaySteps least;
    DelaySteps longest;
    std::uint32_t window;
    bool double_weights = false;
    bool wide = false;
};
class Layouts : public testing::TestWithParam<std::tuple<TableLayout, Case>> {};

using Names = std::tuple<std::uint64_t, std::uint64_t, DelaySteps>;  // source, target, delay

/// The oracle: a list of synapses, and of those that each step's spikes have still to reach. The weight counts that a
/// synapse has when it is reached.
class PlainTable {
   public:
    PlainTable(const Case& which, std::mt19937& random) {
        std::uniform_int_distribution<std::uint64_t> target(0, which.neurons - 1);
        std::uniform_int_distribution<DelaySteps> delay(which.least, which.longest);
        const auto add = [&](std::uint64_t source, DelaySteps with_delay) {
            weights_.emplace(Names{source, target(random), with_delay}, draw_weight(random));
        };
        // Two thirds of the sources have synapses, the last of them one.
        for (std::uint64_t source = 0; source < sources; ++source) {
            if (source % 3 == 1) continue;
            for (std::size_t i = 0; i < (source + 1 == sources ? 1 : 150 - source); ++i) add(source, delay(random));
        }
        add(0, which.least);
        add(0, which.longest);
    }

    static double draw_weight(std::mt19937& random) { return std::ldexp(static_cast<double>(random() % 100000), -10); }

    std::vector<Synapse> synapses() const {
        std::vector<Synapse> all;
        for (const auto& [names, weight] : weights_) {
            const auto& [source, target, delay] = names;
            all.push_back({source, target, weight, delay});
        }
        return all;
    }
    std::uint64_t accept(Step stamp, std::uint64_t source) {
        std::uint64_t events = 0;
        for (auto at = weights_.lower_bound({source, 0, 0}); at != weights_.end(); ++at, ++events) {
            const auto& [from, target, delay] = at->first;
            if (from != source) break;
            arrivals_[stamp + delay].push_back(at->first);
        }
        return events;
    }
    void set(const Names& synapse, double weight) { weights_.at(synapse) = weight; }
    /// The inputs of a step, for those with any.
    std::map<std::uint64_t, double> arrive(Step step) {
        std::map<std::uint64_t, double> inputs;
        for (const Names& names : arrivals_[step]) inputs[std::get<1>(names)] += weights_.at(names);
        arrivals_.erase(step);
        return inputs;
    }

    static constexpr std::uint64_t sources = 60;

   private:
    std::map<Names, double> weights_;
    std::map<Step, std::vector<Names>> arrivals_;
};

/// A table of a layout, with the ring of its inputs.
class TestedTable {
   public:
    TestedTable(TableLayout layout, const Case& which, const std::vector<Synapse>& synapses, bool divides_rows = false)
        : built_(build(
              make_network_plan(std::vector{make_plan(synapses, which.neurons, 0)},
                                std::vector<KindChoice>{{.positive = {.receptor = 0}, .negative = {.receptor = 1}}}),
              Placement(which.neurons), 1, layout, which.double_weights, RowNumbering::dense, 0, divides_rows)),
          table_(*built_.tables[0][0]),
          layout_(built_.layout->shard(0)),
          window_(which.window) {
        const std::size_t slots = std::bit_ceil(std::max(which.window, table_.reach() + 1));
        sums_.assign(slots * layout_.size(), -0.0);
        if (which.wide) wide_sums_.assign(sums_.size(), 0);
        ring_ = {sums_.data(), layout_.size(), static_cast<std::uint32_t>(slots - 1), -13,
                 which.wide ? wide_sums_.data() : nullptr};
        std::vector<SynapseView> views;
        for (std::uint32_t row = 0; row < table_.rows(); ++row) {
            StoredSynapses& stored = *table_.synapses();
            views.clear();
            stored.read(RowIndex{row}, stored.row_begin(RowIndex{row}), stored.row_end(RowIndex{row}), views);
            for (const SynapseView& view : views) {
                const std::uint64_t target = layout_.id_of(LocalIndex{view.target}).value;
                positions_[{table_.source(RowIndex{row}).value, target, view.delay}] = view.position;
            }
        }
    }

    std::uint64_t accept(InstructionSet set, Step stamp, const std::vector<NeuronId>& fired, Step now) {
        std::pmr::vector<RowIndex> rows;
        table_.find_rows(fired, rows);
        return table_.accept(set, stamp, rows, now, window_end(now), ring_);
    }
    std::uint64_t accept_first_part(Step now, const std::vector<NeuronId>& fired) {
        std::pmr::vector<RowIndex> rows;
        table_.find_rows(fired, rows);
        return table_.divided()->accept_first_part(now, rows, ring_);
    }
    void add_parts(std::uint32_t begin, std::uint32_t end) const {
        built_.tables[0][0]->divided()->add_parts(begin, end, ring_);
    }
    void set_weight(const Names& synapse, double weight, Step now) {
        table_.synapses()->set_weights(std::vector{positions_.at(synapse)}, std::vector{weight}, now, window_end(now),
                                       ring_);
    }
    std::map<std::uint64_t, double> arrive(InstructionSet set, Step step) {
        if (step % window_ == 0 && table_.deferred() != nullptr) {
            table_.deferred()->deliver(set, step, step + window_, ring_);
        }
        std::map<std::uint64_t, double> inputs;
        for (std::uint32_t i = 0; i < layout_.size(); ++i) {
            double sum = ring_.slot(step)[i];
            if (ring_.wide != nullptr) {
                EXPECT_TRUE(sum == 0.0 && std::signbit(sum));
                sum = from_wide(ring_.wide_slot(step)[i], std::ldexp(1.0, ring_.exponent + 1));
                ring_.wide_slot(step)[i] = 0;
            }
            ring_.slot(step)[i] = -0.0;
            if (sum != 0.0 || !std::signbit(sum)) inputs[layout_.id_of(LocalIndex{i}).value] = sum;
        }
        return inputs;
    }
    const std::map<Names, std::uint64_t>& positions() const { return positions_; }
    SynapseTable& table() { return table_; }

   private:
    Step window_end(Step now) const { return (now / window_ + 1) * window_; }

    Built built_;
    SynapseTable& table_;
    const ShardLayout& layout_;
    Step window_;
    std::vector<double> sums_;
    std::vector<WideSum> wide_sums_;
    InputRing ring_;
    std::map<Names, std::uint64_t> positions_;
};

/// Spikes of an epoch, as long as the shortest delay, come together after its last step, and weights change while they
/// are in transit.
TEST_P(Layouts, AddWhatAPlainListOfSynapsesAdds) {
    const auto& [layout, which] = GetParam();
    for (const InstructionSet set : available_instruction_sets()) {
        std::mt19937 random(17);
        PlainTable expected(which, random);
        const std::vector<Synapse> synapses = expected.synapses();
        TestedTable found(layout, which, synapses);
        ASSERT_EQ(found.positions().size(), synapses.size());
        const Step steps = 3 * Step{which.longest} + 50;
        for (Step step = 1; step <= steps; ++step) {
            ASSERT_EQ(found.arrive(set, step), expected.arrive(step)) << to_string(set) << " step " << step;
            if (step % which.least != 0) continue;
            for (Step stamp = step - which.least + 1; stamp <= step; ++stamp) {
                std::vector<NeuronId> fired;
                std::uint64_t events = 0;
                for (std::uint64_t source = 0; source < PlainTable::sources; ++source) {
                    if (random() % 20 != 0) continue;
                    fired.emplace_back(source);
                    events += expected.accept(stamp, source);
                }
                ASSERT_EQ(found.accept(set, stamp, fired, step), events);
            }
            for (int i = 0; i < 20; ++i) {
                const Synapse& changed = synapses[random() % synapses.size()];
                const Names names{changed.source, changed.target, changed.delay};
                const double weight = PlainTable::draw_weight(random);
                found.set_weight(names, weight, step);
                expected.set(names, weight);
            }
        }
    }
}

/// Parts are added in any order, by several threads, and also after the inputs of the next step have been read.
TEST_P(Layouts, AddPartsLater) {
    const auto& [layout, which] = GetParam();
    for (const InstructionSet set : available_instruction_sets()) {
        std::mt19937 random(29);
        PlainTable expected(which, random);
        TestedTable found(layout, which, expected.synapses(), true);
        DividedDelivery* const divided = found.table().divided();
        if (layout != TableLayout::blocks || which.least == which.longest) {
            EXPECT_EQ(divided, nullptr);
            return;
        }
        ASSERT_NE(divided, nullptr);
        std::uint64_t divisions = 0;
        const Step steps = 3 * Step{which.longest} + 50;
        for (Step step = 1; step <= steps; ++step) {
            ASSERT_EQ(found.arrive(set, step), expected.arrive(step)) << to_string(set) << " step " << step;
            // In the first step, nobody has left any parts.
            std::vector<std::uint32_t> parts(divided->parts_left());
            std::iota(parts.begin(), parts.end(), 0);
            std::ranges::shuffle(parts, random);
            const auto half = parts.begin() + static_cast<std::ptrdiff_t>(parts.size() / 2);
            const auto add = [&](auto begin, auto end) {
                for (auto part = begin; part != end; ++part) found.add_parts(*part, *part + 1);
            };
            if (step > 1) {
                std::thread other(add, half, parts.end());
                add(parts.begin(), half);
                other.join();
                divisions += parts.empty() ? 0 : 1;
            }
            // Some steps have few spikes, which leave nothing.
            const std::uint32_t few = step % 3 == 0 ? 30 : 2;  // one of so many sources fires
            std::vector<NeuronId> fired;
            std::uint64_t events = 0;
            for (std::uint64_t source = 0; source < PlainTable::sources; ++source) {
                if (random() % few != 0) continue;
                fired.emplace_back(source);
                events += expected.accept(step, source);
            }
            ASSERT_EQ(found.accept_first_part(step, fired), events);
            EXPECT_EQ(divided->parts_left() > 0, events >= 512);
        }
        EXPECT_GT(divisions, static_cast<std::uint64_t>(steps / 3));
        EXPECT_LT(divisions, static_cast<std::uint64_t>(steps));
    }
}

TEST_P(Layouts, FindSynapsesByTarget) {
    const auto& [layout, which] = GetParam();
    std::mt19937 random(23);
    const std::vector<Synapse> synapses = PlainTable(which, random).synapses();
    TestedTable found(layout, which, synapses);
    StoredSynapses& stored = *found.table().synapses();
    std::vector<std::uint32_t> counts(which.neurons + 1000);
    stored.count_onto(counts);
    // Neurons of one population on one shard have the places of their ids.
    std::vector<std::uint32_t> expected_counts(counts.size());
    for (const Synapse& synapse : synapses) ++expected_counts[synapse.target];
    EXPECT_EQ(counts, expected_counts);
    const auto target = static_cast<std::uint32_t>(synapses[7].target);
    std::vector<std::uint64_t> positions(counts[target]);
    stored.find_onto(std::vector{target}, std::vector<std::uint64_t>{positions.size()}, positions);
    std::vector<Names> names;
    for (const std::uint64_t position : positions) {
        EXPECT_EQ(stored.target(position), target);
        for (const auto& [synapse, place] : found.positions()) {
            if (place == position) names.push_back(synapse);
        }
    }
    std::vector<Names> expected;
    for (const Synapse& synapse : synapses) {
        if (synapse.target == target) expected.emplace_back(synapse.source, synapse.target, synapse.delay);
    }
    EXPECT_EQ(names, expected);
}

// Blocks of up to 21 delays with 3,000 neurons, of 1 with 40,000; with 70,000, targets have 32 bits.
INSTANTIATE_TEST_SUITE_P(
    All, Layouts,
    testing::Combine(testing::Values(TableLayout::runs, TableLayout::ring, TableLayout::blocks),
                     testing::Values(Case{"OneDelay", 3000, 1, 1, 4}, Case{"OneLongDelay", 3000, 300, 300, 4},
                                     Case{"TwoBlocks", 3000, 1, 22, 1}, Case{"ManyBlocks", 3000, 2, 300, 8},
                                     Case{"OneBlock", 100, 3, 60, 4}, Case{"Full16Bits", 40'000, 1, 20, 4},
                                     Case{"Targets32Bits", 70'000, 1, 20, 16}, Case{"Double", 3000, 5, 64, 4, true},
                                     Case{"Wide", 3000, 1, 64, 4, false, true},
                                     Case{"WideDouble", 100, 1, 64, 2, true, true})),
    [](const auto& one) {
        return std::string(Choice<TableLayout>(std::get<0>(one.param)).name()) + std::get<1>(one.param).name;
    });

}  // namespace TEST_FILE
}  // namespace ranvier::connect
