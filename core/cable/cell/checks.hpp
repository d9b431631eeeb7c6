#pragma once

#include <cstddef>

#include "ranvier/cable/cell/spec.hpp"

namespace ranvier::cable {

/// Checks all of a description, and gives parameters that differ between cells their default values.
/// @throws ShapeError, ValueOutOfBoundsError, UnknownNameError naming the mechanism, receptor or probe
void check_cell(CellSpec& spec);

/// That each compartment has at most one pool, and that calcium currents know their reversal potential.
/// @throws ValueOutOfBoundsError naming mechanism and section
void check_calcium(const CellSpec& spec);

/// Whether a parameter is the reversal potential of a calcium current, which may be NaN: not given.
bool is_calcium_reversal(const MechanismModel& mechanism, std::size_t parameter);

}  // namespace ranvier::cable
