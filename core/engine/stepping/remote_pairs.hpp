#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "comm/progress/progress_exchange.hpp"
#include "engine/shard/shard.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/comm/communicator.hpp"
#include "ranvier/connect/placement/layout.hpp"
#include "ranvier/parallel/team.hpp"

namespace ranvier::engine {

/// Whether a row of a table receives spikes. Transmitters have rows without synapses.
inline bool sends_spikes(const connect::SynapseTable& table, RowIndex row) {
    const connect::StoredSynapses* const synapses = table.synapses();
    return synapses == nullptr || synapses->row_begin(row) != synapses->row_end(row);
}

/// The pairs of shards of this process and others with synapses between them, and their shortest delays.
struct RemotePairs {
    /// A shard of this process that reads one of another process.
    struct Reader {
        std::uint32_t inlet = 0;  ///< among the routes
        std::uint32_t shard = 0;
        Step least = 0;  ///< steps, of all synapses of the pair
    };

    comm::ProgressRoutes routes;
    std::vector<Reader> readers;  ///< ascending by inlet
};

/// Scans all synapses: rows with sources on other processes are sent there, and the processes of the sources send
/// back the pairs of shards. Uses buffers of bounded size, and memory for the pairs.
/// @param buffer_bytes total size of the buffers; at least one row for each process is always sent
/// @pre the tables have the sources of their rows @note Collective.
RemotePairs find_remote_pairs(std::span<const std::unique_ptr<Shard>> shards, const connect::ProcessLayout& layout,
                              comm::Communicator& communicator, comm::Notifications notifications,
                              std::uint64_t buffer_bytes, parallel::Team& team);

}  // namespace ranvier::engine
