#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "parallel/processors.hpp"
#include "ranvier/parallel/crowding.hpp"
#include "ranvier/parallel/team.hpp"

namespace ranvier::parallel {
namespace TEST_FILE {

using namespace std::chrono_literals;

constexpr std::int64_t long_delay = 1'000'000'000'000;

/// Delays of workers, as a test tells them.
struct MadeUpDelays {
    explicit MadeUpDelays(std::uint32_t workers) : delays(std::make_unique<std::atomic<std::int64_t>[]>(workers)) {}

    /// Each look sees as much as the test wants it to see, and what it sees lasts.
    CrowdingOptions options() const {
        CrowdingOptions options;
        options.interval = 0ns;
        options.hold = 1h;
        options.make_delay = [this](std::uint32_t worker) {
            return [this, worker] { return std::chrono::nanoseconds(delays[worker].load()); };
        };
        return options;
    }
    std::unique_ptr<std::atomic<std::int64_t>[]> delays;
};

/// Processes so many rounds of one item for each worker.
template <class Body>
void run_rounds(Team& team, std::uint32_t rounds, Body body) {
    RoundRecords records(team.size());
    team.prepare_rounds(records);
    team.run([&](std::uint32_t worker) {
        team.rounds(worker, [&](std::uint32_t item, std::uint32_t round) {
            body(round - 1, item);
            return round == rounds ? RoundRecords::last : 0;
        });
    });
}

TEST(Crowding, BeginsWhenAWorkerWaitsTwiceInTurn) {
    const MadeUpDelays made_up(1);
    Crowding crowding(std::vector<Place>(1), made_up.options());
    crowding.begin(0);
    const auto look_after = [&](std::int64_t delay) {
        made_up.delays[0] += delay;
        return crowding.check(0);
    };
    EXPECT_FALSE(look_after(0));
    EXPECT_FALSE(look_after(long_delay));
    EXPECT_FALSE(look_after(0));
    EXPECT_FALSE(look_after(long_delay));
    EXPECT_TRUE(look_after(long_delay));
    EXPECT_EQ(crowding.counts().crowdings, 1u);
    EXPECT_DOUBLE_EQ(crowding.counts().delayed_seconds, 3e-9 * static_cast<double>(long_delay));
}

TEST(Crowding, GatheredWorkersGoThereAndBeginNone) {
    const MadeUpDelays made_up(1);
    const std::vector<int> all = available_processors();
    Crowding crowding(std::vector<Place>{{.processor = all.front()}}, made_up.options());
    // Threads keep to themselves where they are bound.
    std::thread worker([&] {
        ASSERT_TRUE(crowding.begin(0));
        const auto look_after = [&](std::int64_t delay) {
            made_up.delays[0] += delay;
            return crowding.check(0);
        };
        crowding.gather(all.back());
        crowding.check(0);
        EXPECT_EQ(available_processors(), std::vector<int>{all.back()});
        for (int i = 0; i < 5; ++i) EXPECT_FALSE(look_after(long_delay));
        crowding.gather(-1);
        // Until then it has waited for the workers with which it was gathered.
        EXPECT_FALSE(look_after(long_delay));
        EXPECT_EQ(available_processors(), std::vector<int>{all.front()});
        EXPECT_FALSE(crowding.was_crowded_lately());
        EXPECT_FALSE(look_after(long_delay));
        EXPECT_TRUE(look_after(long_delay));
        EXPECT_TRUE(crowding.was_crowded_lately());
        EXPECT_EQ(available_processors(), all);
    });
    worker.join();
}

TEST(Crowding, EndsAndBeginsAgainSooner) {
    const MadeUpDelays made_up(1);
    CrowdingOptions options = made_up.options();
    options.hold = 0ns;
    options.longest_hold = 0ns;
    Crowding crowding(std::vector<Place>(1), options);
    crowding.begin(0);
    for (int i = 0; i < 2; ++i) {
        made_up.delays[0] += long_delay;
        crowding.check(0);
    }
    EXPECT_TRUE(crowding.is_crowded());
    crowding.check(0);
    EXPECT_FALSE(crowding.is_crowded());
    EXPECT_GT(crowding.counts().crowded_seconds, 0.0);
}

/// Workers that look at the same moment: if one comes while another begins a crowding, the crowding must not seem long
/// over to it. It would end at once, and count all the time since the clock began. Without the mutex of Crowding the
/// thread sanitizer always finds this, and the test without it in some of its runs.
TEST(Crowding, BeginsOnceWhereTwoLookAtATime) {
    constexpr std::uint32_t workers = 2;
    constexpr int attempts = 5'000;
    const MadeUpDelays made_up(workers);
    CrowdingOptions options = made_up.options();
    options.processors = available_processors();
    const auto begin = std::chrono::steady_clock::now();
    std::unique_ptr<Crowding> crowding;
    std::barrier together(workers);
    int ended = 0;
    double crowded_seconds = 0.0;
    std::uint64_t crowdings = 0;
    const auto work = [&](std::uint32_t worker) {
        for (int attempt = 0; attempt < attempts; ++attempt) {
            if (worker == 0) {
                crowding = std::make_unique<Crowding>(std::vector<Place>(workers), options);
                for (std::uint32_t each = 0; each < workers; ++each) {
                    crowding->begin(each);
                    made_up.delays[each] += long_delay;
                    crowding->check(each);
                    made_up.delays[each] += long_delay;
                }
            }
            together.arrive_and_wait();
            crowding->check(worker);
            together.arrive_and_wait();
            if (worker != 0) continue;
            ended += crowding->is_crowded() ? 0 : 1;
            crowded_seconds = std::max(crowded_seconds, crowding->counts().crowded_seconds);
            crowdings = std::max(crowdings, crowding->counts().crowdings);
        }
    };
    {
        const std::jthread other(work, 1);
        work(0);
    }
    EXPECT_EQ(ended, 0);
    EXPECT_EQ(crowdings, 1u);
    EXPECT_LE(crowded_seconds, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
}

/// A pin is let go when another program sits on the processor.
TEST(Crowding, LetsGoOfPins) {
    const std::vector<int> all = available_processors();
    if (all.size() < 2) GTEST_SKIP() << "there is one processor only";
    const MadeUpDelays made_up(1);
    Team team({{.processor = all[1], .node = 0}}, {.crowding = made_up.options()});
    std::vector<int> processors;
    const auto body = [&](std::uint32_t, std::uint32_t) {
        made_up.delays[0] += long_delay;
        processors = available_processors();
    };
    run_rounds(team, 2, body);
    EXPECT_EQ(processors, std::vector<int>{all[1]});
    run_rounds(team, 2, body);
    EXPECT_EQ(processors, all);
    // Where it belongs is still there.
    EXPECT_EQ(team.places()[0].processor, all[1]);
    EXPECT_TRUE(team.pinned());
}

/// And it is taken again, to see whether the other program has gone.
TEST(Crowding, TakesPinsAgain) {
    const std::vector<int> all = available_processors();
    const MadeUpDelays made_up(1);
    CrowdingOptions options = made_up.options();
    options.hold = 0ns;
    options.longest_hold = 0ns;
    Team team({{.processor = all.back(), .node = 0}}, {.crowding = options});
    std::vector<int> processors;
    run_rounds(team, 20, [&](std::uint32_t round, std::uint32_t) {
        if (round < 10) made_up.delays[0] += long_delay;
        processors = available_processors();
    });
    EXPECT_GT(team.crowding_counts().crowdings, 0u);
    EXPECT_EQ(processors, std::vector<int>{all.back()});
}

TEST(Crowding, KeepsToTheProcessorsThatAreNamed) {
    const std::vector<int> all = available_processors();
    const MadeUpDelays made_up(1);
    CrowdingOptions options = made_up.options();
    options.processors = {all.back()};
    Team team({{.processor = all.back(), .node = 0}}, {.crowding = options});
    std::vector<int> processors;
    run_rounds(team, 5, [&](std::uint32_t, std::uint32_t) {
        made_up.delays[0] += long_delay;
        processors = available_processors();
    });
    EXPECT_GT(team.crowding_counts().crowdings, 0u);
    EXPECT_EQ(processors, std::vector<int>{all.back()});
}

/// While a team is crowded, some rest and the others do their items, also where nobody may steal; each item once a round.
TEST(Crowding, LetsWorkersRest) {
    constexpr std::uint32_t workers = 3;
    constexpr std::uint32_t rounds = 2000;
    const MadeUpDelays made_up(workers);
    Team team(std::vector<Place>(workers), {.stealing = StealingPolicy::none, .crowding = made_up.options()});
    for (int job = 0; job < 3; ++job) {
        std::vector<std::uint32_t> done(workers, 0);
        run_rounds(team, rounds, [&](std::uint32_t, std::uint32_t item) {
            ++done[item];
            made_up.delays[1] += long_delay;
        });
        EXPECT_EQ(done, std::vector<std::uint32_t>(workers, rounds));
    }
    EXPECT_EQ(team.crowding_counts().crowdings, 1u);
    EXPECT_LT(team.item_counts(1).assigned, std::uint64_t{3} * rounds);
    EXPECT_GT(team.items_taken_over(0) + team.items_taken_over(2), 0u);
}

/// A worker that rests when a job fails leaves it too, and takes part in the next.
TEST(Crowding, LeavesATeamWholeAfterAFailure) {
    constexpr std::uint32_t workers = 3;
    const MadeUpDelays made_up(workers);
    Team team(std::vector<Place>(workers), {.crowding = made_up.options()});
    for (int attempt = 0; attempt < 5; ++attempt) {
        const auto failing = [&](std::uint32_t round, std::uint32_t item) {
            made_up.delays[item] += long_delay;
            if (round == 100 && item == 0) throw std::out_of_range("item failed");
        };
        EXPECT_THROW(run_rounds(team, 1000, failing), std::out_of_range);
    }
    EXPECT_TRUE(team.crowding_counts().crowdings > 0);
    std::atomic<std::uint32_t> done{0};
    run_rounds(team, 10, [&](std::uint32_t, std::uint32_t) { ++done; });
    EXPECT_EQ(done, 10 * workers);
}

TEST(RunDelay, NeverFalls) {
    const RunDelay delay;
    const auto first = delay.read();
    EXPECT_GE(first.count(), 0);
    EXPECT_GE(delay.read(), first);
}

// ---- active workers -------------------------------------------------------------------------------------------------

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t millisecond = 1'000'000;

/// How many workers take part in each round, where rounds take as long as `duration` says for that number.
template <class Duration>
std::vector<std::uint32_t> present_over_time(const std::vector<std::int64_t>& delays, std::int64_t end,
                                             Duration duration) {
    const auto workers = static_cast<std::uint32_t>(delays.size());
    ActiveWorkers active_workers(workers, {});
    std::vector<std::uint32_t> present;
    for (std::int64_t now = 0; now < end; now += duration(active_workers.active())) {
        active_workers.end_round(true, now, [&] { return delays; });
        std::uint32_t awake = 0;
        for (std::uint32_t worker = 0; worker < workers; ++worker) awake += active_workers.is_resting(worker) ? 0 : 1;
        EXPECT_EQ(awake, active_workers.active());
        present.push_back(active_workers.active());
    }
    active_workers.end_round(false, end, [&] { return delays; });
    EXPECT_FALSE(active_workers.any_resting());
    return present;
}

TEST(ActiveWorkers, KeepsAsFewAsAreFastest) {
    const auto present = present_over_time(
        {1, 5, 5, 5}, 120 * second, [](std::uint32_t workers) { return workers == 1 ? millisecond : 3 * millisecond; });
    EXPECT_EQ(present.front(), 1u);
    EXPECT_EQ(present.back(), 1u);
    const auto more = std::count_if(present.begin(), present.end(), [](std::uint32_t workers) { return workers > 1; });
    EXPECT_GT(more, 0);
    EXPECT_LT(static_cast<double>(more), 0.05 * static_cast<double>(present.size()));
}

TEST(ActiveWorkers, FindsThatMoreAreFaster) {
    const auto present = present_over_time({5, 5, 5, 5, 5, 5, 5, 5}, 60 * second,
                                           [](std::uint32_t workers) { return 8 * millisecond / workers; });
    EXPECT_EQ(present.front(), 1u);
    EXPECT_EQ(present.back(), 8u);
}

TEST(ActiveWorkers, SendsThoseToRestThatWaited) {
    ActiveWorkers active_workers(4, {});
    active_workers.end_round(true, 0, [] { return std::vector<std::int64_t>{1, 9, 2, 8}; });
    EXPECT_FALSE(active_workers.is_resting(0));
    EXPECT_TRUE(active_workers.is_resting(1));
    EXPECT_FALSE(active_workers.is_resting(2));
    EXPECT_TRUE(active_workers.is_resting(3));
}

}  // namespace TEST_FILE
}  // namespace ranvier::parallel
