#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <vector>

#include "ranvier/parallel/team.hpp"

namespace ranvier::parallel {
namespace TEST_FILE {

Team make_team(std::uint32_t workers) { return Team(std::vector<Place>(workers), {.spinning = Spinning::never}); }

TEST(OrderedWork, one_worker_does_pieces_by_their_keys) {
    Team team = make_team(1);
    OrderedWork work(team.places(), StealingPolicy::none, 0);
    work.begin();
    const std::vector<std::int64_t> keys{7, -3, 5, 5, 0};
    for (std::uint32_t piece = 0; piece < keys.size(); ++piece) work.put(piece, keys[piece]);
    std::vector<std::uint32_t> done;
    team.run([&](std::uint32_t worker) {
        team.do_in_order(worker, work, [&](std::uint32_t piece) {
            done.push_back(piece);
            // A piece that is put while others wait takes its place among them.
            if (piece == 4) work.put(5, 6);
            if (piece == 0) work.close();
        });
    });
    EXPECT_EQ(done, (std::vector<std::uint32_t>{1, 4, 2, 3, 5, 0}));
    EXPECT_EQ(work.counts(0).assigned, 6U);
}

TEST(OrderedWork, without_stealing_each_worker_does_its_own_pieces) {
    constexpr std::uint32_t pieces = 60;
    Team team = make_team(3);
    OrderedWork work(team.places(), StealingPolicy::none, 0);
    work.begin();
    for (std::uint32_t piece = 0; piece < pieces; ++piece) work.put(piece, piece);
    std::vector<std::uint32_t> doer(pieces, 99);
    std::atomic<std::uint32_t> left{pieces};
    team.run([&](std::uint32_t worker) {
        team.do_in_order(worker, work, [&](std::uint32_t piece) {
            doer[piece] = worker;
            if (--left == 0) work.close();
        });
    });
    for (std::uint32_t piece = 0; piece < pieces; ++piece) EXPECT_EQ(doer[piece], piece % 3);
}

TEST(OrderedWork, a_worker_without_pieces_takes_the_first_ones_of_others) {
    // All pieces are of worker 0, who is busy with the first one until all others are done.
    Team team = make_team(2);
    OrderedWork work(team.places(), StealingPolicy::local_and_remote, 0);
    work.begin();
    for (std::uint32_t piece = 0; piece < 10; piece += 2) work.put(piece, 10 - piece);
    std::atomic<std::uint32_t> left{5};
    std::atomic<bool> held{false};
    std::vector<std::uint32_t> taken;
    team.run([&](std::uint32_t worker) {
        if (worker == 1) held.wait(false);
        team.do_in_order(worker, work, [&](std::uint32_t piece) {
            if (worker == 0) {
                held.store(true);
                held.notify_all();
                while (left.load() > 1) std::this_thread::yield();
            } else {
                taken.push_back(piece);
            }
            if (--left == 0) work.close();
        });
    });
    EXPECT_EQ(taken, (std::vector<std::uint32_t>{6, 4, 2, 0}));
    EXPECT_EQ(work.counts(0).assigned, 1U);
    EXPECT_EQ(work.counts(1).local, 4U);
}

TEST(OrderedWork, what_a_piece_wrote_is_seen_by_whoever_does_it_next) {
    // Pieces go from hand to hand; their counters are plain numbers.
    constexpr std::uint32_t pieces = 16;
    constexpr int turns = 2000;
    Team team = make_team(4);
    OrderedWork work(team.places(), StealingPolicy::prefer_local, 10);
    std::vector<int> counters(pieces, 0);
    work.begin();
    for (std::uint32_t piece = 0; piece < pieces; ++piece) work.put(piece, 0);
    std::atomic<std::uint32_t> left{pieces};
    team.run([&](std::uint32_t worker) {
        team.do_in_order(worker, work, [&](std::uint32_t piece) {
            if (++counters[piece] < turns) {
                work.put(piece, counters[piece]);
            } else if (--left == 0) {
                work.close();
            }
        });
    });
    EXPECT_TRUE(std::ranges::all_of(counters, [](int count) { return count == turns; }));
}

TEST(OrderedWork, a_worker_that_fails_makes_all_leave) {
    Team team = make_team(3);
    OrderedWork work(team.places(), StealingPolicy::none, 0);
    work.begin();
    work.put(1, 0);
    EXPECT_THROW(team.run([&](std::uint32_t worker) {
        team.do_in_order(worker, work, [](std::uint32_t) { throw std::runtime_error("piece"); });
    }),
                 std::runtime_error);
    // And it can be used again.
    work.begin();
    work.put(1, 0);
    std::uint32_t done = 0;
    team.run([&](std::uint32_t worker) {
        team.do_in_order(worker, work, [&](std::uint32_t) {
            ++done;
            work.close();
        });
    });
    EXPECT_EQ(done, 1U);
}

}  // namespace TEST_FILE
}  // namespace ranvier::parallel
