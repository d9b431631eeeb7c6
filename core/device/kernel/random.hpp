#pragma once

#include "device/kernel/machine.hpp"

/// Random numbers of base/random.hpp on devices, and values of targets.
namespace ranvier::device {

/// One value for all targets of a signal, or one for each.
template <class Value>
struct PerTarget {
    const Value* values = nullptr;
    u32 varies = 0;

    RANVIER_DEVICE Value at(u32 target) const { return values[varies != 0 ? target : 0]; }
};

struct Words {
    u32 values[4];
};

/// Philox4x32-10 of Salmon et al. (2011).
RANVIER_DEVICE Words philox(u32 c0, u32 c1, u32 c2, u32 c3, u32 k0, u32 k1) {
    for (u32 round = 0; round < 10; ++round) {
        const u64 product0 = u64{0xD2511F53} * c0;
        const u64 product1 = u64{0xCD9E8D57} * c2;
        c0 = static_cast<u32>(product1 >> 32) ^ c1 ^ k0;
        c2 = static_cast<u32>(product0 >> 32) ^ c3 ^ k1;
        c1 = static_cast<u32>(product1);
        c3 = static_cast<u32>(product0);
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
    }
    return {{c0, c1, c2, c3}};
}

/// As ranvier::mix().
RANVIER_DEVICE u64 mix_bits(u64 z) {
    z += 0x9E3779B97F4A7C15ULL;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

/// As ranvier::to_open_unit(): whole numbers below 2^52 are exact, and so are these sums.
RANVIER_DEVICE double open_unit(u64 word) { return static_cast<double>(word >> 12) * 0x1p-52 + 0x1p-53; }

/// As ranvier::RandomStream::block(), whose attempt has the upper bits of the index here.
RANVIER_DEVICE Words stream_block(u32 key_low, u32 key_high, u64 stream, u64 index) {
    return philox(static_cast<u32>(index), static_cast<u32>(index >> 32), static_cast<u32>(stream),
                  static_cast<u32>(stream >> 32), key_low, key_high);
}

/// The first or second word of 64 bits of a block.
RANVIER_DEVICE u64 word64(const Words& words, bool is_second) {
    return is_second ? words.values[2] | u64{words.values[3]} << 32 : words.values[0] | u64{words.values[1]} << 32;
}

/// As models::program_draw().
/// @param is_single whether only one of the pair of indices is drawn
RANVIER_DEVICE u64 draw_word(u32 key_low, u32 key_high, u64 id, i64 step, u32 index, bool is_single) {
    const u64 turn = static_cast<u64>(step) >> (is_single ? 1 : 0);
    const u32 attempt = static_cast<u32>(turn >> 32) * 128 + index / 2;
    const Words words = stream_block(key_low, key_high, id, static_cast<u32>(turn) | u64{attempt} << 32);
    return word64(words, (is_single ? step % 2 : index % 2) != 0);
}

}  // namespace ranvier::device
