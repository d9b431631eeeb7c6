#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "engine/shard/shard.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/comm/exchange/exchange.hpp"
#include "ranvier/engine/times.hpp"
#include "ranvier/parallel/rounds.hpp"

namespace ranvier::engine {

/// Passes the spikes of an epoch from each shard of a process to the tables of all, without an exchange: in the
/// records of rounds.
///
/// A shard usually has few spikes in an epoch. They are in the record itself, so that a reader waits for one cache
/// line; longer lists stay in the outbox, and the record has their place.
class SpikeRecords {
   public:
    /// The part of a note that these use.
    static constexpr std::uint32_t note_bits = 8;

    /// @param sources number of neurons and sources of the network
    /// @param epoch_steps steps of the longest epoch
    SpikeRecords(std::span<const std::unique_ptr<Shard>> shards, std::uint64_t sources, Step epoch_steps);

    /// Writes the message of a shard; returns the note.
    std::uint32_t write(std::byte* message, std::span<const comm::EmittedSpike> outbox) const;
    // Called for each shard in the following round, by one worker, one after the other.

    /// Reads the spikes of the epoch.
    /// @param round in which they were written
    void read(std::uint32_t shard, const parallel::RoundRecords& records, std::uint32_t round);
    /// Passes them to the tables of the shard.
    void deliver(std::uint32_t shard, const Epoch& epoch);

   private:
    using Word = std::uint32_t;
    static constexpr std::uint32_t most_words = parallel::RoundRecords::message_bytes / sizeof(Word);
    static constexpr std::uint32_t in_outbox = (std::uint32_t{1} << note_bits) - 1;
    static_assert(most_words < in_outbox);

    /// The spikes of one epoch that reach a shard, by lag; reused, so that nothing is allocated.
    struct alignas(64) Inbox {
        explicit Inbox(std::pmr::memory_resource* memory) : by_lag(memory) {}
        std::pmr::vector<NeuronId>& of_lag(std::uint32_t lag) {
            if (lag >= by_lag.size()) by_lag.resize(lag + 1);
            return by_lag[lag];
        }

        std::pmr::vector<std::pmr::vector<NeuronId>> by_lag;
    };

    std::span<const std::unique_ptr<Shard>> shards_;
    std::uint32_t lag_bits_;
    bool fits_;  ///< whether a source and a lag fit into a word
    std::vector<Inbox> inboxes_;
};

}  // namespace ranvier::engine
