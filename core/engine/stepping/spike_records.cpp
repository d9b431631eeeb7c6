#include "engine/stepping/spike_records.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>

#include "base/tight_list.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::engine {

SpikeRecords::SpikeRecords(std::span<const std::unique_ptr<Shard>> shards, std::uint64_t sources, Step epoch_steps)
    : shards_(shards),
      lag_bits_(static_cast<std::uint32_t>(std::bit_width(static_cast<std::uint64_t>(epoch_steps - 1)))),
      fits_(static_cast<std::uint32_t>(std::bit_width(sources)) + lag_bits_ <= std::numeric_limits<RecordWord>::digits),
      records_(std::make_unique<parallel::RoundRecords>(static_cast<std::uint32_t>(shards.size()))) {
    for (const auto& shard : shards) boxes_.emplace_back(shard->memory()[Component::spikes]);
}

SpikeRecords::SpikeRecords(std::span<const std::unique_ptr<Shard>> shards, std::uint64_t sources, Step epoch_steps,
                           comm::Communicator& communicator, std::uint64_t buffer_bytes)
    : SpikeRecords(shards, sources, epoch_steps) {
    const auto ranks = static_cast<std::size_t>(communicator.size());
    const std::uint64_t here = shards.size();
    std::vector<std::uint64_t> counts(ranks);
    communicator.allgather(std::as_bytes(std::span(&here, 1)), std::as_writable_bytes(std::span(counts)));
    const auto rank = static_cast<std::ptrdiff_t>(communicator.rank().value);
    const auto items = static_cast<std::uint32_t>(std::reduce(counts.begin(), counts.end()));
    const parallel::RoundRecords::Share share{
        .first = static_cast<std::uint32_t>(std::reduce(counts.begin(), counts.begin() + rank)),
        .count = static_cast<std::uint32_t>(here)};
    // Also limited by the spikes that an epoch can have if each source fires once a step, so that no buffer is too large
    // for the system; longer lists go on in further rounds.
    const std::uint64_t most = sources * static_cast<std::uint64_t>(epoch_steps);
    const std::uint64_t fitting = buffer_bytes / (2 * sizeof(ListWord) * *std::ranges::max_element(counts));
    list_length_ = std::max<std::uint64_t>(1, std::min(fitting, most));
    const std::size_t bytes_of_records = parallel::RoundRecords::shared_bytes(items);
    memory_ = communicator.share_memory(bytes_of_records + 2 * items * list_length_ * sizeof(ListWord));
    if (!memory_) {
        const bool is_one_host = communicator.host_size() == communicator.size();
        throw StateError({.object = "exchange",
                          .value = "shared_memory",
                          .bound = is_one_host
                                       ? "the system does not let the processes share memory"
                                       : "only " + std::to_string(communicator.host_size()) + " of " +
                                             std::to_string(communicator.size()) + " processes are on this host",
                          .remedy = "choose another method, such as alltoall"});
    }
    const std::span<std::byte> bytes = memory_->bytes();
    records_ = std::make_unique<parallel::RoundRecords>(bytes.first(bytes_of_records), items, share);
    lists_ = reinterpret_cast<ListWord*>(bytes.data() + bytes_of_records);
}

std::uint32_t SpikeRecords::write(std::uint32_t shard, std::uint32_t round,
                                  std::span<const comm::EmittedSpike> outbox) {
    Box& box = boxes_[shard];
    box.written = 0;
    ++box.counts.exchanges;
    box.counts.spikes_sent += outbox.size();
    return write_from(shard, round, outbox);
}

std::uint32_t SpikeRecords::write_more(std::uint32_t shard, std::uint32_t round,
                                       std::span<const comm::EmittedSpike> outbox) {
    return write_from(shard, round, outbox.subspan(boxes_[shard].written));
}

