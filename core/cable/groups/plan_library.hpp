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

/// Plans of the kinds of cells of a model, with the tables of rates that these look up. All groups of cells of the model have
/// one library, which several threads may use at a time.
class PlanLibrary {
   public:
    /// @param step ms @param memory must outlive the plans
    PlanLibrary(const CellModel& model, double step, std::pmr::memory_resource* memory)
        : model_(model),
          step_(step),
          memory_(memory),
          tables_(step, model.spec().celsius, memory),
          plans_(model.kinds()) {}

    double step() const { return step_; }  ///< ms
    /// Of a cell with these values of its own parameters. Those that have the defaults share a plan.
    std::shared_ptr<const CellPlan> plan(std::uint32_t kind, std::span<const double> own_values);

   private:
    std::mutex mutex_;
    const CellModel& model_;
    double step_;
    std::pmr::memory_resource* memory_;
    RateTables tables_;
    std::vector<std::shared_ptr<const CellPlan>> plans_;  ///< by kind, of the defaults
};

}  // namespace ranvier::cable
