#include <algorithm>

#include "base/random.hpp"

namespace ranvier {

namespace {

/// Ten rounds of Philox on blocks side by side. A word lives in the lower half of a 64-bit lane: that is where the
/// widening multiplication wants it, and spares the shuffles that arrays of 32-bit words would need.
struct FillLanes {
    static constexpr std::size_t lanes = 16;

    RANVIER_ALWAYS_INLINE static void run(RandomKey key, std::uint32_t attempt, const std::uint64_t* __restrict streams,
                                          const std::uint32_t* __restrict blocks, std::uint32_t* __restrict out) {
        std::uint64_t c0[lanes], c1[lanes], c2[lanes], c3[lanes];
        for (std::size_t i = 0; i < lanes; ++i) {
            c0[i] = blocks[i];
            c1[i] = attempt;
            c2[i] = static_cast<std::uint32_t>(streams[i]);
            c3[i] = streams[i] >> 32;
        }
        std::uint64_t k0 = key.low;
        std::uint64_t k1 = key.high;
        // Unrolled, so that the lanes stay in registers from round to round.
#pragma GCC unroll 10
        for (int round = 0; round < 10; ++round) {
            for (std::size_t i = 0; i < lanes; ++i) {
                const std::uint64_t product0 = std::uint64_t{0xD2511F53} * static_cast<std::uint32_t>(c0[i]);
                const std::uint64_t product1 = std::uint64_t{0xCD9E8D57} * static_cast<std::uint32_t>(c2[i]);
                c0[i] = (product1 >> 32) ^ c1[i] ^ k0;
                c2[i] = (product0 >> 32) ^ c3[i] ^ k1;
                c1[i] = static_cast<std::uint32_t>(product1);
                c3[i] = static_cast<std::uint32_t>(product0);
            }
            k0 = static_cast<std::uint32_t>(k0 + 0x9E3779B9);
            k1 = static_cast<std::uint32_t>(k1 + 0xBB67AE85);
        }
        std::uint64_t pairs[2 * lanes];
        for (std::size_t i = 0; i < lanes; ++i) {
            pairs[2 * i] = c0[i] | c1[i] << 32;
            pairs[2 * i + 1] = c2[i] | c3[i] << 32;
        }
        __builtin_memcpy(out, pairs, sizeof pairs);
    }
};

}  // namespace

void fill_blocks(InstructionSet set, RandomKey key, std::uint32_t attempt, std::span<const std::uint64_t> streams,
                 std::span<const std::uint32_t> blocks, std::uint32_t* out) {
    constexpr std::size_t lanes = FillLanes::lanes;
    const std::size_t whole = blocks.size() / lanes * lanes;
    for (std::size_t i = 0; i < whole; i += lanes) {
        Dispatched<FillLanes>::call(set, key, attempt, streams.data() + i, blocks.data() + i, out + 4 * i);
    }
    const std::size_t rest = blocks.size() - whole;
    if (rest > 2) {
        std::uint64_t last_streams[lanes]{};
        std::uint32_t last_blocks[lanes]{};
        std::uint32_t words[4 * lanes];
        std::copy_n(streams.data() + whole, rest, last_streams);
        std::copy_n(blocks.data() + whole, rest, last_blocks);
        Dispatched<FillLanes>::call(set, key, attempt, static_cast<const std::uint64_t*>(last_streams),
                                    static_cast<const std::uint32_t*>(last_blocks), static_cast<std::uint32_t*>(words));
        std::copy_n(words, 4 * rest, out + 4 * whole);
        return;
    }
    for (std::size_t i = whole; i < blocks.size(); ++i) {
        const auto words = RandomStream{key, streams[i], attempt}.block(blocks[i]);
        std::copy_n(words.data(), 4, out + 4 * i);
    }
}

}  // namespace ranvier
