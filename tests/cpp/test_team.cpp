#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "parallel/processors.hpp"
#include "ranvier/parallel/barrier.hpp"
#include "ranvier/parallel/team.hpp"

namespace ranvier::parallel {
namespace TEST_FILE {

/// No machine has it.
constexpr int no_processor = 16000;

std::vector<Place> free_places(std::uint32_t workers) { return std::vector<Place>(workers); }

class TeamAt : public testing::TestWithParam<std::uint32_t> {};

TEST_P(TeamAt, RunsEachWorkerOnceAndReturnsAfterAll) {
    Team team(free_places(GetParam()));
    EXPECT_EQ(team.size(), GetParam());
    for (int job = 0; job < 20; ++job) {
        std::vector<int> runs(GetParam(), 0);
        team.run([&](std::uint32_t worker) { ++runs[worker]; });
        EXPECT_EQ(runs, std::vector<int>(GetParam(), 1));
    }
}

TEST_P(TeamAt, MeetsAtTheBarrierWhetherItSpinsOrSleeps) {
    for (const Spinning spinning : {Spinning::automatic, Spinning::always, Spinning::never}) {
        Team team(free_places(GetParam()), {.spinning = spinning});
        // Each worker sees what all others wrote before the last host_barrier, and nothing that comes after the next one.
        std::vector<int> round_of(GetParam(), 0);
        std::atomic<int> wrong{0};
        team.run([&](std::uint32_t worker) {
            for (int round = 1; round <= 100; ++round) {
                round_of[worker] = round;
                team.wait();
                for (const int other : round_of) wrong += other != round;
                team.wait();
            }
        });
        EXPECT_EQ(wrong, 0);
    }
}

TEST_P(TeamAt, ThrowsWhatAWorkerThrewAndIsWholeAgain) {
    for (const Spinning spinning : {Spinning::automatic, Spinning::always, Spinning::never}) {
        Team team(free_places(GetParam()), {.spinning = spinning});
        // Nobody waits for the worker that failed.
        const auto failing = [&](std::uint32_t worker) {
            if (worker == GetParam() - 1) throw std::runtime_error("worker failed");
            for (;;) team.wait();
        };
        for (int attempt = 0; attempt < 3; ++attempt) {
            EXPECT_THROW(team.run(failing), std::runtime_error);
            std::atomic<std::uint32_t> runs{0};
            team.run([&](std::uint32_t) {
                team.wait();
                ++runs;
            });
            EXPECT_EQ(runs, GetParam());
        }
    }
}

TEST_P(TeamAt, StopsWhenPollThrows) {
    Team team(free_places(GetParam()));
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

TEST_P(TeamAt, GivesUpWherePollThrewAndOthersWait) {
    Team team(free_places(GetParam()));
    const auto endless = [&](std::uint32_t) {
        for (;;) {
            team.check_cancelled();
            team.wait();
        }
    };
    EXPECT_THROW(team.run(endless, [] { throw std::out_of_range("enough"); }), std::out_of_range);
}

TEST_P(TeamAt, CanBeDroppedByAForkedProcess) {
    auto team = std::make_unique<Team>(free_places(GetParam()));
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

INSTANTIATE_TEST_SUITE_P(Sizes, TeamAt, testing::Values(1u, 2u, 3u, 16u));

TEST(Places, BindWorkers) {
    const std::vector<int> processors = available_processors();
    std::vector<Place> places;
    for (std::size_t i = 0; i < processors.size(); ++i) {
        places.push_back({.processor = processors[i], .node = static_cast<std::uint32_t>(7 * i)});
    }
    Team team(places);
    EXPECT_TRUE(team.pinned());
    EXPECT_EQ(std::vector<Place>(team.places().begin(), team.places().end()), places);
    std::vector<std::vector<int>> seen(places.size());
    team.run([&](std::uint32_t worker) { seen[worker] = available_processors(); });
    for (std::uint32_t worker = 0; worker < team.size(); ++worker) {
        EXPECT_EQ(seen[worker], std::vector<int>{places[worker].processor});
        EXPECT_EQ(team.node_of(worker), 7 * worker);
    }
    // Pinning happens in workers; the caller stays free.
    EXPECT_EQ(available_processors(), processors);
}

TEST(Places, TellWhatTheSystemRefused) {
    const int processor = available_processors().front();
    Team team({{.processor = processor, .node = 1}, {.processor = no_processor, .node = 2}});
    EXPECT_FALSE(team.pinned());
    EXPECT_EQ(team.places()[0], (Place{.processor = processor, .node = 1}));
    EXPECT_EQ(team.places()[1], (Place{.processor = -1, .node = 2}));
}

TEST(Spinning, IsChosenByHowManyShareAProcessor) {
    const auto spins = [](std::vector<Place> places, TeamOptions options) { return Team(places, options).spins() > 0; };
    const int processor = available_processors().front();
    EXPECT_TRUE(spins(free_places(2), {.processors = 2}));
    EXPECT_FALSE(spins(free_places(3), {.processors = 2}));
    EXPECT_TRUE(spins(free_places(3), {.spinning = Spinning::always, .processors = 2}));
    EXPECT_FALSE(spins(free_places(1), {.spinning = Spinning::never}));
    EXPECT_TRUE(spins({{processor, 0}, {no_processor, 0}}, {.processors = 2}));
    EXPECT_FALSE(spins({{processor, 0}, {processor, 0}}, {.processors = 2}));
    EXPECT_FALSE(spins(free_places(static_cast<std::uint32_t>(available_processors().size()) + 1), {}));
}

TEST(Spinning, GoesOnOnlyWhereItPays) {
    SpinBudget budget(1024);
    EXPECT_EQ(budget.get(), 1024u);
    budget.adapt(true);
    EXPECT_EQ(budget.get(), 512u);
    // Half as often each time, but not never, and after a while as often as at first: sleeping makes others wait longer.
    std::uint32_t least = 1024;
    std::uint32_t trials = 0;
    for (int i = 0; i < 64; ++i) {
        budget.adapt(true);
        least = std::min(least, budget.get());
        trials += budget.get() == 1024 ? 1 : 0;
    }
    EXPECT_GT(least, 0u);
    EXPECT_LT(least, 64u);
    EXPECT_EQ(trials, 4u);
    budget.adapt(true);
    budget.adapt(false);
    EXPECT_EQ(budget.get(), 1024u);
    SpinBudget none(0);
    none.adapt(false);
    EXPECT_EQ(none.get(), 0u);
}

TEST(Barrier, IsBrokenForThoseWhoWaitAndThoseWhoCome) {
    for (const std::uint32_t spins : {0u, 1000000u}) {
        Barrier barrier(3, spins);
        std::atomic<int> cancelled{0};
        const auto wait = [&] {
            try {
                barrier.wait();
            } catch (const Cancelled&) {
                ++cancelled;
            }
        };
        std::thread waiting(wait);
        std::thread breaking([&] { barrier.break_up(); });
        waiting.join();
        breaking.join();
        wait();
        EXPECT_EQ(cancelled, 2);
        barrier.reset();
        std::thread first(wait);
        std::thread second(wait);
        wait();
        first.join();
        second.join();
        EXPECT_EQ(cancelled, 2);
    }
}

}  // namespace TEST_FILE
}  // namespace ranvier::parallel
