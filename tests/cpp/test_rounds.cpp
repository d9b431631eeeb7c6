#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "ranvier/base/errors.hpp"
#include "ranvier/parallel/ordered_work.hpp"
#include "ranvier/parallel/rounds.hpp"
#include "ranvier/parallel/stealing.hpp"
#include "ranvier/parallel/team.hpp"
#include "ranvier/parallel/topology.hpp"

namespace ranvier::parallel {
namespace TEST_FILE {

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

TEST(StealingPolicies, PreferNearNodes) {
    const std::vector<Place> places{{-1, 2}, {-1, 0}, {-1, 1}, {-1, 3}, {-1, 1}, {-1, 2}, {-1, 0}};
    const NodeDistances distances({10, 21, 12, 21,   //
                                   21, 10, 21, 12,   //
                                   12, 32, 10, 21,   //
                                   21, 12, 21, 10});
    using Workers = std::vector<std::uint32_t>;
    using Ends = std::vector<std::size_t>;
    const auto victims = [&](std::uint32_t thief, StealingPolicy policy) {
        return list_victims(places, thief, policy, distances);
    };
    // Node 0: then node 2, and then nodes 1 and 3 alike.
    EXPECT_EQ(victims(1, StealingPolicy::prefer_local).workers, (Workers{6, 5, 0, 2, 3, 4}));
    EXPECT_EQ(victims(1, StealingPolicy::prefer_local).ends, (Ends{1, 3, 6}));
    // Distances are those from the node of the thief: node 2, then 0, 3 and 1.
    EXPECT_EQ(victims(0, StealingPolicy::prefer_local).workers, (Workers{5, 1, 6, 3, 2, 4}));
    EXPECT_EQ(victims(0, StealingPolicy::prefer_local).ends, (Ends{1, 3, 4, 6}));
    // Others do not look at distances.
    EXPECT_EQ(victims(1, StealingPolicy::local_only).workers, Workers{6});
    EXPECT_EQ(victims(1, StealingPolicy::local_and_remote).ends, Ends{6});
    EXPECT_EQ(stealing_groups(places, StealingPolicy::prefer_local), Workers(places.size(), 0));
}

TEST(StealingPolicies, FollowFromTheTopology) {
    Topology machine = Topology::flat({0});
    try {
        machine = Topology::synthetic("pack:2 node:2 core:1 pu:1");
    } catch (const StateError&) {
        GTEST_SKIP() << "needs hwloc";
    }
    const std::vector<Place> places = place_threads(machine, 4, {.policy = PinningPolicy::equal});
    const Victims victims = list_victims(places, 1, StealingPolicy::prefer_local, machine.distances());
    EXPECT_EQ(victims.workers, (std::vector<std::uint32_t>{0, 2, 3}));
    EXPECT_EQ(victims.ends, (std::vector<std::size_t>{1, 3}));
    // Measured ones: node 3 is the nearest to node 1.
    const std::vector<double> latencies{80,  120, 160, 160,  //
                                        120, 80,  140, 95,   //
                                        160, 140, 80,  120,  //
                                        160, 95,  120, 80};
    const Topology measured = machine.with_distances(distances_by_latency(latencies));
    EXPECT_EQ(list_victims(places, 1, StealingPolicy::prefer_local, measured.distances()).workers,
              (std::vector<std::uint32_t>{3, 0, 2}));
}

/// The workers of whom the tasks are taken by a team: all by worker 0, the only one that is free.
TEST(StealingPolicies, OrderTheTheftsOfTeams) {
    Team team({{-1, 0}, {-1, 1}, {-1, 2}}, {.spinning = Spinning::never,
                                            .stealing = StealingPolicy::prefer_local,
                                            .distances = NodeDistances({10, 30, 20, 30, 10, 20, 20, 20, 10})});
    EXPECT_EQ(team.distances()(0, 2), 20u);
    OrderedWork work(team.places(), team.stealing(), team.spins(), team.distances());
    work.begin();
    // The nearer owner goes first although its piece has the later key.
    work.put(1, 1);
    work.put(2, 9);
    EXPECT_EQ(work.take(0), 2u);
    EXPECT_EQ(work.take(0), 1u);
    work.close();
}

TEST(StealingPolicies, DivideWorkersIntoCompanies) {
    const std::vector<Place> places{{-1, 4}, {-1, 1}, {-1, 4}, {-1, 7}};
    using Numbers = std::vector<std::uint32_t>;
    EXPECT_EQ(stealing_groups(places, StealingPolicy::local_and_remote), (Numbers{0, 0, 0, 0}));
    EXPECT_EQ(stealing_groups(places, StealingPolicy::prefer_local), (Numbers{0, 0, 0, 0}));
    EXPECT_EQ(stealing_groups(places, StealingPolicy::local_only), (Numbers{0, 1, 0, 2}));
    EXPECT_EQ(stealing_groups(places, StealingPolicy::none), (Numbers{0, 1, 2, 3}));
}

TEST(StealingPolicies, HaveNames) {
    for (const auto policy : {StealingPolicy::local_and_remote, StealingPolicy::prefer_local,
                              StealingPolicy::local_only, StealingPolicy::none}) {
        EXPECT_EQ(parse_choice<StealingPolicy>(name_of(policy)), policy);
    }
    try {
        parse_choice<StealingPolicy>("prefer_lokal");
        FAIL() << "a policy of that name";
    } catch (const UnknownNameError& error) {
        EXPECT_NE(std::string(error.what()).find("'prefer_local'"), std::string::npos) << error.what();
    }
}

// ---- rounds ----------------------------------------------------------------------------------------------------------

class RoundsOn : public testing::TestWithParam<std::tuple<std::uint32_t, std::uint32_t, StealingPolicy>> {
   protected:
    std::uint32_t workers() const { return std::get<0>(GetParam()); }
    std::uint32_t nodes() const { return std::get<1>(GetParam()); }
    StealingPolicy policy() const { return std::get<2>(GetParam()); }
    std::unique_ptr<Team> team() const {
        // On a busy machine the team would be crowded, and items taken over whatever the policy says.
        const auto never_delayed = [](std::uint32_t) { return [] { return std::chrono::nanoseconds(0); }; };
        return std::make_unique<Team>(places_on(workers(), nodes()),
                                      TeamOptions{.stealing = policy(), .crowding = {.make_delay = never_delayed}});
    }
    /// Whether the policy lets `worker` do what belongs to `owner`.
    bool may_do(std::uint32_t worker, std::uint32_t owner) const {
        const std::vector<std::uint32_t> group = stealing_groups(places_on(workers(), nodes()), policy());
        return group[worker] == group[owner];
    }
    /// Work of a length that differs from item to item, so that some workers have to wait for others or help them.
    static void work(std::uint32_t item) {
        std::atomic<std::uint32_t> spent{0};
        for (std::uint32_t i = 0; i < 200 * (item % 7); ++i) spent.fetch_add(1, std::memory_order_relaxed);
    }
    /// Processes so many rounds, counted from 0.
    template <class Body>
    static void run(Team& team, std::uint32_t rounds, std::uint32_t count, Body body) {
        RoundRecords records(count);
        team.prepare_rounds(records);
        team.run([&](std::uint32_t worker) {
            team.rounds(worker, [&](std::uint32_t item, std::uint32_t round) {
                body(worker, round - 1, item);
                return round == rounds ? RoundRecords::last : 0;
            });
        });
    }
};

TEST_P(RoundsOn, DoEachItemOnceRoundAfterRound) {
    const auto team = this->team();
    constexpr std::uint32_t rounds = 100;
    std::uint64_t items_in_all = 0;
    // Fewer items than workers, as many, and more.
    for (const std::uint32_t count : {1u, workers(), 3 * workers() + 1, 64u}) {
        std::vector<std::uint32_t> items(count, 0);
        std::atomic<std::uint64_t> wrong = 0;
        run(*team, rounds, count, [&](std::uint32_t worker, std::uint32_t round, std::uint32_t item) {
            // Not atomic: if an item were processed twice, that would be a race as well.
            wrong += items[item]++ != round;
            wrong += !may_do(worker, item % workers());
            work(item + round);
        });
        EXPECT_EQ(wrong, 0u);
        EXPECT_EQ(items, std::vector<std::uint32_t>(count, rounds));
        items_in_all += std::uint64_t{rounds} * count;
    }
    StealingCounts all;
    for (std::uint32_t worker = 0; worker < workers(); ++worker) {
        const StealingCounts& counted = team->item_counts(worker);
        all.assigned += counted.assigned;
        all.local += counted.local;
        all.remote += counted.remote;
    }
    EXPECT_EQ(all.assigned + all.local + all.remote, items_in_all);
    if (policy() == StealingPolicy::none || workers() == 1) {
        EXPECT_EQ(all.local, 0u);
    }
    if (policy() == StealingPolicy::none || policy() == StealingPolicy::local_only || nodes() == 1) {
        EXPECT_EQ(all.remote, 0u);
    }
}

/// Each item reads the notes and messages of all items of the previous round.
TEST_P(RoundsOn, PassNotesAndMessages) {
    const auto team = this->team();
    constexpr std::uint32_t rounds = 400;
    using Message = std::array<std::uint64_t, RoundRecords::message_bytes / sizeof(std::uint64_t)>;
    for (const std::uint32_t count : {1u, workers(), 2 * workers() + 1}) {
        const auto message_of = [](std::uint32_t item, std::uint32_t round) {
            Message message;
            message.fill(std::uint64_t{round} << 32 | item);
            return message;
        };
        std::atomic<std::uint64_t> wrong = 0;
        RoundRecords records(count);
        team->prepare_rounds(records);
        team->run([&](std::uint32_t worker) {
            team->rounds(worker, [&](std::uint32_t item, std::uint32_t round) {
                for (std::uint32_t other = 0; round > 1 && other < count; ++other) {
                    Message message;
                    std::memcpy(&message, records.message(other, round - 1), sizeof message);
                    wrong += message != message_of(other, round - 1);
                    wrong += records.note(other, round - 1) != 7 * round + other;
                }
                work(item + round);
                const Message message = message_of(item, round);
                std::memcpy(records.message(item, round), &message, sizeof message);
                return round == rounds ? RoundRecords::last : 7 * (round + 1) + item;
            });
        });
        EXPECT_EQ(wrong, 0u);
    }
}

/// Each round sees what all items of the one before have written.
TEST_P(RoundsOn, FollowEachOther) {
    const auto team = this->team();
    const std::uint32_t count = 2 * workers() + 1;
    constexpr std::uint32_t rounds = 600;
    std::vector<std::uint64_t> first(count, 0);
    std::vector<std::uint64_t> second(count, 0);
    const auto step = [&](std::uint32_t round, std::uint32_t item, std::vector<std::uint64_t>& a,
                          std::vector<std::uint64_t>& b) {
        if (round % 2 == 0) {
            a[item] += b[(item + 1) % count] + 1;
        } else {
            b[item] = a[(item + 3) % count] % 1000;
        }
    };
    run(*team, rounds, count,
        [&](std::uint32_t, std::uint32_t round, std::uint32_t item) { step(round, item, first, second); });
    std::vector<std::uint64_t> expected_first(count, 0);
    std::vector<std::uint64_t> expected_second(count, 0);
    for (std::uint32_t round = 0; round < rounds; ++round) {
        for (std::uint32_t item = 0; item < count; ++item) step(round, item, expected_first, expected_second);
    }
    EXPECT_EQ(first, expected_first);
    EXPECT_EQ(second, expected_second);
}

TEST_P(RoundsOn, CanBeLeftByAnException) {
    const auto team = this->team();
    const std::uint32_t count = 4 * workers();
    for (int attempt = 0; attempt < 5; ++attempt) {
        const auto failing_item = [&](std::uint32_t, std::uint32_t round, std::uint32_t item) {
            if (round == 3 && item == count - 1) throw std::out_of_range("item failed");
        };
        EXPECT_THROW(run(*team, 10, count, failing_item), std::out_of_range);
        std::vector<std::uint32_t> done(count, 0);
        run(*team, 3, count, [&](std::uint32_t, std::uint32_t, std::uint32_t item) { ++done[item]; });
        EXPECT_EQ(done, std::vector<std::uint32_t>(count, 3));
    }
}

INSTANTIATE_TEST_SUITE_P(Teams, RoundsOn,
                         testing::Combine(testing::Values(1u, 2u, 5u, 16u), testing::Values(1u, 3u),
                                          testing::Values(StealingPolicy::local_and_remote,
                                                          StealingPolicy::prefer_local, StealingPolicy::local_only,
                                                          StealingPolicy::none)));

/// Three workers on two nodes, of which worker 0 comes when all rounds are over.
struct LateWorker {
    static constexpr std::uint32_t count = 30;
    RoundRecords records{count};
    SharedRounds rounds;
    Crowding crowding;

