#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ranvier/base/ids.hpp"
#include "ranvier/base/state_columns.hpp"
#include "ranvier/connect/tables/input_sums.hpp"

namespace ranvier::connect {

/// One synapse as seen by queries.
struct SynapseView {
    std::uint64_t position = 0;
    std::uint32_t target = 0;  ///< input; see InputLayout
    DelaySteps delay = 0;
    std::uint32_t tag = 0;  ///< projection, in tables that store it; otherwise 0
};

/// A variable of a row that has become infinite or NaN.
struct RowFailure {
    std::string_view variable;
    double value = 0.0;
    RowIndex row;
    Step step = 0;  ///< in which its source fired
};

class FactorsOnDevice;

/// State that synapses of the same source share.
class RowState {
   public:
    /// Saves or loads it. The same row may be loaded several times. @pre SynapseTable::has_sources()
    virtual void serialize_row(RowIndex row, StateColumns& columns) = 0;
    /// The first failed variable of a row, and the step; nothing if variables cannot fail.
    virtual std::optional<RowFailure> failure() const { return std::nullopt; }

   protected:
    ~RowState() = default;
};

/// The latest spikes accepted by a table of static synapses. Its deliveries in progress follow from these alone.
class RecentlyAccepted {
   public:
    /// Visits the spikes (row, stamp) that may not have reached all of their targets yet.
    virtual void visit_recent(const std::function<void(RowIndex, Step)>& visit) const = 0;

   protected:
    ~RecentlyAccepted() = default;
};

/// The sources of rows, in tables that store them but also work without them.
class FreeableSources {
   public:
    /// Frees their memory. No effect if they follow from the numbers of the rows.
    virtual void free_sources() = 0;
    /// Allocates memory for sources that were freed; then restore_source() follows for each row, at least once.
    virtual void begin_restoring() = 0;
    virtual void restore_source(RowIndex row, NeuronId source) = 0;

   protected:
    ~FreeableSources() = default;
};

/// The synapses of a table for queries, changes by users, and saved states.
class StoredSynapses {
   public:
    virtual std::uint64_t size() const = 0;
    virtual RowIndex row_of(std::uint64_t position) const = 0;
    virtual std::uint64_t row_begin(RowIndex row) const = 0;
    virtual std::uint64_t row_end(RowIndex row) const = 0;
    /// Appends synapses [begin, end) of one row to `out`.
    virtual void read(RowIndex row, std::uint64_t begin, std::uint64_t end, std::vector<SynapseView>& out) const = 0;
    /// Copies the inputs and the delays of the synapses of a row, for which there is room.
    virtual void copy_row(RowIndex row, std::uint32_t* inputs, DelaySteps* delays) const = 0;
    virtual std::uint32_t target(std::uint64_t position) const = 0;
    virtual bool has_tags() const = 0;
    virtual std::uint32_t tag(std::uint64_t position) const = 0;

    /// Current weights of some synapses, each as if read alone. Common data are looked up once, so that the time is
    /// proportional to the number of synapses.
    virtual void read_weights(std::span<const std::uint64_t> positions, std::span<double> weights) const = 0;
    double weight(std::uint64_t position) const {
        double weight = 0.0;
        read_weights(std::span(&position, 1), std::span(&weight, 1));
        return weight;
    }
    /// Changes weights, between two steps, to values that the sums of the inputs can represent. For static synapses,
    /// spikes that arrive after step `now` have the new weights, even if they are already in transit; their
    /// contributions to the inputs are corrected. For others, the contributions of spikes already sent do not change.
    /// Inputs are complete before `window_end`.
    virtual void set_weights(std::span<const std::uint64_t> positions, std::span<const double> weights, Step now,
                             Step window_end, const InputRing& inputs) = 0;
    /// A per-synapse parameter. @param column its index among these parameters
    virtual double parameter(std::size_t column, std::uint64_t position) const = 0;
    /// Changes it, for spikes that are accepted later.
    virtual void set_parameter(std::size_t column, std::span<const std::uint64_t> positions,
                               std::span<const double> values) = 0;

    /// Adds to each input's count the number of synapses onto it.
    virtual void count_onto(std::span<std::uint32_t> counts) const = 0;
    /// The positions of the synapses onto some inputs, one input after another; those of one input in an order that
    /// does not depend on the table: by source, projection, delay, and order of drawing. One pass over all synapses.
    /// @param inputs without repetition
    /// @param ends ends of the positions of each of these inputs, from count_onto()
    virtual void find_onto(std::span<const std::uint32_t> inputs, std::span<const std::uint64_t> ends,
                           std::span<std::uint64_t> positions) const = 0;

    // The state between two steps, for a table of the same synapses on any number of shards. The contributions of
    // non-static synapses to the inputs are saved with the inputs.

    /// Whether synapses have state that changes during a run, including weights.
    virtual bool has_synapse_state() const = 0;
    /// Saves or loads weights, and the state of synapses.
    virtual void serialize_synapses(std::span<const std::uint64_t> positions, StateColumns& columns) = 0;
    virtual RowState* row_state() { return nullptr; }
    const RowState* row_state() const { return const_cast<StoredSynapses*>(this)->row_state(); }
    /// Null where spikes do not add a factor of the weight, or on processors alone.
    virtual FactorsOnDevice* factors_on_device() { return nullptr; }
    /// Null for synapses that are not static.
    virtual const RecentlyAccepted* recently_accepted() const { return nullptr; }
    /// Null if the table needs its sources at all times.
    virtual FreeableSources* freeable_sources() { return nullptr; }

   protected:
    ~StoredSynapses() = default;
};

}  // namespace ranvier::connect
