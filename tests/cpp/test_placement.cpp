#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ranvier/base/errors.hpp"
#include "ranvier/base/id_sequence.hpp"
#include "ranvier/connect/placement/layout.hpp"
#include "ranvier/connect/placement/placement.hpp"
#include "statistics.hpp"

namespace ranvier::connect {
namespace TEST_FILE {

using Ids = std::vector<std::uint64_t>;

Ids to_vector(const IdSequence& sequence) {
    Ids ids;
    for (std::uint64_t i = 0; i < sequence.size(); ++i) ids.push_back(sequence[i].value);
    return ids;
}

IdSequence list_of(Ids ids) {
    const std::uint64_t size = ids.size();
    return {std::make_shared<const Ids>(std::move(ids)), 0, size};
}

// ---- sequences of ids ------------------------------------------------------------------------------------------------

/// A sequence beside the ids that it should have, one by one.
struct Case {
    std::string name;
    IdSequence sequence;
    Ids ids;
};

std::vector<Case> sequences() {
    const Ids primes{2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31};
    const Ids mixed{0, 4, 8, 12, 13, 14, 15, 100, 1'000'000'000'000, 1'000'000'000'007};
    std::vector<Case> cases{
        {"default", {}, {}},
        {"empty", {NeuronId{7}, 3, 0}, {}},
        {"one", {NeuronId{7}, 3, 1}, {7}},
        {"consecutive", {NeuronId{5}, 1, 6}, {5, 6, 7, 8, 9, 10}},
        {"every third", {NeuronId{1}, 3, 4}, {1, 4, 7, 10}},
        {"empty list", list_of({}), {}},
        {"list of one", list_of({9}), {9}},
        {"primes", list_of(primes), primes},
        {"mixed", list_of(mixed), mixed},
        {"part of a list", {std::make_shared<const Ids>(primes), 3, 5}, {primes.begin() + 3, primes.begin() + 8}},
    };
    std::mt19937_64 random(4);
    std::set<std::uint64_t> some;
    while (some.size() < 50) some.insert(random() % 120);
    const Ids dense(some.begin(), some.end());
    cases.push_back({"dense list", list_of(dense), dense});
    return cases;
}

TEST(IdSequence, CountsAndFindsLikeAList) {
    for (const auto& [name, sequence, ids] : sequences()) {
        SCOPED_TRACE(name);
        ASSERT_EQ(to_vector(sequence), ids);
        EXPECT_EQ(sequence.empty(), ids.empty());
        Ids probes{0, 1, 2, 13, 50, 119, 1'000'000'000'003, 2'000'000'000'000};
        for (const std::uint64_t id : ids) probes.insert(probes.end(), {id, id + 1, id > 0 ? id - 1 : 0});
        for (const std::uint64_t probe : probes) {
            const auto at = std::lower_bound(ids.begin(), ids.end(), probe);
            const auto below = static_cast<std::uint64_t>(at - ids.begin());
            EXPECT_EQ(sequence.count_below(NeuronId{probe}), below) << probe;
            const auto found = sequence.find(NeuronId{probe});
            EXPECT_EQ(found.has_value(), at != ids.end() && *at == probe) << probe;
            EXPECT_EQ(found.value_or(below), below) << probe;
        }
    }
}

TEST(IdSequence, CutsLikeAList) {
    for (const auto& [name, sequence, ids] : sequences()) {
        SCOPED_TRACE(name);
        for (std::uint64_t begin = 0; begin <= ids.size(); ++begin) {
            for (std::uint64_t size = 0; begin + size <= ids.size(); ++size) {
                const auto first = ids.begin() + static_cast<std::ptrdiff_t>(begin);
                const Ids expected(first, first + static_cast<std::ptrdiff_t>(size));
                EXPECT_EQ(to_vector(sequence.subsequence(begin, size)), expected);
                Ids copied(size);
                sequence.copy(begin, copied);
                EXPECT_EQ(copied, expected);
            }
            for (const std::uint64_t stride : {1u, 2u, 3u, 100u}) {
                Ids expected;
                for (std::uint64_t i = begin; i < ids.size(); i += stride) expected.push_back(ids[i]);
                EXPECT_EQ(to_vector(sequence.every(begin, stride)), expected) << begin << " by " << stride;
            }
        }
        // Beyond the end there is nothing.
        EXPECT_TRUE(sequence.every(ids.size() + 3, 2).empty());
        for (const std::uint64_t first : {0u, 3u, 5u, 12u, 100u}) {
            for (const std::uint64_t size : {0u, 1u, 4u, 30u, 2000u}) {
                Ids expected;
                std::copy_if(ids.begin(), ids.end(), std::back_inserter(expected),
                             [&](std::uint64_t id) { return id >= first && id < first + size; });
                EXPECT_EQ(to_vector(sequence.within(NeuronId{first}, size)), expected) << first << ", " << size;
            }
        }
    }
}

TEST(IdSequence, IsMadeUpOfProgressions) {
    for (const auto& [name, sequence, ids] : sequences()) {
        SCOPED_TRACE(name);
        Ids found;
        std::uint64_t pieces = 0;
        sequence.for_each_progression(
            [&](std::uint64_t position, NeuronId first, std::uint64_t stride, std::uint64_t count) {
                EXPECT_EQ(position, found.size());
                EXPECT_GT(count, 0u);
                EXPECT_GT(stride, 0u);
                for (std::uint64_t i = 0; i < count; ++i) found.push_back(first.value + i * stride);
                ++pieces;
            });
        EXPECT_EQ(found, ids);
        EXPECT_TRUE(!sequence.is_progression() || pieces == (ids.empty() ? 0u : 1u)) << pieces;
    }
    // 0 4 8 12 | 13 14 15 | 100 ... | ...: as long as they can be.
    std::uint64_t pieces = 0;
    list_of({0, 4, 8, 12, 13, 14, 15, 100})
        .for_each_progression([&](std::uint64_t, NeuronId, std::uint64_t, std::uint64_t) { ++pieces; });
    EXPECT_EQ(pieces, 3u);
}

// ---- placements ------------------------------------------------------------------------------------------------------

std::vector<Placement> placements(std::uint64_t neurons, std::int32_t ranks) {
    std::vector<std::int32_t> given(neurons);
    std::mt19937 random(9);
    for (std::int32_t& rank : given) rank = static_cast<std::int32_t>(random() % static_cast<unsigned>(ranks));
    return {{neurons, ranks, PlacementKind::round_robin, 1},
            {neurons, ranks, PlacementKind::consecutive, 1},
            {neurons, ranks, PlacementKind::shuffle, 1},
            {neurons, ranks, PlacementKind::shuffle, 77},
            {neurons, ranks, std::make_shared<const std::vector<std::int32_t>>(std::move(given))}};
}

TEST(Placement, PutsEachNeuronOnOneRank) {
    for (const std::uint64_t neurons : {0u, 1u, 2u, 3u, 4u, 5u, 16u, 17u, 100u, 1000u}) {
        for (const std::int32_t ranks : {1, 2, 3, 7, 16, 150}) {
            for (const Placement& placement : placements(neurons, ranks)) {
                SCOPED_TRACE("kind " + std::to_string(static_cast<int>(placement.kind())) + ", " +
                             std::to_string(neurons) + " neurons, " + std::to_string(ranks) + " ranks");
                std::vector<int> seen(neurons, 0);
                std::uint64_t least = neurons;
                std::uint64_t most = 0;
                for (std::int32_t rank = 0; rank < ranks; ++rank) {
                    const Ids ids = to_vector(placement.ids(Rank{rank}));
                    EXPECT_TRUE(std::is_sorted(ids.begin(), ids.end()));
                    std::set<std::uint64_t> places;
                    for (const std::uint64_t id : ids) {
                        ASSERT_LT(id, neurons);
                        ++seen[id];
                        EXPECT_EQ(placement.rank_of(NeuronId{id}).value, rank);
                        const std::uint64_t place = placement.place_of(NeuronId{id});
                        EXPECT_LT(place, placement.places());
                        EXPECT_TRUE(places.insert(place).second);
                        EXPECT_EQ(placement.id_at(Rank{rank}, place).value, id);
                        EXPECT_EQ(placement.locate(NeuronId{id}).rank.value, rank);
                        EXPECT_EQ(placement.locate(NeuronId{id}).place, place);
                    }
                    least = std::min<std::uint64_t>(least, ids.size());
                    most = std::max<std::uint64_t>(most, ids.size());
                }
                EXPECT_EQ(seen, std::vector<int>(neurons, 1));
                if (placement.kind() == PlacementKind::given) continue;
                EXPECT_LE(most - least, 1u);
                // Places are dense: one more than the largest is the size of the largest rank.
                EXPECT_EQ(placement.places(), most);
            }
        }
    }
}

TEST(Placement, DoesWhatItsNameSays) {
    const Placement round_robin(10, 3, parse_choice<PlacementKind>("round_robin"), 1);
    EXPECT_EQ(to_vector(round_robin.ids(Rank{1})), (Ids{1, 4, 7}));
    const Placement consecutive(10, 3, parse_choice<PlacementKind>("consecutive"), 1);
    EXPECT_EQ(to_vector(consecutive.ids(Rank{0})), (Ids{0, 1, 2, 3}));
    EXPECT_EQ(to_vector(consecutive.ids(Rank{2})), (Ids{7, 8, 9}));
    EXPECT_THROW(parse_choice<PlacementKind>("robin"), UnknownNameError);
    EXPECT_THROW(parse_choice<PlacementKind>(""), UnknownNameError);
}

TEST(Placement, ComputesWithLargeNumbers) {
    // 10^13 neurons on 2 * 10^9 ranks: nothing is ever listed, and nothing is 32 bits wide.
    constexpr std::uint64_t neurons = 10'000'000'000'019;
    constexpr std::int32_t ranks = 2'000'000'000;
    for (const PlacementKind kind : {PlacementKind::round_robin, PlacementKind::consecutive, PlacementKind::shuffle}) {
        const Placement placement(neurons, ranks, kind, 5);
        EXPECT_EQ(placement.places(), 5001u);
        std::mt19937_64 random(6);
        for (int i = 0; i < 1000; ++i) {
            const NeuronId id{i == 0 ? neurons - 1 : random() % neurons};
            const Rank rank = placement.rank_of(id);
            EXPECT_TRUE(rank.value >= 0 && rank.value < ranks);
            const std::uint64_t place = placement.place_of(id);
            EXPECT_LT(place, 5001u);
            EXPECT_EQ(placement.id_at(rank, place), id);
        }
        for (const std::int32_t rank : {0, 18, 19, ranks - 1}) {
            const IdSequence ids = placement.ids(Rank{rank});
            EXPECT_EQ(ids.size(), rank < 19 ? 5001u : 5000u);
            EXPECT_TRUE(placement.rank_of(ids[0]) == Rank{rank});
            EXPECT_TRUE(placement.rank_of(ids[ids.size() - 1]) == Rank{rank});
        }
    }
}

TEST(Placement, ShufflesBySeed) {
    constexpr std::uint64_t neurons = 1000;
    const auto ranks_by = [](std::uint64_t seed) {
        const Placement placement(neurons, 5, PlacementKind::shuffle, seed);
        std::vector<std::int32_t> ranks;
        for (std::uint64_t id = 0; id < neurons; ++id) ranks.push_back(placement.rank_of(NeuronId{id}).value);
        return ranks;
    };
    EXPECT_EQ(ranks_by(1), ranks_by(1));
    // Of two independent ones a fifth is the same, give or take 13.
    const std::vector<std::int32_t> first = ranks_by(1);
    const std::vector<std::int32_t> second = ranks_by(2);
    const auto same = std::inner_product(first.begin(), first.end(), second.begin(), 0, std::plus<>{},
                                         [](std::int32_t a, std::int32_t b) { return a == b ? 1 : 0; });
    EXPECT_NEAR(same, 200, 65);
}

/// Neighbours come to lie on any two ranks equally often, wherever in the network they are, and for all seeds.
TEST(Placement, ShuffleSpreadsNeighbors) {
    constexpr std::int32_t ranks = 8;
    for (const std::uint64_t neurons : {std::uint64_t{100'003}, std::uint64_t{1} << 17}) {
        const Placement placement(neurons, ranks, PlacementKind::shuffle, 3);
        for (const std::uint64_t distance : {1u, 8u, 512u}) {
            std::vector<double> pairs(ranks * ranks, 0.0);
            for (std::uint64_t id = 0; id + distance < neurons; ++id) {
                const auto a = static_cast<std::size_t>(placement.rank_of(NeuronId{id}).value);
                const auto b = static_cast<std::size_t>(placement.rank_of(NeuronId{id + distance}).value);
                ++pairs[a * ranks + b];
            }
            EXPECT_GT(statistics::uniform_p_value(pairs), statistics::significance) << neurons << ", " << distance;
        }
        // And the neurons of one rank come from everywhere.
        std::vector<double> origin(100, 0.0);
        const IdSequence ids = placement.ids(Rank{2});
        for (std::uint64_t i = 0; i < ids.size(); ++i) ++origin[ids[i].value * 100 / neurons];
        EXPECT_GT(statistics::uniform_p_value(origin), statistics::significance) << neurons;
    }
    std::vector<double> rank_of_first(ranks, 0.0);
    for (std::uint64_t seed = 0; seed < 8000; ++seed) {
        const Placement placement(50, ranks, PlacementKind::shuffle, seed);
        ++rank_of_first[static_cast<std::size_t>(placement.rank_of(NeuronId{0}).value)];
    }
    // Ranks 0 and 1 have seven of the 50 neurons, the others six.
    std::vector<double> expected(ranks, 8000.0 * 6 / 50);
    expected[0] = expected[1] = 8000.0 * 7 / 50;
    EXPECT_GT(statistics::chi_square_p_value(rank_of_first, expected), statistics::significance);
}

TEST(Placement, RefusesArraysThatDoNotFit) {
    const auto given = [](std::vector<std::int32_t> ranks) {
        return std::make_shared<const std::vector<std::int32_t>>(std::move(ranks));
    };
    EXPECT_THROW(Placement(3, 2, given({0, 1})), ShapeError);
    EXPECT_THROW(Placement(3, 2, given({0, 1, 0, 1})), ShapeError);
    EXPECT_THROW(Placement(3, 2, given({0, 2, 0})), ValueOutOfBoundsError);
    EXPECT_THROW(Placement(3, 2, given({0, 1, -1})), ValueOutOfBoundsError);
    EXPECT_NO_THROW(Placement(3, 2, given({0, 0, 0})));
    try {
        const Placement placement(3, 2, given({0, 1, 5}));
        ADD_FAILURE();
    } catch (const ValueOutOfBoundsError& error) {
        EXPECT_NE(error.fields().object.find("neuron 2"), std::string::npos) << error.what();
        EXPECT_EQ(error.fields().value, "5");
    }
}

// ---- layouts ---------------------------------------------------------------------------------------------------------

TEST(ProcessLayout, DividesByCost) {
    // Three dear ones, and enough cheap ones to make up for the odd one.
    EXPECT_EQ(divide_by_cost(std::vector<std::uint64_t>{1000, 3}, std::vector<double>{1.0, 200.0}, 2),
              (std::vector<std::uint64_t>{400, 600, 2, 1}));
    // Too few of them.
    EXPECT_EQ(divide_by_cost(std::vector<std::uint64_t>{100, 3}, std::vector<double>{1.0, 200.0}, 2),
              (std::vector<std::uint64_t>{0, 100, 2, 1}));
    EXPECT_EQ(divide_by_cost(std::vector<std::uint64_t>{7, 2}, std::vector<double>{0.0, 0.0}, 3),
              (std::vector<std::uint64_t>{3, 2, 2, 0, 1, 1}));
    EXPECT_EQ(divide_by_cost(std::vector<std::uint64_t>{0, 0}, std::vector<double>{1.0, 0.0}, 2),
              (std::vector<std::uint64_t>{0, 0, 0, 0}));
    // Whatever the costs, none is lost, and shards differ by the dearest one at most.
    for (const std::uint32_t owners : {1u, 2u, 7u, 64u}) {
        const std::vector<std::uint64_t> counts{1000, 3, 0, 77, 5};
        const std::vector<double> costs{0.3, 45.0, 8.0, 1e-9, 7.0};
        const std::vector<std::uint64_t> divided = divide_by_cost(counts, costs, owners);
        std::vector<double> loads(owners, 0.0);
        for (std::size_t kind = 0; kind < counts.size(); ++kind) {
            std::uint64_t sum = 0;
            for (std::uint32_t owner = 0; owner < owners; ++owner) {
                sum += divided[kind * owners + owner];
                loads[owner] += costs[kind] * static_cast<double>(divided[kind * owners + owner]);
            }
            EXPECT_EQ(sum, counts[kind]);
        }
        EXPECT_LE(std::ranges::max(loads) - std::ranges::min(loads), 45.0 + 1e-6);
    }
}

TEST(ProcessLayout, DealsEachNeuronToOneShardOfOneRankByCost) {
    const std::vector<PopulationRange> populations{
        {NeuronId{0}, 13}, {NeuronId{13}, 0}, {NeuronId{13}, 1}, {NeuronId{14}, 29}};
    const std::vector<double> costs{3.0, 1.0, 50.0, 1.0};
    for (const Placement& placement : placements(43, 3)) {
        std::vector<int> seen(43, 0);
        for (std::int32_t rank = 0; rank < 3; ++rank) {
            const ProcessLayout layout(placement, Rank{rank}, 4, populations, costs);
            for (const ShardLayout& shard : layout.shards()) {
                for (std::uint64_t i = 0; i < shard.ids().size(); ++i) {
                    const NeuronId id = shard.ids()[i];
                    ++seen[id.value];
                    EXPECT_TRUE(i == 0 || shard.ids()[i - 1] < id);
                    EXPECT_TRUE(layout.owns(id));
                    EXPECT_EQ(layout.shard_of(id), shard.shard());
                    EXPECT_EQ(shard.id_of(shard.local_index(layout.population_of(id), id)), id);
                }
            }
        }
        EXPECT_EQ(seen, std::vector<int>(43, 1));
    }
}

TEST(ProcessLayout, DealsEachNeuronToOneShardOfOneRank) {
    const std::vector<PopulationRange> populations{
        {NeuronId{0}, 13}, {NeuronId{13}, 0}, {NeuronId{13}, 1}, {NeuronId{14}, 29}};
    for (const std::int32_t ranks : {1, 3, 5, 60}) {
        for (const std::uint32_t shards : {1u, 2u, 4u}) {
            for (const Placement& placement : placements(43, ranks)) {
                std::vector<int> seen(43, 0);
                for (std::int32_t rank = 0; rank < ranks; ++rank) {
                    const ProcessLayout layout(placement, Rank{rank}, shards, populations);
                    ASSERT_EQ(layout.shards().size(), shards);
                    std::uint64_t most = 0;
                    std::uint64_t least = 43;
                    for (std::uint32_t shard = 0; shard < shards; ++shard) {
                        const ShardLayout& own = layout.shard(shard);
                        most = std::max(most, own.ids().size());
                        least = std::min(least, own.ids().size());
                        for (std::uint64_t i = 0; i < own.ids().size(); ++i) {
                            const NeuronId id = own.ids()[i];
                            ++seen[id.value];
                            EXPECT_TRUE(layout.owns(id));
                            EXPECT_EQ(layout.shard_of(id).value, shard);
                            const PopulationId population = layout.population_of(id);
                            const PopulationRange range = populations[population.value];
                            EXPECT_TRUE(id >= range.first && id.value < range.first.value + range.size);
                            const LocalIndex local = own.local_index(population, id);
                            EXPECT_EQ(own.id_of(local), id);
                            EXPECT_EQ(own.population_of(local), population);
                        }
                    }
                    EXPECT_LE(most - least, 1u);
                    for (std::uint64_t id = 0; id < 43; ++id) {
                        EXPECT_EQ(layout.owns(NeuronId{id}), placement.rank_of(NeuronId{id}) == Rank{rank});
                    }
                }
                EXPECT_EQ(seen, std::vector<int>(43, 1));
            }
        }
    }
}

TEST(ProcessLayout, TakesMemoryForListsOnly) {
    const std::vector<PopulationRange> populations{{NeuronId{0}, 10'000}};
    const auto bytes = [&](PlacementKind kind) {
        return ProcessLayout(Placement(10'000, 10, kind, 1), Rank{3}, 2, populations).bytes();
    };
    EXPECT_EQ(bytes(PlacementKind::round_robin), 0u);
    EXPECT_EQ(bytes(PlacementKind::consecutive), 0u);
    // Once for the process, once for its shards.
    EXPECT_EQ(bytes(PlacementKind::shuffle), 2u * 8u * 1000u);
}

}  // namespace TEST_FILE
}  // namespace ranvier::connect
