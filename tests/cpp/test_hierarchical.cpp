#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "comm/exchange/host_tables.hpp"
#include "comm/mirror_communicator.hpp"
#include "exchange_world.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/comm/communicator.hpp"
#include "ranvier/comm/exchange/exchange.hpp"

// The exchange in two levels. That it brings every spike where it is needed without groups, as every method does, is
// tested in test_exchanges.cpp.
namespace ranvier::comm {
namespace TEST_FILE {

const ExchangeInfo& hierarchical() { return find_exchange("hierarchical"); }

struct Totals {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
};
Totals totals_of(const std::vector<Outcome>& outcomes) {
    Totals totals;
    for (const Outcome& outcome : outcomes) {
        totals.sent += outcome.counts.spikes_sent;
        totals.received += outcome.counts.spikes_received;
    }
    return totals;
}

TEST(Hierarchical, BringsEverySpikeToAnyGroups) {
    std::mt19937_64 random(7);
    for (std::int32_t ranks = 1; ranks <= 8; ++ranks) {
        for (std::uint32_t host_ranks = 0; host_ranks <= 4; ++host_ranks) {
            // Hosts have consecutive ranks, or get them in turn.
            const std::int32_t hosts = 1 + static_cast<std::int32_t>(random() % 3);
            if (host_ranks > static_cast<std::uint32_t>(ranks / hosts)) continue;
            const auto workers = 1 + static_cast<std::uint32_t>(random() % 3);
            const std::uint64_t buffer_bytes = std::array{1U, 30U, 1U << 20}[random() % 3];
            SCOPED_TRACE(testing::Message() << ranks << " ranks on " << hosts << " hosts, groups of " << host_ranks
                                            << ", " << workers << " workers, " << buffer_bytes << " bytes");
            const World world({.ranks = ranks, .workers = workers, .epochs = 10}, random());
            ExchangeOptions options;
            options.buffer_bytes = buffer_bytes;
            options.host_ranks = host_ranks;
            const std::vector<Outcome> outcomes =
                run_world(world, hierarchical(), options, Workers::taking_turns, hosts);
            ASSERT_TRUE(all_arrived(outcomes));
            const Totals totals = totals_of(outcomes);
            EXPECT_EQ(totals.sent, world.expected_in_all(true));
            EXPECT_EQ(totals.received, totals.sent);
        }
    }
}

// For the thread sanitizer.
TEST(Hierarchical, IsFilledAndReadByAllWorkersAtOnce) {
    const World world({.ranks = 4, .workers = 3}, 99);
    ExchangeOptions options;
    options.buffer_bytes = 100;
    options.host_ranks = 2;
    ASSERT_TRUE(all_arrived(run_world(world, hierarchical(), options, Workers::threads)));
}

/// Each source on rank 0 reaches all of six ranks, with two addresses on each. There are so many spikes in each epoch.
World reaching_world(const std::vector<std::uint32_t>& spikes, std::uint32_t sources = 1) {
    constexpr std::uint32_t lags = 8;
    World world({.ranks = 6, .epochs = static_cast<std::uint32_t>(spikes.size()), .sources = sources, .lags = lags});
    for (std::uint32_t local = 0; local < sources; ++local) {
        for (std::int32_t to = 0; to < 6; ++to) {
            for (const std::uint64_t address : {1U, 2U}) {
                world.process(0).destinations[0][local].push_back({Rank{to}, address});
            }
        }
    }
    for (std::uint32_t epoch = 0; epoch < spikes.size(); ++epoch) {
        for (std::uint32_t i = 0; i < spikes[epoch]; ++i) world.emit(0, 0, i % sources, epoch, i / sources);
    }
    return world;
}

TEST(Hierarchical, SendsASpikeOnceToAHost) {
    const World world = reaching_world({1, 0});
    ExchangeOptions options;
    options.host_ranks = 3;
    const std::vector<Outcome> outcomes = run_world(world, hierarchical(), options);
    ASSERT_TRUE(all_arrived(outcomes));
    // Two heads in each epoch, and one word of two bytes, where alltoall sends twelve.
    EXPECT_EQ(outcomes[0].counts.bytes_sent, 2U * 16U + 2U);
    EXPECT_EQ(outcomes[3].counts.bytes_sent, 2U * 16U);
    // To the other leader, and nothing to anybody from other processes. Silence needs no second collective.
    for (const std::int32_t rank : {0, 3}) EXPECT_EQ(outcomes[static_cast<std::size_t>(rank)].counts.messages, 3U);
    for (const std::int32_t rank : {1, 2, 4, 5}) {
        EXPECT_EQ(outcomes[static_cast<std::size_t>(rank)].counts.messages, 0U);
        EXPECT_EQ(outcomes[static_cast<std::size_t>(rank)].counts.bytes_sent, 0U);
    }
    for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.counts.spikes_received, 2U);
    EXPECT_EQ(outcomes[0].counts.spikes_sent, 12U);
}

TEST(Hierarchical, SendsInAsManyRoundsAsItsBufferNeeds) {
    // Three processes share the buffer. Seven spikes are a word of two bytes each for two hosts.
    for (const auto& [buffer_bytes, rounds] : {std::pair{1U, 14U}, {12U, 7U}, {1U << 20, 1U}}) {
        const World world = reaching_world({7});
        ExchangeOptions options;
        options.host_ranks = 3;
        options.buffer_bytes = buffer_bytes;
        const std::vector<Outcome> outcomes = run_world(world, hierarchical(), options);
        ASSERT_TRUE(all_arrived(outcomes));
        EXPECT_EQ(outcomes[1].counts.rounds, rounds) << buffer_bytes;
    }
}

TEST(Hierarchical, LengthensTheInboxForBursts) {
    const World world = reaching_world({1, 500, 3, 4000, 0, 1}, 600);
    ExchangeOptions options;
    options.host_ranks = 3;
    const std::vector<Outcome> outcomes = run_world(world, hierarchical(), options);
    ASSERT_TRUE(all_arrived(outcomes));
    EXPECT_EQ(totals_of(outcomes).received, 12U * 4505U);
    EXPECT_EQ(outcomes[1].counts.rounds, 6U);
    // Words of two bytes.
    EXPECT_GT(outcomes[3].counts.buffer_bytes, outcomes[4].counts.buffer_bytes + 2U * 4000U);
}

TEST(Hierarchical, RefusesGroupsThatAHostDoesNotHaveBeforeAnythingCollective) {
    const World world({.ranks = 4}, 3);
    // The other processes never come.
    const auto group = std::make_shared<ThreadGroup>(4);
    const auto alone = std::make_shared<ThreadCommunicator>(group, Rank{0});
    ExchangeOptions options;
    options.host_ranks = 5;
    EXPECT_THROW(hierarchical().make(arguments_of(world, alone, options)), ValueOutOfBoundsError);
    group->deal_to_hosts(2);
    options.host_ranks = 3;
    EXPECT_THROW(hierarchical().make(arguments_of(world, alone, options)), ValueOutOfBoundsError);
    EXPECT_THROW(hierarchical().make(arguments_of(world, make_mirror_communicator(2), options)), ValueOutOfBoundsError);
    EXPECT_EQ(checked_host_ranks(*alone, 2), 2);
    EXPECT_EQ(checked_host_ranks(*make_mirror_communicator(7), 7), 7);
}

/// Runs one process of a dry run, whose only shard has sources that each reach some ranks.
ExchangeCounts play(std::int32_t ranks, std::uint32_t host_ranks) {
    constexpr std::uint32_t sources = 40;
    World world({.ranks = 1, .workers = 1, .epochs = 3, .sources = sources});
    for (std::uint32_t local = 0; local < sources; ++local) {
        for (std::int32_t i = 0; i < 20; ++i) {
            const auto to = static_cast<std::int32_t>((std::int64_t{i} * ranks / 20 + local) % ranks);
            world.process(0).destinations[0][local].push_back({Rank{to}, local});
        }
        std::ranges::sort(world.process(0).destinations[0][local], {}, &Destination::rank);
        for (const std::uint32_t epoch : {0U, 2U}) world.emit(0, 0, local, epoch, 1);
    }
    const std::shared_ptr<Communicator> communicator = make_mirror_communicator(ranks);
    const auto exchange = hierarchical().make(arguments_of(world, communicator, {.host_ranks = host_ranks}));
    std::size_t arrived = 0;
    for (std::uint32_t epoch = 0; epoch < 3; ++epoch) {
        const auto& spikes = world.process(0).spikes[epoch];
        const std::vector<std::span<const EmittedSpike>> outboxes(spikes.begin(), spikes.end());
        exchange->begin(World::first_step(epoch));
        const auto round = [&] {
            run_round(*exchange, outboxes, false,
                      [&](const SpikeExchange::Arrivals& arrivals) { arrived += arrivals.spikes.size(); });
        };
        for (round(); exchange->more(); round()) exchange->next_round();
    }
    EXPECT_EQ(arrived, 2U * 20U * sources);
    EXPECT_EQ(exchange->counts().spikes_sent, arrived);
    return exchange->counts();
}

TEST(Hierarchical, IsPlayedInGroups) {
    for (const std::uint32_t host_ranks : {0U, 1U, 3U, 8U, 64U}) {
        const ExchangeCounts counts = play(6400, host_ranks);
        const std::uint64_t hosts = (6400 + std::max(host_ranks, 1U) - 1) / std::max(host_ranks, 1U);
        // Numbers in three epochs, spikes in two.
        EXPECT_EQ(counts.messages, 5 * (hosts - 1)) << host_ranks;
    }
}

TEST(Hierarchical, TakesMemoryForHostsNotForProcesses) {
    const std::uint64_t few = play(800, 8).buffer_bytes;
    const std::uint64_t many = play(80'000, 8).buffer_bytes;
    EXPECT_LT(many - few, 120U * 10'000U);
    // The leader has the spikes of all processes of its host, sent and received: here 800 words of each.
    EXPECT_LT(play(80'000, 64).buffer_bytes, few + 120U * 1250U + 2U * 64U * 800U * 4U);
}

TEST(HostRows, GiveBackTheAddressesOfEachRow) {
    std::mt19937_64 random(5);
    for (const std::uint64_t rows : {1U, 63U, 64U, 65U, 5000U}) {
        for (const unsigned address_bits : {1U, 13U, 48U}) {
            for (const std::uint64_t most : {0U, 1U, 3U}) {
                std::map<std::uint64_t, std::vector<std::uint64_t>> expected;
                std::vector<std::uint64_t> entries;
                for (std::uint64_t row = 0; row < rows; ++row) {
                    const std::uint64_t count = most == 0 ? 0 : random() % (most + 1);
                    for (std::uint64_t i = 0; i < count; ++i) {
                        const std::uint64_t address = random() & ((std::uint64_t{1} << address_bits) - 1);
                        expected[row].push_back(address);
                        entries.push_back(row << address_bits | address);
                    }
                }
                std::shuffle(entries.begin(), entries.end(), random);
                const HostRows table(rows, address_bits, entries);
                for (std::uint64_t row = 0; row < rows; ++row) {
                    std::vector<std::uint64_t> found;
                    table.for_each(row, [&](std::uint64_t address) { found.push_back(address); });
                    std::ranges::sort(expected[row]);
                    ASSERT_EQ(found, expected[row]) << row << " of " << rows;
                }
                // A bit and a quarter for a row, and the bits of addresses and where they begin.
                EXPECT_LE(table.bytes(), rows * 5 / 32 + entries.size() * (address_bits + 14) / 8 + 100);
            }
        }
    }
}

}  // namespace TEST_FILE
}  // namespace ranvier::comm
