#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "comm/communicator.hpp"
#include "comm/exchange.hpp"
#include "thread_communicator.hpp"

namespace ranvier::comm {
namespace {

/// A network of sources and where their spikes are needed, and all spikes of a run: known to every process of the test, so
/// that each can tell what must arrive.
struct World {
    struct Size {
        std::int32_t ranks = 1;
        std::uint32_t workers = 1;
        std::uint32_t sources = 5;  ///< of a shard
        std::uint32_t lags = 4;
        std::uint32_t epochs = 24;
        double destinations = 2.0;  ///< of a source on each process, on average
    };
    /// Destinations and spikes of one process, by shard.
    struct Process {
        std::vector<std::vector<std::vector<Destination>>> destinations;   ///< [shard][local]
        std::vector<std::vector<std::vector<EmittedSpike>>> spikes;        ///< [epoch][shard]
    };

    World(Size of, std::uint64_t seed) : size(of), processes(static_cast<std::size_t>(of.ranks)) {
        std::mt19937_64 random(seed);
        const auto below = [&](std::uint64_t bound) { return random() % bound; };
        flushes.resize(size.epochs);
        for (std::uint32_t epoch = 0; epoch < size.epochs; ++epoch) flushes[epoch] = below(6) == 0;
        flushes.back() = true;
        // Some epochs are silent, some are bursts in which every source fires in every step, some twice in one.
        std::vector<std::uint64_t> activity(size.epochs);
        for (auto& of_epoch : activity) of_epoch = std::array<std::uint64_t, 6>{0, 0, 5, 20, 20, 130}[below(6)];
        for (std::int32_t rank = 0; rank < size.ranks; ++rank) {
            Process& process = processes[static_cast<std::size_t>(rank)];
            process.destinations.resize(size.workers);
            for (auto& of_shard : process.destinations) {
                of_shard.resize(size.sources);
                for (auto& of_source : of_shard) {
                    for (std::int32_t to = 0; to < size.ranks; ++to) {
                        const auto most = static_cast<std::uint64_t>(2 * size.destinations) + 1;
                        const std::uint64_t count = below(3) == 0 ? 0 : below(most);
                        for (std::uint64_t i = 0; i < count; ++i) {
                            of_source.push_back({Rank{to}, below(std::uint64_t{1} << ArrivedSpike::address_bits)});
                        }
                    }
                }
            }
            // One process that nobody needs anything of.
            if (size.ranks > 2 && rank == 1) {
                for (auto& of_shard : process.destinations) of_shard.assign(size.sources, {});
            }
            process.spikes.resize(size.epochs);
            for (std::uint32_t epoch = 0; epoch < size.epochs; ++epoch) {
                process.spikes[epoch].resize(size.workers);
                for (std::uint32_t shard = 0; shard < size.workers; ++shard) {
                    for (std::uint32_t lag = 0; lag < size.lags; ++lag) {
                        for (std::uint32_t local = 0; local < size.sources; ++local) {
                            for (std::uint64_t luck = activity[epoch]; luck > below(100); luck /= 3) {
                                process.spikes[epoch][shard].push_back(
                                    {id_of(rank, place_of(shard, local)), local, lag});
                            }
                        }
                    }
                }
            }
        }
    }

    NeuronId id_of(std::int32_t rank, std::uint64_t place) const {
        return NeuronId{place * static_cast<std::uint64_t>(size.ranks) + static_cast<std::uint64_t>(rank)};
    }
    std::uint64_t place_of(std::uint32_t shard, std::uint32_t local) const {
        return std::uint64_t{local} * size.workers + shard;
    }
    static Step first_step(std::uint32_t epoch) { return 1000 + 10 * static_cast<Step>(epoch); }

