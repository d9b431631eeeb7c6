#pragma once

#include <cstdint>
#include <optional>

#include "ranvier/base/ids.hpp"
#include "ranvier/models/neuron.hpp"

namespace ranvier::cable {

struct CellPlan;

/// A value of a cell that is out of its bounds.
struct OutOfBounds {
    enum class Of : std::uint8_t {
        number,     ///< a potential that is not finite
        potential,  ///< outside the range of rate tables
        calcium,    ///< a concentration out of bounds
        state,      ///< of a general mechanism: not finite
        current,    ///< the same
        iteration,  ///< a loop of a general mechanism that has not ended
    };

    Of of = Of::number;
    Step step = 0;  ///< of the group: the first step after which the value was out of bounds
    std::uint32_t cell = 0;  ///< of the group
    std::uint32_t slot = 0;  ///< of the cell's plan
    double value = 0.0;      ///< mV or mM, or that of the variable
    std::uint32_t painted = 0;   ///< of a general mechanism
    std::uint32_t variable = 0;  ///< of its states, or of its currents
};

/// Describes an out-of-bounds value for the user. @param plan of the cell
models::GroupFailure describe(const OutOfBounds& out_of_bounds, const CellPlan& plan);

/// The first out-of-bounds value of a group: of the earliest step, and in it of the first cell, so that it does not
/// depend on the arrangement of cells.
class FirstOutOfBounds {
   public:
    void note(const OutOfBounds& next) {
        if (!first_ || next.step < first_->step || (next.step == first_->step && next.cell < first_->cell)) {
            first_ = next;
        }
    }
    const std::optional<OutOfBounds>& first() const { return first_; }

   private:
    std::optional<OutOfBounds> first_;
};

}  // namespace ranvier::cable
