#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "connect/tables/row_cursors.hpp"
#include "ranvier/base/page_memory.hpp"

namespace ranvier::connect {
namespace TEST_FILE {

/// Sorts synapses by row in two passes and a few batches, and returns where rows begin.
RowStarts sort_by_row(const std::vector<std::uint32_t>& sources, std::size_t rows, std::uint32_t bits,
                      std::uint64_t most_narrow, std::vector<std::size_t>& order) {
    RowCursors cursors(rows, page_memory(), most_narrow);
    constexpr std::size_t batch = 7;
    for (std::size_t begin = 0; begin < sources.size(); begin += batch) {
        cursors.count(sources.data() + begin, std::min(batch, sources.size() - begin), bits);
    }
    EXPECT_EQ(cursors.total(), sources.size());
    EXPECT_EQ(cursors.rows(), rows);
    cursors.place();
    order.assign(sources.size(), sources.size());
    cursors.visit([&](auto* places) {
        for (std::size_t i = 0; i < sources.size(); ++i) order[places[sources[i] >> bits]++] = i;
    });
    return std::move(cursors).starts();
}

class RowCursorsTest : public testing::TestWithParam<std::uint64_t> {};

TEST_P(RowCursorsTest, KeepTheOrderOfEachRow) {
    std::mt19937 random(5);
    constexpr std::size_t rows = 40;
    for (const std::uint32_t bits : {0U, 3U}) {
        // Some rows have nothing, as the last one.
        std::vector<std::uint32_t> sources(100);
        for (std::uint32_t& source : sources) {
            source = static_cast<std::uint32_t>((random() % (rows / 2) * 2) << bits | random() % (1U << bits));
        }
        std::map<std::uint32_t, std::vector<std::size_t>> expected;
        for (std::size_t i = 0; i < sources.size(); ++i) expected[sources[i] >> bits].push_back(i);
        std::vector<std::size_t> order;
        const RowStarts starts = sort_by_row(sources, rows, bits, GetParam(), order);
        ASSERT_EQ(starts.rows(), rows);
        EXPECT_EQ(starts[0], 0U);
        EXPECT_EQ(starts[rows], sources.size());
        for (std::uint32_t row = 0; row < rows; ++row) {
            const auto first = order.begin() + static_cast<std::ptrdiff_t>(starts[row]);
            const auto last = order.begin() + static_cast<std::ptrdiff_t>(starts[row + 1]);
            EXPECT_EQ(std::vector<std::size_t>(first, last), expected[row]) << row;
        }
    }
}

TEST_P(RowCursorsTest, NeedNoSynapses) {
    std::vector<std::size_t> order;
    const RowStarts starts = sort_by_row({}, 3, 0, GetParam(), order);
    ASSERT_EQ(starts.rows(), 3U);
    for (std::size_t row = 0; row <= 3; ++row) EXPECT_EQ(starts[row], 0U);
}

// Four bytes are enough for all, from the 50th synapse on, or for none.
INSTANTIATE_TEST_SUITE_P(Widths, RowCursorsTest, testing::Values(UINT32_MAX, 49, 0));

}  // namespace TEST_FILE
}  // namespace ranvier::connect
