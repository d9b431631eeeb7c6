#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "comm/exchange/gather_plan.hpp"
#include "comm/exchange/marked_sections.hpp"
#include "comm/exchange/rank_lists.hpp"
#include "comm/exchange/spike_packing.hpp"
#include "comm/mirror_communicator.hpp"
#include "exchange_world.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/comm/communicator.hpp"
#include "ranvier/comm/exchange/exchange.hpp"

// What single methods promise besides. That each method brings every spike where it is needed is tested in
// test_exchanges.cpp.
namespace ranvier::comm {
namespace TEST_FILE {

/// A world in which the only source of each process that has one reaches all processes, itself included.
World broadcasting_world(std::int32_t ranks, std::int32_t sending_ranks, std::uint32_t epochs = 1) {
    World world({.ranks = ranks, .epochs = epochs, .sources = 1, .lags = 1});
    for (std::int32_t from = 0; from < sending_ranks; ++from) {
        for (std::int32_t to = 0; to < ranks; ++to) {
            // Two addresses on each.
            for (const std::uint64_t address : {1U, 2U}) {
                world.process(from).destinations[0][0].push_back({Rank{to}, address});
            }
        }
    }
    return world;
}

// ---- packing ---------------------------------------------------------------------------------------------------------

TEST(SpikePacking, TakesAsFewBytesAsWillDo) {
    EXPECT_EQ(SpikePacking(256, 256).bytes(), 2U);
    EXPECT_EQ(SpikePacking(65536, 1).bytes(), 2U);
    EXPECT_EQ(SpikePacking(257, 256).bytes(), 3U);
    EXPECT_EQ(SpikePacking(1 << 24, 256).bytes(), 4U);
    EXPECT_EQ(SpikePacking((1 << 24) + 1, 256).bytes(), 5U);
    EXPECT_EQ(SpikePacking(std::uint64_t{1} << 56, 256).bytes(), 8U);
    EXPECT_EQ(SpikePacking(0, 1).bytes(), 2U);
}

TEST(SpikePacking, GivesBackWhatItTook) {
    for (int bits = 1; bits <= 60; ++bits) {
        const std::uint64_t sources = std::uint64_t{1} << bits;
        const SpikePacking packing(sources, 10);
        const std::vector<std::pair<std::uint64_t, std::uint32_t>> spikes{{0, 0}, {sources - 1, 9}, {sources / 3, 3}};
        std::vector<std::byte> packed;
        for (const auto& [place, lag] : spikes) packing.append(place, lag, packed);
        EXPECT_EQ(packed.size(), spikes.size() * packing.bytes());
        std::vector<std::pair<std::uint64_t, std::uint32_t>> unpacked;
        packing.for_each(packed, [&](std::uint64_t place, std::uint32_t lag) { unpacked.emplace_back(place, lag); });
        EXPECT_EQ(unpacked, spikes);

        // In the buffer in which they arrive, where no word writes over the next one.
        std::vector<std::byte> buffer(spikes.size() * packing.bytes() + ArrivedSpikes::slack, std::byte{0xAB});
        packing.with_bytes([&](auto bytes) {
            EXPECT_EQ(bytes, packing.bytes());
            for (const std::size_t i : {1U, 2U, 0U}) {
                SpikePacking::store<bytes>(buffer.data() + i * bytes, packing.word(spikes[i].first, spikes[i].second));
            }
        });
        EXPECT_EQ(buffer[spikes.size() * packing.bytes()], std::byte{0xAB});
        const ArrivedSpikes arrived = packing.arrived(buffer.data(), spikes.size());
        unpacked.clear();
        for (const ArrivedSpike spike : arrived.subspan(1, 2)) unpacked.emplace_back(spike.address(), spike.lag());
        for (const ArrivedSpike spike : arrived.subspan(0, 1)) unpacked.emplace_back(spike.address(), spike.lag());
        const std::uint64_t known = (std::uint64_t{1} << ArrivedSpike::address_bits) - 1;
        for (const std::size_t i : {0U, 1U, 2U}) {
            EXPECT_EQ(unpacked[i].first & known, spikes[(i + 1) % 3].first & known) << bits;
            EXPECT_EQ(unpacked[i].second, spikes[(i + 1) % 3].second) << bits;
        }
    }
}

// ---- collectives -----------------------------------------------------------------------------------------------------

TEST(Allgather, NeedsASecondCollectiveOnlyForWhatDoesNotFitTheFirst) {
    // Two spikes of each process in the first epoch, three of one of them in the second.
    World world = broadcasting_world(3, 3, 2);
    for (const std::int32_t rank : {0, 1, 2}) {
        for (int i = 0; i < 2; ++i) world.emit(rank, 0, 0, 0, 0);
    }
    for (int i = 0; i < 3; ++i) world.emit(1, 0, 0, 1, 0);
    const std::vector<Outcome> outcomes = run_world(world, find_exchange("allgather"), {.allgather_spikes = 2});
    ASSERT_TRUE(all_arrived(outcomes));
    constexpr std::uint64_t block = 8 + 2 * 2;
    EXPECT_EQ(outcomes[0].counts.rounds, 3U);
    EXPECT_EQ(outcomes[0].counts.bytes_sent, 2 * block);
    EXPECT_EQ(outcomes[1].counts.bytes_sent, 2 * block + 2);
}

TEST(AllgatherOverlap, StartsTheSecondCollectiveDuringTheUpdate) {
    World world = broadcasting_world(3, 3, 2);
    for (int i = 0; i < 5; ++i) world.emit(1, 0, 0, 0, 0);
    run_processes(3, [&](const std::shared_ptr<Communicator>& communicator) {
        const auto exchange = find_exchange("allgather_overlap")
                                  .make(arguments_of(world, communicator, {.allgather_spikes = 2, .intervals = 2}));
        EXPECT_TRUE(exchange->has_latency());
        const auto& spikes = world.process(communicator->rank().value).spikes;
        const auto end_epoch = [&](std::uint32_t epoch) {
            std::size_t arrived = 0;
            const std::vector<std::span<const EmittedSpike>> outboxes(spikes[epoch].begin(), spikes[epoch].end());
            const auto round = [&] {
                run_round(*exchange, outboxes, epoch == 1,
                          [&](const SpikeExchange::Arrivals& arrivals) { arrived += arrivals.spikes.size(); });
            };
            for (round(); exchange->more(); round()) exchange->next_round();
            return arrived;
        };
        exchange->begin(World::first_step(0));
        EXPECT_EQ(end_epoch(0), 0U);
        EXPECT_EQ(exchange->counts().rounds, 1U);
        exchange->begin(World::first_step(1));
        // All processes have started the first collective.
        communicator->barrier();
        // Not all of them have another step: rank 0 starts the second collective when its epoch ends.
        if (communicator->rank() != Rank{0}) exchange->advance(0, {});
        EXPECT_EQ(exchange->counts().rounds, communicator->rank() == Rank{0} ? 1U : 2U);
        communicator->barrier();
        EXPECT_EQ(end_epoch(1), 5U);
        EXPECT_EQ(exchange->counts().rounds, 3U);
    });
}

/// Runs all processes of an all-gather, step by step, and returns whose blocks each has in the end.
std::vector<std::vector<Rank>> gather(const std::vector<GatherPlan>& plans) {
    const std::size_t ranks = plans.size();
    std::vector<std::vector<Rank>> blocks(ranks);
    for (std::size_t r = 0; r < ranks; ++r) blocks[r] = {Rank{static_cast<std::int32_t>(r)}};
    for (std::size_t s = 0; s < plans[0].steps.size(); ++s) {
        std::vector<std::vector<Rank>> after = blocks;
        for (std::size_t r = 0; r < ranks; ++r) {
            const GatherStep& step = plans[r].steps.at(s);
            if (step.target) {
                EXPECT_EQ(plans[static_cast<std::size_t>(step.target->value)].steps[s].origin,
                          Rank{static_cast<std::int32_t>(r)});
                EXPECT_LE(step.last, blocks[r].size());
            }
            if (!step.origin) continue;
            const auto origin = static_cast<std::size_t>(step.origin->value);
            const GatherStep& of_origin = plans[origin].steps.at(s);
            EXPECT_EQ(of_origin.last - of_origin.first, step.expected);
            // All have the same room.
            EXPECT_EQ(of_origin.most, step.most);
            EXPECT_LE(step.expected, step.most);
            const auto first = blocks[origin].begin();
            after[r].insert(after[r].end(), first + static_cast<std::ptrdiff_t>(of_origin.first),
                            first + static_cast<std::ptrdiff_t>(of_origin.last));
        }
        blocks = std::move(after);
    }
    return blocks;
}

TEST(GatherPlan, BringsEachBlockToEachProcessOnce) {
    for (const auto plan : {bruck_plan, doubling_plan}) {
        for (std::int32_t ranks = 1; ranks <= 70; ++ranks) {
            SCOPED_TRACE(ranks);
            std::vector<GatherPlan> plans;
            for (std::int32_t r = 0; r < ranks; ++r) plans.push_back(plan(Rank{r}, ranks));
            const auto all = gather(plans);
            for (std::size_t r = 0; r < all.size(); ++r) {
                EXPECT_EQ(all[r], plans[r].order);
                EXPECT_EQ(plans[r].steps.size(), plans[0].steps.size());
                auto sorted = all[r];
                std::ranges::sort(sorted);
                ASSERT_EQ(sorted.size(), static_cast<std::size_t>(ranks));
                for (std::int32_t i = 0; i < ranks; ++i) EXPECT_EQ(sorted[static_cast<std::size_t>(i)], Rank{i});
            }
        }
    }
}

TEST(RmaAllgather, TakesLogarithmicallyManySteps) {
    // With doubling, two more where some processes are more than a power of two.
    for (const auto& [ranks, bruck, doubling] :
         {std::tuple{1, 0U, 0U}, {2, 1U, 1U}, {3, 2U, 3U}, {4, 2U, 2U}, {5, 3U, 4U}, {8, 3U, 3U}, {9, 4U, 5U}}) {
        for (const auto* const info : exchanges()) {
            if (!info->name.starts_with("rma_")) continue;
            SCOPED_TRACE(testing::Message() << info->name << " on " << ranks);
            const World world = broadcasting_world(ranks, ranks);
            const std::vector<Outcome> outcomes = run_world(world, *info, {.allgather_spikes = 4});
            ASSERT_TRUE(all_arrived(outcomes));
            const bool is_bruck = info->name.starts_with("rma_bruck");
            std::uint64_t bytes = 0;
            for (const Outcome& outcome : outcomes) {
                EXPECT_EQ(outcome.counts.rounds, is_bruck ? bruck : doubling);
                EXPECT_LE(outcome.counts.messages, outcome.counts.rounds);
                bytes += outcome.counts.bytes_sent;
            }
            // What reaches a process are the blocks of all others: numbers, of no spikes.
            EXPECT_EQ(bytes, static_cast<std::uint64_t>(ranks * (ranks - 1)) * 8);
        }
    }
}

TEST(RmaAllgather, SendsOnlyTheSpikesThatThereAre) {
    for (const auto* const info : exchanges()) {
        if (!info->name.starts_with("rma_")) continue;
        for (const std::int32_t ranks : {5, 6, 7}) {
            SCOPED_TRACE(testing::Message() << info->name << " on " << ranks);
            World world = broadcasting_world(ranks, ranks, 3);
            for (int i = 0; i < 3; ++i) world.emit(ranks - 1, 0, 0, 0, 0);
            // More than there is room for, in two rounds; from then on there is room.
            for (const std::uint32_t epoch : {1U, 2U}) {
                for (int i = 0; i < 9; ++i) world.emit(1, 0, 0, epoch, 0);
            }
            const std::vector<Outcome> outcomes = run_world(world, *info, {.allgather_spikes = 4});
            ASSERT_TRUE(all_arrived(outcomes));
            std::uint64_t bytes = 0;
            for (const Outcome& outcome : outcomes) bytes += outcome.counts.bytes_sent;
            const auto others = static_cast<std::uint64_t>(ranks - 1);
            EXPECT_EQ(bytes, others * (4 * static_cast<std::uint64_t>(ranks) * 8 + (3 + 9 + 9) * 2));
        }
    }
}

TEST(RmaAllgather, TakesMoreRoundsWhereItsBuffersAreTooSmall) {
    for (const auto* const info : exchanges()) {
        if (!info->name.starts_with("rma_")) continue;
        SCOPED_TRACE(info->name);
        World world = broadcasting_world(3, 3);
        for (int i = 0; i < 9; ++i) world.emit(1, 0, 0, 0, 0);
        // Room for two spikes of two bytes from each process.
        const std::vector<Outcome> outcomes =
            run_world(world, *info, {.buffer_bytes = 2 * 2 * 3, .allgather_spikes = 0});
        ASSERT_TRUE(all_arrived(outcomes));
        const std::uint64_t steps = info->name.starts_with("rma_bruck") ? 2 : 3;
        for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.counts.rounds, steps * (1 + 5));
    }
}

TEST(Alltoall, FitsSectionsToTheFullestOfAnyProcess) {
    // Two words for each process from each spike, of two bytes each.
    World world = broadcasting_world(3, 3, 24);
    world.size.addresses = 6;
    const auto emit = [&](std::int32_t rank, std::uint32_t epoch, int spikes) {
        for (int i = 0; i < spikes; ++i) world.emit(rank, 0, 0, epoch, 0);
    };
    emit(0, 0, 10);  // 3 words in a first round, 17 in a second; 20 from then on
    emit(1, 9, 4);   // the most in the 16 epochs after it: 8 from epoch 17 on, also where nothing was sent
    emit(2, 20, 5);  // 8 words, and then 2; 10 from then on
    const auto section = [](std::uint64_t words) { return 8 + 2 * words; };
    const std::uint64_t bytes =
        section(3) + section(17) + 16 * section(20) + 3 * section(8) + section(8) + section(2) + 3 * section(10);
    const std::vector<Outcome> outcomes = run_world(world, find_exchange("alltoall"), {});
    ASSERT_TRUE(all_arrived(outcomes));
    for (const Outcome& outcome : outcomes) {
        EXPECT_EQ(outcome.counts.rounds, 24U + 2U);
        EXPECT_EQ(outcome.counts.bytes_sent, 3 * bytes);
        EXPECT_EQ(outcome.counts.spikes_received, 2U * 19U);
    }
}

TEST(Grid, ConnectsTheProcessesOfARowAndOfAColumn) {
    // Rows of 4, 3 and 3 processes. Each hop has two collectives, of the counts and of the spikes.
    World world = broadcasting_world(10, 10);
    for (std::int32_t rank = 0; rank < 10; ++rank) world.emit(rank, 0, 0, 0, 0);
    const std::vector<Outcome> outcomes = run_world(world, find_exchange("grid"), {});
    ASSERT_TRUE(all_arrived(outcomes));
    for (std::int32_t rank = 0; rank < 10; ++rank) {
        const std::uint64_t others = (3 - 1) + (rank < 4 ? 4 - 1 : 3 - 1);
        EXPECT_EQ(outcomes[static_cast<std::size_t>(rank)].counts.messages, 2 * others) << rank;
        EXPECT_EQ(outcomes[static_cast<std::size_t>(rank)].counts.rounds, 4U);
    }
}

TEST(Grid, HoldsNothingForProcessesThatGetNoSpikes) {
    std::array<std::uint64_t, 2> bytes{};
    for (const std::size_t i : {0U, 1U}) {
        // Rows of 31 and 250 processes.
        const std::int32_t ranks = i == 0 ? 1'000 : 62'500;
        World world({.ranks = ranks, .epochs = 1, .sources = 1, .lags = 1, .addresses = 1 << 20});
        for (std::int32_t to = 0; to < 1'000; ++to) {
            world.process(0).destinations[0][0].push_back({Rank{to * (ranks / 1'000)}, 7});
        }
        for (int spike = 0; spike < 20; ++spike) world.emit(0, 0, 0, 0, 0);
        const auto communicator = make_mirror_communicator(ranks);
        Driver driver(world, communicator, find_exchange("grid").make(arguments_of(world, communicator, {})));
        driver.run();
        const ExchangeCounts counts = driver.exchange().counts();
        EXPECT_EQ(counts.spikes_sent, 20'000U);
        EXPECT_EQ(counts.spikes_received, 20'000U);
        bytes[i] = counts.buffer_bytes;
    }
    // A count and a number of bytes of each neighbour, to and from it, and lists of these.
    constexpr std::uint64_t more_neighbours = 2 * (250 - 31);
    EXPECT_LE(bytes[1], bytes[0] + more_neighbours * 64 + 20'000 * 5) << bytes[0];
    // Both words, sorted and unsorted, with some room, and of each spike and row where they begin.
    EXPECT_LE(bytes[0], 20'000U * 24);
}

TEST(Alltoallv, NeedsNoSecondCollectiveInSilence) {
    World world = broadcasting_world(3, 1, 2);
    world.emit(0, 0, 0, 0, 0);
    const std::vector<Outcome> outcomes = run_world(world, find_exchange("alltoallv"), {});
    ASSERT_TRUE(all_arrived(outcomes));
    for (const Outcome& outcome : outcomes) {
        EXPECT_EQ(outcome.counts.rounds, 3U);
    }
}

TEST(Neighbor, KnowsOnlyThoseWhoSendOrReceive) {
    // A ring: each process sends to the next one.
    World world({.ranks = 5, .epochs = 1, .sources = 1, .lags = 1});
    for (std::int32_t rank = 0; rank < 5; ++rank) {
        world.process(rank).destinations[0][0] = {{Rank{(rank + 1) % 5}, 3}};
        world.emit(rank, 0, 0, 0, 0);
    }
    const std::vector<Outcome> outcomes = run_world(world, find_exchange("neighbor"), {});
    ASSERT_TRUE(all_arrived(outcomes));
    for (const Outcome& outcome : outcomes) {
        EXPECT_EQ(outcome.counts.messages, 2U);  // of counts and of data
        EXPECT_EQ(outcome.counts.bytes_sent, 8U + 6U);
    }
}

/// MarkedSections of one process, with as many spikes in an epoch as are asked for.
class OneProcessSections {
   public:
    explicit OneProcessSections(std::uint64_t most_bytes) : sections(destinations(), 1, {}, most_bytes) {}

    /// Returns the number of rounds, and checks what arrives.
    int run_epoch(std::uint32_t spikes) {
        sections.begin(1);
        const std::vector<EmittedSpike> outbox(spikes);
        const std::span<const EmittedSpike> boxes[] = {outbox};
        sections.reset_counts();
        std::size_t arrived = 0;
        const auto run_round = [&] {
            sections.collocate(0, boxes);
            sections.seal();
            std::copy(sections.to_send().begin(), sections.to_send().end(), sections.to_receive().begin());
            sections.take(0, [&](const SpikeExchange::Arrivals& stretch) { arrived += stretch.spikes.size(); });
        };
        int rounds = 1;
        for (run_round(); sections.more(); ++rounds) {
            sections.next_round();
            run_round();
        }
        EXPECT_EQ(arrived, spikes);
        ExchangeCounts counts;
        sections.add_to(counts);
        EXPECT_EQ(counts.spikes_sent, spikes);
        EXPECT_EQ(counts.spikes_received, spikes);
        return rounds;
    }

    World world{{.ranks = 1, .epochs = 1, .sources = 1}};
    MarkedSections sections;

   private:
    std::shared_ptr<const Destinations> destinations() {
        world.size.addresses = 6;
        world.process(0).destinations[0][0] = {{Rank{0}, 5}};
        return std::make_shared<WorldDestinations>(world, 0);
    }
};

TEST(MarkedSections, AreAsLongAsWasNeededLately) {
    OneProcessSections one(1 << 20);
    EXPECT_EQ(one.sections.room(), 3U);
    EXPECT_EQ(one.run_epoch(3), 1);
    EXPECT_EQ(one.sections.room(), 3U);
    EXPECT_EQ(one.run_epoch(13), 2);  // 3, and then all that is left
    EXPECT_EQ(one.run_epoch(13), 1);
    EXPECT_EQ(one.sections.room(), 13U);
    EXPECT_EQ(one.run_epoch(16), 2);
    EXPECT_EQ(one.run_epoch(16), 1);
    const std::uint64_t bytes = one.sections.bytes();
    for (int epoch = 0; epoch < 14; ++epoch) EXPECT_EQ(one.run_epoch(4), 1);
    EXPECT_EQ(one.run_epoch(13), 1);  // more than three quarters: the count starts again
    for (int epoch = 0; epoch < 14; ++epoch) EXPECT_EQ(one.run_epoch(4), 1);
    EXPECT_EQ(one.run_epoch(5), 1);
    EXPECT_EQ(one.sections.room(), 16U);
    EXPECT_EQ(one.run_epoch(2), 1);
    EXPECT_EQ(one.run_epoch(6), 2);  // 5 were enough for 16 epochs
    EXPECT_EQ(one.run_epoch(6), 1);
    EXPECT_EQ(one.sections.room(), 6U);
    for (int epoch = 0; epoch < 100; ++epoch) one.run_epoch(0);
    EXPECT_EQ(one.sections.room(), 1U);
    EXPECT_LT(one.sections.bytes(), bytes);
}

TEST(MarkedSections, StayBelowTheirLimit) {
    OneProcessSections one(8 + 10 * 2);  // a mark and 10 spikes
    EXPECT_EQ(one.run_epoch(1000), 1 + 100);  // 3, 10 from then on, and 7
    EXPECT_EQ(one.sections.room(), 7U);
    EXPECT_EQ(one.run_epoch(11), 2);
    OneProcessSections least(0);
    EXPECT_EQ(least.run_epoch(7), 7);
    EXPECT_EQ(least.sections.room(), 1U);
}

/// A source sends to every rank, and twice to each seventh.
class ManyDestinations final : public Destinations {
   public:
    explicit ManyDestinations(std::int32_t ranks) : ranks_(ranks) {}

    void find(std::uint32_t /*shard*/, std::uint32_t local, Rank first, Rank last,
              std::vector<Destination>& found) const override {
        for (Rank rank = first; rank < last; ++rank.value) {
            found.push_back({rank, local});
            if (rank.value % 7 == 0) found.push_back({rank, local + std::uint64_t{1000}});
        }
    }
    std::vector<Rank> ranks() const override {
        std::vector<Rank> ranks;
        for (std::int32_t rank = 0; rank < ranks_; ++rank) ranks.push_back(Rank{rank});
        return ranks;
    }
    std::uint32_t sources(std::uint32_t /*shard*/) const override { return 3; }
    std::uint64_t address_limit() const override { return 1003; }

   private:
    std::int32_t ranks_;
};

/// Of each rank, the words that have arrived there.
using WordsOfRanks = std::vector<std::vector<std::uint64_t>>;

/// What ManyDestinations bring of three spikes, of which spike i is that of source i with lag i.
WordsOfRanks expected_words(std::size_t ranks) {
    WordsOfRanks words(ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        for (std::uint32_t i = 0; i < 3; ++i) {
            words[rank].push_back(ArrivedSpike(i, i).word());
            if (rank % 7 == 0) words[rank].push_back(ArrivedSpike(i + std::uint64_t{1000}, i).word());
        }
    }
    return words;
}

/// What arrives from the sections of two workers in one epoch, in all its rounds.
WordsOfRanks run_epoch(MarkedSections& sections, std::span<const std::span<const EmittedSpike>> boxes,
                       std::size_t ranks) {
    WordsOfRanks arrived(ranks);
    const auto run_round = [&] {
        for (const std::uint32_t worker : {0U, 1U}) sections.collocate(worker, boxes);
        sections.seal();
        // Each spike names its rank here, since all of them come back.
        const auto words = sections.to_send();
        const std::size_t length = words.size() / ranks;
        const std::span<std::byte> to_receive = sections.to_receive();
        std::copy(words.begin(), words.end(), to_receive.begin());
        const std::byte* const received = to_receive.data();
        for (const std::uint32_t worker : {0U, 1U}) {
            sections.take(worker, [&](const SpikeExchange::Arrivals& stretch) {
                const auto place = static_cast<std::size_t>(stretch.spikes.data() - received);
                for (const ArrivedSpike spike : stretch.spikes) arrived[place / length].push_back(spike.word());
            });
        }
    };
    sections.begin(1);
    for (run_round(); sections.more(); run_round()) sections.next_round();
    return arrived;
}

/// What two workers put into the lists of ranks.
WordsOfRanks collocated(RankLists& lists, std::span<const std::span<const EmittedSpike>> boxes, std::size_t ranks) {
    WordsOfRanks words(ranks);
    for (const std::uint32_t worker : {0U, 1U}) lists.collocate(worker, boxes);
    lists.take_all();
    std::size_t next = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        lists.packing().for_each(lists.data().subspan(2 * next, 2 * lists.counts()[rank]),
                                 [&](std::uint64_t address, std::uint32_t lag) {
                                     words[rank].push_back(ArrivedSpike(address, lag).word());
                                 });
        next += words[rank].size();
    }
    return words;
}

/// With many ranks a worker gathers spikes block by block of them, from the second epoch on.
TEST(ManyRanks, GetTheirSpikesInTheirOrder) {
    constexpr std::int32_t ranks = 10'000;
    const auto destinations = std::make_shared<ManyDestinations>(ranks);
    std::vector<EmittedSpike> outbox(3);
    for (std::uint32_t i = 0; i < 3; ++i) outbox[i].local = outbox[i].lag = i;
    const std::span<const EmittedSpike> boxes[] = {outbox};
    const WordsOfRanks expected = expected_words(ranks);
    const ExchangeOptions options{.workers = 2, .most_lags = 3};
    MarkedSections sections(destinations, ranks, options, ranks * std::uint64_t{8 + 2 * 2});
    RankLists lists(destinations, ranks, options);
    RankLists partners(destinations, destinations->ranks(), options);
    EXPECT_EQ(lists.packing().bytes(), 2U);
    for (int epoch = 0; epoch < 3; ++epoch) {
        sections.reset_counts();
        ASSERT_EQ(run_epoch(sections, boxes, ranks), expected);
        ExchangeCounts counts;
        sections.add_to(counts);
        EXPECT_EQ(counts.spikes_sent, 3U * (ranks + (ranks + 6) / 7));
        EXPECT_EQ(counts.spikes_received, counts.spikes_sent);
        ASSERT_EQ(collocated(lists, boxes, ranks), expected);
        ASSERT_EQ(collocated(partners, boxes, ranks), expected);
    }
}

TEST(Overlap, HandsOverAnEpochLaterUnlessItFlushes) {
    World world = broadcasting_world(2, 2, 3);
    for (std::uint32_t epoch = 0; epoch < 3; ++epoch) world.emit(0, 0, 0, epoch, 0);
    run_processes(2, [&](const std::shared_ptr<Communicator>& communicator) {
        const auto exchange = find_exchange("overlap").make(arguments_of(world, communicator, {.intervals = 2}));
        EXPECT_TRUE(exchange->has_latency());
        std::vector<std::vector<Step>> arrived;
        for (const std::uint32_t epoch : {0U, 1U, 2U}) {
            exchange->begin(World::first_step(epoch));
            const auto& spikes = world.process(communicator->rank().value).spikes[epoch];
            const std::vector<std::span<const EmittedSpike>> outboxes(spikes.begin(), spikes.end());
            arrived.emplace_back();
            const auto round = [&] {
                run_round(*exchange, outboxes, epoch == 2, [&](const SpikeExchange::Arrivals& arrivals) {
                    arrived.back().insert(arrived.back().end(), arrivals.spikes.size(), arrivals.first_step);
                });
            };
            for (round(); exchange->more(); round()) exchange->next_round();
        }
        const std::vector<std::vector<Step>> expected{{}, {1000, 1000}, {1010, 1010, 1020, 1020}};
        EXPECT_EQ(arrived, expected);
    });
}

// ---- messages --------------------------------------------------------------------------------------------------------

TEST(Multisend, SendsOneMessageForEachSpikeAndProcess) {
    World world = broadcasting_world(8, 1);
    for (int i = 0; i < 3; ++i) world.emit(0, 0, 0, 0, 0);
    for (const char* method : {"multisend", "multisend_reduce_scatter"}) {
        const std::vector<Outcome> outcomes = run_world(world, find_exchange(method), {});
        ASSERT_TRUE(all_arrived(outcomes));
        EXPECT_EQ(outcomes[0].counts.messages, 3U * 7);
        EXPECT_EQ(outcomes[0].counts.spikes_sent, 3U * 8 * 2);
        EXPECT_EQ(outcomes[7].counts.messages, 0U);
        EXPECT_EQ(outcomes[7].counts.spikes_received, 3U * 2);
    }
}

TEST(ReduceScatter, NeedsOneCollectiveInEachEpoch) {
    World world = broadcasting_world(5, 5, 3);
    for (const std::uint32_t epoch : {0U, 2U}) {
        for (int i = 0; i < 20; ++i) world.emit(3, 0, 0, epoch, 0);
    }
    for (const char* method : {"multisend_reduce_scatter", "persistent_reduce_scatter"}) {
        for (const std::uint32_t intervals : {1U, 2U}) {
            const std::vector<Outcome> outcomes = run_world(world, find_exchange(method), {.intervals = intervals});
            ASSERT_TRUE(all_arrived(outcomes));
            for (const Outcome& outcome : outcomes) {
                EXPECT_EQ(outcome.counts.rounds, 3U) << method;
                EXPECT_EQ(outcome.counts.failed_checks, 0U) << method;
            }
            // A number for each process in each epoch.
            EXPECT_EQ(outcomes[0].counts.bytes_sent, 3U * 5 * 8) << method;
            EXPECT_EQ(outcomes[3].counts.messages, 2U * 20 * 4) << method;
        }
    }
}

/// A process that receives nothing until it is allowed to.
class Deaf final : public ThreadCommunicator {
   public:
    using ThreadCommunicator::ThreadCommunicator;
    bool try_receive(int tag, Message& message) override {
        return hears && ThreadCommunicator::try_receive(tag, message);
    }
    std::atomic<bool> hears{true};
};

TEST(ReduceScatter, OthersMayBeTwoEpochsAheadOfTheSlowest) {
    for (const char* method : {"multisend_reduce_scatter", "persistent_reduce_scatter"}) {
        World world = broadcasting_world(3, 3, 4);
        for (const std::uint32_t epoch : {0U, 1U, 2U, 3U}) {
            for (const std::int32_t rank : {0, 1, 2}) {
                for (std::uint32_t i = 0; i <= epoch; ++i) world.emit(rank, 0, 0, epoch, 0);
            }
        }
        std::atomic<int> sent_ahead{0};
        run_processes<Deaf>(3, [&](const std::shared_ptr<Communicator>& communicator) {
            auto& process = dynamic_cast<Deaf&>(*communicator);
            const bool is_slow = communicator->rank() == Rank{0};
            Driver driver(world, communicator,
                          find_exchange(method).make(arguments_of(world, communicator, {.intervals = 2})));
            // The slow one waits for messages of the first epoch at the end of the second one, until both others have
            // sent those of the third one.
            process.hears = !is_slow;
            std::thread opens_ears([&] {
                while (is_slow && sent_ahead < 2) std::this_thread::yield();
                process.hears = true;
            });
            for (const std::uint32_t epoch : {0U, 1U}) driver.run_epoch(epoch);
            if (!is_slow) {
                driver.exchange().begin(World::first_step(2));
                driver.exchange().advance(0, world.process(communicator->rank().value).spikes[2][0]);
                ++sent_ahead;
            }
            opens_ears.join();
            for (const std::uint32_t epoch : {2U, 3U}) driver.run_epoch(epoch);
            driver.finish_epoch();
            EXPECT_EQ(driver.faults(), std::vector<std::string>{});
        });
    }
}

TEST(TwoPhase, SendsOnlyToRelaysThemselves) {
    World world = broadcasting_world(8, 1);
    world.emit(0, 0, 0, 0, 0);
    for (const char* method : {"two_phase", "two_phase_any"}) {
        for (const std::uint32_t intervals : {1U, 2U}) {
            const std::vector<Outcome> outcomes = run_world(world, find_exchange(method), {.intervals = intervals});
            ASSERT_TRUE(all_arrived(outcomes));
            // The square root of the seven others, rounded up.
            EXPECT_EQ(outcomes[0].counts.messages, 3U);
            std::uint64_t messages = 0;
            for (const Outcome& outcome : outcomes) {
                messages += outcome.counts.messages;
                EXPECT_EQ(outcome.counts.spikes_received, 2U);
            }
            EXPECT_EQ(messages, 7U);
        }
    }
}

/// Sends a spike of the first of two epochs to seven other processes.
/// @return messages of all processes until shortly before the end of each epoch
std::vector<std::uint64_t> messages_of_epochs(const char* method) {
    World world = broadcasting_world(8, 1, 2);
    world.emit(0, 0, 0, 0, 0);
    std::vector<std::uint64_t> messages;
    run_processes(8, [&](const std::shared_ptr<Communicator>& communicator) {
        const auto exchange = find_exchange(method).make(arguments_of(world, communicator, {.intervals = 2}));
        const auto& spikes = world.process(communicator->rank().value).spikes;
        for (const std::uint32_t epoch : {0U, 1U}) {
            exchange->begin(World::first_step(epoch));
            for (int round = 0; round < 3; ++round) {
                for (int i = 0; i < 20; ++i) exchange->advance(0, spikes[epoch][0]);
                communicator->barrier();
            }
            const std::uint64_t sent = communicator->sum(exchange->counts().messages);
            if (communicator->rank() == Rank{0}) messages.push_back(sent);
            const std::vector<std::span<const EmittedSpike>> outboxes(spikes[epoch].begin(), spikes[epoch].end());
            run_round(*exchange, outboxes, epoch == 1, [](const SpikeExchange::Arrivals&) {});
            EXPECT_FALSE(exchange->more());
        }
        EXPECT_EQ(exchange->counts().spikes_received, 2U);
    });
    return messages;
}

TEST(TwoPhase, RelaysInTheNextIntervalUnlessInAny) {
    // Of the seven messages three are of the first phase.
    EXPECT_EQ(messages_of_epochs("two_phase"), (std::vector<std::uint64_t>{3, 7}));
    EXPECT_EQ(messages_of_epochs("two_phase_any"), (std::vector<std::uint64_t>{7, 7}));
}

TEST(TwoPhase, CountsTheChecksThatFindMessagesInTransit) {
    World world = broadcasting_world(8, 8, 2);
    for (std::int32_t rank = 0; rank < 8; ++rank) {
        for (int i = 0; i < 20; ++i) world.emit(rank, 0, 0, 1, 0);
    }
    for (const char* method : {"two_phase", "two_phase_any"}) {
        const std::vector<Outcome> outcomes = run_world(world, find_exchange(method), {.intervals = 2});
        ASSERT_TRUE(all_arrived(outcomes));
        // The checks of an epoch are the same on all processes. The last one finds no messages.
        for (const Outcome& outcome : outcomes) {
            EXPECT_EQ(outcome.counts.rounds, 2 + outcome.counts.failed_checks) << method;
            EXPECT_EQ(outcome.counts.failed_checks, outcomes[0].counts.failed_checks) << method;
        }
    }
}

TEST(TwoPhase, SpreadsRelays) {
    World world({.ranks = 8, .epochs = 1, .sources = 200, .lags = 1});
    for (std::uint32_t local = 0; local < world.size.sources; ++local) {
        for (std::int32_t to = 1; to < 8; ++to) world.process(0).destinations[0][local].push_back({Rank{to}, local});
        world.emit(0, 0, local, 0, 0);
    }
    const std::vector<Outcome> outcomes = run_world(world, find_exchange("two_phase"), {});
    ASSERT_TRUE(all_arrived(outcomes));
    for (std::size_t rank = 1; rank < 8; ++rank) {
        // Of the 800 messages in the second phase.
        EXPECT_GT(outcomes[rank].counts.messages, 60U) << rank;
        EXPECT_LT(outcomes[rank].counts.messages, 200U) << rank;
    }
}

TEST(Persistent, SetsUpWhatIsNeededOnly) {
    World world = broadcasting_world(4, 4, 1);
    const std::vector<Outcome> silent = run_world(world, find_exchange("persistent"), {});
    ASSERT_TRUE(all_arrived(silent));
    world.emit(2, 0, 0, 0, 0);
    const std::vector<Outcome> outcomes = run_world(world, find_exchange("persistent"), {});
    ASSERT_TRUE(all_arrived(outcomes));
    EXPECT_EQ(outcomes[2].counts.messages, 3U);
    EXPECT_EQ(outcomes[2].counts.bytes_sent - silent[2].counts.bytes_sent - 3 * 8,
              16 * (outcomes[2].counts.rounds - 1));
    EXPECT_EQ(outcomes[2].counts.spikes_sent, 8U);
    EXPECT_GT(outcomes[2].counts.buffer_bytes, silent[2].counts.buffer_bytes);
}

// ---- choosing --------------------------------------------------------------------------------------------------------

/// A process whose transport has no windows.
class WithoutWindows final : public ThreadCommunicator {
   public:
    using ThreadCommunicator::ThreadCommunicator;
    std::unique_ptr<Window> make_window(std::span<const std::size_t> /*slots*/, WindowSync /*sync*/) override {
        throw CommunicationError({.object = "windows", .value = {}, .bound = "there are none", .remedy = {}});
    }
};

TEST(Auto, DoesNotTryWhatTheTransportCannotDo) {
    World world({.ranks = 3, .epochs = 450, .epochs_per_flush = 1000}, 13);
    std::vector<std::string> names(3);
    run_processes<WithoutWindows>(3, [&](const std::shared_ptr<Communicator>& communicator) {
        EXPECT_THROW(find_exchange("rma_allgather").make(arguments_of(world, communicator, {})), CommunicationError);
        Driver driver(world, communicator, find_exchange("auto").make(arguments_of(world, communicator, {})));
        driver.run();
        EXPECT_EQ(driver.faults(), std::vector<std::string>{});
        names[static_cast<std::size_t>(communicator->rank().value)] = driver.exchange().name();
    });
    EXPECT_EQ(names[1], names[0]);
    EXPECT_EQ(names[2], names[0]);
    EXPECT_EQ(names[0].substr(0, 6), "auto (");
    EXPECT_EQ(names[0].find("rma_"), std::string::npos);
}

/// Whether a method can win in a random world, on processes that are dealt to hosts. The same on all of them.
bool can_win(const char* method, World::Size size, std::int32_t hosts, std::uint32_t host_ranks = 0) {
    const World world(size, 5);
    std::atomic<std::int32_t> agreeing{0};
    run_processes(
        size.ranks,
        [&](const std::shared_ptr<Communicator>& communicator) {
            const ExchangeOptions options{.host_ranks = host_ranks};
            agreeing += find_exchange(method).can_win(arguments_of(world, communicator, options)) ? 1 : 0;
        },
        1, hosts);
    EXPECT_TRUE(agreeing == 0 || agreeing == size.ranks) << method;
    return agreeing == size.ranks;
}

TEST(Auto, TriesTwoLevelsOnSeveralHosts) {
    EXPECT_FALSE(can_win("hierarchical", {.ranks = 4, .workers = 2}, 1));
    EXPECT_TRUE(can_win("hierarchical", {.ranks = 4}, 2));
    EXPECT_TRUE(can_win("hierarchical", {.ranks = 5}, 4));
    EXPECT_FALSE(can_win("hierarchical", {.ranks = 4}, 4));
    // A spike goes once to a process, not once to each of its threads.
    EXPECT_TRUE(can_win("hierarchical", {.ranks = 4, .workers = 2}, 4));
    EXPECT_TRUE(can_win("hierarchical", {.ranks = 4}, 1, 2));
    EXPECT_FALSE(can_win("hierarchical", {.ranks = 4}, 1, 1));
    EXPECT_FALSE(can_win("hierarchical", {.ranks = 4}, 1, 4));
    EXPECT_THROW(can_win("hierarchical", {.ranks = 4}, 2, 3), ValueOutOfBoundsError);
}

TEST(Auto, TriesAGridOfSeveralRows) {
    EXPECT_FALSE(can_win("grid", {.ranks = 1}, 1));
    EXPECT_FALSE(can_win("grid", {.ranks = 3}, 1));
    EXPECT_TRUE(can_win("grid", {.ranks = 4}, 1));
}

/// A process that counts the groups that it makes with others.
class CountsGroups final : public ThreadCommunicator {
   public:
    using ThreadCommunicator::ThreadCommunicator;
    std::unique_ptr<Communicator> split(std::int32_t color) override {
        ++groups;
        return ThreadCommunicator::split(color);
    }
    std::atomic<int> groups{0};
};

/// How many groups "auto" makes on each of four processes.
int groups_of_auto(const World& world, std::int32_t hosts) {
    std::atomic<int> groups{0};
    std::vector<std::string> names(4);
    run_processes<CountsGroups>(
        4,
        [&](const std::shared_ptr<Communicator>& communicator) {
            const auto rank = static_cast<std::size_t>(communicator->rank().value);
            Driver driver(world, communicator, find_exchange("auto").make(arguments_of(world, communicator, {})));
            driver.run();
            EXPECT_EQ(driver.faults(), std::vector<std::string>{});
            names[rank] = driver.exchange().name();
            groups += dynamic_cast<const CountsGroups&>(*communicator).groups;
        },
        1, hosts);
    EXPECT_EQ(std::ranges::count(names, names[0]), 4);
    EXPECT_EQ(names[0].substr(0, 6), "auto (");
    return groups / 4;
}

TEST(Auto, TriesWhatCanWinOnly) {
    const World::Size size{.ranks = 4, .epochs = 600, .sources = 2, .lags = 2, .epochs_per_flush = 1000};
    const World together(size, 19);
    EXPECT_EQ(groups_of_auto(together, 1), 0);
    // Members, and leaders.
    EXPECT_EQ(groups_of_auto(together, 2), 2);
    World apart(size);
    for (std::int32_t rank = 0; rank < 4; ++rank) {
        apart.process(rank).destinations[0][0] = {{Rank{3 - rank}, 9}};
        for (std::uint32_t epoch = 0; epoch < size.epochs; ++epoch) apart.emit(rank, 0, 0, epoch, 1);
    }
    EXPECT_EQ(groups_of_auto(apart, 1), 1);
    EXPECT_EQ(groups_of_auto(apart, 2), 3);
}

/// A process of a system that does not let others share memory with it.
class WithoutSharedMemory final : public ThreadCommunicator {
   public:
    using ThreadCommunicator::ThreadCommunicator;
    explicit WithoutSharedMemory(const ThreadCommunicator& other) : ThreadCommunicator(other) {}
    std::unique_ptr<SharedMemory> share_memory(std::size_t bytes) override {
        ThreadCommunicator::share_memory(bytes);
        return nullptr;
    }
    HostGroups group_by_host(std::int32_t most) override {
        HostGroups groups = ThreadCommunicator::group_by_host(most);
        groups.members = std::make_unique<WithoutSharedMemory>(dynamic_cast<ThreadCommunicator&>(*groups.members));
        return groups;
    }
};

TEST(Auto, DoesNotTryTwoLevelsWithoutSharedMemory) {
    const World world({.ranks = 4, .epochs = 6}, 23);
    run_processes<WithoutSharedMemory>(
        4,
        [&](const std::shared_ptr<Communicator>& communicator) {
            EXPECT_THROW(find_exchange("hierarchical").make(arguments_of(world, communicator, {})), StateError);
            Driver driver(world, communicator, find_exchange("auto").make(arguments_of(world, communicator, {})));
            driver.run();
            EXPECT_EQ(driver.faults(), std::vector<std::string>{});
        },
        1, 2);
}

TEST(Auto, TriesAllMethodsWithoutLatency) {
    const auto candidates = find_exchange("auto").candidates;
    for (const auto* const info : exchanges()) {
        // overlap and allgather_overlap have latency, two_phase_any equals two_phase without it, and shared_memory has no class.
        const bool tries = info->name != "auto" && info->name != "overlap" && info->name != "allgather_overlap" &&
                           info->name != "two_phase_any" && !info->on_host;
        EXPECT_EQ(std::ranges::find(candidates, info) != candidates.end(), tries) << info->name;
    }
}

TEST(Auto, SettlesAlikeOnAllProcessesAndFreesTheOthers) {
    World world({.ranks = 3, .workers = 2, .epochs = 450, .epochs_per_flush = 1000}, 11);
    std::vector<std::uint64_t> first_bytes(3);
    std::vector<std::string> names(3);
    run_processes(3, [&](const std::shared_ptr<Communicator>& communicator) {
        const auto rank = static_cast<std::size_t>(communicator->rank().value);
        Driver driver(world, communicator, find_exchange("auto").make(arguments_of(world, communicator, {})));
        EXPECT_FALSE(driver.exchange().has_latency());
        for (std::uint32_t epoch = 0; epoch < world.size.epochs; ++epoch) {
            driver.run_epoch(epoch);
            if (epoch == 30) {
                first_bytes[rank] = driver.exchange().counts().buffer_bytes;
                EXPECT_EQ(driver.exchange().name(), "auto");
            }
        }
        driver.finish_epoch();
        EXPECT_EQ(driver.faults(), std::vector<std::string>{});
        const ExchangeCounts counts = driver.exchange().counts();
        EXPECT_EQ(counts.exchanges, world.size.epochs);
        EXPECT_LT(counts.buffer_bytes, first_bytes[rank]);
        names[rank] = driver.exchange().name();
    });
    EXPECT_EQ(names[1], names[0]);
    EXPECT_EQ(names[2], names[0]);
    ASSERT_EQ(names[0].substr(0, 6), "auto (");
    const std::string chosen = names[0].substr(6, names[0].size() - 7);
    EXPECT_NE(chosen, "auto");
    EXPECT_NO_THROW(find_exchange(chosen));
}

}  // namespace TEST_FILE
}  // namespace ranvier::comm
