#pragma once

#include <cstddef>
#include <memory_resource>
#include <span>
#include <vector>

#include "cable/plans/cell_plan.hpp"

namespace ranvier::cable {

/// Properties in which cells in the lanes of one block may differ: the threshold, and the course of clamps.
class CellSettings {
   public:
    explicit CellSettings(std::pmr::memory_resource* memory) : thresholds_(memory), begins_(memory), numbers_(memory) {}

    /// Appends a cell.
    /// @param step ms
    void add(const CellSpec& spec, std::span<const double> per_cell_values, double step);

    double threshold(std::size_t cell) const { return thresholds_[cell]; }
    /// Of the clamps of a cell that differ between cells.
    std::span<const double> numbers(std::size_t cell) const {
        const std::size_t end = cell + 1 < begins_.size() ? begins_[cell + 1] : numbers_.size();
        return std::span(numbers_).subspan(begins_[cell], end - begins_[cell]);
    }
    /// The action of a clamp of the plan of a cell in a step.
    ClampCourse::Action action(std::size_t cell, const CellPlan::Clamp& clamp, Step step) const {
        if (!clamp.differs_per_cell) return clamp.course.at(step);
        return ClampCourse::at(
            std::span(numbers_).subspan(begins_[cell] + clamp.first_number, clamp.course.numbers().size()), step);
    }

   private:
    std::pmr::vector<double> thresholds_;
    std::pmr::vector<std::size_t> begins_;  ///< by cell: start of its numbers
    std::pmr::vector<double> numbers_;      ///< of clamps that differ between cells; see ClampCourse::numbers()
};

}  // namespace ranvier::cable
