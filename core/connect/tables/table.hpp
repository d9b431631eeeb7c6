#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory_resource>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "base/instruction_set.hpp"
#include "base/state_columns.hpp"
#include "connect/tables/input_sums.hpp"

namespace ranvier::connect {

/// The sources that a table could have: ranges of ids, numbered one after another.
class RowMap {
   public:
    struct Range {
        NeuronId first;
        std::uint64_t size = 0;
        std::uint32_t first_row = 0;
    };

    RowMap() = default;
    /// @param ranges of ids, in any order, overlapping or not
    explicit RowMap(std::vector<Range> ranges);

    std::uint32_t rows() const { return rows_; }
    std::span<const Range> ranges() const { return ranges_; }
    static constexpr RowIndex none{UINT32_MAX};
    /// The row of a source, or `none`.
    RowIndex row(NeuronId source) const;
    NeuronId source(RowIndex row) const;

   private:
    std::vector<Range> ranges_;
    std::uint32_t rows_ = 0;
};

/// One synapse as a query sees it.
struct SynapseView {
    std::uint64_t position = 0;
    std::uint32_t target = 0;  ///< input; see InputLayout
    DelaySteps delay = 0;
    std::uint32_t tag = 0;  ///< projection, in tables that store it; else 0
};

/// Reads a variable, by its number among those that a table follows, of neurons of the shard from one on, by local index. Values
/// of neurons that have no such variable stay as they are.
using PotentialReader = std::function<void(std::size_t variable, std::uint32_t first, std::span<double> values)>;

/// What a table of synapses that are not static keeps beside their weights, so that it must be saved.
struct SavedParts {
    bool synapses = false;  ///< something of each synapse that changes by itself, weights among it
    bool rows = false;      ///< something of each source
    bool targets = false;   ///< something of each neuron that they reach
};

/// A variable of a row that has become infinite or not a number.
struct RowFailure {
    std::string_view variable;
    double value = 0.0;
    RowIndex row;
    Step step = 0;  ///< in which its source fired
};

/// The synapses of one kind (TableKind) on one shard, sorted by source unless the user wants them unsorted.
///
/// Spikes are told to the table once, in `accept`; their synapses are then added to the inputs in time: everything that
/// arrives in [begin, end) once `deliver(begin, end)` has returned. Sums are exact, so the order does not matter.
class SynapseTable {
   public:
    virtual ~SynapseTable() = default;

    /// Rows are numbered in the order of their sources' ids; in an unsorted table, each synapse is a row.
    virtual std::uint32_t rows() const = 0;
    /// Whether the table knows the sources of its rows, which it can be told to forget.
    virtual bool has_sources() const = 0;
    /// Does nothing where they follow from the numbers of the rows.
    virtual void forget_sources() = 0;
    /// Makes room for sources that it has forgotten; then it is told those of all rows again, each once or more often.
    virtual void begin_recalling() {}
    virtual void recall_source(RowIndex /*row*/, NeuronId /*source*/) {}
    /// @pre has_sources()
    virtual NeuronId source(RowIndex row) const = 0;
    /// The rows of each of these sources, one source after another, appended to `rows`; a source without synapses has none.
    /// @pre has_sources(), or the table has a row for every source that it could have
    virtual void find_rows(std::span<const NeuronId> sources, std::pmr::vector<RowIndex>& rows) const = 0;
    virtual std::uint64_t size() const = 0;
    /// How it delivers, for reports: "runs" or "ring".
    virtual std::string_view layout() const = 0;
    virtual DelaySteps least_delay() const = 0;
    virtual DelaySteps greatest_delay() const = 0;
    /// Of the synapses of a row. @pre it has any, or the table is that of a transmitter
    virtual DelaySteps least_delay_of(RowIndex row) const = 0;
    /// How many steps ahead of the present one inputs may be written: what the ring of inputs must hold beside one window.
    virtual DelaySteps reach() const = 0;

    /// Takes in spikes that were emitted in step `stamp` by the sources of `rows`, and adds what arrives in
    /// (now, window_end). All earlier steps have been taken in before. Returns the number of synapses reached in all.
    virtual std::uint64_t accept(InstructionSet set, Step stamp, std::span<const RowIndex> rows, Step now,
                                 Step window_end, const InputRing& inputs) = 0;
    /// Adds what arrives in [begin, end) from all spikes that were accepted before.
    virtual void deliver(InstructionSet set, Step begin, Step end, const InputRing& inputs) = 0;

