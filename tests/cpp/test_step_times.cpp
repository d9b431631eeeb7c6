// Times of steps are the doubles nearest to the decimal numbers. Python's tests compare them with exact fractions.
#include "base/step_times.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

#include "ranvier/base/random.hpp"

namespace TEST_FILE {

using namespace ranvier;

TEST(StepTimes, AreWhatAPersonWouldWrite) {
    const StepTimes tenths(0.1);
    EXPECT_EQ(tenths(0), 0.0);
    EXPECT_EQ(tenths(3), 0.3);
    EXPECT_EQ(tenths(-3), -0.3);
    EXPECT_EQ(tenths(12345678901), 1234567890.1);
    EXPECT_EQ(StepTimes(0.025)(3), 0.075);
    EXPECT_EQ(StepTimes(7.0)(3), 21.0);
    EXPECT_EQ(StepTimes(1e-3)(1001), 1.001);
}

TEST(StepTimes, OfEachNumberOfDigitsAreTheNearest) {
    // The C library reads decimal numbers exactly.
    SequentialRandom random({make_key(1, Purpose::test, 0), 0, 0});
    for (int i = 0; i < 20000; ++i) {
        const auto step = static_cast<Step>(std::ldexp(random.next_unit(), 1 + i % 53));
        const int places = 1 + i % 9;
        const auto digits = 1 + static_cast<std::uint64_t>(random.next_unit() * 999.0);
        const double resolution =
            std::strtod((std::to_string(digits) + "e-" + std::to_string(places)).c_str(), nullptr);
        __extension__ const auto product = static_cast<unsigned __int128>(step) * digits;
        if (product >> 64U != 0) continue;
        const std::string text = std::to_string(static_cast<std::uint64_t>(product)) + "e-" + std::to_string(places);
        ASSERT_EQ(StepTimes(resolution)(step), std::strtod(text.c_str(), nullptr)) << resolution << ' ' << step;
    }
}

TEST(StepTimes, OfFractions) {
    EXPECT_EQ(StepTimes(1.0 / 3.0)(3), 1.0);
    EXPECT_EQ(StepTimes(1.0 / 3.0)(1), 1.0 / 3.0);
    EXPECT_EQ(StepTimes(2.0 / 7.0)(7'000'000'000), 2'000'000'000.0);
    EXPECT_EQ(StepTimes(std::ldexp(1.0, -20))(3), std::ldexp(3.0, -20));
}

TEST(StepTimes, OfAnyDoubleAreThoseOfItsBits) {
    for (const double resolution : {0.1 * 3.0, 0.1234567890123456, 1e-300, 1e300, std::numeric_limits<double>::min()}) {
        EXPECT_EQ(StepTimes(resolution)(1), resolution);
        EXPECT_EQ(StepTimes(resolution)(7), 7.0 * resolution);
    }
}

TEST(StepTimes, AtTheEndOfAllSteps) {
    const Step last = std::numeric_limits<Step>::max();
    EXPECT_EQ(StepTimes(0.1)(last), 922337203685477580.7);
    EXPECT_EQ(StepTimes(0.1)(-last), -922337203685477580.7);
    EXPECT_EQ(StepTimes(0.1)(std::numeric_limits<Step>::min()), -922337203685477580.8);
    EXPECT_EQ(StepTimes(123.456789012345)(last), 1138687895536342808242.075930337415);
}

}  // namespace TEST_FILE
