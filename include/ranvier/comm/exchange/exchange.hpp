#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ranvier/base/ids.hpp"
#include "ranvier/comm/communicator.hpp"

namespace ranvier::comm {

/// A spike as emitted by the update of its shard.
struct EmittedSpike {
    NeuronId source;
    std::uint32_t local = 0;  ///< index of the source on its shard
    std::uint32_t lag = 0;    ///< step in which it was emitted, counted from the first step of its epoch
};

/// A rank that needs a spike, and the address of the source there.
struct Destination {
    Rank rank;
    std::uint64_t address = 0;
};

/// The presynaptic side, as an exchange method sees it: the destinations of each source.
class Destinations {
   public:
    virtual ~Destinations() = default;
    /// Appends the destinations of source `local` of a shard that lie on ranks [first, last), ascending by rank. A rank
    /// may occur several times, with different addresses. Thread-safe.
    virtual void find(std::uint32_t shard, std::uint32_t local, Rank first, Rank last,
                      std::vector<Destination>& found) const = 0;
    /// All ranks that may receive spikes of this process, ascending.
    virtual std::vector<Rank> ranks() const = 0;
    /// Number of sources of a shard: the upper limit of `local`.
    virtual std::uint32_t sources(std::uint32_t shard) const = 0;
    /// An upper limit (exclusive) of the addresses of all processes; the same on all processes.
    virtual std::uint64_t address_limit() const = 0;
};

/// A received spike, packed: the local address of its source and its emission lag.
class ArrivedSpike {
   public:
    static constexpr int lag_bits = 8;
    static constexpr int address_bits = 48;
    /// The upper bits of a word are for the method that carries it; it clears them before it delivers the spike.
    static constexpr std::uint64_t mask = (std::uint64_t{1} << (lag_bits + address_bits)) - 1;

    ArrivedSpike() = default;
    ArrivedSpike(std::uint64_t address, std::uint32_t lag) : word_(address << lag_bits | lag) {}
    explicit ArrivedSpike(std::uint64_t word) : word_(word) {}

    std::uint64_t address() const { return word_ >> lag_bits; }
    std::uint32_t lag() const { return static_cast<std::uint32_t>(word_ & ((1U << lag_bits) - 1)); }
    std::uint64_t word() const { return word_; }

   private:
    std::uint64_t word_ = 0;
};

/// Received spikes in their receive buffer: words of a fixed number of bytes, of which the lower bits are the lag and
/// the others the address.
class ArrivedSpikes {
   public:
    /// Bytes after the last word that may be read.
    static constexpr std::size_t slack = sizeof(std::uint64_t);

    ArrivedSpikes() = default;
    ArrivedSpikes(const std::vector<ArrivedSpike>& spikes)
        : ArrivedSpikes(std::as_bytes(std::span(spikes)).data(), spikes.size(), sizeof(ArrivedSpike),
                        ArrivedSpike::lag_bits) {}
    /// @param bytes of a word, from 1 to 8; the last word is followed by slack unless it has 8
    ArrivedSpikes(const std::byte* first, std::size_t size, std::uint32_t bytes, std::uint32_t lag_bits)
        : first_(first), size_(size), bytes_(bytes), lag_bits_(lag_bits) {}

    class Iterator {
       public:
        Iterator(const std::byte* place, std::uint32_t bytes, std::uint32_t lag_bits)
            : place_(place), bytes_(bytes), lag_bits_(lag_bits) {}
        ArrivedSpike operator*() const {
            std::uint64_t word = 0;
            std::memcpy(&word, place_, sizeof word);
            word &= ~std::uint64_t{0} >> (64 - 8 * bytes_);
            const std::uint64_t lag = word & ((std::uint64_t{1} << lag_bits_) - 1);
            return {word >> lag_bits_, static_cast<std::uint32_t>(lag)};
        }
        Iterator& operator++() {
            place_ += bytes_;
            return *this;
        }
        bool operator==(const Iterator& other) const { return place_ == other.place_; }