    explicit LateWorker(StealingPolicy policy) : rounds(places(), policy, 0), crowding(places(), {}) {
        rounds.prepare(records);
        rounds.begin_job();
    }
    static std::vector<Place> places() { return {{-1, 0}, {-1, 0}, {-1, 1}}; }
    /// Returns the items that were done until the others had to wait for worker 0, or until all were done.
    std::uint32_t run_others(std::uint32_t expected) {
        std::atomic<std::uint32_t> done{0};
        const auto take_part = [&](std::uint32_t worker) {
            crowding.begin(worker);
            try {
                const auto body = [&](std::uint32_t, std::uint32_t) {
                    ++done;
                    return RoundRecords::last;
                };
                rounds.run(worker, body, NoOtherWork{}, crowding);
            } catch (const Cancelled&) {
                ++left;
            }
        };
        std::vector<std::thread> others;
        for (const std::uint32_t worker : {1u, 2u}) others.emplace_back(take_part, worker);
        while (done < expected) std::this_thread::yield();
        if (expected < count) rounds.break_up(crowding);
        for (std::thread& other : others) other.join();
        if (expected == count) take_part(0);
        return done;
    }
    std::atomic<std::uint32_t> left{0};
};

/// A free worker does the items of one that is late. They are counted by the node of that one.
TEST(Rounds, AreHelpedOutByPolicy) {
    for (const auto policy : {StealingPolicy::local_and_remote, StealingPolicy::prefer_local}) {
        LateWorker late(policy);
        EXPECT_EQ(late.run_others(LateWorker::count), LateWorker::count);
        EXPECT_EQ(late.left, 0u);
        EXPECT_EQ(late.rounds.counts(0), StealingCounts{});
        const StealingCounts& first = late.rounds.counts(1);
        const StealingCounts& second = late.rounds.counts(2);
        EXPECT_EQ(first.assigned + second.assigned + first.remote + second.remote + first.local, LateWorker::count);
        EXPECT_EQ(second.local, 0u);
    }
    // The third worker is alone on its node, so that nobody does what is left but the late one.
    LateWorker late(StealingPolicy::local_only);
    EXPECT_EQ(late.run_others(LateWorker::count), LateWorker::count);
    EXPECT_EQ(late.rounds.counts(1), (StealingCounts{.assigned = 10, .local = 10, .remote = 0}));
    EXPECT_EQ(late.rounds.counts(2), (StealingCounts{.assigned = 10, .local = 0, .remote = 0}));
}

/// Other work: counts its calls, and has something to do for a helper until an item is done.
struct CountedWork {
    static constexpr bool exists = true;
    void finish(std::uint32_t /*round*/) const { finished->fetch_add(1); }
    bool help(std::uint32_t round) const {
        if (*late_round != round) return false;
        helped->fetch_add(1);
        return true;
    }

