#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "base/errors.hpp"
#include "parallel/stealing.hpp"
#include "parallel/team.hpp"

namespace ranvier::parallel {
namespace {

/// Workers on invented nodes, dealt to them in turn.
std::vector<Place> places_on(std::uint32_t workers, std::uint32_t nodes) {
    std::vector<Place> places(workers);
    for (std::uint32_t worker = 0; worker < workers; ++worker) places[worker].node = worker % nodes;
    return places;
}

// ---- policies --------------------------------------------------------------------------------------------------------

TEST(StealingPolicies, SayWhomToAskInWhichOrder) {
    const std::vector<Place> places{{-1, 0}, {-1, 0}, {-1, 1}, {-1, 1}, {-1, 0}};
    const auto victims = [&](StealingPolicy policy) { return list_victims(places, 1, policy); };
    using Workers = std::vector<std::uint32_t>;
    using Ends = std::vector<std::size_t>;
    EXPECT_EQ(victims(StealingPolicy::local_and_remote).workers, (Workers{2, 3, 4, 0}));
    EXPECT_EQ(victims(StealingPolicy::local_and_remote).ends, Ends{4});
    EXPECT_EQ(victims(StealingPolicy::prefer_local).workers, (Workers{4, 0, 2, 3}));
    EXPECT_EQ(victims(StealingPolicy::prefer_local).ends, (Ends{2, 4}));
    EXPECT_EQ(victims(StealingPolicy::local_only).workers, (Workers{4, 0}));
    EXPECT_EQ(victims(StealingPolicy::local_only).ends, Ends{2});
    EXPECT_EQ(victims(StealingPolicy::none).workers, Workers{});
    EXPECT_EQ(victims(StealingPolicy::none).ends, Ends{});
}

TEST(StealingPolicies, DivideWorkersIntoCompanies) {
    const std::vector<Place> places{{-1, 4}, {-1, 1}, {-1, 4}, {-1, 7}};
    using Numbers = std::vector<std::uint32_t>;
    EXPECT_EQ(companies(places, StealingPolicy::local_and_remote), (Numbers{0, 0, 0, 0}));
    EXPECT_EQ(companies(places, StealingPolicy::prefer_local), (Numbers{0, 0, 0, 0}));
    EXPECT_EQ(companies(places, StealingPolicy::local_only), (Numbers{0, 1, 0, 2}));
    EXPECT_EQ(companies(places, StealingPolicy::none), (Numbers{0, 1, 2, 3}));
}

TEST(StealingPolicies, HaveNames) {
    for (const auto policy : {StealingPolicy::local_and_remote, StealingPolicy::prefer_local,
                              StealingPolicy::local_only, StealingPolicy::none}) {
        EXPECT_EQ(parse_stealing(to_string(policy)), policy);
    }
    try {
        parse_stealing("prefer_lokal");
        FAIL() << "a policy of that name";
    } catch (const UnknownNameError& error) {
        EXPECT_NE(std::string(error.what()).find("'prefer_local'"), std::string::npos) << error.what();
    }
}

// ---- loops -----------------------------------------------------------------------------------------------------------

class LoopOn : public testing::TestWithParam<std::tuple<std::uint32_t, std::uint32_t, StealingPolicy>> {
   protected:
    std::uint32_t workers() const { return std::get<0>(GetParam()); }
    std::uint32_t nodes() const { return std::get<1>(GetParam()); }
    StealingPolicy policy() const { return std::get<2>(GetParam()); }
    std::unique_ptr<Team> team() const {
        return std::make_unique<Team>(places_on(workers(), nodes()), TeamOptions{.stealing = policy()});
    }
    /// Whether the policy lets `worker` do what belongs to `owner`.
    bool may_do(std::uint32_t worker, std::uint32_t owner) const {
        const std::vector<std::uint32_t> company = companies(places_on(workers(), nodes()), policy());
        return company[worker] == company[owner];
    }
    /// Work of a length that differs from item to item, so that some workers have to wait for others or help them.
    static void work(std::uint32_t item) {
        std::atomic<std::uint32_t> spent{0};
        for (std::uint32_t i = 0; i < 200 * (item % 7); ++i) spent.fetch_add(1, std::memory_order_relaxed);
    }
};

TEST_P(LoopOn, DoesEachItemOnceEpochAfterEpoch) {
    const auto team = this->team();
    constexpr std::uint32_t epochs = 200;
    // Few and many items, also none and fewer than workers, in turn; each is given the number of the epoch.
    const std::vector<std::uint32_t> counts{workers(), 3 * workers() + 1, 0, 1, 64};
    std::vector<std::uint32_t> items(64 + 4 * workers(), 0);
    std::vector<std::uint32_t> done_by(items.size(), 0);
    std::atomic<std::uint64_t> wrong{0};
    for (std::uint32_t job = 0; job < 3; ++job) {
        std::fill(items.begin(), items.end(), 0);
        team->run([&](std::uint32_t worker) {
            for (std::uint32_t epoch = 0; epoch < epochs; ++epoch) {
                const std::uint32_t count = counts[epoch % counts.size()];
                team->loop(worker, count, [&](std::uint32_t item) {
                    ++items[item];  // not atomic: doing an item twice would be a race as well
                    done_by[item] = worker;
                    work(item);
                });
                team->wait();
                for (std::uint32_t item = worker; item < count; item += workers()) {
                    wrong += !may_do(done_by[item], item % workers());
                }
                if (worker == 0) {
                    for (std::uint32_t item = 0; item < count; ++item) wrong += items[item] != 1;
                    std::fill(items.begin(), items.end(), 0);
                }
                team->wait();
            }
        });
    }
    EXPECT_EQ(wrong, 0u);
    StealingCounts all;
    for (std::uint32_t worker = 0; worker < workers(); ++worker) {
        const StealingCounts& counted = team->loop_counts(worker);
        all.own += counted.own;
        all.local += counted.local;
        all.remote += counted.remote;
    }
    const std::uint64_t round = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
    EXPECT_EQ(all.own + all.local + all.remote, 3 * (epochs / counts.size()) * round);
    if (policy() == StealingPolicy::none || workers() == 1) {
        EXPECT_EQ(all.local, 0u);
    }
    if (policy() == StealingPolicy::none || policy() == StealingPolicy::local_only || nodes() == 1) {
        EXPECT_EQ(all.remote, 0u);
    }
}

/// One meeting between two loops over different data is enough.
TEST_P(LoopOn, NeedsOneBarrierBetweenTwo) {
    const auto team = this->team();
    const std::uint32_t count = 2 * workers() + 1;
    std::vector<std::uint64_t> first(count, 0);
    std::vector<std::uint64_t> second(count, 0);
    team->run([&](std::uint32_t worker) {
        for (std::uint32_t epoch = 0; epoch < 300; ++epoch) {
            team->loop(worker, count, [&](std::uint32_t item) { first[item] += second[(item + 1) % count] + 1; });
            team->wait();
            team->loop(worker, count, [&](std::uint32_t item) { second[item] = first[(item + 3) % count] % 1000; });
            team->wait();
        }
    });
    std::vector<std::uint64_t> expected_first(count, 0);
    std::vector<std::uint64_t> expected_second(count, 0);
    for (std::uint32_t epoch = 0; epoch < 300; ++epoch) {
        for (std::uint32_t item = 0; item < count; ++item) {
            expected_first[item] += expected_second[(item + 1) % count] + 1;
        }
        for (std::uint32_t item = 0; item < count; ++item) {
            expected_second[item] = expected_first[(item + 3) % count] % 1000;
        }
    }
    EXPECT_EQ(first, expected_first);
    EXPECT_EQ(second, expected_second);
}

/// Without a barrier a worker may be loops ahead of another; still each item is done once in each loop.
TEST_P(LoopOn, LosesNothingWhereNobodyWaits) {
    const auto team = this->team();
    constexpr std::uint32_t loops = 400;
    const std::uint32_t count = workers() + 3;
    std::vector<std::atomic<std::uint32_t>> done(std::size_t{loops} * count);
    team->run([&](std::uint32_t worker) {
        for (std::uint32_t loop = 0; loop < loops; ++loop) {
            team->loop(worker, count, [&](std::uint32_t item) { ++done[std::size_t{loop} * count + item]; });
        }
    });
    for (const auto& times : done) ASSERT_EQ(times, 1u);
}

TEST_P(LoopOn, CanBeLeftByAnException) {
    const auto team = this->team();
    const std::uint32_t count = 4 * workers();
    for (int attempt = 0; attempt < 5; ++attempt) {
        const auto failing = [&](std::uint32_t worker) {
            for (;;) {
                team->loop(worker, count, [&](std::uint32_t item) {
                    if (item == count - 1) throw std::out_of_range("item failed");
                });
                team->wait();
            }
        };
        EXPECT_THROW(team->run(failing), std::out_of_range);
        // Here the workers have been in different numbers of loops when the job ends, and left items in the last.
        const auto absent = [&](std::uint32_t worker) {
            if (worker == 0) throw std::out_of_range("worker failed");
            team->loop(worker, count, [](std::uint32_t) { throw std::out_of_range("item failed"); });
        };
        EXPECT_THROW(team->run(absent), std::out_of_range);
        std::vector<std::uint32_t> done(count, 0);
        // The one that was in fewer loops goes first: for it, nothing of this loop must look done or undone.
        team->run([&](std::uint32_t worker) {
            if (worker != 0) team->wait();
            team->loop(worker, count, [&](std::uint32_t item) { ++done[item]; });
            if (worker == 0) team->wait();
        });
        EXPECT_EQ(done, std::vector<std::uint32_t>(count, 1));
    }
}

INSTANTIATE_TEST_SUITE_P(Teams, LoopOn,
                         testing::Combine(testing::Values(1u, 2u, 5u, 16u), testing::Values(1u, 3u),
                                          testing::Values(StealingPolicy::local_and_remote,
                                                          StealingPolicy::prefer_local, StealingPolicy::local_only,
                                                          StealingPolicy::none)));

/// Whoever is free does what belongs to a worker that is late, and is counted by where that one is.
TEST(Loop, IsHelpedOutByPolicy) {
    const std::vector<Place> places{{-1, 0}, {-1, 0}, {-1, 1}};
    for (const auto policy :
         {StealingPolicy::local_and_remote, StealingPolicy::prefer_local, StealingPolicy::local_only}) {
        Team team(places, {.stealing = policy});
        constexpr std::uint32_t count = 30;
        std::atomic<std::uint32_t> done{0};
        team.run([&](std::uint32_t worker) {
            // Worker 0 comes when the others have done all that they may.
            if (worker == 0) team.wait();
            team.loop(worker, count, [&](std::uint32_t) { ++done; });
            if (worker != 0) team.wait();
        });
        EXPECT_EQ(done, count);
        const StealingCounts first = team.loop_counts(1);
        const StealingCounts second = team.loop_counts(2);
        EXPECT_EQ(team.loop_counts(0), StealingCounts{});
        EXPECT_EQ(first.own + second.own + first.remote + second.remote + first.local, count);
        EXPECT_EQ(second.local, 0u);
        if (policy == StealingPolicy::local_only) {
            EXPECT_EQ(first, (StealingCounts{.own = 10, .local = 10, .remote = 0}));
            EXPECT_EQ(second, (StealingCounts{.own = 10, .local = 0, .remote = 0}));
        }
    }
}

}  // namespace
}  // namespace ranvier::parallel
