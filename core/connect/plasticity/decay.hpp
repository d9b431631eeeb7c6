#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <vector>

#include "base/math.hpp"
#include "ranvier/base/instruction_set.hpp"

namespace ranvier::connect {

/// Limit of a time constant, in steps: traces then vanish before step numbers overflow.
inline constexpr double longest_time_constant = 1e6;

/// Decay factor of an exponential trace after a number of steps, bit-identical to Decay with the same time constant.
/// @param time_constant in steps, > 0, at most `longest_time_constant` @param steps from 0 to 2^30
template <class Real>
RANVIER_ALWAYS_INLINE Real decay_of(double time_constant, std::int32_t steps);

/// The same bits for fewer steps than a stretch: without a whole stretch, that factor is 1.
template <class Real>
RANVIER_ALWAYS_INLINE Real short_decay_of(double time_constant, std::int32_t steps) {
    return static_cast<Real>(math::exp(-static_cast<double>(steps) / time_constant));
}

/// Decay factors of an exponential trace by number of steps, as a product from two tables: one for whole stretches of
/// 1024 steps, one for the steps within a stretch. For the first stretches, one table holds the products. All lookups
/// give the same bits.
template <class Real>
class Decay {
   public:
    static constexpr int stretch_bits = 10;
    static constexpr std::int32_t stretch_steps = std::int32_t{1} << stretch_bits;
    /// Smaller numbers of steps are in one table.
    static constexpr std::int32_t near_steps = std::int32_t{8} << stretch_bits;

    Decay() = default;
    /// @param steps time constant in steps of the resolution, > 0, at most `longest_time_constant`
    /// @param memory resource of the tables, which must outlive them
    /// @param near whether View::near() will be called
    explicit Decay(double steps, std::pmr::memory_resource* memory = std::pmr::get_default_resource(),
                   bool near = false)
        : short_(std::size_t{1} << stretch_bits, memory),
          long_(static_cast<std::size_t>(stretches(steps)) + 1, memory) {
        if (near) short_.reserve(near_steps);
        for (std::size_t i = 0; i < short_.size(); ++i) {
            short_[i] = static_cast<Real>(math::exp(-static_cast<double>(i) / steps));
        }
        for (std::size_t i = 0; i + 1 < long_.size(); ++i) {
            long_[i] = static_cast<Real>(math::exp(-static_cast<double>(i << stretch_bits) / steps));
        }
        long_.back() = Real{0};
        if (!near) return;
        short_.resize(near_steps);
        for (std::size_t i = std::size_t{1} << stretch_bits; i < near_steps; ++i) {
            const std::size_t stretch = i >> stretch_bits;
            short_[i] = long_[std::min(stretch, long_.size() - 1)] * short_[i - (stretch << stretch_bits)];
        }
    }
    /// Bytes of the tables.
    static std::size_t bytes(double steps, bool near = false) {
        const std::size_t of_short = near ? std::size_t{near_steps} : std::size_t{1} << stretch_bits;
        return (of_short + static_cast<std::size_t>(stretches(steps)) + 1) * sizeof(Real);
    }
    /// For kernels.
    struct View {
        const Real* short_ = nullptr;
        const Real* long_ = nullptr;
        std::int32_t last = 0;  ///< stretch

        RANVIER_ALWAYS_INLINE Real operator()(std::int32_t steps) const {
            const std::int32_t stretch = steps >> stretch_bits;
            return long_[stretch < last ? stretch : last] * short_[steps & ((1 << stretch_bits) - 1)];
        }
        /// The same bits from one table. @pre steps < near_steps
        RANVIER_ALWAYS_INLINE Real near(std::int32_t steps) const { return short_[steps]; }
    };
    View view() const { return {short_.data(), long_.data(), static_cast<std::int32_t>(long_.size() - 1)}; }
    /// @param steps >= 0
    Real operator()(std::int64_t steps) const {
        constexpr std::int64_t most = std::int64_t{1} << 30;
        return view()(static_cast<std::int32_t>(steps < most ? steps : most));
    }

    /// Beyond the last stretch the trace is 0.
    RANVIER_ALWAYS_INLINE static std::int32_t stretches(double steps) {
        const double lifetimes = sizeof(Real) == sizeof(float) ? 87.0 : 690.0;
        return static_cast<std::int32_t>(lifetimes * steps / (std::int32_t{1} << stretch_bits)) + 1;
    }

   private:
    std::pmr::vector<Real> short_;
    std::pmr::vector<Real> long_;
};

template <class Real>
RANVIER_ALWAYS_INLINE Real decay_of(double time_constant, std::int32_t steps) {
    constexpr int bits = Decay<Real>::stretch_bits;
    const std::int32_t stretch = steps >> bits;
    const std::int32_t rest = steps & ((1 << bits) - 1);
    const auto of_rest = static_cast<Real>(math::exp(-static_cast<double>(rest) / time_constant));
    const auto of_stretch = static_cast<Real>(math::exp(-static_cast<double>(stretch << bits) / time_constant));
    return (stretch < Decay<Real>::stretches(time_constant) ? of_stretch : Real{0}) * of_rest;
}

}  // namespace ranvier::connect
