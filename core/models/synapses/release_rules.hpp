#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "base/math.hpp"
#include "ranvier/base/instruction_set.hpp"

/// Which part of the weight a spike adds, after the earlier spikes of its source: for connect/plasticity/row_factor_table.hpp, and
/// for the kernels of devices, which include this text. So it includes nothing else of the standard library.
namespace ranvier::models::release_rules {

/// Decay over a time; 0 for a time constant of 0.
RANVIER_ALWAYS_INLINE double decay(double time, double tau) { return tau == 0.0 ? 0.0 : math::exp(-time / tau); }

struct Tsodyks {
    static constexpr std::size_t states = 3;

    /// Recovered resources, those in use, and the fraction that the last spike used.
    struct State {
        double values[states] = {};  // NOLINT(modernize-avoid-c-arrays): no calls in kernels
        std::int64_t last = 0;
    };
    struct Constants {
        double rest;
        double current;       ///< ms
        double recovery;      ///< ms
        double facilitation;  ///< ms
        double resolution;    ///< ms
        State first;
    };

    RANVIER_ALWAYS_INLINE static double release(State& state, std::int64_t now, const Constants& c) {
        const auto [recovered_before, in_use_before, used_before] = state.values;
        const double time = static_cast<double>(now - state.last) * c.resolution;
        const double inactive = 1.0 - recovered_before - in_use_before;
        // The fraction of the resources in use that is inactive after this time. This form also holds for equal
        // time constants, and nothing overflows.
        const double difference = std::abs(time / c.current - time / c.recovery);
        const double slower = math::exp(-time / (c.current < c.recovery ? c.recovery : c.current));
        const double passed = slower * (time / c.current) * math::expm1_over(-difference);
        const double inactive_now = inactive * math::exp(-time / c.recovery) + in_use_before * passed;
        const double in_use = in_use_before * math::exp(-time / c.current);
        const double left = 1.0 - in_use - inactive_now;
        const double recovered = left < 0.0 ? 0.0 : (left > 1.0 ? 1.0 : left);
        const double decayed = used_before * decay(time, c.facilitation);
        const double used = decayed + c.rest * (1.0 - decayed);
        const double released = used * recovered;
        state.values[0] = recovered - released;
        state.values[1] = in_use + released;
        state.values[2] = used;
        state.last = now;
        return released;
    }
};

struct Tsodyks2 {
    static constexpr std::int64_t never = -1;
    static constexpr std::size_t states = 2;

    /// The part that the last spike used, and the resources that it found.
    struct State {
        double values[states] = {};  // NOLINT(modernize-avoid-c-arrays): no calls in kernels
        std::int64_t last = never;
    };
    struct Constants {
        double rest;
        double recovery;      ///< ms
        double facilitation;  ///< ms
        double first_used;
        double first_resources;
        double resolution;  ///< ms
    };

    RANVIER_ALWAYS_INLINE static double release(State& state, std::int64_t now, const Constants& c) {
        auto& [used, resources] = state.values;
        if (state.last != never) {
            const double time = static_cast<double>(now - state.last) * c.resolution;
            const double left = resources * (1.0 - used);
            resources = 1.0 + (left - 1.0) * decay(time, c.recovery);
            used = c.rest + used * (1.0 - c.rest) * decay(time, c.facilitation);
        }
        state.last = now;
        return resources * used;
    }
};

struct SaturatingNmda {
    static constexpr std::int64_t never = -1;
    static constexpr std::size_t states = 1;

    /// The fraction of open channels after the last spike.
    struct State {
        double values[states] = {};  // NOLINT(modernize-avoid-c-arrays): no calls in kernels
        std::int64_t last = never;
    };
    struct Constants {
        double first;       ///< the fraction that a spike opens if all channels are closed
        double fewer;       ///< the reduction of this fraction if all are open
        double decay;       ///< ms
        double resolution;  ///< ms
    };

    RANVIER_ALWAYS_INLINE static double release(State& state, std::int64_t now, const Constants& c) {
        double open = 0.0;
        if (state.last != never) {
            const double time = static_cast<double>(now - state.last) * c.resolution;
            open = state.values[0] * release_rules::decay(time, c.decay);
        }
        const double more = c.first - c.fewer * open;
        const double opened = more > 0.0 ? more : 0.0;
        state.values[0] = open + opened;
        state.last = now;
        return opened;
    }
};

}  // namespace ranvier::models::release_rules