    std::atomic<std::uint32_t>* finished;
    std::atomic<std::uint32_t>* helped;
    std::atomic<std::uint32_t>* late_round;  ///< in which an item is in progress that others wait for
};

/// A worker that waits for an item does other work meanwhile, also if it does not poll. It stops when no work is left.
TEST(Rounds, LetWaitingWorkersDoOtherWork) {
    for (const Spinning spinning : {Spinning::always, Spinning::never}) {
        // On a busy machine the team would be crowded, and the worker that should help would rest.
        const auto never_delayed = [](std::uint32_t) { return [] { return std::chrono::nanoseconds(0); }; };
        Team team(places_on(2, 1),
                  {.spinning = spinning, .stealing = StealingPolicy::none, .crowding = {.make_delay = never_delayed}});
        RoundRecords records(2);
        std::atomic<std::uint32_t> finished = 0;
        std::atomic<std::uint32_t> helped = 0;
        std::atomic<std::uint32_t> late_round = 0;
        std::uint32_t helped_before = 0;
        constexpr std::uint32_t rounds = 20;
        team.prepare_rounds(records);
        team.run([&](std::uint32_t worker) {
            team.rounds(
                worker,
                [&](std::uint32_t item, std::uint32_t round) {
                    if (item == 0 && round % 2 == 0) {
                        late_round = round;
                        // Ends only after the other worker has helped.
                        const std::uint32_t before = helped;
                        while (helped == before) std::this_thread::yield();
                        late_round = 0;
                        helped_before = helped;
                    }
                    return round == rounds ? RoundRecords::last : 0;
                },
                CountedWork{&finished, &helped, &late_round});
        });
        EXPECT_GE(helped, rounds / 2);
        EXPECT_LE(helped, helped_before + 1);
        EXPECT_EQ(finished, 2 * rounds);
    }
}

/// Where the policy leaves items to their owner, the others wait for it.
TEST(Rounds, WaitForAWorkerThatTheyMayNotHelp) {
    LateWorker late(StealingPolicy::none);
    EXPECT_EQ(late.run_others(20), 20u);
    EXPECT_EQ(late.left, 2u);
    EXPECT_EQ(late.rounds.taken_over(1) + late.rounds.taken_over(2), 0u);
}

}  // namespace TEST_FILE
}  // namespace ranvier::parallel
