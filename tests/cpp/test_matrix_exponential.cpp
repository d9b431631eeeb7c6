#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "program/matrix_exponential.hpp"

namespace ranvier::program {
namespace {

/// Relative errors of at most so many last bits of double precision.
void expect_near(const std::vector<double>& found, const std::vector<double>& expected, double units) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_LE(std::abs(found[i] - expected[i]), units * 0x1p-52 * std::abs(expected[i]))
            << "entry " << i << ": " << found[i] << " for " << expected[i];
    }
}

TEST(MatrixExponential, IsThatOfANumberWithoutLosingDigits) {
    // The C library rounds e^x to within a unit; arguments here are exact.
    for (const double x : {0.0, -0.0009765625, -0.125, -0.5, -1.0, -10.0, -100.0, -700.0, 0.25, 3.0, 100.0, 700.0}) {
        expect_near(matrix_exponential(std::vector{x}, 1, 1.0), {std::exp(x)}, 1.0);
        expect_near(matrix_exponential(std::vector{4.0 * x}, 1, 0.25), {std::exp(x)}, 1.0);
    }
    expect_near(matrix_exponential(std::vector{-1e6}, 1, 1.0), {0.0}, 0.0);
}

TEST(MatrixExponential, LetsACurrentActOnAMembrane) {
    // dV/dt = -V/a + I/C, dI/dt = -I/b, time constants far apart, near each other, equal, and much shorter than a step.
    const double h = 0.125;
    const double c = 250.0;
    struct Pair {
        double a, b;
    };
    for (const auto& [rate, other] :
         {Pair{0.125, 0.5}, Pair{0.125, 0.125}, Pair{0.125, 1024.0}, Pair{4096.0, 0.0625}}) {
        const std::vector<double> found = matrix_exponential(std::vector{-rate, 1.0 / c, 0.0, -other}, 2, h);
        // The integral of e^(-rate (h - t)) e^(-other t) over the step, with the slower decay taken out.
        const double slower = std::min(rate, other);
        const double difference = std::abs(rate - other) * h;
        const double mean = difference == 0.0 ? 1.0 : -std::expm1(-difference) / difference;
        const double gain = (1.0 / c) * h * std::exp(-slower * h) * mean;
        expect_near(found, {std::exp(-rate * h), gain, 0.0, std::exp(-other * h)}, 4.0);
    }
}

TEST(MatrixExponential, IsAccurateWhereRatesAreNearlyEqual) {
    // The difference of exponentials over the difference of rates would lose all digits; Taylor's series of the mean does not.
    const double h = 1.0;
    for (const double distance : {0x1p-10, 0x1p-26, 0x1p-40, 0x1p-52}) {
        const double rate = 0.5;
        const double other = rate + distance;
        // (1 - e^-d) / d
        double mean = 0.0;
        double term = 1.0;
        for (int k = 2; k < 8; ++k) {
            mean += term;
            term *= -distance / k;
        }
        const std::vector<double> found = matrix_exponential(std::vector{-rate, 1.0, 0.0, -other}, 2, h);
        expect_near({found.data() + 1, found.data() + 2}, {std::exp(-rate) * mean}, 3.0);
    }
}

TEST(MatrixExponential, TurnsAnOscillator) {
    for (const double angle : {0.125, 1.0, 3.0, 25.0, 1000.0}) {
        const std::vector<double> found = matrix_exponential(std::vector{0.0, angle, -angle, 0.0}, 2, 1.0);
        // Sines and cosines near 0 have an absolute error.
        const std::vector<double> expected{std::cos(angle), std::sin(angle), -std::sin(angle), std::cos(angle)};
        for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(found[i], expected[i], 2.0 * 0x1p-53);
    }
}

TEST(MatrixExponential, GivesTheTermsOfAChain) {
    // A nilpotent chain: entry (i, j) is h^(j - i) / (j - i)!.
    const std::size_t n = 8;
    std::vector<double> chain(n * n, 0.0);
    for (std::size_t i = 0; i + 1 < n; ++i) chain[i * n + i + 1] = 1.0;
    const double h = 0.125;
    const std::vector<double> found = matrix_exponential(chain, n, h);
    std::vector<double> expected(n * n, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
        double term = 1.0;
        for (std::size_t j = i; j < n; ++j) {
            expected[i * n + j] = term;
            term *= h / static_cast<double>(j - i + 1);
        }
    }
    expect_near(found, expected, 2.0);
}

TEST(MatrixExponential, KeepsAConstantAndASlowRateBesideAStiffOne) {
    // Rows: slow, stiff, constant. The slow entry must not lose what squaring for the stiff one costs.
    const std::vector<double> matrix{-0x1p-10, 0.0, 1.0, 0.0, -0x1p20, 1.0, 0.0, 0.0, 0.0};
    const std::vector<double> found = matrix_exponential(matrix, 3, 1.0);
    expect_near(found, {std::exp(-0x1p-10), 0.0, -std::expm1(-0x1p-10) * 0x1p10, 0.0, 0.0, 0x1p-20, 0.0, 0.0, 1.0},
                1.0);
}

TEST(MatrixExponential, TellsWhatItCannotCalculate) {
    const double infinity = std::numeric_limits<double>::infinity();
    for (const double entry : {infinity, -infinity, std::numeric_limits<double>::quiet_NaN(), -0x1p41, 1e308}) {
        EXPECT_FALSE(std::isfinite(matrix_exponential(std::vector{entry, 0.0, 0.0, 1.0}, 2, 1.0)[0])) << entry;
    }
    EXPECT_FALSE(std::isfinite(matrix_exponential(std::vector{1e3}, 1, 1.0)[0]));
    EXPECT_TRUE(std::isfinite(matrix_exponential(std::vector{-0x1p39}, 1, 1.0)[0]));
}

}  // namespace
}  // namespace ranvier::program
