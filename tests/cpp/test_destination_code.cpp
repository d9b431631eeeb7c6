#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "comm/exchange/destination_code.hpp"

namespace ranvier::comm {
namespace TEST_FILE {

bool operator==(const Destination& a, const Destination& b) { return a.rank == b.rank && a.address == b.address; }
/// What came out is compared as numbers, for messages.
std::vector<std::uint64_t> packed(const DestinationCode& code, std::span<const Destination> destinations) {
    std::vector<std::uint64_t> numbers;
    for (const Destination& destination : destinations) numbers.push_back(code.pack(destination));
    return numbers;
}

constexpr std::int32_t most_ranks = std::numeric_limits<std::int32_t>::max();
constexpr std::uint8_t rubbish = 0xA5;

/// How ranks of a source are drawn.
enum class Spread { anywhere, one_rank, last_rank, few_neighbors, even };
constexpr Spread spreads[] = {Spread::anywhere, Spread::one_rank, Spread::last_rank, Spread::few_neighbors,
                              Spread::even};

std::vector<std::uint64_t> draw(const DestinationCode& code, std::int32_t ranks, unsigned address_bits,
                                std::uint64_t count, Spread spread, std::mt19937_64& random) {
    const auto number = static_cast<std::uint64_t>(ranks);
    const std::uint64_t somewhere = random() % number;
    std::vector<std::uint64_t> entries;
    for (std::uint64_t i = 0; i < count; ++i) {
        std::uint64_t rank = random() % number;
        if (spread == Spread::one_rank) rank = somewhere;
        if (spread == Spread::last_rank) rank = number - 1;
        if (spread == Spread::few_neighbors) rank = (somewhere + rank % 5) % number;
        if (spread == Spread::even) rank = i * number / count;
        entries.push_back(code.pack({Rank{static_cast<std::int32_t>(rank)}, random() >> (64 - address_bits)}));
    }
    std::sort(entries.begin(), entries.end());
    return entries;
}

/// Codes a source between others' bytes and looks whether they stay as they are.
std::vector<std::uint8_t> encode(const DestinationCode& code, std::span<const std::uint64_t> entries,
                                 std::uint64_t before) {
    const std::uint64_t bytes = code.bytes(entries.size());
    std::vector<std::uint8_t> memory(before + bytes + DestinationCode::padding, rubbish);
    std::fill_n(memory.begin() + static_cast<std::ptrdiff_t>(before), bytes, std::uint8_t{0});
    code.encode(entries, memory.data() + before);
    for (std::uint64_t i = 0; i < before; ++i) EXPECT_EQ(memory[i], rubbish);
    for (std::uint64_t i = before + bytes; i < memory.size(); ++i) EXPECT_EQ(memory[i], rubbish);
    return memory;
}

/// What is found on [first, last) against a search in the plain list.
void expect_found(const DestinationCode& code, const std::uint8_t* coded, std::span<const std::uint64_t> entries,
                  unsigned address_bits, Rank first, Rank last) {
    std::vector<Destination> found{{Rank{-7}, 7}};
    code.find(coded, first, last, found);
    const auto rank_below = [&](std::uint64_t entry, Rank rank) {
        return static_cast<std::int64_t>(entry >> address_bits) < rank.value;
    };
    const auto begin = std::lower_bound(entries.begin(), entries.end(), first, rank_below);
    const auto end = std::lower_bound(begin, entries.end(), std::max(first, last), rank_below);
    ASSERT_TRUE(found[0] == (Destination{Rank{-7}, 7}));
    ASSERT_EQ(packed(code, std::span(found).subspan(1)), std::vector<std::uint64_t>(begin, end))
        << "[" << first.value << ", " << last.value << ")";
}

/// All parts [first, last) where there are few ranks; else those around the destinations, and some anywhere.
std::vector<Rank> borders(std::int32_t ranks, std::span<const std::uint64_t> entries, unsigned address_bits,
                          std::mt19937_64& random) {
    std::vector<std::int64_t> all{0, 1, ranks / 2, ranks - 1, ranks, ranks + std::int64_t{1}, most_ranks};
    if (ranks <= 20) {
        for (std::int32_t rank = 0; rank <= ranks; ++rank) all.push_back(rank);
    } else {
        for (std::int64_t bits = 1; bits < 31; ++bits) all.push_back(std::int64_t{1} << bits);
        for (int i = 0; i < 8; ++i)
            all.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(ranks)));
        for (int i = 0; i < 8 && !entries.empty(); ++i) {
            const auto rank = static_cast<std::int64_t>(entries[random() % entries.size()] >> address_bits);
            all.push_back(rank);
            all.push_back(rank + 1);
        }
    }
    std::vector<Rank> borders;
    for (const std::int64_t rank : all) {
        borders.push_back(Rank{static_cast<std::int32_t>(std::clamp<std::int64_t>(rank, 0, most_ranks))});
    }
    std::sort(borders.begin(), borders.end());
    borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
    return borders;
}

