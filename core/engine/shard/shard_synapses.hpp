#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>
#include <vector>

#include "connect/tables/learning_synapses.hpp"
#include "connect/tables/stored_synapses.hpp"
#include "connect/tables/table_builder.hpp"
#include "connect/tables/table_kind.hpp"
#include "engine/shard/shard_groups.hpp"
#include "engine/shard/shard_inputs.hpp"
#include "network/lowering/lowering.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/base/instruction_set.hpp"
#include "ranvier/connect/placement/input_layout.hpp"

namespace ranvier::engine {

/// The incoming synapses of the neurons of a shard: a table for each kind, and one for each transmitter.
class ShardSynapses {
   public:
    /// @param groups, inputs must outlive these
    ShardSynapses(const network::LoweredNetwork& network, const ShardGroups& groups, ShardInputs& inputs,
                  InstructionSet instruction_set, std::pmr::memory_resource* memory);

    /// @param window steps of a delivery window
    void set_tables(connect::ShardTables tables, std::uint32_t window);
    /// Adds static tables. @pre there are none
    void add_static(connect::ShardTables tables);
    /// The greatest SynapseTable::reach() of the synapses of each receptor; empty for a receptor without synapses.
    std::vector<std::optional<DelaySteps>> reach() const;
    /// Frees the sources of rows in tables that do not need them.
    void free_sources();

    const connect::ShardTables& tables() const { return tables_; }
    // The table of a kind and its further interfaces; null where the table lacks one.
    connect::SynapseTable* table(connect::KindIndex kind) const { return tables_[kind.value].get(); }
    connect::StoredSynapses* stored(connect::KindIndex kind) const {
        return table(kind) == nullptr ? nullptr : table(kind)->synapses();
    }
    connect::LearningSynapses* learning(connect::KindIndex kind) const {
        return table(kind) == nullptr ? nullptr : table(kind)->learning();
    }
    bool is_static(connect::KindIndex kind) const { return static_kinds_[kind.value]; }
    std::uint32_t receptor(connect::KindIndex kind) const { return kinds_[kind.value].receptor; }
    /// The numbering of the inputs of synapses of a kind.
    const connect::InputLayout& inputs(connect::KindIndex kind) const { return inputs_.layout(receptor(kind)); }
    /// Number of synapses of all kinds.
    std::uint64_t size() const;
    /// Whether any synapses learn.
    bool learn() const { return !learning_.empty(); }

    /// Called before neurons are updated in a step: spikes that arrive at synapses that learn.
    void arrive(Step step);
    /// Called before neurons are updated in a step: delivers the window if one starts here.
    void deliver(Step step);
    /// Accepts the spikes of one step, from any shard, after the neurons of step `now` have been updated.
    void accept(Step stamp, std::span<const NeuronId> sources, Step now);
    /// The same for spikes with the rows of one kind that they reach.
    void accept(Step stamp, connect::KindIndex kind, std::span<const RowIndex> rows, Step now);
    /// The same for spikes of step `now`, but leaves arrivals in later steps than the next one to add_parts(), where
    /// tables can divide them. Returns the number of parts left, which must be added before further spikes are accepted.
    std::uint32_t accept_first_parts(Step now, std::span<const NeuronId> sources);
    /// Adds parts [begin, end) of those. Thread-safe for different parts; does not throw.
    void add_parts(std::uint32_t begin, std::uint32_t end) const;
    /// Restricts accept() to static synapses during a replay.
    void set_static_only(bool static_only) { static_only_ = static_only; }
    /// Called after the neurons of a step have been updated.
    /// @param fired local indices
    void follow(Step step, std::span<const std::uint32_t> fired);
    /// The first step whose inputs are not complete after step `now`.
    Step window_end(Step now) const { return (now / window_ + 1) * window_; }

    /// Changes weights between two steps; see StoredSynapses::set_weights().
    void set_weights(connect::KindIndex kind, std::span<const std::uint64_t> positions, std::span<const double> weights,
                     Step now) {
        stored(kind)->set_weights(positions, weights, now, window_end(now), ring(kind));
    }

    /// Number of synapses reached by spikes.
    std::uint64_t events() const { return events_; }
    void add_events(std::uint64_t events) { events_ += events; }
    void reset_counts() { events_ = 0; }

   private:
    /// Synapses that depend on variables of their targets.
    struct VoltageDriven {
        connect::VoltageDrivenSynapses* synapses = nullptr;
        std::vector<std::vector<std::size_t>> variables;  ///< by group; empty: none
    };
    void add_voltage_driven(connect::VoltageDrivenSynapses& synapses);
    /// See connect::PotentialReader.
    void read_variable(const VoltageDriven& driven, std::size_t variable, std::uint32_t first,
                       std::span<double> values) const;
    connect::PotentialReader reader_of(const VoltageDriven& driven) const;
    const connect::InputRing& ring(connect::KindIndex kind) const { return inputs_.ring(receptor(kind)); }

    const ShardGroups& groups_;
    ShardInputs& inputs_;
    InstructionSet instruction_set_;
    std::vector<connect::TableKind> kinds_;
    std::vector<bool> static_kinds_;
    connect::ShardTables tables_;
    std::vector<connect::KindIndex> deferred_;  ///< kinds whose delivery is deferred
    std::vector<connect::KindIndex> learning_;
    std::vector<connect::SpikeDrivenSynapses*> spike_driven_;
    std::vector<VoltageDriven> voltage_driven_;
    Step window_ = 1;
    bool static_only_ = false;
    std::pmr::vector<RowIndex> rows_;
    /// The end of the parts that each kind has left.
    std::vector<std::uint32_t> part_ends_;
    std::uint64_t events_ = 0;
};

}  // namespace ranvier::engine
