#pragma once

#include <cstddef>

#include "ranvier/cable/cell/spec.hpp"

namespace ranvier::cable {

/// Checks the whole description, and sets targets of per-cell parameters to their default values.
/// @throws ShapeError, ValueOutOfBoundsError, UnknownNameError with the name of the mechanism, receptor or probe
void check_cell(CellSpec& spec);

/// Checks that each compartment has at most one pool, and that all calcium currents have a reversal potential.
/// @throws ValueOutOfBoundsError with the names of mechanism and section
void check_calcium(const CellSpec& spec);

/// Whether a parameter is the reversal potential of a calcium current, for which NaN means that none was given.
bool is_calcium_reversal(const MechanismModel& mechanism, std::size_t parameter);

}  // namespace ranvier::cable
