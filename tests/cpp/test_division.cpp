#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "error_fields.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/parallel/tasks/division.hpp"

namespace ranvier::parallel {
namespace TEST_FILE {

using Numbers = std::vector<std::uint32_t>;
using Costs = std::vector<std::uint64_t>;

TEST(DivisionByCost, GivesEqualCostsNotEqualNumbers) {
    EXPECT_EQ(divide_by_cost(Costs{1, 1, 1, 1}, Costs{1, 1}), (Numbers{0, 0, 1, 1}));
    EXPECT_EQ(divide_by_cost(Costs{3, 1, 1, 1}, Costs{1, 1}), (Numbers{0, 1, 1, 1}));
    EXPECT_EQ(divide_by_cost(Costs{1, 1, 1, 1, 4}, Costs{1, 1}), (Numbers{0, 0, 0, 0, 1}));
    EXPECT_EQ(divide_by_cost(Costs{}, Costs{1, 1}), Numbers{});
    // In proportion to the shares; a part without share gets nothing.
    EXPECT_EQ(divide_by_cost(Costs{1, 1, 1, 1}, Costs{3, 1}), (Numbers{0, 0, 0, 1}));
    EXPECT_EQ(divide_by_cost(Costs{1, 1, 1, 1, 0}, Costs{0, 1, 0, 1, 0}), (Numbers{1, 1, 3, 3, 3}));
    // Tasks that cost nothing.
    EXPECT_EQ(divide_by_cost(Costs{0, 0, 0, 0}, Costs{1, 1}), (Numbers{0, 0, 1, 1}));
}

/// A random tree in which each task has an earlier one as parent, with a few very expensive tasks.
struct RandomTree {
    Numbers parents{no_parent};
    Costs costs{1};