    /// What must arrive at a process from the spikes of an epoch, sorted.
    std::vector<std::uint64_t> expected(std::int32_t at, std::uint32_t epoch, bool directed) const {
        std::vector<std::uint64_t> words;
        for (const Process& process : processes) {
            for (std::uint32_t shard = 0; shard < size.workers; ++shard) {
                for (const EmittedSpike& spike : process.spikes[epoch][shard]) {
                    if (!directed) words.push_back(ArrivedSpike(spike.source.value, spike.lag).word());
                    for (const Destination& destination : process.destinations[shard][spike.local]) {
                        if (directed && destination.rank == Rank{at}) {
                            words.push_back(ArrivedSpike(destination.address, spike.lag).word());
                        }
                    }
                }
            }
        }
        std::sort(words.begin(), words.end());
        return words;
    }

    Size size;
    std::vector<Process> processes;
    std::vector<bool> flushes;  ///< after which epochs nothing may be on its way
};

class WorldDestinations final : public Destinations {
   public:
    WorldDestinations(const World& world, Rank rank) : mine_(world.processes[static_cast<std::size_t>(rank.value)]) {}

    void find(std::uint32_t shard, std::uint32_t local, Rank first, Rank last,
              std::vector<Destination>& found) const override {
        for (const Destination& destination : mine_.destinations.at(shard).at(local)) {
            if (destination.rank >= first && destination.rank < last) found.push_back(destination);
        }
    }
    std::vector<Rank> ranks() const override {
        std::vector<Rank> ranks;
        for (const auto& shard : mine_.destinations) {
            for (const auto& source : shard) {
                for (const Destination& destination : source) ranks.push_back(destination.rank);
            }
        }
        std::sort(ranks.begin(), ranks.end());
        ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
        return ranks;
    }
    std::uint32_t sources(std::uint32_t shard) const override {
        return static_cast<std::uint32_t>(mine_.destinations.at(shard).size());
    }

   private:
    const World::Process& mine_;
};

ExchangeArguments arguments_of(const World& world, const std::shared_ptr<Communicator>& communicator,
                               ExchangeOptions options) {
    options.workers = world.size.workers;
    options.most_sources = std::uint64_t{world.size.sources} * world.size.workers;
    options.most_lags = world.size.lags;
    return {.communicator = communicator,
            .destinations = std::make_shared<WorldDestinations>(world, communicator->rank()),
            .source_of = [&world](Rank rank, std::uint64_t place) { return world.id_of(rank.value, place); },
            .place_of = [&world](std::uint32_t shard, std::uint32_t local) { return world.place_of(shard, local); },
            .options = options};
}

/// Stands for the engine of one process.
class Driver {
   public:
    Driver(const World& world, std::shared_ptr<Communicator> communicator, std::unique_ptr<SpikeExchange> exchange,
           bool threads)
        : world_(world), communicator_(std::move(communicator)), exchange_(std::move(exchange)), threads_(threads) {}

    SpikeExchange& exchange() { return *exchange_; }
    ExchangeCounts total() const { return total_; }

    /// Runs an epoch and compares what arrives with what must.
    void run_epoch(std::uint32_t epoch) {
        const std::vector<std::vector<EmittedSpike>>& spikes = mine().spikes[epoch];
        exchange_->begin(World::first_step(epoch));
        for (std::uint32_t lag = 0; lag < world_.size.lags; ++lag) {
            // One worker calls after each step, not always the same one.
            const std::uint32_t shard = (epoch + lag) % world_.size.workers;
            const auto end = std::find_if(spikes[shard].begin(), spikes[shard].end(),
                                          [&](const EmittedSpike& spike) { return spike.lag > lag; });
            exchange_->advance(shard, {spikes[shard].begin(), end});
        }
        const std::vector<std::span<const EmittedSpike>> outboxes(spikes.begin(), spikes.end());
        const bool flush = world_.flushes[epoch];
        std::vector<std::pair<Step, std::uint64_t>> arrived;
        for (bool more = true; more;) {
            collocate(outboxes);
            more = exchange_->transfer(flush);
            for (const SpikeExchange::Arrivals& arrivals : exchange_->arrivals()) {
                for (const ArrivedSpike spike : arrivals.spikes) {
                    arrived.emplace_back(arrivals.first_step, spike.word());
                }
            }
        }
        std::sort(arrived.begin(), arrived.end());
        std::vector<std::pair<Step, std::uint64_t>> expected;
        const auto expect = [&](std::uint32_t of) {
            for (const std::uint64_t word : world_.expected(rank(), of, exchange_->directed())) {
                expected.emplace_back(World::first_step(of), word);
            }
        };
        const bool late = exchange_->has_latency();
        if (late && epoch > 0 && !world_.flushes[epoch - 1]) expect(epoch - 1);
        if (!late || flush) expect(epoch);
        if (arrived != expected) {
            throw std::logic_error(std::string(exchange_->name()) + ": " + std::to_string(arrived.size()) +
                                   " spikes arrived on rank " + std::to_string(rank()) + " after epoch " +
                                   std::to_string(epoch) + ", not the " + std::to_string(expected.size()) +
                                   " expected");
        }
    }

