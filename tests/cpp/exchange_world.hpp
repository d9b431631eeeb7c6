#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ranvier/comm/communicator.hpp"
#include "ranvier/comm/exchange/exchange.hpp"
#include "thread_communicator.hpp"

/// A made-up network with all its spikes, and a substitute for the engine, which compares what arrives with what must
/// arrive.
namespace ranvier::comm {

/// Sources and where their spikes are needed, and the spikes of a run: known to every process, so that each can tell what
/// must arrive.
struct World {
    struct Size {
        std::int32_t ranks = 1;
        std::uint32_t workers = 1;
        std::uint32_t epochs = 24;
        std::uint32_t sources = 5;  ///< of a shard
        std::uint32_t lags = 4;
        std::uint64_t epochs_per_flush = 6;  ///< on average
        std::uint64_t addresses = std::uint64_t{1} << ArrivedSpike::address_bits;  ///< all lie below
    };
    /// What is on one process, by shard.
    struct Process {
        std::vector<std::vector<std::vector<Destination>>> destinations;  ///< [shard][local]
        std::vector<std::vector<std::vector<EmittedSpike>>> spikes;       ///< [epoch][shard]
    };

    /// Without destinations and spikes.
    explicit World(Size of) : size(of), processes(static_cast<std::size_t>(of.ranks)), flushes(of.epochs) {
        for (Process& process : processes) {
            process.destinations.assign(size.workers, std::vector<std::vector<Destination>>(size.sources));
            process.spikes.assign(size.epochs, std::vector<std::vector<EmittedSpike>>(size.workers));
        }
        flushes.back() = true;
    }

    /// A random one.
    World(Size of, std::uint64_t seed) : World(of) {
        std::mt19937_64 random(seed);
        const auto below = [&](std::uint64_t bound) { return random() % bound; };
        for (std::size_t epoch = 0; epoch + 1 < flushes.size(); ++epoch) {
            flushes[epoch] = below(size.epochs_per_flush) == 0;
        }
        // Some epochs are silent, some are bursts in which every source fires in every step, and may fire again in it.
        std::vector<std::uint64_t> activity(size.epochs);
        for (auto& of_epoch : activity) of_epoch = std::array<std::uint64_t, 6>{0, 0, 5, 20, 20, 130}[below(6)];
        for (std::int32_t rank = 0; rank < size.ranks; ++rank) {
            // One process sends nothing to anybody.
            const bool connects = size.ranks < 3 || rank != 1;
            for (std::uint32_t shard = 0; shard < size.workers; ++shard) {
                for (std::uint32_t local = 0; local < size.sources; ++local) {
                    if (connects) connect(rank, shard, local, below);
                    for (std::uint32_t epoch = 0; epoch < size.epochs; ++epoch) {
                        fire(rank, shard, local, epoch, activity[epoch], below);
                    }
                }
            }
        }
        sort_spikes();
    }

    Process& process(std::int32_t rank) { return processes[static_cast<std::size_t>(rank)]; }
    const Process& process(std::int32_t rank) const { return processes[static_cast<std::size_t>(rank)]; }

