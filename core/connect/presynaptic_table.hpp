#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <memory_resource>
#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "base/ids.hpp"
#include "comm/communicator.hpp"
#include "comm/exchange.hpp"
#include "comm/record_exchange.hpp"
#include "connect/layout.hpp"
#include "connect/row_addresses.hpp"
#include "parallel/team.hpp"

namespace ranvier::connect {

/// Entries (rank, address) in as few bits as the largest of them needs.
class PackedDestinations {
   public:
    /// Entries are read as parts of a word that begins at a whole byte.
    static constexpr unsigned most_bits = 57;

    PackedDestinations() = default;
    /// Zeros. @param bits of each entry, at most most_bits
    PackedDestinations(std::uint64_t count, unsigned bits, std::pmr::memory_resource* memory = page_memory())
        : bits_(bits),
          mask_((std::uint64_t{1} << bits) - 1),
          bytes_((count * bits + 7) / 8 + sizeof(std::uint64_t), memory) {
        std::memset(bytes_.data(), 0, bytes_.bytes());
    }

    std::uint64_t operator[](std::uint64_t index) const {
        const std::uint64_t bit = index * bits_;
        return load(bit / 8) >> bit % 8 & mask_;
    }
    void set(std::uint64_t index, std::uint64_t entry) {
        const std::uint64_t bit = index * bits_;
        std::uint64_t word = load(bit / 8) & ~(mask_ << bit % 8);
        word |= entry << bit % 8;
        std::memcpy(bytes_.data() + bit / 8, &word, sizeof(word));
    }
    std::uint64_t bytes() const { return bytes_.bytes(); }

   private:
    static_assert(std::endian::native == std::endian::little);

    std::uint64_t load(std::uint64_t byte) const {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes_.data() + byte, sizeof(word));
        return word;
    }

    unsigned bits_ = 1;
    std::uint64_t mask_ = 1;
    Buffer<std::uint8_t> bytes_;
};

/// The presynaptic side of the two tiers (Jordan et al. 2018): for each neuron of this process, the ranks that need its
/// spikes and what its rows are called there.
class PresynapticTable final : public comm::Destinations {
   public:
    void find(std::uint32_t shard, std::uint32_t local, Rank first, Rank last,
              std::vector<comm::Destination>& found) const override;
    std::vector<Rank> ranks() const override;
    std::uint32_t sources(std::uint32_t shard) const override { return parts_[shard].sources; }
    std::uint64_t address_limit() const override { return std::uint64_t{1} << address_bits_; }

    /// Entries of all sources.
    std::uint64_t size() const;
    std::uint64_t bytes() const;
    unsigned bits_per_entry() const { return entry_bits_; }

   private:
    friend class PresynapticTableBuilder;

    /// Of one shard.
    struct Part {
        std::uint32_t sources = 0;
        Buffer<std::uint64_t> begins;  ///< of the entries of each source; one more than there are sources
        PackedDestinations entries;    ///< ascending by rank, then address
    };
    std::uint64_t pack(Rank rank, std::uint64_t address) const {
        return static_cast<std::uint64_t>(rank.value) << address_bits_ | address;
    }

    std::int32_t ranks_ = 1;
    unsigned address_bits_ = 1;
    unsigned entry_bits_ = 1;
    std::vector<Part> parts_;
};

/// Builds the table from the postsynaptic side: every process tells those where its sources live what it calls them, in
/// rounds through buffers of bounded size, each of which all workers fill and empty together. The rounds are gone through
/// twice, first to count and then to store, so that nothing but the table is ever held.
class PresynapticTableBuilder {
   public:
    /// @param buffer_bytes what the buffers may take in all; at least one entry for each process is always sent
    /// @note Collective.
    PresynapticTableBuilder(const ProcessLayout& layout, const RowAddresses& addresses,
                            std::shared_ptr<comm::Communicator> communicator, std::uint64_t buffer_bytes,
                            parallel::Team& team);

    /// @param memory for what the table keeps of the worker's shard, which must outlive it
    /// @note Called by all workers of the team together, and on all processes.
    void build(std::uint32_t worker, std::pmr::memory_resource* memory = page_memory());
    std::shared_ptr<const PresynapticTable> finish() { return std::move(table_); }
    /// Rounds that each pass took.
    std::uint64_t rounds() const { return rounds_; }

   private:
    using Listed = RowAddresses::Entry;
    /// On its way: a source goes by its place on its process.
    struct Entry {
        std::uint64_t place;
        std::uint64_t address;
    };

    void pass(std::uint32_t worker, bool store);
    void collocate(std::uint32_t worker, std::uint64_t begin, std::uint64_t end);
    void take(std::uint32_t worker, bool store);

    const ProcessLayout& layout_;
    const RowAddresses& addresses_;
    std::shared_ptr<comm::Communicator> communicator_;
    parallel::Team& team_;
    std::shared_ptr<PresynapticTable> table_;
    std::uint64_t chunk_ = 1;  ///< candidates that are gone through in a round
    std::uint64_t chunks_ = 0;  ///< of the process that needs most
    std::uint64_t rounds_ = 0;
    comm::RecordExchange<Entry> exchange_;
    std::vector<Entry> packed_;
    std::vector<std::uint64_t> counts_;  ///< by rank
    /// By worker: what it has listed, and by worker and rank how many of them; later where the next one goes.
    std::vector<std::vector<Listed>> listed_;
    std::vector<std::vector<std::uint32_t>> listed_counts_;
    std::vector<std::vector<std::uint64_t>> cursors_;  ///< by shard and source
    bool more_ = false;
};

}  // namespace ranvier::connect
