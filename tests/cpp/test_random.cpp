// Streams and what is drawn from them; the generator itself is tested in test_philox.cpp.
#include "ranvier/base/random.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <vector>

#include "ranvier/base/hash.hpp"
#include "statistics.hpp"

namespace TEST_FILE {

using namespace ranvier;

constexpr RandomKey key{0x12345678, 0x9ABCDEF0};

TEST(Mix, GivesThePublishedNumbersOfSplitMix64) {
    EXPECT_EQ(mix(0), 0xE220'A839'7B1D'CDAF);
    EXPECT_EQ(mix(golden_ratio), 0x6E78'9E6A'A1B9'65F4);
}

TEST(SequenceHash, DependsOnEveryNumberAndOnTheirOrder) {
    const auto hash = [](std::vector<std::uint64_t> numbers) {
        SequenceHash sequence;
        for (const std::uint64_t number : numbers) sequence.add(number);
        return sequence.value();
    };
    const std::set<std::uint64_t> values{
        hash({}), hash({0}), hash({0, 0}), hash({0, 1}), hash({1, 0}), hash({1}), hash({std::uint64_t{1} << 63})};
    EXPECT_EQ(values.size(), 7);
}

TEST(RandomStream, BlockIsPhiloxOfBlockAttemptAndStream) {
    const RandomStream stream{key, 0x1122334455667788, 7};
    EXPECT_EQ(stream.block(5), philox({5, 7, 0x55667788, 0x11223344}, key));
    EXPECT_EQ(stream.word32(22), stream.block(5)[2]);
    EXPECT_EQ(stream.word64(11), stream.block(5)[2] | std::uint64_t{stream.block(5)[3]} << 32);
}

TEST(RandomStream, FillEqualsSingleWordsForEveryOffsetAndInstructionSet) {
    const RandomStream stream{key, 0xFEDCBA9876543210, 3};
    std::vector<std::uint32_t> expected(700);
    for (std::uint32_t i = 0; i < expected.size(); ++i) expected[i] = stream.word32(i);
    for (const InstructionSet set : available_instruction_sets()) {
        for (std::uint32_t first = 0; first < 150; ++first) {
            for (const std::size_t count : {0, 1, 2, 3, 4, 5, 8, 9, 63, 64, 65, 127, 128, 129, 255, 256, 300, 513}) {
                std::vector<std::uint32_t> words(count + 1, 0xABABABAB);
                stream.fill(set, first, count, words.data());
                for (std::size_t i = 0; i < count; ++i) {
                    ASSERT_EQ(words[i], expected[first + i])
                        << to_string(set) << ", first " << first << ", count " << count << ", word " << i;
                }
                ASSERT_EQ(words[count], 0xABABABAB) << "written beyond the end";
            }
        }
    }
}

TEST(RandomStream, BitsAreEven) {
    // Each of the 32 bits, and each byte, of 2^18 words.
    std::vector<std::uint32_t> words(1 << 18);
    RandomStream{key, 99, 0}.fill(detect_instruction_set(), 0, words.size(), words.data());
    for (int bit = 0; bit < 32; ++bit) {
        std::vector<double> counts(2);
        for (const std::uint32_t word : words) ++counts[word >> bit & 1];
        EXPECT_GT(statistics::uniform_p_value(counts), statistics::significance) << "bit " << bit;
    }
    for (int shift = 0; shift < 32; shift += 8) {
        std::vector<double> counts(256);
        for (const std::uint32_t word : words) ++counts[word >> shift & 255];
        EXPECT_GT(statistics::uniform_p_value(counts), statistics::significance) << "byte at " << shift;
    }
}

TEST(MakeKey, SeparatesSeedsPurposesAndObjects) {
    std::set<std::uint64_t> keys;
    std::size_t made = 0;
    for (const std::uint64_t seed : {0ULL, 1ULL, 2ULL, 0xFFFFFFFFFFFFFFFFULL}) {
        for (const Purpose purpose : {Purpose::partner, Purpose::degree, Purpose::weight, Purpose::delay}) {
            for (std::uint64_t object = 0; object < 1000; ++object) {
                const RandomKey made_key = make_key(seed, purpose, object);
                keys.insert(made_key.low | std::uint64_t{made_key.high} << 32);
                ++made;
            }
        }
    }
    EXPECT_EQ(keys.size(), made);
}

TEST(ToOpenUnit, NeverReachesItsEnds) {
    EXPECT_EQ(to_open_unit(0), 0x1p-53);
    EXPECT_EQ(to_open_unit(~std::uint64_t{0}), 1.0 - 0x1p-53);
    EXPECT_NEAR(to_open_unit(std::uint64_t{1} << 63), 0.5, 1e-15);
}

TEST(SequentialRandom, ReadsTheWordsInOrder) {
    const RandomStream stream{key, 5, 0};
    SequentialRandom from_start(stream);
    for (std::uint32_t i = 0; i < 20; ++i) ASSERT_EQ(from_start.next32(), stream.word32(i));
    EXPECT_EQ(from_start.next64(), stream.word64(10));
    SequentialRandom from_block(stream, 3);
    EXPECT_EQ(from_block.next32(), stream.word32(12));
}

TEST(SequentialRandom, NextBelowIsUniformAndBelow) {
    SequentialRandom random({key, 6, 0});
    for (int i = 0; i < 100; ++i) ASSERT_EQ(random.next_below(1), 0U);
    for (const std::uint64_t bound : {2ULL, 3ULL, 7ULL, 100ULL}) {
        std::vector<double> counts(bound);
        for (int i = 0; i < 50000; ++i) ++counts.at(random.next_below(bound));
        EXPECT_GT(statistics::uniform_p_value(counts), statistics::significance) << bound;
    }
    // A bound for which a quarter of all words must be rejected: without rejection the lower half of the range would come
    // twice as often as the upper one.
    constexpr std::uint64_t large = 3ULL << 62;
    std::vector<double> thirds(3);
    for (int i = 0; i < 50000; ++i) ++thirds.at(random.next_below(large) >> 62);
    EXPECT_GT(statistics::uniform_p_value(thirds), statistics::significance);
}

}  // namespace TEST_FILE