    void emit(std::int32_t rank, std::uint32_t shard, std::uint32_t local, std::uint32_t epoch, std::uint32_t lag) {
        process(rank).spikes[epoch][shard].push_back({id_of(rank, place_of(shard, local)), local, lag});
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
        for (const Process& from : processes) {
            for (std::uint32_t shard = 0; shard < size.workers; ++shard) {
                for (const EmittedSpike& spike : from.spikes[epoch][shard]) {
                    if (!directed) words.push_back(ArrivedSpike(spike.source.value, spike.lag).word());
                    for (const Destination& destination : from.destinations[shard][spike.local]) {
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
    /// Number of all that must arrive anywhere.
    std::uint64_t expected_in_all(bool directed) const {
        std::uint64_t count = 0;
        for (std::uint32_t epoch = 0; epoch < size.epochs; ++epoch) {
            for (std::int32_t rank = 0; rank < size.ranks; ++rank) count += expected(rank, epoch, directed).size();
        }
        return count;
    }

    Size size;
    std::vector<Process> processes;
    std::vector<bool> flushes;  ///< after which epochs nothing may be on its way

   private:
    template <class Below>
    void connect(std::int32_t rank, std::uint32_t shard, std::uint32_t local, const Below& below) {
        for (std::int32_t to = 0; to < size.ranks; ++to) {
            const std::uint64_t count = below(2) * below(5);
            for (std::uint64_t i = 0; i < count; ++i) {
                const std::uint64_t address = below(size.addresses);
                process(rank).destinations[shard][local].push_back({Rank{to}, address});
            }
        }
    }
    template <class Below>
    void fire(std::int32_t rank, std::uint32_t shard, std::uint32_t local, std::uint32_t epoch, std::uint64_t percent,
              const Below& below) {
        for (std::uint32_t lag = 0; lag < size.lags; ++lag) {
            for (std::uint64_t luck = percent; luck > below(100); luck /= 3) emit(rank, shard, local, epoch, lag);
        }
    }
    /// As the update of shards emits them.
    void sort_spikes() {
        for (Process& of_rank : processes) {
            for (auto& of_epoch : of_rank.spikes) {
                for (auto& outbox : of_epoch) {
                    std::stable_sort(outbox.begin(), outbox.end(),
                                     [](const EmittedSpike& a, const EmittedSpike& b) { return a.lag < b.lag; });
                }
            }
        }
    }
};

class WorldDestinations final : public Destinations {
   public:
    WorldDestinations(const World& world, std::int32_t rank)
        : process_(world.process(rank)), addresses_(world.size.addresses) {}

    void find(std::uint32_t shard, std::uint32_t local, Rank first, Rank last,
              std::vector<Destination>& found) const override {
        for (const Destination& destination : process_.destinations.at(shard).at(local)) {
            if (destination.rank >= first && destination.rank < last) found.push_back(destination);
        }
    }
    std::vector<Rank> ranks() const override {
        std::vector<Rank> ranks;
        for (const auto& shard : process_.destinations) {
            for (const auto& source : shard) {
                for (const Destination& destination : source) ranks.push_back(destination.rank);
            }
        }
        std::sort(ranks.begin(), ranks.end());
        ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
        return ranks;
    }
    std::uint32_t sources(std::uint32_t shard) const override {
        return static_cast<std::uint32_t>(process_.destinations.at(shard).size());
    }
    std::uint64_t address_limit() const override { return addresses_; }

   private:
    const World::Process& process_;
    std::uint64_t addresses_;
};

inline ExchangeArguments arguments_of(const World& world, const std::shared_ptr<Communicator>& communicator,
                                      ExchangeOptions options) {
    options.workers = world.size.workers;
    options.most_sources = std::uint64_t{world.size.sources} * world.size.workers;
    options.most_lags = world.size.lags;
    return {.communicator = communicator,
            .destinations = std::make_shared<WorldDestinations>(world, communicator->rank().value),
            .source_of = [&world](Rank rank, std::uint64_t place) { return world.id_of(rank.value, place); },
            .place_of = [&world](std::uint32_t shard, std::uint32_t local) { return world.place_of(shard, local); },
            .options = options};
}

/// Whether workers are threads, as in the engine, or take turns.
enum class Workers : std::uint8_t { taking_turns, threads };

/// What arrives in one round on a process whose workers take turns: collocates, transfers, and shows it all.
inline void run_round(SpikeExchange& exchange, std::span<const std::span<const EmittedSpike>> outboxes, bool flush,
                      const SpikeExchange::Visit& visit) {
    const auto workers = static_cast<std::uint32_t>(outboxes.size());
    for (std::uint32_t worker = workers; worker-- > 0;) exchange.collocate(worker, outboxes);
    exchange.transfer(flush);
    for (std::uint32_t worker = 0; worker < workers; ++worker) exchange.take(worker, visit);
}

/// The substitute for the engine of one process.
class Driver {
   public:
    Driver(const World& world, std::shared_ptr<Communicator> communicator, std::unique_ptr<SpikeExchange> exchange,
           Workers workers = Workers::taking_turns)
        : world_(world),
          communicator_(std::move(communicator)),
          exchange_(std::move(exchange)),
          threads_(workers == Workers::threads),
          arrived_of_(world.size.workers) {}
    Driver(const Driver&) = delete;
    Driver& operator=(const Driver&) = delete;
    ~Driver() {
        if (slow_worker_.joinable()) slow_worker_.join();
    }

    SpikeExchange& exchange() { return *exchange_; }

    /// What was wrong, in words; empty when all has arrived as it must.
    const std::vector<std::string>& faults() const { return faults_; }

    /// Runs an epoch, and compares what arrives with what must arrive.
    void run_epoch(std::uint32_t epoch) {
        update(epoch);
        finish_epoch();
        const auto& spikes = mine().spikes[epoch];
        const std::vector<std::span<const EmittedSpike>> outboxes(spikes.begin(), spikes.end());
        arrived_.clear();
        for (run_round(outboxes, world_.flushes[epoch]); exchange_->more();
             run_round(outboxes, world_.flushes[epoch])) {
            exchange_->next_round();
        }
        check(epoch);
        // Another worker begins the next epoch before a slow one has noticed that this one is over.
        if (threads_) slow_worker_ = std::thread([this] { sees_more_ = exchange_->more(); });
    }
    /// Runs all epochs.
    void run() {
        for (std::uint32_t epoch = 0; epoch < world_.size.epochs; ++epoch) run_epoch(epoch);
        finish_epoch();
    }
    /// Waits for the slow worker, which must have noticed that the epoch was over.
    void finish_epoch() {
        if (slow_worker_.joinable()) slow_worker_.join();
        if (sees_more_) fault("an epoch that is over has more rounds for a slow worker");
        sees_more_ = false;
    }

   private:
    std::int32_t rank() const { return communicator_->rank().value; }
    const World::Process& mine() const { return world_.process(rank()); }

    void update(std::uint32_t epoch) {
        exchange_->begin(World::first_step(epoch));
        // Not always: nothing may depend on it.
        if (epoch % 5 == 4) return;
        for (std::uint32_t lag = 0; lag < world_.size.lags; ++lag) {
            // Nor does it matter to which shard it belongs.
            const std::uint32_t shard = (epoch + lag) % world_.size.workers;
            const auto& outbox = mine().spikes[epoch][shard];
            const auto end =
                std::find_if(outbox.begin(), outbox.end(), [&](const EmittedSpike& spike) { return spike.lag > lag; });
            exchange_->advance(shard, {outbox.begin(), end});
        }
    }

    void run_round(std::span<const std::span<const EmittedSpike>> outboxes, bool flush) {
        if (threads_) {
            by_all([&](std::uint32_t worker) { exchange_->collocate(worker, outboxes); });
            exchange_->transfer(flush);
            by_all([&](std::uint32_t worker) {
                exchange_->take(worker, [&](const Arrivals& arrivals) { note(arrivals, arrived_of_[worker]); });
            });
        } else {
            comm::run_round(*exchange_, outboxes, flush, [&](const Arrivals& arrivals) { note(arrivals, arrived_); });
        }
        for (auto& arrived : arrived_of_) {
            arrived_.insert(arrived_.end(), arrived.begin(), arrived.end());
            arrived.clear();
        }
    }

    void by_all(const std::function<void(std::uint32_t)>& job) const {
        std::vector<std::thread> team;
        for (std::uint32_t worker = 0; worker < world_.size.workers; ++worker) team.emplace_back(job, worker);
        for (std::thread& thread : team) thread.join();
    }

    using Arrivals = SpikeExchange::Arrivals;
    /// Spikes, with the first step of their epoch.
    using Arrived = std::vector<std::pair<Step, std::uint64_t>>;

    static void note(const Arrivals& arrivals, Arrived& arrived) {
        for (const ArrivedSpike spike : arrivals.spikes) arrived.emplace_back(arrivals.first_step, spike.word());
    }

    void check(std::uint32_t epoch) {
        std::sort(arrived_.begin(), arrived_.end());
        Arrived expected;
        const auto expect = [&](std::uint32_t of) {
            for (const std::uint64_t word : world_.expected(rank(), of, exchange_->directed())) {
                expected.emplace_back(World::first_step(of), word);
            }
        };
        const bool late = exchange_->has_latency();
        if (late && epoch > 0 && !world_.flushes[epoch - 1]) expect(epoch - 1);
        if (!late || world_.flushes[epoch]) expect(epoch);
        if (arrived_ == expected) return;
        fault(std::to_string(arrived_.size()) + " spikes arrived after epoch " + std::to_string(epoch) + ", not the " +
              std::to_string(expected.size()) + " expected");
    }
    void fault(const std::string& what) {
        faults_.push_back(std::string(exchange_->name()) + ", rank " + std::to_string(rank()) + ": " + what);
    }

    const World& world_;
    std::shared_ptr<Communicator> communicator_;
    std::unique_ptr<SpikeExchange> exchange_;
    bool threads_;
    std::thread slow_worker_;
    bool sees_more_ = false;  ///< what it has been told
    Arrived arrived_;
    std::vector<Arrived> arrived_of_;  ///< of each worker, where they are threads
    std::vector<std::string> faults_;
};

/// The result of a run on each process.
struct Outcome {
    ExchangeCounts counts;
    std::string name;
    std::vector<std::string> faults;  ///< where something wrong has arrived
};

/// Whether every spike has arrived where and when it must, on every process.
inline testing::AssertionResult all_arrived(const std::vector<Outcome>& outcomes) {
    for (const Outcome& outcome : outcomes) {
        if (!outcome.faults.empty()) return testing::AssertionFailure() << outcome.faults.front();
    }
    return testing::AssertionSuccess();
}

/// Runs a world with a method on processes that are threads, dealt to so many hosts in turn.
inline std::vector<Outcome> run_world(const World& world, const ExchangeInfo& method, const ExchangeOptions& options,
                                      Workers workers = Workers::taking_turns, std::int32_t hosts = 1) {
    std::vector<Outcome> outcomes(static_cast<std::size_t>(world.size.ranks));
    const auto process = [&](const std::shared_ptr<Communicator>& communicator) {
        Driver driver(world, communicator, method.make(arguments_of(world, communicator, options)), workers);
        driver.run();
        outcomes[static_cast<std::size_t>(communicator->rank().value)] = {
            driver.exchange().counts(), std::string(driver.exchange().name()), driver.faults()};
    };
    run_processes(world.size.ranks, process, 1, hosts);
    return outcomes;
}

}  // namespace ranvier::comm
