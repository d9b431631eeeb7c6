#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "cable/groups/cell_store.hpp"

namespace ranvier::cable {

/// Cells with the same plan, in blocks of 8: one in each lane. Lanes without a cell calculate one without input.
class EqualCells final : public CellStore {
   public:
    /// @param cells indices in the group, ascending
    /// @param settings by cell
    /// @param step ms
    EqualCells(std::shared_ptr<const CellPlan> plan, std::vector<std::uint32_t> cells, CellSettings settings,
               double step, InstructionSet set, std::pmr::memory_resource* memory);

    std::size_t blocks() const override { return (cells_.size() + lanes - 1) / lanes; }
    std::size_t slots() const override { return plan_->slots(); }
    std::span<const std::uint32_t> cells_of(std::size_t block) const override;
    std::size_t block_of(std::size_t cell) const override { return cell / lanes; }
    std::size_t advance(std::size_t block, BlockStep& step, std::uint32_t* spikes) override;

    double& potential(std::size_t cell, std::uint32_t slot) override {
        return potential_[(cell / lanes * plan_->slots() + slot) * lanes + cell % lanes];
    }
    double& gate(std::size_t cell, std::size_t class_index, std::size_t place, std::size_t gate) override {
        const CellPlan::Class& compartment_class = plan_->classes[class_index];
        const std::size_t stride = compartment_class.quads() * gates_of_quad;
        return gates_[class_index]
                     [cell / lanes * compartment_class.state_size() + (place * lanes + cell % lanes) * stride + gate];
    }
    double& calcium(std::size_t cell, std::size_t pool) override {
        return calcium_[(cell / lanes * plan_->pools.size() + pool) * lanes + cell % lanes];
    }
    double& slow(std::size_t cell, std::size_t receptor) override { return slow_[receptor_place(cell, receptor)]; }
    double& fast(std::size_t cell, std::size_t receptor) override { return fast_[receptor_place(cell, receptor)]; }
    double& state(std::size_t cell, std::size_t general, std::size_t place, std::size_t state) override {
        // NOLINTNEXTLINE(bugprone-unchecked-optional-access): a plan with general mechanisms has them
        return general_->state(general, cell / lanes, place * lanes + cell % lanes, state);
    }
    void fill_idle_lanes() override;
    bool is_finite() const override { return all_finite(potential_) && all_finite(slow_); }
    const ReceptorConstants& receptor_constants(std::size_t /*cell*/, std::size_t receptor) const override {
        return plan_->receptors[receptor].constants;
    }
    double log_outside(std::size_t /*cell*/, std::size_t pool) const override { return plan_->pools.log_outside[pool]; }

    void make_outside_currents(std::pmr::memory_resource* memory) override;
    double& outside_current(std::size_t cell, std::uint32_t slot) override {
        return outside_currents_[(cell / lanes * plan_->slots() + slot) * lanes + cell % lanes];
    }

   private:
    std::size_t first_of(std::size_t block) const override { return block * lanes; }
    const CellPlan& plan_of(std::size_t /*cell*/) const override { return *plan_; }
    std::size_t receptor_place(std::size_t cell, std::size_t receptor) const {
        return (cell / lanes * plan_->receptors.size() + receptor) * lanes + cell % lanes;
    }
    void take_inputs(std::size_t block, BlockStep& step);
    void prepare_electrodes(std::size_t block, BlockStep& step, double* currents);
    /// @param before potentials at detectors before the step, by lane
    std::size_t find_spikes(std::size_t block, const double* before, BlockStep& step, std::uint32_t* spikes);
    void prepare_classes(std::size_t block, BlockStep& step, const double* potential);
    void add_general(double step, InstructionSet set, std::pmr::memory_resource* memory);

    std::shared_ptr<const CellPlan> plan_;
    std::vector<std::uint32_t> cells_;
    // By block; within it [slot][lane], [class][place in the class][lane][gate], [receptor][lane], [pool][lane].
    AlignedVector<double> potential_;
    std::vector<AlignedVector<double>> gates_;
    AlignedVector<double> slow_;
    AlignedVector<double> fast_;
    AlignedVector<double> calcium_;  ///< mM
    std::optional<GeneralStates> general_;
};

}  // namespace ranvier::cable
