#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "comm/exchange.hpp"
#include "comm/exchange_base.hpp"

namespace ranvier::comm {

/// The buffers of a directed exchange by all-to-all: one equally long section for each process, in which the end of what
/// is valid, and what every process must know of every other, is written into the data (Jordan et al., 2018, "Extremely
/// scalable spiking neuronal network simulation code").
///
/// A section is words: a spike and flags in the upper byte. The last valid word of a section says that it is the last,
/// whether its sender has nothing more for anybody, and whether shorter sections would have done. Each process reads that
/// of all others (and of itself), so that all decide alike whether there is another round and how long sections are.
///
/// Sections double when a round was not enough, up to the limit, and halve after a while in which a quarter would have
/// been enough.
class Sections {
   public:
    /// @param most_bytes of the buffer to send from; a section has room for one spike at least
    Sections(std::shared_ptr<const Destinations> destinations, std::int32_t ranks, std::uint32_t workers,
             std::uint64_t most_bytes);

    /// Starts another epoch.
    void begin(Step first_step);
    /// Fills the sections of the worker's part of the ranks: in the first round from the outboxes of all shards, then with
    /// what did not fit before. By all workers at once.
    void collocate(std::uint32_t worker, std::span<const std::span<const EmittedSpike>> outboxes);
    /// Writes the marks when all have collocated. to_send() and to_receive() are then what goes into the collective.
    void seal();
    std::span<const std::byte> to_send() const { return std::as_bytes(std::span(send_)); }
    std::span<std::byte> to_receive() { return std::as_writable_bytes(std::span(received_)); }
    /// Reads what has been received. Returns whether any process has more.
    bool open();
    /// What has arrived; valid until seal() is called again.
    SpikeExchange::Arrivals arrived() const { return {first_step_, std::span(received_).first(arrived_)}; }

    /// Spikes that were put into the sections since the last begin().
    std::uint64_t sent() const;
    std::uint64_t words_per_section() const { return words_; }
    std::uint64_t bytes() const;

   private:
    struct Item {
        Rank rank;
        std::uint64_t word;
    };
    /// Apart from those of other workers, which write at the same time.
    struct alignas(64) Worker {
        std::vector<Destination> found;
        std::vector<Item> overflow;          ///< of a block: what did not fit into the first round
        std::vector<std::uint64_t> waiting;  ///< the same words by section, of which each round takes the next
        /// Of what waits for each of its sections: where the next word is, and where they end. None if nothing waits.
        std::vector<std::uint64_t> next;
        std::vector<std::uint64_t> ends;
        std::uint64_t left = 0;  ///< words that wait
        std::uint64_t gathered = 0;  ///< words in the first round
        Blocks blocks;
        std::uint64_t fullest = 0;  ///< words in the fullest of its sections
        std::uint64_t sent = 0;
    };

    void fill(Worker& worker, Share share, Share block, std::span<const std::span<const EmittedSpike>> outboxes);
    static void sort_overflow(Worker& worker, Share share, Share block);
    void refill(Worker& worker, Share share);
    void resize(std::uint64_t words);

    std::shared_ptr<const Destinations> destinations_;
    std::size_t ranks_;
    std::uint64_t most_words_;  ///< that a section may have
    std::uint64_t words_ = 0;  ///< that a section has in the next round
    std::uint32_t quiet_ = 0;  ///< epochs in a row in which shorter sections would have done
    bool first_round_ = true;
    Step first_step_ = 0;
    std::vector<Worker> workers_;
    std::vector<std::uint32_t> filled_;  ///< words in each section to send
    std::vector<std::uint64_t> send_;
    std::vector<ArrivedSpike> received_;  ///< as they come; open() moves the spikes to the front
    std::size_t arrived_ = 0;
};

}  // namespace ranvier::comm
