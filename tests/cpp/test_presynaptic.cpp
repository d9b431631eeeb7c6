#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "comm/mirror_communicator.hpp"
#include "connect/layout.hpp"
#include "connect/presynaptic_table.hpp"
#include "connect/projection_plan.hpp"
#include "connect/row_addresses.hpp"
#include "connect/table_builder.hpp"
#include "parallel/team.hpp"
#include "thread_communicator.hpp"

namespace ranvier::connect {
namespace {

constexpr double resolution = 0.1;

/// Three populations: one that excites and inhibits, one of sources only, one of targets only.
const std::vector<PopulationRange> populations{{NeuronId{0}, 60}, {NeuronId{60}, 25}, {NeuronId{85}, 15}};
constexpr std::uint64_t neurons = 100;

ProjectionPlan make_plan(std::uint32_t id, std::uint32_t from, std::uint32_t to, RuleSpec rule, double mean) {
    ProjectionPlan plan;
    plan.id = ProjectionId{id};
    plan.pairs = {populations[from].first, populations[from].size, populations[to].first, populations[to].size};
    plan.target_population = PopulationId{to};
    const auto sampler = std::shared_ptr<const RuleSampler>(bind_rule(std::move(rule), plan.pairs, 1, plan.id));
    plan.sampler = sampler;
    const Distribution normal{.kind = Distribution::Kind::normal, .first = mean, .second = 40.0};
    plan.weights = {normal, make_key(1, Purpose::weight, id)};
    plan.delays = {1.5, {}};
    plan.receptors = 2;
    plan.grids = {WeightGrid(1000.0, 4096.0), WeightGrid(1000.0, 4096.0)};
    return plan;
}

/// Rules that are drawn by target and by source, and weights of both signs.
std::vector<ProjectionPlan> make_plans(double density) {
    const auto number = [&](double of) { return static_cast<std::uint64_t>(of * density); };
    return {make_plan(0, 0, 0, {.name = "fixed_indegree", .number = number(20)}, 20.0),
            make_plan(1, 1, 0, {.name = "fixed_outdegree", .number = number(12)}, -10.0),
            make_plan(2, 0, 2, {.name = "pairwise_bernoulli", .probability = 0.2 * density}, 0.0)};
}

/// What one process has built.
struct Built {
    std::unique_ptr<ProcessLayout> layout;
    std::vector<ShardTables> tables;
    RowAddresses addresses;
    std::shared_ptr<const PresynapticTable> presynaptic;
    std::uint64_t rounds = 0;
};

struct Options {
    std::int32_t ranks = 1;
    std::uint32_t workers = 1;
    RowNumbering numbering = RowNumbering::compact;
    std::uint64_t buffer_bytes = 1 << 20;
};

void build(Built& built, const std::vector<ProjectionPlan>& plans, Placement placement, const Options& options,
           std::shared_ptr<comm::Communicator> communicator) {
    built.layout =
        std::make_unique<ProcessLayout>(std::move(placement), communicator->rank(), options.workers, populations);
    parallel::Team team(std::vector<parallel::Place>(options.workers), {.spinning = parallel::Spinning::never});
    TableBuilder builder(plans, *built.layout,
                         {.instruction_set = detect_instruction_set(),
                          .resolution = resolution,
                          .numbering = options.numbering,
                          .buffer_bytes = options.buffer_bytes},
                         team, communicator);
    built.tables.resize(options.workers);
    team.run([&](std::uint32_t worker) {
        builder.build(worker);
        built.tables[worker] = builder.finish(worker);
    });
    std::vector<const ShardTables*> tables;
    for (const ShardTables& shard : built.tables) tables.push_back(&shard);
    built.addresses = RowAddresses(builder.numbering(), plans, tables);
    PresynapticTableBuilder presynaptic(*built.layout, built.addresses, communicator, options.buffer_bytes, team);
    team.run([&](std::uint32_t worker) { presynaptic.build(worker); });
    built.presynaptic = presynaptic.finish();
    built.rounds = presynaptic.rounds();
}

/// Every synapse of a process: (source, the address of its row, target, weight).
using Synapses = std::multiset<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, double>>;

Synapses read(const Built& built) {
    Synapses synapses;
    std::uint64_t first = 0;
    for (std::uint32_t shard = 0; shard < built.tables.size(); ++shard) {
        for (std::uint32_t receptor = 0; receptor < built.tables[shard].size(); ++receptor) {
            const SynapseTable* table = built.tables[shard][receptor].get();
            if (table == nullptr) continue;
            for (std::uint32_t row = 0; row < table->rows(); ++row) {
                const NeuronId source = table->source(RowIndex{row});
                const std::uint64_t address = built.addresses.are_sources() ? source.value : first + row;
                if (!built.addresses.are_sources()) {
                    const RowAddresses::Place place = built.addresses.find(address);
                    EXPECT_EQ(place.table, shard * TableBuilder::receptors + receptor);
                    EXPECT_EQ(place.row.value, row);
                }
                for (std::uint64_t i = table->row_begin(RowIndex{row}); i < table->row_end(RowIndex{row}); ++i) {
                    const NeuronId target = built.layout->shard(shard).id_of(LocalIndex{table->target(i)});
                    synapses.emplace(source.value, address, target.value, table->weight(i));
                }
            }
            first += table->rows();
        }
    }
    return synapses;
}

using Entries = std::set<std::pair<std::int32_t, std::uint64_t>>;

std::vector<Placement> placements(std::int32_t ranks) {
    std::vector<std::int32_t> given(neurons);
    // Rank 1 has nothing, where there is one.
    for (std::uint64_t id = 0; id < neurons; ++id) {
        given[id] = static_cast<std::int32_t>(id * id % 7) % ranks;
        if (given[id] == 1) given[id] = 0;
    }
    return {{neurons, ranks, PlacementKind::round_robin, 1},
            {neurons, ranks, PlacementKind::consecutive, 1},
            {neurons, ranks, PlacementKind::shuffle, 1},
            {neurons, ranks, std::make_shared<const std::vector<std::int32_t>>(std::move(given))}};
}

/// Checks the tables of all processes against all that there is, one synapse after another.
void expect_right(const std::vector<ProjectionPlan>& plans, const Placement& placement, const Options& options) {
    SCOPED_TRACE("placement " + std::to_string(static_cast<int>(placement.kind())) + ", ranks " +
                 std::to_string(options.ranks) + ", workers " + std::to_string(options.workers) + ", numbering " +
                 std::to_string(static_cast<int>(options.numbering)) + ", buffer " +
                 std::to_string(options.buffer_bytes));
    std::vector<Built> built(static_cast<std::size_t>(options.ranks));
    comm::run_processes(options.ranks, [&](std::shared_ptr<comm::Communicator> communicator) {
        const auto rank = static_cast<std::size_t>(communicator->rank().value);
        build(built[rank], plans, placement, options, std::move(communicator));
    });
    std::map<std::uint64_t, Entries> expected;
    Synapses all;
    for (std::int32_t rank = 0; rank < options.ranks; ++rank) {
        for (const auto& [source, address, target, weight] : read(built[static_cast<std::size_t>(rank)])) {
            expected[source].insert({rank, address});
            all.emplace(source, 0, target, weight);
        }
    }
    // The network is the same however it is cut.
    static std::map<double, Synapses> networks;
    const double key = plans[2].sampler->expected_synapses();
    if (!networks.contains(key)) networks[key] = all;
    EXPECT_EQ(all, networks[key]);

    std::uint64_t entries = 0;
    for (const Built& own : built) {
        const PresynapticTable& table = *own.presynaptic;
        std::set<std::int32_t> ranks;
        std::uint64_t own_entries = 0;
        for (std::uint32_t shard = 0; shard < options.workers; ++shard) {
            const ShardLayout& layout = own.layout->shard(shard);
            ASSERT_EQ(table.sources(shard), layout.size());
            std::vector<comm::Destination> found;
            for (std::uint32_t local = 0; local < layout.size(); ++local) {
                const ShardLayout::Part& part = layout.part(layout.population_of(LocalIndex{local}));
                // The gaps between populations belong to nobody.
                const bool exists = local >= part.offset && local - part.offset < part.ids.size();
                const Entries mine = exists ? expected[layout.id_of(LocalIndex{local}).value] : Entries{};
                for (std::int32_t first = 0; first <= options.ranks; ++first) {
                    for (std::int32_t last = first; last <= options.ranks; ++last) {
                        found.assign(1, {Rank{-7}, 7});
                        table.find(shard, local, Rank{first}, Rank{last}, found);
                        std::vector<std::pair<std::int32_t, std::uint64_t>> part_of;
                        for (const auto& entry : mine) {
                            if (entry.first >= first && entry.first < last) part_of.push_back(entry);
                        }
                        // Appended; ascending by rank.
                        ASSERT_EQ(found.size(), part_of.size() + 1);
                        for (std::size_t i = 0; i < part_of.size(); ++i) {
                            EXPECT_EQ(found[i + 1].rank.value, part_of[i].first);
                            EXPECT_EQ(found[i + 1].address, part_of[i].second);
                        }
                    }
                }
                for (const auto& [rank, address] : mine) ranks.insert(rank);
                own_entries += mine.size();
            }
        }
        EXPECT_EQ(table.size(), own_entries);
        entries += own_entries;
        std::set<std::int32_t> told;
        for (const Rank rank : table.ranks()) told.insert(rank.value);
        EXPECT_EQ(told, ranks);
        EXPECT_EQ(own.rounds, built[0].rounds);
    }
    std::uint64_t all_expected = 0;
    for (const auto& [source, own] : expected) all_expected += own.size();
    EXPECT_EQ(entries, all_expected);
    EXPECT_GT(entries, 20u);
}

constexpr RowNumbering numberings[] = {RowNumbering::dense, RowNumbering::compact, RowNumbering::unsorted};

TEST(PresynapticTable, HoldsWhatTheTargetsNeed) {
    for (const double density : {1.0, 0.1}) {
        const std::vector<ProjectionPlan> plans = make_plans(density);
        for (const RowNumbering numbering : numberings) {
            for (const std::int32_t ranks : {1, 2, 3, 5}) {
                for (const Placement& placement : placements(ranks)) {
                    expect_right(plans, placement, {.ranks = ranks, .workers = 2, .numbering = numbering});
                }
            }
        }
    }
}

TEST(PresynapticTable, IsTheSameForAnyBufferAndNumberOfWorkers) {
    const std::vector<ProjectionPlan> plans = make_plans(0.3);
    for (const RowNumbering numbering : numberings) {
        for (const std::uint64_t bytes : {1u, 1500u}) {
            for (const std::uint32_t workers : {1u, 3u}) {
                for (const Placement& placement : placements(3)) {
                    expect_right(plans, placement,
                                 {.ranks = 3, .workers = workers, .numbering = numbering, .buffer_bytes = bytes});
                }
            }
        }
    }
}

TEST(PresynapticTable, TakesMoreRoundsThroughSmallerBuffers) {
    const std::vector<ProjectionPlan> plans = make_plans(1.0);
    std::vector<std::uint64_t> rounds;
    for (const std::uint64_t bytes : {1u, 1u << 20}) {
        comm::run_processes(3, [&](std::shared_ptr<comm::Communicator> communicator) {
            Built built;
            const bool first = communicator->rank() == Rank{0};
            build(built, plans, {neurons, 3, PlacementKind::round_robin, 1}, {.ranks = 3, .buffer_bytes = bytes},
                  std::move(communicator));
            if (first) rounds.push_back(built.rounds);
        });
    }
    // One row at a time, of about a hundred; or all at once.
    EXPECT_GT(rounds[0], 80u);
    EXPECT_EQ(rounds[1], 1u);
}

/// Entries take the bits that the largest of them needs, and the rest of the table does not grow with ranks.
TEST(PresynapticTable, TakesFewBitsForEachOfManyRanks) {
    const std::vector<ProjectionPlan> plans = make_plans(0.3);
    for (const std::int32_t ranks : {2, 1000, 1 << 20}) {
        Built built;
        build(built, plans, {neurons, ranks, PlacementKind::round_robin, 1}, {.ranks = ranks},
              comm::make_mirror_communicator(ranks));
        const auto bits = static_cast<std::uint64_t>(std::bit_width(built.addresses.limit() - 1)) +
                          static_cast<std::uint64_t>(std::bit_width(static_cast<unsigned>(ranks - 1)));
        EXPECT_EQ(built.presynaptic->bits_per_entry(), bits) << ranks;
        EXPECT_LE(bits, 32u) << ranks;
        const std::uint64_t sources = built.layout->shard(0).size();
        EXPECT_LE(8 * built.presynaptic->bytes(), 64 * (sources + 1) + bits * built.presynaptic->size() + 8 * 9)
            << ranks;
    }
}

TEST(PackedDestinations, KeepEntriesOfAnyLength) {
    std::mt19937_64 random(2);
    for (unsigned bits = 1; bits <= PackedDestinations::most_bits; ++bits) {
        const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
        constexpr std::uint64_t count = 50;
        PackedDestinations packed(count, bits);
        std::vector<std::uint64_t> expected(count);
        std::vector<std::uint64_t> order(count);
        for (std::uint64_t i = 0; i < count; ++i) order[i] = i;
        std::shuffle(order.begin(), order.end(), random);
        for (const std::uint64_t i : order) packed.set(i, expected[i] = random() & mask);
        for (std::uint64_t i = 0; i < count; ++i) EXPECT_EQ(packed[i], expected[i]) << bits;
        EXPECT_EQ(packed.bytes(), (count * bits + 7) / 8 + 8);
    }
}

// ---- addresses -------------------------------------------------------------------------------------------------------

TEST(RowAddresses, ListTheSameHoweverTheyAreCut) {
    for (const double density : {1.0, 0.1}) {
        const std::vector<ProjectionPlan> plans = make_plans(density);
        for (const RowNumbering numbering : numberings) {
            for (const std::uint32_t workers : {1u, 3u}) {
                Built built;
                build(built, plans, Placement(neurons), {.workers = workers, .numbering = numbering},
                      comm::make_local_communicator());
                const RowAddresses& addresses = built.addresses;
                std::set<std::pair<std::uint64_t, std::uint64_t>> expected;
                for (const auto& [source, address, target, weight] : read(built)) expected.insert({source, address});
                using Listed = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
                const auto list = [&](std::uint64_t begin, std::uint64_t end) {
                    std::vector<RowAddresses::Entry> entries;
                    addresses.list(begin, end, entries);
                    Listed listed;
                    for (const auto& entry : entries) listed.emplace_back(entry.source.value, entry.address);
                    return listed;
                };
                const std::uint64_t all = addresses.candidates();
                const Listed whole = list(0, all);
                ASSERT_EQ(whole.size(), expected.size());
                EXPECT_TRUE(std::is_permutation(whole.begin(), whole.end(), expected.begin()));
                for (const auto& [source, address] : whole) EXPECT_LT(address, addresses.limit());
                for (std::uint64_t cut = 0; cut <= all; ++cut) {
                    Listed joined = list(0, cut);
                    const Listed rest = list(cut, all);
                    joined.insert(joined.end(), rest.begin(), rest.end());
                    ASSERT_EQ(joined, whole) << cut;
                }
                for (std::uint64_t width = 1; width < 9; ++width) {
                    Listed joined;
                    for (std::uint64_t begin = 0; begin < all; begin += width) {
                        const Listed some = list(begin, std::min(begin + width, all));
                        joined.insert(joined.end(), some.begin(), some.end());
                    }
                    ASSERT_EQ(joined, whole) << width;
                }
            }
        }
    }
}

TEST(RowAddresses, OfNothingAreNone) {
    for (const RowNumbering numbering : numberings) {
        const ShardTables none(2);
        const RowAddresses addresses(numbering, {}, {&none, &none});
        EXPECT_EQ(addresses.candidates(), 0u);
        std::vector<RowAddresses::Entry> entries;
        addresses.list(0, 0, entries);
        EXPECT_TRUE(entries.empty());
    }
}

}  // namespace
}  // namespace ranvier::connect
