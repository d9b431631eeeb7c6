#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "connect/rules/selected.hpp"
#include "connect/tables/network_plan.hpp"
#include "connect/tables/stored_synapses.hpp"
#include "connect/tables/table_builder.hpp"
#include "device/cuda/cuda_device.hpp"
#include "engine/devices/construction_image.hpp"
#include "engine/devices/table_rows.hpp"
#include "fake_gpu.hpp"
#include "ranvier/parallel/team.hpp"
#include "rule_testing.hpp"

/// Rows that devices draw are those of tables that processors build.
namespace ranvier::engine {
namespace TEST_FILE {

using connect::PairSpace;
using connect::ProjectionPlan;
using connect::RuleSpec;
using device::BlockRows;
using device::u32;
using device::u64;

constexpr std::uint32_t receptors = 3;

/// Populations of consecutive ids, and projections between them.
struct Drawn {
    std::vector<connect::PopulationRange> ranges;
    connect::NetworkPlan plan;
};

RuleSpec drawn_rule(std::mt19937_64& random, std::uint64_t sources, std::uint64_t targets, bool same) {
    const auto below = [&](std::uint64_t count) { return static_cast<std::uint64_t>(random() % count); };
    const bool autapses = below(2) == 0;
    const bool multapses = below(2) == 0;
    const auto most = [&](std::uint64_t partners) { return partners - (same && !autapses ? 1 : 0); };
    // All numbers occur: none, a few, more than half, and all.
    const auto degree = [&](std::uint64_t partners) -> std::uint64_t {
        if (most(partners) == 0) return 0;
        if (below(3) == 0) return std::min(below(8), most(partners));
        return multapses ? below(3 * partners) : below(3) == 0 ? most(partners) - below(2) : below(most(partners) + 1);
    };
    switch (below(6)) {
        case 0:
            return {"fixed_indegree",
                    {{"indegree", degree(sources)}, {"allow_autapses", autapses}, {"allow_multapses", multapses}}};
        case 1:
            return {"fixed_outdegree",
                    {{"outdegree", degree(targets)}, {"allow_autapses", autapses}, {"allow_multapses", multapses}}};
        case 2: {
            const std::uint64_t pairs = sources * targets - (same && !autapses ? sources : 0);
            return {"fixed_total_number",
                    {{"number", pairs == 0 ? 0 : below(multapses ? 2 * pairs : pairs + 1)},
                     {"allow_autapses", autapses},
                     {"allow_multapses", multapses}}};
        }
        case 3:
            return rule_testing::bernoulli(std::vector{0.0, 1e-9, 0.03, 0.4, 1.0}[below(5)], autapses);
        case 4: {
            const std::uint64_t greatest = degree(sources);
            return rule_testing::uniform_indegree(below(greatest + 1), greatest, autapses, multapses);
        }
        default:
            if (sources == targets && below(2) == 0) return rule_testing::rule("one_to_one", 0, autapses);
            return rule_testing::rule("all_to_all", 0, autapses);
    }
}

connect::SynapseValues drawn_values(std::mt19937_64& random, double scale, bool has_signs, RandomKey key) {
    const auto below = [&](std::uint64_t count) { return static_cast<std::uint64_t>(random() % count); };
    if (below(3) == 0) return {has_signs && below(2) == 0 ? -scale : scale, key};
    Distribution made{.kind = static_cast<Distribution::Kind>(1 + below(4)), .first = scale, .second = 0.4 * scale};
    if (made.kind == Distribution::Kind::lognormal) made.first = std::log(scale), made.second = 0.7;
    if (made.kind == Distribution::Kind::uniform) made.second = 1.5 * scale;
    if (has_signs && below(2) == 0) {
        made.first -= 1.2 * scale;
        if (made.kind == Distribution::Kind::lognormal) made.first = 0.1;
    }
    made.restriction = static_cast<Distribution::Restriction>(below(3));
    if (made.restriction != Distribution::Restriction::none) {
        const double middle = made.quantile(0.5);
        made.lower = middle - 0.2 * scale;
        made.upper = below(2) == 0 ? middle + 0.5 * scale : std::numeric_limits<double>::infinity();
    }
    return {made, key};
}

/// All neurons, or some with gaps between them.
IdSequence drawn_part(std::mt19937_64& random, const connect::PopulationRange& range) {
    if (random() % 2 == 0) return {range.first, 1, range.size};
    const std::uint64_t stride = 1 + random() % 4;
    const std::uint64_t first = random() % range.size;
    const std::uint64_t size = 1 + (range.size - 1 - first) / stride;
    if (random() % 2 == 0) return {NeuronId{range.first.value + first}, stride, size};
    auto list = std::make_shared<std::vector<std::uint64_t>>();
    for (std::uint64_t i = first; i < range.size; i += 1 + random() % 3) list->push_back(range.first.value + i);
    const std::uint64_t count = list->size();
    return {std::move(list), 0, count};
}

Drawn drawn_network(unsigned seed) {
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t count) { return static_cast<std::uint64_t>(random() % count); };
    Drawn drawn;
    std::uint64_t end = 0;
    for (std::uint64_t p = 0; p < 1 + below(4); ++p) {
        const std::uint64_t size = std::vector<std::uint64_t>{1, 2, 31, 50, 50, 200, 1100}[below(7)];
        drawn.ranges.push_back({NeuronId{end}, size});
        end += size;
    }
    std::vector<ProjectionPlan> plans;
    std::vector<connect::KindChoice> kinds;
    for (std::uint32_t id = 0; id < 1 + below(5); ++id) {
        const auto source = static_cast<std::size_t>(below(drawn.ranges.size()));
        const auto target = static_cast<std::size_t>(below(drawn.ranges.size()));
        const connect::PopulationRange& from = drawn.ranges[source];
        const connect::PopulationRange& to = drawn.ranges[target];
        ProjectionPlan plan;
        plan.id = ProjectionId{id};
        const IdSequence sources = drawn_part(random, from);
        const IdSequence targets = drawn_part(random, to);
        connect::SelectedRule rule = connect::bind_selected(
            drawn_rule(random, sources.size(), targets.size(), source == target), sources, targets, seed, plan.id);
        plan.pairs = rule.hull;
        plan.sources = rule.sources;
        plan.target_populations = {PopulationId{static_cast<std::uint32_t>(target)}};
        plan.sampler = std::move(rule.sampler);
        plan.weights = drawn_values(random, 45.0, true, make_key(seed, Purpose::weight, id));
        plan.delays = drawn_values(random, 1.5, false, make_key(seed, Purpose::delay, id));
        if (below(4) == 0) plan.delay_grid = {.steps_per_millisecond = 5.0, .stride = 2};
        plan.most_spikes = static_cast<std::uint32_t>(1 + below(3));
        plans.push_back(std::move(plan));
        const auto receptor = static_cast<std::uint32_t>(below(2));
        kinds.push_back({.positive = {.receptor = receptor, .synapse = 0},
                         .negative = {.receptor = static_cast<std::uint32_t>(below(3)), .synapse = 0}});
    }
    drawn.plan = connect::make_network_plan(std::move(plans), kinds);
    return drawn;
}

/// Few of many partners, many with repetition, and all of them; and pairs with gaps between their ids.
Drawn uneven_network() {
    const connect::PopulationRange many{NeuronId{0}, 3000};
    const connect::PopulationRange few{NeuronId{3000}, 40};
    Drawn drawn{.ranges = {many, few}, .plan = {}};
    std::vector<ProjectionPlan> plans;
    const auto add_parts = [&](const IdSequence& from, const IdSequence& to, std::uint32_t target,
                               const RuleSpec& rule) {
        ProjectionPlan& plan = plans.emplace_back();
        plan.id = ProjectionId{static_cast<std::uint32_t>(plans.size() - 1)};
        connect::SelectedRule selected = connect::bind_selected(rule, from, to, 1, plan.id);
        plan.pairs = selected.hull;
        plan.sources = selected.sources;
        plan.target_populations = {PopulationId{target}};
        plan.sampler = std::move(selected.sampler);
        plan.weights = {Distribution{.kind = Distribution::Kind::normal, .first = 1.0, .second = 0.2},
                        make_key(1, Purpose::weight, plan.id.value)};
        plan.delays = {1.0, {}};
    };
    const auto add = [&](const connect::PopulationRange& from, const connect::PopulationRange& to, std::uint32_t target,
                         const RuleSpec& rule) {
        add_parts({from.first, 1, from.size}, {to.first, 1, to.size}, target, rule);
    };
    add(many, few, 1, {"fixed_indegree", {{"indegree", 3}, {"allow_multapses", false}}});
    add(few, many, 0, {"fixed_outdegree", {{"outdegree", 3}, {"allow_multapses", false}}});
    add(many, few, 1, {"fixed_indegree", {{"indegree", 2500}}});
    add(many, few, 1, rule_testing::rule("all_to_all", 0, true));
    add_parts({many.first, 70, 13}, {few.first, 3, 13}, 1, rule_testing::rule("one_to_one", 0, true));
    add_parts({few.first, 3, 14}, {few.first, 2, 14}, 1, rule_testing::rule("one_to_one", 0, false));
    const std::vector<connect::KindChoice> kinds(plans.size());
    drawn.plan = connect::make_network_plan(std::move(plans), kinds);
    return drawn;
}

/// (source, cell, weight) of a block, sorted.
using Synapses = std::vector<std::tuple<u64, u32, float>>;

Synapses sorted(const BlockRows& rows) {
    Synapses all;
    for (std::size_t source = 0; source + 1 < rows.begin.size(); ++source) {
        for (u64 s = rows.begin[source]; s < rows.begin[source + 1]; ++s) {
            all.emplace_back(source, rows.synapses[s].cell, rows.synapses[s].weight);
        }
    }
    std::ranges::sort(all);
    return all;
}

/// The same of tables. @param image for the numbers of neurons
Synapses sorted(const connect::ShardTables& tables, const connect::NetworkPlan& plan, u32 block,
                const device::ConstructionImage& image) {
    Synapses all;
    for (u32 kind = 0; kind < tables.size(); ++kind) {
        if (!tables[kind]) continue;
        const connect::StoredSynapses& stored = *tables[kind]->synapses();
        const device::Receptor& receptor = image.receptors[block * receptors + plan.kinds[kind].receptor];
        for (u32 row = 0; row < tables[kind]->rows(); ++row) {
            const RowIndex index{row};
            std::vector<connect::SynapseView> views;
            stored.read(index, stored.row_begin(index), stored.row_end(index), views);
            for (const connect::SynapseView& view : views) {
                all.emplace_back(image.numbers[tables[kind]->source(index).value],
                                 receptor.cell(view.delay, view.target),
                                 static_cast<float>(stored.weight(view.position)));
            }
        }
    }
    std::ranges::sort(all);
    return all;
}

/// What has been compared, as text.
using Seen = std::set<std::string>;

void note(const device::ConstructionImage& image, Seen& seen) {
    for (const device::ProjectionImage& each : image.projections) {
        const device::ProjectionDraws& draws = each.draws;
        const std::string side = draws.by_source != 0 ? " by source" : " by target";
        const u64 allowed = draws.partners - (draws.allows_autapses != 0 ? 0 : 1);
        const auto is_over_half = [&](u32 degree) { return degree > 0 && degree > allowed / 2; };
        const bool has_complement = is_over_half(draws.degree) || std::ranges::any_of(each.degrees, is_over_half);
        std::string way = "way " + std::to_string(static_cast<u32>(draws.way));
        if (draws.way == device::DrawWay::without_repetition) {
            way += draws.set_slots != 0 ? " with a table" : has_complement ? " of the others" : " with bits";
        }
        seen.insert(way + side);
        if (!each.numbers.empty()) seen.insert("gaps between major neurons of way " + way.substr(4, 1));
        if (!each.partner_ids.empty()) seen.insert("gaps between partners of way " + way.substr(4, 1));
        if (!each.own_partners.empty()) seen.insert("own partners");
        if (draws.parts > 1) seen.insert("parts of way " + std::to_string(static_cast<u32>(draws.way)));
        for (const device::ValueDraws& values : {draws.weights, draws.delays}) {
            seen.insert("values " + std::to_string(static_cast<u32>(values.kind)) + " within " +
                        std::to_string(static_cast<u32>(values.bounds)));
        }
    }
}

/// Draws the rows on a device, and compares them with those of tables. Returns their number.
/// @param given whether every second projection comes from tables
std::uint64_t compare(const Drawn& drawn, device::Backend& backend, u32 blocks, Seen& seen, bool given = false) {
    const connect::Placement placement(drawn.ranges.back().first.value + drawn.ranges.back().size);
    const connect::ProcessLayout layout(placement, Rank{0}, blocks, drawn.ranges);
    parallel::Team team{std::vector<parallel::Place>(2)};
    connect::TableBuilder builder(drawn.plan, layout, {}, team, comm::make_local_communicator());
    std::vector<connect::ShardTables> tables(blocks);
    team.run([&](std::uint32_t worker) {
        builder.build(worker);
        team.for_assigned_items(worker, blocks, [&](std::uint32_t shard) { tables[shard] = builder.finish(shard); });
    });
    const std::vector<bool> drawable = drawn_projections(drawn.plan);
    EXPECT_EQ(std::ranges::count(drawable, false), 0);
    const auto images = drawn_receptors(drawn.plan, layout, receptors);
    std::vector<bool> by_device(drawn.plan.projections.size(), true);
    std::optional<connect::NetworkPlan> others;
    if (given) {
        for (std::size_t p = 0; p < by_device.size(); ++p) by_device[p] = p % 2 == 0;
        others = connect::without(drawn.plan, by_device);
    }
    device::ConstructionImage image = construction_image(drawn.plan, layout, images, by_device, team);
    std::optional<connect::TableBuilder> builder_of_others;
    std::vector<connect::ShardTables> tables_of_others(blocks);
    if (given) {
        builder_of_others.emplace(*others, layout, connect::BuildOptions{}, team, comm::make_local_communicator());
        builder_of_others->keep_inputs();
        team.run([&](std::uint32_t worker) {
            builder_of_others->build(worker);
            team.for_assigned_items(worker, blocks, [&](std::uint32_t shard) {
                tables_of_others[shard] = builder_of_others->finish_static(shard);
                for (const auto& table : builder_of_others->finish(shard)) EXPECT_EQ(table, nullptr);
            });
        });
        image.input_counts = input_counts(*builder_of_others, image, receptors);
        image.given = [&](u32 block, bool with_synapses, BlockRows& rows) {
            copy_table_rows(
                tables_of_others[block], drawn.plan, std::span(image.receptors).subspan(block * receptors, receptors),
                static_cast<u32>(image.ids.size()),
                [&](connect::KindIndex kind, RowIndex row) {
                    return image.numbers[tables_of_others[block][kind.value]->source(row).value];
                },
                with_synapses, rows);
        };
    }
    note(image, seen);
    const DrawnRowWeights weights(drawn.plan, backend.construct(image),
                                  builder_of_others ? &*builder_of_others : nullptr);
    EXPECT_FALSE(weights.are_lost());
    for (std::uint32_t receptor = 0; receptor < drawn.plan.receptors(); ++receptor) {
        EXPECT_EQ(weights.most_inputs(receptor), builder.most_inputs(receptor));
        for (std::size_t p = 0; p < drawn.plan.projections.size(); ++p) {
            const connect::WeightRange found = weights.weights(p, receptor);
            const connect::WeightRange expected = builder.weights(p, receptor);
            EXPECT_EQ(found.least, expected.least);
            EXPECT_EQ(found.greatest, expected.greatest);
            EXPECT_EQ(found.quantum, expected.quantum);
        }
    }
    device::NetworkImage network;
    network.has_rows = true;
    std::uint64_t synapses = 0;
    for (u32 b = 0; b < blocks; ++b) {
        device::BlockImage& block = network.blocks.emplace_back();
        block.neurons = layout.shard(b).size();
        block.slots = 64;
        block.receptors = images[b];
        block.rows = static_cast<u32>(image.ids.size());
        block.synapses = weights.rows().synapses[b];
        synapses += weights.rows().synapses[b];
    }
    backend.load(network);
    for (u32 b = 0; b < blocks; ++b) {
        BlockRows rows;
        backend.get_rows(b, rows);
        EXPECT_EQ(rows.begin.size(), image.ids.size() + 1);
        EXPECT_EQ(sorted(rows), sorted(tables[b], drawn.plan, b, image)) << "block " << b;
    }
    return synapses;
}

TEST(DeviceRows, AreThoseOfTables) {
    std::uint64_t synapses = 0;
    Seen seen;
    for (unsigned seed = 1; seed <= 30; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const u32 blocks = 1 + seed % 9;
        const auto emulator = device::make_emulator({.blocks = blocks, .threads = 32 * (1 + seed % 3), .seed = seed});
        synapses += compare(drawn_network(seed), *emulator, blocks, seen);
        if (testing::Test::HasFailure()) break;
    }
    compare(uneven_network(), *device::make_emulator({.blocks = 5, .threads = 64, .seed = 1}), 5, seen);
    EXPECT_GT(synapses, 300'000U);
    for (const char* const way :
         {"way 0 by target", "way 0 by source", "way 1 with a table by target", "way 1 with a table by source",
          "way 1 of the others by target", "way 1 of the others by source", "way 1 with bits by target",
          "way 1 with bits by source", "way 2 by target", "way 3 by target", "way 4 by target", "parts of way 0",
          "parts of way 3", "own partners"}) {
        EXPECT_TRUE(seen.contains(way)) << way;
    }
    for (u32 way = 0; way < 5; ++way) {
        EXPECT_TRUE(seen.contains("gaps between major neurons of way " + std::to_string(way))) << way;
        EXPECT_TRUE(seen.contains("gaps between partners of way " + std::to_string(way))) << way;
    }
    for (u32 kind = 1; kind < 5; ++kind) {
        for (u32 bounds = 0; bounds < 3; ++bounds) {
            EXPECT_TRUE(seen.contains("values " + std::to_string(kind) + " within " + std::to_string(bounds)))
                << kind << ' ' << bounds;
        }
    }
}

TEST(DeviceRows, AreJoinedWithThoseOfTables) {
    std::uint64_t synapses = 0;
    Seen seen;
    for (unsigned seed = 201; seed <= 215; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const u32 blocks = 1 + seed % 7;
        const auto emulator = device::make_emulator({.blocks = blocks, .threads = 32 * (1 + seed % 3), .seed = seed});
        synapses += compare(drawn_network(seed), *emulator, blocks, seen, true);
        if (testing::Test::HasFailure()) break;
    }
    EXPECT_GT(synapses, 100'000U);
}

TEST(DeviceRows, AreDrawnByGpus) {
    device::FakeGpu::reset();
    Seen seen;
    for (unsigned seed = 101; seed <= 110; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const u32 blocks = 1 + seed % 3;
        const auto gpu = device::make_cuda_device({}, device::fake_driver(), device::fake_compiler());
        if (seed % 2 == 0) gpu->expect_construction();
        compare(drawn_network(seed), *gpu, blocks, seen, seed % 3 == 0);
    }
}

}  // namespace TEST_FILE
}  // namespace ranvier::engine
