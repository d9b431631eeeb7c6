#pragma once

#include <cstdint>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <span>
#include <vector>

#include "cable/kernels/rate_tables.hpp"
#include "cable/plans/cell_plan.hpp"
#include "ranvier/cable/groups/cell_model.hpp"

namespace ranvier::cable {

/// Plans of the kinds of cells of a model, with their rate tables. All groups of cells of the model share one
/// library. Thread-safe.
class PlanLibrary {
   public:
    /// @param step ms
    /// @param memory must outlive the plans
    PlanLibrary(const CellModel& model, double step, std::pmr::memory_resource* memory)
        : model_(model),
          step_(step),
          memory_(memory),
          tables_(step, model.spec().celsius, memory),
          plans_(model.kinds()) {}

    double step() const { return step_; }  ///< ms
    /// The plan of a cell with these values of per-cell parameters. All cells with the defaults share a plan.
    std::shared_ptr<const CellPlan> plan(std::uint32_t kind, std::span<const double> per_cell_values);

   private:
    std::mutex mutex_;
    const CellModel& model_;
    double step_;
    std::pmr::memory_resource* memory_;
    RateTables tables_;
    std::vector<std::shared_ptr<const CellPlan>> plans_;  ///< by kind, with the default values
};

}  // namespace ranvier::cable
