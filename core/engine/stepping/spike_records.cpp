#include "engine/stepping/spike_records.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "base/tight_list.hpp"

namespace ranvier::engine {

SpikeRecords::SpikeRecords(std::span<const std::unique_ptr<Shard>> shards, std::uint64_t sources, Step epoch_steps)
    : shards_(shards),
      lag_bits_(static_cast<std::uint32_t>(std::bit_width(static_cast<std::uint64_t>(epoch_steps - 1)))),
      fits_(std::bit_width(sources) + lag_bits_ <= std::numeric_limits<Word>::digits) {
    for (const auto& shard : shards) inboxes_.emplace_back(shard->memory()[Component::spikes]);
}

std::uint32_t SpikeRecords::write(std::byte* message, std::span<const comm::EmittedSpike> outbox) const {
    if (fits_ && outbox.size() <= most_words) {
        for (const comm::EmittedSpike& spike : outbox) {
            const auto word = static_cast<Word>(spike.source.value << lag_bits_ | spike.lag);
            std::memcpy(message, &word, sizeof word);
            message += sizeof word;
        }
        return static_cast<std::uint32_t>(outbox.size());
    }
    std::memcpy(message, &outbox, sizeof outbox);
    return in_outbox;
}

void SpikeRecords::read(std::uint32_t shard, const parallel::RoundRecords& records, std::uint32_t round) {
    Inbox& inbox = inboxes_[shard];
    const Word lag_mask = (Word{1} << lag_bits_) - 1;
    for (std::uint32_t item = 0; item < records.items(); ++item) {
        const std::uint32_t note = records.note(item, round) & in_outbox;
        const std::byte* message = records.message(item, round);
        if (note == in_outbox) {
            std::span<const comm::EmittedSpike> outbox;
            std::memcpy(&outbox, message, sizeof outbox);
            for (const comm::EmittedSpike& spike : outbox) append(inbox.of_lag(spike.lag), spike.source);
            continue;
        }
        for (std::uint32_t i = 0; i < note; ++i, message += sizeof(Word)) {
            Word word = 0;
            std::memcpy(&word, message, sizeof word);
            append(inbox.of_lag(word & lag_mask), NeuronId{word >> lag_bits_});
        }
    }
}

void SpikeRecords::deliver(std::uint32_t shard, const Epoch& epoch) {
    Step stamp = epoch.begin;
    for (std::pmr::vector<NeuronId>& sources : inboxes_[shard].by_lag) {
        if (!sources.empty()) shards_[shard]->synapses().accept(stamp, sources, epoch.end);
        sources.clear();
        ++stamp;
    }
}

}  // namespace ranvier::engine
