#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "connect/tables/stored_synapses.hpp"
#include "ranvier/connect/tables/table.hpp"
#include "ranvier/connect/tables/table_columns.hpp"

namespace ranvier::connect {

/// Synapses as columns, and queries of them. By default, spikes add synapses when they are accepted, to a ring of
/// inputs, and changed weights apply to spikes that are accepted later.
template <class Target, class Weight>
class StoredTable : public SynapseTable, public StoredSynapses, public FreeableSources {
   public:
    explicit StoredTable(TableColumns<Target, Weight> columns) : columns_(std::move(columns)) {}

    std::uint32_t rows() const override {
        if (columns_.numbering == RowNumbering::unsorted) return static_cast<std::uint32_t>(size());
        return static_cast<std::uint32_t>(columns_.row_start.rows());
    }
    bool has_sources() const override { return columns_.numbering == RowNumbering::dense || !columns_.sources.empty(); }
    void free_sources() override { columns_.sources = {}; }
    void begin_restoring() override { columns_.sources = Buffer<std::uint32_t>(rows()); }
    void restore_source(RowIndex row, NeuronId source) override {
        columns_.sources[row.value] = columns_.row_map.row(source).value;
    }
    NeuronId source(RowIndex row) const override {
        return columns_.row_map.source(
            columns_.numbering == RowNumbering::dense ? row : RowIndex{columns_.sources[row.value]});
    }
    void find_rows(std::span<const NeuronId> sources, std::pmr::vector<RowIndex>& rows) const override;
    DelaySteps reach() const override { return columns_.greatest_delay; }
    StoredSynapses* synapses() override { return this; }
    FreeableSources* freeable_sources() override { return this; }
    std::uint64_t size() const override { return columns_.targets.size(); }
    DelaySteps least_delay() const override { return columns_.least_delay; }
    DelaySteps greatest_delay() const override { return columns_.greatest_delay; }

    DelaySteps least_delay_of(RowIndex row) const override {
        DelaySteps least = columns_.greatest_delay;
        const std::uint64_t end = row_end(row);
        for (std::uint64_t position = row_begin(row); position < end && least > columns_.least_delay; ++position) {
            least = std::min(least, delay_at(row, position));
        }
        return least;
    }

    RowIndex row_of(std::uint64_t position) const override {
        return RowIndex{columns_.numbering == RowNumbering::unsorted ? static_cast<std::uint32_t>(position)
                                                                     : columns_.row_start.row_of(position)};
    }
    std::uint64_t row_begin(RowIndex row) const override {
        return columns_.numbering == RowNumbering::unsorted ? row.value : columns_.row_start[row.value];
    }
    std::uint64_t row_end(RowIndex row) const override {
        return columns_.numbering == RowNumbering::unsorted ? row.value + std::uint64_t{1}
                                                            : columns_.row_start[row.value + std::size_t{1}];
    }
    void read(RowIndex row, std::uint64_t begin, std::uint64_t end, std::vector<SynapseView>& out) const override;
    void copy_row(RowIndex row, std::uint32_t* inputs, DelaySteps* delays) const override;
    std::uint32_t target(std::uint64_t position) const override { return input_of(columns_.targets[position]); }
    void read_weights(std::span<const std::uint64_t> positions, std::span<double> weights) const override {
        for (std::size_t i = 0; i < positions.size(); ++i) {
            weights[i] = static_cast<double>(columns_.weights[positions[i]]);
        }
    }
    void set_weights(std::span<const std::uint64_t> positions, std::span<const double> weights, Step /*now*/,
                     Step /*window_end*/, const InputRing& /*inputs*/) override {
        for (std::size_t i = 0; i < positions.size(); ++i) {
            columns_.weights[positions[i]] = static_cast<Weight>(weights[i]);
        }
    }
    double parameter(std::size_t column, std::uint64_t position) const override {
        return static_cast<double>(columns_.parameters[column][position]);
    }
    void set_parameter(std::size_t column, std::span<const std::uint64_t> positions,
                       std::span<const double> values) override {
        for (std::size_t i = 0; i < positions.size(); ++i) {
            columns_.parameters[column][positions[i]] = static_cast<Weight>(values[i]);
        }
    }
    bool has_tags() const override { return !columns_.tags.empty(); }
    std::uint32_t tag(std::uint64_t position) const override {
        return columns_.tags.empty() ? 0 : columns_.tags[position];
    }

    void count_onto(std::span<std::uint32_t> counts) const override {
        for (const Target target : columns_.targets.span()) ++counts[input_of(target)];
    }
    void find_onto(std::span<const std::uint32_t> neurons, std::span<const std::uint64_t> ends,
                   std::span<std::uint64_t> positions) const override;
    bool has_synapse_state() const override { return false; }
    void serialize_synapses(std::span<const std::uint64_t> positions, StateColumns& columns) override {
        serialize_column(columns, "weight", positions, columns_.weights);
        for (std::size_t k = 0; k < columns_.parameters.size(); ++k) {
            serialize_column(columns, "parameter" + std::to_string(k), positions, columns_.parameters[k]);
        }
    }

   protected:
    /// A value of each of some synapses.
    static void serialize_column(StateColumns& columns, std::string_view name, std::span<const std::uint64_t> positions,
                                 Buffer<Weight>& values) {
        columns.serialize_list<Weight>(name, positions.size(),
                                       [&](std::size_t i) -> Weight& { return values[positions[i]]; });
    }
    /// The delay of a synapse of a row.
    virtual DelaySteps delay_at(RowIndex /*row*/, std::uint64_t position) const {
        if (columns_.least_delay == columns_.greatest_delay) return columns_.least_delay;
        return columns_.least_delay +
               std::visit([&](const auto& delays) { return DelaySteps{delays[position]}; }, columns_.delays);
    }

    /// The delays of all synapses of a row.
    virtual void copy_delays(RowIndex row, DelaySteps* delays) const;

    /// The input of a target as stored.
    std::uint32_t input_of(Target target) const {
        return columns_.cell_stride == 0 ? target : target % columns_.cell_stride;
    }

    TableColumns<Target, Weight> columns_;

   private:
    /// Sorts ascending positions of synapses onto one neuron into the order of find_onto().
    void order(std::span<std::uint64_t> positions) const;
    /// find_rows() by one pass over all synapses, for any number of sources.
    void search_unsorted(std::span<const NeuronId> sources, std::pmr::vector<RowIndex>& rows) const;
};

// Compiled once, in stored_table.cpp.
extern template class StoredTable<std::uint16_t, float>;
extern template class StoredTable<std::uint32_t, float>;
extern template class StoredTable<std::uint16_t, double>;
extern template class StoredTable<std::uint32_t, double>;

}  // namespace ranvier::connect
