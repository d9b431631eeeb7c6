#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "ranvier/base/instruction_set.hpp"
#include "ranvier/base/open_unit.hpp"

namespace ranvier {

/// The use of a random number. Part of every key, so that no two uses share a number.
enum class Purpose : std::uint32_t {
    partner = 1,        ///< sources or targets of a connection rule
    degree,             ///< numbers of synapses of a connection rule
    weight,             ///< weights of a projection
    delay,              ///< delays of a projection
    parameter,          ///< parameters and initial state of neurons
    poisson,            ///< Poisson input
    noise,              ///< noise current
    stimulus_weight,    ///< weights of a stimulus
    test,               ///< for tests only
    neuron,             ///< random numbers of the running neurons of a population
    placement,          ///< distribution of neurons over processes
    invented_spikes,    ///< artificial spikes of neurons in dry runs
    release,            ///< random numbers of synapses at a spike
    synapse_parameter,  ///< per-synapse parameters
    site,               ///< sites of the targets of a projection
    stimulus_site,      ///< sites of the targets of a stimulus
    position,           ///< positions of the neurons of a population
    rotation,           ///< rotations of the cells of a population
    expression,         ///< random numbers of expressions
};

/// Key of a family of random numbers: the seed of the network, a purpose, and the object of that purpose (projection,
/// stimulus, or population and parameter).
struct RandomKey {
    std::uint32_t low = 0;
    std::uint32_t high = 0;
};

/// Mixes (seed, purpose, object) into a key. Different triples give unrelated keys.
RandomKey make_key(std::uint64_t seed, Purpose purpose, std::uint64_t object);

/// Philox4x32-10, the counter-based generator of Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011).
RANVIER_ALWAYS_INLINE std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, RandomKey key) {
    std::uint32_t k0 = key.low;
    std::uint32_t k1 = key.high;
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t product0 = std::uint64_t{0xD2511F53} * counter[0];
        const std::uint64_t product1 = std::uint64_t{0xCD9E8D57} * counter[2];
        counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ k0, static_cast<std::uint32_t>(product1),
                   static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ k1, static_cast<std::uint32_t>(product0)};
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
    }
    return counter;
}

/// The random numbers of one object, for example one target neuron of one projection. Word i of the stream is a
/// function of (key, stream, i) alone, so that any part can be drawn anywhere, in any order.
///
/// `attempt` separates the numbers of a redraw from those of the first try.
struct RandomStream {
    RandomKey key;
    std::uint64_t stream = 0;
    std::uint32_t attempt = 0;

    /// Block i: words 4i to 4i + 3.
    std::array<std::uint32_t, 4> block(std::uint32_t index) const {
        return philox({index, attempt, static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32)},
                      key);
    }
    std::uint32_t word32(std::uint32_t index) const { return block(index / 4)[index % 4]; }
    /// 64-bit word i: 32-bit words 2i (low) and 2i + 1 (high).
    std::uint64_t word64(std::uint32_t index) const {
        const auto words = block(index / 2);
        const std::size_t first = (index % 2) * 2;
        return words[first] | std::uint64_t{words[first + 1]} << 32;
    }
    /// 32-bit words [first, first + count), vectorised.
    void fill(InstructionSet set, std::uint32_t first, std::size_t count, std::uint32_t* out) const;
};

/// Blocks of many streams of one key at once, vectorised: out[4 i] to out[4 i + 3] are block blocks[i] of streams[i].
/// For streams of a few numbers each.
void fill_blocks(InstructionSet set, RandomKey key, std::uint32_t attempt, std::span<const std::uint64_t> streams,
                 std::span<const std::uint32_t> blocks, std::uint32_t* out);

/// A sequential reader of a stream, for algorithms with a number of draws that is not known in advance (rejection). The
/// numbers depend only on the stream and the first block.
class SequentialRandom {
   public:
    /// Reads from word 4 * first_block on.
    explicit SequentialRandom(RandomStream stream, std::uint32_t first_block = 0)
        : stream_(stream), next_block_(first_block) {}

    std::uint32_t next32() {
        if (used_ == 4) {
            words_ = stream_.block(next_block_++);
            used_ = 0;
        }
        return words_[used_++];
    }
    std::uint64_t next64() {
        const std::uint64_t low = next32();
        return low | std::uint64_t{next32()} << 32;
    }
    double next_unit() { return to_open_unit(next64()); }
    /// Uniform in [0, bound), without bias (Lemire 2019). bound >= 1.
    std::uint64_t next_below(std::uint64_t bound);

   private:
    RandomStream stream_;
    std::array<std::uint32_t, 4> words_{};
    std::uint32_t next_block_;
    std::uint32_t used_ = 4;
};

}  // namespace ranvier