TEST(DestinationCode, FindsWhatASearchInAListFinds) {
    std::mt19937_64 random(1);
    for (const std::int32_t ranks : {1, 2, 3, 20, 2048, 100'000, most_ranks}) {
        const auto rank_bits = static_cast<unsigned>(std::bit_width(static_cast<unsigned>(ranks - 1)));
        for (const unsigned address_bits : {1u, 5u, 20u, std::min(48u, most_packed_bits - rank_bits)}) {
            const DestinationCode code(ranks, address_bits);
            EXPECT_EQ(code.plain_bits(), address_bits + rank_bits);
            for (const std::uint64_t count : {1, 2, 3, 4, 5, 7, 8, 13, 60, 127, 128, 500, 3000}) {
                for (const Spread spread : spreads) {
                    SCOPED_TRACE("ranks " + std::to_string(ranks) + ", address bits " + std::to_string(address_bits) +
                                 ", destinations " + std::to_string(count) + ", spread " +
                                 std::to_string(static_cast<int>(spread)));
                    const std::vector<std::uint64_t> entries = draw(code, ranks, address_bits, count, spread, random);
                    const std::uint64_t before = random() % 9;
                    const std::vector<std::uint8_t> memory = encode(code, entries, before);
                    const std::uint8_t* const coded = memory.data() + before;
                    ASSERT_EQ(DestinationCode::count(coded), count);
                    const std::vector<Rank> places = borders(ranks, entries, address_bits, random);
                    for (const Rank first : places) {
                        for (const Rank last : places) {
                            expect_found(code, coded, entries, address_bits, first, last);
                            if (HasFatalFailure()) return;
                        }
                    }
                }
            }
        }
    }
}

TEST(DestinationCode, FindsEachBlockOfManyRanks) {
    std::mt19937_64 random(2);
    constexpr std::int32_t ranks = 100'000;
    const DestinationCode code(ranks, 28);
    const std::vector<std::uint64_t> entries = draw(code, ranks, 28, 11'250, Spread::anywhere, random);
    const std::vector<std::uint8_t> memory = encode(code, entries, 0);
    for (const std::int32_t width : {1, 7, 64, 2048, 2049, 30'000}) {
        std::vector<Destination> found;
        for (std::int32_t first = 0; first < ranks; first += width) {
            code.find(memory.data(), Rank{first}, Rank{first + width}, found);
        }
        ASSERT_EQ(packed(code, found), entries) << width;
    }
}

TEST(DestinationCode, TakesWhatTheFormulaSays) {
    for (const std::int32_t ranks : {1, 2, 3, 20, 2048, 100'000, most_ranks}) {
        const auto rank_bits = static_cast<unsigned>(std::bit_width(static_cast<unsigned>(ranks - 1)));
        for (const unsigned address_bits : {1u, 5u, 20u, std::min(48u, most_packed_bits - rank_bits)}) {
            const DestinationCode code(ranks, address_bits);
            EXPECT_EQ(code.bytes(0), 0u);
            for (std::uint64_t count = 1; count < 1'000'000; count += 1 + count / 3) {
                SCOPED_TRACE(std::to_string(count) + " on " + std::to_string(ranks));
                const std::uint64_t head = (static_cast<std::uint64_t>(std::bit_width(count)) + 6) / 7;
                const std::uint64_t bytes = code.bytes(count);
                EXPECT_LE(bytes, head + (count * code.plain_bits() + 7) / 8);
                const double ratio = ranks / static_cast<double>(count);
                const double low_bits = std::max(0.0, std::floor(std::log2(ratio)));
                const double entries = address_bits + low_bits;
                // Rounded up to whole bytes: the head, the directory, the entries and the upper parts.
                EXPECT_LE(
                    8.0 * static_cast<double>(bytes),
                    static_cast<double>(count) * (entries * (1.0 + 1.0 / 32.0) + 1.0 + ratio / std::exp2(low_bits)) +
                        8.0 * static_cast<double>(head) + 3.0 * 8.0);
            }
        }
    }
    // A process of 18,000 neurons with 11,250 synapses each, by the number of ranks.
    EXPECT_NEAR(8.0 * static_cast<double>(DestinationCode(2048, 28).bytes(11'250)) / 11'250.0, 28.0 + 1.5, 0.5);
    EXPECT_NEAR(8.0 * static_cast<double>(DestinationCode(100'000, 28).bytes(11'250)) / 11'250.0, 28.0 + 5.6, 0.5);
}

TEST(DestinationCode, PacksNumbersOfAnyLength) {
    std::mt19937_64 random(3);
    for (unsigned bits = 1; bits <= most_packed_bits; ++bits) {
        const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
        constexpr std::uint64_t count = 50;
        std::vector<std::uint8_t> bytes((count * bits + 7) / 8 + DestinationCode::padding, rubbish);
        std::vector<std::uint64_t> expected(count);
        std::vector<std::uint64_t> order(count);
        for (std::uint64_t i = 0; i < count; ++i) order[i] = i;
        std::shuffle(order.begin(), order.end(), random);
        for (const std::uint64_t i : order) write_packed(bytes.data(), i, bits, expected[i] = random() & mask);
        for (std::uint64_t i = 0; i < count; ++i) EXPECT_EQ(read_packed(bytes.data(), i, bits), expected[i]) << bits;
        EXPECT_EQ(bytes.back(), rubbish);
    }
}

}  // namespace TEST_FILE
}  // namespace ranvier::comm
