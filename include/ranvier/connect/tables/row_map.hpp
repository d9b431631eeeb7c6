#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ranvier/base/ids.hpp"

namespace ranvier::connect {

/// The possible sources of a table: ranges of ids, numbered consecutively.
class RowMap {
   public:
    struct Range {
        NeuronId first;
        std::uint64_t size = 0;
        std::uint32_t first_row = 0;
    };

    RowMap() = default;
    /// @param ranges of ids, in any order, possibly overlapping
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

}  // namespace ranvier::connect
