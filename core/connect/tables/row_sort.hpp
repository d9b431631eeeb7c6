#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "connect/tables/delay_blocks.hpp"
#include "ranvier/base/instruction_set.hpp"
#include "ranvier/connect/tables/table_columns.hpp"

namespace ranvier::connect {

struct KeepTargets {
    template <class Target>
    RANVIER_ALWAYS_INLINE Target operator()(Target target, std::size_t /*delay*/) const {
        return target;
    }
};

/// The cell of a target and a relative delay.
class MakeCells {
   public:
    MakeCells(DelaySteps delays, DelayBlocks blocks, std::uint32_t inputs) {
        for (DelaySteps delay = 0; delay < delays; ++delay) first_cells_.push_back(delay % blocks.length * inputs);
    }

    template <class Target>
    RANVIER_ALWAYS_INLINE Target operator()(Target target, std::size_t delay) const {
        return static_cast<Target>(target + first_cells_[delay]);
    }

   private:
    std::vector<std::uint32_t> first_cells_;  ///< by delay: that of input 0
};

/// Sorts rows of a table by delay, stably.
template <class Target, class Weight, class Stored = KeepTargets>
class RowSorter {
   public:
    /// @param stored what is stored of a target and its delay
    RowSorter(std::size_t longest_row, std::size_t delay_count, Stored stored = {})
        : stored_(std::move(stored)),
          delay_count_(delay_count),
          cursors_(delay_count),
          targets_(longest_row),
          weights_(longest_row),
          tags_(longest_row) {}

    /// @param offsets output: delay_count + 1 starts of the synapses of each delay, relative to the row
    template <class Offset>
    void sort(TableColumns<Target, Weight>& columns, std::uint32_t row, Offset* offsets) {
        const std::uint64_t begin = columns.row_start[row];
        const std::size_t length = columns.row_start[row + 1] - begin;
        if (delay_count_ == 1) {
            offsets[0] = 0;
            offsets[1] = static_cast<Offset>(length);
            return;
        }
        std::visit([&](const auto& delays) { sort(columns, begin, length, delays.data() + begin, offsets); },
                   columns.delays);
    }

   private:
    template <class Delay, class Offset>
    void sort(TableColumns<Target, Weight>& columns, std::uint64_t begin, std::size_t length, const Delay* delays,
              Offset* offsets) {
        std::fill(cursors_.begin(), cursors_.end(), 0);
        for (std::size_t i = 0; i < length; ++i) ++cursors_[delays[i]];
        std::size_t total = 0;
        for (std::size_t delay = 0; delay < delay_count_; ++delay) {
            const std::size_t count = cursors_[delay];
            offsets[delay] = static_cast<Offset>(total);
            cursors_[delay] = total;
            total += count;
        }
        offsets[delay_count_] = static_cast<Offset>(total);
        Target* targets = columns.targets.data() + begin;
        Weight* weights = columns.weights.data() + begin;
        std::uint16_t* tags = columns.tags.empty() ? nullptr : columns.tags.data() + begin;
        for (std::size_t i = 0; i < length; ++i) {
            const std::size_t place = cursors_[delays[i]]++;
            targets_[place] = stored_(targets[i], delays[i]);
            weights_[place] = weights[i];
            if (tags != nullptr) tags_[place] = tags[i];
        }
        std::copy_n(targets_.begin(), length, targets);
        std::copy_n(weights_.begin(), length, weights);
        if (tags != nullptr) std::copy_n(tags_.begin(), length, tags);
        for (auto& parameter : columns.parameters) {
            Weight* const values = parameter.data() + begin;
            for (std::size_t delay = 0; delay < delay_count_; ++delay) cursors_[delay] = offsets[delay];
            for (std::size_t i = 0; i < length; ++i) weights_[cursors_[delays[i]]++] = values[i];
            std::copy_n(weights_.begin(), length, values);
        }
    }

    Stored stored_;
    std::size_t delay_count_;
    std::vector<std::size_t> cursors_;
    std::vector<Target> targets_;
    std::vector<Weight> weights_;
    std::vector<std::uint16_t> tags_;
};

}  // namespace ranvier::connect
