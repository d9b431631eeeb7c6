#pragma once

#include <cstdint>

namespace ranvier::cable {

/// The source of steady states and time constants of gates: cubic tables with a bounded error, or their formulas.
enum class RateMethod : std::uint8_t { table, exact };

/// The integration of potentials: backward Euler, of first order in the step, or the trapezoidal rule with gates and
/// conductances in the middle of steps, of second order.
enum class Scheme : std::uint8_t { backward_euler, staggered };

}  // namespace ranvier::cable
