#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "connect/tables/table_builder.hpp"
#include "engine/devices/construction_image.hpp"
#include "engine/devices/device_stepping.hpp"
#include "engine/fields/field_coupling.hpp"
#include "engine/queries/neuron_access.hpp"
#include "engine/queries/queries.hpp"
#include "engine/shard/shard.hpp"
#include "engine/shard/shard_memory.hpp"
#include "engine/simulation/machine.hpp"
#include "engine/simulation/run_checks.hpp"
#include "engine/simulation/spike_routing.hpp"
#include "engine/simulation/user_changes.hpp"
#include "engine/simulation/workers.hpp"
#include "engine/stepping/async_stepping.hpp"
#include "engine/stepping/epoch_stepping.hpp"
#include "engine/stepping/stepping.hpp"
#include "network/lowering/lowering.hpp"
#include "ranvier/connect/placement/layout.hpp"
#include "ranvier/engine/simulation.hpp"

namespace ranvier::engine {

/// The data of a simulation, for the files of the engine that build, run, read, change, save and load it.
struct Simulation::Implementation {
    Implementation(network::Network description, SimulationOptions chosen,
                   std::shared_ptr<comm::Communicator> processes, MachineShare machine_share);

    void build(const Poll& poll);
    void run(Step steps, const Poll& poll);
    /// Gives a neuron of this process the distributions of a field; see Simulation::set_field().
    void set_field(std::size_t field, NeuronId neuron, std::span<const double> potentials);
    /// Restores the spikes that static synapses have in transit after step `now`: the spikes of the last `steps`
    /// steps, which each shard has been given, are sent again. @note Collective.
    void replay(Step now, Step steps);
    /// Prepares, for each shard that has units of a population, other lists of spikes to play.
    std::vector<std::unique_ptr<models::ParameterChange>> prepare_spikes(PopulationId population,
                                                                         std::span<const std::vector<Step>> lists);
    void play(PopulationId population, network::SpikeLists lists,
              std::span<const std::unique_ptr<models::ParameterChange>> changes);
    /// Adds memory that others allocate to the account.
    void count_foreign_memory();

    /// The sums of a readout over all processes, or of this one. @note Collective, unless they stay local.
    StateData take_readout(network::RecorderIndex recorder, Gather how);
    NeuronAccess neurons() const { return {lowered, layout, shards, *communicator}; }
    /// For any synapses.
    ConnectionAccess connections() {
        need_tables();
        return {lowered, shards, weight_bounds, *communicator};
    }
    /// For those of a query, or with these handles.
    ConnectionAccess connections(const ConnectionQuery& query) {
        if (needs_tables(query)) need_tables();
        return {lowered, shards, weight_bounds, *communicator};
    }
    ConnectionAccess connections(std::span<const std::uint64_t> handles) {
        if (needs_tables(handles)) need_tables();
        return {lowered, shards, weight_bounds, *communicator};
    }
    /// Builds the static tables of this process, if a device has drawn rows without them.
    /// @throws InsufficientMemoryError, and what `poll` throws; then there are none still
    void need_tables(const Poll& poll = {});
    /// Whether static tables are missing that may have synapses of a query.
    bool needs_tables(const ConnectionQuery& query) const;
    /// The same for synapses with these handles.
    bool needs_tables(std::span<const std::uint64_t> handles) const;
    std::uint32_t shard_count() const { return static_cast<std::uint32_t>(layout.shards().size()); }
    Stepping& stepping() const {
        if (on_device) return *on_device;
        if (async) return *async;
        return *epochs;
    }

    std::shared_ptr<comm::Communicator> communicator;
    network::Network network;
    network::LoweredNetwork lowered;
    SimulationOptions options;
    std::uint32_t window;
    Workers workers;
    std::unique_ptr<device::Backend> backend;  ///< null: processors
    connect::ProcessLayout layout;
    connect::BuildOptions build_options;
    bool sorted = true;  ///< whether connections are sorted by source
    parallel::MemoryAccount account = make_memory_account();
    /// The node of memory that belongs to no worker.
    std::uint32_t node_of_all = parallel::node_count() == 1 ? 0 : parallel::any_node;
    /// Data that groups of neurons of all shards share.
    parallel::NodeMemory shared_memory{account, purpose_of(Component::neurons), {.node = node_of_all}};
    models::SharedParts shared_parts{&shared_memory};
    std::vector<std::unique_ptr<parallel::NodePool>>
        pools;  ///< by worker, for its shards; empty: small blocks are on the heap
    std::vector<std::unique_ptr<Shard>> shards;
    /// By kind: the greatest absolute value that weights that learn can reach; 0 for static ones.
    std::vector<double> weight_bounds;
    std::unique_ptr<SpikeRouting> routing;
    std::unique_ptr<EpochStepping> epochs;
    std::unique_ptr<AsyncStepping> async;  ///< null: all shards advance together
    std::unique_ptr<DeviceStepping> on_device;  ///< null: processors
    std::optional<DrawnRows> drawn_rows;  ///< by a device; nothing: they are those of tables
    parallel::NodeMemory coupling_memory{account, purpose_of(Component::fields), {.node = node_of_all}};
    std::vector<std::unique_ptr<FieldCoupling>> couplings;  ///< of cells, in the order of the fields
    std::atomic<Step> step{0};
    Step counted_from = 0;
    Step timed_from = 0;  ///< later than 0 if a state was loaded: times are not part of it
    PhaseTimes phases;
    Step longest_static_delay = 0;  ///< over all processes
    UserChanges changes;

   private:
    /// The node on which memory of the calling worker will be placed, if it is known before the first touch.
    std::uint32_t node_of_worker() const { return workers.team().pinned() ? parallel::current_node() : node_of_all; }
    /// Creates the shards without their synapses.
    void build_shards(const Poll& poll);
    std::unique_ptr<connect::TableBuilder> make_tables(const connect::NetworkPlan& plan, const Poll& poll);
    /// The part of a worker.
    void build_tables(connect::TableBuilder& builder, std::uint32_t worker);
    /// Lets a device draw rows, and join them with those of the static tables of a builder, which it takes. Returns null if it
    /// cannot store their weights, which is reported by tables.
    /// @param builder of the other projections; null: there are none. It must outlive what is returned
    std::unique_ptr<DrawnRowWeights> draw_on_device(connect::TableBuilder* builder, const Poll& poll);
    /// Keeps sent spikes, so that those in transit can be saved. @note Collective.
    void remember_sent_spikes();
    /// @note Collective, like what follows.
    void build_epochs(connect::RowNumbering numbering, const Poll& poll);
    void build_async();
    void build_on_device();
    void set_epoch_traffic();
    void set_local_epochs();
    /// Advances all shards to the end of a run.
    void advance(Stepping& how, const Poll& poll);
    /// Runs a number of steps.
    /// @param how stepping of the shards
    /// @param couples whether coupled cells act on each other
    void run(Stepping& how, Step steps, const Poll& poll, bool couples);
    /// Lets coupled cells act on each other if their interval ends with the present step. Returns true if all processes
    /// end the run, because one was interrupted. @note Collective.
    bool couple(bool is_interrupted);
    /// The next step after which coupled cells act on each other, at most `last`.
    Step end_of_stretch(Step last) const;
};

}  // namespace ranvier::engine
