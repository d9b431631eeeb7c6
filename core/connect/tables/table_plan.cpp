#include "connect/tables/table_plan.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "connect/tables/synapse_stage.hpp"

namespace ranvier::connect {

namespace {

bool overlap(NeuronId a, std::uint64_t a_size, NeuronId b, std::uint64_t b_size) {
    return a.value < b.value + b_size && b.value < a.value + a_size;
}

/// Whether any pair of neurons is connected by two projections of this kind.
bool is_ambiguous(std::span<const ProjectionPlan> plans, KindIndex kind) {
    std::map<std::uint32_t, std::vector<const ProjectionPlan*>> by_target;
    for (const ProjectionPlan& plan : plans) {
        if (!plan.feeds(kind)) continue;
        for (const PopulationId id : plan.target_populations) by_target[id.value].push_back(&plan);
    }
    for (const auto& [population, group] : by_target) {
        for (std::size_t i = 0; i < group.size(); ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                const PairSpace& a = group[i]->pairs;
                const PairSpace& b = group[j]->pairs;
                if (overlap(a.first_source, a.sources, b.first_source, b.sources) &&
                    overlap(a.first_target, a.targets, b.first_target, b.targets)) {
                    return true;
                }
            }
        }
    }
    return false;
}

/// Whether there are enough synapses for tables with a row for each possible source.
bool fill_rows(double synapses, double rows) {
    // With as many synapses as rows, each row is used with probability 1 - 1/e; at 0.7 it is a half.
    constexpr double least_synapses_per_row = 0.7;
    return synapses >= least_synapses_per_row * rows;
}

/// Expected memory of rows by numbering, over the random connections. Memory per synapse that all numberings share is
/// excluded.
struct RowBytes {
    double dense = 0.0;  ///< a row for each possible source of a table
    double compact = 0.0;  ///< for each with a synapse
    double unsorted = 0.0;  ///< for each synapse
    double all_synapses = 0.0;
    double all_rows = 0.0;

    /// Adds tables of one kind. @param rows for their possible sources
    void add(double synapses, double rows, const SynapseDynamics* dynamics) {
        if (rows <= 0.0) return;
        constexpr double begin = sizeof(std::uint32_t);
        constexpr double source = sizeof(std::uint32_t);
        // Of the row, with its source: codes have one byte or several (comm/exchange/destination_code.hpp).
        constexpr double address = 2.5;
        const double state = dynamics == nullptr ? 0.0 : static_cast<double>(dynamics->memory(false).row_bytes);
        const double present = -rows * std::expm1(-synapses / rows);
        dense += rows * (begin + state) + present * address;
        compact += present * (begin + source + state + address);
        unsorted += synapses * (source + state + address);
        all_synapses += synapses;
        all_rows += rows;
    }
    bool prefers_rows() const { return (fill_rows(all_synapses, all_rows) ? dense : compact) <= unsorted; }
};

/// Expected synapses of a kind on a process.
double expected_synapses_here(std::span<const ProjectionPlan> plans, KindIndex kind, const ProcessLayout& layout) {
    double synapses = 0.0;
    for (const ProjectionPlan& plan : plans) {
        if (counts_for(plan, kind)) synapses += expected_synapses_here(plan, layout);
    }
    return synapses;
}

/// Whether a projection needs a table of a kind, with rows for its sources.
bool needs_rows(const ProjectionPlan& plan, KindIndex kind) {
    return plan.feeds(kind) && plan.pairs.sources > 0 && plan.pairs.targets > 0;
}

/// The possible sources of synapses of a kind.
RowMap map_rows(std::span<const ProjectionPlan> plans, KindIndex kind) {
    std::vector<RowMap::Range> ranges;
    for (const ProjectionPlan& plan : plans) {
        if (needs_rows(plan, kind)) ranges.push_back({plan.pairs.first_source, plan.pairs.sources, 0});
    }
    return RowMap(std::move(ranges));
}

TablePlan plan_table(std::span<const ProjectionPlan> plans, KindIndex kind) {
    TablePlan table;
    DelaySteps least = UINT32_MAX;
    DelaySteps greatest = 0;
    for (const ProjectionPlan& plan : plans) {
        if (!needs_rows(plan, kind)) continue;
        table.used = true;
        least = std::min(least, round_delay(plan.delays.least(), plan.delay_grid));
        greatest = std::max(greatest, round_delay(plan.delays.greatest(), plan.delay_grid));
    }
    if (!table.used) return table;
    table.row_map = map_rows(plans, kind);
    table.tagged = is_ambiguous(plans, kind);
    table.least_delay = least;
    table.greatest_delay = greatest;
    return table;
}

}  // namespace

