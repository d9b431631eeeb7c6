#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/backend/backend.hpp"
#include "device/backend/cell_forest.hpp"
#include "engine/devices/construction_image.hpp"
#include "engine/devices/device_courses.hpp"
#include "engine/devices/plastic_tables.hpp"
#include "engine/shard/shard.hpp"
#include "engine/shard/weight_checks.hpp"
#include "network/lowering/lowering.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/connect/placement/layout.hpp"
#include "ranvier/engine/options.hpp"

namespace ranvier::engine {

/// Checks that a device can run a network, before it is built. @param ranks processes
/// @throws StateError that names what is not there on devices
void check_for_device(const network::Network& network, const SimulationOptions& options, std::int32_t ranks);

/// A spike of another process that reaches a row of a shard.
struct RemoteArrival {
    Step stamp = 0;  ///< the step in which it was emitted
    connect::KindIndex kind;
    RowIndex row;
};

/// The arrays of shards for a device, whose blocks they are. The synapses of all tables of a shard are in one list of rows:
/// for each source of this process one, and then one for each row of a table whose source is on another process.
class DeviceImage {
   public:
    /// @param epoch_steps after which blocks exchange spikes @param exchange_steps after which processes do
    /// @param longest_delay at least that of synapses that are in no table, and of the receptors of drawn rows
    DeviceImage(std::span<const std::unique_ptr<Shard>> shards, const connect::ProcessLayout& layout, Step epoch_steps,
                Step longest_delay, Step exchange_steps, const network::LoweredNetwork& network, std::string device);

    /// All but the rows.
    /// @throws StateError for a network that is too large for blocks, or neurons whose step is not a program
    /// @param drawn rows that the device has drawn; null: they will be those of tables
    device::NetworkImage network(const DrawnRows* drawn);
    /// The rows of a shard, into vectors whose memory is used again. Thread-safe.
    void copy_rows(std::uint32_t shard, device::BlockRows& rows) const;
    /// The groups of a shard with the constants of their present parameters.
    std::vector<device::GroupImage> groups(std::uint32_t shard);
    /// By shard: the stimuli of the groups that were asked for last that have no kernel.
    std::span<const std::vector<HostStimulus>> host_stimuli() const { return host_stimuli_; }
    /// Steps of the rings of inputs.
    std::uint32_t slots() const { return slots_; }

    device::BlockState state(std::uint32_t shard, Step now) const;
    void set_state(std::uint32_t shard, Step now, const device::BlockState& state) const;
    /// The sums of coming steps after step `now` to which synapses that change with spikes have contributed.
    std::vector<device::i64> plastic_ring(std::uint32_t shard, Step now) const;
    /// The inputs of the shard are then those of a ring of the device that has nothing else.
    void take_inputs(device::Backend& backend, std::uint32_t shard, Step now) const;
    /// The row of a neuron of this process in all blocks.
    std::uint32_t source(std::uint32_t shard, LocalIndex neuron) const { return first_sources_[shard] + neuron.value; }
    /// The row of the device for a row of a table. @pre its source is on another process, and it has synapses
    std::uint32_t remote_row(std::uint32_t shard, connect::KindIndex kind, RowIndex row) const {
        return remote_rows_[shard][kind.value][row.value];
    }
    /// Whether a row of a table has synapses, and its source is on another process.
    bool is_remote(std::uint32_t shard, connect::KindIndex kind, RowIndex row) const {
        return remote_row(shard, kind, row) != not_remote;
    }
    const PlasticTables& plastic() const { return plastic_; }
    device::CellForests& cells() { return cells_; }
    /// The tables of a shard whose synapses change with spikes. Thread-safe.
    device::TablesImage tables(std::uint32_t shard) const;

   private:
    /// The quantum of all present weights.
    /// @throws StateError if their sums need more bits than the device has
    void fit_quantum();
    std::vector<device::ReceptorImage> receptor_images(std::uint32_t shard) const;
    device::GroupImage cells(std::uint32_t shard, const ShardGroup& group);
    device::GroupImage relays(std::uint32_t shard, const ShardGroup& group);
    std::uint32_t program_number(const ShardGroup& group, const models::StepProgram& program);
    device::SignalImage signal(std::uint32_t shard, const ShardGroup& group, std::size_t stimulus);
    /// Numbers the rows of sources on other processes, unless it has been done. Returns how many rows there are in all.
    std::uint32_t number_rows(std::uint32_t shard);
    /// The row of the device for a row of a table that has synapses.
    std::uint32_t row_of(std::uint32_t shard, connect::KindIndex kind, RowIndex row) const;

    const network::Network& network_;
    const connect::NetworkPlan& plan_;
    std::string device_;  ///< its name
    std::span<const std::unique_ptr<Shard>> shards_;
    const connect::ProcessLayout& layout_;
    Step epoch_steps_;
    double quantum_ = 1.0;
    std::uint32_t slots_ = 1;
    std::vector<std::uint32_t> first_sources_;  ///< by shard
    std::uint32_t source_count_ = 0;            ///< of this process
    std::vector<std::uint32_t> sources_;        ///< by place among the ids of this process
    std::vector<std::uint32_t> row_counts_;     ///< by shard; 0: not numbered yet
    static constexpr std::uint32_t not_remote = UINT32_MAX;
    /// By shard, kind and row; empty on one process.
    std::vector<std::vector<std::vector<std::uint32_t>>> remote_rows_;
    device::CellForests cells_;
    PlasticTables plastic_;
    std::vector<device::DeviceProgram> programs_;
    std::vector<std::vector<HostStimulus>> host_stimuli_;
};

}  // namespace ranvier::engine
