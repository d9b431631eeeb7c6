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
#include "connect/routing/presynaptic_table.hpp"
#include "connect/routing/row_addresses.hpp"
#include "connect/tables/network_plan.hpp"
#include "connect/tables/stored_synapses.hpp"
#include "connect/tables/table_builder.hpp"
#include "ranvier/connect/placement/layout.hpp"
#include "ranvier/parallel/team.hpp"
#include "thread_communicator.hpp"

namespace ranvier::connect {
namespace TEST_FILE {

constexpr double resolution = 0.1;

/// Three populations: one that excites and inhibits, one of sources only, one of targets only.
const std::vector<PopulationRange> populations{{NeuronId{0}, 60}, {NeuronId{60}, 25}, {NeuronId{85}, 15}};
constexpr std::uint64_t neurons = 100;

ProjectionPlan make_plan(std::uint32_t id, std::uint32_t from, std::uint32_t to, RuleSpec rule, double mean,
                         const std::vector<PopulationRange>& ranges = populations) {
    ProjectionPlan plan;
    plan.id = ProjectionId{id};
    plan.pairs = {ranges[from].first, ranges[from].size, ranges[to].first, ranges[to].size};
    plan.target_populations = {PopulationId{to}};
    const auto sampler = std::shared_ptr<const RuleSampler>(bind_rule(std::move(rule), plan.pairs, 1, plan.id));
    plan.sampler = sampler;
    const Distribution normal{.kind = Distribution::Kind::normal, .first = mean, .second = 40.0};
    plan.weights = {normal, make_key(1, Purpose::weight, id)};
    plan.delays = {1.5, {}};
    return plan;
}

/// Rules that are drawn by target and by source, and weights of both signs.
std::vector<ProjectionPlan> make_plans(double density) {
    const auto number = [&](double of) { return static_cast<std::uint64_t>(of * density); };
    return {make_plan(0, 0, 0, {"fixed_indegree", {{"indegree", number(20)}}}, 20.0),
            make_plan(1, 1, 0, {"fixed_outdegree", {{"outdegree", number(12)}}}, -10.0),
            make_plan(2, 0, 2, {"pairwise_bernoulli", {{"probability", 0.2 * density}}}, 0.0)};
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
           std::shared_ptr<comm::Communicator> communicator, const std::vector<PopulationRange>& ranges = populations) {
    built.layout = std::make_unique<ProcessLayout>(std::move(placement), communicator->rank(), options.workers, ranges);
    parallel::Team team(std::vector<parallel::Place>(options.workers), {.spinning = parallel::Spinning::never});
    // Weights < 0 go to a receptor of their own.
    const std::vector<KindChoice> choices(plans.size(), {.positive = {.receptor = 0}, .negative = {.receptor = 1}});
    const NetworkPlan network = make_network_plan(plans, choices);
    TableBuilder builder(network, *built.layout,
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
    built.addresses = RowAddresses(builder.numbering(), network, tables);
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
        const auto kinds = static_cast<std::uint32_t>(built.tables[shard].size());
        for (std::uint32_t kind = 0; kind < kinds; ++kind) {
            const SynapseTable* table = built.tables[shard][kind].get();
            if (table == nullptr) continue;
            for (std::uint32_t row = 0; row < table->rows(); ++row) {
                const NeuronId source = table->source(RowIndex{row});
                const std::uint64_t address = built.addresses.are_sources() ? source.value : first + row;
                if (!built.addresses.are_sources()) {
                    const RowAddresses::Place place = built.addresses.find(address);
                    EXPECT_EQ(place.table, shard * kinds + kind);
                    EXPECT_EQ(place.row.value, row);
                }
                const StoredSynapses& stored = *table->synapses();
                for (std::uint64_t i = stored.row_begin(RowIndex{row}); i < stored.row_end(RowIndex{row}); ++i) {
                    const NeuronId target = built.layout->shard(shard).id_of(LocalIndex{stored.target(i)});
                    synapses.emplace(source.value, address, target.value, stored.weight(i));
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

std::vector<Built> build_all(const std::vector<ProjectionPlan>& plans, const Placement& placement,
                             const Options& options) {
    std::vector<Built> built(static_cast<std::size_t>(options.ranks));
    comm::run_processes(options.ranks, [&](std::shared_ptr<comm::Communicator> communicator) {
        const auto rank = static_cast<std::size_t>(communicator->rank().value);
        build(built[rank], plans, placement, options, std::move(communicator));
    });
    return built;
}

/// All that there is, however it is cut.
struct Whole {
    std::map<std::uint64_t, Entries> entries;  ///< by source
    std::multiset<std::tuple<std::uint64_t, std::uint64_t, double>> synapses;
};

Whole read_all(const std::vector<Built>& built) {
    Whole whole;
    for (std::size_t rank = 0; rank < built.size(); ++rank) {
        for (const auto& [source, address, target, weight] : read(built[rank])) {
            whole.entries[source].insert({static_cast<std::int32_t>(rank), address});
            whole.synapses.emplace(source, target, weight);
        }
    }
    return whole;
}

/// The network that one process builds with one worker.
Whole build_alone(const std::vector<ProjectionPlan>& plans) {
    return read_all(build_all(plans, Placement(neurons), {}));
}

/// The entries of a source, as the engine finds them: ranks [first, last), appended, ascending by rank.
void expect_found(const PresynapticTable& table, std::uint32_t shard, std::uint32_t local, const Entries& entries,
                  std::int32_t ranks) {
    for (std::int32_t first = 0; first <= ranks; ++first) {
        for (std::int32_t last = first; last <= ranks; ++last) {
            std::vector<comm::Destination> found{{Rank{-7}, 7}};
            table.find(shard, local, Rank{first}, Rank{last}, found);
            std::vector<std::pair<std::int32_t, std::uint64_t>> appended;
            for (std::size_t i = 1; i < found.size(); ++i) appended.emplace_back(found[i].rank.value, found[i].address);
            const std::vector expected(entries.lower_bound({first, 0}), entries.lower_bound({last, 0}));
            ASSERT_EQ(appended, expected) << "ranks " << first << " to " << last;
        }
    }
}

/// Checks the table of one process, source by source. Returns the number of its entries.
std::uint64_t expect_entries(const Built& own, const std::map<std::uint64_t, Entries>& all, const Options& options) {
    const PresynapticTable& table = *own.presynaptic;
    std::set<std::int32_t> ranks;
    std::uint64_t count = 0;
    for (std::uint32_t shard = 0; shard < options.workers; ++shard) {
        const ShardLayout& layout = own.layout->shard(shard);
        EXPECT_EQ(table.sources(shard), layout.size());
        for (std::uint32_t local = 0; local < layout.size(); ++local) {
            const ShardLayout::PopulationShare& share = layout.share(layout.population_of(LocalIndex{local}));
            // The gaps between populations belong to nobody.
            const bool exists = local >= share.offset && local - share.offset < share.ids.size();
            const auto entries = exists ? all.find(layout.id_of(LocalIndex{local}).value) : all.end();
            const Entries mine = entries == all.end() ? Entries{} : entries->second;
            expect_found(table, shard, local, mine, options.ranks);
            for (const auto& [rank, address] : mine) ranks.insert(rank);
            count += mine.size();
        }
    }
    EXPECT_EQ(table.size(), count);
    std::set<std::int32_t> told;
    for (const Rank rank : table.ranks()) told.insert(rank.value);
    EXPECT_EQ(told, ranks);
    return count;
}

/// Builds the network on several processes and checks their tables against all that there is.
/// @param alone the same network on one process
void expect_right(const std::vector<ProjectionPlan>& plans, const Whole& alone, const Placement& placement,
                  const Options& options) {
    SCOPED_TRACE("placement " + std::to_string(static_cast<int>(placement.kind())) + ", ranks " +
                 std::to_string(options.ranks) + ", workers " + std::to_string(options.workers) + ", numbering " +
                 std::to_string(static_cast<int>(options.numbering)) + ", buffer " +
                 std::to_string(options.buffer_bytes));
    const std::vector<Built> built = build_all(plans, placement, options);
    const Whole whole = read_all(built);
    EXPECT_EQ(whole.synapses, alone.synapses);
    std::uint64_t entries = 0;
    for (const Built& own : built) {
        entries += expect_entries(own, whole.entries, options);
        EXPECT_EQ(own.rounds, built[0].rounds);
    }
    std::uint64_t expected = 0;
    for (const auto& [source, own] : whole.entries) expected += own.size();
    EXPECT_EQ(entries, expected);
    EXPECT_GT(entries, 20u);
}

constexpr RowNumbering numberings[] = {RowNumbering::dense, RowNumbering::compact, RowNumbering::unsorted};

TEST(PresynapticTable, HoldsWhatTheTargetsNeed) {
    for (const double density : {1.0, 0.1}) {
        const std::vector<ProjectionPlan> plans = make_plans(density);
        const Whole alone = build_alone(plans);
        for (const RowNumbering numbering : numberings) {
            for (const std::int32_t ranks : {1, 2, 3, 5}) {
                for (const Placement& placement : placements(ranks)) {
                    expect_right(plans, alone, placement, {.ranks = ranks, .workers = 2, .numbering = numbering});
                }
            }
        }
    }
}

TEST(PresynapticTable, IsTheSameForAnyBufferAndNumberOfWorkers) {
    const std::vector<ProjectionPlan> plans = make_plans(0.15);
    const Whole alone = build_alone(plans);
    // Each placement with each number of workers, in turn: nine threads wait for each other in hundreds of rounds, which
    // takes a second beside other programs. The test above has all placements with each numbering.
    const std::vector<Placement> all = placements(3);
    std::size_t turn = 0;
    for (const RowNumbering numbering : numberings) {
        for (const std::uint64_t bytes : {1u, 1500u}) {
            for (const std::uint32_t workers : {1u, 3u}) {
                expect_right(plans, alone, all[turn % all.size()],
                             {.ranks = 3, .workers = workers, .numbering = numbering, .buffer_bytes = bytes});
            }
            ++turn;
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

/// So much that it is sorted and coded in several blocks, some of which have one source.
TEST(PresynapticTable, HoldsWhatTakesManyBlocks) {
    constexpr std::int32_t ranks = 300;
    constexpr std::uint64_t size = std::uint64_t{ranks} * 200;
    const std::vector<PopulationRange> ranges{{NeuronId{0}, size}, {NeuronId{size}, ranks}};
    // A neuron of the second population has as many targets as 1000 of the first.
    const std::vector<ProjectionPlan> plans{
        make_plan(0, 0, 0, {"fixed_indegree", {{"indegree", 1000}}}, 20.0, ranges),
        make_plan(1, 1, 0, {"fixed_indegree", {{"indegree", 1000}}}, -20.0, ranges)};
    for (const std::uint32_t workers : {1u, 2u}) {
        Built built;
        build(built, plans, {size + ranks, ranks, PlacementKind::round_robin, 1},
              {.ranks = ranks, .workers = workers, .numbering = RowNumbering::unsorted},
              comm::make_mirror_communicator(ranks), ranges);
        const PresynapticTable& table = *built.presynaptic;
        // More than two of the smallest blocks for each worker: 19 bits of an address and 9 of a rank.
        ASSERT_GT(table.size() * 28 / 8 / workers, std::uint64_t{2} << 18);
        std::vector<RowAddresses::Entry> listed;
        built.addresses.list(0, built.addresses.candidates(), listed);
        ASSERT_EQ(table.size(), listed.size());
        // Others are taken to do what this process does, each with neurons of the same population in turn.
        const Placement& placement = built.layout->placement();
        std::map<std::pair<std::int32_t, std::uint64_t>, std::uint64_t> places;  // by entry
        for (const auto& [source, address] : listed) {
            const Placement::Location location = placement.locate(source);
            places[{location.rank.value, address}] = location.place;
        }
        std::map<std::int32_t, std::uint64_t> shifts;
        for (std::uint64_t place = 0; place < size / ranks + 1; ++place) {
            const NeuronId source = placement.id_at(Rank{0}, place);
            const ShardLayout& shard = built.layout->shard(built.layout->shard_of(source).value);
            const LocalIndex local = shard.local_index(built.layout->population_of(source), source);
            std::vector<comm::Destination> found;
            table.find(shard.shard().value, local.value, Rank{0}, Rank{ranks}, found);
            Entries entries;
            for (const comm::Destination& destination : found) {
                const std::pair entry{destination.rank.value, destination.address};
                ASSERT_TRUE(entries.empty() || *entries.rbegin() < entry);
                entries.insert(entry);
                ASSERT_TRUE(places.contains(entry));
                const std::uint64_t own = places[entry];
                places.erase(entry);
                if (place == size / ranks) {
                    // The only one of its population.
                    ASSERT_EQ(own, place);
                } else {
                    const std::uint64_t shift = (place + size / ranks - own) % (size / ranks);
                    ASSERT_EQ(shifts.emplace(entry.first, shift).first->second, shift);
                }
            }
        }
        EXPECT_TRUE(places.empty());
        EXPECT_EQ(shifts[0], 0u);
        std::set<std::uint64_t> different;
        for (const auto& [rank, shift] : shifts) different.insert(shift);
        // Of 300 drawn from 200, 155 are expected, with a deviation of 5.
        EXPECT_NEAR(static_cast<double>(different.size()), 155.0, 25.0);
    }
}

/// Ranks take few bits, and the rest of the table does not grow with them.
TEST(PresynapticTable, TakesFewBitsForEachOfManyRanks) {
    const std::vector<ProjectionPlan> plans = make_plans(0.3);
    for (const std::int32_t ranks : {2, 1000, 1 << 20}) {
        Built built;
        build(built, plans, {neurons, ranks, PlacementKind::round_robin, 1}, {.ranks = ranks},
              comm::make_mirror_communicator(ranks));
        const PresynapticTable& table = *built.presynaptic;
        ASSERT_GT(table.size(), 0u);
        const auto address_bits = static_cast<unsigned>(std::bit_width(built.addresses.limit() - 1));
        const auto rank_bits = static_cast<unsigned>(std::bit_width(static_cast<unsigned>(ranks - 1)));
        const std::uint64_t sources = built.layout->shard(0).size();
        const std::uint64_t plain = (address_bits + rank_bits) * table.size();
        // A head of a byte or two, and whole bytes, for each source; what may be read after the last one.
        EXPECT_LE(8 * table.bytes(), 64 * sources + plain + 3 * 8 * sources + 64) << ranks;
        EXPECT_GE(table.bits_per_entry(), address_bits);
        EXPECT_NEAR(table.bits_per_entry() * static_cast<double>(table.size()) + 64.0 * static_cast<double>(sources),
                    8.0 * static_cast<double>(table.bytes()), 1e-6 * static_cast<double>(8 * table.bytes()));
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
        const ShardTables none;
        const RowAddresses addresses(numbering, {}, {&none, &none});
        EXPECT_EQ(addresses.candidates(), 0u);
        std::vector<RowAddresses::Entry> entries;
        addresses.list(0, 0, entries);
        EXPECT_TRUE(entries.empty());
    }
}

}  // namespace TEST_FILE
}  // namespace ranvier::connect
