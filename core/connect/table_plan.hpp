#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "connect/layout.hpp"
#include "connect/projection_plan.hpp"
#include "connect/stored_table.hpp"
#include "connect/table_builder.hpp"

namespace ranvier::connect {

/// What is known of a table before its synapses are drawn; the same on every shard of a process.
struct TablePlan {
    RowMap row_map;
    RowNumbering numbering = RowNumbering::dense;
    /// While it is being built, synapses lie in buckets of 2^bucket_bits possible sources: one each when rows are dense, all
    /// together when they stay unsorted. No memory is taken for each source that could be there.
    std::uint32_t bucket_bits = 0;
    bool used = false;
    bool tagged = false;  ///< source and target do not tell the projection
    DelaySteps least_delay = 1;
    DelaySteps greatest_delay = 1;
};

/// Synapses of a projection that are expected on a process.
double expected_synapses_here(const ProjectionPlan& plan, const ProcessLayout& layout);

/// The tables of a process, by receptor, before anything is drawn.
std::vector<TablePlan> plan_tables(std::span<const ProjectionPlan> plans, const ProcessLayout& layout,
                                   const BuildOptions& options);

}  // namespace ranvier::connect
