#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "comm/mirror_communicator.hpp"
#include "exchange_world.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/comm/communicator.hpp"
#include "ranvier/comm/exchange/exchange.hpp"

namespace ranvier::comm {
namespace TEST_FILE {

/// Counts of all processes together.
ExchangeCounts sum(const std::vector<Outcome>& outcomes) {
    ExchangeCounts total;
    for (const Outcome& outcome : outcomes) {
        total.spikes_sent += outcome.counts.spikes_sent;
        total.spikes_received += outcome.counts.spikes_received;
        total.bytes_sent += outcome.counts.bytes_sent;
        total.messages += outcome.counts.messages;
    }
    return total;
}

class EveryMethod : public testing::TestWithParam<const ExchangeInfo*> {};

TEST_P(EveryMethod, BringsEverySpikeWhereAndWhenItIsNeeded) {
    std::uint64_t seed = 1;
    for (const std::int32_t ranks : {1, 2, 3, 4, 5, 8}) {
        for (const std::uint32_t workers : {1U, 2U, 3U}) {
            // With many processes not all numbers of workers: 2 with 4 processes, 3 with 5 and with 8.
            if (ranks > 3 && workers != static_cast<std::uint32_t>(1 + ranks % 3)) continue;
            // From 2 bytes a spike to 7.
            const std::uint64_t addresses = std::uint64_t{1} << std::array{14, 20, 29, 37, 46, 48}[++seed % 6];
            const World world({.ranks = ranks, .workers = workers, .epochs = 16, .addresses = addresses}, seed);
            for (const std::uint64_t buffer_bytes : {0U, 80U, 100'000U}) {
                for (const std::uint32_t intervals : {1U, 2U}) {
                    SCOPED_TRACE(testing::Message() << ranks << " ranks, " << workers << " workers, " << buffer_bytes
                                                    << " bytes, " << intervals << " intervals");
                    ExchangeOptions options;
                    options.buffer_bytes = buffer_bytes;
                    options.allgather_spikes = static_cast<std::uint32_t>(buffer_bytes / 10);
                    options.intervals = intervals;
                    const std::vector<Outcome> outcomes = run_world(world, *GetParam(), options);
                    ASSERT_TRUE(all_arrived(outcomes));
                    for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.counts.exchanges, world.size.epochs);
                    const ExchangeCounts total = sum(outcomes);
                    EXPECT_EQ(total.spikes_sent, total.spikes_received);
                    // Those of "auto" send some epochs in one way and some in another.
                    if (GetParam()->name == "auto") continue;
                    EXPECT_EQ(total.spikes_received, world.expected_in_all(GetParam()->directed));
                }
            }
        }
    }
}

TEST_P(EveryMethod, BringsSpikesOfTheLongestEpochs) {
    constexpr std::uint32_t most_lags = std::uint32_t{1} << ArrivedSpike::lag_bits;
    const World world({.ranks = 3, .workers = 2, .epochs = 3, .sources = 3, .lags = most_lags}, 17);
    for (const std::uint32_t intervals : {1U, 2U}) {
        ExchangeOptions options;
        options.intervals = intervals;
        ASSERT_TRUE(all_arrived(run_world(world, *GetParam(), options)));
    }
}

// For the thread sanitizer.
TEST_P(EveryMethod, IsFilledAndReadByAllWorkersAtOnce) {
    const World world({.ranks = 3, .workers = 3}, 99);
    for (const std::uint32_t intervals : {1U, 2U}) {
        ExchangeOptions options;
        options.buffer_bytes = 200;
        options.allgather_spikes = 2;
        options.intervals = intervals;
        const std::vector<Outcome> outcomes = run_world(world, *GetParam(), options, Workers::threads);
        ASSERT_TRUE(all_arrived(outcomes));
        const ExchangeCounts total = sum(outcomes);
        EXPECT_EQ(total.spikes_sent, total.spikes_received);
    }
}

TEST_P(EveryMethod, AdaptsWhileBurstsComeAndGo) {
    World world({.ranks = 3, .workers = 2, .epochs = 120, .sources = 40, .epochs_per_flush = 50}, 7);
    // Long enough silences for buffers to become short again.
    for (auto& process : world.processes) {
        for (std::size_t epoch = 0; epoch < world.size.epochs; ++epoch) {
            if (epoch % 50 > 5) process.spikes[epoch].assign(world.size.workers, {});
        }
    }
    ExchangeOptions options;
    options.allgather_spikes = 1;
    options.intervals = 2;
    const std::vector<Outcome> outcomes = run_world(world, *GetParam(), options);
    ASSERT_TRUE(all_arrived(outcomes));
    const ExchangeCounts total = sum(outcomes);
    EXPECT_EQ(total.spikes_sent, total.spikes_received);
    EXPECT_GT(total.spikes_sent, 1000U);
}

TEST_P(EveryMethod, WorksAloneOnOneProcess) {
    const World world({.ranks = 1, .workers = 2}, 5);
    const auto communicator = make_local_communicator();
    Driver driver(world, communicator, GetParam()->make(arguments_of(world, communicator, {.intervals = 2})));
    driver.run();
    EXPECT_EQ(driver.faults(), std::vector<std::string>{});
    const ExchangeCounts counts = driver.exchange().counts();
    EXPECT_EQ(counts.spikes_sent, counts.spikes_received);
    EXPECT_GT(counts.spikes_sent, 0U);
}

void ignore(const SpikeExchange::Arrivals& /*arrivals*/) {}

// All others are taken to do the same as this one, so it receives what it sends.
TEST_P(EveryMethod, CanBeTriedOutAsOneOfManyProcesses) {
    constexpr std::int32_t ranks = 5000;
    World world({.ranks = ranks, .workers = 2, .epochs = 5});
    for (std::uint32_t shard = 0; shard < 2; ++shard) {
        for (std::uint32_t local = 0; local < world.size.sources; ++local) {
            for (std::int32_t to = static_cast<std::int32_t>(local); to < ranks; to += 97) {
                world.process(0).destinations[shard][local].push_back({Rank{to}, local});
            }
            for (const std::uint32_t epoch : {0U, 1U, 3U}) world.emit(0, shard, local, epoch, 0);
        }
    }
    const std::shared_ptr<Communicator> communicator = make_mirror_communicator(ranks);
    const auto exchange = GetParam()->make(arguments_of(world, communicator, {.intervals = 2}));
    for (std::uint32_t epoch = 0; epoch < world.size.epochs; ++epoch) {
        const auto& spikes = world.process(0).spikes[epoch];
        const std::vector<std::span<const EmittedSpike>> outboxes(spikes.begin(), spikes.end());
        exchange->begin(World::first_step(epoch));
        const auto round = [&] { run_round(*exchange, outboxes, epoch + 1 == world.size.epochs, ignore); };
        for (round(); exchange->more(); round()) exchange->next_round();
    }
    const ExchangeCounts counts = exchange->counts();
    EXPECT_GT(counts.spikes_sent, 0U);
    EXPECT_EQ(counts.spikes_sent, counts.spikes_received);
    if (GetParam()->name == "auto") return;
    // A few words for each process, in the buffers of collectives.
    EXPECT_LT(counts.buffer_bytes, 200U * ranks);
}

TEST_P(EveryMethod, TellsWhatItIsAndResetsItsCounts) {
    const World world({.ranks = 2}, 3);
    run_processes(2, [&](const std::shared_ptr<Communicator>& communicator) {
        const std::unique_ptr<SpikeExchange> exchange = GetParam()->make(arguments_of(world, communicator, {}));
        EXPECT_EQ(exchange->name(), GetParam()->name);
        EXPECT_EQ(exchange->directed(), GetParam()->directed);
        EXPECT_EQ(&find_exchange(GetParam()->name), GetParam());
        EXPECT_FALSE(exchange->has_latency());
        const std::vector<std::span<const EmittedSpike>> silence(1);
        exchange->begin(1);
        const auto round = [&] { run_round(*exchange, silence, true, ignore); };
        for (round(); exchange->more(); round()) exchange->next_round();
        ExchangeCounts counts = exchange->counts();
        EXPECT_EQ(counts.exchanges, 1U);
        EXPECT_GE(counts.rounds, 1U);
        EXPECT_GT(counts.buffer_bytes, 0U);
        exchange->reset_counts();
        counts = exchange->counts();
        EXPECT_EQ(counts.exchanges + counts.rounds + counts.messages + counts.bytes_sent, 0U);
        EXPECT_GT(counts.buffer_bytes, 0U);
    });
}

TEST_P(EveryMethod, RefusesOptionsOutOfTheirBounds) {
    const World world({.ranks = 1}, 3);
    const auto make = [&](void (*change)(ExchangeArguments&)) {
        ExchangeArguments arguments = arguments_of(world, make_local_communicator(), {});
        change(arguments);
        return GetParam()->make(arguments);
    };
    EXPECT_THROW(make([](ExchangeArguments& a) { a.options.most_lags = 257; }), ValueOutOfBoundsError);
    EXPECT_THROW(make([](ExchangeArguments& a) { a.options.most_lags = 0; }), ValueOutOfBoundsError);
    EXPECT_THROW(make([](ExchangeArguments& a) { a.options.workers = 0; }), ValueOutOfBoundsError);
    EXPECT_THROW(make([](ExchangeArguments& a) { a.communicator = nullptr; }), InternalError);
    if (GetParam()->directed) {
        EXPECT_THROW(make([](ExchangeArguments& a) { a.destinations = nullptr; }), InternalError);
    } else {
        EXPECT_THROW(make([](ExchangeArguments& a) { a.place_of = nullptr; }), InternalError);
        EXPECT_THROW(make([](ExchangeArguments& a) { a.options.most_sources = ~std::uint64_t{0}; }),
                     ValueOutOfBoundsError);
    }
    // "auto" takes only methods that do without.
    if (GetParam()->name != "auto") {
        EXPECT_THROW(make([](ExchangeArguments& a) { a.options.intervals = 3; }), ValueOutOfBoundsError);
    }
    EXPECT_NO_THROW(make([](ExchangeArguments& a) { a.options.most_lags = 256; }));
}

/// Stands before another method, and loses the last spike that this one brings.
class Losing final : public SpikeExchange {
   public:
    explicit Losing(std::unique_ptr<SpikeExchange> exchange) : exchange_(std::move(exchange)) {}