       private:
        const std::byte* place_;
        std::uint32_t bytes_;
        std::uint32_t lag_bits_;
    };

    Iterator begin() const { return {first_, bytes_, lag_bits_}; }
    Iterator end() const { return {first_ + size_ * bytes_, bytes_, lag_bits_}; }
    std::size_t size() const { return size_; }
    ArrivedSpikes subspan(std::size_t first, std::size_t count) const {
        return {first_ + first * bytes_, count, bytes_, lag_bits_};
    }
    const std::byte* data() const { return first_; }

   private:
    static_assert(sizeof(ArrivedSpike) == sizeof(std::uint64_t));

    const std::byte* first_ = nullptr;
    std::size_t size_ = 0;
    std::uint32_t bytes_ = sizeof(std::uint64_t);
    std::uint32_t lag_bits_ = ArrivedSpike::lag_bits;
};

/// Traffic of a method on this process.
struct ExchangeCounts {
    std::uint64_t spikes_sent = 0;      ///< records, one for each destination
    std::uint64_t spikes_received = 0;  ///< records, needed on this process or not
    std::uint64_t bytes_sent = 0;       ///< passed to the communicator, including padding
    std::uint64_t messages = 0;         ///< point-to-point messages, or partners of a collective
    std::uint64_t exchanges = 0;        ///< epochs
    std::uint64_t rounds = 0;           ///< collective calls, or checks of conservation
    /// Checks of conservation that found messages in transit, so that there was another one.
    std::uint64_t failed_checks = 0;
    std::uint64_t notifications = 0;    ///< clocks of groups sent to other processes; see ProgressExchange
    std::uint64_t buffer_bytes = 0;     ///< current size
    /// Sources for which something was set up at their first spike, and its bytes, which `buffer_bytes` includes: they
    /// grow until all sources have fired.
    std::uint64_t sources_set_up = 0;
    std::uint64_t bytes_of_sources = 0;
};

struct ExchangeOptions {
    /// Limit of the send buffer in bytes; a larger volume takes more rounds. At least one record for each process is
    /// always sent. Methods that send messages have no such buffer, and "neighbor" sends everything at once.
    std::uint64_t buffer_bytes = std::uint64_t{32} << 20;
    /// Records that every process sends in one allgather, before a second one carries the rest.
    std::uint32_t allgather_spikes = 16;
    std::uint32_t workers = 1;  ///< threads of this process, equal to its number of shards
    /// Greatest number of sources of a process; the same on all processes.
    std::uint64_t most_sources = 0;
    /// Steps of the longest epoch.
    std::uint32_t most_lags = 1;
    /// Intervals into which the shortest delay may be divided. With 2, a spike may be in transit for one interval
    /// during the update; with 1, it may not. Methods that cannot use a second interval ignore this; with a delay of
    /// one step it is always 1.
    std::uint32_t intervals = 1;
    /// Processes of a host that act as a host together in methods of two levels; 0: all of them.
    std::uint32_t host_ranks = 0;
    /// Whether receivers find synapses by the ids of their sources, as undirected methods require.
    bool finds_sources = true;
};

/// A method of exchanging spikes between processes.
///
/// The engine calls, for each epoch and on every process:
///
///     begin(first step)                    by one worker
///     for every step
///         advance(shard, outbox)           by the same worker, after its shard has been updated
///     for every round
///         collocate(worker, outboxes)      by all workers at once, when all shards have been updated
///         transfer(flush)                  by one worker, when all have collocated
///         take(worker, visit)              by all workers at once, when it has returned
///         if not more(), leave             by all workers, when all have taken
///         next_round()                     by one worker, before any collocates again
///
/// Outboxes must not change until the loop is over. While some workers still call more(), one may already begin the
/// next epoch and advance.
///
/// Without latency, the arriving spikes were emitted in the epoch that has just ended. With latency, they were emitted
/// in the epoch before, if the previous call did not flush; a call that flushes delivers those of both epochs.
class SpikeExchange {
   public:
    virtual ~SpikeExchange() = default;

