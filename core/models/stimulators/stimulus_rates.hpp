#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory_resource>
#include <span>
#include <vector>

#include "base/math.hpp"
#include "models/stimulus_tools.hpp"

/// Rates of trains as functions of time. Each class gives the mean rate of a step, spikes/s, for all targets or for
/// each:
///
///     const GroupValues& in_step(Step time);      // the step that ends at `time`
///     double greatest(std::size_t target) const;  // maximum over all times
namespace ranvier::models::stimulus_rates {

/// A constant rate.
class Constant {
   public:
    Constant(const GroupValues& rates, std::pmr::memory_resource* memory) : rates_(rates.copy(memory)) {}

    const GroupValues& in_step(Step) { return rates_; }
    double greatest(std::size_t target) const { return rates_[target]; }

   private:
    GroupValues rates_;
};

/// rates[i] from times[i] on, the same for all targets.
class Piecewise {
   public:
    Piecewise(const StimulusArguments& arguments, std::span<const double> times, std::span<const double> rates)
        : times_(stimulus_tools::to_steps(times, arguments.resolution, "times", arguments.memory)),
          rates_(rates.begin(), rates.end(), arguments.memory),
          now_{std::pmr::vector<double>(1, 0.0, arguments.memory)} {}

    const GroupValues& in_step(Step time) {
        // The step that ends at `time` has the rate at its start.
        now_.values[0] = course_.at(times_, rates_, time - 1);
        return now_;
    }
    double greatest(std::size_t) const { return rates_.empty() ? 0.0 : *std::ranges::max_element(rates_); }

   private:
    std::pmr::vector<Step> times_;
    std::pmr::vector<double> rates_;
    stimulus_tools::PiecewiseConstant course_;
    GroupValues now_;
};

/// mean + amplitude sin(2 pi frequency t + phase), and 0 where its mean in a step is negative.
class Sine {
   public:
    struct Parameters {
        const GroupValues& mean;
        const GroupValues& amplitude;
        const GroupValues& frequency;  ///< Hz
        const GroupValues& phase;      ///< degrees
    };
    Sine(const StimulusArguments& arguments, const Parameters& given)
        : mean_(given.mean.copy(arguments.memory)),
          amplitude_(given.amplitude.copy(arguments.memory)),
          cycles_per_step_(given.frequency.copy(arguments.memory)),
          phase_(given.phase.copy(arguments.memory)),
          now_{std::pmr::vector<double>(arguments.memory)} {
        for (double& value : cycles_per_step_.values) value *= arguments.resolution / 1000.0;
        for (double& value : phase_.values) value /= 360.0;
        const bool uniform = mean_.uniform() && amplitude_.uniform() && cycles_per_step_.uniform() && phase_.uniform();
        now_.values.resize(uniform ? 1 : arguments.targets.size());
    }

    const GroupValues& in_step(Step time) {
        const double middle = static_cast<double>(time) - 0.5;
        for (std::size_t i = 0; i < now_.values.size(); ++i) now_.values[i] = at(i, middle);
        return now_;
    }
    /// The rate of one target in the step that ends at `time`.
    double in_step(std::size_t target, Step time) const { return at(target, static_cast<double>(time) - 0.5); }
    double greatest(std::size_t target) const { return mean_[target] + std::abs(amplitude_[target]); }

   private:
    double at(std::size_t i, double middle) const {
        const double cycles = cycles_per_step_[i];
        // The mean of the sine over a step is its value at the middle of the step times this.
        const double smoothed =
            std::abs(cycles) < 1e-9 ? 1.0 : math::sin_cycles(0.5 * cycles) / (3.14159265358979323846 * cycles);
        return std::max(0.0, mean_[i] + amplitude_[i] * smoothed * math::sin_cycles(cycles * middle + phase_[i]));
    }

    GroupValues mean_;
    GroupValues amplitude_;
    GroupValues cycles_per_step_;
    GroupValues phase_;  ///< cycles
    GroupValues now_;
};

}  // namespace ranvier::models::stimulus_rates