    /// Whether weights change with the spikes of both sides. Then the table is told of both, each step.
    virtual bool learns() const { return false; }
    /// The greatest absolute value that a weight had when it was added to an input. @pre learns()
    virtual double greatest_added() const { return 0.0; }
    /// The first variable of a row that has failed, and since when.
    virtual std::optional<RowFailure> failure() const { return std::nullopt; }
    /// Before the neurons of a step are updated: presynaptic spikes that arrive in it at the synapses themselves, which is
    /// before they arrive at the neurons.
    virtual void arrive(InstructionSet /*set*/, Step /*step*/, const InputRing& /*inputs*/) {}
    /// The transmitter that modulates these synapses has had so many spikes that arrive in this step, which may lie ahead.
    /// Called in the order of the steps; what it tells of a step may come in several pieces.
    virtual void modulate(Step /*step*/, std::uint64_t /*spikes*/) {}
    /// After the neurons of a step have been updated: those that have fired, by local index.
    virtual void postsynaptic_spikes(Step /*step*/, std::span<const std::uint32_t> /*neurons*/) {}
    /// Variables of its targets that the synapses follow.
    virtual std::span<const std::string_view> followed_variables() const { return {}; }
    /// Before the first step, and of no effect later: how they are after step `step`.
    virtual void begin_following(Step /*step*/, const PotentialReader& /*read*/) {}
    /// After the neurons of a step have been updated.
    virtual void follow(Step /*step*/, const PotentialReader& /*read*/) {}

    virtual RowIndex row_of(std::uint64_t position) const = 0;
    virtual std::uint64_t row_begin(RowIndex row) const = 0;
    virtual std::uint64_t row_end(RowIndex row) const = 0;
    /// Synapses [begin, end) of one row, appended to `out`.
    virtual void read(RowIndex row, std::uint64_t begin, std::uint64_t end, std::vector<SynapseView>& out) const = 0;
    virtual std::uint32_t target(std::uint64_t position) const = 0;
    /// Present weights of some synapses, each as if it were read alone. What all of them need is looked for once, so that
    /// many are read in time that grows with their number alone.
    virtual void read_weights(std::span<const std::uint64_t> positions, std::span<double> weights) const = 0;
    double weight(std::uint64_t position) const {
        double weight = 0.0;
        read_weights(std::span(&position, 1), std::span(&weight, 1));
        return weight;
    }
    /// Changes weights, between two steps, to such as the sums of the inputs can hold. Spikes that arrive after step
    /// `now` have the new weights, even if they are already on their way: what these have added to the inputs is
    /// corrected. Inputs are complete before `window_end`.
    virtual void set_weights(std::span<const std::uint64_t> positions, std::span<const double> weights, Step now,
                             Step window_end, const InputRing& inputs) = 0;
    /// A parameter of which each synapse has a value of its own. @param column its place among these
    virtual double parameter(std::size_t /*column*/, std::uint64_t /*position*/) const { return 0.0; }
    /// Changes it, for spikes that are accepted later.
    virtual void set_parameter(std::size_t /*column*/, std::span<const std::uint64_t> /*positions*/,
                               std::span<const double> /*values*/) {}
    virtual bool has_tags() const = 0;
    virtual std::uint32_t tag(std::uint64_t position) const = 0;

    // The state of the table between two steps, for a table of the same synapses on any number of shards. What static tables
    // have under way follows from the latest spikes, what other tables have added to the inputs is saved with these.

    virtual SavedParts saved_parts() const = 0;
    /// Visits the spikes (row, stamp) that may not have reached all of their targets yet, of a static table; of others none.
    virtual void visit_recent(const std::function<void(RowIndex, Step)>& visit) const = 0;
    /// Adds to the number of each input how many synapses onto it there are.
    virtual void count_onto(std::span<std::uint32_t> counts) const = 0;
    /// The positions of the synapses onto some inputs, one input after another, those of one input in an order that does
    /// not depend on the table: by source, projection, delay, and as they were drawn. One walk through all synapses.
    /// @param inputs each of them once
    /// @param ends where those of each of these inputs end, as follows from count_onto()
    virtual void find_onto(std::span<const std::uint32_t> inputs, std::span<const std::uint64_t> ends,
                           std::span<std::uint64_t> positions) const = 0;
    /// Before what follows saves, or loads into a table that has just been made. @param now the last step
    virtual void begin_saving(Step /*now*/) {}
    virtual void begin_loading(Step /*now*/) {}
    /// Weights, and what else each synapse has.
    virtual void exchange_synapses(std::span<const std::uint64_t> positions, StateColumns& columns) = 0;
    /// The same row may be loaded several times. @pre has_sources()
    virtual void exchange_row(RowIndex row, StateColumns& columns) = 0;
    virtual void exchange_target(std::uint32_t neuron, StateColumns& columns) = 0;
    /// What the synapses of all tables of a kind have in common: the greatest of all that is loaded counts.
    virtual void exchange_common(StateColumns& /*columns*/) {}
    virtual void end_saving() {}
    virtual void end_loading() {}
};

}  // namespace ranvier::connect
