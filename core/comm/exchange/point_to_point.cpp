#include "comm/exchange/point_to_point.hpp"

#include <algorithm>
#include <utility>

#include "base/tight_list.hpp"

namespace ranvier::comm {

PointToPointExchange::PointToPointExchange(const ExchangeArguments& arguments)
    : ExchangeBase(arguments), destinations_(checked_destinations(arguments)), prepared_(options().workers) {}

void PointToPointExchange::advance(std::uint32_t shard, std::span<const EmittedSpike> outbox) {
    // Messages of the previous epoch have arrived by now.
    if (has_latency()) send_deferred(parity_ ^ 1);
    if (outbox.size() > prepared_[shard]) {
        prepare(shard, outbox.subspan(prepared_[shard]));
        prepared_[shard] = outbox.size();
        send_prepared(shard);
    }
    receive();
}

void PointToPointExchange::begin(Step first_step) {
    epochs_[parity_].first_step = first_step;
    epochs_[parity_].open = true;
    ++counts_.exchanges;
}

void PointToPointExchange::collocate(std::uint32_t worker, std::span<const std::span<const EmittedSpike>> outboxes) {
    prepare(worker, outboxes[worker].subspan(prepared_[worker]));
}

void PointToPointExchange::transfer(bool flush) {
    for (std::uint32_t worker = 0; worker < options().workers; ++worker) send_prepared(worker);
    std::fill(prepared_.begin(), prepared_.end(), std::size_t{0});
    arrivals_.clear();
    if (epochs_[parity_ ^ 1].open) complete(parity_ ^ 1);
    if (flush || !has_latency()) {
        finishing_ = true;
        complete(parity_);
        finishing_ = false;
        // All have been received, so this does not wait; it frees the buffers.
        communicator().complete_sends();
    }
    parity_ ^= 1;
}

/// Returns when all processes have received all messages of an epoch.
///
/// Sent and received messages are summed over all processes until the sums agree. Handling a message may cause another
/// one. But a process handles none between contributing its numbers and receiving the sums, so that every message that
/// the sums count as received is also counted as sent, and equal sums mean that no message is in transit.
void PointToPointExchange::complete(std::uint32_t of_parity) {
    Epoch& finished = epochs_[of_parity];
    for (std::array<std::uint64_t, 2> totals{1, 0}; totals[0] != totals[1];) {
        send_deferred(of_parity);
        receive();
        totals = {finished.sent, finished.received};
        communicator().reduce(totals, Reduction::sum);
        count_collective(sizeof totals, 0);
        if (totals[0] != totals[1]) ++counts_.failed_checks;
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

void PointToPointExchange::send(std::span<const std::uint64_t> words, Rank to, int tag, std::uint32_t of_parity) {
    const auto data = std::as_bytes(words);
    communicator().send(data, to, tag);
    ++epochs_[of_parity].sent;
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
    for (const Epoch& of_parity : epochs_) bytes += bytes_of(of_parity.arrived);
    for (const auto& completed : completed_) bytes += bytes_of(completed);
    return bytes;
}

}  // namespace ranvier::comm
