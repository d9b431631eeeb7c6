#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cable/plans/cell_plan.hpp"

namespace ranvier::cable {

/// The state of cells, independent of its storage. Slots, classes and pools are those of a CellPlan.
class CellValues {
   public:
    virtual ~CellValues() = default;
    virtual double potential(std::size_t cell, std::uint32_t slot) const = 0;
    /// A gate, advanced to the present time as far as its inputs are available.
    virtual double gate(std::size_t cell, std::size_t class_index, std::size_t place, std::size_t gate) const = 0;
    /// A state of a general mechanism. @param general an index of CellPlan::generals
    virtual double state(std::size_t cell, std::size_t general, std::size_t place, std::size_t state) const = 0;
    virtual double calcium(std::size_t cell, std::size_t pool) const = 0;  ///< mM
    /// nS, without the magnesium block.
    virtual double conductance(std::size_t cell, std::size_t receptor) const = 0;
    /// The current of an electrode in the last step, pA.
    virtual double injected(std::size_t cell, std::size_t electrode) const = 0;
    /// The potentials outside of a cell that acted in the last step, mV by slot. Returns whether any did.
    virtual bool outside_potentials(std::size_t cell, std::vector<double>& by_slot) const = 0;
    /// The action of a clamp in the last step.
    virtual ClampCourse::Action action(std::size_t cell, std::size_t clamp) const = 0;
    // The values of per-cell parameters, which may differ from those of its CellPlan.
    virtual std::vector<double> per_cell_values(std::size_t cell) const = 0;
    virtual const ReceptorConstants& receptor_constants(std::size_t cell, std::size_t receptor) const = 0;
    virtual double log_outside(std::size_t cell, std::size_t pool) const = 0;
    virtual double step() const = 0;  ///< ms
    virtual double time() const = 0;  ///< ms: the end of the last step
};

/// The axial currents that potentials outside cause: into each node of a cell, pA by slot.
/// @param potentials mV, by slot @param room for the currents
std::span<const double> outside_currents(const CellPlan& plan, const CellValues& values, std::size_t cell,
                                         std::span<const double> potentials, std::vector<double>& room);

/// Currents through the membrane of each compartment, outwards, pA: what flows in from neighbours, electrodes and clamps. Their
/// sum is that of electrodes and clamps, to rounding.
/// @param out by compartment
void read_membrane_currents(const CellPlan& plan, const CellValues& values, std::size_t cell, double* out);

/// The present value of a probe, in the unit of unit_of().
double read_probe(const Probe& probe, const CellPlan& plan, const CellValues& values, std::size_t cell);

}  // namespace ranvier::cable
