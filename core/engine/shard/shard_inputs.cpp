#include "engine/shard/shard_inputs.hpp"

#include <cmath>
#include <cstddef>
#include <utility>

namespace ranvier::engine {

ShardInputs::ShardInputs(const network::LoweredNetwork& network, const connect::ShardLayout& layout,
                         std::pmr::memory_resource* memory)
    : memory_(memory), receptors_(network.receptors()), longest_stride_(network.network().longest_stride()) {
    const std::vector<bool> stimulated = network.stimulated_receptors(layout);
    for (std::uint32_t receptor = 0; receptor < receptors_.size(); ++receptor) {
        layouts_.push_back(network.plan().inputs_at(receptor, layout));
        receptors_[receptor].size = layouts_.back().size();
        receptors_[receptor].is_stimulated = stimulated[receptor];
    }
}

void ShardInputs::lay_out(std::span<const std::optional<DelaySteps>> reach, const WeightRanges& weights,
                          std::uint32_t window, Step row_count, Step most_steps) {
    row_count_ = row_count;
    // -0.0 marks an input without contributions (see UpdateArguments).
    const auto make_inputs = [&](std::uint32_t slots, std::uint32_t size) {
        Buffer<double> inputs(std::size_t{slots} * size, memory_);
        std::fill_n(inputs.data(), inputs.size(), -0.0);
        return inputs;
    };
    // Neurons with longer steps have not read the inputs of the latest steps.
    const auto waiting = static_cast<std::uint32_t>(longest_stride_ - 1);
    std::vector<std::uint32_t> slots(receptors_.size(), static_cast<std::uint32_t>(row_count));
    for (std::size_t receptor = 0; receptor < receptors_.size(); ++receptor) {
        Receptor& receptor_inputs = receptors_[receptor];
        receptor_inputs.has_synapses = reach[receptor].has_value();
        if (receptor_inputs.has_synapses) {
            slots[receptor] = std::max(slots[receptor], input_slots(window, *reach[receptor], waiting, most_steps));
        }
        if (receptor_inputs.has_synapses || receptor_inputs.is_stimulated) {
            receptor_inputs.inputs = make_inputs(slots[receptor], receptor_inputs.size);
        } else if (no_inputs_.size() < receptor_inputs.size) {
            no_inputs_ = make_inputs(1, receptor_inputs.size);
        }
    }
    for (std::size_t receptor = 0; receptor < receptors_.size(); ++receptor) {
        Receptor& receptor_inputs = receptors_[receptor];
        const bool is_reached = !receptor_inputs.inputs.empty();
        receptor_inputs.ring = {is_reached ? receptor_inputs.inputs.data() : no_inputs_.data(), receptor_inputs.size,
                                is_reached ? slots[receptor] - 1 : 0};
        receptor_inputs.row_mask = static_cast<std::uint64_t>(row_count - 1);
    }
    fit_sums(weights);
}

void ShardInputs::complete(std::uint32_t receptor, Step step, Step stride, std::uint32_t first, std::uint32_t count) {
    Receptor& receptor_inputs = receptors_[receptor];
    if (stride > 1 && receptor_inputs.has_synapses) receptor_inputs.gather(step, stride, first, count);
    if (receptor_inputs.ring.wide != nullptr) receptor_inputs.round_sums(step, first, count);
}

void ShardInputs::clear(Step step) {
    for (const Receptor& receptor : receptors_) {
        if (!receptor.has_synapses) continue;
        if (receptor.ring.wide != nullptr) {
            std::fill_n(receptor.ring.wide_slot(step), receptor.ring.slot_stride, connect::WideSum{0});
        } else {
            std::fill_n(receptor.ring.slot(step), receptor.ring.slot_stride, -0.0);
        }
    }
}

WeightRanges ShardInputs::weights() const {
    WeightRanges ranges;
    for (const Receptor& receptor : receptors_) ranges.push_back(receptor.weights);
    return ranges;
}

void ShardInputs::fit_sums(const WeightRanges& ranges) {
    for (std::size_t receptor = 0; receptor < receptors_.size(); ++receptor) {
        fit_sums(receptors_[receptor], ranges[receptor]);
    }
}

void ShardInputs::fit_sums(Receptor& receptor, const connect::WeightRange& range) {
    receptor.weights = range;
    connect::InputRing& ring = receptor.ring;
    if (!receptor.has_synapses || (ring.wide == nullptr && range.fits_double())) return;
    const std::int32_t exponent = std::ilogb(range.quantum) - 1;
    if (ring.wide != nullptr) {
        const std::int32_t finer = ring.exponent - exponent;
        if (finer <= 0) return;
        for (connect::WideSum& sum : receptor.wide_sums.span()) {
            if (sum != 0) sum = (sum >> 1) << (finer + 1) | 1;
        }
        ring.exponent = exponent;
        return;
    }
    Buffer<connect::WideSum> sums(receptor.inputs.size(), memory_);
    for (std::size_t i = 0; i < sums.size(); ++i) {
        const double input = receptor.inputs[i];
        sums[i] = input == 0.0 && std::signbit(input) ? 0 : connect::to_wide(input, exponent) | 1;
    }
    Buffer<double> inputs(static_cast<std::size_t>(row_count_) * receptor.size, memory_);
    std::fill_n(inputs.data(), inputs.size(), -0.0);
    receptor.inputs = std::move(inputs);
    receptor.wide_sums = std::move(sums);
    ring.data = receptor.inputs.data();
    ring.wide = receptor.wide_sums.data();
    ring.exponent = exponent;
}

void ShardInputs::Receptor::gather(Step step, Step stride, std::uint32_t first, std::uint32_t count) {
    for (Step before = step - stride + 1; before < step; ++before) {
        if (ring.wide != nullptr) {
            connect::WideSum* const sums = ring.wide_slot(step) + first;
            connect::WideSum* const added = ring.wide_slot(before) + first;
            // The lowest bit is set if there is an input.
            for (std::size_t i = 0; i < count; ++i) {
                const auto is_there = static_cast<connect::WideSum>((sums[i] | added[i]) & 1);
                sums[i] = ((sums[i] >> 1) + (added[i] >> 1)) << 1 | is_there;
                added[i] = 0;
            }
            continue;
        }
        double* const sums = ring.slot(step) + first;
        double* const added = ring.slot(before) + first;
        for (std::size_t i = 0; i < count; ++i) {
            sums[i] += added[i];
            added[i] = -0.0;
        }
    }
}

void ShardInputs::Receptor::round_sums(Step step, std::uint32_t first, std::uint32_t count) {
    const double quantum = std::ldexp(1.0, ring.exponent + 1);
    connect::WideSum* const sums = ring.wide_slot(step) + first;
    double* const rounded = of_step(step) + first;
    for (std::size_t i = 0; i < count; ++i) {
        rounded[i] = connect::from_wide(sums[i], quantum);
        sums[i] = 0;
    }
}

}  // namespace ranvier::engine
