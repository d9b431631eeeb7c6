#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "base/math.hpp"

/// Binomial numbers whose mean is large. GPUs run this code, too (core/device/kernel/draws.hpp), so it includes nothing else of
/// the standard library.
///
/// The binomial and the hypergeometric distribution are those of independent Poisson counts ("cells") given their sums: a
/// binomial has two cells (successes, failures), a hypergeometric the four of a two by two table. With the means of the
/// cells in proportion, the logarithm of a probability is the sum of the cells' logarithms, up to a constant. Written by
/// deviations from the means, no term is larger than the result needs: differences of log-factorials would lose all
/// digits for numbers beyond 1e9. C. Loader, "Fast and accurate computation of binomial probabilities" (2000).
namespace ranvier::sampling {

/// Below this mean, summing probabilities from 0 takes fewer operations than rejection.
inline constexpr double least_mean_for_rejection = 10.0;

/// log n! minus Stirling's formula (n + 1/2) log n - n + log(2 pi) / 2, for n >= 1.
inline double stirling_error(double n) {
    constexpr double small[]{
        // NOLINT(modernize-avoid-c-arrays): no calls in kernels
        0.0,
        0.08106146679532725822,
        0.04134069595540929409,
        0.02767792568499833915,
        0.02079067210376509311,
        0.01664469118982119216,
        0.013876128823070748,
        0.0118967099458917701,
        0.0104112652619720965,
        0.009255462182712732918,
        0.008330563433362871256,
        0.007573675487951840795,
        0.006942840107209529866,
        0.006408994188004207068,
        0.005951370112758847736,
        0.005554733551962801371,
    };
    if (n < 16.0) return small[static_cast<std::size_t>(n)];
    const double square = n * n;
    return (1.0 / 12.0 -
            (1.0 / 360.0 - (1.0 / 1260.0 - (1.0 / 1680.0 - 1.0 / (1188.0 * square)) / square) / square) / square) /
           n;
}

/// x log(x / mean) - (x - mean); `deviation` = x - mean, more precise than the difference of the two. @pre x, mean > 0
inline double deviance(double x, double mean, double deviation) {
    const double v = deviation / (x + mean);
    if (v < -0.1 || v > 0.1) return x * math::log(x / mean) - deviation;
    // log(x / mean) = 2 artanh v, and 2 x v = (1 + v) deviation.
    const double square = v * v;
    double series = 1.0 / 19.0;
    series = series * square + 1.0 / 17.0;
    series = series * square + 1.0 / 15.0;
    series = series * square + 1.0 / 13.0;
    series = series * square + 1.0 / 11.0;
    series = series * square + 1.0 / 9.0;
    series = series * square + 1.0 / 7.0;
    series = series * square + 1.0 / 5.0;
    series = series * square + 1.0 / 3.0;
    return deviation * v + 2.0 * x * v * square * series;
}

/// Logarithm of the Poisson probability of x, given its mean.
inline double log_poisson(double x, double mean, double deviation) {
    if (x == 0.0) return -mean;
    constexpr double two_pi = 6.283185307179586;
    return -0.5 * math::log(two_pi * x) - stirling_error(x) - deviance(x, mean, deviation);
}

/// A mean split into an integer and a fraction, so that exact integers distinguish numbers near it where a double could
/// not.
struct Centre {
    explicit Centre(double value) : mean(value), whole(std::floor(value)), fraction(value - whole) {}

    std::uint64_t at(double offset) const {
        return static_cast<std::uint64_t>(whole) + static_cast<std::uint64_t>(static_cast<std::int64_t>(offset));
    }

    double mean;
    double whole;
    double fraction;
};

/// BTRS of W. Hörmann, "The generation of binomial random variates", Journal of Statistical Computation and Simulation
/// 46 (1993): transformed rejection with a squeeze, for a probability <= 1/2 and a mean >= 10.
template <class Random>
std::uint64_t binomial_by_rejection(Random& random, double trials, double probability) {
    const Centre centre{trials * probability};
    const double failures = trials - centre.mean;
    const double spread = std::sqrt(centre.mean * (1.0 - probability));
    const double b = 1.15 + 2.53 * spread;
    const double a = -0.0873 + 0.0248 * b + 0.01 * probability;
    const double alpha = (2.83 + 5.1 / b) * spread;
    const double squeeze = 0.92 - 4.2 / b;
    const auto log_weight = [&](double offset) {
        const double deviation = offset - centre.fraction;
        return log_poisson(centre.whole + offset, centre.mean, deviation) +
               log_poisson(trials - centre.whole - offset, failures, -deviation);
    };
    while (true) {
        const double v = random.next_unit();
        const double u = random.next_unit() - 0.5;
        const double to_end = 0.5 - std::abs(u);
        const double offset = std::floor((2.0 * a / to_end + b) * u + (centre.fraction + 0.5));
        if (to_end >= 0.07 && v <= squeeze) return centre.at(offset);
        if (offset < -centre.whole || offset > trials - centre.whole) continue;
        // floor((trials + 1) probability) is the mode.
        const double mode = std::floor(centre.fraction + probability);
        const double bound = math::log(v * alpha / (a / (to_end * to_end) + b));
        if (bound <= log_weight(offset) - log_weight(mode)) return centre.at(offset);
    }
}

}  // namespace ranvier::sampling