    explicit RandomTree(unsigned seed) {
        std::mt19937 engine(seed);
        const auto random = [&] { return static_cast<std::uint32_t>(engine()); };
        const std::uint32_t count = 200 + random() % 2000;
        for (std::uint32_t task = 1; task < count; ++task) {
            // Chains, bushes, and what is in between.
            const std::uint32_t width = 1 + random() % task;
            parents.push_back(task - 1 - random() % width);
            costs.push_back(random() % 50 == 0 ? random() % 10'000 : random() % 100);
        }
    }
};

TEST(DivisionByCost, DiffersFromTheSharesByOneTaskAtMost) {
    for (unsigned seed = 0; seed < 30; ++seed) {
        const RandomTree tree(seed);
        const double total = static_cast<double>(std::accumulate(tree.costs.begin(), tree.costs.end(), 0UL));
        const double most = static_cast<double>(*std::ranges::max_element(tree.costs));
        for (const Costs& shares : {Costs{1, 1}, Costs{1, 1, 1, 1}, Costs{12, 3, 1}, Costs(17, 5)}) {
            const double all = static_cast<double>(std::accumulate(shares.begin(), shares.end(), 0UL));
            const Numbers parts = divide_tree_by_cost(tree.parents, tree.costs, shares);
            const Costs found = costs_of_parts(tree.costs, parts, static_cast<std::uint32_t>(shares.size()));
            for (std::size_t part = 0; part < shares.size(); ++part) {
                const double expected = total * static_cast<double>(shares[part]) / all;
                EXPECT_NEAR(static_cast<double>(found[part]), expected, most) << seed;
            }
        }
    }
}

TEST(DivisionByCost, LeavesFewTasksApartFromTheirParents) {
    for (unsigned seed = 0; seed < 30; ++seed) {
        const RandomTree tree(seed);
        std::uint32_t deepest = 0;
        Numbers depth(tree.parents.size(), 0);
        for (std::uint32_t task = 1; task < depth.size(); ++task) {
            depth[task] = depth[tree.parents[task]] + 1;
            deepest = std::max(deepest, depth[task]);
        }
        const Numbers parts = divide_tree_by_cost(tree.parents, tree.costs, Costs{1, 1, 1});
        // A task and its parent are in different parts if the order between them crosses a border: on the path above it.
        std::vector<std::vector<std::uint32_t>> apart(3);
        for (std::uint32_t task = 1; task < parts.size(); ++task) {
            EXPECT_LE(parts[task], parts[tree.parents[task]]);
            for (std::uint32_t border = parts[task]; border < parts[tree.parents[task]]; ++border) {
                apart[border].push_back(tree.parents[task]);
            }
        }
        for (std::vector<std::uint32_t>& parents : apart) {
            std::ranges::sort(parents);
            const auto repeated = std::ranges::unique(parents);
            parents.erase(repeated.begin(), repeated.end());
            EXPECT_LE(parents.size(), deepest);
        }
    }
}

TEST(DivisionByCost, BalancesATreeThatGrowsToOneSide) {
    // Level by level with equal numbers, as in the paper, and by cost: task i has the children 2 i + 1 and 2 i + 2, and
    // costs more the further right it is.
    constexpr std::uint32_t levels = 10;
    constexpr std::uint32_t count = (1U << levels) - 1;
    Numbers parents{no_parent};
    Costs costs{1};
    Numbers by_number{0};
    for (std::uint32_t level = 1; level < levels; ++level) {
        for (std::uint32_t place = 0; place < 1U << level; ++place) {
            parents.push_back(((1U << level) - 2 + place) / 2);
            costs.push_back(level + 1 == levels ? 1 + 4 * place : 1);
            by_number.push_back(place * 4 >> level);
        }
    }
    ASSERT_EQ(parents.size(), count);
    const auto greatest = [&](const Numbers& parts) {
        return static_cast<double>(std::ranges::max(costs_of_parts(costs, parts, 4)));
    };
    const double mean = static_cast<double>(std::accumulate(costs.begin(), costs.end(), 0UL)) / 4.0;
    EXPECT_GT(greatest(by_number), 1.7 * mean);
    EXPECT_LT(greatest(divide_tree_by_cost(parents, costs, Costs{1, 1, 1, 1})), 1.01 * mean);
}

TEST(SubtreeCosts, CountWhatIsBelow) {
    //      3            6
    //    1   0        5
    //       4 2
    const Numbers parents{3, 3, 0, no_parent, 0, 6, no_parent};
    EXPECT_EQ(subtree_costs(parents, Costs{1, 2, 4, 8, 16, 32, 64}), (Costs{21, 2, 4, 31, 16, 32, 96}));
    EXPECT_EQ(subtree_costs(Numbers{}, Costs{}), Costs{});
    // The order is that of the numbers, each task after those below it: 2 4 0 1 3, 5 6.
    EXPECT_EQ(divide_tree_by_cost(parents, Costs(7, 1), Costs{2, 1, 2, 2}), (Numbers{1, 2, 0, 2, 0, 3, 3}));
}

TEST(SubtreeCosts, HandleDeepTrees) {
    constexpr std::uint32_t count = 300'000;
    Numbers parents(count);
    for (std::uint32_t task = 0; task < count; ++task) parents[task] = task + 1 < count ? task + 1 : no_parent;
    EXPECT_EQ(subtree_costs(parents, Costs(count, 3)).back(), 3 * count);
}

TEST(DivisionByCost, RefusesWhatIsNoTree) {
    const Costs two{1, 1};
    EXPECT_EQ(fields_of<ValueOutOfBoundsError>([&] { subtree_costs(Numbers{no_parent, 2}, two); }).object,
              "parent of task 1");
    EXPECT_EQ(fields_of<ValueOutOfBoundsError>([&] { subtree_costs(Numbers{1, 0}, two); }).value, "2 tasks");
    EXPECT_EQ(fields_of<ValueOutOfBoundsError>([&] { subtree_costs(Numbers{no_parent, 1}, two); }).value, "1 task");
    EXPECT_THROW(subtree_costs(Numbers{no_parent}, two), ShapeError);
    EXPECT_THROW(divide_tree_by_cost(Numbers{no_parent}, two, Costs{1}), ShapeError);
    EXPECT_THROW(divide_by_cost(two, Costs{}), ShapeError);
    EXPECT_THROW(divide_by_cost(two, Costs{0, 0}), ValueOutOfBoundsError);
    const Costs huge{std::uint64_t{1} << 62, std::uint64_t{1} << 62};
    EXPECT_EQ(divide_by_cost(huge, Costs{UINT32_MAX, UINT32_MAX}), (Numbers{0, 1}));
    EXPECT_THROW(divide_by_cost(Costs{huge[0], huge[0], 1}, Costs{1}), ValueOutOfBoundsError);
    EXPECT_THROW(subtree_costs(Numbers{no_parent, 0, 0}, Costs{huge[0], huge[0], 1}), ValueOutOfBoundsError);
}

}  // namespace TEST_FILE
}  // namespace ranvier::parallel
