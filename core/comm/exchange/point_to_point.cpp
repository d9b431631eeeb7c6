#include "comm/exchange/point_to_point.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/tight_list.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::comm {

PointToPointExchange::PointToPointExchange(const ExchangeArguments& arguments, Completion completion)
    : ExchangeBase(arguments),
      destinations_(checked_destinations(arguments)),
      completion_(completion),
      turns_(completion == Completion::counts && has_latency() ? 3 : 2),
      prepared_(options().workers) {
    if (!counts_messages()) return;
    for (std::uint32_t turn = 0; turn < turns_; ++turn) epochs_[turn].sent_to.resize(static_cast<std::size_t>(ranks()));
}

void PointToPointExchange::advance(std::uint32_t shard, std::span<const EmittedSpike> outbox) {
    // Messages of the previous epoch have arrived by now.
    if (has_latency()) send_deferred(previous_turn());
    if (outbox.size() > prepared_[shard]) {
        prepare(shard, outbox.subspan(prepared_[shard]));
        prepared_[shard] = outbox.size();
        send_prepared(shard);
    }
    // Steps without spikes are so short that polls would look like a wait.
    for (const int tag : tags()) {
        while (communicator().poll(tag, message_)) handle(tag, message_);
    }
}

void PointToPointExchange::begin(Step first_step) {
    epochs_[turn_].first_step = first_step;
    epochs_[turn_].open = true;
    ++counts_.exchanges;
}

void PointToPointExchange::collocate(std::uint32_t worker, std::span<const std::span<const EmittedSpike>> outboxes) {
    prepare(worker, outboxes[worker].subspan(prepared_[worker]));
}

void PointToPointExchange::transfer(bool flush) {
    for (std::uint32_t worker = 0; worker < options().workers; ++worker) send_prepared(worker);
    std::fill(prepared_.begin(), prepared_.end(), std::size_t{0});
    arrivals_.clear();
    if (epochs_[previous_turn()].open) complete(previous_turn());
    if (flush || !has_latency()) {
        finishing_ = true;
        complete(turn_);
        finishing_ = false;
        // Frees the buffers. All have been received, or are received by processes that wait for them.
        communicator().complete_sends();
    }
    turn_ = (turn_ + 1) % turns_;
}

/// Returns when this process has received all messages of an epoch.
void PointToPointExchange::complete(std::uint32_t of_turn) {
    Epoch& finished = epochs_[of_turn];
    if (counts_messages()) {
        receive_counted(finished);
    } else {
        conserve(of_turn);
    }
    counts_.spikes_received += finished.arrived.size();
    std::vector<ArrivedSpike>& completed = completed_[arrivals_.size()];
    std::swap(completed, finished.arrived);
    arrivals_.push_back({finished.first_step, completed});
    finished.arrived.clear();
    finished.sent = 0;
    finished.received = 0;
    finished.open = false;
}

/// Returns when all processes have received all messages of an epoch.
///
/// Sent and received messages are summed over all processes until the sums agree. Handling a message may cause another
/// one. But a process handles none between contributing its numbers and receiving the sums, so that every message that
/// the sums count as received is also counted as sent, and equal sums mean that no message is in transit.
void PointToPointExchange::conserve(std::uint32_t of_turn) {
    const Epoch& finished = epochs_[of_turn];
    for (std::array<std::uint64_t, 2> totals{1, 0}; totals[0] != totals[1];) {
        send_deferred(of_turn);
        receive();
        totals = {finished.sent, finished.received};
        communicator().reduce(totals, Reduction::sum);
        count_collective(sizeof totals, 0);
        if (totals[0] != totals[1]) ++counts_.failed_checks;
    }
}

/// Learns how many messages of an epoch were sent to this process, and receives so many. A message must not cause another
/// one, which the counts would not include.
void PointToPointExchange::receive_counted(Epoch& finished) {
    const std::uint64_t expected = communicator().reduce_scatter(finished.sent_to);
    count_collective(finished.sent_to.size() * sizeof(std::uint64_t), 0);
    while (finished.received < expected) receive();
    if (finished.received > expected) {
        throw InternalError("exchange of spikes: " + std::to_string(finished.received) +
                            " messages arrived in an interval in which " + std::to_string(expected) + " were sent");
    }
    std::fill(finished.sent_to.begin(), finished.sent_to.end(), std::uint64_t{0});
}

void PointToPointExchange::send(std::span<const std::uint64_t> words, Rank to, int tag, std::uint32_t of_turn) {
    const auto data = std::as_bytes(words);
    communicator().send(data, to, tag);
    count_sent(to, of_turn);
    ++counts_.messages;
    counts_.bytes_sent += data.size();
}

void PointToPointExchange::add_words(Epoch& epoch, const Message& message) {
    make_room(epoch.arrived, epoch.arrived.size() + message.data.size() / sizeof(std::uint64_t));
    for_each_word(message, [&](std::uint64_t word) { epoch.arrived.emplace_back(word); });
}

void PointToPointExchange::receive() {
    for (const int tag : tags()) {
        while (communicator().try_receive(tag, message_)) handle(tag, message_);
    }
}

std::uint64_t PointToPointExchange::buffer_bytes() const {
    std::uint64_t bytes = bytes_of(message_.data) + bytes_of(prepared_);
    for (const Epoch& of_turn : epochs_) bytes += bytes_of(of_turn.arrived) + bytes_of(of_turn.sent_to);
    for (const auto& completed : completed_) bytes += bytes_of(completed);
    return bytes;
}

}  // namespace ranvier::comm
