#include "base/subnormals.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace TEST_FILE {

using namespace ranvier;

constexpr double least = std::numeric_limits<double>::min();
constexpr float least_single = std::numeric_limits<float>::min();

/// Neither the compiler nor the assembler knows the values.
struct Numbers {
    volatile double least = TEST_FILE::least;
    volatile double subnormal = TEST_FILE::least / 4.0;
    volatile double half = 0.5;
    volatile float subnormal_single = TEST_FILE::least_single / 4.0F;
    volatile double below_single = double{TEST_FILE::least_single} / 4.0;
};

TEST(FlushSubnormals, ReplacesResultsByZeroOfTheirSign) {
    Numbers n;
    const FlushSubnormals flush;
    const double product = n.least * n.half;
    const double negative = -n.least * n.half;
    const double difference = n.least * 1.5 - n.least;
    const auto single = static_cast<float>(n.below_single);
    EXPECT_EQ(std::bit_cast<std::uint64_t>(product), std::bit_cast<std::uint64_t>(0.0));
    EXPECT_EQ(std::bit_cast<std::uint64_t>(negative), std::bit_cast<std::uint64_t>(-0.0));
    EXPECT_EQ(std::bit_cast<std::uint64_t>(difference), std::bit_cast<std::uint64_t>(0.0));
    EXPECT_EQ(std::bit_cast<std::uint32_t>(single), std::bit_cast<std::uint32_t>(0.0F));
}

TEST(FlushSubnormals, ReadsOperandsAsZero) {
    Numbers n;
    const FlushSubnormals flush;
    const double product = n.subnormal * 0x1p100;
    const double sum = n.subnormal + n.least;
    const bool is_positive = n.subnormal > 0.0;
    const double widened = n.subnormal_single;
    EXPECT_EQ(std::bit_cast<std::uint64_t>(product), std::bit_cast<std::uint64_t>(0.0));
    EXPECT_EQ(std::bit_cast<std::uint64_t>(sum), std::bit_cast<std::uint64_t>(least));
    EXPECT_FALSE(is_positive);
    EXPECT_EQ(std::bit_cast<std::uint64_t>(widened), std::bit_cast<std::uint64_t>(0.0));
}

TEST(FlushSubnormals, KeepsTheLeastNormalNumber) {
    Numbers n;
    const FlushSubnormals flush;
    const double product = n.least * 2.0 * n.half;
    EXPECT_EQ(std::bit_cast<std::uint64_t>(product), std::bit_cast<std::uint64_t>(least));
}

TEST(FlushSubnormals, EndsWithItsScope) {
    Numbers n;
    {
        const FlushSubnormals flush;
    }
    const double product = n.least * n.half;
    EXPECT_EQ(std::bit_cast<std::uint64_t>(product), std::bit_cast<std::uint64_t>(least / 2.0));
}

TEST(FlushSubnormals, ReplacesOneNumberAlike) {
    EXPECT_EQ(std::bit_cast<std::uint64_t>(without_subnormal(-least / 2.0)), std::bit_cast<std::uint64_t>(-0.0));
    EXPECT_EQ(without_subnormal(-least), -least);
    EXPECT_TRUE(std::isnan(without_subnormal(std::nan(""))));
}

}  // namespace TEST_FILE
