#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "error_fields.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/parallel/pinning.hpp"
#include "ranvier/parallel/topology.hpp"

// The expected places are written by hand after algorithms 2 and 3 of Morgenstern et al. (2020). On the synthetic machines
// the two units of core k are 2 k and 2 k + 1.

namespace ranvier::parallel {
namespace TEST_FILE {

/// So many processors, one after another at a distance.
struct Run {
    int first;
    int count;
    int distance = 2;
};

/// What a policy gives: the processors of the threads on each node in turn.
struct Assignment {
    std::uint32_t threads;
    std::vector<std::vector<Run>> nodes;
};

std::vector<Place> to_places(const std::vector<std::vector<Run>>& nodes) {
    std::vector<Place> places;
    for (std::uint32_t node = 0; node < nodes.size(); ++node) {
        for (const Run& run : nodes[node]) {
            for (int i = 0; i < run.count; ++i) {
                places.push_back({.processor = run.first + i * run.distance, .node = node});
            }
        }
    }
    return places;
}

std::string print(const std::vector<Place>& places) {
    std::string text;
    for (const Place& place : places) text += std::to_string(place.node) + ":" + std::to_string(place.processor) + " ";
    return text;
}

void expect_table(const Topology& topology, PinningPolicy policy, const std::vector<Assignment>& table) {
    for (const auto& [threads, nodes] : table) {
        const std::vector<Place> expected = to_places(nodes);
        ASSERT_EQ(expected.size(), threads);
        EXPECT_EQ(print(place_threads(topology, threads, {.policy = policy})), print(expected))
            << threads << " threads, " << to_string(policy);
    }
}

TEST(Pinning, EqualOnTwoNodesOfTwelveCores) {
    expect_table(Topology::synthetic("node:2 core:12 pu:2"), PinningPolicy::equal,
                 {
                     {1, {{{0, 1}}, {}}},
                     {2, {{{0, 1}}, {{24, 1}}}},
                     {3, {{{0, 2}}, {{24, 1}}}},
                     {5, {{{0, 3}}, {{24, 2}}}},
                     {12, {{{0, 6}}, {{24, 6}}}},
                     {23, {{{0, 12}}, {{24, 11}}}},
                     {24, {{{0, 12}}, {{24, 12}}}},
                     {25, {{{0, 12}, {1, 1}}, {{24, 12}}}},
                     {47, {{{0, 12}, {1, 12}}, {{24, 12}, {25, 11}}}},
                     {48, {{{0, 12}, {1, 12}}, {{24, 12}, {25, 12}}}},
                     {51, {{{0, 12}, {1, 12}, {0, 2}}, {{24, 12}, {25, 12}, {24, 1}}}},
                 });
}

TEST(Pinning, AutomaticWhereEachHasAUnitOrACore) {
    // Unequal nodes, where equal pinning would put two threads on one unit.
    const Topology machine =
        Topology::synthetic("node:2 core:3 pu:2").restricted(std::vector{0, 1, 2, 6, 8, 9, 10, 11});
    const auto processors = [&](std::uint32_t threads) {
        std::vector<int> of_threads;
        for (const Place& place : place_threads(machine, threads, parse_pinning("auto"))) {
            of_threads.push_back(place.processor);
            const std::uint32_t node = place.processor >= 6 ? 1 : 0;
            EXPECT_EQ(place.node, node);
        }
        return of_threads;
    };
    EXPECT_EQ(processors(8), (std::vector{0, 1, 2, 6, 8, 9, 10, 11}));
    EXPECT_EQ(processors(5), (std::vector{0, 2, 6, 8, 10}));
    for (const std::uint32_t threads : {1U, 4U, 7U, 9U}) EXPECT_EQ(processors(threads), std::vector<int>(threads, -1));
}

TEST(Pinning, CompactOnTwoNodesOfTwelveCores) {
    expect_table(Topology::synthetic("node:2 core:12 pu:2"), PinningPolicy::compact,
                 {
                     {1, {{{0, 1}}, {}}},
                     {5, {{{0, 5}}, {}}},
                     {12, {{{0, 12}}, {}}},
                     {13, {{{0, 12}}, {{24, 1}}}},
                     {23, {{{0, 12}}, {{24, 11}}}},
                     // All cores are in use: equal pinning.
                     {24, {{{0, 12}}, {{24, 12}}}},
                     {25, {{{0, 12}, {1, 1}}, {{24, 12}}}},
                     {26, {{{0, 12}, {1, 1}}, {{24, 12}, {25, 1}}}},
                     {48, {{{0, 12}, {1, 12}}, {{24, 12}, {25, 12}}}},
                     {49, {{{0, 12}, {1, 12}, {0, 1}}, {{24, 12}, {25, 12}}}},
                 });
}

TEST(Pinning, EqualOnFourNodesOfFourteenCores) {
    expect_table(
        Topology::synthetic("node:4 core:14 pu:2"), PinningPolicy::equal,
        {
            {3, {{{0, 1}}, {{28, 1}}, {{56, 1}}, {}}},
            {4, {{{0, 1}}, {{28, 1}}, {{56, 1}}, {{84, 1}}}},
            {6, {{{0, 2}}, {{28, 2}}, {{56, 1}}, {{84, 1}}}},
            {56, {{{0, 14}}, {{28, 14}}, {{56, 14}}, {{84, 14}}}},
            {57, {{{0, 14}, {1, 1}}, {{28, 14}}, {{56, 14}}, {{84, 14}}}},
            {59, {{{0, 14}, {1, 1}}, {{28, 14}, {29, 1}}, {{56, 14}, {57, 1}}, {{84, 14}}}},
            {113, {{{0, 14}, {1, 14}, {0, 1}}, {{28, 14}, {29, 14}}, {{56, 14}, {57, 14}}, {{84, 14}, {85, 14}}}},
        });
}

TEST(Pinning, CompactOnFourNodesOfFourteenCores) {
    expect_table(Topology::synthetic("node:4 core:14 pu:2"), PinningPolicy::compact,
                 {
                     {3, {{{0, 3}}, {}, {}, {}}},
                     {14, {{{0, 14}}, {}, {}, {}}},
                     {15, {{{0, 14}}, {{28, 1}}, {}, {}}},
                     {30, {{{0, 14}}, {{28, 14}}, {{56, 2}}, {}}},
                     {55, {{{0, 14}}, {{28, 14}}, {{56, 14}}, {{84, 13}}}},
                     {56, {{{0, 14}}, {{28, 14}}, {{56, 14}}, {{84, 14}}}},
                     {58, {{{0, 14}, {1, 1}}, {{28, 14}, {29, 1}}, {{56, 14}}, {{84, 14}}}},
                 });
}

/// Eight nodes with 6, 4, 2, 1, 5, 3, 6 and 2 cores of two units: 29 cores. Node k begins with processor 12 k.
Topology unequal_nodes() {
    std::vector<int> processors;
    const std::vector<int> cores{6, 4, 2, 1, 5, 3, 6, 2};
    for (int node = 0; node < 8; ++node) {
        for (int unit = 0; unit < 2 * cores[static_cast<std::size_t>(node)]; ++unit) {
            processors.push_back(12 * node + unit);
        }
    }
    return Topology::synthetic("node:8 core:6 pu:2").restricted(processors);
}

TEST(Pinning, EqualOnEightUnequalNodes) {
    ASSERT_EQ(unequal_nodes().core_count(), 29u);
    // Equal pinning counts nodes, not cores: small nodes share their cores while large ones have some to spare.
    expect_table(unequal_nodes(), PinningPolicy::equal,
                 {
                     {3, {{{0, 1}}, {{12, 1}}, {{24, 1}}, {}, {}, {}, {}, {}}},
                     {8, {{{0, 1}}, {{12, 1}}, {{24, 1}}, {{36, 1}}, {{48, 1}}, {{60, 1}}, {{72, 1}}, {{84, 1}}}},
                     {10, {{{0, 2}}, {{12, 2}}, {{24, 1}}, {{36, 1}}, {{48, 1}}, {{60, 1}}, {{72, 1}}, {{84, 1}}}},
                     {29,
                      {{{0, 4}},
                       {{12, 4}},
                       {{24, 2}, {25, 2}},
                       {{36, 1}, {37, 1}, {36, 1}, {37, 1}},
                       {{48, 4}},
                       {{60, 3}},
                       {{72, 3}},
                       {{84, 2}, {85, 1}}}},
                     {64,
                      {{{0, 6}, {1, 2}},
                       {{12, 4}, {13, 4}},
                       {{24, 2}, {25, 2}, {24, 2}, {25, 2}},
                       {{36, 2, 1}, {36, 2, 1}, {36, 2, 1}, {36, 2, 1}},
                       {{48, 5}, {49, 3}},
                       {{60, 3}, {61, 3}, {60, 2}},
                       {{72, 6}, {73, 2}},
                       {{84, 2}, {85, 2}, {84, 2}, {85, 2}}}},
                 });
}

TEST(Pinning, CompactOnEightUnequalNodes) {
    expect_table(unequal_nodes(), PinningPolicy::compact,
                 {
                     {3, {{{0, 3}}, {}, {}, {}, {}, {}, {}, {}}},
                     {7, {{{0, 6}}, {{12, 1}}, {}, {}, {}, {}, {}, {}}},
                     {13, {{{0, 6}}, {{12, 4}}, {{24, 2}}, {{36, 1}}, {}, {}, {}, {}}},
                     {28, {{{0, 6}}, {{12, 4}}, {{24, 2}}, {{36, 1}}, {{48, 5}}, {{60, 3}}, {{72, 6}}, {{84, 1}}}},
                     // t = c + 1 = 30: equal, with the remainder on nodes 0 to 5.
                     {30,
                      {{{0, 4}},
                       {{12, 4}},
                       {{24, 2}, {25, 2}},
                       {{36, 2, 1}, {36, 2, 1}},
                       {{48, 4}},
                       {{60, 3}, {61, 1}},
                       {{72, 3}},
                       {{84, 2}, {85, 1}}}},
                 });
}

TEST(Pinning, OfOneCore) {
    for (const PinningPolicy policy : {PinningPolicy::equal, PinningPolicy::compact}) {
        expect_table(Topology::synthetic("core:1 pu:1"), policy, {{1, {{{0, 1}}}}, {3, {{{0, 3, 0}}}}});
        expect_table(Topology::synthetic("core:1 pu:2"), policy,
                     {{1, {{{0, 1}}}}, {2, {{{0, 2, 1}}}}, {3, {{{0, 2, 1}, {0, 1}}}}});
    }
}

TEST(Pinning, InAGroupOfThreeUnits) {
    // The last core of the first node and half of the first core of the second one.
    const Topology group = Topology::synthetic("node:2 core:12 pu:2").restricted(std::vector{22, 23, 24});
    for (const PinningPolicy policy : {PinningPolicy::equal, PinningPolicy::compact}) {
        expect_table(group, policy,
                     {
                         {1, {{{22, 1}}, {}}},
                         {2, {{{22, 1}}, {{24, 1}}}},
                         {3, {{{22, 2, 1}}, {{24, 1}}}},
                         {4, {{{22, 2, 1}}, {{24, 2, 0}}}},
                         {5, {{{22, 2, 1}, {22, 1}}, {{24, 2, 0}}}},
                     });
    }
    // Three hardware threads of two cores of one node.
    const Topology small = Topology::synthetic("node:2 core:12 pu:2").restricted(std::vector{4, 5, 7});
    expect_table(small, PinningPolicy::equal, {{2, {{{4, 1}, {7, 1}}}}, {3, {{{4, 1}, {7, 1}, {5, 1}}}}});
}

TEST(Pinning, TakesCoresInTheOrderOfTheirPhysicalIds) {
    // The first node lists cores 2, 0, 1, the second 5, 4, 3.
    const Topology topology = Topology::synthetic("node:2 core:3(indexes=2,0,1,5,4,3) pu:2");
    expect_table(topology, PinningPolicy::compact, {{5, {{{2, 2}, {0, 1}}, {{10, 1}, {8, 1}}}}});
    // Linux usually counts the second hardware threads after all the first ones.
    const Topology linux_numbers = Topology::synthetic("node:2 core:3 pu:2(indexes=2*6:1*2)");
    expect_table(linux_numbers, PinningPolicy::equal, {{8, {{{0, 3, 1}, {6, 1}}, {{3, 3, 1}, {9, 1}}}}});
}

TEST(Pinning, LeavesNodesWithoutCoresAlone) {
    const Topology topology = Topology::synthetic("pack:2 [numa] [numa(memory=1GB)] core:2 pu:1");
    ASSERT_EQ(topology.nodes().size(), 4u);
    expect_table(topology, PinningPolicy::equal, {{4, {{{0, 2, 1}}, {{2, 2, 1}}}}});
    expect_table(topology, PinningPolicy::compact, {{3, {{{0, 2, 1}}, {{2, 1}}}}});
}

TEST(Pinning, NonePinsNothing) {
    const Topology topology = Topology::synthetic("node:2 core:2 pu:1");
    EXPECT_EQ(place_threads(topology, 3, {.policy = PinningPolicy::none}), std::vector<Place>(3));
    EXPECT_EQ(Place{}.processor, -1);
}

TEST(Pinning, FollowsAList) {
    const Topology topology = Topology::synthetic("node:2 core:2 pu:2");
    const std::vector<Place> expected{{7, 1}, {0, 0}, {0, 0}};
    EXPECT_EQ(place_threads(topology, 3, parse_pinning("7,0,0")), expected);
}

TEST(Pinning, RefusesWrongLists) {
    const Topology topology = Topology::synthetic("node:2 core:2 pu:2");
    const auto place = [&](std::uint32_t threads, std::vector<int> processors) {
        static_cast<void>(place_threads(topology, threads, {PinningPolicy::list, std::move(processors)}));
    };
    EXPECT_EQ(fields_of<ShapeError>([&] { place(2, {0, 1, 2}); }).value, "3 processors");
    EXPECT_EQ(fields_of<ShapeError>([&] { place(1, {}); }).bound, "there is 1 thread");
    EXPECT_EQ(fields_of<ValueOutOfBoundsError>([&] { place(2, {0, 8}); }).value, "8");
    EXPECT_EQ(fields_of<ValueOutOfBoundsError>([&] { place(1, {-1}); }).bound, "processors are numbered from 0");
}

TEST(Pinning, IsNamed) {
    EXPECT_EQ(parse_pinning("equal"), (Pinning{.policy = PinningPolicy::equal}));
    EXPECT_EQ(parse_pinning("compact"), (Pinning{.policy = PinningPolicy::compact}));
    EXPECT_EQ(parse_pinning("none"), (Pinning{.policy = PinningPolicy::none}));
    EXPECT_EQ(parse_pinning("3"), (Pinning{PinningPolicy::list, {3}}));
    EXPECT_EQ(parse_pinning("0,2,4-7,2"), (Pinning{PinningPolicy::list, {0, 2, 4, 5, 6, 7, 2}}));
    for (const auto policy : {PinningPolicy::equal, PinningPolicy::compact, PinningPolicy::none}) {
        EXPECT_EQ(parse_pinning(to_string(policy)).policy, policy);
    }
    EXPECT_NE(fields_of<UnknownNameError>([] { parse_pinning("compct"); }).remedy.find("'compact'"), std::string::npos);
    for (const std::string text : {"", "list", "0,x", "Equal"}) {
        EXPECT_EQ(fields_of<UnknownNameError>([&] { parse_pinning(text); }).value, "'" + text + "'");
    }
    for (const std::string text : {"-1", "0,-2", "3-1", "1-", "0,,1", "0,", "1--2", "9999999", "99999999999", "1 2"}) {
        EXPECT_EQ(fields_of<ValueOutOfBoundsError>([&] { parse_pinning(text); }).object,
                  "list of processors to pin to");
    }
}

TEST(Occupancy, CountsThreadsOnUnitsAndCores) {
    const Topology topology = Topology::synthetic("node:2 core:3 pu:2");
    const auto count = [&](const std::string& pinning, std::uint32_t threads) {
        const Occupancy found = occupancy(topology, place_threads(topology, threads, parse_pinning(pinning)));
        return std::vector<std::uint32_t>{found.most_on_core, found.most_on_unit};
    };
    using Counts = std::vector<std::uint32_t>;
    EXPECT_EQ(count("equal", 6), (Counts{1, 1}));
    EXPECT_EQ(count("equal", 7), (Counts{2, 1}));
    EXPECT_EQ(count("compact", 12), (Counts{2, 1}));
    EXPECT_EQ(count("compact", 13), (Counts{3, 2}));
    EXPECT_EQ(count("0,1", 2), (Counts{2, 1}));
    EXPECT_EQ(count("0,0,2", 3), (Counts{2, 2}));
    // The scheduler spreads threads that are not pinned.
    EXPECT_EQ(count("none", 6), (Counts{1, 1}));
    EXPECT_EQ(count("none", 8), (Counts{2, 1}));
    EXPECT_EQ(count("none", 13), (Counts{3, 2}));
    EXPECT_EQ(occupancy(topology, {}).most_on_unit, 0u);

    const Occupancy hardware_threads = occupancy(topology, place_threads(topology, 7, {}));
    EXPECT_TRUE(hardware_threads.shares_cores());
    EXPECT_FALSE(hardware_threads.shares_units());
    EXPECT_TRUE(occupancy(topology, place_threads(topology, 13, {})).shares_units());
    EXPECT_FALSE(occupancy(topology, place_threads(topology, 6, {})).shares_cores());
}

}  // namespace TEST_FILE
}  // namespace ranvier::parallel
