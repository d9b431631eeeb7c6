#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "device/backend/row_packing.hpp"
#include "device/backend/shared_plan.hpp"
#include "device/backend/tuning.hpp"
#include "device/kernel/block.hpp"
#include "device_networks.hpp"
#include "error_fields.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::device {
namespace TEST_FILE {

/// Rows of drawn lengths, one of them the longest, at two receptors with 5 and 3 inputs.
BlockRows drawn_rows(std::span<const Receptor> receptors, u32 count, u32 longest, std::mt19937_64& random) {
    const auto below = [&](u64 bound) { return static_cast<u32>(random() % bound); };
    BlockRows rows{.begin = {0}, .synapses = {}};
    const u32 long_row = below(count);
    for (u32 row = 0; row < count; ++row) {
        const u32 length = row == long_row ? longest : below(std::min(longest, 40U) + 1);
        for (u32 k = 0; k < length; ++k) {
            const Receptor& receptor = receptors[below(receptors.size())];
            const u32 delay = 1 + below(receptor.delays);
            rows.synapses.push_back({receptor.cell(delay, below(receptor.inputs)), static_cast<float>(below(1000))});
        }
        rows.begin.push_back(rows.synapses.size());
    }
    return rows;
}

using Cells = std::vector<std::pair<u32, float>>;

Cells cells_of(const BlockRows& rows, u64 begin, u64 end) {
    Cells cells;
    for (u64 s = begin; s < end; ++s) cells.emplace_back(rows.synapses[s].cell, rows.synapses[s].weight);
    std::ranges::sort(cells);
    return cells;
}

TEST(PackedRowsOfDevices, AreFoundWithTheirSynapses) {
    const std::vector<ReceptorImage> images{{.inputs = 5, .delays = 9}, {.inputs = 3, .delays = 20}};
    const std::vector<Receptor> receptors = numbered(images);
    std::mt19937_64 random(1);
    const std::vector<std::pair<u32, u32>> bits_of_lengths{{0, 8}, {255, 8}, {256, 16}, {65'535, 16}, {65'536, 0}};
    for (const auto& [longest, bits] : bits_of_lengths) {
        for (const u32 count : {1U, 14U, 27U, 28U, 29U, 300U}) {
            const BlockRows given = drawn_rows(receptors, count, longest, random);
            for (const bool may_split : {false, true}) {
                BlockRows rows = given;
                const PackedRows packed = pack_rows(rows, images, may_split);
                EXPECT_EQ(packed.length_bits, bits);
                EXPECT_TRUE(may_split || !packed.is_split);
                const RowTable table{packed.words.data(), packed.length_bits};
                for (u32 row = 0; row < count; ++row) {
                    const Row found = table.find(row);
                    ASSERT_EQ(found.begin, given.begin[row]);
                    ASSERT_EQ(found.count, given.begin[row + 1] - given.begin[row]);
                    ASSERT_EQ(cells_of(rows, given.begin[row], given.begin[row + 1]),
                              cells_of(given, given.begin[row], given.begin[row + 1]));
                }
            }
        }
    }
}

TEST(PackedRowsOfDevices, BeginWithShortDelays) {
    const std::vector<ReceptorImage> images{{.inputs = 5, .delays = 30}, {.inputs = 3, .delays = 60}};
    const std::vector<Receptor> receptors = numbered(images);
    std::mt19937_64 random(2);
    const auto is_urgent = [&](const Synapse& synapse) {
        return synapse.cell < 5 ||
               (synapse.cell >= receptors[1].first_cell && synapse.cell < receptors[1].first_cell + 3);
    };
    BlockRows rows = drawn_rows(receptors, 200, 40, random);
    const PackedRows packed = pack_rows(rows, images, true);
    ASSERT_TRUE(packed.is_split);
    u32 most = 0;
    for (u32 row = 0; row < 200; ++row) {
        u32 count = 0;
        bool has_ended = false;
        for (u64 s = rows.begin[row]; s < rows.begin[row + 1]; ++s) {
            EXPECT_FALSE(is_urgent(rows.synapses[s]) && has_ended);
            has_ended = has_ended || !is_urgent(rows.synapses[s]);
            count += is_urgent(rows.synapses[s]);
        }
        most = std::max(most, count);
    }
    EXPECT_GT(most, 1U);
    EXPECT_GE(1U << packed.urgent_bits, most);
    EXPECT_LT(1U << packed.urgent_bits, 2 * most);
    // All have a delay of one step.
    const std::vector<ReceptorImage> short_delays{{.inputs = 5, .delays = 1}};
    BlockRows urgent = drawn_rows(numbered(short_delays), 20, 10, random);
    EXPECT_FALSE(pack_rows(urgent, short_delays, true).is_split);
}

/// A block of 585 neurons of the microcircuit: excitatory delays of 1.5 ms, inhibitory ones of 0.75 ms, both with a standard
/// deviation of half the mean.
BlockImage microcircuit_block() {
    BlockImage block{.neurons = 585, .slots = 66, .variables = 3, .receptors = {}, .groups = {}};
    for (const auto& [mean, greatest] : {std::pair{15.0, 64U}, {7.5, 34U}}) {
        ReceptorImage receptor{.inputs = 585, .delays = greatest, .delay_counts = std::vector<u32>(greatest + 1, 0)};
        for (u32 delay = 1; delay <= greatest; ++delay) {
            const double deviation = (delay - mean) / (0.5 * mean);
            receptor.delay_counts[delay] = static_cast<u32>(1e5 * std::exp(-0.5 * deviation * deviation));
        }
        block.receptors.push_back(receptor);
    }
    return block;
}

void expect_apart(const SharedPlan& plan, const BlockImage& block) {
    u64 sums = 0;
    for (std::size_t r = 0; r < block.receptors.size(); ++r) {
        const Receptor& receptor = plan.receptors[r];
        EXPECT_EQ(receptor.first_near, sums);
        EXPECT_LE(receptor.near, receptor.delays);
        sums += u64{receptor.near} * receptor.inputs;
    }
    EXPECT_GE(plan.places.low, plan.places.arrivals + sizeof(Row));
    EXPECT_GE(plan.places.high, plan.places.low + sums * sizeof(u32));
    EXPECT_GE(plan.places.flags, plan.places.high + sums * sizeof(u32));
    EXPECT_GE(plan.places.bytes, plan.places.flags + plan.places.flag_words * sizeof(u32));
}

TEST(SharedPlans, HaveTheSumsOfSoManyStepsAsHaveRoom) {
    const BlockImage block = microcircuit_block();
    const std::vector<DeviceProgram> programs{simple_program()};
    const auto plan = [&](u32 bytes) {
        const SharedPlan made = plan_shared(block, programs, 132, {.bytes = bytes, .has_registers = true});
        EXPECT_LE(made.places.bytes, bytes);
        expect_apart(made, block);
        return made;
    };
    // Of H100, A100, and a device of sm_75.
    const SharedPlan large = plan(227 * 1024);
    EXPECT_GE(large.receptors[0].near, 28U);
    EXPECT_GE(large.receptors[1].near, 12U);
    EXPECT_GE(large.receptors[0].near + large.receptors[1].near, 44U);
    EXPECT_TRUE(large.receptors[0].has_flags());
    const SharedPlan middle = plan(163 * 1024);
    EXPECT_LT(middle.receptors[0].near, large.receptors[0].near);
    EXPECT_GT(plan(64 * 1024).receptors[0].near, 5U);
    // All, without flags.
    const SharedNeed need = shared_need(block, programs, 132, 512);
    const SharedPlan all = plan(static_cast<u32>(need.most));
    EXPECT_EQ(all.receptors[0].near, 64U);
    EXPECT_EQ(all.receptors[1].near, 34U);
    EXPECT_EQ(all.places.flag_words, 0U);
    const SharedPlan none = plan(need.least);
    EXPECT_EQ(none.receptors[0].near + none.receptors[1].near, 0U);
    fields_of<StateError>([&] { plan(need.least - 1); }, {"shared memory", "fewer blocks"});
}

TEST(SharedPlans, HaveTheStateOfNeuronsThatThreadsDoNotKeep) {
    const BlockImage block = microcircuit_block();
    const std::vector<DeviceProgram> programs{simple_program()};
    const SharedPlan kept = plan_shared(block, programs, 132, {.bytes = 100'000, .has_registers = true});
    const SharedPlan shared = plan_shared(block, programs, 132, {.bytes = 100'000, .has_registers = false});
    EXPECT_EQ(kept.places.state, 0U);
    EXPECT_GT(shared.places.state, 0U);
    EXPECT_GE(shared.places.refractory, shared.places.state + 3 * 585 * sizeof(double));
    EXPECT_GE(shared.places.low, shared.places.refractory + 585 * sizeof(i32));
    EXPECT_LT(shared.receptors[0].near, kept.receptors[0].near);
    const u32 little = shared_need(block, programs, 132, 512).least + 1000;
    EXPECT_EQ(plan_shared(block, programs, 132, {.bytes = little, .has_registers = false}).places.state, 0U);
}

TEST(DeviceTuning, IsRead) {
    const Tuning nothing = read_tuning("");
    EXPECT_FALSE(nothing.threads || nothing.shared_bytes || nothing.has_registers || nothing.may_split);
    const Tuning tuning = read_tuning("threads=96,shared=0,registers=0,split=1,clocks=a/b=c");
    EXPECT_EQ(tuning.threads, 96U);
    EXPECT_EQ(tuning.shared_bytes, 0U);
    EXPECT_EQ(tuning.has_registers, false);
    EXPECT_EQ(tuning.may_split, true);
    EXPECT_EQ(tuning.clocks, "a/b=c");
    fields_of<UnknownNameError>([] { read_tuning("thread=96"); }, {"RANVIER_DEVICE_TUNING", "thread", "threads"});
    fields_of<ValueOutOfBoundsError>([] { read_tuning("threads=1025"); }, {"threads=1025", "1024"});
    fields_of<ValueOutOfBoundsError>([] { read_tuning("split=yes"); }, {"split=yes", "1"});
    fields_of<ValueOutOfBoundsError>([] { read_tuning("shared="); }, {"shared="});
    fields_of<StateError>([] { write_clocks("/nowhere/clocks.txt", std::vector<u64>(part_count), 1); },
                          {"/nowhere/clocks.txt", "cannot be written"});
}

}  // namespace TEST_FILE
}  // namespace ranvier::device
