#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "ranvier/connect/tables/table_columns.hpp"

namespace ranvier::connect {

/// Sorts stretches of the columns of a table by source, stably. Stretches fit the cache.
template <class Target, class Weight>
class BucketSorter {
   public:
    /// Synapses [begin, end), fewer than 2^32.
    void sort(TableColumns<Target, Weight>& columns, std::uint64_t begin, std::uint64_t end) {
        const std::size_t length = end - begin;
        if (length < 2) return;
        order_.resize(length);
        const std::uint32_t* sources = columns.sources.data() + begin;
        // The index in the lower half makes the order stable and locates the remaining columns.
        for (std::size_t i = 0; i < length; ++i) order_[i] = std::uint64_t{sources[i]} << 32 | i;
        std::sort(order_.begin(), order_.end());
        permute(columns.sources.data() + begin, sources_);
        permute(columns.targets.data() + begin, targets_);
        permute(columns.weights.data() + begin, weights_);
        for (auto& values : columns.parameters) permute(values.data() + begin, weights_);
        if (!columns.tags.empty()) permute(columns.tags.data() + begin, tags_);
        std::visit(
            [&](auto& delays) {
                if (!delays.empty()) permute(delays.data() + begin, delays_);
            },
            columns.delays);
    }

   private:
    template <class T, class Scratch>
    void permute(T* values, std::vector<Scratch>& scratch) {
        scratch.assign(values, values + order_.size());
        for (std::size_t i = 0; i < order_.size(); ++i) {
            values[i] = static_cast<T>(scratch[order_[i] & 0xFFFFFFFF]);
        }
    }

    std::vector<std::uint64_t> order_;
    std::vector<std::uint32_t> sources_;
    std::vector<Target> targets_;
    std::vector<Weight> weights_;
    std::vector<std::uint16_t> tags_;
    std::vector<std::uint16_t> delays_;
};

}  // namespace ranvier::connect
