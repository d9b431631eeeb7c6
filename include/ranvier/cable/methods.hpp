#pragma once

#include <cstdint>

namespace ranvier::cable {

/// Where steady states and time constants of gates come from: cubic tables with a bounded error, or their formulas.
enum class RateMethod : std::uint8_t { table, exact };

/// How potentials advance: backward Euler, of first order in the step, or, with gates and conductances in the middle of
/// steps, the trapezoidal rule, of second order.
enum class Scheme : std::uint8_t { backward_euler, staggered };

}  // namespace ranvier::cable
