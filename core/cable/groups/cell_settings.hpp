#pragma once

#include <cstddef>
#include <memory_resource>
#include <span>
#include <vector>

#include "cable/plans/cell_plan.hpp"

namespace ranvier::cable {

/// What cells of one store may differ in although they lie in the lanes of one block: the threshold, and what clamps do.
class CellSettings {
   public:
    explicit CellSettings(std::pmr::memory_resource* memory) : thresholds_(memory), begins_(memory), numbers_(memory) {}

    /// Adds the next cell. @param step ms
    void add(const CellSpec& spec, std::span<const double> own_values, double step);

    double threshold(std::size_t cell) const { return thresholds_[cell]; }
    /// What a clamp of the plan of a cell does in a step.
    ClampCourse::Action action(std::size_t cell, const CellPlan::Clamp& clamp, Step step) const {
        if (!clamp.is_own) return clamp.course.at(step);
        return ClampCourse::at(
            std::span(numbers_).subspan(begins_[cell] + clamp.first_number, clamp.course.numbers().size()), step);
    }

   private:
    std::pmr::vector<double> thresholds_;
    std::pmr::vector<std::size_t> begins_;  ///< of each cell among the numbers
    std::pmr::vector<double> numbers_;      ///< of clamps that differ from cell to cell; see ClampCourse::numbers()
};

}  // namespace ranvier::cable
