#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <span>
#include <vector>

#include "engine/record_layout.hpp"
#include "engine/shard/shard.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/comm/communicator.hpp"
#include "ranvier/comm/exchange/exchange.hpp"
#include "ranvier/engine/times.hpp"
#include "ranvier/parallel/rounds.hpp"

namespace ranvier::engine {

/// Passes the spikes of an epoch from each shard to the tables of all, in the records of rounds: those of one process,
/// or of all processes of a host, in memory that they share.
///
/// A shard usually has few spikes in an epoch. They are in the record itself, so that a reader waits for one cache
/// line. A longer list stays in the outbox, or is copied to shared memory, and the record says where it is.
class SpikeRecords {
   public:
    /// The part of a note that these use.
    static constexpr std::uint32_t note_bits = 9;
    /// Bit of a note: the list was too long for the shared memory, and goes on in the next round.
    static constexpr std::uint32_t has_more = std::uint32_t{1} << 8;

    /// @param sources number of neurons and sources of the network
    /// @param epoch_steps steps of the longest epoch
    SpikeRecords(std::span<const std::unique_ptr<Shard>> shards, std::uint64_t sources, Step epoch_steps);
    /// For several processes of a host.
    /// @param buffer_bytes of the lists of a process
    /// @throws StateError when the processes cannot share memory @note Collective.
    SpikeRecords(std::span<const std::unique_ptr<Shard>> shards, std::uint64_t sources, Step epoch_steps,
                 comm::Communicator& communicator, std::uint64_t buffer_bytes);

    parallel::RoundRecords& records() { return *records_; }
    const parallel::RoundRecords& records() const { return *records_; }

    // Called for each shard of this process, by one worker.

    /// Writes the spikes of a shard; returns the note. They must stay where they are during the next round.
    std::uint32_t write(std::uint32_t shard, std::uint32_t round, std::span<const comm::EmittedSpike> outbox);
    /// Goes on if any shard has more: in the next round, after its spikes have been read.
    std::uint32_t write_more(std::uint32_t shard, std::uint32_t round, std::span<const comm::EmittedSpike> outbox);
    /// Reads what all shards have written in a round.
    void read(std::uint32_t shard, std::uint32_t round);
    /// Passes all spikes of an epoch that have been read to the tables of the shard.
    void deliver(std::uint32_t shard, const Epoch& epoch);
    /// The same for an epoch of one step, but leaves some parts; see ShardSynapses::accept_first_parts().
    std::uint32_t deliver_first_parts(std::uint32_t shard, const Epoch& epoch);

    // Called between runs.

    comm::ExchangeCounts counts() const;
    void reset_counts();

   private:
    static constexpr std::uint32_t is_list = has_more - 1;
    static_assert(most_record_words < is_list);

    /// What one shard reads and writes; reused, so that nothing is allocated.
    struct alignas(64) Box {
        explicit Box(std::pmr::memory_resource* memory) : by_lag(memory) {}
        std::pmr::vector<NeuronId>& of_lag(std::uint32_t lag) {
            if (lag >= by_lag.size()) by_lag.resize(lag + 1);
            return by_lag[lag];
        }

        std::pmr::vector<std::pmr::vector<NeuronId>> by_lag;  ///< sources of spikes that have been read
        std::size_t written = 0;                              ///< spikes of the outbox
        std::size_t longest_list = 0;
        comm::ExchangeCounts counts{};
    };

    std::uint32_t write_from(std::uint32_t shard, std::uint32_t round, std::span<const comm::EmittedSpike> spikes);
    /// Where the list of an item of any process lies.
    ListWord* list(std::uint32_t item, std::uint32_t round) const {
        return lists_ + (std::size_t{round % 2} * records_->items() + item) * list_length_;
    }

    std::span<const std::unique_ptr<Shard>> shards_;
    std::uint32_t lag_bits_;
    bool fits_;  ///< whether a source and a lag fit into a word
    std::unique_ptr<comm::SharedMemory> memory_;  ///< null: all shards belong to this process
    std::unique_ptr<parallel::RoundRecords> records_;
    ListWord* lists_ = nullptr;
    std::size_t list_length_ = 0;
    std::vector<Box> boxes_;
};

}  // namespace ranvier::engine
