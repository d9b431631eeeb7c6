#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "connect/tables/network_plan.hpp"
#include "connect/tables/stored_synapses.hpp"
#include "connect/tables/table_builder.hpp"
#include "counting_memory.hpp"
#include "ranvier/connect/placement/layout.hpp"
#include "ranvier/parallel/team.hpp"

/// Tables of synapses that are given one by one.
namespace ranvier::connect::table_building {

inline constexpr double resolution = 0.1;

struct Synapse {
    std::uint64_t source;
    std::uint64_t target;
    double weight;
    DelaySteps delay;

    friend auto operator<=>(const Synapse&, const Synapse&) = default;
};

/// Some synapses between 0..neurons-1, all in one population, as an explicit list.
inline std::vector<Synapse> random_synapses(std::uint64_t neurons, std::size_t count, DelaySteps longest,
                                            unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_int_distribution<std::uint64_t> id(0, neurons - 1);
    std::uniform_int_distribution<DelaySteps> delay(1, longest);
    std::normal_distribution<double> weight(0.0, 100.0);
    std::vector<Synapse> synapses(count);
    for (Synapse& s : synapses)
        s = {id(random), id(random), static_cast<double>(static_cast<float>(weight(random))), delay(random)};
    return synapses;
}

struct Built {
    std::unique_ptr<ProcessLayout> layout;
    /// By shard: of synapses, and of spikes.
    std::unique_ptr<CountingMemory[]> memory;
    std::unique_ptr<CountingMemory[]> spike_memory;
    std::vector<ShardTables> tables;
    std::vector<std::uint64_t> most_inputs;  ///< by receptor
};

inline ProjectionPlan make_plan(const std::vector<Synapse>& synapses, std::uint64_t neurons, std::uint32_t id) {
    std::vector<std::uint64_t> sources;
    std::vector<std::uint64_t> targets;
    std::vector<double> weights;
    std::vector<double> delays;
    for (const Synapse& s : synapses) {
        sources.push_back(s.source);
        targets.push_back(s.target);
        weights.push_back(s.weight);
        delays.push_back(s.delay * resolution);
    }
    ProjectionPlan plan;
    plan.id = ProjectionId{id};
    plan.pairs = {NeuronId{0}, neurons, NeuronId{0}, neurons};
    plan.target_populations = {PopulationId{0}};
    plan.sampler = bind_rule({"explicit", {{"sources", sources}, {"targets", targets}}}, plan.pairs, 1, plan.id);
    plan.weights = {SharedArray(std::move(weights)), {}};
    plan.delays = {SharedArray(std::move(delays)), {}};
    return plan;
}

/// @param workers 0: one for each shard
inline Built build(const NetworkPlan& network, const Placement& placement, std::uint32_t shards, TableLayout layout,
                   bool double_weights = false, RowNumbering numbering = RowNumbering::dense, std::uint32_t workers = 0,
                   bool divides_rows = false) {
    Built built;
    const std::vector<PopulationRange> ranges{{NeuronId{0}, placement.neurons()}};
    built.layout = std::make_unique<ProcessLayout>(placement, Rank{0}, shards, ranges);
    parallel::Team team{std::vector<parallel::Place>(workers == 0 ? shards : workers)};
    TableBuilder builder(network, *built.layout,
                         {.instruction_set = detect_instruction_set(),
                          .resolution = resolution,
                          .double_weights = double_weights,
                          .layout = layout,
                          .divides_rows = divides_rows,
                          .numbering = numbering},
                         team, comm::make_local_communicator());
    built.memory = std::make_unique<CountingMemory[]>(shards);
    built.spike_memory = std::make_unique<CountingMemory[]>(shards);
    built.tables.resize(shards);
    team.run([&](std::uint32_t worker) {
        builder.build(worker, [&](std::uint32_t shard) {
            return TableMemory{.synapses = &built.memory[shard], .spikes = &built.spike_memory[shard]};
        });
        team.for_assigned_items(worker, shards,
                                [&](std::uint32_t shard) { built.tables[shard] = builder.finish(shard); });
    });
    for (std::uint32_t receptor = 0; receptor < network.receptors(); ++receptor) {
        built.most_inputs.push_back(builder.most_inputs(receptor));
    }
    return built;
}

/// Weights < 0 go to a receptor of their own.
inline Built build(const std::vector<ProjectionPlan>& plans, const Placement& placement, std::uint32_t shards,
                   TableLayout layout, bool double_weights = false, RowNumbering numbering = RowNumbering::dense) {
    const std::vector<KindChoice> choices(plans.size(), {.positive = {.receptor = 0}, .negative = {.receptor = 1}});
    return build(make_network_plan(plans, choices), placement, shards, layout, double_weights, numbering);
}

inline Built build(const std::vector<ProjectionPlan>& plans, std::uint64_t neurons, std::uint32_t shards,
                   TableLayout layout, bool double_weights = false, RowNumbering numbering = RowNumbering::dense) {
    return build(plans, Placement(neurons), shards, layout, double_weights, numbering);
}

/// The synapses of a table.
inline void append(const SynapseTable& table, const ShardLayout& layout, std::vector<Synapse>& all) {
    const StoredSynapses& synapses = *table.synapses();
    for (std::uint32_t row = 0; row < table.rows(); ++row) {
        std::vector<SynapseView> views;
        synapses.read(RowIndex{row}, synapses.row_begin(RowIndex{row}), synapses.row_end(RowIndex{row}), views);
        std::vector<std::uint32_t> inputs(views.size());
        std::vector<DelaySteps> delays(views.size());
        synapses.copy_row(RowIndex{row}, inputs.data(), delays.data());
        for (std::size_t i = 0; i < views.size(); ++i) {
            EXPECT_EQ(inputs[i], views[i].target);
            EXPECT_EQ(delays[i], views[i].delay);
        }
        for (const SynapseView& view : views) {
            all.push_back({table.source(RowIndex{row}).value, layout.id_of(LocalIndex{view.target}).value,
                           synapses.weight(view.position), view.delay});
        }
    }
}

inline std::vector<Synapse> read_all(const Built& built) {
    std::vector<Synapse> all;
    for (std::size_t shard = 0; shard < built.tables.size(); ++shard) {
        for (const auto& table : built.tables[shard]) {
            if (table) append(*table, built.layout->shard(static_cast<std::uint32_t>(shard)), all);
        }
    }
    return all;
}

}  // namespace ranvier::connect::table_building
