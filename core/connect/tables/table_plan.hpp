#pragma once

#include <cstdint>
#include <vector>

#include "connect/tables/network_plan.hpp"
#include "connect/tables/table_builder.hpp"
#include "ranvier/connect/placement/layout.hpp"
#include "ranvier/connect/tables/synapse_dynamics.hpp"
#include "ranvier/connect/tables/table_columns.hpp"

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
    std::uint32_t receptor = 0;
    const SynapseDynamics* dynamics = nullptr;  ///< null for static synapses; lives as long as the network's plan

    /// How many parameters synapses have values of their own for.
    std::size_t own_parameters() const { return dynamics == nullptr ? 0 : dynamics->own_parameters().size(); }
};

/// Whether a projection's synapses are of a kind, for expectations: where the sign is drawn, of that of weights >= 0.
bool counts_for(const ProjectionPlan& plan, KindIndex kind);

/// Synapses of a projection that are expected on a process.
double expected_synapses_here(const ProjectionPlan& plan, const ProcessLayout& layout);

/// Whether rows take less memory than synapses that are not sorted, on average over all processes: what synapses of a source
/// share is then kept once.
/// @param shards of a process
bool rows_save_memory(const NetworkPlan& network, std::int32_t ranks, std::uint32_t shards);

/// The tables of a process before anything is drawn.
struct ProcessTables {
    RowNumbering numbering = RowNumbering::dense;  ///< of all of them
    std::vector<TablePlan> tables;                 ///< by kind
};
ProcessTables plan_tables(const NetworkPlan& network, const ProcessLayout& layout, const BuildOptions& options);

}  // namespace ranvier::connect
