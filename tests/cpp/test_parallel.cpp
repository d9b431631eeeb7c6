#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "parallel/processors.hpp"
#include "parallel/team.hpp"

namespace ranvier {
namespace {

class TeamOf : public testing::TestWithParam<std::uint32_t> {};

TEST_P(TeamOf, RunsEachWorkerOnceAndReturnsAfterAll) {
    parallel::Team team{std::vector<parallel::Place>(GetParam())};
    for (int job = 0; job < 20; ++job) {
        std::vector<int> runs(GetParam(), 0);
        team.run([&](std::uint32_t worker) { ++runs[worker]; });
        EXPECT_EQ(runs, std::vector<int>(GetParam(), 1));
    }
}

TEST_P(TeamOf, MeetsAtTheBarrier) {
    parallel::Team team{std::vector<parallel::Place>(GetParam())};
    // Each worker sees what all others wrote before the last meeting, and nothing that comes after the next one.
    std::vector<int> round_of(GetParam(), 0);
    std::atomic<int> wrong{0};
    team.run([&](std::uint32_t worker) {
        for (int round = 1; round <= 500; ++round) {
            round_of[worker] = round;
            team.wait();
            for (const int other : round_of) wrong += other != round;
            team.wait();
        }
    });
    EXPECT_EQ(wrong, 0);
}

TEST_P(TeamOf, ThrowsWhatAWorkerThrewAndNobodyWaitsForIt) {
    parallel::Team team{std::vector<parallel::Place>(GetParam())};
    const auto failing = [&](std::uint32_t worker) {
        if (worker == GetParam() - 1) throw std::runtime_error("worker failed");
        for (;;) {
            team.wait();
            if (GetParam() == 1) break;
        }
    };
    EXPECT_THROW(team.run(failing), std::runtime_error);
    // The team is whole again.
    std::atomic<std::uint32_t> runs{0};
    team.run([&](std::uint32_t) {
        team.wait();
        ++runs;
    });
    EXPECT_EQ(runs, GetParam());
}

TEST_P(TeamOf, StopsWhenPollThrows) {
    parallel::Team team{std::vector<parallel::Place>(GetParam())};
    const auto endless = [&](std::uint32_t) {
        while (!team.stop_requested()) {
        }
    };
    EXPECT_THROW(team.run(endless, [] { throw std::out_of_range("enough"); }), std::out_of_range);
    EXPECT_FALSE([&] {
        bool stop = false;
        team.run([&](std::uint32_t worker) {
            if (worker == 0) stop = team.stop_requested();
        });
        return stop;
    }());
}

TEST_P(TeamOf, GivesUpWherePollThrewAndOthersWait) {
    parallel::Team team{std::vector<parallel::Place>(GetParam())};
    const auto endless = [&](std::uint32_t) {
        for (;;) {
            team.check_cancelled();
            team.wait();
        }
    };
    EXPECT_THROW(team.run(endless, [] { throw std::out_of_range("enough"); }), std::out_of_range);
}

TEST_P(TeamOf, CanBeDroppedByAForkedProcess) {
    auto team = std::make_unique<parallel::Team>(std::vector<parallel::Place>(GetParam()));
    team->run([](std::uint32_t) {});
    const pid_t child = ::fork();
    if (child == 0) {
        team.reset();
        ::_exit(0);
    }
    ASSERT_GT(child, 0);
    int status = -1;
    // The timeout of the test program ends a child that waits for ever.
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    // The parent's team is as it was.
    std::atomic<std::uint32_t> runs{0};
    team->run([&](std::uint32_t) { ++runs; });
    EXPECT_EQ(runs, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Sizes, TeamOf, testing::Values(1u, 2u, 3u, 7u));

TEST(Processors, AreThoseThatTheThreadMayUse) {
    const std::vector<int> before = parallel::available_processors();
    ASSERT_FALSE(before.empty());
    std::vector<parallel::Place> places;
    for (const int processor : before) places.push_back({.processor = processor});
    parallel::Team team(places);
    EXPECT_TRUE(team.pinned());
    std::vector<std::vector<int>> seen(before.size());
    team.run([&](std::uint32_t worker) { seen[worker] = parallel::available_processors(); });
    for (std::size_t worker = 0; worker < seen.size(); ++worker) {
        EXPECT_EQ(seen[worker], std::vector<int>{before[worker]});
    }
    // Pinning happens in workers; the caller stays free.
    EXPECT_EQ(parallel::available_processors(), before);
}

}  // namespace
}  // namespace ranvier
