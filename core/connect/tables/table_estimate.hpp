#pragma once

#include <cstdint>
#include <vector>

#include "connect/tables/network_plan.hpp"
#include "connect/tables/table_builder.hpp"
#include "ranvier/connect/placement/layout.hpp"

namespace ranvier::connect {

/// Expected memory of the tables of a process, before anything is drawn: expectations over the random numbers.
struct TableEstimate {
    double final_bytes = 0.0;
    double peak_bytes = 0.0;  ///< during construction
    /// Of a kind.
    struct Table {
        bool used = false;  ///< whether there is one
        // On all shards:
        double columns_bytes = 0.0;  ///< of the columns and rows before they are sorted
        double finish_bytes = 0.0;  ///< needed beside them while they are sorted
        double container_bytes = 0.0;  ///< of the containers of sources before (SourceContainers), if rows are sparse
        /// Number of steps ahead for which inputs are written; 0 for tables that deliver by runs.
        DelaySteps reach = 0;
        DelaySteps longest_delay = 0;  ///< steps that a spike stays in it until all of its synapses are reached
        double rows = 0.0;  ///< per shard, for which a spike may come
        const SynapseDynamics* dynamics = nullptr;  ///< null for static synapses
        bool double_weights = false;
        double synapses = 0.0;  ///< of a shard
        double delays = 1.0;  ///< number of possible delays
        double runs = 0.0;  ///< per row: synapses with the same delay
        double targets = 0.0;  ///< target neurons of a shard
        double from_first_to_last = 0.0;  ///< neurons of a shard from the first target to the last
        double number_bytes = 0.0;  ///< per synapse, of its number among those of its pair
    };
    std::vector<Table> tables;  ///< by kind
    /// Neurons of each transmitter that modulates any table: on each shard, a spike may come for each.
    std::vector<double> transmitters;
    /// Names of rows: as many entries as the presynaptic tables of all ranks have for this one.
    double addresses = 0.0;
    double address_limit = 1.0;  ///< upper limit (exclusive) of the addresses
    bool dense = false;  ///< whether spikes come for sources, which the tables look up, not for rows
};
/// @param index_bytes of what is held only until all synapses are drawn
TableEstimate estimate_tables(const NetworkPlan& network, const ProcessLayout& layout, const BuildOptions& options,
                              double index_bytes = 0.0);

}  // namespace ranvier::connect
