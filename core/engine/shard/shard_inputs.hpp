#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>
#include <vector>

#include "engine/shard/weight_checks.hpp"
#include "network/lowering/lowering.hpp"
#include "ranvier/base/buffer.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/connect/placement/input_layout.hpp"
#include "ranvier/connect/placement/layout.hpp"
#include "ranvier/connect/tables/input_sums.hpp"
#include "ranvier/models/neuron.hpp"

namespace ranvier::engine {

/// Steps that the inputs of a receptor are kept for, a power of two.
/// @param reach of a table, see SynapseTable::reach() @param waiting steps whose inputs have not been read yet
/// @param most_steps that the shard takes at a time
inline std::uint32_t input_slots(std::uint32_t window, DelaySteps reach, std::uint32_t waiting, Step most_steps) {
    const std::uint32_t ahead = reach == 0 ? 0 : reach + static_cast<std::uint32_t>(most_steps);
    return std::bit_ceil(std::max(window, ahead) + waiting);
}

/// What arrives at the receptors of all neurons of a shard, in the steps to come.
class ShardInputs {
   public:
    ShardInputs(const network::LoweredNetwork& network, const connect::ShardLayout& layout,
                std::pmr::memory_resource* memory);

    /// Lays out the rings. @param reach by receptor, the greatest of the tables that reach it; nothing where none does
    /// @param weights of all processes @param window steps that runs are delivered ahead, a power of two
    /// @param row_count steps that neurons may advance by at once, a power of two
    /// @param most_steps that the shard takes at a time
    void lay_out(std::span<const std::optional<DelaySteps>> reach, const WeightRanges& weights, std::uint32_t window,
                 Step row_count, Step most_steps);

    std::uint32_t receptors() const { return static_cast<std::uint32_t>(receptors_.size()); }
    /// How the inputs at a receptor are numbered.
    const connect::InputLayout& layout(std::uint32_t receptor) const { return layouts_[receptor]; }
    /// Inputs at a receptor.
    std::uint32_t size(std::uint32_t receptor) const {
        return receptor < receptors_.size() ? receptors_[receptor].size : 0;
    }
    /// Whether synapses reach a receptor.
    bool has_synapses(std::uint32_t receptor) const {
        return receptor < receptors_.size() && receptors_[receptor].has_synapses;
    }
    /// How many steps ahead of the present one the inputs of a receptor are kept.
    Step steps_ahead(std::uint32_t receptor) const {
        return Step{receptors_[receptor].ring.slot_mask} + 1 - (longest_stride_ - 1);
    }
    const connect::InputRing& ring(std::uint32_t receptor) const { return receptors_[receptor].ring; }

    /// What neurons read in a step, of all inputs of a receptor.
    double* of_step(std::uint32_t receptor, Step step) const { return receptors_[receptor].of_step(step); }
    /// The same of several steps, from one input on. @param stride steps of the resolution in one of the neurons' steps
    models::StepRows rows(std::uint32_t receptor, std::uint32_t first, Step stride) const {
        const Receptor& own = receptors_[receptor];
        return {.data = own.of_step(0) + first,
                .stride = own.ring.slot_stride,
                .mask = own.ring.wide == nullptr ? own.ring.slot_mask : own.row_mask,
                .step_rows = stride};
    }
    /// Before neurons read `count` inputs from `first` on in a step, of `stride` steps of the resolution.
    void complete(std::uint32_t receptor, Step step, Step stride, std::uint32_t first, std::uint32_t count);
    /// After neurons have read the inputs of a step, which stood still.
    void clear(Step step);

    /// Of all weights that there have been.
    WeightRanges weights() const;
    /// Lets the sums hold weights of these ranges, which contain those before: sums that are under way are kept. Between two
    /// steps. @throws std::bad_alloc
    void fit_sums(const WeightRanges& ranges);

   private:
    /// What arrives at one receptor of all neurons, through the tables of all kinds that reach it.
    struct Receptor {
        bool has_synapses = false;
        bool is_stimulated = false;
        std::uint32_t size = 0;  ///< inputs
        connect::WeightRange weights;
        Buffer<double> inputs;  ///< where sums are wide: only of the steps that neurons advance by at once
        Buffer<connect::WideSum> wide_sums;
        connect::InputRing ring;
        std::uint64_t row_mask = 0;  ///< of these steps

        double* of_step(Step step) const {
            if (ring.wide == nullptr) return ring.slot(step);
            return ring.data + (static_cast<std::uint64_t>(step) & row_mask) * ring.slot_stride;
        }
        /// Adds the inputs of the steps (step - stride, step) of some neurons to those of `step`, and clears them.
        void gather(Step step, Step stride, std::uint32_t first, std::uint32_t count);
        /// Rounds the sums of a step to what some neurons read, and clears them.
        void round_sums(Step step, std::uint32_t first, std::uint32_t count);
    };

    void fit_sums(Receptor& receptor, const connect::WeightRange& range);

    std::pmr::memory_resource* memory_;
    std::vector<connect::InputLayout> layouts_;  ///< by receptor
    std::vector<Receptor> receptors_;
    /// -0.0 for each input, if there are receptors that nothing ever reaches: they all read this.
    Buffer<double> no_inputs_;
    Step longest_stride_;  ///< of all populations
    Step row_count_ = 1;
};

}  // namespace ranvier::engine
