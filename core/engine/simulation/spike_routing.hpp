#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "connect/routing/dry_run_sources.hpp"
#include "connect/routing/presynaptic_table.hpp"
#include "connect/routing/row_addresses.hpp"
#include "engine/shard/shard.hpp"
#include "engine/simulation/workers.hpp"
#include "engine/stepping/spike_traffic.hpp"
#include "network/lowering/lowering.hpp"
#include "ranvier/comm/communicator.hpp"
#include "ranvier/comm/exchange/exchange.hpp"
#include "ranvier/connect/placement/layout.hpp"
#include "ranvier/engine/options.hpp"

namespace ranvier::engine {

/// Arguments of the routing of spikes, which must outlive it.
struct SpikeRoutingArguments {
    const network::LoweredNetwork& network;
    const connect::ProcessLayout& layout;
    const SimulationOptions& options;
    const std::shared_ptr<comm::Communicator>& communicator;
    std::span<const std::unique_ptr<Shard>> shards;
    bool sorted = true;  ///< whether connections are sorted by source
};

/// The destinations of the spikes of each neuron: processes, and the rows of their tables.
class SpikeRouting {
   public:
    explicit SpikeRouting(const SpikeRoutingArguments& arguments) : given_(arguments) {}

    /// Whether spikes need routing, and are not only read from outboxes by tables of the same process.
    bool is_needed() const { return given_.communicator->size() > 1 || !given_.sorted; }
    /// Builds the presynaptic side for the exchange method.
    /// @pre is_needed() @note Collective.
    void build(connect::RowNumbering numbering, Workers& workers, const Poll& poll);
    /// Steps to the earliest arrival of a spike, at most the maximum length of an epoch.
    Step shortest_delay() const;
    /// Transfers spikes from outboxes to tables at the end of each epoch. Frees the presynaptic table if nobody needs it
    /// afterwards. @note Collective.
    std::unique_ptr<SpikeTraffic> make_traffic();
    /// Steps of an epoch with this exchange.
    Step epoch_steps(const comm::SpikeExchange* exchange) const;

    const connect::RowAddresses& addresses() const { return addresses_; }
    /// Null if no spike is sent to single processes, or if the exchange has built its own tables from it.
    const std::shared_ptr<const connect::PresynapticTable>& presynaptic() const { return presynaptic_; }
    /// Number of collective rounds of the build.
    std::uint64_t build_rounds() const { return build_rounds_; }

   private:
    SpikeRoutingArguments given_;
    connect::RowAddresses addresses_;
    std::shared_ptr<const connect::PresynapticTable> presynaptic_;
    std::optional<connect::DryRunSources> dry_run_sources_;  ///< in a dry run
    std::uint64_t build_rounds_ = 0;
};

}  // namespace ranvier::engine