   private:
    std::int32_t rank() const { return communicator_->rank().value; }
    const World::Process& mine() const { return world_.processes[static_cast<std::size_t>(rank())]; }

    void collocate(std::span<const std::span<const EmittedSpike>> outboxes) {
        const std::uint32_t workers = world_.size.workers;
        if (!threads_) {
            for (std::uint32_t worker = workers; worker-- > 0;) exchange_->collocate(worker, outboxes);
            return;
        }
        std::vector<std::thread> team;
        for (std::uint32_t worker = 0; worker < workers; ++worker) {
            team.emplace_back([&, worker] { exchange_->collocate(worker, outboxes); });
        }
        for (std::thread& thread : team) thread.join();
    }

    const World& world_;
    std::shared_ptr<Communicator> communicator_;
    std::unique_ptr<SpikeExchange> exchange_;
    bool threads_;
    ExchangeCounts total_;
};

/// Runs a whole world with a method, and checks its counts at the end.
void run_world(const World& world, const ExchangeInfo& method, const ExchangeOptions& options, bool threads = false) {
    std::vector<ExchangeCounts> counts(static_cast<std::size_t>(world.size.ranks));
    run_processes(world.size.ranks, [&](const std::shared_ptr<Communicator>& communicator) {
        Driver driver(world, communicator, method.make(arguments_of(world, communicator, options)), threads);
        for (std::uint32_t epoch = 0; epoch < world.size.epochs; ++epoch) driver.run_epoch(epoch);
        counts[static_cast<std::size_t>(communicator->rank().value)] = driver.exchange().counts();
    });
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    for (const ExchangeCounts& of_rank : counts) {
        sent += of_rank.spikes_sent;
        received += of_rank.spikes_received;
        EXPECT_EQ(of_rank.exchanges, world.size.epochs);
    }
    EXPECT_EQ(sent, received);
}

class EveryMethod : public testing::TestWithParam<const ExchangeInfo*> {};

TEST_P(EveryMethod, BringsEverySpikeWhereAndWhenItIsNeeded) {
    std::uint64_t seed = 1;
    for (const std::int32_t ranks : {1, 2, 3, 4, 5, 8}) {
        for (const std::uint32_t workers : {1U, 2U, 3U}) {
            const World world({.ranks = ranks, .workers = workers}, ++seed);
            for (const std::uint64_t buffer_bytes : {0U, 40U, 100'000U}) {
                for (const std::uint32_t intervals : {1U, 2U}) {
                    SCOPED_TRACE(testing::Message() << ranks << " ranks, " << workers << " workers, " << buffer_bytes
                                                    << " bytes, " << intervals << " intervals");
                    ExchangeOptions options;
                    options.buffer_bytes = buffer_bytes;
                    options.allgather_spikes = static_cast<std::uint32_t>(buffer_bytes / 10);
                    options.intervals = intervals;
                    ASSERT_NO_THROW(run_world(world, *GetParam(), options));
                }
            }
        }
    }
}

std::string name_of(const testing::TestParamInfo<const ExchangeInfo*>& info) { return std::string(info.param->name); }

INSTANTIATE_TEST_SUITE_P(Exchanges, EveryMethod, testing::ValuesIn(exchanges().begin(), exchanges().end()), name_of);

}  // namespace
}  // namespace ranvier::comm