    virtual std::string_view name() const = 0;
    /// Whether spikes arrive one epoch after the one in which they were emitted.
    virtual bool has_latency() const { return false; }
    /// Whether arriving spikes carry addresses from Destinations; otherwise global ids of sources.
    virtual bool directed() const { return true; }

    /// @note Collective.
    virtual void begin(Step /*first_step*/) {}
    /// Collects the share of one worker: every spike of all outboxes for its part of the processes, or its shard's
    /// outbox. Spikes that did not fit into the previous round come first.
    virtual void collocate(std::uint32_t worker, std::span<const std::span<const EmittedSpike>> outboxes) = 0;
    /// Sends the collocated spikes. @note Collective.
    /// @param flush deliver everything in transit: this epoch is the last one of a run
    virtual void transfer(bool flush) = 0;

    /// Spikes received in the last transfer.
    struct Arrivals {
        Step first_step = 0;  ///< of the epoch in which they were emitted: origin of the lags
        ArrivedSpikes spikes;
    };
    using Visit = std::function<void(const Arrivals&)>;
    /// Passes a worker its share of the received spikes, in any number of pieces, in any order. They are valid until
    /// the next transfer.
    virtual void take(std::uint32_t worker, const Visit& visit) = 0;
    /// Whether this epoch needs another round; the same on all processes.
    virtual bool more() const = 0;
    /// Prepares another round.
    virtual void next_round() {}

    /// Lets sends and receives make progress, and sends the spikes that the calling worker's shard has emitted so far
    /// if the method sends immediately.
    virtual void advance(std::uint32_t /*shard*/, std::span<const EmittedSpike> /*outbox*/) {}

    virtual ExchangeCounts counts() const = 0;
    virtual void reset_counts() = 0;
};

struct ExchangeArguments {
    std::shared_ptr<Communicator> communicator;
    /// Null for undirected methods.
    std::shared_ptr<const Destinations> destinations;
    /// The global id of the n-th source of a process, for methods that send to all and compress their data.
    /// Thread-safe. The n-th source of this process is that of the m-th shard with local index l when `place_of(m, l)`
    /// is n.
    std::function<NeuronId(Rank, std::uint64_t)> source_of;
    std::function<std::uint64_t(std::uint32_t, std::uint32_t)> place_of;
    ExchangeOptions options;
};

/// One method. Each is a constant in a separate file, listed in comm/exchange/exchange_methods.hpp.
struct ExchangeInfo {
    std::string_view name;
    std::string_view summary;
    bool directed = true;
    /// Whether all processes must be on one host: threads exchange spikes at the ends of rounds, in memory that the
    /// processes share, and `make` is null.
    bool on_host = false;
    /// Whether the method reads the destinations of sources that it was given after it has been made.
    bool keeps_destinations = true;
    /// Whether it has two levels: the processes of a host (ExchangeOptions::host_ranks), and hosts.
    bool groups_by_host = false;
    std::unique_ptr<SpikeExchange> (*make)(const ExchangeArguments& arguments) = nullptr;
    /// Whether it can be faster than other methods with these processes, so that an automatic choice tries it; null: with
    /// any. The same on all processes. @note Collective.
    bool (*can_win)(const ExchangeArguments& arguments) = nullptr;
    /// The methods that an automatic choice selects from; all hold buffers until it has chosen. Undirected ones need
    /// ExchangeOptions::finds_sources.
    std::span<const ExchangeInfo* const> candidates = {};
};

std::span<const ExchangeInfo* const> exchanges();
/// @throws UnknownNameError
const ExchangeInfo& find_exchange(std::string_view name);

}  // namespace ranvier::comm
