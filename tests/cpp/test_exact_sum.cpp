#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "base/exact_sum.hpp"

namespace ranvier {
namespace TEST_FILE {

TEST(ExactSum, DoesNotDependOnOrderAndParts) {
    std::mt19937_64 engine(1);
    std::normal_distribution<double> normal;
    std::vector<double> numbers(5000);
    for (double& number : numbers) number = normal(engine) * std::pow(10.0, 6.0 * normal(engine));
    constexpr int exponent = 10;
    ExactSum whole;
    long double exact = 0.0L;
    for (const double number : numbers) {
        if (std::abs(number) >= 1e10) continue;
        whole.add(number, exponent);
        exact += number;
    }
    EXPECT_NEAR(whole.value(exponent), static_cast<double>(exact), 1e-12 * std::abs(static_cast<double>(exact)));
    std::shuffle(numbers.begin(), numbers.end(), engine);
    // Three parts, as of processes.
    std::array<ExactSum, 3> parts;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (std::abs(numbers[i]) < 1e10) parts[i % 3].add(numbers[i], exponent);
    }
    std::array<std::uint64_t, 3> sums{};
    ExactSum joined;
    for (const ExactSum& part : parts) {
        for (std::size_t k = 0; k < 3; ++k) sums[k] += part.parts()[k];
        joined.add(part);
    }
    EXPECT_EQ(joined.value(exponent), whole.value(exponent));
    EXPECT_EQ(ExactSum::from_parts(std::span<const std::uint64_t, 3>(sums)).value(exponent), whole.value(exponent));
}

TEST(ExactSum, OfANumberThatIsNotFiniteOrTooLargeIsNotANumber) {
    for (const double hostile :
         {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity(), 1e300}) {
        ExactSum sum;
        sum.add(1.0, 0);
        sum.add(hostile, 0);
        sum.add(2.0, 0);
        EXPECT_TRUE(std::isnan(sum.value(0))) << hostile;
        ExactSum other;
        other.add(5.0, 0);
        std::array<std::uint64_t, 3> sums = other.parts();
        for (std::size_t k = 0; k < 3; ++k) sums[k] += sum.parts()[k];
        EXPECT_TRUE(std::isnan(ExactSum::from_parts(std::span<const std::uint64_t, 3>(sums)).value(0)));
        other.add(sum);
        EXPECT_TRUE(std::isnan(other.value(0)));
    }
}

}  // namespace TEST_FILE
}  // namespace ranvier
