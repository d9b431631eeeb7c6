#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "connect/layout.hpp"
#include "connect/projection_plan.hpp"
#include "connect/table_builder.hpp"

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
    double mean_delay_range = 0.0;  ///< steps that a spike stays with a table until all of its synapses are reached
    double rows = 0.0;  ///< of all shards, that a spike may come for
};
TableEstimate estimate_tables(std::span<const ProjectionPlan> plans, const ProcessLayout& layout,
                              const BuildOptions& options);

}  // namespace ranvier::connect
