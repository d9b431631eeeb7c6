#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "connect/tables/network_plan.hpp"
#include "connect/tables/table_builder.hpp"
#include "ranvier/base/errors.hpp"
#include "table_building.hpp"

namespace ranvier::connect {
namespace TEST_FILE {

using namespace table_building;

TEST(NetworkPlan, ListsTheKindsThatSynapsesCanBeOf) {
    const auto plan_of = [](std::vector<double> weights) {
        std::vector<Synapse> synapses;
        for (const double weight : weights) synapses.push_back({0, 0, weight, 1});
        return make_plan(synapses, 1, 0);
    };
    const KindChoice by_sign{.positive = {.receptor = 0}, .negative = {.receptor = 1}};
    const KindChoice other{.positive = {.receptor = 5, .synapse = 2}, .negative = {.receptor = 5, .synapse = 2}};
    const auto list = [&](std::vector<ProjectionPlan> plans, std::vector<KindChoice> choices) {
        return make_network_plan(std::move(plans), choices);
    };
    EXPECT_TRUE(list({}, {}).kinds.empty());
    EXPECT_EQ(list({}, {}).receptors(), 0u);
    EXPECT_EQ(list({plan_of({1.0, 0.0})}, {by_sign}).kinds, (std::vector<TableKind>{{0, 0}}));
    EXPECT_EQ(list({plan_of({-1.0})}, {by_sign}).kinds, (std::vector<TableKind>{{1, 0}}));
    const NetworkPlan network =
        list({plan_of({-1.0, 3.0}), plan_of({-1.0, 3.0}), plan_of({-1.0})}, {other, by_sign, by_sign});
    EXPECT_EQ(network.kinds, (std::vector<TableKind>{{0, 0}, {1, 0}, {5, 2}}));
    EXPECT_EQ(network.receptors(), 6u);
    const auto& [first, second, third] =
        std::tie(network.projections[0], network.projections[1], network.projections[2]);
    EXPECT_FALSE(first.kind_varies());
    EXPECT_EQ(first.kind_of(-1.0), KindIndex{2});
    EXPECT_TRUE(network.feeds_receptor(first, 5));
    EXPECT_FALSE(network.feeds_receptor(first, 2));
    EXPECT_TRUE(second.kind_varies());
    EXPECT_EQ(second.kind_of(-0.0), KindIndex{0});
    EXPECT_EQ(second.kind_of(-1.0), KindIndex{1});
    EXPECT_FALSE(third.feeds(KindIndex{0}));
    EXPECT_EQ(third.kind_of(1.0), KindIndex{1});
}

TEST(NetworkPlan, RefusesMoreKindsThanHandlesCanName) {
    const ProjectionPlan plan = make_plan({{0, 0, 1.0, 1}}, 1, 0);
    const auto list = [&](std::uint32_t count) {
        std::vector<KindChoice> choices;
        for (std::uint32_t synapse = 0; synapse < count; ++synapse) choices.push_back({{0, synapse}, {0, synapse}});
        return make_network_plan(std::vector(count, plan), choices);
    };
    EXPECT_EQ(list(most_kinds).kinds.size(), most_kinds);
    EXPECT_THROW(list(most_kinds + 1), ValueOutOfBoundsError);
}

/// Most synapses of a neuron, by receptor.
std::vector<std::uint64_t> most_inputs(const NetworkPlan& network, const std::vector<std::vector<Synapse>>& synapses,
                                       std::uint64_t neurons) {
    std::vector<std::uint64_t> most;
    for (std::uint32_t receptor = 0; receptor < network.receptors(); ++receptor) {
        std::vector<std::uint64_t> counts(neurons, 0);
        for (std::size_t i = 0; i < synapses.size(); ++i) {
            if (network.receptor(network.projections[i].positive_kind) != receptor) continue;
            for (const Synapse& synapse : synapses[i]) ++counts[synapse.target];
        }
        most.push_back(*std::ranges::max_element(counts));
    }
    return most;
}

/// As many kinds as there can be, half of them onto each of two receptors: each has a table of its own, and those of a
/// receptor count its inputs together.
TEST(Tables, OfManyKindsAreKeptApart) {
    constexpr std::uint64_t neurons = 20;
    std::vector<ProjectionPlan> plans;
    std::vector<KindChoice> choices;
    std::vector<std::vector<Synapse>> expected;
    for (std::uint32_t i = 0; i < most_kinds; ++i) {
        expected.push_back(random_synapses(neurons, 30, 5, i));
        plans.push_back(make_plan(expected.back(), neurons, i));
        const TableKind kind{.receptor = i % 2, .synapse = i};
        choices.push_back({kind, kind});
    }
    NetworkPlan network = make_network_plan(plans, choices);
    // None of them learns.
    network.dynamics.resize(most_kinds);
    for (const RowNumbering numbering : {RowNumbering::dense, RowNumbering::compact, RowNumbering::unsorted}) {
        for (const std::uint32_t shards : {1u, 3u}) {
            const Built built = build(network, Placement(neurons), shards, TableLayout::automatic, false, numbering);
            for (std::uint32_t i = 0; i < most_kinds; ++i) {
                const KindIndex kind = network.projections[i].positive_kind;
                EXPECT_EQ(network.kinds[kind.value], (TableKind{i % 2, i}));
                std::vector<Synapse> found;
                for (std::uint32_t shard = 0; shard < shards; ++shard) {
                    ASSERT_EQ(built.tables[shard].size(), most_kinds);
                    if (!built.tables[shard][kind.value]) continue;
                    append(*built.tables[shard][kind.value], built.layout->shard(shard), found);
                }
                std::ranges::sort(found);
                std::ranges::sort(expected[i]);
                EXPECT_EQ(found, expected[i]);
            }
            EXPECT_GT(built.most_inputs[0], 30u * most_kinds / 2 / neurons);
            EXPECT_EQ(built.most_inputs, most_inputs(network, expected, neurons));
        }
    }
}

}  // namespace TEST_FILE
}  // namespace ranvier::connect
