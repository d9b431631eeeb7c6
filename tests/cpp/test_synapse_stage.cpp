#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "connect/tables/synapse_stage.hpp"

namespace ranvier::connect {
namespace TEST_FILE {

using Values = std::tuple<std::uint32_t, double, std::uint16_t>;

class SynapseStageTest : public testing::TestWithParam<std::uint64_t> {};

TEST_P(SynapseStageTest, PassesAllSynapsesOfARowInOrder) {
    const std::uint64_t rows = GetParam();
    constexpr std::uint32_t first_row = 77;
    constexpr std::size_t count = 300'000;
    std::mt19937 random(3);
    std::vector<std::uint32_t> row(count);
    std::vector<std::uint32_t> targets(count);
    std::vector<double> weights(count);
    std::vector<std::uint16_t> delays(count);
    std::map<std::uint32_t, std::vector<Values>> expected;
    for (std::size_t i = 0; i < count; ++i) {
        // Some ranges of rows are filled more often than others.
        const auto place = static_cast<std::uint32_t>(std::min(random() % rows, random() % rows));
        row[i] = first_row + (i == 0 ? static_cast<std::uint32_t>(rows - 1) : place);
        targets[i] = static_cast<std::uint32_t>(random());
        weights[i] = static_cast<float>(random());
        delays[i] = static_cast<std::uint16_t>(random());
        expected[row[i]].emplace_back(targets[i], weights[i], delays[i]);
    }
    std::map<std::uint32_t, std::vector<Values>> passed;
    std::size_t calls = 0;
    const auto pass = [&](const StagedBatch& batch) {
        ++calls;
        EXPECT_EQ(batch.tag, 9);
        for (std::size_t i = 0; i < batch.count; ++i) {
            passed[batch.row(i)].emplace_back(batch.target(i), batch.weight(i), batch.delay(i));
        }
    };
    SynapseStage stage;
    for (int turn = 0; turn < 2; ++turn) {
        passed.clear();
        calls = 0;
        stage.begin(first_row, rows);
        constexpr std::size_t batch = 7000;
        for (std::size_t begin = 0; begin < count; begin += batch) {
            stage.add({.rows = row.data() + begin,
                       .targets = targets.data() + begin,
                       .weights = weights.data() + begin,
                       .delays = delays.data() + begin,
                       .count = std::min(batch, count - begin),
                       .tag = 9},
                      pass);
        }
        stage.finish(pass);
        EXPECT_EQ(passed, expected) << turn;
        // Synapses are passed on together.
        EXPECT_LT(calls, count / 500);
    }
}

INSTANTIATE_TEST_SUITE_P(Rows, SynapseStageTest, testing::Values(1, 1024, 1025, 20'683, 100'000));

}  // namespace TEST_FILE
}  // namespace ranvier::connect
