#include "comm/exchange/destination_code.hpp"

#include <algorithm>
#include <cassert>

namespace ranvier::comm {

namespace {

constexpr unsigned word_bits = 64;

constexpr std::uint64_t bytes_of_bits(std::uint64_t bits) { return (bits + 7) / 8; }

std::uint64_t read_word(const std::uint8_t* bytes) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, sizeof(word));
    return word;
}

constexpr std::uint64_t lowest_bits = 0x0101'0101'0101'0101;   // of each byte
constexpr std::uint64_t highest_bits = 0x8080'8080'8080'8080;  // of each byte

/// Byte k: the number of ones in bytes 0 to k. The last one equals std::popcount(), which is a function call where the
/// target processor may lack the instruction.
std::uint64_t count_ones_by_byte(std::uint64_t word) {
    word -= word >> 1 & 0x5555'5555'5555'5555;
    word = (word & 0x3333'3333'3333'3333) + (word >> 2 & 0x3333'3333'3333'3333);
    word = (word + (word >> 4)) & 0x0F0F'0F0F'0F0F'0F0F;
    return word * lowest_bits;
}
std::uint64_t count_ones(std::uint64_t word) { return count_ones_by_byte(word) >> 56; }

/// The position of the n-th one, counted from 1 (Vigna 2008, "Broadword implementation of rank/select queries").
/// @pre there are at least n
unsigned place_of_one(std::uint64_t word, std::uint64_t n) {
    const std::uint64_t sums = count_ones_by_byte(word);
    const std::uint64_t enough = ((sums | highest_bits) - n * lowest_bits) & highest_bits;
    const auto shift = static_cast<unsigned>(std::countr_zero(enough)) / 8 * 8;
    assert(shift < word_bits);
    word >>= shift;
    for (n -= (sums << 8) >> shift & 0xFF; n > 1; --n) word &= word - 1;
    const unsigned place = shift + static_cast<unsigned>(std::countr_zero(word));
    assert(place < word_bits);
    return place;
}

/// Reads the bit string of the upper parts, one word at a time.
class UpperParts {
   public:
    /// @param size in bits @param ones, zeros number of them before the reading position; the string must not end there
    UpperParts(const std::uint8_t* bytes, std::uint64_t size, std::uint64_t ones, std::uint64_t zeros)
        : bytes_(bytes),
          size_(size),
          ones_(ones),
          zeros_(zeros),
          base_((ones + zeros) / word_bits * word_bits),
          unread_(~std::uint64_t{0} << (ones + zeros) % word_bits) {
        read();
    }

    /// The remaining ones of the current word.
    std::uint64_t word() const { return word_; }
    /// The start of the current word, in bits.
    std::uint64_t base() const { return base_; }
    /// Number of ones before word().
    std::uint64_t ones() const { return ones_; }

    /// @param ones before the next word
    void advance(std::uint64_t ones) {
        base_ += word_bits;
        ones_ = ones;
        zeros_ = base_ - ones;
        unread_ = ~std::uint64_t{0};
        read();
    }
    /// Skips bits until this many zeros have been passed. @return whether any of all ones follow
    bool pass_zeros(std::uint64_t zeros, std::uint64_t all_ones) {
        while (zeros_ < zeros) {
            const std::uint64_t gaps = ~word_ & unread_;
            if (count_ones(gaps) >= zeros - zeros_) {
                unread_ = ~std::uint64_t{0} << place_of_one(gaps, zeros - zeros_) << 1;
                ones_ += count_ones(word_ & ~unread_);
                zeros_ = zeros;
                word_ &= unread_;
                break;
            }
            const std::uint64_t ones = ones_ + count_ones(word_);
            if (ones == all_ones) return false;
            advance(ones);
        }
        return ones_ < all_ones;
    }
    /// Drops the ones of the current word after so many zeros. @return whether it contains that many
    bool cut(std::uint64_t zeros) {
        if (base_ + word_bits - ones_ < zeros) return false;
        const std::uint64_t gaps = ~word_ & unread_;
        if (count_ones(gaps) < zeros - zeros_) return false;
        word_ &= (std::uint64_t{1} << place_of_one(gaps, zeros - zeros_)) - 1;
        return true;
    }