std::uint32_t SpikeRecords::write_from(std::uint32_t shard, std::uint32_t round,
                                       std::span<const comm::EmittedSpike> spikes) {
    Box& box = boxes_[shard];
    ++box.counts.rounds;
    box.counts.bytes_sent += parallel::RoundRecords::line_bytes;
    const std::uint32_t item = records_->here().first + shard;
    std::byte* message = records_->message(item, round);
    if (fits_ && spikes.size() <= most_record_words) {
        for (const comm::EmittedSpike& spike : spikes) {
            const auto word = static_cast<RecordWord>(spike.source.value << lag_bits_ | spike.lag);
            std::memcpy(message, &word, sizeof word);
            message += sizeof word;
        }
        box.written += spikes.size();
        return static_cast<std::uint32_t>(spikes.size());
    }
    if (lists_ == nullptr) {
        std::memcpy(message, &spikes, sizeof spikes);
        return is_list;
    }
    const std::span<const comm::EmittedSpike> some = spikes.first(std::min(spikes.size(), list_length_));
    std::ranges::transform(some, list(item, round), [this](const comm::EmittedSpike& spike) {
        return ListWord{spike.source.value << lag_bits_ | spike.lag};
    });
    const std::uint64_t count = some.size();
    std::memcpy(message, &count, sizeof count);
    box.written += some.size();
    box.longest_list = std::max(box.longest_list, some.size());
    box.counts.bytes_sent += some.size_bytes();
    return is_list | (some.size() < spikes.size() ? has_more : 0);
}

void SpikeRecords::read(std::uint32_t shard, std::uint32_t round) {
    Box& box = boxes_[shard];
    const RecordWord lag_mask = (RecordWord{1} << lag_bits_) - 1;
    for (std::uint32_t item = 0; item < records_->items(); ++item) {
        const std::uint32_t words = records_->note(item, round) & is_list;
        const std::byte* message = records_->message(item, round);
        if (words < is_list) {
            for (std::uint32_t i = 0; i < words; ++i, message += sizeof(RecordWord)) {
                RecordWord word = 0;
                std::memcpy(&word, message, sizeof word);
                append(box.of_lag(word & lag_mask), NeuronId{word >> lag_bits_});
            }
            box.counts.spikes_received += words;
        } else if (lists_ == nullptr) {
            std::span<const comm::EmittedSpike> outbox;
            std::memcpy(&outbox, message, sizeof outbox);
            for (const comm::EmittedSpike& spike : outbox) append(box.of_lag(spike.lag), spike.source);
        } else {
            std::uint64_t count = 0;
            std::memcpy(&count, message, sizeof count);
            for (const ListWord word : std::span(list(item, round), count)) {
                append(box.of_lag(static_cast<std::uint32_t>(word & lag_mask)), NeuronId{word >> lag_bits_});
            }
            box.counts.spikes_received += count;
        }
    }
}

void SpikeRecords::deliver(std::uint32_t shard, const Epoch& epoch) {
    Step stamp = epoch.begin;
    for (std::pmr::vector<NeuronId>& sources : boxes_[shard].by_lag) {
        if (!sources.empty()) shards_[shard]->synapses().accept(stamp, sources, epoch.end);
        sources.clear();
        ++stamp;
    }
}

std::uint32_t SpikeRecords::deliver_first_parts(std::uint32_t shard, const Epoch& epoch) {
    std::pmr::vector<NeuronId>& sources = boxes_[shard].of_lag(0);
    if (sources.empty()) return 0;
    const std::uint32_t parts = shards_[shard]->synapses().accept_first_parts(epoch.end, sources);
    sources.clear();
    return parts;
}

comm::ExchangeCounts SpikeRecords::counts() const {
    comm::ExchangeCounts counts;
    for (const Box& box : boxes_) {
        counts.spikes_sent += box.counts.spikes_sent;
        counts.bytes_sent += box.counts.bytes_sent;
        counts.buffer_bytes += static_cast<std::uint64_t>(shared_bytes(static_cast<double>(box.longest_list)));
    }
    // Each shard reads the same.
    counts.exchanges = boxes_.front().counts.exchanges;
    counts.rounds = boxes_.front().counts.rounds;
    counts.spikes_received = boxes_.front().counts.spikes_received;
    return counts;
}

void SpikeRecords::reset_counts() {
    for (Box& box : boxes_) box.counts = {};
}

}  // namespace ranvier::engine
