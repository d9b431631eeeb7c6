#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "cable/morphology.hpp"

namespace ranvier::cable {

class Compartments;

/// An electrode at one place of each cell that injects a given current, or holds a given potential by what it injects.
struct PlacedClamp {
    enum class Kind : std::uint8_t { current, voltage };

    std::string name;
    Kind kind = Kind::current;
    Place place;
    double start = 0.0;             ///< ms
    std::vector<double> levels;     ///< one after the other: pA, or mV
    std::vector<double> durations;  ///< ms, of each of them; the last one may be infinite
    double resistance = 0.0;        ///< of a voltage clamp, in series with the membrane, MOhm
};

/// @throws ValueOutOfBoundsError, ShapeError naming the clamp
void check_clamps(std::span<const PlacedClamp> clamps, const Compartments& compartments);

/// What a clamp does in each step. Where a level begins or ends within a step, it acts with that part of the step, so that the
/// charge of a current does not depend on the grid.
class ClampCourse {
   public:
    /// @param step ms
    ClampCourse(const PlacedClamp& clamp, double step);

    struct Action {
        double conductance = 0.0;  ///< nS; of a current clamp 0
        double current = 0.0;      ///< pA at 0 mV
    };
    /// In the step that leads from (step - 1) h to step h.
    Action at(Step step) const;

   private:
    double conductance_;
    std::vector<double> levels_;
    std::vector<double> bounds_;  ///< in steps: begin of the first level, then the end of each
};

}  // namespace ranvier::cable
