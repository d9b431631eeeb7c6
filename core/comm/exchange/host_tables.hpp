#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/packed_numbers.hpp"
#include "comm/exchange/destination_code.hpp"
#include "ranvier/base/buffer.hpp"
#include "ranvier/comm/communicator.hpp"
#include "ranvier/comm/exchange/exchange.hpp"

namespace ranvier::comm {

/// The number of processes of a host that act as a host, as Communicator::group_by_host() takes it.
/// @throws ValueOutOfBoundsError when a host has fewer, or a dry run
std::int32_t checked_host_ranks(const Communicator& communicator, std::uint32_t host_ranks);

/// Groups of processes that share memory, as an exchange sees them.
struct HostDivision {
    /// @param most processes of a group; see Communicator::group_by_host() @note Collective.
    HostDivision(Communicator& communicator, std::int32_t most);

    /// Whether this process is the leader of its group.
    bool leads() const { return groups.leaders != nullptr; }
    Communicator& members() const { return *groups.members; }
    Communicator& leaders() const { return *groups.leaders; }

    HostGroups groups;
    std::int32_t hosts = 1;  ///< number of groups
    std::int32_t here = 0;   ///< the group of this process
};

/// The hosts that need the spikes of each source of this process, and the number of the source among those of this host
/// that each of them needs: what is sent instead of an address.
class HostDestinations final : public Destinations {
   public:
    /// A "rank" is a host here, and an address a number of a source.
    void find(std::uint32_t shard, std::uint32_t local, Rank first, Rank last,
              std::vector<Destination>& found) const override;
    std::vector<Rank> ranks() const override;
    std::uint32_t sources(std::uint32_t shard) const override {
        return static_cast<std::uint32_t>(shards_[shard].codes.size());
    }
    std::uint64_t address_limit() const override { return code_.address_limit(); }

    /// Number of addresses of a source on all processes.
    std::uint32_t addresses(std::uint32_t shard, std::uint32_t local) const { return shards_[shard].addresses[local]; }
    /// Number of hosts of all sources together.
    std::uint64_t size() const { return size_; }
    std::uint64_t bytes() const;

   private:
    friend class HostTablesBuilder;

    struct Shard {
        std::vector<std::uint64_t> codes;  ///< where the code of each source begins; `none` without destinations
        std::vector<std::uint32_t> addresses;
        Buffer<std::uint8_t> code;
    };
    static constexpr std::uint64_t none = ~std::uint64_t{0};

    DestinationCode code_;
    std::int32_t hosts_ = 1;
    std::uint64_t size_ = 0;
    std::vector<Shard> shards_;
};

/// The addresses on this process of each source of other processes that its host needs: a bit for each source of the
/// host says whether there are any, and their addresses are stored in that order.
class HostRows {
   public:
    HostRows() = default;
    /// @param entries rows in the upper bits, addresses in the lower ones, in any order; sorted afterwards
    HostRows(std::uint64_t rows, unsigned address_bits, std::vector<std::uint64_t>& entries);

    /// Calls visit(address) for each address of a row.
    template <class Visit>
    void for_each(std::uint64_t row, const Visit& visit) const {
        const std::uint64_t word = row / 64;
        const std::uint64_t bit = std::uint64_t{1} << row % 64;
        if ((marked_[word] & bit) == 0) return;
        std::uint64_t index = before_[word / words_per_count];
        for (std::uint64_t i = word / words_per_count * words_per_count; i < word; ++i) index += popcount(marked_[i]);
        index += popcount(marked_[word] & (bit - 1));
        std::uint64_t first = index;
        std::uint64_t last = index + 1;
        if (!firsts_.empty()) {
            first = read_packed(firsts_.data(), index, first_bits_);
            last = read_packed(firsts_.data(), index + 1, first_bits_);
        }
        for (; first < last; ++first) visit(read_packed(addresses_.data(), first, address_bits_));
    }

    std::uint64_t bytes() const;

   private:
    static constexpr std::uint64_t words_per_count = 4;
    static std::uint64_t popcount(std::uint64_t word) { return static_cast<std::uint64_t>(std::popcount(word)); }

    std::vector<std::uint64_t> marked_;  ///< bits, by row
    std::vector<std::uint64_t> before_;  ///< marked rows before every fourth word
    Buffer<std::uint8_t> firsts_;        ///< of the addresses of each marked row; empty if all have one
    Buffer<std::uint8_t> addresses_;
    unsigned first_bits_ = 1;
    unsigned address_bits_ = 1;
};

/// What a process knows of the spikes that travel between hosts.
struct HostTables {
    std::shared_ptr<const HostDestinations> destinations;
    HostRows rows;
    /// The row of the first source of each host; those of one host follow each other, in the order of their numbers.
    std::vector<std::uint64_t> first_rows;
    /// Number of sources of this process that each host needs. Only in a dry run, in which the others have as many.
    std::vector<std::uint64_t> sources_for;
};

/// Builds the tables from the destinations of all sources, in bounded buffers.
/// @note Collective.
HostTables build_host_tables(Communicator& communicator, const HostDivision& division, const Destinations& destinations,
                             const ExchangeOptions& options);

}  // namespace ranvier::comm
