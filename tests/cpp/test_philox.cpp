#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ranvier/base/instruction_set.hpp"
#include "ranvier/base/random.hpp"

namespace ranvier {
namespace TEST_FILE {

using Words = std::array<std::uint32_t, 4>;

// Answers from the paper's own test vectors (Random123, kat_vectors).
TEST(Philox, GivesThePublishedWords) {
    constexpr std::uint32_t ones = 0xFFFFFFFF;
    EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Words{0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8}));
    EXPECT_EQ(philox({ones, ones, ones, ones}, {ones, ones}), (Words{0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD}));
    EXPECT_EQ(philox({0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344}, {0xA4093822, 0x299F31D0}),
              (Words{0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1}));
}

class PhiloxLanes : public testing::TestWithParam<InstructionSet> {};

TEST_P(PhiloxLanes, FillGivesTheWordsOfTheStreamForAnyStartAndLength) {
    const RandomStream numbers{make_key(3, Purpose::test, 1), 0xFEDCBA9876543210, 7};
    for (const std::uint32_t first : {0u, 1u, 3u, 4u, 126u, 0xFFFFFF00u}) {
        for (const std::size_t count : {0u, 1u, 4u, 24u, 25u, 127u, 128u, 129u, 300u}) {
            if (first + std::uint64_t{count} > 0xFFFFFFFF) continue;
            std::vector<std::uint32_t> words(count + 1, 12345);
            numbers.fill(GetParam(), first, count, words.data());
            for (std::size_t i = 0; i < count; ++i) {
                ASSERT_EQ(words[i], numbers.word32(first + static_cast<std::uint32_t>(i))) << first << "+" << i;
            }
            EXPECT_EQ(words[count], 12345u) << "wrote past the end";
        }
    }
}

TEST_P(PhiloxLanes, FillBlocksGivesTheBlocksOfEachStream) {
    const RandomKey key = make_key(4, Purpose::test, 2);
    for (const std::size_t count : {0u, 1u, 4u, 5u, 31u, 32u, 33u, 100u}) {
        std::vector<std::uint64_t> streams(count);
        std::vector<std::uint32_t> blocks(count);
        for (std::size_t i = 0; i < count; ++i) {
            streams[i] = i * 0x123456789ABCDEF;
            blocks[i] = static_cast<std::uint32_t>(i * 0x9E3779B9);
        }
        std::vector<std::uint32_t> words(4 * count + 1, 12345);
        fill_blocks(GetParam(), key, 9, streams, blocks, words.data());
        for (std::size_t i = 0; i < count; ++i) {
            const Words expected = RandomStream{key, streams[i], 9}.block(blocks[i]);
            for (std::size_t w = 0; w < 4; ++w) ASSERT_EQ(words[4 * i + w], expected[w]) << i;
        }
        EXPECT_EQ(words[4 * count], 12345u) << "wrote past the end";
    }
}

INSTANTIATE_TEST_SUITE_P(InstructionSets, PhiloxLanes,
                         testing::ValuesIn(available_instruction_sets().begin(), available_instruction_sets().end()),
                         [](const auto& tested) { return std::string(to_string(tested.param)); });

}  // namespace TEST_FILE
}  // namespace ranvier
