#pragma once

#include "device/kernel/machine.hpp"

namespace ranvier::device {

/// A static synapse of a row.
struct alignas(8) Synapse {
    u32 cell = 0;  ///< Receptor::cell()
    float weight = 0.0F;
};

/// The synapses of a source in a block.
struct Row {
    u32 begin = 0;
    u32 count = 0;
};

/// Where the rows of a block are. An entry of 32 bytes, which is read at once, has the begin of the first one of its rows and
/// the lengths of all: 28 of 8 bits, or 14 of 16. So tables of all blocks stay in the second cache.
struct RowTable {
    static constexpr u32 entry_words = 8;
    static constexpr u32 length_words = 7;

    const u32* words = nullptr;
    u32 length_bits = 8;  ///< 0: the words are the begins of the rows, and the end of the last one, of 64 bits

    RANVIER_DEVICE Row find(u32 row) const {
        if (length_bits == 0) {
            const u64* const begin = reinterpret_cast<const u64*>(words) + row;
            return {static_cast<u32>(begin[0]), static_cast<u32>(begin[1] - begin[0])};
        }
        return length_bits == 8 ? find_entry<8>(row) : find_entry<16>(row);
    }

   private:
    template <u32 bits>
    RANVIER_DEVICE Row find_entry(u32 row) const {
        constexpr u32 of_word = 32 / bits;
        constexpr u32 of_entry = length_words * of_word;
        constexpr u32 longest = bits == 8 ? 0xFF : 0xFFFF;
        u32 entry[entry_words];
        read_words(words + u64{row / of_entry} * entry_words, entry);
        const u32 within = row % of_entry;
        Row found{entry[0], 0};
        RANVIER_UNROLL
        for (u32 w = 0; w < length_words; ++w) {
            const u32 first = w * of_word;
            const u32 lengths = entry[w + 1];
            if (within >= first + of_word) {
                found.begin += sum_of<bits>(lengths);
            } else if (within >= first) {
                const u32 shift = (within - first) * bits;
                found.begin += sum_of<bits>(lengths & ((1U << shift) - 1U));
                found.count = lengths >> shift & longest;
            }
        }
        return found;
    }

    template <u32 bits>
    RANVIER_DEVICE static u32 sum_of(u32 lengths) {
        if constexpr (bits == 8) return sum_of_bytes(lengths);
        return (lengths & 0xFFFF) + (lengths >> 16);
    }
};

}  // namespace ranvier::device
