// How weights are stored, and the integers in which they are summed where double precision would round.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "ranvier/base/instruction_set.hpp"
#include "ranvier/connect/tables/input_sums.hpp"

namespace TEST_FILE {

using namespace ranvier;
using namespace ranvier::connect;

std::vector<InstructionSet> sets() {
    std::vector<InstructionSet> found;
    for (const InstructionSet set : {InstructionSet::baseline, InstructionSet::avx2, InstructionSet::avx512}) {
        if (set <= detect_instruction_set()) found.push_back(set);
    }
    return found;
}

TEST(StoredWeights, AreRoundedToSinglePrecision) {
    std::mt19937_64 random(1);
    std::lognormal_distribution<double> draw(0.0, 4.0);
    std::vector<double> given(1337);
    for (double& weight : given) weight = draw(random) * (random() % 2 == 0 ? 1.0 : -1.0);
    given[700] = 0.0;
    for (const InstructionSet set : sets()) {
        std::vector<double> stored = given;
        const WeightRange range = round_as_stored(set, stored, false);
        double least = HUGE_VAL;
        double greatest = 0.0;
        for (std::size_t i = 0; i < given.size(); ++i) {
            EXPECT_EQ(stored[i], static_cast<double>(static_cast<float>(given[i])));
            EXPECT_LE(std::abs(stored[i] - given[i]), 0x1p-24 * std::abs(given[i]));
            EXPECT_EQ(std::fmod(stored[i], range.quantum), 0.0);
            if (i != 700) least = std::min(least, std::abs(stored[i]));
            greatest = std::max(greatest, std::abs(stored[i]));
        }
        EXPECT_EQ(range.least, least);
        EXPECT_EQ(range.greatest, greatest);
    }
}

TEST(StoredWeights, AreKeptInDoublePrecision) {
    std::vector<double> weights{0.1, -3.0, 0.0, 1e9, 0.5};
    const std::vector<double> given = weights;
    EXPECT_EQ(round_as_stored(InstructionSet::baseline, weights, true).quantum, 0x1p-55);  // of 0.1
    EXPECT_EQ(weights, given);
    std::vector<double> simple{6.0, -4.0, 20.0};
    const WeightRange range = round_as_stored(InstructionSet::baseline, simple, true);
    EXPECT_EQ(range.quantum, 2.0);
    EXPECT_EQ(range.least, 4.0);
    EXPECT_EQ(range.greatest, 20.0);
}

TEST(StoredWeights, HaveNoNegativeZero) {
    // An input is -0.0 until something is added to it; weights of -0.0 would leave it so.
    for (const bool double_precision : {false, true}) {
        std::vector<double> weights{-0.0, 1.0, -0.0};
        const WeightRange range = round_as_stored(InstructionSet::baseline, weights, double_precision);
        EXPECT_FALSE(std::signbit(weights[0]));
        EXPECT_FALSE(std::signbit(weights[2]));
        EXPECT_EQ(range.least, 1.0);
    }
}

TEST(StoredWeights, TellOfThoseThatSinglePrecisionLoses) {
    for (const InstructionSet set : sets()) {
        for (const double lost : {1e-60, -1e-60, 1e-40, 1e-45}) {
            std::vector<double> weights(2000, 1.0);
            weights[1500] = lost;
            EXPECT_LT(round_as_stored(set, weights, false).least, least_weight(false)) << lost;
        }
        std::vector<double> zeros(2000, 0.0);
        const WeightRange none = round_as_stored(set, zeros, false);
        EXPECT_GT(none.least, 1.0);
        EXPECT_TRUE(none.fits_double());
        std::vector<double> least(10, 0x1p-126);
        EXPECT_EQ(round_as_stored(set, least, false).least, least_weight(false));
    }
}

TEST(WeightRange, TellsWhatSumsCanHold) {
    // Single precision and 2^12 inputs: from 2^12 * 2^17 to 2^-23, 53 bits at most.
    const auto range = [](double least, double greatest, std::uint64_t inputs) {
        std::vector<double> weights{least, greatest};
        WeightRange found = round_as_stored(InstructionSet::baseline, weights, false);
        found.most_inputs = inputs;
        return found;
    };
    EXPECT_TRUE(range(1.0, 0x1p17, 4096).fits_double());
    EXPECT_FALSE(range(1.0, 0x1p18, 4096).fits_double());
    EXPECT_FALSE(range(1.0, 0x1p17, 8192).fits_double());
    EXPECT_TRUE(range(1.0, 0x1p90, 4096).fits_wide());
    EXPECT_FALSE(range(1.0, 0x1p92, 4096).fits_wide());
}

TEST(WideSums, AreExactAndRoundedOnce) {
    std::mt19937_64 random(2);
    std::lognormal_distribution<double> draw(0.0, 4.0);
    std::vector<double> weights(1000);
    for (double& weight : weights) weight = draw(random) * (random() % 2 == 0 ? 1.0 : -1.0);
    const WeightRange range = round_as_stored(InstructionSet::baseline, weights, true);
    const std::int32_t exponent = std::ilogb(range.quantum) - 1;
    WideSum sum = 0;
    EXPECT_TRUE(std::signbit(from_wide(sum, range.quantum))) << "nothing has arrived";
    add_wide(sum, 0.0, exponent);
    EXPECT_FALSE(std::signbit(from_wide(sum, range.quantum))) << "a weight of 0 has";
    for (const double weight : weights) {
        WideSum one = 0;
        add_wide(one, weight, exponent);
        EXPECT_EQ(from_wide(one, range.quantum), weight);
        add_wide(sum, weight, exponent);
    }
    // Two doubles hold the sum with an error far below half a unit of the last place of the first one.
    double high = 0.0;
    double low = 0.0;
    for (const double weight : weights) {
        const double next = high + weight;
        const double part = next - high;
        low += (high - (next - part)) + (weight - part);
        high = next;
    }
    EXPECT_EQ(from_wide(sum, range.quantum), high + low);
    for (const double weight : weights) sum -= to_wide(weight, exponent);
    EXPECT_EQ(from_wide(sum, range.quantum), 0.0);
}

}  // namespace TEST_FILE
