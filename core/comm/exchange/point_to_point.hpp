#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "comm/exchange/exchange_base.hpp"

namespace ranvier::comm {

/// How a process finds out that all messages of an epoch have arrived.
enum class Completion : std::uint8_t {
    conservation,  ///< as many were received as sent, summed over all processes as often as that takes
    counts,        ///< one reduction tells each process how many were sent to it
};

/// Base of the methods that send messages as soon as there are spikes, and of both ways to complete an epoch (Hines, Kumar
/// and Schürmann, 2011, "Comparison of neuronal spike exchange methods on a Blue Gene/P supercomputer"; for the second,
/// they name Ananthanarayanan and Modha, 2007).
///
/// With two intervals per shortest delay, the messages of an epoch may be in transit until the end of the next one.
/// Messages have the turn of their epoch, so that those of several epochs can be in transit at once. With conservation,
/// these are two: a process continues only when all have reported that no message of the previous epoch is missing. With
/// counts, a process continues when it misses none itself, and others may still wait for messages of the previous epoch
/// while it sends those of the next one: with two intervals, these are three, and two with one. A process never is further
/// ahead, since it needs the counts of all others for the next epoch.
class PointToPointExchange : public ExchangeBase {
   public:
    PointToPointExchange(const ExchangeArguments& arguments, Completion completion);

    bool has_latency() const final { return options().intervals == 2; }
    void begin(Step first_step) final;
    void collocate(std::uint32_t worker, std::span<const std::span<const EmittedSpike>> outboxes) final;
    void transfer(bool flush) final;
    void advance(std::uint32_t shard, std::span<const EmittedSpike> outbox) final;

   protected:
    /// The messages of one epoch.
    struct Epoch {
        Step first_step = 0;
        bool open = false;           ///< whether messages may be in transit
        std::uint64_t sent = 0;      ///< by this process
        std::uint64_t received = 0;  ///< by this process
        std::vector<std::uint64_t> sent_to;  ///< each process, with Completion::counts; a number for every process
        std::vector<ArrivedSpike> arrived;
    };

    const Destinations& destinations() const { return *destinations_; }
    std::uint32_t turn() const { return turn_; }
    std::uint32_t turns() const { return turns_; }
    Epoch& epoch(std::uint32_t of_turn) { return epochs_[of_turn]; }
    /// Whether spikes of this epoch are emitted now and may be in transit until the end of the next epoch.
    bool may_defer(std::uint32_t of_turn) const { return has_latency() && of_turn == turn_ && !finishing_; }

    bool counts_messages() const { return completion_ == Completion::counts; }
    /// Counts a message of the present epoch that is sent in another way than by send().
    void count_sent(Rank to, std::uint32_t of_turn) {
        Epoch& of_message = epochs_[of_turn];
        ++of_message.sent;
        if (counts_messages()) ++of_message.sent_to[static_cast<std::size_t>(to.value)];
    }
    /// Sends words to another process, as a message of an epoch.
    void send(std::span<const std::uint64_t> words, Rank to, int tag, std::uint32_t of_turn);
    /// Adds the spikes of a received message.
    static void add_words(Epoch& epoch, const Message& message);
    /// Handles all messages that have arrived.
    void receive();

    /// Prepares the new spikes of a worker's shard for sending. Called by all workers concurrently.
    virtual void prepare(std::uint32_t worker, std::span<const EmittedSpike> spikes) = 0;
    /// Sends the prepared spikes. Called by one worker at a time.
    virtual void send_prepared(std::uint32_t worker) = 0;
    virtual std::span<const int> tags() const = 0;
    virtual void handle(int tag, const Message& message) = 0;
    /// Sends the deferred messages of an epoch that must be completed.
    virtual void send_deferred(std::uint32_t /*of_turn*/) {}
    std::uint64_t buffer_bytes() const override;

   private:
    std::uint32_t previous_turn() const { return (turn_ + turns_ - 1) % turns_; }
    void complete(std::uint32_t of_turn);
    void conserve(std::uint32_t of_turn);
    void receive_counted(Epoch& finished);

    std::shared_ptr<const Destinations> destinations_;
    Completion completion_;
    std::uint32_t turns_;  ///< number of epochs whose messages can be in transit at once
    std::array<Epoch, 3> epochs_;  ///< by turn
    std::uint32_t turn_ = 0;  ///< of the present epoch
    bool finishing_ = false;  ///< whether the current epoch has ended and must be completed
    std::vector<std::size_t> prepared_;  ///< spikes of each shard's outbox that have been sent
    std::array<std::vector<ArrivedSpike>, 2> completed_;
    Message message_;
};

/// The words of a message.
template <class Visit>
void for_each_word(const Message& message, Visit visit) {
    for (std::size_t i = 0; i + sizeof(std::uint64_t) <= message.data.size(); i += sizeof(std::uint64_t)) {
        std::uint64_t word = 0;
        std::memcpy(&word, message.data.data() + i, sizeof word);
        visit(word);
    }
}

/// Destinations of one source, ascending by rank, grouped by rank: visit(rank, destinations there).
template <class Visit>
void for_each_rank(std::span<const Destination> destinations, Visit visit) {
    for (std::size_t begin = 0; begin < destinations.size();) {
        std::size_t end = begin + 1;
        while (end < destinations.size() && destinations[end].rank == destinations[begin].rank) ++end;
        visit(destinations[begin].rank, destinations.subspan(begin, end - begin));
        begin = end;
    }
}

/// Tags of the messages of each method. All differ, since a process may be one epoch, and with it one method, ahead.
namespace tags {
inline constexpr std::array multisend{0, 1};        ///< by turn
inline constexpr std::array two_phase{2, 3, 4, 5};  ///< by phase and turn
inline constexpr std::array persistent{6};
inline constexpr std::array two_phase_any{7, 8, 9, 10};              ///< as two_phase
inline constexpr std::array multisend_reduce_scatter{11, 12, 13};  ///< by turn
inline constexpr std::array persistent_reduce_scatter{14};
}  // namespace tags

}  // namespace ranvier::comm
