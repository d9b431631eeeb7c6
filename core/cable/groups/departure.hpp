#pragma once

#include <cstdint>
#include <optional>

#include "base/ids.hpp"
#include "models/neuron.hpp"

namespace ranvier::cable {

struct CellPlan;

/// A value of a cell that has left its bounds.
struct Departure {
    enum class Of : std::uint8_t {
        number,     ///< a potential that is infinite or none
        potential,  ///< beyond the tables of rates
        calcium,    ///< a concentration beyond its bounds
        state,      ///< of a general mechanism: not finite
        current,    ///< the same
        iteration,  ///< a loop of a general mechanism that has not ended
    };

    Of of = Of::number;
    Step step = 0;  ///< of the group, after which it had left them
    std::uint32_t cell = 0;  ///< of the group
    std::uint32_t slot = 0;  ///< of the cell's plan
    double value = 0.0;      ///< mV or mM, or that of the variable
    std::uint32_t painted = 0;   ///< of a general mechanism
    std::uint32_t variable = 0;  ///< of its states, or of its currents
};

/// Describes a departure for the user. @param plan of the cell
models::GroupFailure describe(const Departure& departure, const CellPlan& plan);

/// The first departure among the cells of a group: of the earliest step that of the first cell, so that it does not depend on
/// how cells are arranged.
class FirstDeparture {
   public:
    void note(const Departure& next) {
        if (!first_ || next.step < first_->step || (next.step == first_->step && next.cell < first_->cell)) {
            first_ = next;
        }
    }
    const std::optional<Departure>& first() const { return first_; }

   private:
    std::optional<Departure> first_;
};

}  // namespace ranvier::cable
