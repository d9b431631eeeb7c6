#pragma once

#include <cstdint>

#include "base/math.hpp"

// Compiled for GPUs too (core/models/synapses/release_rules.hpp), so it includes nothing else of the standard library.
namespace ranvier::connect {

/// Draws binomial numbers repeatedly with the same probability.
class BinomialDraws {
   public:
    /// @param probability in [0, 1]
    explicit BinomialDraws(double probability)
        : counts_failures_(probability > 0.5),
          probability_(counts_failures_ ? 1.0 - probability : probability),
          odds_(probability_ / (1.0 - probability_)),
          log_of_failure_(math::log1p(-probability_)) {}

    /// @param unit a uniform number in (0, 1), sufficient where few successes are expected
    /// @param more otherwise, draws a number: more.binomial(trials, probability)
    template <class More>
    std::uint32_t draw(std::uint32_t trials, double unit, More more) const {
        const std::uint32_t counted = count(trials, unit, more);
        return counts_failures_ ? trials - counted : counted;
    }

   private:
    template <class More>
    std::uint32_t count(std::uint32_t trials, double unit, More& more) const {
        const auto n = static_cast<double>(trials);
        // With a mean below this, the sum of probabilities is accurate enough.
        constexpr double greatest_mean = 10.0;
        if (n * probability_ >= greatest_mean) return static_cast<std::uint32_t>(more.binomial(trials, probability_));
        // Larger values have a probability below 1e-60; but rounding of the sum could reach them.
        constexpr std::uint32_t most = 110;
        const std::uint32_t last = trials < most ? trials : most;
        double probability = math::exp(n * log_of_failure_);
        std::uint32_t counted = 0;
        while (counted < last && unit > probability) {
            unit -= probability;
            probability *= (n - static_cast<double>(counted)) / (static_cast<double>(counted) + 1.0) * odds_;
            ++counted;
        }
        return counted;
    }

    bool counts_failures_;
    double probability_;  ///< of the counted outcome, at most 1/2
    double odds_;
    double log_of_failure_;
};

}  // namespace ranvier::connect
