#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "ranvier/base/choice.hpp"

namespace ranvier::connect {

/// Delivery of spikes by tables; see RunTable, RingTable and BlockTable.
enum class TableLayout : std::uint8_t { automatic, runs, ring, blocks };

/// Numbering of rows.
enum class RowNumbering : std::uint8_t {
    dense,  ///< every possible source has a row, possibly empty: the row of a source is found by arithmetic
    compact,  ///< only sources with synapses have a row
    /// As compact, with an index over all possible sources (connect/tables/source_index.hpp), and built from a separate
    /// container for each source (connect/tables/source_containers.hpp); for comparison.
    sparse,
    unsorted,  ///< each synapse is a row, in the order of drawing
};

}  // namespace ranvier::connect

namespace ranvier {

template <>
struct ChoiceNames<connect::TableLayout> {
    static constexpr std::string_view kind = "table layout";
    static constexpr std::array<std::string_view, 4> names{"auto", "runs", "ring", "blocks"};
};

/// Unsorted synapses are a separate option.
template <>
struct ChoiceNames<connect::RowNumbering> {
    static constexpr std::string_view kind = "row numbering";
    static constexpr std::array<std::string_view, 3> names{"dense", "compact", "sparse"};
};

}  // namespace ranvier
