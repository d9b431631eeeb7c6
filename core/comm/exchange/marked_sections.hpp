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

/// The buffers of a directed exchange by all-to-all: one equally long section for each process. The sections themselves
/// carry the end of the valid data and what every process must know about every other (Jordan et al., 2018, "Extremely
/// scalable spiking neuronal network simulation code").
///
/// A section is a mark, then packed spikes. The mark gives the number of spikes, so that a receiver reads nothing
/// beyond them. If the spikes did not all fit, it also reports how many the longest section of its sender had left when
/// the round began. Each process reads the marks of all processes (itself included), so that all determine alike how
/// much is left, whether there is another round, and the length of its sections.
///
/// The sections of a first round have the capacity needed recently, up to a limit; later rounds are as long as the
/// rest. Once every few epochs the marks report the maximum needed by their sender since then, and all shorten their
/// sections alike. Sections are partly empty, and the empty part is sent too: with few spikes for each of many
/// processes it is as large as the spikes, however the rounds are chosen.
class MarkedSections {
   public:
    /// @param most_bytes limit of the send buffer; a section holds at least one spike
    MarkedSections(std::shared_ptr<const Destinations> destinations, std::int32_t ranks, const ExchangeOptions& options,
                   std::uint64_t most_bytes);

    /// Starts another epoch.
    void begin(Step first_step);
    /// Fills the sections of the worker's part of the ranks: in the first round from the outboxes of all shards, later
    /// with the remaining spikes. Called by all workers concurrently.
    void collocate(std::uint32_t worker, std::span<const std::span<const EmittedSpike>> outboxes);
    /// Called after all workers have collocated. Then to_send() and to_receive() are the buffers of the collective.
    void seal();
    std::span<const std::byte> to_send() const { return send_.span().first(sections_bytes()); }
    std::span<std::byte> to_receive() { return received_.span().first(sections_bytes()); }
    /// Passes a worker its share of the received spikes, valid until the next seal(). Called by all workers
    /// concurrently.
    void take(std::uint32_t worker, const SpikeExchange::Visit& visit);
    /// Whether any process has more to send; valid after all workers have taken, until the next seal().
    bool more() const;
    /// Prepares another round.
    void next_round();

    /// Adds the spikes sent and received since the last reset.
    void add_to(ExchangeCounts& counts) const;
    void reset_counts();
    /// Capacity of a section, in spikes, in the next round.
    std::uint64_t room() const { return room_; }
    std::uint64_t bytes() const;

   private:
    struct Item {
        Rank rank;
        std::uint64_t word;
    };
    /// Aligned to avoid false sharing: workers write concurrently.
    struct alignas(64) Worker {
        std::vector<Destination> found;
        // Long in bursts: the heap would keep the freed memory.
        std::pmr::vector<Item> overflow{page_memory()};  ///< of a block: spikes that did not fit into the first round
        std::size_t most_overflow = 0;  ///< greatest of a block in this epoch
        /// The same words ordered by section; each round takes the next ones.
        std::pmr::vector<std::uint64_t> waiting{page_memory()};
        /// For each section, the next waiting word and the end of the waiting words. Empty if none wait.
        std::vector<std::uint64_t> next;
        std::vector<std::uint64_t> ends;
        std::uint64_t left = 0;  ///< waiting words
        std::uint64_t gathered = 0;  ///< words in the first round
        Blocks blocks;
        std::uint64_t longest = 0;  ///< words that the longest of its sections had left at the start of this round
        std::uint64_t most = 0;  ///< greatest number reported by the marks of this round
        std::uint64_t sent = 0;  ///< since the last reset, as is the next
        std::uint64_t received = 0;
    };

    template <std::size_t bytes>
    void fill(Worker& worker, Share block, std::span<const std::span<const EmittedSpike>> outboxes);
    static void sort_overflow(Worker& worker, Share share, Share block);
    void refill(Worker& worker, Share share);
    void set_room(std::uint64_t room);
    void write_mark(std::size_t section, std::uint64_t reported);
    std::uint64_t most_reported() const;
    void learn();
    std::size_t section_bytes() const { return mark_bytes + static_cast<std::size_t>(room_) * packing_.bytes(); }
    std::size_t sections_bytes() const { return ranks_ * section_bytes(); }

    static constexpr std::size_t mark_bytes = sizeof(std::uint64_t);

    std::shared_ptr<const Destinations> destinations_;
    SpikePacking packing_;
    std::size_t ranks_;
    std::uint64_t most_room_;  ///< limit of the capacity of a section
    std::uint64_t room_ = 0;  ///< capacity of a section in the next round
    std::uint64_t first_room_;  ///< capacity of a section in the first round of an epoch
    std::uint64_t sealed_room_ = 0;  ///< capacity of a section in the last sealed round
    std::uint64_t reported_first_ = 0;  ///< greatest number reported in the first round of this epoch
    std::uint64_t recent_ = 0;  ///< greatest number of spikes in a section of this process, since `epochs_` began
    std::uint32_t epochs_ = 0;  ///< consecutive epochs for which the first round sufficed
    bool shrinks_ = false;  ///< the capacity of first rounds has decreased
    bool first_round_ = true;
    Step first_step_ = 0;
    std::vector<Worker> workers_;
    std::vector<std::uint32_t> filled_;  ///< spikes in each section to send
    Buffer<std::byte> send_;
    Buffer<std::byte> received_;
};

}  // namespace ranvier::comm