    std::string_view name() const override { return "losing"; }
    void begin(Step first_step) override { exchange_->begin(first_step); }
    void collocate(std::uint32_t worker, std::span<const std::span<const EmittedSpike>> outboxes) override {
        std::vector<std::span<const EmittedSpike>> fewer(outboxes.begin(), outboxes.end());
        if (!fewer.back().empty()) fewer.back() = fewer.back().first(fewer.back().size() - 1);
        exchange_->collocate(worker, fewer);
    }
    void transfer(bool flush) override { exchange_->transfer(flush); }
    void take(std::uint32_t worker, const Visit& visit) override { exchange_->take(worker, visit); }
    bool more() const override { return exchange_->more(); }
    void next_round() override { exchange_->next_round(); }
    ExchangeCounts counts() const override { return exchange_->counts(); }
    void reset_counts() override { exchange_->reset_counts(); }

   private:
    std::unique_ptr<SpikeExchange> exchange_;
};

TEST(Driver, SeesASpikeThatIsLost) {
    World world({.ranks = 2, .epochs = 2});
    world.process(0).destinations[0][0] = {{Rank{1}, 3}};
    world.emit(0, 0, 0, 1, 0);
    const ExchangeInfo losing{.name = "losing",
                              .summary = "",
                              .make = [](const ExchangeArguments& arguments) -> std::unique_ptr<SpikeExchange> {
                                  return std::make_unique<Losing>(find_exchange("alltoall").make(arguments));
                              }};
    EXPECT_TRUE(all_arrived(run_world(world, find_exchange("alltoall"), {})));
    const std::vector<Outcome> outcomes = run_world(world, losing, {});
    EXPECT_FALSE(all_arrived(outcomes));
    EXPECT_EQ(outcomes[0].faults, std::vector<std::string>{});
    EXPECT_EQ(outcomes[1].faults,
              std::vector<std::string>{"losing, rank 1: 0 spikes arrived after epoch 1, not the 1 expected"});
}

std::string name_of(const testing::TestParamInfo<const ExchangeInfo*>& info) { return std::string(info.param->name); }

/// Those with a class: the records of rounds are tested with their stepping.
std::vector<const ExchangeInfo*> methods_with_class() {
    std::vector<const ExchangeInfo*> methods;
    std::ranges::copy_if(exchanges(), std::back_inserter(methods), [](const auto* info) { return !info->on_host; });
    return methods;
}

INSTANTIATE_TEST_SUITE_P(Exchanges, EveryMethod, testing::ValuesIn(methods_with_class()), name_of);

TEST(Exchanges, AreFoundByName) {
    EXPECT_EQ(find_exchange("alltoall").name, "alltoall");
    EXPECT_THROW(find_exchange("alltoal"), UnknownNameError);
}

}  // namespace TEST_FILE
}  // namespace ranvier::comm
