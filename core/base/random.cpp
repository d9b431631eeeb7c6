#include "ranvier/base/random.hpp"

#include <algorithm>

#include "base/philox_lanes.hpp"
#include "ranvier/base/hash.hpp"

namespace ranvier {

namespace {

/// Consecutive blocks of one stream.
struct FillBlocks {
    static constexpr std::size_t blocks = philox_lanes::count;

    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static void run(RandomKey key, std::uint32_t attempt, std::uint64_t stream,
                                          std::uint32_t first_block, std::uint32_t* out) {
        alignas(64) std::uint64_t c0[blocks], c1[blocks], c2[blocks], c3[blocks];
        for (std::size_t i = 0; i < blocks; ++i) {
            c0[i] = first_block + static_cast<std::uint32_t>(i);
            c1[i] = attempt;
            c2[i] = stream;
            c3[i] = stream >> 32;
        }
        alignas(64) std::uint64_t first[blocks], second[blocks], pairs[2 * blocks];
        philox_lanes::run<set>(key, c0, c1, c2, c3, first, second);
        for (std::size_t i = 0; i < blocks; ++i) {
            pairs[2 * i] = first[i];
            pairs[2 * i + 1] = second[i];
        }
        __builtin_memcpy(out, pairs, sizeof pairs);
    }
};

}  // namespace

RandomKey make_key(std::uint64_t seed, Purpose purpose, std::uint64_t object) {
    const std::uint64_t mixed = mix(mix(mix(seed) ^ static_cast<std::uint64_t>(purpose)) ^ object);
    return {static_cast<std::uint32_t>(mixed), static_cast<std::uint32_t>(mixed >> 32)};
}

void RandomStream::fill(InstructionSet set, std::uint32_t first, std::size_t count, std::uint32_t* out) const {
    constexpr std::size_t batch = FillBlocks::blocks * 4;
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
            // For a few words, single blocks are cheaper.
            if (wanted <= 24) {
                for (std::size_t i = 0; i < wanted; ++i) {
                    out[done + i] = word32(block_index * 4 + static_cast<std::uint32_t>(skip + i));
                }
            } else {
                Dispatched<FillBlocks>::call(set, key, attempt, stream, block_index,
                                             static_cast<std::uint32_t*>(words));
                std::copy_n(words + skip, wanted, out + done);
            }
            done += wanted;
            skip = 0;
        }
        block_index += FillBlocks::blocks;
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
