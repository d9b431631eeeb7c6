#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "base/packed_numbers.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/comm/exchange/exchange.hpp"

namespace ranvier::comm {

/// Encoding of the destinations (rank, address) of one source, sorted: ranks by the code of Elias and Fano, so that
/// they take hardly more bits on more ranks, and addresses unchanged.
///
/// With n destinations on U ranks, the lower l = floor(log2(U / n)) bits of each rank are stored with its address, as n
/// numbers of equal length. A bit string encodes the upper parts: their increments as zeros, each followed by a one: n
/// ones and at most U / 2^l zeros. That is l + 2 to l + 3 bits for a rank. With many destinations, a directory holds
/// the number of them below each multiple of 2^s ranks, so that a part of the ranks is found at once: the position in
/// the bit string follows, as it is the number of ones and zeros before. With too few destinations for this to save
/// memory, ranks are stored unencoded.
///
/// P. Elias, "Efficient storage and retrieval by content and address of static files", Journal of the ACM 21 (1974).
/// R. M. Fano, "On the number of bits required to implement an associative memory", MIT Project MAC, Memo 61 (1971).
/// S. Vigna, "Quasi-succinct indices", Web Search and Data Mining (2013), whose pointers to zeros the directory is like.
class DestinationCode {
   public:
    /// Bytes after the code of a source that must be readable, and writable for encode(); their contents are arbitrary.
    static constexpr std::uint64_t padding = sizeof(std::uint64_t);

    DestinationCode() = default;
    /// @pre addresses and ranks need at most most_packed_bits bits together
    DestinationCode(std::int32_t ranks, unsigned address_bits)
        : ranks_(ranks),
          address_bits_(address_bits),
          rank_bits_(static_cast<unsigned>(std::bit_width(static_cast<std::uint32_t>(ranks - 1)))) {}

    /// Bits of a destination without encoding.
    unsigned plain_bits() const { return address_bits_ + rank_bits_; }
    /// Upper limit (exclusive) of addresses.
    std::uint64_t address_limit() const { return std::uint64_t{1} << address_bits_; }
    /// A number of plain_bits() bits that sorts as destinations do.
    std::uint64_t pack(Destination destination) const {
        return static_cast<std::uint64_t>(destination.rank.value) << address_bits_ | destination.address;
    }

    /// Bytes of a source with this many destinations, regardless of their ranks; 0 for none, which have no code.
    std::uint64_t bytes(std::uint64_t count) const;
    /// @param packed destinations, ascending, at least one
    /// @param code bytes(packed.size()) zeros
    void encode(std::span<const std::uint64_t> packed, std::uint8_t* code) const;

    /// Number of destinations.
    static std::uint64_t count(const std::uint8_t* code);
    /// Appends the destinations on ranks [first, last), ascending.
    void find(const std::uint8_t* code, Rank first, Rank last, std::vector<Destination>& found) const;

   private:
    /// Encoding of this many destinations. Offsets are in bytes.
    struct Shape {
        bool plain = true;
        unsigned low_bits = 0;   ///< of a rank, stored with the address
        unsigned width = 0;      ///< bits of such an entry
        unsigned step_bits = 0;  ///< the directory has an entry for each multiple of 2^step_bits ranks except 0
        unsigned item_bits = 0;
        std::uint64_t items = 0;
        std::uint64_t entries_offset = 0;
        std::uint64_t upper_offset = 0;
        std::uint64_t bytes = 0;
    };
    Shape shape(std::uint64_t count) const;
    void find_plain(const std::uint8_t* entries, std::uint64_t count, Rank first, Rank last,
                    std::vector<Destination>& found) const;
    void find_coded(const std::uint8_t* body, const Shape& shape, std::uint64_t count, Rank first, Rank last,
                    std::vector<Destination>& found) const;

    std::int32_t ranks_ = 1;
    unsigned address_bits_ = 1;
    unsigned rank_bits_ = 0;
};

}  // namespace ranvier::comm
