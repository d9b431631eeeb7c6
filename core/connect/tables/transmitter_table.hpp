#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "connect/tables/synapse_dynamics.hpp"
#include "connect/tables/table.hpp"
#include "connect/tables/table_builder.hpp"
#include "connect/tables/transmitter.hpp"

namespace ranvier::connect {

/// Where the spikes of a transmitter arrive on a shard. It has a row for each source, so that these spikes travel like all
/// others, but no synapses: it tells the tables that the transmitter modulates.
class TransmitterTable final : public SynapseTable {
   public:
    /// @param modulated tables of this shard, which must outlive this one
    TransmitterTable(Transmitter transmitter, std::vector<SynapseTable*> modulated);

    std::uint32_t rows() const override { return static_cast<std::uint32_t>(transmitter_.sources.size()); }
    bool has_sources() const override { return true; }
    void forget_sources() override {}
    NeuronId source(RowIndex row) const override { return transmitter_.sources[row.value]; }
    void find_rows(std::span<const NeuronId> sources, std::pmr::vector<RowIndex>& rows) const override;
    std::uint64_t size() const override { return 0; }
    std::string_view layout() const override { return "ring"; }
    DelaySteps least_delay() const override { return transmitter_.delay; }
    DelaySteps greatest_delay() const override { return transmitter_.delay; }
    DelaySteps least_delay_of(RowIndex /*row*/) const override { return transmitter_.delay; }
    DelaySteps reach() const override { return 0; }

    std::uint64_t accept(InstructionSet set, Step stamp, std::span<const RowIndex> rows, Step now, Step window_end,
                         const InputRing& inputs) override;
    void deliver(InstructionSet, Step, Step, const InputRing&) override {}

    RowIndex row_of(std::uint64_t position) const override;
    std::uint64_t row_begin(RowIndex) const override { return 0; }
    std::uint64_t row_end(RowIndex) const override { return 0; }
    void read(RowIndex, std::uint64_t, std::uint64_t, std::vector<SynapseView>&) const override {}
    std::uint32_t target(std::uint64_t position) const override;
    void read_weights(std::span<const std::uint64_t> positions, std::span<double> weights) const override;
    void set_weights(std::span<const std::uint64_t>, std::span<const double>, Step, Step, const InputRing&) override {}
    bool has_tags() const override { return false; }
    std::uint32_t tag(std::uint64_t) const override { return 0; }

    /// The tables that it modulates save what is under way.
    SavedParts saved_parts() const override { return {}; }
    void visit_recent(const std::function<void(RowIndex, Step)>& /*visit*/) const override {}
    void count_onto(std::span<std::uint32_t>) const override {}
    void find_onto(std::span<const std::uint32_t>, std::span<const std::uint64_t>,
                   std::span<std::uint64_t>) const override {}
    void exchange_synapses(std::span<const std::uint64_t>, StateColumns&) override {}
    void exchange_row(RowIndex, StateColumns&) override {}
    void exchange_target(std::uint32_t, StateColumns&) override {}

   private:
    Transmitter transmitter_;
    std::vector<SynapseTable*> modulated_;
};

/// Appends a table for each transmitter that any kind of synapses has, in the order of the kinds: null where it modulates
/// no synapses of this shard. So all shards of a network have the same number of them.
/// @param dynamics by kind, null for static synapses
void append_transmitters(ShardTables& tables, std::span<const SynapseDynamics* const> dynamics);

}  // namespace ranvier::connect
