#include "ranvier/connect/tables/row_map.hpp"

#include <algorithm>
#include <string>

#include "ranvier/base/errors.hpp"

namespace ranvier::connect {

RowMap::RowMap(std::vector<Range> ranges) {
    std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.first < b.first; });
    for (const Range& range : ranges) {
        if (range.size == 0) continue;
        if (!ranges_.empty() && range.first.value <= ranges_.back().first.value + ranges_.back().size) {
            const std::uint64_t end = range.first.value + range.size;
            ranges_.back().size = std::max(ranges_.back().size, end - ranges_.back().first.value);
        } else {
            ranges_.push_back(range);
        }
    }
    std::uint64_t rows = 0;
    for (Range& range : ranges_) {
        range.first_row = static_cast<std::uint32_t>(rows);
        rows += range.size;
        if (rows >= none.value) {
            throw ValueOutOfBoundsError({.object = "number of sources of one shard",
                                         .value = std::to_string(rows),
                                         .bound = "a table holds fewer than 4294967295 rows",
                                         .remedy = "use more processes"});
        }
    }
    rows_ = static_cast<std::uint32_t>(rows);
}

RowIndex RowMap::row(NeuronId source) const {
    // The last range that starts at or before the source.
    const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), source,
                                        [](NeuronId id, const Range& range) { return id < range.first; });
    if (after == ranges_.begin()) return none;
    const Range& range = *(after - 1);
    const std::uint64_t index = source.value - range.first.value;
    return index < range.size ? RowIndex{range.first_row + static_cast<std::uint32_t>(index)} : none;
}

NeuronId RowMap::source(RowIndex row) const {
    const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), row.value,
                                        [](std::uint32_t r, const Range& range) { return r < range.first_row; });
    const Range& range = *(after - 1);
    return NeuronId{range.first.value + (row.value - range.first_row)};
}

}  // namespace ranvier::connect
