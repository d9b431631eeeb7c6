#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "engine/stepping/parts_left.hpp"

namespace ranvier::engine {
namespace TEST_FILE {

TEST(PartsLeft, AreClaimedHalfByHalf) {
    PartsLeft parts(2);
    EXPECT_TRUE(parts.are_added(1));
    EXPECT_TRUE(parts.claim(1).is_empty());
    parts.open(1, 7);
    EXPECT_EQ(parts.unclaimed(0), 0u);
    std::uint32_t begin = 0;
    for (const std::uint32_t some : {4u, 2u, 1u}) {
        EXPECT_EQ(parts.unclaimed(1), 7 - begin);
        const PartsLeft::Claim claim = parts.claim(1);
        EXPECT_EQ(claim.begin, begin);
        EXPECT_EQ(claim.end, begin + some);
        EXPECT_FALSE(parts.are_added(1));
        parts.confirm(1, claim);
        begin += some;
    }
    EXPECT_TRUE(parts.claim(1).is_empty());
    EXPECT_TRUE(parts.are_added(1));
}

/// Threads add what an owner opens again and again. The sums are not atomic: two threads with the same part, or a part
/// that is still being added when the owner goes on, would race.
TEST(PartsLeft, AreAddedOnceByAnyThread) {
    constexpr std::uint32_t count = 15;
    constexpr std::uint32_t epochs = 3000;
    PartsLeft parts(1);
    std::array<std::uint32_t, count> sums{};
    std::uint32_t value = 0;  // what the owner has prepared
    std::atomic<bool> over = false;
    std::atomic<std::uint64_t> taken = 0;
    const auto add_some = [&] {
        const PartsLeft::Claim claim = parts.claim(0);
        for (std::uint32_t part = claim.begin; part < claim.end; ++part) sums[part] += value;
        if (!claim.is_empty()) parts.confirm(0, claim);
        return !claim.is_empty();
    };
    std::vector<std::thread> helpers;
    for (int i = 0; i < 3; ++i) {
        helpers.emplace_back([&] {
            while (!over) {
                if (add_some()) {
                    ++taken;
                } else {
                    std::this_thread::yield();
                }
            }
        });
    }
    std::uint32_t expected = 0;
    for (std::uint32_t epoch = 1; epoch <= epochs || taken == 0; ++epoch) {
        value = epoch;
        expected += epoch;
        parts.open(0, count);
        while (add_some()) {
        }
        while (!parts.are_added(0)) std::this_thread::yield();
        for (const std::uint32_t sum : sums) ASSERT_EQ(sum, expected);
    }
    over = true;
    for (std::thread& helper : helpers) helper.join();
    EXPECT_GT(taken, 0u);
}

}  // namespace TEST_FILE
}  // namespace ranvier::engine
