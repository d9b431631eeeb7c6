#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory_resource>
#include <span>
#include <utility>
#include <vector>

#include "base/aligned_array.hpp"
#include "cable/groups/cell_settings.hpp"
#include "cable/groups/general_states.hpp"
#include "cable/groups/out_of_bounds.hpp"
#include "cable/kernels/kernel.hpp"
#include "cable/plans/cell_plan.hpp"
#include "cable/plans/pool_plan.hpp"
#include "ranvier/base/instruction_set.hpp"
#include "ranvier/models/neuron.hpp"

namespace ranvier::cable {

/// Scratch memory of a step of one block; blocks use it in turn.
struct BlockScratch {
    explicit BlockScratch(std::pmr::memory_resource* memory)
        : diagonal(memory),
          current(memory),
          logarithm(memory),
          calcium_conductance(memory),
          calcium_reversal(memory),
          inputs(memory) {}

    /// Makes room for blocks with this number of slots.
    void reserve(std::size_t slots, bool has_pools);

    AlignedVector<double> diagonal;  ///< [slot][lane], as the following three
    AlignedVector<double> current;
    AlignedVector<double> logarithm;
    AlignedVector<double> calcium_conductance;
    AlignedVector<double> calcium_reversal;
    AlignedVector<double> inputs;
    std::vector<KernelClass> classes;
    std::vector<KernelReceptor> receptors;
    std::vector<KernelElectrode> electrodes;
    std::vector<double> gathered;
    std::vector<double> gathered_logarithm;
    std::vector<double> steady;
    std::vector<double> part;
};

/// The arguments of a step of one block.
struct BlockStep {
    const models::UpdateArguments& update;
    const double* constant_current = nullptr;  ///< pA, by cell of the group
    const std::uint32_t* sites = nullptr;      ///< by receptor: inputs of each cell of the group
    /// Output for probes: the current of each electrode, pA [electrode][cell of the group]; null: not needed.
    double* injected = nullptr;
    std::size_t cells = 0;  ///< number of cells of the group
    double step = 0.0;                         ///< ms
    InstructionSet instruction_set = InstructionSet::baseline;
    BlockScratch& scratch;
    FirstOutOfBounds& out_of_bounds;

    /// The current of an electrode for a cell of the group, pA.
    double inject(std::size_t electrode, std::uint32_t cell) const {
        const double* const current = electrode == 0                             ? update.current
                                      : electrode <= update.more_currents.size() ? update.more_currents[electrode - 1]
                                                                                 : nullptr;
        double sum = electrode == 0 ? constant_current[cell] : 0.0;
        if (current != nullptr) sum += current[cell];
        if (injected != nullptr) injected[electrode * cells + cell] = sum;
        return sum;
    }
};

/// Cells that are stored together in one or more blocks. `cell` is an index in the store; slots, classes, places in
/// them, and pools are those of the cell's CellPlan.
class CellStore {
   public:
    explicit CellStore(CellSettings settings) : settings_(std::move(settings)) {}
    virtual ~CellStore() = default;

    CellSettings& settings() { return settings_; }

    virtual std::size_t blocks() const = 0;
    /// Number of slots of a block, for its scratch memory.
    virtual std::size_t slots() const = 0;
    /// Indices in the group of the cells of a block, ascending.
    virtual std::span<const std::uint32_t> cells_of(std::size_t block) const = 0;
    virtual std::size_t block_of(std::size_t cell) const = 0;
    /// Writes cells that fire to `spikes`, ascending. Returns their number.
    virtual std::size_t advance(std::size_t block, BlockStep& step, std::uint32_t* spikes) = 0;

    virtual double& potential(std::size_t cell, std::uint32_t slot) = 0;
    virtual double& gate(std::size_t cell, std::size_t class_index, std::size_t place, std::size_t gate) = 0;
    virtual double& calcium(std::size_t cell, std::size_t pool) = 0;
    /// Exponentials of the conductance of a receptor, an index of CellPlan::receptors.
    virtual double& slow(std::size_t cell, std::size_t receptor) = 0;
    virtual double& fast(std::size_t cell, std::size_t receptor) = 0;
    /// A state of a general mechanism. @param general an index of CellPlan::generals
    virtual double& state(std::size_t cell, std::size_t general, std::size_t place, std::size_t state) = 0;
    /// Copies the general states and the calcium of a cell to the lanes without one.
    virtual void fill_idle_lanes() {}
    virtual bool is_finite() const = 0;

