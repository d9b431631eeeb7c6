#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include "connect/tables/kept_partners.hpp"
#include "connect/tables/table_builder.hpp"
#include "ranvier/connect/placement/layout.hpp"
#include "table_building.hpp"

namespace ranvier::connect {
namespace TEST_FILE {

using namespace table_building;

constexpr std::array layouts{TableLayout::runs, TableLayout::ring, TableLayout::blocks};

/// Numbers in memory that can be closed: whoever reads them then crashes.
class ClosableNumbers {
   public:
    explicit ClosableNumbers(const std::vector<double>& values) : bytes_(values.size() * sizeof(double)) {
        void* const memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) throw std::bad_alloc();
        data_ = std::shared_ptr<double>(static_cast<double*>(memory),
                                        [bytes = bytes_](double* data) { munmap(data, bytes); });
        std::ranges::copy(values, data_.get());
    }

    SharedArray shared() const { return {data_, bytes_ / sizeof(double)}; }
    /// @pre begins a page
    void close_from(std::size_t begin) const {
        ASSERT_EQ(mprotect(data_.get() + begin, bytes_ - begin * sizeof(double), PROT_NONE), 0);
    }

   private:
    std::size_t bytes_;
    std::shared_ptr<double> data_;
};

/// The receptor depends on the signs in an array, and is asked for each synapse. If the whole array were read each
/// time, the cost would grow with the square of its length. So it is read once, when the plan is made; afterwards only
/// the values of the synapses that are built are read.
TEST(Weights, AreLookedThroughOnce) {
    constexpr std::uint64_t neurons = 64;
    constexpr std::size_t count = 1 << 14;
    std::vector<Synapse> synapses = random_synapses(neurons, count, 20, 5);
    // The synapses of this process, which has every second neuron, come first, on pages of their own.
    for (std::size_t i = 0; i < count; ++i) synapses[i].target = synapses[i].target / 2 * 2 + (i < count / 2 ? 0 : 1);
    std::vector<double> weights;
    std::vector<double> delays;
    for (const Synapse& synapse : synapses) {
        weights.push_back(synapse.weight);
        delays.push_back(synapse.delay * resolution);
    }
    const ClosableNumbers own_weights(weights);
    const ClosableNumbers own_delays(delays);
    ProjectionPlan plan = make_plan(synapses, neurons, 0);
    plan.weights = {own_weights.shared(), {}};
    plan.delays = {own_delays.shared(), {}};
    own_weights.close_from(count / 2);
    own_delays.close_from(count / 2);
    std::vector<ProjectionPlan> plans;
    plans.push_back(std::move(plan));
    for (const TableLayout layout : layouts) {
        const Built built = build(plans, Placement(neurons, 2, PlacementKind::round_robin, 0), 2, layout);
        std::vector<Synapse> found = read_all(built);
        std::vector<Synapse> expected(synapses.begin(), synapses.begin() + count / 2);
        std::ranges::sort(found);
        std::ranges::sort(expected);
        EXPECT_EQ(found, expected);
    }
}

using Parameters = std::tuple<std::uint32_t, TableLayout, DelaySteps, bool, RowNumbering>;
class Tables : public testing::TestWithParam<Parameters> {};

TEST_P(Tables, HoldWhatWasDrawn) {
    const auto [shards, layout, longest, double_weights, numbering] = GetParam();
    std::vector<Synapse> expected = random_synapses(50, 3000, longest, 7);
    std::vector<Synapse> found =
        read_all(build({make_plan(expected, 50, 0)}, 50, shards, layout, double_weights, numbering));
    std::sort(expected.begin(), expected.end());
    std::sort(found.begin(), found.end());
    EXPECT_EQ(found, expected);
}

/// All windows with one instruction set, one of them with the others.
std::vector<std::uint32_t> windows_with(InstructionSet set) {
    if (set == available_instruction_sets().back()) return {1u, 2u, 8u};
    return {2u};
}

/// The oracle: every spike, every synapse, one after another.
TEST_P(Tables, DeliverEverySpikeAtItsTime) {
    const auto [shards, layout, longest, double_weights, numbering] = GetParam();
    constexpr std::uint64_t neurons = 50;
    const std::vector<Synapse> synapses = random_synapses(neurons, 3000, longest, 11);
    constexpr Step steps = 100;
    std::mt19937 random(3);
    std::vector<std::vector<NeuronId>> spikes(steps + 1);
    for (Step step = 1; step <= steps; ++step) {
        for (std::uint64_t id = 0; id < neurons; ++id) {
            if (random() % 10 == 0) spikes[static_cast<std::size_t>(step)].push_back(NeuronId{id});
        }
    }
    std::map<std::tuple<Step, std::uint64_t, bool>, double> expected;
    std::uint64_t expected_events = 0;
    for (Step step = 1; step <= steps; ++step) {
        for (const NeuronId source : spikes[static_cast<std::size_t>(step)]) {
            for (const Synapse& s : synapses) {
                if (s.source != source.value) continue;
                ++expected_events;
                expected[{step + s.delay, s.target, s.weight < 0.0}] += s.weight;
            }
        }
    }
    for (const InstructionSet set : available_instruction_sets()) {
        for (const std::uint32_t window : windows_with(set)) {
            Built built = build({make_plan(synapses, neurons, 0)}, neurons, shards, layout, double_weights, numbering);
            std::map<std::tuple<Step, std::uint64_t, bool>, double> found;
            std::uint64_t events = 0;
            for (std::uint32_t shard = 0; shard < shards; ++shard) {
                for (std::uint32_t receptor = 0; receptor < 2; ++receptor) {
                    SynapseTable* table = built.tables[shard][receptor].get();
                    if (table == nullptr) continue;
                    const std::uint32_t slots = std::bit_ceil(std::max(window, table->reach() + 1));
                    const std::size_t local = built.layout->shard(shard).size();
                    std::vector<double> inputs(slots * local, 0.0);
                    const InputRing ring{inputs.data(), local, slots - 1};
                    for (Step step = 1; step <= steps + longest; ++step) {
                        if (step % window == 0 && table->deferred() != nullptr) {
                            table->deferred()->deliver(set, step, step + window, ring);
                        }
                        for (std::size_t i = 0; i < local; ++i) {
                            double& input = ring.slot(step)[i];
                            if (input != 0.0) {
                                const std::uint64_t id =
                                    built.layout->shard(shard).id_of(LocalIndex{static_cast<std::uint32_t>(i)}).value;
                                found[{step, id, receptor == 1}] = input;
                            }
                            input = 0.0;
                        }
                        if (step > steps) continue;
                        std::pmr::vector<RowIndex> rows;
                        table->find_rows(spikes[static_cast<std::size_t>(step)], rows);
                        events += table->accept(set, step, rows, step, (step / window + 1) * window, ring);
                    }
                }
            }
            EXPECT_EQ(events, expected_events);
            // Exactly: weights with 24 bits on the grid, sums without rounding.
            EXPECT_EQ(found, expected) << to_string(set) << " window " << window;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, Tables,
                         testing::Combine(testing::Values(1u, 2u, 3u), testing::ValuesIn(layouts),
                                          testing::Values(1u, 2u, 40u, 300u), testing::Bool(),
                                          testing::Values(RowNumbering::dense, RowNumbering::compact,
                                                          RowNumbering::unsorted)));

/// 3000 synapses from 100,000 possible sources: most have none.
TEST(CompactRows, TakeMemoryForSourcesThatAreThereOnly) {
    constexpr std::uint64_t neurons = 100'000;
    std::vector<Synapse> expected = random_synapses(neurons, 3000, 20, 5);
    const std::vector<ProjectionPlan> plans{make_plan(expected, neurons, 0)};
    const Built compact = build(plans, neurons, 2, TableLayout::automatic, false, RowNumbering::compact);
    const Built dense = build(plans, neurons, 2, TableLayout::automatic, false, RowNumbering::dense);
    std::vector<Synapse> found = read_all(compact);
    std::sort(expected.begin(), expected.end());
    std::sort(found.begin(), found.end());
    EXPECT_EQ(found, expected);
    for (std::uint32_t shard = 0; shard < 2; ++shard) {
        std::uint64_t synapses = 0;
        for (std::uint32_t receptor = 0; receptor < 2; ++receptor) {
            const SynapseTable& table = *compact.tables[shard][receptor];
            EXPECT_LT(table.rows(), 1000u);
            synapses += table.synapses()->size();
        }
        // Target, weight, delay, beginning of the row, source.
        EXPECT_LE(compact.memory[shard].bytes(), synapses * (4 + 4 + 1 + 4 + 4) + 2 * 4);
        EXPECT_GT(dense.memory[shard].bytes(), 2 * neurons * 4);
    }
}

TEST(CompactRows, ForgetTheirSources) {
    const std::vector<Synapse> synapses = random_synapses(1000, 300, 20, 5);
    for (const RowNumbering numbering : {RowNumbering::dense, RowNumbering::compact, RowNumbering::unsorted}) {
        const Built built = build({make_plan(synapses, 1000, 0)}, 1000, 1, TableLayout::automatic, false, numbering);
        SynapseTable& table = *built.tables[0][0];
        const std::uint64_t before = built.memory[0].bytes();
        const std::uint64_t rows = table.rows() + built.tables[0][1]->rows();
        EXPECT_TRUE(table.has_sources());
        for (const auto& one : built.tables[0]) one->synapses()->freeable_sources()->free_sources();
        EXPECT_EQ(table.has_sources(), numbering == RowNumbering::dense);
        EXPECT_EQ(before - built.memory[0].bytes(), numbering == RowNumbering::dense ? 0u : 4u * rows);
    }
}

TEST(SynapseTable, FindsTheRowsOfSourcesInAnyOrder) {
    const std::vector<Synapse> synapses = random_synapses(40, 300, 20, 5);
    // More than once, and one that is beyond all that the table could have.
    const std::vector<std::uint64_t> sources{7, 3, 39, 7, 0, 40, 12};
    for (const RowNumbering numbering : {RowNumbering::dense, RowNumbering::compact, RowNumbering::unsorted}) {
        const Built built = build({make_plan(synapses, 40, 0)}, 40, 2, TableLayout::automatic, false, numbering);
        std::multiset<std::tuple<std::uint64_t, std::uint64_t, double>> found;
        for (std::uint32_t shard = 0; shard < 2; ++shard) {
            for (const auto& table : built.tables[shard]) {
                std::vector<NeuronId> ids;
                for (const std::uint64_t source : sources) ids.emplace_back(source);
                std::pmr::vector<RowIndex> rows;
                table->find_rows(ids, rows);
                std::size_t turn = 0;
                for (const RowIndex row : rows) {
                    while (turn < ids.size() && ids[turn] != table->source(row)) ++turn;
                    ASSERT_LT(turn, ids.size()) << "not one source after another";
                    const StoredSynapses& stored = *table->synapses();
                    for (std::uint64_t i = stored.row_begin(row); i < stored.row_end(row); ++i) {
                        const NeuronId target = built.layout->shard(shard).id_of(LocalIndex{stored.target(i)});
                        found.emplace(table->source(row).value, target.value, stored.weight(i));
                    }
                    if (numbering != RowNumbering::unsorted) ++turn;
                }
            }
        }
        std::multiset<std::tuple<std::uint64_t, std::uint64_t, double>> expected;
        for (const std::uint64_t source : sources) {
            for (const Synapse& s : synapses) {
                if (s.source == source) expected.emplace(s.source, s.target, s.weight);
            }
        }
        EXPECT_EQ(found, expected);
    }
}

TEST(TableLayoutChoice, DependsOnTheLengthOfRuns) {
    // 3000 synapses in 50 rows: with one delay 60 a run, with 40 delays 1.5.
    const auto has_runs = [](DelaySteps longest) {
        const Built built =
            build({make_plan(random_synapses(50, 3000, longest, 1), 50, 0)}, 50, 1, TableLayout::automatic);
        return built.tables[0][0]->deferred() != nullptr;
    };
    EXPECT_TRUE(has_runs(1));
    EXPECT_FALSE(has_runs(40));
}

TEST(TableTags, TellProjectionsApartThatShareTheirPairs) {
    const std::vector<Synapse> first = random_synapses(20, 300, 10, 1);
    const std::vector<Synapse> second = random_synapses(20, 200, 10, 2);
    for (const TableLayout layout : layouts) {
        const Built built = build({make_plan(first, 20, 0), make_plan(second, 20, 1)}, 20, 2, layout);
        std::map<std::uint32_t, std::size_t> count;
        for (const ShardTables& tables : built.tables) {
            for (const auto& table : tables) {
                ASSERT_TRUE(table && table->synapses()->has_tags());
                const StoredSynapses& synapses = *table->synapses();
                for (std::uint64_t position = 0; position < synapses.size(); ++position)
                    ++count[synapses.tag(position)];
            }
        }
        EXPECT_EQ(count, (std::map<std::uint32_t, std::size_t>{{0, 300}, {1, 200}}));
    }
    EXPECT_FALSE(build({make_plan(first, 20, 0)}, 20, 1, TableLayout::runs).tables[0][0]->synapses()->has_tags());
}

/// In calls of some neurons, with differences of all lengths.
TEST(KeptPartners, AreTakenAsTheyWereAdded) {
    std::mt19937 random(4);
    std::vector<std::vector<std::uint32_t>> degrees(90);
    std::vector<std::vector<std::uint32_t>> places(90);
    for (std::size_t call = 0; call < degrees.size(); ++call) {
        for (std::size_t neuron = 0; neuron < call % 4; ++neuron) {
            degrees[call].push_back(static_cast<std::uint32_t>(random() % 500));
            std::uint32_t place = 0;
            for (std::uint32_t i = 0; i < degrees[call].back(); ++i) {
                place += static_cast<std::uint32_t>(random() % (1U << (2 * (call % 11))));
                places[call].push_back(place);
            }
        }
    }
    degrees[5] = {2};
    places[5] = {UINT32_MAX - 1, UINT32_MAX};
    for (const std::uint64_t most : {std::uint64_t{1} << 30, std::uint64_t{20'000}, std::uint64_t{0}}) {
        KeptPartners kept(most);
        for (std::size_t call = 0; call < degrees.size(); ++call) kept.add(degrees[call], places[call]);
        std::size_t call = 0;
        std::vector<std::uint32_t> some_degrees;
        std::vector<std::uint32_t> some_places;
        while (call < degrees.size() && kept.take(some_degrees, some_places)) {
            ASSERT_EQ(some_degrees, degrees[call]);
            ASSERT_EQ(some_places, places[call]);
            ++call;
        }
        EXPECT_EQ(call == degrees.size(), most > 20'000);
        EXPECT_EQ(call == 0, most == 0);
        EXPECT_FALSE(kept.take(some_degrees, some_places));
    }
}

TEST(RowMap, JoinsRangesAndFindsRows) {
    const RowMap map({{NeuronId{100}, 10, 0}, {NeuronId{5}, 3, 0}, {NeuronId{105}, 10, 0}, {NeuronId{50}, 0, 0}});
    EXPECT_EQ(map.rows(), 18u);
    for (std::uint32_t row = 0; row < map.rows(); ++row) EXPECT_EQ(map.row(map.source(RowIndex{row})).value, row);
    for (const std::uint64_t id : {0u, 4u, 8u, 50u, 99u, 115u}) EXPECT_EQ(map.row(NeuronId{id}), RowMap::none) << id;
    EXPECT_EQ(RowMap().row(NeuronId{0}), RowMap::none);
}

TEST(ShardLayout, DealsEveryNeuronToOneShard) {
    const std::vector<PopulationRange> populations{
        {NeuronId{0}, 13}, {NeuronId{13}, 0}, {NeuronId{13}, 1}, {NeuronId{14}, 29}};
    for (const std::uint32_t shards : {1u, 2u, 3u, 7u, 50u}) {
        std::vector<int> seen(43, 0);
        const IdSequence all(NeuronId{0}, 1, 43);
        for (std::uint32_t shard = 0; shard < shards; ++shard) {
            const ShardLayout layout(ShardId{shard}, all.every(shard, shards), populations);
            for (std::uint32_t p = 0; p < populations.size(); ++p) {
                const ShardLayout::PopulationShare& share = layout.share(PopulationId{p});
                EXPECT_EQ(share.offset % ShardLayout::alignment, 0u);
                for (std::uint64_t i = 0; i < share.ids.size(); ++i) {
                    const NeuronId id = share.ids[i];
                    const LocalIndex local = layout.local_index(PopulationId{p}, id);
                    EXPECT_EQ(layout.id_of(local), id);
                    EXPECT_EQ(layout.population_of(local).value, p);
                    EXPECT_LT(local.value, layout.size());
                    ++seen[id.value];
                }
            }
        }
        EXPECT_EQ(seen, std::vector<int>(43, 1)) << shards;
    }
}

}  // namespace TEST_FILE
}  // namespace ranvier::connect