   private:
    void read() {
        word_ = read_word(bytes_ + base_ / 8) & unread_;
        // The following bits belong to another source.
        if (size_ - base_ < word_bits) word_ &= (std::uint64_t{1} << (size_ - base_)) - 1;
    }

    const std::uint8_t* bytes_;
    std::uint64_t size_;
    std::uint64_t ones_;
    std::uint64_t zeros_;
    std::uint64_t base_;
    std::uint64_t unread_;  ///< unread bits of the word
    std::uint64_t word_ = 0;
};

/// A code begins with the number of destinations, seven bits a byte, the lowest first; the upper bit marks
/// continuation.
struct Head {
    std::uint64_t count = 0;
    unsigned bytes = 0;
};
Head read_head(const std::uint8_t* code) {
    Head head;
    std::uint8_t byte = 0;
    do {
        byte = code[head.bytes];
        head.count |= static_cast<std::uint64_t>(byte & 0x7F) << 7 * head.bytes;
        ++head.bytes;
    } while (byte >= 0x80);
    return head;
}
unsigned head_bytes(std::uint64_t count) { return (static_cast<unsigned>(std::bit_width(count)) + 6) / 7; }
std::uint8_t* write_head(std::uint64_t count, std::uint8_t* code) {
    for (; count >= 0x80; count >>= 7) *code++ = static_cast<std::uint8_t>(count | 0x80);
    *code++ = static_cast<std::uint8_t>(count);
    return code;
}

}  // namespace

/// Without a division, as every search begins here.
DestinationCode::Shape DestinationCode::shape(std::uint64_t count) const {
    const auto ranks = static_cast<std::uint64_t>(ranks_);
    const Shape plain{.low_bits = rank_bits_, .width = plain_bits(), .bytes = bytes_of_bits(count * plain_bits())};
    if (count == 0) return plain;
    const int magnitude = static_cast<int>(std::bit_width(ranks)) - static_cast<int>(std::bit_width(count));
    Shape coded{.plain = false};
    coded.low_bits = static_cast<unsigned>(std::max(0, magnitude));
    if (coded.low_bits > 0 && count << coded.low_bits > ranks) --coded.low_bits;
    coded.width = address_bits_ + coded.low_bits;
    // 16 to 64 destinations per item, and more where the directory would exceed a 32nd of the entries.
    coded.step_bits = static_cast<unsigned>(std::max(0, magnitude + 5));
    coded.item_bits = static_cast<unsigned>(std::bit_width(count));
    coded.items = coded.step_bits < rank_bits_ ? (ranks - 1) >> coded.step_bits : 0;
    while (coded.items * coded.item_bits * 32 > count * coded.width) {
        ++coded.step_bits;
        coded.items >>= 1;
    }
    coded.entries_offset = bytes_of_bits(coded.items * coded.item_bits);
    coded.upper_offset = coded.entries_offset + bytes_of_bits(count * coded.width);
    coded.bytes = coded.upper_offset + bytes_of_bits(count + ((ranks - 1) >> coded.low_bits));
    return coded.bytes < plain.bytes ? coded : plain;
}

std::uint64_t DestinationCode::bytes(std::uint64_t count) const {
    return count == 0 ? 0 : head_bytes(count) + shape(count).bytes;
}

void DestinationCode::encode(std::span<const std::uint64_t> packed, std::uint8_t* code) const {
    const std::uint64_t count = packed.size();
    const Shape coding = shape(count);
    std::uint8_t* const body = write_head(count, code);
    const std::uint64_t mask = (std::uint64_t{1} << coding.width) - 1;
    std::uint64_t item = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        write_packed(body + coding.entries_offset, i, coding.width, packed[i] & mask);
        if (coding.plain) continue;
        const std::uint64_t rank = packed[i] >> address_bits_;
        for (; item < coding.items && rank >= (item + 1) << coding.step_bits; ++item) {
            write_packed(body, item, coding.item_bits, i);
        }
        const std::uint64_t bit = (rank >> coding.low_bits) + i;
        std::uint8_t& byte = body[coding.upper_offset + bit / 8];
        byte = static_cast<std::uint8_t>(byte | 1U << bit % 8);
    }
    for (; item < coding.items; ++item) write_packed(body, item, coding.item_bits, count);
}

