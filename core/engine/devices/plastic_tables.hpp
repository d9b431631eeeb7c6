#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "connect/plasticity/factors_on_device.hpp"
#include "connect/plasticity/learning_on_device.hpp"
#include "device/backend/backend.hpp"
#include "engine/shard/shard.hpp"
#include "network/lowering/lowering.hpp"
#include "ranvier/base/ids.hpp"

namespace ranvier::engine {

/// Why a device does not have the synapses of a projection that change with spikes; nothing if it has them.
std::optional<std::string> refused_synapses(const network::Projection& projection, double resolution);

/// The rules of synapses that change with spikes on devices, by kind of table or by projection.
struct SynapseRules {
    std::vector<device::LearningRule> learning;
    std::vector<device::ReleaseRule> release;

    /// Adds the rule of a table. Returns false if devices do not have it.
    bool add(connect::SynapseTable& table, const network::SynapseSpec& synapse);
};
/// Those of the projections of a network that devices have.
SynapseRules synapse_rules(const network::Network& network);

/// The tables of shards whose synapses change with spikes, for a device. It has their state during a run; between runs, the
/// tables have it.
class PlasticTables {
   public:
    /// Pulses of a transmitter that are kept, a power of two: all synapses learn after half as many steps.
    static constexpr std::uint32_t pulse_room = 4096;

    /// @param epoch_steps greatest number of steps after which spikes are exchanged @param device its name
    /// @throws StateError for tables that a device does not have
    PlasticTables(std::span<const std::unique_ptr<Shard>> shards, const network::LoweredNetwork& network,
                  Step epoch_steps, const std::string& device);

    /// Whether a network has such synapses, on any process.
    static bool are_in(const network::Network& network);
    const SynapseRules& rules() const { return rules_; }

    /// The row of the device for a row of a table that has synapses.
    using RowOf = std::function<std::uint32_t(connect::KindIndex, RowIndex)>;
    /// The tables of a shard. Thread-safe. @param rows of the device in this block
    device::TablesImage tables(std::uint32_t shard, std::uint32_t rows, const RowOf& row_of) const;
    /// Gives a device the state of the tables after step `now`, or takes it.
    void put_states(device::Backend& backend, std::uint32_t shard, Step now) const;
    void take_states(device::Backend& backend, std::uint32_t shard, Step now) const;

    /// Adds what these synapses have added to the inputs of steps after `now` to the sums of a ring.
    void add_inputs(std::uint32_t shard, Step now, double quantum, std::uint32_t slots,
                    std::span<device::i64> ring) const;
    /// The inputs of the shard are then those of a ring, less the sums that follow from spikes in transit.
    void set_inputs(std::uint32_t shard, Step now, double quantum, std::uint32_t slots,
                    std::span<const device::i64> ring) const;

   private:
    /// A kind of table, and its rule on the device.
    struct Kind {
        connect::KindIndex index;
        bool learns = false;
        std::uint32_t rule = 0;
    };

    void add_kind(connect::KindIndex kind, const network::LoweredNetwork& network, const std::string& device);
    /// Calls visit(kind, number of the table among those of its sort) for the tables of a shard.
    template <class Visit>
    void for_tables(const Shard& shard, Visit visit) const;
    static device::TableImage rows_of(const Shard& shard, const Kind& kind, std::uint32_t rows, const RowOf& row_of,
                                      double quantum);
    device::LearningImage learning(const Shard& shard, const Kind& kind, device::TableImage rows) const;
    /// @param rows of the device
    device::ModulationImage modulation(const Shard& shard, const Kind& kind, std::uint32_t rows,
                                       const RowOf& row_of) const;
    /// @pre the kind has one
    const connect::Transmitter& transmitter_of(const Kind& kind) const;
    /// The greatest axonal delay of a table that learns.
    static std::uint32_t greatest_axonal(const Shard& shard, const Kind& kind);
    /// Spikes of a neuron that are kept beside the new ones: all synapses learn at the end of the epoch in which a neuron has
    /// had too many of those, and some had not arrived when they last learnt.
    std::uint32_t other_spikes(const Shard& shard, const Kind& kind) const;
    /// Spikes of each neuron that are kept.
    std::uint32_t room_of(const Shard& shard, const Kind& kind) const;
    /// The receptors that these synapses reach, with the first input of each.
    template <class Visit>
    void for_receptors(const Shard& shard, Visit visit) const;

    std::span<const std::unique_ptr<Shard>> shards_;
    const connect::NetworkPlan& plan_;
    Step epoch_steps_;
    std::vector<Kind> kinds_;
    SynapseRules rules_;
};

}  // namespace ranvier::engine
