#pragma once

#include "base/binomial.hpp"
#include "device/kernel/random.hpp"

/// The random numbers that a synapse draws at a spike: those of connect/plasticity/random_release_table.hpp.
namespace ranvier::device {

/// Reads a stream word after word, as ranvier::SequentialRandom.
class StreamReader {
   public:
    RANVIER_DEVICE StreamReader(u64 key, u64 stream, u32 attempt, u32 first_block)
        : key_(key), stream_(stream), attempt_(attempt), next_block_(first_block) {}

    RANVIER_DEVICE double next_unit() {
        // Two numbers of 64 bits in a block.
        if (!has_second_) {
            words_ = philox(next_block_++, attempt_, static_cast<u32>(stream_), static_cast<u32>(stream_ >> 32),
                            static_cast<u32>(key_), static_cast<u32>(key_ >> 32));
        }
        const u64 word = word64(words_, has_second_);
        has_second_ = !has_second_;
        return open_unit(word);
    }

   private:
    u64 key_;
    u64 stream_;
    u32 attempt_;
    u32 next_block_;
    bool has_second_ = false;
    Words words_ = {};
};

/// As ranvier::draw_binomial(), where so many are expected.
RANVIER_DEVICE_CALL u64 draw_many(StreamReader random, u32 trials, double probability) {
    return sampling::binomial_by_rejection(random, static_cast<double>(trials), probability);
}

struct SynapseDraws {
    u64 key = 0;     ///< of the source and the step
    u64 stream = 0;  ///< of the target
    u32 attempt = 0;
    u32 block = 0;  ///< the first one of the synapse
    Words words = {};

    RANVIER_DEVICE static SynapseDraws begin(u64 key, u64 stream, u32 attempt, u32 block) {
        return {key, stream, attempt, block,
                philox(block, attempt, static_cast<u32>(stream), static_cast<u32>(stream >> 32), static_cast<u32>(key),
                       static_cast<u32>(key >> 32))};
    }
    RANVIER_DEVICE double unit(u32 place) const { return open_unit(word64(words, place != 0)); }

    struct More {
        StreamReader random;

        RANVIER_DEVICE u64 binomial(u32 trials, double probability) const {
            return draw_many(random, trials, probability);
        }
    };
    RANVIER_DEVICE More more(u32 offset) const { return {StreamReader(key, stream, attempt, block + 1 + offset)}; }
};

}  // namespace ranvier::device
