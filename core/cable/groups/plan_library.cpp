#include "cable/groups/plan_library.hpp"

#include <algorithm>

namespace ranvier::cable {

std::shared_ptr<const CellPlan> PlanLibrary::plan(std::uint32_t kind, std::span<const double> per_cell_values) {
    const CellSpec& spec = model_.spec(kind);
    const bool has_defaults = std::ranges::equal(spec.per_cell, per_cell_values, {}, &PerCellParameter::default_value);
    const std::lock_guard lock(mutex_);
    std::shared_ptr<const CellPlan>& known = plans_[kind];
    if (has_defaults && known != nullptr) return known;
    auto made = std::make_shared<const CellPlan>(spec, per_cell_values, step_, tables_, memory_);
    if (has_defaults) known = made;
    return made;
}

}  // namespace ranvier::cable
