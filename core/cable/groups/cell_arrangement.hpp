#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <span>
#include <vector>

#include "cable/groups/cell_store.hpp"
#include "cable/groups/plan_library.hpp"
#include "ranvier/base/instruction_set.hpp"
#include "ranvier/cable/groups/cell_model.hpp"
#include "ranvier/models/neuron.hpp"

namespace ranvier::cable {

/// The plans of the kinds of cells of a group, which define the state of a cell independently of its storage.
class CellLayouts {
   public:
    CellLayouts(const CellModel& model, std::vector<std::uint32_t> kinds_of_cells, std::shared_ptr<PlanLibrary> library,
                InstructionSet instruction_set);

    std::size_t cells() const { return kinds_of_cells_.size(); }
    std::uint32_t kind_of(std::size_t cell) const { return kinds_of_cells_[cell]; }
    const CellPlan& of(std::size_t cell) const { return *plans_[kinds_of_cells_[cell]]; }
    const std::shared_ptr<const CellPlan>& shared(std::size_t cell) const { return plans_[kinds_of_cells_[cell]]; }
    /// The plan of a cell with these values of per-cell parameters.
    std::shared_ptr<const CellPlan> plan(std::uint32_t kind, std::span<const double> per_cell_values) const;
    /// Replaces values of per-cell parameters that do not affect the plan by their defaults.
    std::vector<double> plan_values(std::uint32_t kind, std::vector<double> per_cell_values) const;
    const CellSpec& spec(std::size_t cell) const { return model_.spec(kinds_of_cells_[cell]); }
    double step() const { return library_->step(); }  ///< ms
    InstructionSet instruction_set() const { return instruction_set_; }
    /// Plans by kind; null: the kind is not in this group.
    std::span<const std::shared_ptr<const CellPlan>> kinds() const { return plans_; }

   private:
    const CellModel& model_;
    std::vector<std::uint32_t> kinds_of_cells_;
    std::shared_ptr<PlanLibrary> library_;
    std::vector<std::shared_ptr<const CellPlan>> plans_;
    InstructionSet instruction_set_;
    std::vector<std::vector<bool>> changing_;  ///< by kind and per-cell parameter: whether it affects the plan
};

/// Assigns the cells of a group to stores: equal cells in groups of 8, the others packed.
class CellArrangement {
   public:
    /// Maximum number of nodes of a packed block with more than one cell: few enough for the cache, and enough to
    /// fill the slots of levels.
    static constexpr std::size_t most_nodes = 8192;
    /// Smallest number of equal cells for which a block of 8, some lanes idle, is faster than packing them.
    static constexpr std::size_t least_equal = 7;

    struct Home {
        std::uint32_t store = 0;
        std::uint32_t cell = 0;  ///< index in the store
    };

    /// @param parameters values of the per-cell parameters
    CellArrangement(const CellLayouts& layouts, std::span<const models::GroupValues> parameters,
                    std::pmr::memory_resource* memory);

    std::span<const std::unique_ptr<CellStore>> stores() const { return stores_; }
    Home home(std::size_t cell) const { return homes_[cell]; }
    CellStore& store(std::size_t cell) const { return *stores_[homes_[cell].store]; }
    std::vector<double> per_cell_values(std::size_t cell) const;
    /// The plans of all cells: one for those of a kind whose per-cell parameters give the same.
    struct Plans {
        std::vector<std::shared_ptr<const CellPlan>> plans;
        std::vector<std::uint32_t> of_cells;
    };
    Plans plans(const CellLayouts& layouts) const;

    /// Prepared values of per-cell parameters that affect no plan.
    struct Settings {
        std::pmr::vector<double> per_cell_values;
        std::vector<CellSettings> of_stores;
    };
    Settings prepare_settings(std::span<const models::GroupValues> parameters, const CellLayouts& layouts) const;
    void swap_settings(Settings& settings) noexcept;

    /// Copies the state of all cells from another arrangement of them.
    void take(const CellArrangement& other, const CellLayouts& layouts) noexcept;

   private:
    void add(std::unique_ptr<CellStore> store);
    CellSettings settings(std::span<const std::uint32_t> cells, const CellLayouts& layouts,
                          const std::pmr::vector<double>& per_cell_values) const;
    void pack(std::span<const std::uint32_t> cells, const CellLayouts& layouts, std::pmr::memory_resource* memory);

    std::pmr::vector<double> per_cell_values_;  ///< [cell][parameter]
    std::size_t per_cell_count_;
    std::vector<std::unique_ptr<CellStore>> stores_;
    std::pmr::vector<Home> homes_;
};

}  // namespace ranvier::cable
