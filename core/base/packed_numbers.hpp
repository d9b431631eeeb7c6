#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ranvier {

static_assert(std::endian::native == std::endian::little);

/// Numbers of up to so many bits can be packed without gaps: each is read from a word that starts at a byte boundary.
inline constexpr unsigned most_packed_bits = 57;

/// Reads number `index` of those with `bits` bits each. @pre the whole word at its start is readable
inline std::uint64_t read_packed(const std::uint8_t* numbers, std::uint64_t index, unsigned bits) {
    const std::uint64_t bit = index * bits;
    std::uint64_t word = 0;
    std::memcpy(&word, numbers + bit / 8, sizeof(word));
    return word >> bit % 8 & ((std::uint64_t{1} << bits) - 1);
}
/// @pre the whole word at its start is readable and writable, and no other thread writes to it
inline void write_packed(std::uint8_t* numbers, std::uint64_t index, unsigned bits, std::uint64_t number) {
    const std::uint64_t bit = index * bits;
    std::uint64_t word = 0;
    std::memcpy(&word, numbers + bit / 8, sizeof(word));
    word &= ~(((std::uint64_t{1} << bits) - 1) << bit % 8);
    word |= number << bit % 8;
    std::memcpy(numbers + bit / 8, &word, sizeof(word));
}
/// Bytes of so many numbers, with what read_packed() and write_packed() access behind the last one.
constexpr std::size_t packed_bytes(std::uint64_t count, unsigned bits) {
    return static_cast<std::size_t>((count * bits + 7) / 8 + sizeof(std::uint64_t));
}

}  // namespace ranvier
