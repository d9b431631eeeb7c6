#pragma once

#include <cstdint>

#include "ranvier/fmm/solver.hpp"

/// Checks of what a solver is given.
namespace ranvier::fmm {

/// @throws ValueOutOfBoundsError for more pieces or targets of all members than can be numbered
void check_totals(std::uint64_t pieces, std::uint64_t targets);

/// @param is_alone whether the solver has no other members
/// @throws ValueOutOfBoundsError, ShapeError, StateError as the constructor of Solver
void check(const Portion& given, const SolverOptions& options, bool is_alone);

}  // namespace ranvier::fmm
