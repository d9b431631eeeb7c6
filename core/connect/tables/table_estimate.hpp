#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "connect/placement/layout.hpp"
#include "connect/tables/projection_plan.hpp"
#include "connect/tables/table_builder.hpp"

namespace ranvier::connect {

/// What the tables of a process will take, before anything is drawn: expectations over the random numbers.
struct TableEstimate {
    double final_bytes = 0.0;
    double peak_bytes = 0.0;  ///< while they are being built
    /// By receptor: how many steps ahead inputs are written, 0 for tables that deliver by runs; and whether there is a table.
    std::array<DelaySteps, TableBuilder::receptors> reach{};
    std::array<bool, TableBuilder::receptors> used{};
    double addresses =
        0.0;  ///< names of rows: as many entries as the presynaptic tables of all ranks have for this one
    double address_limit = 1.0;  ///< the addresses lie below
    /// By receptor: steps that a spike stays with a table until all of its synapses are reached, and rows of a shard that a
    /// spike may come for.
    std::array<DelaySteps, TableBuilder::receptors> longest_delay{};
    std::array<double, TableBuilder::receptors> rows{};
    bool dense = false;  ///< whether spikes come for sources, which the tables look up, not for rows
};
TableEstimate estimate_tables(std::span<const ProjectionPlan> plans, const ProcessLayout& layout,
                              const BuildOptions& options);

}  // namespace ranvier::connect
