#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ranvier/base/ids.hpp"
#include "ranvier/cable/cell/morphology.hpp"
#include "ranvier/models/model_info.hpp"

namespace ranvier::cable {

class Compartments;

/// An electrode at one place of each cell that injects a given current, or holds a given potential.
struct PlacedClamp {
    enum class Kind : std::uint8_t { current, voltage };

    std::string name;
    Kind kind = Kind::current;
    Place place;
    double start = 0.0;             ///< ms
    std::vector<double> levels;     ///< consecutive: pA, or mV
    std::vector<double> durations;  ///< ms, by level; the last one may be infinite
    double resistance = 0.0;        ///< of a voltage clamp, in series with the membrane, MOhm
};

inline constexpr Bounds level_bounds{.lower = -1000.0, .upper = 1000.0};     // mV
inline constexpr Bounds resistance_bounds{.lower = 1e-3, .upper = 1e9};      // MOhm
inline constexpr Bounds start_bounds{.lower = 0.0, .upper = 1e12};           // ms
inline constexpr Bounds duration_bounds{.lower = 1e-6, .upper = HUGE_VAL};  // ms

/// @throws ValueOutOfBoundsError, ShapeError with the name of the clamp
void check_clamps(std::span<const PlacedClamp> clamps, const Compartments& compartments);
/// End of the last level, ms.
double end_of(const PlacedClamp& clamp);

/// The action of a clamp in each step. If a level starts or ends within a step, it acts with that fraction of the
/// step, so that the charge of a current does not depend on the grid.
class ClampCourse {
   public:
    /// @param step ms
    ClampCourse(const PlacedClamp& clamp, double step);

    struct Action {
        double conductance = 0.0;  ///< nS; of a current clamp 0
        double current = 0.0;      ///< pA at 0 mV
    };
    /// The action in the step from (step - 1) h to step h.
    Action at(Step step) const { return at(numbers_, step); }

    /// The complete course: its conductance, the start of the first level and the end of each in steps, and the
    /// levels.
    std::span<const double> numbers() const { return numbers_; }
    static Action at(std::span<const double> numbers, Step step);

   private:
    std::vector<double> numbers_;
};

}  // namespace ranvier::cable
