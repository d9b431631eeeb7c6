// The latest work of a worker: which pieces are kept, in which order, and what is measured of each.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ranvier/engine/trace.hpp"

namespace TEST_FILE {

using namespace ranvier;
using namespace ranvier::engine;

/// Traces a piece for each of these rounds, counted from 1.
void trace_rounds(WorkTrace& trace, std::uint64_t rounds, std::uint64_t first = 1) {
    const WorkerTimes times;
    for (std::uint64_t round = first; round < first + rounds; ++round) {
        trace.begin({.round = round}, times);
        trace.end(times);
    }
}

std::vector<std::uint64_t> rounds_of(const WorkTrace& trace) {
    std::vector<std::uint64_t> rounds;
    for (const TracedWork& piece : trace.pieces()) rounds.push_back(piece.round);
    return rounds;
}

TEST(WorkTrace, KeepsTheLatestPiecesInOrder) {
    for (const std::size_t capacity : {1u, 3u, 4u}) {
        for (std::uint64_t rounds = 0; rounds <= 2 * capacity + 1; ++rounds) {
            WorkTrace trace(capacity);
            EXPECT_TRUE(trace.is_on());
            trace_rounds(trace, rounds);
            std::vector<std::uint64_t> expected;
            for (std::uint64_t round = rounds > capacity ? rounds - capacity + 1 : 1; round <= rounds; ++round) {
                expected.push_back(round);
            }
            EXPECT_EQ(rounds_of(trace), expected) << capacity;
        }
    }
}

TEST(WorkTrace, StartsAgainWhenCleared) {
    WorkTrace trace(3);
    trace_rounds(trace, 5);
    trace.clear();
    EXPECT_TRUE(trace.pieces().empty());
    trace_rounds(trace, 2, 6);
    EXPECT_EQ(rounds_of(trace), (std::vector<std::uint64_t>{6, 7}));
    trace_rounds(trace, 2, 8);
    EXPECT_EQ(rounds_of(trace), (std::vector<std::uint64_t>{7, 8, 9}));
}

TEST(WorkTrace, IsOffWithoutCapacity) { EXPECT_FALSE(WorkTrace(0).is_on()); }

/// Each time of a worker has grown by another amount; reading spikes is measured as a part of delivering them.
TEST(WorkTrace, MeasuresPartsFromTheBeginOfAPiece) {
    WorkTrace trace(2);
    const WorkerTimes before{
        .update = 1.0, .collocate = 2.0, .communicate = 3.0, .deliver = 4.0, .wait = 5.0, .record = 6.0};
    const WorkerTimes after{
        .update = 1.5, .collocate = 2.25, .communicate = 3.125, .deliver = 6.0, .wait = 5.75, .record = 9.0};
    const LapTimer::Clock::time_point begin = LapTimer::Clock::now();
    trace.begin({.begin = begin, .shard = 7, .kind = WorkKind::collect}, before);
    trace.present().read = 0.5F;
    trace.present().events = 11;
    trace.end(after);
    ASSERT_EQ(trace.pieces().size(), 1u);
    const TracedWork piece = trace.pieces().front();
    EXPECT_EQ(piece.shard, 7u);
    EXPECT_EQ(piece.kind, WorkKind::collect);
    EXPECT_EQ(piece.events, 11u);
    EXPECT_EQ(piece.begin, begin);
    EXPECT_GE(piece.end, begin);
    EXPECT_LE(piece.end, LapTimer::Clock::now());
    EXPECT_EQ(piece.read, 0.5F);
    EXPECT_EQ(piece.deliver, 1.5F);
    EXPECT_EQ(piece.update, 0.5F);
    EXPECT_EQ(piece.collocate, 0.25F);
    EXPECT_EQ(piece.communicate, 0.125F);
    EXPECT_EQ(piece.wait, 0.75F);
    EXPECT_EQ(piece.record, 3.0F);
}

}  // namespace TEST_FILE
