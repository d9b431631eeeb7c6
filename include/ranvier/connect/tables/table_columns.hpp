#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <utility>
#include <variant>
#include <vector>

#include "ranvier/base/buffer.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/base/instruction_set.hpp"
#include "ranvier/connect/tables/row_map.hpp"
#include "ranvier/connect/tables/source_index.hpp"
#include "ranvier/connect/tables/table_choices.hpp"

namespace ranvier::connect {

/// Delays of synapses relative to the shortest delay of their table, one byte each where that suffices.
using RelativeDelays = std::variant<Buffer<std::uint8_t>, Buffer<std::uint16_t>>;

/// Starts of rows, in as few bytes as their number of synapses allows.
class RowStarts {
   public:
    RowStarts() = default;
    /// Allocates `rows` rows with a total of `synapses` synapses.
    RowStarts(std::size_t rows, std::uint64_t synapses, std::pmr::memory_resource* memory) {
        if (synapses <= UINT32_MAX) {
            narrow_ = Buffer<std::uint32_t>(rows + 1, memory);
        } else {
            wide_ = Buffer<std::uint64_t>(rows + 1, memory);
        }
    }

    /// @param starts of all rows, and the end of the last one
    explicit RowStarts(Buffer<std::uint32_t> starts) : narrow_(std::move(starts)) {}
    explicit RowStarts(Buffer<std::uint64_t> starts) : wide_(std::move(starts)) {}

    std::uint64_t operator[](std::size_t row) const { return narrow_.empty() ? wide_[row] : narrow_[row]; }
    void set(std::size_t row, std::uint64_t begin) {
        if (narrow_.empty()) {
            wide_[row] = begin;
        } else {
            narrow_[row] = static_cast<std::uint32_t>(begin);
        }
    }
    /// Inlined before the compiler drops calls that seem to have no effect.
    RANVIER_ALWAYS_INLINE void prefetch(std::size_t row) const {
        __builtin_prefetch(narrow_.empty() ? static_cast<const void*>(wide_.data() + row) : narrow_.data() + row, 0, 3);
    }
    /// Number of rows; 0 if empty, as in unsorted tables.
    std::size_t rows() const { return narrow_.size() + wide_.size() == 0 ? 0 : narrow_.size() + wide_.size() - 1; }
    /// The row that contains a position.
    std::uint32_t row_of(std::uint64_t position) const {
        std::size_t low = 0;
        std::size_t high = rows();
        // The last row that starts at or before the position.
        while (high - low > 1) {
            const std::size_t middle = (low + high) / 2;
            ((*this)[middle] <= position ? low : high) = middle;
        }
        return static_cast<std::uint32_t>(low);
    }

   private:
    Buffer<std::uint32_t> narrow_;
    Buffer<std::uint64_t> wide_;
};

/// The columns of a table, row by row, before further structures are built on them.
template <class Target, class Weight>
struct TableColumns {
    // Compiled once, in table_columns.cpp: every kind of table takes its columns by value.
    TableColumns();
    TableColumns(TableColumns&&) noexcept;
    TableColumns& operator=(TableColumns&&) noexcept;
    ~TableColumns();

    RowMap row_map;
    RowNumbering numbering = RowNumbering::dense;
    RowStarts row_start;  ///< empty when unsorted
    /// Index in `row_map` of each row's source, unless rows are dense; empty once freed.
    Buffer<std::uint32_t> sources;
    SourceIndex index;  ///< of `sources`, if rows are sparse
    Buffer<Target> targets;  ///< inputs (see InputLayout), or cells
    /// If targets are cells (connect/tables/delay_blocks.hpp): number of inputs; otherwise 0.
    std::uint32_t cell_stride = 0;
    Buffer<Weight> weights;
    RelativeDelays delays;  ///< empty if all delays are equal, or if the layout implies them
    std::vector<Buffer<Weight>> parameters;  ///< per-synapse parameters
    Buffer<std::uint16_t> tags;  ///< projections; empty if source and target determine the projection
    DelaySteps least_delay = 1;
    DelaySteps greatest_delay = 1;
};

extern template struct TableColumns<std::uint16_t, float>;
extern template struct TableColumns<std::uint32_t, float>;
extern template struct TableColumns<std::uint16_t, double>;
extern template struct TableColumns<std::uint32_t, double>;

}  // namespace ranvier::connect
