#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

/// Tests of fit. Seeds are fixed, so that results never change. The level tells how rarely a correct generator would
/// fail for a seed that nobody tried before.
namespace statistics {

/// A test fails when its p-value is below this.
inline constexpr double significance = 1e-6;

/// Upper regularised incomplete gamma function Q(a, x).
inline double upper_gamma(double a, double x) {
    if (x <= 0.0) return 1.0;
    const double front = std::exp(a * std::log(x) - x - std::lgamma(a));
    if (x < a + 1.0) {
        double term = 1.0 / a;
        double sum = term;
        for (double n = a + 1.0; term > sum * 1e-16; n += 1.0) {
            term *= x / n;
            sum += term;
        }
        return 1.0 - front * sum;
    }
    // Lentz's evaluation of the continued fraction.
    constexpr double tiny = 1e-300;
    double b = x + 1.0 - a;
    double c = 1.0 / tiny;
    double d = 1.0 / b;
    double value = d;
    for (int i = 1; i < 10000; ++i) {
        const double an = -i * (i - a);
        b += 2.0;
        d = 1.0 / std::max(std::abs(an * d + b), tiny) * (an * d + b < 0 ? -1.0 : 1.0);
        c = b + an / c;
        const double factor = c * d;
        value *= factor;
        if (std::abs(factor - 1.0) < 1e-15) break;
    }
    return front * value;
}

/// p-value of Pearson's chi-square test of counts against expected counts. Neighbouring cells are joined until at least
/// ten are expected in each. An expected count of zero with a count above it gives 0.
inline double chi_square_p_value(const std::vector<double>& counts, const std::vector<double>& expected) {
    double statistic = 0.0;
    int cells = 0;
    double count = 0.0;
    double wanted = 0.0;
    double remaining = 0.0;
    for (const double e : expected) remaining += e;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        if (expected[i] == 0.0 && counts[i] > 0.0) return 0.0;
        count += counts[i];
        wanted += expected[i];
        remaining -= expected[i];
        const bool last = i + 1 == counts.size();
        if (!last && (wanted < 10.0 || remaining < 10.0)) continue;
        statistic += (count - wanted) * (count - wanted) / wanted;
        ++cells;
        count = 0.0;
        wanted = 0.0;
    }
    return cells < 2 ? 1.0 : upper_gamma(0.5 * (cells - 1), 0.5 * statistic);
}

/// p-value that counts in cells of equal probability are uniform.
inline double uniform_p_value(const std::vector<double>& counts) {
    double total = 0.0;
    for (const double count : counts) total += count;
    return chi_square_p_value(counts, std::vector<double>(counts.size(), total / static_cast<double>(counts.size())));
}

/// p-value of the two-sided Kolmogorov-Smirnov test of a sample against a continuous distribution (asymptotic).
template <class Cumulative>
double kolmogorov_smirnov_p_value(std::vector<double> sample, const Cumulative& cumulative) {
    std::sort(sample.begin(), sample.end());
    const double n = static_cast<double>(sample.size());
    double distance = 0.0;
    for (std::size_t i = 0; i < sample.size(); ++i) {
        const double f = cumulative(sample[i]);
        const double below = static_cast<double>(i) / n;
        distance = std::max({distance, f - below, below + 1.0 / n - f});
    }
    const double lambda = (std::sqrt(n) + 0.12 + 0.11 / std::sqrt(n)) * distance;
    if (lambda < 0.3) return 1.0;
    double p = 0.0;
    double sign = 1.0;
    for (int j = 1; j < 100; ++j, sign = -sign) p += 2.0 * sign * std::exp(-2.0 * j * j * lambda * lambda);
    return std::clamp(p, 0.0, 1.0);
}

inline double normal_cumulative(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

/// log of n choose k.
inline double log_choose(double n, double k) {
    return std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0);
}

inline double binomial_probability(double n, double p, double k) {
    if (k < 0.0 || k > n) return 0.0;
    if (p == 0.0) return k == 0.0 ? 1.0 : 0.0;
    if (p == 1.0) return k == n ? 1.0 : 0.0;
    return std::exp(log_choose(n, k) + k * std::log(p) + (n - k) * std::log1p(-p));
}

inline double hypergeometric_probability(double good, double bad, double sample, double k) {
    if (k < 0.0 || k > good || sample - k > bad || k > sample) return 0.0;
    return std::exp(log_choose(good, k) + log_choose(bad, sample - k) - log_choose(good + bad, sample));
}

}  // namespace statistics
