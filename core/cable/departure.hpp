#pragma once

#include <cstdint>
#include <optional>

#include "base/ids.hpp"

namespace ranvier::cable {

/// A value of a cell that has left its bounds.
struct Departure {
    enum class Of : std::uint8_t {
        number,     ///< a potential that is infinite or none
        potential,  ///< beyond the tables of rates
        calcium,    ///< a concentration beyond its bounds
    };

    Of of = Of::number;
    Step step = 0;  ///< of the group, after which it had left them
    std::uint32_t cell = 0;  ///< of the group
    std::uint32_t slot = 0;  ///< of the cell's plan
    double value = 0.0;      ///< mV or mM
};

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
