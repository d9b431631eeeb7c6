#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <random>
#include <thread>
#include <vector>

#include "parallel/tasks/deque.hpp"
#include "ranvier/parallel/pause.hpp"

namespace ranvier::parallel {
namespace TEST_FILE {

using Deque = StealingDeque<std::uint32_t>;
using Outcome = Deque::Outcome;

TEST(Deque, GivesTheNewestToItsOwnerAndTheOldestToThieves) {
    Deque deque;
    std::uint32_t item = 0;
    EXPECT_TRUE(deque.is_empty());
    EXPECT_FALSE(deque.pop(item));
    EXPECT_EQ(deque.steal(item), Outcome::empty);
    for (std::uint32_t i = 1; i <= 4; ++i) deque.push(i);
    EXPECT_FALSE(deque.is_empty());
    EXPECT_EQ(deque.steal(item), Outcome::taken);
    EXPECT_EQ(item, 1u);
    EXPECT_TRUE(deque.pop(item));
    EXPECT_EQ(item, 4u);
    EXPECT_EQ(deque.steal(item), Outcome::taken);
    EXPECT_EQ(item, 2u);
    EXPECT_TRUE(deque.pop(item));
    EXPECT_EQ(item, 3u);
    EXPECT_FALSE(deque.pop(item));
    EXPECT_TRUE(deque.is_empty());
}

TEST(Deque, GrowsAndIsCleared) {
    Deque deque;
    std::uint32_t item = 0;
    // From both ends, so that the items wrap around before it grows.
    for (std::uint32_t i = 0; i < 200; ++i) deque.push(i);
    for (std::uint32_t i = 0; i < 150; ++i) ASSERT_EQ(deque.steal(item), Outcome::taken);
    for (std::uint32_t i = 200; i < 5000; ++i) deque.push(i);
    for (std::uint32_t i = 150; i < 1000; ++i) {
        ASSERT_EQ(deque.steal(item), Outcome::taken);
        ASSERT_EQ(item, i);
    }
    for (std::uint32_t i = 4999; i >= 1000; --i) {
        ASSERT_TRUE(deque.pop(item));
        ASSERT_EQ(item, i);
    }
    EXPECT_TRUE(deque.is_empty());
    deque.push(1);
    deque.clear();
    EXPECT_TRUE(deque.is_empty());
    EXPECT_FALSE(deque.pop(item));
    deque.push(7);
    EXPECT_TRUE(deque.pop(item));
    EXPECT_EQ(item, 7u);
}

class DequeWith : public testing::TestWithParam<std::uint32_t> {};

/// Each item arrives exactly once, with what was written before it was put in.
TEST_P(DequeWith, LosesAndDoublesNothing) {
    constexpr std::uint32_t items = 60000;
    Deque deque;
    std::vector<std::uint32_t> written(items, 0);
    std::vector<std::atomic<std::uint32_t>> taken(items);
    std::atomic<bool> over{false};
    std::atomic<std::uint64_t> wrong{0};
    const auto receive = [&](std::uint32_t item) {
        wrong += written[item] != item + 1;
        ++taken[item];
    };
    std::vector<std::thread> thieves;
    for (std::uint32_t i = 0; i < GetParam(); ++i) {
        thieves.emplace_back([&] {
            std::uint32_t item = 0;
            while (!over) {
                if (deque.steal(item) == Outcome::taken) {
                    receive(item);
                } else {
                    pause();
                }
            }
        });
    }
    std::minstd_rand random(7);
    std::uint32_t put = 0;
    std::uint32_t item = 0;
    while (put < items) {
        const auto some = static_cast<std::uint32_t>(random() % 40);
        for (std::uint32_t i = 0; i < some && put < items; ++i) {
            written[put] = put + 1;
            deque.push(put++);
        }
        // Often down to the last item, where owner and thieves meet.
        for (std::uint32_t i = 0; i < some; ++i) {
            if (random() % 8 != 0 && deque.pop(item)) receive(item);
        }
    }
    while (deque.pop(item)) receive(item);
    while (!deque.is_empty()) std::this_thread::yield();
    over = true;
    for (std::thread& thief : thieves) thief.join();
    EXPECT_EQ(wrong, 0u);
    for (const auto& times : taken) ASSERT_EQ(times, 1u);
}

INSTANTIATE_TEST_SUITE_P(Thieves, DequeWith, testing::Values(1u, 2u, 7u));

}  // namespace TEST_FILE
}  // namespace ranvier::parallel
