#include "base/random.hpp"

#include <algorithm>

namespace ranvier {

namespace {

std::uint64_t mix(std::uint64_t x) {
    // Finaliser of SplitMix64 (Steele, Lea and Flood 2014): a bijection in which every input bit reaches every output bit.
    x += 0x9E3779B97F4A7C15;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    return x ^ (x >> 31);
}

/// Blocks are computed side by side in structures of arrays, so that the compiler turns each line of the round into
/// vector instructions.
struct FillBlocks {
    static constexpr std::size_t lanes = 16;

    RANVIER_ALWAYS_INLINE static void run(RandomKey key, std::uint32_t attempt, std::uint64_t stream,
                                          std::uint32_t first_block, std::uint32_t* __restrict out) {
        std::uint32_t c0[lanes], c1[lanes], c2[lanes], c3[lanes];
        for (std::size_t i = 0; i < lanes; ++i) {
            c0[i] = first_block + static_cast<std::uint32_t>(i);
            c1[i] = attempt;
            c2[i] = static_cast<std::uint32_t>(stream);
            c3[i] = static_cast<std::uint32_t>(stream >> 32);
        }
        std::uint32_t k0 = key.low;
        std::uint32_t k1 = key.high;
        for (int round = 0; round < 10; ++round) {
            for (std::size_t i = 0; i < lanes; ++i) {
                const std::uint64_t product0 = std::uint64_t{0xD2511F53} * c0[i];
                const std::uint64_t product1 = std::uint64_t{0xCD9E8D57} * c2[i];
                c0[i] = static_cast<std::uint32_t>(product1 >> 32) ^ c1[i] ^ k0;
                c2[i] = static_cast<std::uint32_t>(product0 >> 32) ^ c3[i] ^ k1;
                c1[i] = static_cast<std::uint32_t>(product1);
                c3[i] = static_cast<std::uint32_t>(product0);
            }
            k0 += 0x9E3779B9;
            k1 += 0xBB67AE85;
        }
        for (std::size_t i = 0; i < lanes; ++i) {
            out[4 * i] = c0[i];
            out[4 * i + 1] = c1[i];
            out[4 * i + 2] = c2[i];
            out[4 * i + 3] = c3[i];
        }
    }
};

}  // namespace

RandomKey make_key(std::uint64_t seed, Purpose purpose, std::uint64_t object) {
    const std::uint64_t mixed = mix(mix(mix(seed) ^ static_cast<std::uint64_t>(purpose)) ^ object);
    return {static_cast<std::uint32_t>(mixed), static_cast<std::uint32_t>(mixed >> 32)};
}

void RandomStream::fill(InstructionSet set, std::uint32_t first, std::size_t count, std::uint32_t* out) const {
    constexpr std::size_t batch = FillBlocks::lanes * 4;
    std::uint32_t words[batch];
    std::uint32_t block_index = first / 4;
    std::size_t skip = first % 4;
    std::size_t done = 0;
    while (done < count) {
        if (skip == 0 && count - done >= batch) {
            Dispatched<FillBlocks>::call(set, key, attempt, stream, block_index, out + done);
            done += batch;
        } else {
            const std::size_t wanted = std::min(batch - skip, count - done);
            if (wanted <= 8) {
                for (std::size_t i = 0; i < wanted; ++i) {
                    out[done + i] = word32(block_index * 4 + static_cast<std::uint32_t>(skip + i));
                }
            } else {
                Dispatched<FillBlocks>::call(set, key, attempt, stream, block_index, static_cast<std::uint32_t*>(words));
                std::copy_n(words + skip, wanted, out + done);
            }
            done += wanted;
            skip = 0;
        }
        block_index += FillBlocks::lanes;
    }
}

std::uint64_t SequentialRandom::next_below(std::uint64_t bound) {
    __extension__ using Wide = unsigned __int128;
    Wide product = static_cast<Wide>(next64()) * bound;
    auto low = static_cast<std::uint64_t>(product);
    if (low < bound) {
        const std::uint64_t threshold = (0 - bound) % bound;
        while (low < threshold) {
            product = static_cast<Wide>(next64()) * bound;
            low = static_cast<std::uint64_t>(product);
        }
    }
    return static_cast<std::uint64_t>(product >> 64);
}

}  // namespace ranvier
