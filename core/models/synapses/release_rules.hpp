#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "base/math.hpp"
#include "connect/plasticity/binomial_draws.hpp"
#include "ranvier/base/instruction_set.hpp"

/// Which part of the weight a spike adds, after the earlier spikes of its source: for the tables of connect/plasticity, and
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

    /// @param p in the order of the model
    RANVIER_ALWAYS_INLINE static Constants constants(const double* p, double resolution) {
        return {p[0], p[1], p[2], p[3], resolution, {.values = {p[4], p[5], p[6]}, .last = 0}};
    }

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

    /// @param p in the order of the model
    RANVIER_ALWAYS_INLINE static Constants constants(const double* p, double resolution) {
        return {p[0], p[1], p[2], p[3], p[4], resolution};
    }

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

// Rules of connect/plasticity/random_release_table.hpp.

struct Bernoulli {
    static constexpr std::uint32_t blocks = 1;
    static constexpr std::size_t states = 0;

    struct Constants {
        double probability;
    };
    using Spike = Constants;

    RANVIER_ALWAYS_INLINE static Constants constants(const double* p, double /*resolution*/) { return {p[0]}; }
    RANVIER_ALWAYS_INLINE static Spike spike(double* /*states*/, std::int64_t /*now*/, std::int64_t /*last*/,
                                             const Constants& c) {
        return c;
    }
    template <class Draws>
    RANVIER_ALWAYS_INLINE static std::uint32_t released(const Spike& spike, std::uint32_t& /*count*/,
                                                        const Draws& draws) {
        return draws.unit(0) < spike.probability ? 1 : 0;
    }
};

struct QuantalStp {
    static constexpr std::uint32_t blocks = 64;
    static constexpr std::size_t states = 1;

    struct Constants {
        std::uint32_t sites;
        std::uint32_t available;  ///< at the first spike
        double rest;
        double recovery;      ///< ms
        double facilitation;  ///< ms
        double first_used;
        double resolution;  ///< ms
    };
    struct Spike {
        std::uint32_t sites;
        connect::BinomialDraws recovery;
        connect::BinomialDraws release;
    };

    /// @param p in the order of the model
    RANVIER_ALWAYS_INLINE static Constants constants(const double* p, double resolution) {
        const double full = p[0] - p[5];
        return {static_cast<std::uint32_t>(p[0]),
                static_cast<std::uint32_t>(full > 0.0 ? full : 0.0),
                p[1],
                p[2],
                p[3],
                p[4],
                resolution};
    }
    /// @param used fraction of the vesicles that the last spike used, or that the first one will use
    RANVIER_ALWAYS_INLINE static Spike spike(double* used, std::int64_t now, std::int64_t last, const Constants& c) {
        double recovered = 0.0;
        if (last >= 0) {
            const double time = static_cast<double>(now - last) * c.resolution;
            recovered = -math::expm1(-time / c.recovery);
            *used = c.rest + *used * (1.0 - c.rest) * decay(time, c.facilitation);
        }
        return {c.sites, connect::BinomialDraws(recovered), connect::BinomialDraws(*used)};
    }
    /// @param available sites that hold a vesicle
    template <class Draws>
    static std::uint32_t released(const Spike& spike, std::uint32_t& available, const Draws& draws) {
        available += spike.recovery.draw(spike.sites - available, draws.unit(0), draws.more(0));
        const std::uint32_t quanta = spike.release.draw(available, draws.unit(1), draws.more(blocks / 2));
        available -= quanta;
        return quanta;
    }
};

}  // namespace ranvier::models::release_rules
