#include "base/sampling.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstddef>

#include "base/math.hpp"

namespace ranvier {

namespace {

// Both distributions are those of independent Poisson counts ("cells") given their sums: a binomial has two cells
// (successes, failures), a hypergeometric the four of a two by two table. With the means of the cells in proportion,
// the logarithm of a probability is the sum of the cells' logarithms, up to a constant. Written by deviations from the
// means, no term is larger than the result needs: differences of log-factorials would lose all digits for numbers
// beyond 1e9. C. Loader, "Fast and accurate computation of binomial probabilities" (2000).

/// Below this mean, summing probabilities from 0 takes fewer operations than rejection.
constexpr double least_mean_for_rejection = 10.0;

/// log n! minus Stirling's formula (n + 1/2) log n - n + log(2 pi) / 2, for n >= 1.
double stirling_error(double n) {
    static constexpr std::array<double, 16> small{
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
double deviance(double x, double mean, double deviation) {
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
double log_poisson(double x, double mean, double deviation) {
    if (x == 0.0) return -mean;
    constexpr double two_pi = 6.283185307179586;
    return -0.5 * math::log(two_pi * x) - stirling_error(x) - deviance(x, mean, deviation);
}

double log_poisson_at_mean(double mean) { return log_poisson(mean, mean, 0.0); }

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

/// Sums probabilities from that of 0 until they exceed a uniform number. `ratio(k)` is P(k + 1) / P(k).
template <class Ratio>
std::uint64_t invert_from_zero(SequentialRandom& random, double log_probability_of_zero, std::uint64_t most,
                               const Ratio& ratio) {
    // With a mean below 10, larger values have a probability below 1e-60; but rounding of the sum could reach them.
    const auto last = static_cast<std::uint32_t>(std::min<std::uint64_t>(most, 110));
    const double probability_of_zero = math::exp(log_probability_of_zero);
    while (true) {
        double left = random.next_unit();
        double probability = probability_of_zero;
        for (std::uint32_t k = 0; k <= last; ++k) {
            if (left <= probability) return k;
            left -= probability;
            probability *= ratio(static_cast<double>(k));
        }
    }
}

/// BTRS of W. Hörmann, "The generation of binomial random variates", Journal of Statistical Computation and Simulation
/// 46 (1993): transformed rejection with a squeeze, for a probability <= 1/2 and a mean >= 10.
std::uint64_t binomial_by_rejection(SequentialRandom& random, double trials, double probability) {
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

std::uint64_t small_binomial(SequentialRandom& random, std::uint64_t trials, double probability) {
    const double n = static_cast<double>(trials);
    const double odds = probability / (1.0 - probability);
    // trials log(1 - probability), with all digits for small probabilities.
    const double log_of_zero = n * math::log1p(-probability);
    return invert_from_zero(random, log_of_zero, trials, [&](double k) { return (n - k) / (k + 1.0) * odds; });
}

/// A two by two table of counts with given sums of its rows and columns; the first cell varies. good, sample <= total /
/// 2.
struct Table {
    double good;
    double sample;
    double total;

    double mean() const { return good / total * sample; }
    double rest() const { return (total - good) - sample; }

    /// Logarithm of the probability of a first cell with this deviation from its mean, up to a constant.
    double log_weight(double cell, double deviation) const {
        const double expected = mean();
        return log_poisson(cell, expected, deviation) + log_poisson(good - cell, good - expected, -deviation) +
               log_poisson(sample - cell, sample - expected, -deviation) +
               log_poisson(rest() + cell, rest() + expected, deviation);
    }
    double log_probability_of_zero() const {
        const double margins = log_poisson_at_mean(good) + log_poisson_at_mean(total - good) +
                               log_poisson_at_mean(sample) + log_poisson_at_mean(total - sample) -
                               log_poisson_at_mean(total);
        return log_weight(0.0, -mean()) - margins;
    }
};

/// HRUA of E. Stadlober, "Sampling from Poisson, binomial and hypergeometric distributions: ratio of uniforms as a simple
/// and fast alternative" (1989): the ratio of two uniform numbers falls under a table mountain that covers the
/// distribution, with its centre half above the mean.
std::uint64_t hypergeometric_by_rejection(SequentialRandom& random, const Table& table) {
    const Centre centre{table.mean()};
    const double variance =
        centre.mean * (1.0 - table.good / table.total) * (table.total - table.sample) / (table.total - 1.0);
    // 2 sqrt(2 / e) and 3 - 2 sqrt(3 / e).
    const double width = 1.71552776992141359 * std::sqrt(variance + 0.5) + 0.898916162058898741;
    // floor((good + 1) (sample + 1) / (total + 2)) is the mode; written as its distance from the mean.
    const double beyond = (table.good + table.sample + 1.0 - 2.0 * centre.mean) / (table.total + 2.0);
    const double mode = std::floor(centre.fraction + beyond);
    const double weight_of_mode = table.log_weight(centre.whole + mode, mode - centre.fraction);
    const double last = std::min(table.good, table.sample) - centre.whole;
    while (true) {
        const double u = random.next_unit();
        const double v = random.next_unit();
        const double offset = std::floor((centre.fraction + 0.5) + width * (v - 0.5) / u);
        if (offset < -centre.whole || offset > last) continue;
        const double weight = table.log_weight(centre.whole + offset, offset - centre.fraction) - weight_of_mode;
        // Accepted when u^2 <= exp(weight); the first two lines decide most cases without a logarithm.
        if (u * (4.0 - u) - 3.0 <= weight) return centre.at(offset);
        if (u * (u - weight) >= 1.0) continue;
        if (2.0 * math::log(u) <= weight) return centre.at(offset);
    }
}

/// @pre good, sample <= (good + bad) / 2
std::uint64_t hypergeometric_of_smaller_parts(SequentialRandom& random, std::uint64_t good, std::uint64_t bad,
                                              std::uint64_t sample) {
    if (good == 0 || sample == 0) return 0;
    const Table table{static_cast<double>(good), static_cast<double>(sample), static_cast<double>(good + bad)};
    if (table.mean() >= least_mean_for_rejection) return hypergeometric_by_rejection(random, table);
    const double rest = static_cast<double>(bad - sample);
    return invert_from_zero(random, table.log_probability_of_zero(), std::min(good, sample), [&](double k) {
        return (table.good - k) / (k + 1.0) * ((table.sample - k) / (rest + k + 1.0));
    });
}

}  // namespace

std::uint64_t draw_binomial(SequentialRandom& random, std::uint64_t trials, double probability) {
    assert(trials <= most_items && probability >= 0.0 && probability <= 1.0);
    if (probability > 0.5) return trials - draw_binomial(random, trials, 1.0 - probability);
    if (trials == 0 || probability == 0.0) return 0;
    const double n = static_cast<double>(trials);
    if (n * probability < least_mean_for_rejection) return small_binomial(random, trials, probability);
    return binomial_by_rejection(random, n, probability);
}

std::uint64_t draw_hypergeometric(SequentialRandom& random, std::uint64_t good, std::uint64_t bad,
                                  std::uint64_t sample) {
    assert(good <= most_items && bad <= most_items - good && sample <= good + bad);
    const std::uint64_t total = good + bad;
    // The distribution is symmetric in taken and remaining items, and in good and bad ones: reduce both to at most
    // half.
    const bool take_rest = sample > total - sample;
    const std::uint64_t taken = take_rest ? total - sample : sample;
    const bool count_bad = good > bad;
    const std::uint64_t counted =
        hypergeometric_of_smaller_parts(random, std::min(good, bad), std::max(good, bad), taken);
    const std::uint64_t good_taken = count_bad ? taken - counted : counted;
    return take_rest ? good - good_taken : good_taken;
}

}  // namespace ranvier
