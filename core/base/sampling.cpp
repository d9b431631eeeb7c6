#include "base/sampling.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "base/binomial.hpp"
#include "base/math.hpp"

namespace ranvier {

namespace {

using sampling::Centre;
using sampling::least_mean_for_rejection;
using sampling::log_poisson;

double log_poisson_at_mean(double mean) { return log_poisson(mean, mean, 0.0); }

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
    return sampling::binomial_by_rejection(random, n, probability);
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
