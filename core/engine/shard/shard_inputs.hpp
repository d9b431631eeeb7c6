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

/// Number of steps for which the inputs of a receptor are buffered, a power of two.
/// @param reach of a table, see SynapseTable::reach()
/// @param waiting steps whose inputs have not been read yet
/// @param most_steps maximum number of steps of the shard at a time
inline std::uint32_t input_slots(std::uint32_t window, DelaySteps reach, std::uint32_t waiting, Step most_steps) {
    const std::uint32_t ahead = reach == 0 ? 0 : reach + static_cast<std::uint32_t>(most_steps);
    return std::bit_ceil(std::max(window, ahead) + waiting);
}

/// The inputs of the receptors of all neurons of a shard in coming steps.
class ShardInputs {
   public:
    ShardInputs(const network::LoweredNetwork& network, const connect::ShardLayout& layout,
                std::pmr::memory_resource* memory);

    /// Lays out the rings.
    /// @param reach by receptor, the greatest of its tables; nothing without tables
    /// @param weights of all processes
    /// @param window steps of a delivery window, a power of two
    /// @param row_count steps that neurons may advance by at once, a power of two
    /// @param most_steps maximum number of steps of the shard at a time
    void lay_out(std::span<const std::optional<DelaySteps>> reach, const WeightRanges& weights, std::uint32_t window,
                 Step row_count, Step most_steps);

    std::uint32_t receptors() const { return static_cast<std::uint32_t>(receptors_.size()); }
    /// The numbering of the inputs at a receptor.
    const connect::InputLayout& layout(std::uint32_t receptor) const { return layouts_[receptor]; }
    /// Number of inputs at a receptor.
    std::uint32_t size(std::uint32_t receptor) const {
        return receptor < receptors_.size() ? receptors_[receptor].size : 0;
    }
    /// Whether synapses reach a receptor.
    bool has_synapses(std::uint32_t receptor) const {
        return receptor < receptors_.size() && receptors_[receptor].has_synapses;
    }
    /// Number of steps ahead of the present one for which the inputs of a receptor are buffered.
    Step steps_ahead(std::uint32_t receptor) const {
        return Step{receptors_[receptor].ring.slot_mask} + 1 - (longest_stride_ - 1);
    }
    const connect::InputRing& ring(std::uint32_t receptor) const { return receptors_[receptor].ring; }

    /// The inputs of a receptor in a step.
    double* of_step(std::uint32_t receptor, Step step) const { return receptors_[receptor].of_step(step); }
    /// The inputs of several steps, from one input on.
    /// @param stride steps of the resolution in one of the neurons' steps
    models::StepRows rows(std::uint32_t receptor, std::uint32_t first, Step stride) const {
        const Receptor& receptor_inputs = receptors_[receptor];
        return {
            .data = receptor_inputs.of_step(0) + first,
            .stride = receptor_inputs.ring.slot_stride,
            .mask = receptor_inputs.ring.wide == nullptr ? receptor_inputs.ring.slot_mask : receptor_inputs.row_mask,
            .step_rows = stride};
    }
    /// Called before neurons read `count` inputs from `first` on in a step of `stride` steps of the resolution.
    void complete(std::uint32_t receptor, Step step, Step stride, std::uint32_t first, std::uint32_t count);
    /// Called after the inputs of a step have been read.
    void clear(Step step);

    /// The ranges of all weights so far.
    WeightRanges weights() const;
    /// Widens the sums to weights of these ranges, which contain the previous ones; sums of coming steps are kept.
    /// Called between two steps.
    /// @throws std::bad_alloc
    void fit_sums(const WeightRanges& ranges);

   private:
    /// The inputs of one receptor of all neurons, through the tables of all kinds.
    struct Receptor {
        bool has_synapses = false;
        bool is_stimulated = false;
        std::uint32_t size = 0;  ///< number of inputs
        connect::WeightRange weights;
        Buffer<double> inputs;  ///< if sums are wide: only of the steps that neurons advance by at once
        Buffer<connect::WideSum> wide_sums;
        connect::InputRing ring;
        std::uint64_t row_mask = 0;  ///< of these steps

        double* of_step(Step step) const {
            if (ring.wide == nullptr) return ring.slot(step);
            return ring.data + (static_cast<std::uint64_t>(step) & row_mask) * ring.slot_stride;
        }
        /// Adds the inputs of the steps (step - stride, step) of some neurons to those of `step`, and clears them.
        void gather(Step step, Step stride, std::uint32_t first, std::uint32_t count);
        /// Rounds the sums of a step to the inputs of some neurons, and clears them.
        void round_sums(Step step, std::uint32_t first, std::uint32_t count);
    };

    void fit_sums(Receptor& receptor, const connect::WeightRange& range);

    std::pmr::memory_resource* memory_;
    std::vector<connect::InputLayout> layouts_;  ///< by receptor
    std::vector<Receptor> receptors_;
    /// -0.0 for each input, shared by receptors without inputs.
    Buffer<double> no_inputs_;
    Step longest_stride_;  ///< of all populations
    Step row_count_ = 1;
};

}  // namespace ranvier::engine
