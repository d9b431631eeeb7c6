#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "ranvier/base/choice.hpp"

namespace ranvier::connect {

/// How tables deliver spikes; see RunTable and RingTable.
enum class TableLayout : std::uint8_t { automatic, runs, ring };

/// How rows are numbered.
enum class RowNumbering : std::uint8_t {
    dense,  ///< every possible source has a row, which may be empty: the row of a source is found by arithmetic
    compact,  ///< only sources with synapses have a row
    sparse,  ///< as compact, with an index over all possible sources (connect/tables/source_index.hpp), to be compared with
    unsorted,  ///< each synapse is a row, in the order in which they were drawn
};

}  // namespace ranvier::connect

namespace ranvier {

template <>
struct ChoiceNames<connect::TableLayout> {
    static constexpr std::string_view kind = "table layout";
    static constexpr std::array<std::string_view, 3> names{"auto", "runs", "ring"};
};

/// Unsorted synapses are another option.
template <>
struct ChoiceNames<connect::RowNumbering> {
    static constexpr std::string_view kind = "row numbering";
    static constexpr std::array<std::string_view, 3> names{"dense", "compact", "sparse"};
};

}  // namespace ranvier
