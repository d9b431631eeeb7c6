#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "connect/tables/source_containers.hpp"

namespace ranvier::connect {
namespace {

TEST(SourceContainers, CapacityIsExactForFewSynapsesThenDoubles) {
    const std::vector<std::uint64_t> expected{0, 1, 2, 3, 4, 8, 8, 8, 8, 16};
    for (std::uint64_t synapses = 0; synapses < expected.size(); ++synapses) {
        EXPECT_EQ(container_capacity(synapses), expected[synapses]) << synapses;
    }
}

template <class Weight>
class SourceContainersOf : public testing::Test {};
using Weights = testing::Types<float, double>;
TYPED_TEST_SUITE(SourceContainersOf, Weights);

TYPED_TEST(SourceContainersOf, HoldWhatWasAddedInTheOrderOfRowsThenOfAdding) {
    using Weight = TypeParam;
    // The last group is not full; its last possible source occurs.
    constexpr std::uint32_t possible = 1000;
    constexpr std::size_t parameters = 2;
    SourceContainers<Weight> containers(possible, parameters);
    using Entry = std::tuple<Weight, std::uint32_t, std::uint16_t, std::uint16_t, Weight, Weight>;
    std::map<std::uint32_t, std::vector<Entry>> expected;
    std::mt19937 random(1);
    for (std::uint16_t tag = 0; tag < 40; ++tag) {
        const std::size_t count = random() % 200;
        // Half of the rows are among few, so that containers have from one to hundreds of synapses.
        std::vector<std::uint32_t> rows(count);
        std::vector<std::uint32_t> targets(count);
        std::vector<double> weights(count);
        std::vector<std::uint16_t> delays(count);
        std::vector<double> values(parameters * count);
        for (std::size_t i = 0; i < count; ++i) {
            rows[i] = static_cast<std::uint32_t>(random() % 2 == 0 ? possible - 1 - random() % 5 : random() % possible);
            targets[i] = static_cast<std::uint32_t>(random());
            weights[i] = static_cast<float>(random());
            delays[i] = static_cast<std::uint16_t>(random());
            values[i] = static_cast<float>(random());
            values[count + i] = static_cast<float>(random());
            expected[rows[i]].push_back({static_cast<Weight>(weights[i]), targets[i], delays[i], tag,
                                         static_cast<Weight>(values[i]), static_cast<Weight>(values[count + i])});
        }
        containers.add(SynapseBatch{.rows = rows.data(),
                                    .targets = targets.data(),
                                    .weights = weights.data(),
                                    .delays = delays.data(),
                                    .parameters = values.data(),
                                    .stride = count,
                                    .count = count,
                                    .tag = tag});
    }
    std::vector<std::pair<std::uint32_t, Entry>> listed;
    containers.for_each([&](std::uint32_t row, const auto& synapse, std::span<const Weight> of_synapse) {
        ASSERT_EQ(of_synapse.size(), parameters);
        listed.push_back(
            {row, {synapse.weight, synapse.target, synapse.delay, synapse.tag, of_synapse[0], of_synapse[1]}});
    });
    std::vector<std::pair<std::uint32_t, Entry>> in_order;
    for (const auto& [row, entries] : expected) {
        for (const Entry& entry : entries) in_order.push_back({row, entry});
    }
    EXPECT_EQ(listed, in_order);
}

}  // namespace
}  // namespace ranvier::connect
