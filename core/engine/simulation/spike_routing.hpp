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

/// What the routing of spikes works with. All of it must outlive the routing.
struct SpikeRoutingArguments {
    const network::LoweredNetwork& network;
    const connect::ProcessLayout& layout;
    const SimulationOptions& options;
    const std::shared_ptr<comm::Communicator>& communicator;
    std::span<const std::unique_ptr<Shard>> shards;
    bool sorted = true;  ///< connections, by source
};

/// Where the spikes of each neuron go: to which processes, and to which rows of which tables there.
class SpikeRouting {
   public:
    explicit SpikeRouting(const SpikeRoutingArguments& arguments) : given_(arguments) {}

    /// Whether spikes have to travel, and do not only go from outboxes to tables of one process.
    bool is_needed() const { return given_.communicator->size() > 1 || !given_.sorted; }
    /// Builds the presynaptic side, as the exchange method needs it. @pre is_needed() @note Collective.
    void build(connect::RowNumbering numbering, Workers& workers, const Poll& poll);
    /// Steps to the earliest arrival of a spike, but no more than an epoch may have.
    Step shortest_delay() const;
    /// What brings spikes from outboxes to tables at the end of each epoch. @note Collective.
    std::unique_ptr<SpikeTraffic> make_traffic() const;
    /// Steps of an epoch with this exchange.
    Step epoch_steps(const comm::SpikeExchange* exchange) const;

    const connect::RowAddresses& addresses() const { return addresses_; }
    /// Null where no spike is sent to single processes.
    const std::shared_ptr<const connect::PresynapticTable>& presynaptic() const { return presynaptic_; }
    /// Collective rounds that building took.
    std::uint64_t build_rounds() const { return build_rounds_; }

   private:
    SpikeRoutingArguments given_;
    connect::RowAddresses addresses_;
    std::shared_ptr<const connect::PresynapticTable> presynaptic_;
    std::optional<connect::DryRunSources> dry_run_sources_;  ///< in a dry run
    std::uint64_t build_rounds_ = 0;
};

}  // namespace ranvier::engine
