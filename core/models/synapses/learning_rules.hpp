#pragma once

#include <cstddef>
#include <cstdint>

#include "base/math.hpp"
#include "ranvier/base/instruction_set.hpp"

/// What spikes do to a weight, for the loops of connect/plasticity/rule_loops.hpp and for the kernels of devices, which include
/// this text. So it includes nothing else of the standard library.
namespace ranvier::models::learning_rules {

/// Exponents shared by all synapses: two have short forms, with separate loops.
enum class Exponent : std::uint8_t { zero, one, any, of_synapse };

template <Exponent exponent, class Real>
RANVIER_ALWAYS_INLINE Real power(Real x, [[maybe_unused]] Real y) {
    if constexpr (exponent == Exponent::zero) return Real{1};
    if constexpr (exponent == Exponent::one) return x;
    if constexpr (exponent == Exponent::any) return math::pow(x, y);
    if constexpr (exponent == Exponent::of_synapse) {
        // The same calculation as in the loops for shared exponents.
        const Real any = math::pow(x, y);
        return y == Real{0} ? Real{1} : (y == Real{1} ? x : any);
    }
}

/// The same in two stages: math::pow(x, y) is power_of(x, exponent_of(x, y)), bit for bit.
RANVIER_ALWAYS_INLINE double exponent_of(double x, double y) { return y * math::log(x < 0x1p-1022 ? 1.0 : x); }
RANVIER_ALWAYS_INLINE double power_of(double x, double exponent) {
    const double power = math::exp(exponent);
    return x < 0x1p-1022 ? 0.0 : power;
}
RANVIER_ALWAYS_INLINE float exponent_of(float x, float y) { return y * math::log2(x < 0x1p-126F ? 1.0F : x); }
RANVIER_ALWAYS_INLINE float power_of(float x, float exponent) {
    const float power = math::exp2(exponent);
    return x < 0x1p-126F ? 0.0F : power;
}

/// Of the model stdp and its variants.
template <class Number, Exponent plus, Exponent minus>
struct Stdp {
    using Real = Number;
    struct Constants {
        Real up;
        Real down;
        Real mu_plus;
        Real mu_minus;
        Real greatest;
    };
    static constexpr bool presynaptic_trace_accumulates = true;
    static constexpr bool postsynaptic_trace_accumulates = true;

    /// With per-synapse parameters, in the order of the model's `rule_parameters`.
    RANVIER_ALWAYS_INLINE static Constants constants(const Real* const* p, std::size_t i) {
        return {p[0][i], p[0][i] * p[1][i], p[2][i], p[3][i], p[4][i]};
    }
    RANVIER_ALWAYS_INLINE static Real postsynaptic(Real weight, Real trace, const Constants& c) {
        const Real part = weight / c.greatest;
        const Real more = part + c.up * power<plus>(Real{1} - part, c.mu_plus) * trace;
        return more < Real{1} ? more * c.greatest : c.greatest;
    }
    RANVIER_ALWAYS_INLINE static Real presynaptic(Real weight, Real trace, const Constants& c) {
        const Real part = weight / c.greatest;
        const Real less = part - c.down * power<minus>(part, c.mu_minus) * trace;
        return less > Real{0} ? less * c.greatest : Real{0};
    }
};

template <class Number, Exponent exponent>
struct StdpPl {
    using Real = Number;
    struct Constants {
        Real up;
        Real down;
        Real mu;
    };
    static constexpr bool presynaptic_trace_accumulates = true;
    static constexpr bool postsynaptic_trace_accumulates = true;

    RANVIER_ALWAYS_INLINE static Real postsynaptic(Real weight, Real trace, const Constants& c) {
        return weight + c.up * power<exponent>(weight, c.mu) * trace;
    }
    RANVIER_ALWAYS_INLINE static Real presynaptic(Real weight, Real trace, const Constants& c) {
        const Real less = weight - c.down * weight * trace;
        return less > Real{0} ? less : Real{0};
    }
};

/// For any exponent, with the power in two stages.
template <class Number>
struct StagedStdpPl : StdpPl<Number, Exponent::any> {
    using Real = Number;
    using Constants = typename StdpPl<Number, Exponent::any>::Constants;

    RANVIER_ALWAYS_INLINE static Real first_stage(Real weight, const Constants& c) { return exponent_of(weight, c.mu); }
    RANVIER_ALWAYS_INLINE static Real second_stage(Real weight, Real trace, Real exponent, const Constants& c) {
        return weight + c.up * power_of(weight, exponent) * trace;
    }
};

template <class Number>
struct StdpTriplet {
    using Real = Number;
    struct Constants {
        Real up;
        Real up_triplet;
        Real down;
        Real down_triplet;
        Real sign;
        Real greatest;  ///< absolute value
    };
    static constexpr bool presynaptic_trace_accumulates = true;
    static constexpr bool postsynaptic_trace_accumulates = true;
    static constexpr std::size_t same_side_presynaptic_traces = 1;
    static constexpr std::size_t same_side_postsynaptic_traces = 1;

    /// With per-synapse parameters, in the order of the model's `rule_parameters`.
    RANVIER_ALWAYS_INLINE static Constants constants(const Real* const* p, std::size_t i) {
        const bool is_negative = p[4][i] < Real{0};
        return {p[0][i], p[1][i], p[2][i], p[3][i], is_negative ? Real{-1} : Real{1}, is_negative ? -p[4][i] : p[4][i]};
    }
    RANVIER_ALWAYS_INLINE static Real postsynaptic(Real weight, Real trace, Real same_side_trace, const Constants& c) {
        const Real size = c.sign * weight + trace * (c.up + c.up_triplet * same_side_trace);
        return c.sign * (size < c.greatest ? size : c.greatest);
    }
    RANVIER_ALWAYS_INLINE static Real presynaptic(Real weight, Real trace, Real same_side_trace, const Constants& c) {
        const Real size = c.sign * weight - trace * (c.down + c.down_triplet * same_side_trace);
        return size > Real{0} ? c.sign * size : Real{0};
    }
};

template <class Number>
struct VogelsSprekeler {
    using Real = Number;
    struct Constants {
        Real up;
        Real down;
        Real sign;
        Real greatest;  ///< absolute value
    };
    static constexpr bool presynaptic_trace_accumulates = true;
    static constexpr bool postsynaptic_trace_accumulates = true;

    /// With per-synapse parameters, in the order of the model's `rule_parameters`.
    RANVIER_ALWAYS_INLINE static Constants constants(const Real* const* p, std::size_t i) {
        const bool is_negative = p[2][i] < Real{0};
        return {p[0][i], p[0][i] * p[1][i], is_negative ? Real{-1} : Real{1}, is_negative ? -p[2][i] : p[2][i]};
    }
    RANVIER_ALWAYS_INLINE static Real grown(Real size, Real trace, const Constants& c) {
        const Real more = size + c.up * trace;
        return more < c.greatest ? more : c.greatest;
    }
    RANVIER_ALWAYS_INLINE static Real postsynaptic(Real weight, Real trace, const Constants& c) {
        return c.sign * grown(c.sign * weight, trace, c);
    }
    RANVIER_ALWAYS_INLINE static Real presynaptic(Real weight, Real trace, const Constants& c) {
        const Real size = grown(c.sign * weight, trace, c) - c.down;
        return size > Real{0} ? c.sign * size : Real{0};
    }
};

}  // namespace ranvier::models::learning_rules
