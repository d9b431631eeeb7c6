#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <vector>

#include "comm/exchange/destination_code.hpp"
#include "comm/redistribution.hpp"
#include "connect/routing/dry_run_sources.hpp"
#include "connect/routing/row_addresses.hpp"
#include "ranvier/base/buffer.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/comm/communicator.hpp"
#include "ranvier/comm/exchange/exchange.hpp"
#include "ranvier/connect/placement/layout.hpp"
#include "ranvier/parallel/team.hpp"

namespace ranvier::connect {

/// The presynaptic side of the two tiers (Jordan et al. 2018): for each neuron of this process, the ranks that need its
/// spikes and the addresses of its rows there.
class PresynapticTable final : public comm::Destinations {
   public:
    void find(std::uint32_t shard, std::uint32_t local, Rank first, Rank last,
              std::vector<comm::Destination>& found) const override;
    std::vector<Rank> ranks() const override;
    std::uint32_t sources(std::uint32_t shard) const override { return parts_[shard].sources; }
    std::uint64_t address_limit() const override { return code_.address_limit(); }

    /// Number of entries of all sources.
    std::uint64_t size() const;
    std::uint64_t bytes() const;
    /// Average size of an entry, without the fixed size per source.
    double bits_per_entry() const;

   private:
    friend class PresynapticTableBuilder;

    /// The part of one shard.
    struct ShardDestinations {
        std::uint32_t sources = 0;
        std::uint64_t entries = 0;
        /// The destinations of each source, in one of the blocks; null without any.
        Buffer<const std::uint8_t*> codes;
        std::vector<Buffer<std::uint8_t>> blocks;

        std::uint64_t block_bytes() const;
    };

    std::int32_t ranks_ = 1;
    comm::DestinationCode code_;
    std::vector<ShardDestinations> parts_;
};

/// Builds the table from the postsynaptic side: every process sends its addresses of sources to the processes of these
/// sources, in rounds, through buffers of bounded size, which all workers fill and empty together. All rounds run
/// twice, first to count and then to store, so that only the entries are ever stored: first in order of arrival, then
/// sorted and encoded, one block of sources after another.
class PresynapticTableBuilder {
   public:
    /// @param buffer_bytes limit of all buffers together; at least one entry for each process is always sent
    /// @note Collective.
    PresynapticTableBuilder(const ProcessLayout& layout, const RowAddresses& addresses,
                            std::shared_ptr<comm::Communicator> communicator, std::uint64_t buffer_bytes,
                            parallel::Team& team);

    /// @return the memory resource for the part of a shard, which must outlive the table
    using MemoryOfShard = std::function<std::pmr::memory_resource*(std::uint32_t shard)>;
    /// Each worker builds the part of its shards (Team::for_assigned_items()).
    /// @note Called by all workers of the team together, and on all processes.
    void build(std::uint32_t worker, const MemoryOfShard& memory_of = [](std::uint32_t) { return page_memory(); });
    std::shared_ptr<const PresynapticTable> finish() { return std::move(table_); }
    /// Number of rounds of each pass.
    std::uint64_t rounds() const { return rounds_; }

   private:
    using Listed = RowAddresses::Entry;
    /// An entry in transit: a source is identified by its place on its process.
    struct Entry {
        std::uint64_t place;
        std::uint64_t address;
    };

    /// The sources [first, last) of a shard, during construction.
    struct Block {
        std::uint32_t first = 0;
        std::uint32_t last = 0;
        Buffer<std::uint8_t> entries;  ///< packed, source after source, in order of arrival
    };
    /// The position of the next entry of a source.
    struct Cursor {
        std::uint8_t* entries = nullptr;  ///< of its block
        std::uint64_t next = 0;
    };

    template <class Body>
    void for_assigned_shards(std::uint32_t worker, Body&& body) const {
        team_.for_assigned_items(worker, static_cast<std::uint32_t>(layout_.shards().size()), body);
    }
    void pass(std::uint32_t worker, bool store);
    void make_blocks(std::uint32_t shard, std::pmr::memory_resource* memory);
    void encode(std::uint32_t shard, std::pmr::memory_resource* memory);
    void collocate(std::uint32_t worker, std::uint64_t begin, std::uint64_t end);
    void take(std::uint32_t worker, bool store);

    const ProcessLayout& layout_;
    const RowAddresses& addresses_;
    std::shared_ptr<comm::Communicator> communicator_;
    parallel::Team& team_;
    std::shared_ptr<PresynapticTable> table_;
    std::uint64_t chunk_ = 1;  ///< candidates per round
    std::uint64_t chunks_ = 0;  ///< of the process with most of them
    std::uint64_t rounds_ = 0;
    comm::Redistribution<Entry> exchange_;
    std::vector<Entry> packed_;
    std::vector<std::uint64_t> counts_;  ///< by rank
    std::optional<DryRunSources> dry_run_sources_;  ///< in a dry run
    /// By worker: its listed entries, and by worker and rank their number; later the position of the next one.
    std::vector<std::vector<Listed>> listed_;
    std::vector<std::vector<std::uint32_t>> listed_counts_;
    std::vector<std::vector<Cursor>> cursors_;  ///< by shard and source
    std::vector<std::vector<Block>> blocks_;    ///< by shard
    bool more_ = false;
};

}  // namespace ranvier::connect
