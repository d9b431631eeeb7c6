#pragma once

#include <cstdint>

/// Hashes, equal on every machine.
namespace ranvier {

/// 2^64 divided by the golden ratio. The upper bits of its product with a number are a quick hash (Knuth 1973).
inline constexpr std::uint64_t golden_ratio = 0x9E37'79B9'7F4A'7C15;

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014): a bijection in which every input bit reaches every output bit.
constexpr std::uint64_t mix(std::uint64_t x) {
    x += golden_ratio;
    x = (x ^ (x >> 30)) * 0xBF58'476D'1CE4'E5B9;
    x = (x ^ (x >> 27)) * 0x94D0'49BB'1331'11EB;
    return x ^ (x >> 31);
}

/// The hash of a sequence of numbers: FNV-1a with 64-bit words and a stronger step. One step takes a third of the time
/// of mix(), which matters for lists of millions of connections.
class SequenceHash {
   public:
    constexpr void add(std::uint64_t value) {
        state_ = (state_ ^ value) * golden_ratio;
        state_ ^= state_ >> 29;
    }
    constexpr std::uint64_t value() const { return state_; }

   private:
    std::uint64_t state_ = 0xCBF2'9CE4'8422'2325;
};

}  // namespace ranvier
