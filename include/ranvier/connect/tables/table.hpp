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

/// Delivery of a table that adds synapses to the inputs just before these are read, instead of when their spikes are
/// accepted.
class DeferredDelivery {
   public:
    /// Adds the arrivals in [begin, end) of all spikes accepted before.
    virtual void deliver(InstructionSet set, Step begin, Step end, const InputRing& inputs) = 0;

   protected:
    ~DeferredDelivery() = default;
};

/// A table that delivers in parts. Each part adds the arrivals with some of the delays, so that no two parts write to the
/// same inputs, and threads may add them at the same time.
class DividedDelivery {
   public:
    /// Accepts the spikes of a step as SynapseTable::accept() does, but adds only the part with the shortest delays, and
    /// leaves the others: add_parts() must have added them before any call of accept() or accept_first_part(), and before
    /// the inputs of step `stamp + 2` are read. With few arrivals, none is left.
    virtual std::uint64_t accept_first_part(Step stamp, std::span<const RowIndex> rows, const InputRing& inputs) = 0;
    /// Number of parts that the last call has left.
    virtual std::uint32_t parts_left() const = 0;
    /// Adds parts [begin, end) of those. Does not throw. Thread-safe for different parts.
    virtual void add_parts(std::uint32_t begin, std::uint32_t end, const InputRing& inputs) const = 0;

   protected:
    ~DividedDelivery() = default;
};

/// The targets of the spikes of one kind of synapses (TableKind), or of a transmitter, on one shard, by source: rows,
/// to which spikes are sent.
///
/// A table receives each spike once, by `accept`. All arrivals in [begin, end) have been added to the inputs once the
/// spikes before `end` have been accepted, and, with deferred delivery, `deliver(begin, end)` has returned. Sums are
/// exact, so that the order does not matter.
///
/// Optional functions of a table are separate interfaces; null if not supported.
class SynapseTable {
   public:
    virtual ~SynapseTable() = default;

    /// Rows are numbered in the order of their sources' ids; in an unsorted table, each synapse is a row.
    virtual std::uint32_t rows() const = 0;
    /// Whether the table stores the sources of its rows.
    virtual bool has_sources() const = 0;
    /// @pre has_sources()
    virtual NeuronId source(RowIndex row) const = 0;
    /// Appends the rows of each of these sources to `rows`, one source after another; a source without synapses has
    /// none.
    /// @pre has_sources(), or the table has a row for every possible source
    virtual void find_rows(std::span<const NeuronId> sources, std::pmr::vector<RowIndex>& rows) const = 0;
    virtual DelaySteps least_delay() const = 0;
    virtual DelaySteps greatest_delay() const = 0;
    /// Of the synapses of a row. @pre the row has synapses
    virtual DelaySteps least_delay_of(RowIndex row) const = 0;
    /// Number of steps ahead of the current one for which inputs may be written: the required length of the ring of
    /// inputs beside one window.
    virtual DelaySteps reach() const = 0;

    /// Accepts spikes emitted in step `stamp` by the sources of `rows`, and adds their arrivals in (now, window_end).
    /// Spikes of all earlier steps must have been accepted. Returns the number of synapses reached.
    virtual std::uint64_t accept(InstructionSet set, Step stamp, std::span<const RowIndex> rows, Step now,
                                 Step window_end, const InputRing& inputs) = 0;

    virtual DeferredDelivery* deferred() { return nullptr; }
    virtual DividedDelivery* divided() { return nullptr; }
    /// Null for a transmitter.
    virtual StoredSynapses* synapses() { return nullptr; }
    const StoredSynapses* synapses() const { return const_cast<SynapseTable*>(this)->synapses(); }
    /// For weights that change with the spikes of both sides, or with variables of the targets.
    virtual LearningSynapses* learning() { return nullptr; }
    const LearningSynapses* learning() const { return const_cast<SynapseTable*>(this)->learning(); }
};

}  // namespace ranvier::connect