    /// Constants that depend on per-cell parameters.
    virtual const ReceptorConstants& receptor_constants(std::size_t cell, std::size_t receptor) const = 0;
    /// The logarithm of the external calcium concentration.
    virtual double log_outside(std::size_t cell, std::size_t pool) const = 0;

    /// Allocates the currents that potentials outside cause, all 0.
    virtual void make_outside_currents(std::pmr::memory_resource* memory) = 0;
    /// The current into a node that potentials outside cause, pA.
    virtual double& outside_current(std::size_t cell, std::uint32_t slot) = 0;
    bool has_outside_currents() const { return !outside_currents_.empty(); }
    /// The last step for which these currents of a block are valid.
    Step& outside_until(std::size_t block) { return outside_until_[block]; }

   protected:
    /// Index of the first cell of a block.
    virtual std::size_t first_of(std::size_t block) const = 0;
    virtual const CellPlan& plan_of(std::size_t cell) const = 0;
    /// Records the out-of-bounds values of a block: for each cell the one furthest out of bounds. Potentials are
    /// those before the step until the kernel has advanced them.
    void note_out_of_bounds(OutOfBounds::Of of, std::size_t block, BlockStep& step);
    /// Advances general mechanisms after the kernel, and records out-of-bounds values.
    void advance_general(GeneralStates& states, const GeneralBlock& block, std::span<double> calcium, BlockStep& step);

    /// Adds the currents that potentials outside cause.
    /// @param current of the equations of a block @param first position of the block in outside_currents_
    void add_outside_currents(AlignedVector<double>& current, std::size_t first, std::size_t size) const;

    CellSettings settings_;
    AlignedVector<double> outside_currents_;  ///< in the order of the potentials, or empty
    std::vector<Step> outside_until_;         ///< by block

   private:
    void note_general(const GeneralOutOfBounds& out_of_bounds, std::size_t block, BlockStep& step);
};

/// The inputs of the gates of a class [slot][lane].
struct Followed {
    const double* argument = nullptr;   ///< potentials, or logarithms of calcium
    const double* logarithm = nullptr;  ///< of calcium, for gates that depend on both
};

inline Followed followed(Follows follows, const double* potential, const double* logarithm) {
    return {.argument = follows == Follows::calcium ? logarithm : potential,
            .logarithm = follows == Follows::both ? logarithm : nullptr};
}

/// Advances the gates of some slots without a table.
void advance_exactly(std::span<const GateOfMechanism> class_gates, std::span<const std::uint32_t> slots, double celsius,
                     double* gates, const Followed& followed, BlockStep& step);

/// The pools of a block in the form of the kernel.
/// @param concentration of this block, mM
/// @param is_exact whether rates are calculated before the kernel starts
template <bool packed>
KernelPools pools_of_block(const PoolPlan& plan, double* concentration, BlockScratch& scratch, bool is_exact) {
    if (plan.size() == 0) return {};
    KernelPools pools{.size = plan.size(),
                      .slots = plan.slots.data(),
                      .rest = plan.rest.data(),
                      .log_outside = plan.log_outside.data(),
                      .decay = plan.decay.data(),
                      .gain = plan.gain.data(),
                      .half_decay = plan.half_decay.data(),
                      .half_gain = plan.half_gain.data(),
                      .nernst = plan.nernst,
                      .concentration = concentration,
                      .logarithm = scratch.logarithm.data(),
                      .conductance = scratch.calcium_conductance.data(),
                      .reversal = scratch.calcium_reversal.data()};
    if (is_exact) CalciumKernel<false, packed>::begin(pools);
    return pools;
}

/// @param potential, calcium of this block
inline GeneralBlock general_block(std::size_t number, double* potential, double* calcium, const BlockStep& step) {
    BlockScratch& scratch = step.scratch;
    return {.number = number,
            .begin = static_cast<double>(step.update.step - 1) * step.step,
            .potential = potential,
            .diagonal = scratch.diagonal.data(),
            .current = scratch.current.data(),
            .calcium = calcium,
            .calcium_conductance = scratch.calcium_conductance.data(),
            .calcium_reversal = scratch.calcium_reversal.data()};
}

/// Neither infinite nor NaN.
inline bool is_number(double value) { return std::abs(value) <= std::numeric_limits<double>::max(); }
bool all_finite(std::span<const double> values);

}  // namespace ranvier::cable
