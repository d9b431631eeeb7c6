#pragma once

#include <cstdint>
#include <memory_resource>
#include <span>

#include "ranvier/base/ids.hpp"
#include "ranvier/base/instruction_set.hpp"
#include "ranvier/connect/tables/input_sums.hpp"

namespace ranvier::connect {

class StoredSynapses;
class LearningSynapses;

/// The part of a table that adds synapses to the inputs just before these are read, and not when their spikes are accepted.
class DeferredDelivery {
   public:
    /// Adds what arrives in [begin, end) from all spikes that were accepted before.
    virtual void deliver(InstructionSet set, Step begin, Step end, const InputRing& inputs) = 0;

   protected:
    ~DeferredDelivery() = default;
};

/// What the spikes of one kind of synapses (TableKind), or of a transmitter, reach on one shard, by source: rows, to which
/// spikes are sent.
///
/// A table gets each spike once, in `accept`. All that arrives in [begin, end) has been added to the inputs once the spikes
/// before `end` have been accepted, and `deliver(begin, end)` has returned where delivery is deferred. Sums are exact, so that
/// the order does not matter.
///
/// What else a table can do, it offers as an interface of its own; null where it cannot.
class SynapseTable {
   public:
    virtual ~SynapseTable() = default;

    /// Rows are numbered in the order of their sources' ids; in an unsorted table, each synapse is a row.
    virtual std::uint32_t rows() const = 0;
    /// Whether the table knows the sources of its rows.
    virtual bool has_sources() const = 0;
    /// @pre has_sources()
    virtual NeuronId source(RowIndex row) const = 0;
    /// The rows of each of these sources, one source after another, appended to `rows`; a source without synapses has none.
    /// @pre has_sources(), or the table has a row for every source that it could have
    virtual void find_rows(std::span<const NeuronId> sources, std::pmr::vector<RowIndex>& rows) const = 0;
    virtual DelaySteps least_delay() const = 0;
    virtual DelaySteps greatest_delay() const = 0;
    /// Of the synapses of a row. @pre spikes reach something in it
    virtual DelaySteps least_delay_of(RowIndex row) const = 0;
    /// How many steps ahead of the present one inputs may be written: what the ring of inputs must hold beside one window.
    virtual DelaySteps reach() const = 0;

    /// Takes in spikes that were emitted in step `stamp` by the sources of `rows`, and adds what arrives in
    /// (now, window_end). All earlier steps have been taken in before. Returns the number of synapses reached in all.
    virtual std::uint64_t accept(InstructionSet set, Step stamp, std::span<const RowIndex> rows, Step now,
                                 Step window_end, const InputRing& inputs) = 0;

    virtual DeferredDelivery* deferred() { return nullptr; }
    /// Null for a transmitter.
    virtual StoredSynapses* synapses() { return nullptr; }
    const StoredSynapses* synapses() const { return const_cast<SynapseTable*>(this)->synapses(); }
    /// Where weights change with the spikes of both sides, or with variables of the targets.
    virtual LearningSynapses* learning() { return nullptr; }
    const LearningSynapses* learning() const { return const_cast<SynapseTable*>(this)->learning(); }
};

}  // namespace ranvier::connect
