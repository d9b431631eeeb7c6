#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "base/tight_list.hpp"
#include "ranvier/base/ids.hpp"

namespace ranvier::connect {

/// Spikes of the latest steps, each by the index of its row, or of its source on its shard, until they have reached all
/// of their targets. In unsorted tables each synapse reached by a spike is a row, so only the index is stored for each.
template <class Index>
class RecentSpikes {
   public:
    explicit RecentSpikes(std::pmr::memory_resource* memory) : rows_(memory), steps_(memory) {}

    /// @pre stamps do not descend
    void add(Step stamp, std::span<const Index> rows) {
        if (rows.empty()) return;
        append(rows_, rows);
        if (steps_.empty() || steps_.back().stamp != stamp) append(steps_, {stamp, 0});
        steps_.back().end = rows_.size();
    }

    /// Drops the spikes of all steps up to this one, when they are a quarter of all.
    void drop_until(Step last) {
        while (done_ < steps_.size() && steps_[done_].stamp <= last) ++done_;
        const std::size_t rows = done_ == 0 ? 0 : steps_[done_ - 1].end;
        if (rows <= 64 || rows <= rows_.size() / 4) return;
        rows_.erase(rows_.begin(), rows_.begin() + static_cast<std::ptrdiff_t>(rows));
        steps_.erase(steps_.begin(), steps_.begin() + static_cast<std::ptrdiff_t>(done_));
        for (Stretch& step : steps_) step.end -= rows;
        done_ = 0;
    }

    template <class Visit>
    void for_each(Visit visit) const {
        std::size_t begin = 0;
        for (const Stretch& step : steps_) {
            for (std::size_t i = begin; i < step.end; ++i) visit(step.stamp, rows_[i]);
            begin = step.end;
        }
    }

   private:
    struct Stretch {
        Step stamp = 0;
        std::size_t end = 0;  ///< of its rows
    };

    std::pmr::vector<Index> rows_;
    std::pmr::vector<Stretch> steps_;
    std::size_t done_ = 0;  ///< steps that are no longer needed
};

using RecentRows = RecentSpikes<RowIndex>;

}  // namespace ranvier::connect
