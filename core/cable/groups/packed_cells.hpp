#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cable/groups/cell_store.hpp"
#include "cable/plans/packed_plan.hpp"

namespace ranvier::cable {

/// One block of cells of arbitrary shapes and parameters.
class PackedCells final : public CellStore {
   public:
    /// @param cells indices in the group, ascending
    /// @param plans by cell, with its per-cell parameters; not needed later
    /// @param layouts by cell: a plan of its kind, with arbitrary per-cell parameters
    /// @param settings by cell
    /// @param step ms
    PackedCells(std::vector<std::uint32_t> cells, std::span<const CellPlan* const> plans,
                std::vector<std::shared_ptr<const CellPlan>> layouts, CellSettings settings, double step,
                InstructionSet set, std::pmr::memory_resource* memory);

    std::size_t blocks() const override { return 1; }
    std::size_t slots() const override { return plan_.all_slots(); }
    std::span<const std::uint32_t> cells_of(std::size_t /*block*/) const override { return cells_; }
    std::size_t block_of(std::size_t /*cell*/) const override { return 0; }
    std::size_t advance(std::size_t block, BlockStep& step, std::uint32_t* spikes) override;

    double& potential(std::size_t cell, std::uint32_t slot) override { return potential_[plan_.position(cell, slot)]; }
    double& gate(std::size_t cell, std::size_t class_index, std::size_t place, std::size_t gate) override;
    double& calcium(std::size_t cell, std::size_t pool) override;
    double& slow(std::size_t cell, std::size_t receptor) override { return slow_[receptor_place(cell, receptor)]; }
    double& fast(std::size_t cell, std::size_t receptor) override { return fast_[receptor_place(cell, receptor)]; }
    double& state(std::size_t cell, std::size_t general, std::size_t place, std::size_t state) override;
    bool is_finite() const override { return all_finite(potential_) && all_finite(slow_); }
    const ReceptorConstants& receptor_constants(std::size_t cell, std::size_t receptor) const override {
        return plan_.receptors[receptor_place(cell, receptor) / lanes].constants;
    }
    double log_outside(std::size_t cell, std::size_t pool) const override {
        return plan_.pools.log_outside[pool_place(cell, pool)];
    }

    void make_outside_currents(std::pmr::memory_resource* memory) override;
    double& outside_current(std::size_t cell, std::uint32_t slot) override {
        return outside_currents_[plan_.gather_slot(cell, slot)];
    }

   private:
    std::size_t first_of(std::size_t /*block*/) const override { return 0; }
    const CellPlan& plan_of(std::size_t cell) const override { return *layouts_[cell]; }
    std::size_t receptor_place(std::size_t cell, std::size_t receptor) const;
    std::size_t pool_place(std::size_t cell, std::size_t pool) const;
    void take_inputs(BlockStep& step);
    void prepare_electrodes(BlockStep& step, double* currents);
    bool act(const PackedPlan::Chunk& chunk, Step step, double* currents) const;
    std::size_t find_spikes(BlockStep& step, std::uint32_t* spikes);
    void prepare_classes(BlockStep& step);
    void add_general(std::span<const CellPlan* const> plans, double step, InstructionSet set,
                     std::pmr::memory_resource* memory);
    void append(std::vector<GeneralPlace>& places, const GeneralPlan& plan, std::uint32_t cell) const;

    std::vector<std::uint32_t> cells_;
    std::vector<std::shared_ptr<const CellPlan>> layouts_;
    PackedPlan plan_;
    std::vector<std::uint32_t> detectors_;     ///< positions
    std::vector<double> before_;               ///< potentials at detectors before the step
    std::vector<std::uint32_t> receptor_places_;  ///< [cell][receptor]
    std::vector<std::size_t> first_receptors_;
    AlignedVector<double> potential_;             ///< [slot][lane]
    std::vector<AlignedVector<double>> gates_;    ///< [class][place in the class][lane][gate]
    AlignedVector<double> slow_;                  ///< [chunk][lane]
    AlignedVector<double> fast_;
    AlignedVector<double> calcium_;  ///< mM [pool][lane]
    std::optional<GeneralStates> general_;
    /// By cell and general mechanism: its index in `general_`, and its first place there.
    std::vector<std::vector<std::pair<std::size_t, std::size_t>>> general_places_;
};

}  // namespace ranvier::cable
