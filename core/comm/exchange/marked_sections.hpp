#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <span>
#include <vector>

#include "comm/exchange/exchange_base.hpp"
#include "comm/exchange/spike_packing.hpp"
#include "ranvier/base/buffer.hpp"
#include "ranvier/base/page_memory.hpp"
#include "ranvier/comm/exchange/exchange.hpp"

namespace ranvier::comm {

/// The buffers of a directed exchange by all-to-all: one equally long section for each process, in which the end of what
/// is valid, and what every process must know of every other, is written into the data (Jordan et al., 2018, "Extremely
/// scalable spiking neuronal network simulation code").
///
/// A section is a mark, then packed spikes. The mark tells where the spikes end, so that a receiver touches nothing behind
/// them. If the spikes did not all fit, it also tells how many the longest section of its sender had left when the round
/// began. Each process
/// reads the marks of all others (and of itself), so that all know alike how much is left, whether there is another round,
/// and how long its sections have to be.
///
/// The sections of a first round have room for as much as was needed lately, up to a limit; later rounds are as long as what
/// is left. Once in so many epochs the marks tell the most that their sender has needed since, and all shorten their sections
/// alike. MarkedSections are partly empty, and the empty part is sent too: with few spikes for each of many processes that
/// is as much as the spikes, however the rounds are chosen.
class MarkedSections {
   public:
    /// @param most_bytes of the buffer to send from; a section has room for one spike at least
    MarkedSections(std::shared_ptr<const Destinations> destinations, std::int32_t ranks, const ExchangeOptions& options,
                   std::uint64_t most_bytes);

    /// Starts another epoch.
    void begin(Step first_step);
    /// Fills the sections of the worker's part of the ranks: in the first round from the outboxes of all shards, then with
    /// what did not fit before. By all workers at once.
    void collocate(std::uint32_t worker, std::span<const std::span<const EmittedSpike>> outboxes);
    /// When all have collocated. to_send() and to_receive() are then what goes into the collective.
    void seal();
    std::span<const std::byte> to_send() const { return send_.span().first(sections_bytes()); }
    std::span<std::byte> to_receive() { return received_.span().first(sections_bytes()); }
    /// Shows a worker its share of what has been received, which is valid until seal() is called again. By all workers at
    /// once.
    void take(std::uint32_t worker, const SpikeExchange::Visit& visit);
    /// Whether any process has more to send, when all have taken; until seal() is called again.
    bool more() const;
    /// Gets ready for another round.
    void next_round();

    /// Adds the spikes that were sent and received since the last reset.
    void add_to(ExchangeCounts& counts) const;
    void reset_counts();
    /// Spikes that a section has room for in the next round.
    std::uint64_t room() const { return room_; }
    std::uint64_t bytes() const;

   private:
    struct Item {
        Rank rank;
        std::uint64_t word;
    };
    /// Apart from those of other workers, which write at the same time.
    struct alignas(64) Worker {
        std::vector<Destination> found;
        // Long in bursts: the heap would keep what they give back.
        std::pmr::vector<Item> overflow{page_memory()};  ///< of a block: what did not fit into the first round
        std::size_t most_overflow = 0;  ///< of a block of this epoch
        /// The same words by section, of which each round takes the next.
        std::pmr::vector<std::uint64_t> waiting{page_memory()};
        /// Of what waits for each of its sections: where the next word is, and where they end. None if nothing waits.
        std::vector<std::uint64_t> next;
        std::vector<std::uint64_t> ends;
        std::uint64_t left = 0;  ///< words that wait
        std::uint64_t gathered = 0;  ///< words in the first round
        Blocks blocks;
        std::uint64_t longest = 0;  ///< words that the longest of its sections has left, with those of this round
        std::uint64_t most = 0;  ///< the most that it has read in a mark of this round
        std::uint64_t sent = 0;  ///< since the last reset, as is the next
        std::uint64_t received = 0;
    };

    template <std::size_t bytes>
    void fill(Worker& worker, Share block, std::span<const std::span<const EmittedSpike>> outboxes);
    static void sort_overflow(Worker& worker, Share share, Share block);
    void refill(Worker& worker, Share share);
    void set_room(std::uint64_t room);
    void write_mark(std::size_t section, std::uint64_t told);
    std::uint64_t most_told() const;
    void learn();
    std::size_t section_bytes() const { return mark_bytes + static_cast<std::size_t>(room_) * packing_.bytes(); }
    std::size_t sections_bytes() const { return ranks_ * section_bytes(); }

    static constexpr std::size_t mark_bytes = sizeof(std::uint64_t);

    std::shared_ptr<const Destinations> destinations_;
    SpikePacking packing_;
    std::size_t ranks_;
    std::uint64_t most_room_;  ///< that a section may have
    std::uint64_t room_ = 0;  ///< that a section has in the next round
    std::uint64_t first_room_;  ///< that a section has in the first round of an epoch
    std::uint64_t sealed_room_ = 0;  ///< that a section has in what was sealed last
    std::uint64_t told_first_ = 0;  ///< the most told in the first round of this epoch
    std::uint64_t recent_ = 0;  ///< spikes in the longest section of this process, since `epochs_` began
    std::uint32_t epochs_ = 0;  ///< in a row for which the first round had room enough
    bool shrinks_ = false;  ///< the room of first rounds has become smaller
    bool first_round_ = true;
    Step first_step_ = 0;
    std::vector<Worker> workers_;
    std::vector<std::uint32_t> filled_;  ///< spikes in each section to send
    Buffer<std::byte> send_;
    Buffer<std::byte> received_;
};

}  // namespace ranvier::comm