std::uint64_t DestinationCode::count(const std::uint8_t* code) { return read_head(code).count; }

void DestinationCode::find(const std::uint8_t* code, Rank first, Rank last, std::vector<Destination>& found) const {
    first = std::max(first, Rank{0});
    last = std::min(last, Rank{ranks_});
    if (first >= last) return;
    const Head head = read_head(code);
    const Shape coding = shape(head.count);
    const std::uint8_t* const body = code + head.bytes;
    if (coding.plain) {
        find_plain(body, head.count, first, last, found);
    } else {
        find_coded(body, coding, head.count, first, last, found);
    }
}

void DestinationCode::find_plain(const std::uint8_t* entries, std::uint64_t count, Rank first, Rank last,
                                 std::vector<Destination>& found) const {
    std::uint64_t begin = 0;
    if (first.value > 0) {
        const std::uint64_t least = pack({first, 0});
        std::uint64_t high = count;
        while (begin < high) {
            const std::uint64_t middle = (begin + high) / 2;
            if (read_packed(entries, middle, plain_bits()) < least) {
                begin = middle + 1;
            } else {
                high = middle;
            }
        }
    }
    const std::uint64_t mask = (std::uint64_t{1} << address_bits_) - 1;
    for (; begin < count; ++begin) {
        const std::uint64_t entry = read_packed(entries, begin, plain_bits());
        const Rank rank{static_cast<std::int32_t>(entry >> address_bits_)};
        if (rank >= last) break;
        found.push_back({rank, entry & mask});
    }
}

void DestinationCode::find_coded(const std::uint8_t* body, const Shape& coding, std::uint64_t count, Rank first,
                                 Rank last, std::vector<Destination>& found) const {
    // Local copies, which cannot alias the output.
    const unsigned width = coding.width;
    const unsigned low_bits = coding.low_bits;
    const unsigned address_bits = address_bits_;
    const std::uint64_t low_mask = (std::uint64_t{1} << low_bits) - 1;
    const std::uint64_t address_mask = (std::uint64_t{1} << address_bits) - 1;
    const std::uint8_t* const entries = body + coding.entries_offset;
    const auto begin = static_cast<std::uint64_t>(first.value);
    const std::uint64_t end_upper = (static_cast<std::uint64_t>(last.value - 1) >> low_bits) + 1;

    // Destination i is the first one after those counted by the item below `begin`.
    const std::uint64_t item = std::min(begin >> coding.step_bits, coding.items);
    std::uint64_t i = item == 0 ? 0 : read_packed(body, item - 1, coding.item_bits);
    if (i == count) return;
    __builtin_prefetch(entries + i * width / 8);
    UpperParts parts(body + coding.upper_offset, count + (static_cast<std::uint64_t>(ranks_ - 1) >> low_bits), i,
                     item << (coding.step_bits - low_bits));
    if (!parts.pass_zeros(begin >> low_bits, count)) return;
    i = parts.ones();

    std::uint64_t bit = i * width;
    for (bool more = true; more;) {
        // Process several words at a time, to check the capacity of `found` less often. Only upper parts are compared
        // with the limits of the ranks, once a word: excess destinations at the ends are dropped afterwards.
        Destination some[4 * word_bits];
        Destination* to = some;  // NOLINT(misc-const-correctness): the check overlooks writes through it
        do {
            more = !parts.cut(end_upper);
            std::uint64_t zeros = parts.base() - i;
            for (std::uint64_t word = parts.word(); word != 0; word &= word - 1) {
                const std::uint64_t entry = read_word(entries + bit / 8) >> bit % 8;
                const std::uint64_t upper = zeros-- + static_cast<std::uint64_t>(std::countr_zero(word));
                const std::uint64_t rank = upper << low_bits | (entry >> address_bits & low_mask);
                *to++ = {Rank{static_cast<std::int32_t>(rank)}, entry & address_mask};
                bit += width;
            }
            i = parts.base() - zeros;
            more = more && i < count;
            if (more) parts.advance(i);
        } while (more && to <= some + 3 * word_bits);
        const Destination* from = some;
        while (from != to && from->rank < first) ++from;
        while (from != to && (to - 1)->rank >= last) --to;
        found.insert(found.end(), from, static_cast<const Destination*>(to));
    }
}

}  // namespace ranvier::comm
