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

/// The plans of the kinds of cells that a group has, which say what a cell's state is, wherever it lies.
class CellLayouts {
   public:
    CellLayouts(const CellModel& model, std::vector<std::uint32_t> kinds_of_cells, std::shared_ptr<PlanLibrary> library,
                InstructionSet instruction_set);

    std::size_t cells() const { return kinds_of_cells_.size(); }
    std::uint32_t kind_of(std::size_t cell) const { return kinds_of_cells_[cell]; }
    const CellPlan& of(std::size_t cell) const { return *plans_[kinds_of_cells_[cell]]; }
    const std::shared_ptr<const CellPlan>& shared(std::size_t cell) const { return plans_[kinds_of_cells_[cell]]; }
    /// Of a cell with these values of its own parameters.
    std::shared_ptr<const CellPlan> plan(std::uint32_t kind, std::span<const double> own_values) const;
    /// Values of own parameters of a cell with which it has the same plan: those that do not change it have their defaults.
    std::vector<double> plan_values(std::uint32_t kind, std::vector<double> own_values) const;
    const CellSpec& spec(std::size_t cell) const { return model_.spec(kinds_of_cells_[cell]); }
    double step() const { return library_->step(); }  ///< ms
    InstructionSet instruction_set() const { return instruction_set_; }
    /// Kinds that there are, by their numbers; null: not in this group.
    std::span<const std::shared_ptr<const CellPlan>> kinds() const { return plans_; }

   private:
    const CellModel& model_;
    std::vector<std::uint32_t> kinds_of_cells_;
    std::shared_ptr<PlanLibrary> library_;
    std::vector<std::shared_ptr<const CellPlan>> plans_;
    InstructionSet instruction_set_;
    std::vector<std::vector<bool>> changing_;  ///< of each kind, whether an own parameter changes the plan
};

/// Where the cells of a group are stored: those that are alike by eights, the others packed.
class CellArrangement {
   public:
    /// Nodes of a packed block, if one cell has not more: few enough for the cache, and so many that levels fill slots.
    static constexpr std::size_t most_nodes = 8192;
    /// Cells from which on a block of equal ones, 8 with idle lanes, takes less time than so many packed.
    static constexpr std::size_t least_equal = 7;

    struct Home {
        std::uint32_t store = 0;
        std::uint32_t cell = 0;  ///< number in it
    };

    /// @param own values of the cells' own parameters
    CellArrangement(const CellLayouts& layouts, std::span<const models::GroupValues> own,
                    std::pmr::memory_resource* memory);

    std::span<const std::unique_ptr<CellStore>> stores() const { return stores_; }
    Home home(std::size_t cell) const { return homes_[cell]; }
    CellStore& store(std::size_t cell) const { return *stores_[homes_[cell].store]; }
    std::vector<double> own_values(std::size_t cell) const;

    /// Other values of own parameters that change no plan, which are not in force yet.
    struct Settings {
        std::pmr::vector<double> own;
        std::vector<CellSettings> of_stores;
    };
    Settings prepare_settings(std::span<const models::GroupValues> own, const CellLayouts& layouts) const;
    void swap_settings(Settings& settings) noexcept;

    /// Copies the state of all cells of another arrangement of them.
    void take(const CellArrangement& other, const CellLayouts& layouts) noexcept;

   private:
    void add(std::unique_ptr<CellStore> store);
    CellSettings settings(std::span<const std::uint32_t> cells, const CellLayouts& layouts,
                          const std::pmr::vector<double>& own) const;
    void pack(std::span<const std::uint32_t> cells, const CellLayouts& layouts, std::pmr::memory_resource* memory);

    std::pmr::vector<double> own_;  ///< [cell][parameter]
    std::size_t own_count_;
    std::vector<std::unique_ptr<CellStore>> stores_;
    std::pmr::vector<Home> homes_;
};

}  // namespace ranvier::cable
