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

/// Whether spikes come to a row of a table. Transmitters have rows without synapses.
inline bool sends_spikes(const connect::SynapseTable& table, RowIndex row) {
    const connect::StoredSynapses* const synapses = table.synapses();
    return synapses == nullptr || synapses->row_begin(row) != synapses->row_end(row);
}

/// Which shards of other processes those of this one get spikes from, which ones they send spikes to, and how late these
/// arrive at the earliest.
struct RemotePairs {
    /// That a shard of this process reads one of another process.
    struct Reader {
        std::uint32_t inlet = 0;  ///< of the routes
        std::uint32_t shard = 0;
        Step least = 0;  ///< steps, of all synapses of the pair
    };

    comm::ProgressRoutes routes;
    std::vector<Reader> readers;  ///< ascending by inlet
};

/// Looks at all synapses: those of whose sources live elsewhere are told there, and the processes of the sources tell back
/// what these are for pairs of shards. Takes buffers of bounded size, and room for the pairs.
/// @param buffer_bytes what the buffers may take in all; at least one row for each process is always sent
/// @pre the tables know the sources of their rows @note Collective.
RemotePairs find_remote_pairs(std::span<const std::unique_ptr<Shard>> shards, const connect::ProcessLayout& layout,
                              comm::Communicator& communicator, comm::Notifications notifications,
                              std::uint64_t buffer_bytes, parallel::Team& team);

}  // namespace ranvier::engine
