#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "comm/exchange/exchange_base.hpp"
#include "comm/exchange/spike_packing.hpp"
#include "ranvier/comm/exchange/exchange.hpp"

namespace ranvier::comm {

/// The spikes of an epoch for each of a list of processes, gathered by all workers concurrently and sorted by process:
/// the send buffer of a collective with a length for each partner.
class RankLists {
   public:
    /// @param partners the ranks that may receive spikes, ascending
    RankLists(std::shared_ptr<const Destinations> destinations, std::vector<Rank> partners,
              const ExchangeOptions& options);
    /// The same with all ranks [0, ranks) as partners.
    RankLists(std::shared_ptr<const Destinations> destinations, std::int32_t ranks, const ExchangeOptions& options);

    std::size_t partners() const { return partner_count_; }

    /// Gathers and sorts the spikes for the worker's part of the partners, from the outboxes of all shards. Called by
    /// all workers concurrently.
    void collocate(std::uint32_t worker, std::span<const std::span<const EmittedSpike>> outboxes);
    /// Puts the next spikes, packed and ordered by partner, into data(), and their numbers for each partner into
    /// counts().
    /// @param most_per_worker spikes of each worker's part, at least 1
    void take(std::uint64_t most_per_worker);
    /// The same with all spikes.
    void take_all() { take(std::numeric_limits<std::uint64_t>::max()); }
    bool anything_left() const;

    std::span<const std::byte> data() const { return data_; }
    std::uint64_t taken() const { return data_.size() / packing_.bytes(); }
    const SpikePacking& packing() const { return packing_; }
    std::span<const std::size_t> counts() const { return counts_; }
    std::uint64_t bytes() const;

   private:
    struct Item {
        std::size_t partner;
        std::uint64_t word;
    };
    /// Aligned to avoid false sharing: workers write concurrently.
    struct alignas(64) Worker {
        std::vector<Destination> found;
        std::vector<Item> items;  ///< of a block of several partners
        std::vector<std::byte> sorted;  ///< packed; never shrinks
        std::uint64_t count = 0;  ///< of the spikes in it
        std::vector<std::uint64_t> offsets;  ///< spikes before those of each of its partners, and the total
        std::uint64_t taken = 0;
        Blocks blocks;
    };

    Share share(std::uint32_t worker) const;
    Rank rank_of(std::size_t partner) const;
    std::size_t partner_of(Rank rank, std::size_t first, std::size_t last) const;
    void note_first(Worker& worker, Share part, std::span<const std::span<const EmittedSpike>> outboxes);
    void pack(Worker& worker, std::size_t partner, Share block,
              std::span<const std::span<const EmittedSpike>> outboxes);
    void gather(Worker& worker, Share block, std::span<const std::span<const EmittedSpike>> outboxes);
    void sort(Worker& worker, Share block, std::size_t first) const;

    std::shared_ptr<const Destinations> destinations_;
    SpikePacking packing_;
    std::vector<Rank> ranks_;  ///< of the partners; empty if these are all ranks
    std::size_t partner_count_;
    std::vector<Worker> workers_;
    std::vector<std::byte> data_;
    std::vector<std::size_t> counts_;
};

}  // namespace ranvier::comm
