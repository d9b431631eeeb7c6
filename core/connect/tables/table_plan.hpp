#pragma once

#include <cstdint>
#include <vector>

#include "connect/tables/network_plan.hpp"
#include "connect/tables/table_builder.hpp"
#include "ranvier/connect/placement/layout.hpp"
#include "ranvier/connect/tables/synapse_dynamics.hpp"
#include "ranvier/connect/tables/table_columns.hpp"

namespace ranvier::connect {

/// Properties of a table before its synapses are drawn; the same on every shard of a process.
struct TablePlan {
    RowMap row_map;
    RowNumbering numbering = RowNumbering::dense;
    /// During construction, synapses are in buckets of 2^bucket_bits possible sources: one each if rows are dense, all
    /// in one if they stay unsorted. Absent sources then need no memory.
    std::uint32_t bucket_bits = 0;
    bool used = false;
    bool tagged = false;  ///< source and target do not determine the projection
    DelaySteps least_delay = 1;
    DelaySteps greatest_delay = 1;
    std::uint32_t receptor = 0;
    const SynapseDynamics* dynamics = nullptr;  ///< null for static synapses; owned by the network's plan

    /// Number of per-synapse parameters.
    std::size_t per_synapse_parameters() const {
        return dynamics == nullptr ? 0 : dynamics->per_synapse_parameters().size();
    }
};

/// Whether a projection's synapses count for a kind in expectations: if the sign is drawn, they count for weights >= 0.
bool counts_for(const ProjectionPlan& plan, KindIndex kind);

/// Expected synapses of a projection on a process.
double expected_synapses_here(const ProjectionPlan& plan, const ProcessLayout& layout);

/// Whether the synapses of a projection are staged on their way into the tables (SynapseStage).
bool stages_synapses(const ProjectionPlan& plan, const ProcessLayout& layout, const BuildOptions& options);

/// Whether rows take less memory than unsorted synapses, on average over all processes: the data shared by synapses of
/// a source are then stored once.
/// @param shards of a process
bool rows_save_memory(const NetworkPlan& network, std::int32_t ranks, std::uint32_t shards);

/// The tables of a process before anything is drawn.
struct ProcessTables {
    RowNumbering numbering = RowNumbering::dense;  ///< of all of them
    std::vector<TablePlan> tables;                 ///< by kind
};
ProcessTables plan_tables(const NetworkPlan& network, const ProcessLayout& layout, const BuildOptions& options);

}  // namespace ranvier::connect
