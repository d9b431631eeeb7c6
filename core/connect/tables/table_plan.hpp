#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "connect/placement/layout.hpp"
#include "connect/tables/projection_plan.hpp"
#include "connect/tables/table_builder.hpp"
#include "connect/tables/table_columns.hpp"

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

/// Whether a projection's synapses go to a receptor, for expectations: where the sign is drawn, to the first one.
bool counts_for(const ProjectionPlan& plan, std::uint32_t receptor);

/// Synapses of a projection that are expected on a process.
double expected_synapses_here(const ProjectionPlan& plan, const ProcessLayout& layout);

/// Whether tables of a process with a row for each source that they could have would be filled well enough, on average over
/// all processes: else rows are numbered compactly, and synapses that are not sorted at all take less memory.
/// @param shards of a process
bool rows_are_filled(std::span<const ProjectionPlan> plans, std::int32_t ranks, std::uint32_t shards);

/// The tables of a process, by receptor, before anything is drawn.
std::vector<TablePlan> plan_tables(std::span<const ProjectionPlan> plans, const ProcessLayout& layout,
                                   const BuildOptions& options);

}  // namespace ranvier::connect
