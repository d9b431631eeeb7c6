#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory_resource>
#include <span>
#include <vector>

#include "base/math.hpp"
#include "base/tight_list.hpp"
#include "connect/plasticity/decay.hpp"
#include "ranvier/base/state_columns.hpp"

namespace ranvier::connect {

/// Conversion of the eligibility c, learnt from pairs of spikes, into changes of weights by a transmitter:
///
///     dw/dt = c (n - baseline),  dc/dt = -c / tau_eligibility,  dn/dt = -n / tau_transmitter
///
/// where each spike of the transmitter's neurons adds 1 / tau_transmitter to n. Time constants are in ms.
struct ModulationConstants {
    double up = 0.0;  ///< added to c by a postsynaptic spike, for a presynaptic trace of 1
    double down = 0.0;  ///< subtracted from c by a presynaptic spike, for a postsynaptic trace of 1
    double tau_eligibility = 1.0;
    double tau_transmitter = 1.0;
    double baseline = 0.0;  ///< 1/ms
    double least = 0.0;  ///< bounds of weights
    double greatest = 0.0;
    double resolution = 0.1;  ///< ms
};

/// Adding and subtracting this rounds a weight to what two numbers in single precision can represent.
inline double grid_of_modulated(const ModulationConstants& constants) {
    const double bound = std::max(std::abs(constants.least), std::abs(constants.greatest));
    return 0x1.8p52 * std::ldexp(1.0, std::ilogb(bound) + 1 - 46);
}

/// Change of a weight with eligibility 1 in a number of steps without a pulse: for a concentration that starts at 1 and
/// decays, and for a constant one of 1. Small numbers of steps come from tables, with the same bits.
class StretchGains {
   public:
    StretchGains(const ModulationConstants& constants, std::pmr::memory_resource* memory)
        : tau_eligibility_(constants.tau_eligibility),
          tau_both_(1.0 / (1.0 / constants.tau_eligibility + 1.0 / constants.tau_transmitter)),
          resolution_(constants.resolution),
          falling_(table_steps, memory),
          constant_(table_steps, memory) {
        for (std::int32_t steps = 0; steps < table_steps; ++steps) {
            falling_[static_cast<std::size_t>(steps)] = gain(steps, tau_both_);
            constant_[static_cast<std::size_t>(steps)] = gain(steps, tau_eligibility_);
        }
    }
    static constexpr std::size_t bytes() { return 2 * std::size_t{table_steps} * sizeof(double); }
    /// Smaller numbers of steps come from tables.
    static constexpr std::int32_t table_steps = 1024;

    double falling(std::int32_t steps) const {
        return steps < table_steps ? falling_[static_cast<std::size_t>(steps)] : gain(steps, tau_both_);
    }
    double tau_both() const { return tau_both_; }
    double constant(std::int32_t steps) const {
        return steps < table_steps ? constant_[static_cast<std::size_t>(steps)] : gain(steps, tau_eligibility_);
    }

   private:
    double gain(std::int32_t steps, double tau) const {
        return -tau * math::expm1(-(static_cast<double>(steps) * resolution_) / tau);
    }

    double tau_eligibility_;
    double tau_both_;
    double resolution_;
    std::pmr::vector<double> falling_;
    std::pmr::vector<double> constant_;
};

/// The concentration of a transmitter, as far back as some synapse may need it. Steps are relative to the base of a
/// table.
class Concentration {
   public:
    /// Spikes that arrived in one step.
    struct Pulse {
        std::int32_t step = 0;
        double after = 0.0;  ///< concentration
    };

    Concentration(double tau, double resolution, std::pmr::memory_resource* memory)
        : tau_(tau), decay_(tau / resolution, memory), pulses_(memory) {}

    /// Steps must ascend; spikes of one step may be added in several calls.
    void add(std::int32_t step, std::uint64_t spikes) {
        if (pulses_.empty() || pulses_.back().step != step) {
            before_last_ =
                pulses_.empty() ? 0.0 : pulses_.back().after * decay_(std::int64_t{step} - pulses_.back().step);
            spikes_of_last_ = 0;
            append(pulses_, {step, 0.0});
        }
        // Sums of integers do not depend on how they are split.
        spikes_of_last_ += spikes;
        pulses_.back().after = before_last_ + static_cast<double>(spikes_of_last_) / tau_;
    }

    std::span<const Pulse> pulses() const { return pulses_; }
    /// The index of the first pulse after a step.
    std::size_t first_after(std::int32_t step) const {
        const auto after = std::ranges::upper_bound(pulses_, step, {}, &Pulse::step);
        return static_cast<std::size_t>(after - pulses_.begin());
    }
    double decay(std::int32_t steps) const { return decay_.view()(steps); }

    /// Replaces all pulses; more come in later steps.
    void set(std::span<const Pulse> pulses) { pulses_.assign(pulses.begin(), pulses.end()); }
    /// Drops pulses up to a step, except the last of them.
    void drop_until(std::int32_t step) {
        const std::size_t after = first_after(step);
        if (after > 1) pulses_.erase(pulses_.begin(), pulses_.begin() + static_cast<std::ptrdiff_t>(after - 1));
    }
    /// Saves or loads all pulses. @param base origin of steps
    void serialize(std::int64_t base, StateColumns& columns) {
        const std::size_t size = columns.serialize_size(pulses_.size());
        if (columns.loads()) pulses_.assign(size, {});
        for (Pulse& pulse : pulses_) {
            std::int64_t step = pulse.step + base;
            columns.serialize_element("pulse", step);
            columns.serialize_element("concentration", pulse.after);
            pulse.step = bounded(step - base);
        }
    }
    void move_base(std::int64_t by) {
        for (Pulse& pulse : pulses_) pulse.step = bounded(pulse.step - by);
    }

   private:
    static std::int32_t bounded(std::int64_t step) {
        constexpr std::int64_t least = std::numeric_limits<std::int32_t>::min() / 2;
        return static_cast<std::int32_t>(std::max(step, least));
    }

    double tau_;
    Decay<double> decay_;
    std::pmr::vector<Pulse> pulses_;
    double before_last_ = 0.0;  ///< concentration when the last pulse came
    std::uint64_t spikes_of_last_ = 0;
};

}  // namespace ranvier::connect
