#pragma once

#include "cable/plans/cell_plan.hpp"
#include "device/backend/cell_source.hpp"

namespace ranvier::cable {

/// The cells of a plan for devices. Its state has, after the potentials by slot, the gates by class, place and gate;
/// concentrations by pool; states of general mechanisms by mechanism, place and state; the slow and the fast exponential of
/// each receptor; and the currents of electrodes.
/// @param step ms
/// @pre missing_on_devices() returns nothing for its cells
device::CellForm device_form(const CellPlan& plan, double step);

/// What cells have that devices do not, or nothing.
std::optional<std::string> missing_on_devices(const CellSpec& spec);

}  // namespace ranvier::cable
