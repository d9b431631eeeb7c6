#include <algorithm>

#include "base/philox_lanes.hpp"
#include "ranvier/base/random.hpp"

namespace ranvier {

namespace {

/// Blocks of different streams.
struct FillLanes {
    static constexpr std::size_t lanes = philox_lanes::count;

    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static void run(RandomKey key, std::uint32_t attempt, const std::uint64_t* streams,
                                          const std::uint32_t* blocks, std::uint32_t* out) {
        alignas(64) std::uint64_t c0[lanes], c1[lanes], c2[lanes], c3[lanes];
        for (std::size_t i = 0; i < lanes; ++i) {
            c0[i] = blocks[i];
            c1[i] = attempt;
            c2[i] = streams[i];
            c3[i] = streams[i] >> 32;
        }
        alignas(64) std::uint64_t first[lanes], second[lanes], pairs[2 * lanes];
        philox_lanes::run<set>(key, c0, c1, c2, c3, first, second);
        for (std::size_t i = 0; i < lanes; ++i) {
            pairs[2 * i] = first[i];
            pairs[2 * i + 1] = second[i];
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
    if (rest > 4) {
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