bool counts_for(const ProjectionPlan& plan, KindIndex kind) { return kind == plan.positive_kind; }

double expected_synapses_here(const ProjectionPlan& plan, const ProcessLayout& layout) {
    if (plan.pairs.targets == 0) return 0.0;
    const double share = static_cast<double>(layout.ids().within(plan.pairs.first_target, plan.pairs.targets).size()) /
                         static_cast<double>(plan.pairs.targets);
    return plan.sampler->expected_synapses() * share;
}

bool stages_synapses(const ProjectionPlan& plan, const ProcessLayout& layout, const BuildOptions& options) {
    // The kernel that is compared adds each synapse to its container when it is drawn.
    if (options.numbering == RowNumbering::sparse) return false;
    if (plan.pairs.sources == 0 || plan.pairs.targets == 0 || plan.sampler->major() != RuleSampler::Major::target) {
        return false;
    }
    if (plan.kind_varies() || !plan.parameters.empty() || options.double_weights) return false;
    const auto shards = static_cast<double>(layout.shards().size());
    return SynapseStage::pays(plan.pairs.sources, expected_synapses_here(plan, layout) / shards);
}

bool rows_save_memory(const NetworkPlan& network, std::int32_t ranks, std::uint32_t shards) {
    RowBytes bytes;
    for (std::uint32_t i = 0; i < network.kinds.size(); ++i) {
        const KindIndex kind{i};
        double synapses = 0.0;
        for (const ProjectionPlan& plan : network.projections) {
            // If the sign is drawn, half of them are expected in each of two tables.
            const double share = plan.kind_varies() ? 0.5 : 1.0;
            if (plan.feeds(kind)) synapses += share * plan.sampler->expected_synapses();
        }
        const double rows = map_rows(network.projections, kind).rows();
        bytes.add(synapses, rows * shards * ranks, network.dynamics_of(kind));
    }
    return bytes.prefers_rows();
}

ProcessTables plan_tables(const NetworkPlan& network, const ProcessLayout& layout, const BuildOptions& options) {
    constexpr double synapses_per_bucket = 64.0;
    ProcessTables planned;
    std::vector<double> synapses;  // by kind
    double rows = 0.0;
    const auto shards = static_cast<double>(layout.shards().size());
    for (std::uint32_t kind = 0; kind < network.kinds.size(); ++kind) {
        TablePlan& table = planned.tables.emplace_back(plan_table(network.projections, KindIndex{kind}));
        table.receptor = network.receptor(KindIndex{kind});
        table.dynamics = network.dynamics_of(KindIndex{kind});
        synapses.push_back(table.used ? expected_synapses_here(network.projections, KindIndex{kind}, layout) : 0.0);
        rows += table.row_map.rows() * shards;
    }
    const double all_synapses = std::accumulate(synapses.begin(), synapses.end(), 0.0);
    const bool dense = fill_rows(all_synapses, rows);
    planned.numbering = options.numbering.value_or(dense ? RowNumbering::dense : RowNumbering::compact);
    for (std::size_t kind = 0; kind < planned.tables.size(); ++kind) {
        TablePlan& table = planned.tables[kind];
        table.numbering = planned.numbering;
        if (planned.numbering == RowNumbering::dense || !table.used) continue;
        const double buckets = std::max(1.0, synapses[kind] / shards / synapses_per_bucket);
        const double width = planned.numbering == RowNumbering::unsorted ? 0x1p32 : table.row_map.rows() / buckets;
        table.bucket_bits = static_cast<std::uint32_t>(std::bit_width(static_cast<std::uint64_t>(width)));
        if (width <= 1.0) table.bucket_bits = 0;
    }
    return planned;
}

}  // namespace ranvier::connect
