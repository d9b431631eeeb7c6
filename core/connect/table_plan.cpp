#include "connect/table_plan.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

namespace ranvier::connect {

namespace {

bool overlap(NeuronId a, std::uint64_t a_size, NeuronId b, std::uint64_t b_size) {
    return a.value < b.value + b_size && b.value < a.value + a_size;
}

/// Whether some pair of neurons is connected by two projections of this receptor.
bool is_ambiguous(std::span<const ProjectionPlan> plans, std::uint32_t receptor) {
    std::map<std::uint32_t, std::vector<const ProjectionPlan*>> by_target;
    for (const ProjectionPlan& plan : plans) {
        if (plan.feeds(receptor)) by_target[plan.target_population.value].push_back(&plan);
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

/// Synapses of a receptor that are expected on a process. Where the sign is drawn, the synapses are counted with the first one.
double expected_synapses_here(std::span<const ProjectionPlan> plans, std::uint32_t receptor,
                              const ProcessLayout& layout) {
    double synapses = 0.0;
    for (const ProjectionPlan& plan : plans) {
        if (plan.feeds(receptor) && !(receptor == 1 && plan.feeds(0))) synapses += expected_synapses_here(plan, layout);
    }
    return synapses;
}

TablePlan plan_table(std::span<const ProjectionPlan> plans, std::uint32_t receptor, double resolution) {
    TablePlan table;
    std::vector<RowMap::Range> ranges;
    DelaySteps least = UINT32_MAX;
    DelaySteps greatest = 0;
    for (const ProjectionPlan& plan : plans) {
        if (!plan.feeds(receptor) || plan.pairs.sources == 0 || plan.pairs.targets == 0) continue;
        ranges.push_back({plan.pairs.first_source, plan.pairs.sources, 0});
        least = std::min(least, round_delay(plan.delays.least(), 1.0 / resolution));
        greatest = std::max(greatest, round_delay(plan.delays.greatest(), 1.0 / resolution));
    }
    table.used = !ranges.empty();
    if (!table.used) return table;
    table.row_map = RowMap(std::move(ranges));
    table.tagged = is_ambiguous(plans, receptor);
    table.least_delay = least;
    table.greatest_delay = greatest;
    return table;
}

}  // namespace

double expected_synapses_here(const ProjectionPlan& plan, const ProcessLayout& layout) {
    if (plan.pairs.targets == 0) return 0.0;
    const double share = static_cast<double>(layout.ids().within(plan.pairs.first_target, plan.pairs.targets).size()) /
                         static_cast<double>(plan.pairs.targets);
    return plan.sampler->expected_synapses() * share;
}

std::vector<TablePlan> plan_tables(std::span<const ProjectionPlan> plans, const ProcessLayout& layout,
                                   const BuildOptions& options) {
    constexpr double synapses_per_bucket = 64.0;
    // With as many synapses as rows, each row would be there with probability 1 - 1/e; at 0.7 it is a half.
    constexpr double least_synapses_per_row = 0.7;
    std::vector<TablePlan> tables;
    double synapses = 0.0;
    double rows = 0.0;
    const auto shards = static_cast<double>(layout.shards().size());
    for (std::uint32_t receptor = 0; receptor < TableBuilder::receptors; ++receptor) {
        tables.push_back(plan_table(plans, receptor, options.resolution));
        if (!tables.back().used) continue;
        synapses += expected_synapses_here(plans, receptor, layout);
        rows += tables.back().row_map.rows() * shards;
    }
    const bool dense = layout.placement().ranks() == 1 || synapses >= least_synapses_per_row * rows;
    const RowNumbering numbering = options.numbering.value_or(dense ? RowNumbering::dense : RowNumbering::compact);
    for (std::uint32_t receptor = 0; receptor < TableBuilder::receptors; ++receptor) {
        TablePlan& table = tables[receptor];
        table.numbering = numbering;
        if (numbering == RowNumbering::dense || !table.used) continue;
        const double buckets =
            std::max(1.0, expected_synapses_here(plans, receptor, layout) / shards / synapses_per_bucket);
        const double width = numbering == RowNumbering::unsorted ? 0x1p32 : table.row_map.rows() / buckets;
        table.bucket_bits = static_cast<std::uint32_t>(std::bit_width(static_cast<std::uint64_t>(width)));
        if (width <= 1.0) table.bucket_bits = 0;
    }
    return tables;
}

}  // namespace ranvier::connect
