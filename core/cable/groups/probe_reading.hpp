#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cable/plans/cell_plan.hpp"

namespace ranvier::cable {

/// State of cells, wherever it lies. Slots, classes and pools are those of a CellPlan.
class CellValues {
   public:
    virtual ~CellValues() = default;
    virtual double potential(std::size_t cell, std::uint32_t slot) const = 0;
    /// After it has followed what it follows as far as that is known.
    virtual double gate(std::size_t cell, std::size_t class_index, std::size_t place, std::size_t gate) const = 0;
    /// A state of a general mechanism. @param general an index of CellPlan::generals
    virtual double state(std::size_t cell, std::size_t general, std::size_t place, std::size_t state) const = 0;
    virtual double calcium(std::size_t cell, std::size_t pool) const = 0;  ///< mM
    /// nS, without the block by magnesium.
    virtual double conductance(std::size_t cell, std::size_t receptor) const = 0;
    /// pA of an electrode in the step that was calculated last.
    virtual double injected(std::size_t cell, std::size_t electrode) const = 0;
    /// Of a clamp in the step that was calculated last.
    virtual ClampCourse::Action action(std::size_t cell, std::size_t clamp) const = 0;
    // What its own parameters give, which may be others than those of its CellPlan.
    virtual std::vector<double> own_values(std::size_t cell) const = 0;
    virtual const ReceptorConstants& receptor_constants(std::size_t cell, std::size_t receptor) const = 0;
    virtual double log_outside(std::size_t cell, std::size_t pool) const = 0;
    virtual double step() const = 0;  ///< ms
    virtual double time() const = 0;  ///< ms: the end of the step that was calculated last
};

/// The present value of a probe, in the unit of unit_of().
double read_probe(const Probe& probe, const CellPlan& plan, const CellValues& values, std::size_t cell);

}  // namespace ranvier::cable
