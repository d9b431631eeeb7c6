// The tests of fit are tested themselves: a helper that passes everything would make the others worthless.
#include "statistics.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace TEST_FILE {

TEST(Statistics, ChiSquareHasTheTabulatedQuantiles) {
    // Upper 5 % points for 1, 10 and 100 degrees of freedom.
    EXPECT_NEAR(statistics::upper_gamma(0.5, 3.841458820694124 / 2), 0.05, 1e-12);
    EXPECT_NEAR(statistics::upper_gamma(5.0, 18.307038053275146 / 2), 0.05, 1e-12);
    EXPECT_NEAR(statistics::upper_gamma(50.0, 124.34211340400408 / 2), 0.05, 1e-12);
    EXPECT_NEAR(statistics::upper_gamma(5.0, 2.0), 1.0 - 0.05265301734371115, 1e-12);
}

TEST(Statistics, ChiSquareRefusesWhatDoesNotFit) {
    EXPECT_GT(statistics::uniform_p_value({1010, 990, 1005, 995}), 0.9);
    EXPECT_LT(statistics::uniform_p_value({1200, 1000, 900, 900}), 1e-6);
    EXPECT_EQ(statistics::chi_square_p_value({100, 1}, {101, 0}), 0.0);
}

TEST(Statistics, KolmogorovSmirnovRefusesWhatDoesNotFit) {
    std::vector<double> even(1000);
    for (std::size_t i = 0; i < even.size(); ++i) even[i] = (static_cast<double>(i) + 0.5) / 1000.0;
    EXPECT_GT(statistics::kolmogorov_smirnov_p_value(even, [](double x) { return x; }), 0.99);
    EXPECT_LT(statistics::kolmogorov_smirnov_p_value(even, [](double x) { return x * x; }), 1e-6);
    // The 5 % point of the limiting distribution is 1.3581.
    const double shift = 1.3581 / (std::sqrt(1000.0) + 0.12 + 0.11 / std::sqrt(1000.0)) - 0.0005;
    EXPECT_NEAR(statistics::kolmogorov_smirnov_p_value(even, [&](double x) { return std::min(1.0, x + shift); }), 0.05,
                1e-3);
}

}  // namespace TEST_FILE
