#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "connect/tables/learning_synapses.hpp"
#include "connect/tables/table_builder.hpp"
#include "ranvier/connect/tables/synapse_dynamics.hpp"
#include "ranvier/connect/tables/table.hpp"
#include "ranvier/connect/tables/transmitter.hpp"

namespace ranvier::connect {

/// The target of the spikes of a transmitter on a shard. It has a row for each source, so that these spikes are sent
/// like all others, but no synapses: it forwards them to the modulated synapses.
class TransmitterTable final : public SynapseTable {
   public:
    /// @param modulated synapses of this shard, which must outlive this table
    TransmitterTable(Transmitter transmitter, std::vector<ModulatedSynapses*> modulated);

    std::uint32_t rows() const override { return static_cast<std::uint32_t>(transmitter_.sources.size()); }
    bool has_sources() const override { return true; }
    NeuronId source(RowIndex row) const override { return transmitter_.sources[row.value]; }
    void find_rows(std::span<const NeuronId> sources, std::pmr::vector<RowIndex>& rows) const override;
    DelaySteps least_delay() const override { return transmitter_.delay; }
    DelaySteps greatest_delay() const override { return transmitter_.delay; }
    DelaySteps least_delay_of(RowIndex /*row*/) const override { return transmitter_.delay; }
    DelaySteps reach() const override { return 0; }

    std::uint64_t accept(InstructionSet set, Step stamp, std::span<const RowIndex> rows, Step now, Step window_end,
                         const InputRing& inputs) override;

   private:
    Transmitter transmitter_;
    std::vector<ModulatedSynapses*> modulated_;
};

/// Appends a table for each transmitter of any kind of synapses, in the order of the kinds: null if it modulates no
/// synapses of this shard, so that all shards of a network have the same number of them.
/// @param dynamics by kind, null for static synapses
void append_transmitters(ShardTables& tables, std::span<const SynapseDynamics* const> dynamics);

}  // namespace ranvier::connect
