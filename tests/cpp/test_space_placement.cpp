#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "connect/placement/space_placement.hpp"
#include "ranvier/connect/placement/placement.hpp"
#include "ranvier/connect/space/positions.hpp"

namespace ranvier::connect {
namespace TEST_FILE {

using Cell = std::array<std::uint32_t, most_dimensions>;

/// Cells of a coarse grid with 2^level along each axis, as cells of the curve.
std::vector<Cell> coarse_cells(unsigned dimensions, unsigned level) {
    const std::uint32_t length = std::uint32_t{1} << (hilbert_bits(dimensions) - level);
    const std::uint32_t along = std::uint32_t{1} << level;
    std::vector<Cell> cells;
    for (std::uint32_t x = 0; x < along; ++x) {
        for (std::uint32_t y = 0; y < along; ++y) {
            for (std::uint32_t z = 0; z < (dimensions == 3 ? along : 1); ++z) {
                cells.push_back({x * length, y * length, z * length});
            }
        }
    }
    return cells;
}

class Hilbert : public testing::TestWithParam<unsigned> {};

/// The curve visits each coarse cell once, and goes from each to a neighbour: what makes it a Hilbert curve.
TEST_P(Hilbert, visits_neighbours_in_turn) {
    const unsigned dimensions = GetParam();
    const unsigned level = dimensions == 3 ? 3 : 5;
    const unsigned finer = dimensions * (hilbert_bits(dimensions) - level);
    const std::uint32_t length = std::uint32_t{1} << (hilbert_bits(dimensions) - level);
    std::vector<std::pair<std::uint64_t, Cell>> visited;
    for (const Cell& cell : coarse_cells(dimensions, level)) {
        visited.emplace_back(hilbert_index(cell, dimensions) >> finer, cell);
    }
    std::ranges::sort(visited);
    for (std::size_t i = 0; i < visited.size(); ++i) {
        ASSERT_EQ(visited[i].first, i);
        if (i == 0) continue;
        std::int64_t moved = 0;
        for (std::size_t axis = 0; axis < dimensions; ++axis) {
            moved += std::abs(static_cast<std::int64_t>(visited[i].second[axis]) -
                              static_cast<std::int64_t>(visited[i - 1].second[axis]));
        }
        ASSERT_EQ(moved, length);
    }
}

INSTANTIATE_TEST_SUITE_P(Dimensions, Hilbert, testing::Values(2U, 3U));

std::shared_ptr<const Positions> random_box(unsigned dimensions) {
    return std::make_shared<const Positions>(
        Positions{.dimensions = dimensions, .form = Positions::Random{.extent = {1.0, 1.0, 1.0}}});
}

std::shared_ptr<const Positions> one_place(std::uint64_t size) {
    return std::make_shared<const Positions>(Positions{.form = Positions::Array{std::vector<double>(2 * size, 0.25)}});
}

struct SpaceCase {
    std::string name;
    std::vector<std::pair<std::uint64_t, std::shared_ptr<const Positions>>> populations;
};

Space make_space(const SpaceCase& given) {
    std::vector<Space::Part> parts;
    std::uint64_t first = 0;
    for (const auto& [size, positions] : given.populations) {
        parts.push_back({NeuronId{first}, size, positions, make_key(1, Purpose::position, parts.size())});
        first += size;
    }
    return Space(std::move(parts));
}

std::vector<SpaceCase> space_cases() {
    const auto grid = std::make_shared<const Positions>(
        Positions{.form = Positions::Grid{.shape = {7, 9, 1}, .first = {}, .spacing = {0.1, 0.1, 0.0}}});
    return {
        {"one random population", {{1000, random_box(2)}}},
        {"several populations", {{800, random_box(2)}, {0, random_box(2)}, {200, random_box(2)}, {63, grid}}},
        {"some without positions", {{101, nullptr}, {500, random_box(2)}, {7, nullptr}}},
        {"three dimensions", {{777, random_box(3)}, {50, random_box(2)}}},
        {"all neurons at one place", {{100, one_place(100)}}},
        {"fewer neurons than ranks", {{2, random_box(2)}, {1, random_box(2)}}},
    };
}

class PlacedInSpace : public testing::TestWithParam<SpaceCase> {};

TEST_P(PlacedInSpace, gives_each_neuron_one_rank_and_balances_each_population) {
    const auto space = std::make_shared<const Space>(make_space(GetParam()));
    std::uint64_t neurons = 0;
    for (const Space::Part& part : space->parts()) neurons += part.size;
    for (const std::int32_t ranks : {1, 2, 3, 5, 16}) {
        const Placement placement(neurons, ranks, PlacementKind::space, 1, space);
        std::set<std::uint64_t> seen;
        std::vector<std::vector<std::uint64_t>> counts(space->parts().size(), std::vector<std::uint64_t>(ranks, 0));
        for (std::int32_t rank = 0; rank < ranks; ++rank) {
            const IdSequence ids = placement.ids(Rank{rank});
            for (std::uint64_t i = 0; i < ids.size(); ++i) {
                ASSERT_TRUE(seen.insert(ids[i].value).second);
                ASSERT_EQ(placement.rank_of(ids[i]).value, rank);
                const auto location = placement.locate(ids[i]);
                ASSERT_EQ(placement.id_at(location.rank, location.place), ids[i]);
                ASSERT_LT(location.place, placement.places());
                ++counts[static_cast<std::size_t>(&space->part_of(ids[i]) - space->parts().data())][rank];
            }
        }
        ASSERT_EQ(seen.size(), neurons);
        for (const std::vector<std::uint64_t>& of_population : counts) {
            const auto [least, most] = std::ranges::minmax(of_population);
            EXPECT_LE(most - least, 1) << ranks << " ranks";
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Spaces, PlacedInSpace, testing::ValuesIn(space_cases()), [](const auto& given) {
    std::string name = given.param.name;
    std::ranges::replace(name, ' ', '_');
    return name;
});

/// Four ranks of a square have compact parts, about a quarter each: neighbours within a tenth of its length share a rank
/// far more often than by chance (a quarter). A compact quarter has at most two inner sides of length 1/2; with cuts not
/// at the middle up to twice as many.
TEST(PlacedInSpaceTogether, keeps_neighbours) {
    const auto space = std::make_shared<const Space>(make_space({"", {{2000, random_box(2)}}}));
    const Placement placement(2000, 4, PlacementKind::space, 1, space);
    std::uint64_t near = 0;
    std::uint64_t together = 0;
    for (std::uint64_t a = 0; a < 2000; ++a) {
        for (std::uint64_t b = 0; b < a; ++b) {
            const Point x = space->at(NeuronId{a});
            const Point y = space->at(NeuronId{b});
            if (PairPositions::length({x[0] - y[0], x[1] - y[1], 0.0}) > 0.1) continue;
            ++near;
            together += placement.rank_of(NeuronId{a}) == placement.rank_of(NeuronId{b}) ? 1 : 0;
        }
    }
    EXPECT_GT(together * 10, near * 8);
}

}  // namespace TEST_FILE
}  // namespace ranvier::connect
