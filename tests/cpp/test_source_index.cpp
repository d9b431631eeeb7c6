#include <gtest/gtest.h>

#include <cstdint>
#include <memory_resource>
#include <vector>

#include "ranvier/connect/tables/source_index.hpp"

namespace ranvier::connect {
namespace TEST_FILE {

constexpr std::uint64_t possible = 1000;

/// Each possible source is looked for.
void expect_rows(const std::vector<std::uint32_t>& present) {
    const SourceIndex index(present, possible, std::pmr::get_default_resource());
    std::uint32_t row = 0;
    for (std::uint32_t source = 0; source < possible; ++source) {
        const auto found = index.row(source);
        const bool there = row < present.size() && present[row] == source;
        ASSERT_EQ(found.has_value(), there) << source;
        if (there) {
            ASSERT_EQ(*found, row++) << source;
        }
    }
    EXPECT_EQ(row, present.size());
}

TEST(SourceIndex, FindsNothingInNothing) { expect_rows({}); }

TEST(SourceIndex, FindsTheFirstAndTheLastOfAGroup) { expect_rows({0, 47, 48, 95, 96, 480, 959, 960, 999}); }

TEST(SourceIndex, FindsEachOfAll) {
    std::vector<std::uint32_t> all(possible);
    for (std::uint32_t i = 0; i < possible; ++i) all[i] = i;
    expect_rows(all);
}

TEST(SourceIndex, FindsEachOfSome) {
    std::vector<std::uint32_t> some;
    for (std::uint32_t i = 0; i < possible; ++i) {
        if (i * i % 7 < 2 && i / 48 != 5) some.push_back(i);
    }
    expect_rows(some);
}

TEST(SourceIndex, TakesTwoAndTwoThirdsBitsForEachPossibleSource) {
    EXPECT_EQ(SourceIndex::bytes(48'000'000), 16'000'000u);
    EXPECT_EQ(SourceIndex::bytes(49), 32u);
}

}  // namespace TEST_FILE
}  // namespace ranvier::connect
