#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <utility>

#include "ranvier/base/buffer.hpp"
#include "ranvier/connect/tables/table_columns.hpp"

namespace ranvier::connect {

/// Counting sort: first the number of synapses of each row, then the position of the next one of each, and finally the
/// starts of rows. One number for each row serves all purposes, with as few bytes as the number of synapses allows.
class RowCursors {
   public:
    RowCursors() = default;
    /// @param most_narrow greatest number of synapses for the narrow numbers
    RowCursors(std::size_t rows, std::pmr::memory_resource* memory, std::uint64_t most_narrow = UINT32_MAX)
        : memory_(memory), most_narrow_(most_narrow), narrow_(rows + 1, memory) {
        std::fill_n(narrow_.data(), narrow_.size(), 0);
    }

    std::size_t rows() const { return narrow_.size() + wide_.size() - 1; }
    /// Number of counted synapses.
    std::uint64_t total() const { return total_; }

    /// @param rows of synapses, before division by 2^bits
    void count(const std::uint32_t* rows, std::size_t count, std::uint32_t bits) {
        total_ += count;
        // No counter exceeds the total.
        if (total_ > most_narrow_ && wide_.empty()) widen();
        visit([&](auto* counters) {
            for (std::size_t i = 0; i < count; ++i) ++counters[std::uint64_t{rows[i]} >> bits];
        });
    }
    /// Called after counting: from then on, each number is the position of the next synapse of its row.
    void place() {
        visit([&]<class Cursor>(Cursor* cursors) {
            Cursor begin = 0;
            for (std::size_t row = 0; row < rows(); ++row) begin += std::exchange(cursors[row], begin);
        });
    }
    /// Calls action with the numbers of all rows.
    template <class Action>
    void visit(Action action) {
        if (wide_.empty()) {
            action(narrow_.data());
        } else {
            action(wide_.data());
        }
    }
    /// Called after all synapses have been placed: each number is then the start of the next row.
    RowStarts starts() && {
        visit([&](auto* ends) {
            std::copy_backward(ends, ends + rows(), ends + rows() + 1);
            ends[0] = 0;
        });
        return wide_.empty() ? RowStarts(std::move(narrow_)) : RowStarts(std::move(wide_));
    }

   private:
    void widen() {
        wide_ = Buffer<std::uint64_t>(narrow_.size(), memory_);
        std::copy_n(narrow_.data(), narrow_.size(), wide_.data());
        narrow_ = {};
    }

    std::pmr::memory_resource* memory_ = nullptr;
    std::uint64_t most_narrow_ = 0;
    std::uint64_t total_ = 0;
    Buffer<std::uint32_t> narrow_;
    Buffer<std::uint64_t> wide_;
};

}  // namespace ranvier::connect
