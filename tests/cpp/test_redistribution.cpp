#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "comm/redistribution.hpp"
#include "ranvier/comm/communicator.hpp"
#include "thread_communicator.hpp"

namespace ranvier::comm {
namespace TEST_FILE {

/// Three words, so that buffer sizes do not divide evenly.
struct Record {
    std::uint64_t from;
    std::uint64_t to;
    std::uint64_t number;

    friend bool operator==(const Record&, const Record&) = default;
};

/// How many records a process has for another.
using Counts = std::function<std::uint64_t(std::uint64_t from, std::uint64_t to)>;

void expect_all_arrive(std::int32_t ranks, std::uint64_t buffer_bytes, const Counts& count) {
    SCOPED_TRACE(std::to_string(ranks) + " ranks, " + std::to_string(buffer_bytes) + " bytes");
    const auto all = static_cast<std::uint64_t>(ranks);
    std::uint64_t most = 0;
    for (std::uint64_t from = 0; from < all; ++from) {
        for (std::uint64_t to = 0; to < all; ++to) most = std::max(most, count(from, to));
    }
    const std::uint64_t section = std::max<std::uint64_t>(1, buffer_bytes / sizeof(Record) / all);
    run_processes(ranks, [&](const std::shared_ptr<Communicator>& communicator) {
        const auto own = static_cast<std::uint64_t>(communicator->rank().value);
        std::vector<Record> records;
        std::vector<std::uint64_t> counts;
        for (std::uint64_t to = 0; to < all; ++to) {
            counts.push_back(count(own, to));
            for (std::uint64_t i = 0; i < counts.back(); ++i) records.push_back({own, to, i});
        }
        Redistribution<Record> exchange(*communicator, buffer_bytes);
        // Twice, since an exchange can be used again.
        for (int turn = 0; turn < 2; ++turn) {
            std::vector<std::uint64_t> next(all, 0);
            std::uint64_t rounds = 0;
            exchange.start(records, counts);
            while (exchange.round()) {
                ++rounds;
                Rank last{-1};
                for (const auto& piece : exchange.received()) {
                    EXPECT_LT(last, piece.from);
                    last = piece.from;
                    EXPECT_FALSE(piece.records.empty() && all > 1);
                    EXPECT_LE(piece.records.size(), all > 1 ? section : most);
                    // All that one process sends comes in its order.
                    const auto from = static_cast<std::uint64_t>(piece.from.value);
                    for (const Record& record : piece.records) EXPECT_EQ(record, (Record{from, own, next[from]++}));
                }
                // The buffers that were bounded, some words for each process, and room to grow.
                EXPECT_LE(exchange.bytes(), 2 * 2 * std::max(buffer_bytes, all * sizeof(Record)) + 64 * all + 64);
            }
            for (std::uint64_t from = 0; from < all; ++from) EXPECT_EQ(next[from], count(from, own)) << from;
            EXPECT_EQ(rounds, all == 1 ? (most > 0 ? 1 : 0) : (most + section - 1) / section);
            EXPECT_TRUE(exchange.received().empty());
            EXPECT_FALSE(exchange.round());
        }
    });
}

TEST(Redistribution, BringsAllRecordsThroughBuffersOfAnySize) {
    for (const std::int32_t ranks : {1, 2, 3, 5}) {
        for (const std::uint64_t bytes : {0u, 1u, 24u, 100u, 1000u, 1u << 20}) {
            expect_all_arrive(ranks, bytes,
                              [](std::uint64_t from, std::uint64_t to) { return (from * 7 + to * 3) % 11; });
        }
    }
}

TEST(Redistribution, DoesNothingWhereThereIsNothing) {
    for (const std::int32_t ranks : {1, 2, 4}) {
        expect_all_arrive(ranks, 100, [](std::uint64_t, std::uint64_t) { return 0u; });
    }
}

TEST(Redistribution, BringsWhatOneHasForOne) {
    // The last process for the first, and all for the last: the rest have nothing to do but must take part.
    for (const std::uint64_t bytes : {1u, 200u}) {
        expect_all_arrive(4, bytes,
                          [](std::uint64_t from, std::uint64_t to) { return from == 3 && to == 0 ? 57u : 0u; });
        expect_all_arrive(4, bytes, [](std::uint64_t, std::uint64_t to) { return to == 3 ? 23u : 0u; });
        expect_all_arrive(3, bytes, [](std::uint64_t from, std::uint64_t to) { return from == to ? 9u : 0u; });
    }
}

TEST(Redistribution, BringsRandomNumbersOfRecords) {
    std::mt19937_64 random(3);
    for (int turn = 0; turn < 20; ++turn) {
        const auto ranks = static_cast<std::int32_t>(2 + random() % 4);
        std::vector<std::uint64_t> counts;
        for (int i = 0; i < ranks * ranks; ++i) counts.push_back(random() % 3 == 0 ? 0 : random() % 100);
        expect_all_arrive(ranks, random() % 3000, [&](std::uint64_t from, std::uint64_t to) {
            return counts[from * static_cast<std::uint64_t>(ranks) + to];
        });
    }
}

}  // namespace TEST_FILE
}  // namespace ranvier::comm
