#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <utility>
#include <vector>

#include "connect/tables/delay_blocks.hpp"
#include "connect/tables/delivery_loops.hpp"
#include "connect/tables/ring_table.hpp"

namespace ranvier::connect {

namespace detail {

/// Where the cells of a block of delays are in the ring of inputs, for spikes of one step.
struct BlockPlace {
    std::size_t begin = 0;
    bool wraps = false;  ///< around the end of the ring
};

template <class Target, class Weight, class Offset>
struct BlockArguments {
    const std::uint64_t* begins;
    const std::uint64_t* ends;
    const RowIndex* rows;
    std::size_t count;
    const Target* cells;
    const Weight* weights;
    const Offset* offsets;  ///< unused with one block
    const BlockPlace* places;
    std::size_t blocks;
    std::size_t begin;  ///< of the blocks that are added
    std::size_t end;
    InputRing inputs;
    std::size_t ring_size;  ///< elements
    std::size_t ahead;  ///< number of rows to prefetch ahead
};

/// The index of a cell in a ring. If `place` is smaller than the size, the difference is a very large number.
RANVIER_ALWAYS_INLINE std::size_t wrapped(std::size_t place, std::size_t size) {
    return place < place - size ? place : place - size;
}

template <class Target, class Weight>
RANVIER_ALWAYS_INLINE void add_wrapped(const Target* __restrict cells, const Weight* __restrict weights,
                                       std::size_t count, double* ring, std::size_t begin, std::size_t size) {
    for (std::size_t i = 0; i < count; ++i) {
        ring[wrapped(begin + cells[i], size)] += static_cast<double>(weights[i]);
    }
}

/// Adds the synapses of each row in some or all blocks at once, block by block.
template <class Target, class Weight, class Offset, bool wide = false>
struct DeliverBlocks {
    RANVIER_ALWAYS_INLINE static void run(const BlockArguments<Target, Weight, Offset>* arguments) {
        const auto& a = *arguments;
        const bool are_all = a.end - a.begin == a.blocks;
        for (std::size_t r = 0; r < a.count; ++r) {
            if (are_all) {
                prefetch_row(a, r + a.ahead);
            } else {
                prefetch_part(a, r + a.ahead);
            }
            const std::uint64_t begin = a.begins[r];
            if (a.blocks == 1) {
                add(a, begin, std::size_t(a.ends[r] - begin), a.places[0]);
                continue;
            }
            const Offset* const row = offsets(a, r);
            for (std::size_t block = a.begin; block < a.end; ++block) {
                add(a, begin + row[block], std::size_t{row[block + 1]} - row[block], a.places[block]);
            }
        }
    }

   private:
    RANVIER_ALWAYS_INLINE static void prefetch_row(const BlockArguments<Target, Weight, Offset>& a, std::size_t r) {
        if (r >= a.count) return;
        const std::uint64_t next = a.begins[r];
        const std::size_t length = std::size_t(a.ends[r] - next);
        prefetch_span(a.cells + next, length * sizeof(Target));
        prefetch_span(a.weights + next, length * sizeof(Weight));
        if (a.blocks > 1) __builtin_prefetch(offsets(a, r), 0, 3);
    }
    /// The offsets of rows are read before those of the synapses can be known, and are prefetched twice as far ahead.
    RANVIER_ALWAYS_INLINE static void prefetch_part(const BlockArguments<Target, Weight, Offset>& a, std::size_t r) {
        if (r + a.ahead < a.count) __builtin_prefetch(offsets(a, r + a.ahead), 0, 3);
        if (r >= a.count) return;
        const Offset* const row = offsets(a, r);
        const std::uint64_t next = a.begins[r] + row[a.begin];
        const std::size_t length = std::size_t{row[a.end]} - row[a.begin];
        prefetch_span(a.cells + next, length * sizeof(Target));
        prefetch_span(a.weights + next, length * sizeof(Weight));
    }
    RANVIER_ALWAYS_INLINE static const Offset* offsets(const BlockArguments<Target, Weight, Offset>& a, std::size_t r) {
        return a.offsets + a.rows[r].value * (a.blocks + 1);
    }
    RANVIER_ALWAYS_INLINE static void add(const BlockArguments<Target, Weight, Offset>& a, std::uint64_t begin,
                                          std::size_t count, BlockPlace place) {
        const Target* const cells = a.cells + begin;
        const Weight* const weights = a.weights + begin;
        if constexpr (wide) {
            for (std::size_t i = 0; i < count; ++i) {
                add_wide(a.inputs.wide[wrapped(place.begin + cells[i], a.ring_size)], static_cast<double>(weights[i]),
                         a.inputs.exponent);
            }
        } else if (place.wraps) {
            add_wrapped(cells, weights, count, a.inputs.data, place.begin, a.ring_size);
        } else {
            add_run(cells, weights, count, a.inputs.data + place.begin);
        }
    }
};

}  // namespace detail

/// The layout for networks on many threads, where runs (source, delay) are short, and rows are not: each row is sorted
/// by blocks of delays, with the start of each block, and a synapse stores its target and its delay within the block in
/// one number (DelayBlocks). As with a ring, a row is added at once, but in one loop for each block.
template <class Target, class Weight, class Offset>
class BlockTable final : public RingTable<Target, Weight>, public DividedDelivery {
   public:
    /// @param columns with cells of these blocks as targets
    /// @param offsets for each row `blocks.count + 1` positions relative to its start; empty with one block
    BlockTable(TableColumns<Target, Weight> columns, DelayBlocks blocks, Buffer<Offset> offsets,
               std::pmr::memory_resource* spike_memory)
        : RingTable<Target, Weight>(std::move(columns), spike_memory),
          blocks_(blocks),
          offsets_(std::move(offsets)),
          places_(blocks.count, spike_memory),
          rows_left_(spike_memory),
          ahead_(detail::rows_ahead(offsets_.empty() ? 2 : 3, this->mean_row() * (sizeof(Target) + sizeof(Weight)))) {}

    void read(RowIndex row, std::uint64_t begin, std::uint64_t end, std::vector<SynapseView>& out) const override {
        std::uint32_t block = begin < end ? block_at(row, begin) : 0;
        for (std::uint64_t position = begin; position < end; ++position) {
            while (position >= block_end(row, block)) ++block;
            out.push_back({position, this->target(position), delay_in(block, position), this->tag(position)});
        }
    }

    DividedDelivery* divided() override { return blocks_.count > 1 ? this : nullptr; }

    std::uint64_t accept_first_part(Step stamp, std::span<const RowIndex> rows, const InputRing& inputs) override {
        // Claims and further passes through the rows must cost little beside the arrivals.
        constexpr std::size_t least_arrivals = 512;
        parts_left_ = 0;
        if (rows.size() > this->rows_at_once) {
            return this->accept(InstructionSet::baseline, stamp, rows, stamp, stamp + 1, inputs);
        }
        const std::uint64_t events = this->find_synapses(rows, {});
        rows_left_.assign(rows.begin(), rows.end());
        place_blocks(stamp, inputs);
        if (events >= least_arrivals) parts_left_ = blocks_.count - 1;
        add_blocks(this->found(rows_left_), inputs, 0, blocks_.count - parts_left_);
        this->remember(stamp, rows, stamp);
        return events;
    }
    std::uint32_t parts_left() const override { return parts_left_; }
    void add_parts(std::uint32_t begin, std::uint32_t end, const InputRing& inputs) const override {
        add_blocks(this->found(rows_left_), inputs, begin + 1, end + 1);
    }

   protected:
    void add(Step stamp, const typename RingTable<Target, Weight>::Rows& rows, const InputRing& inputs) override {
        place_blocks(stamp, inputs);
        add_blocks(rows, inputs, 0, blocks_.count);
    }

   private:
    void place_blocks(Step stamp, const InputRing& inputs) {
        assert(inputs.slot_stride == this->columns_.cell_stride);
        const std::size_t slots = std::size_t{inputs.slot_mask} + 1;
        for (std::uint32_t block = 0; block < blocks_.count; ++block) {
            const Step arrival = stamp + this->columns_.least_delay + Step{block} * blocks_.length;
            const std::size_t slot = static_cast<std::uint64_t>(arrival) & inputs.slot_mask;
            places_[block] = {.begin = slot * inputs.slot_stride, .wraps = slot + blocks_.length > slots};
        }
    }
    void add_blocks(const typename RingTable<Target, Weight>::Rows& rows, const InputRing& inputs, std::uint32_t begin,
                    std::uint32_t end) const {
        const detail::BlockArguments<Target, Weight, Offset> arguments{
            .begins = rows.begins.data(),
            .ends = rows.ends.data(),
            .rows = rows.rows.data(),
            .count = rows.rows.size(),
            .cells = this->columns_.targets.data(),
            .weights = this->columns_.weights.data(),
            .offsets = offsets_.data(),
            .places = places_.data(),
            .blocks = blocks_.count,
            .begin = begin,
            .end = end,
            .inputs = inputs,
            .ring_size = (std::size_t{inputs.slot_mask} + 1) * inputs.slot_stride,
            .ahead = ahead_,
        };
        if (inputs.wide != nullptr) {
            detail::DeliverBlocks<Target, Weight, Offset, true>::run(&arguments);
        } else {
            detail::DeliverBlocks<Target, Weight, Offset>::run(&arguments);
        }
    }
    void copy_delays(RowIndex row, DelaySteps* delays) const override {
        const std::uint64_t begin = this->row_begin(row);
        const std::uint64_t end = this->row_end(row);
        std::uint32_t block = 0;
        for (std::uint64_t position = begin; position < end; ++position) {
            while (position >= block_end(row, block)) ++block;
            delays[position - begin] = delay_in(block, position);
        }
    }
    DelaySteps delay_at(RowIndex row, std::uint64_t position) const override {
        return delay_in(block_at(row, position), position);
    }
    DelaySteps delay_in(std::uint32_t block, std::uint64_t position) const {
        return this->columns_.least_delay + block * blocks_.length +
               static_cast<DelaySteps>(this->columns_.targets[position] / this->columns_.cell_stride);
    }
    std::uint32_t block_at(RowIndex row, std::uint64_t position) const {
        if (offsets_.empty()) return 0;
        const Offset* const begin = offsets_.data() + std::uint64_t{row.value} * (blocks_.count + 1);
        const auto place = static_cast<Offset>(position - this->row_begin(row));
        return static_cast<std::uint32_t>(std::upper_bound(begin, begin + blocks_.count + 1, place) - begin - 1);
    }
    std::uint64_t block_end(RowIndex row, std::uint32_t block) const {
        if (offsets_.empty()) return this->row_end(row);
        return this->row_begin(row) + offsets_[std::uint64_t{row.value} * (blocks_.count + 1) + block + 1];
    }

    DelayBlocks blocks_;
    Buffer<Offset> offsets_;
    std::pmr::vector<detail::BlockPlace> places_;
    /// The rows that were accepted last; parts of them may be left.
    std::pmr::vector<RowIndex> rows_left_;
    std::uint32_t parts_left_ = 0;
    std::size_t ahead_;
};

}  // namespace ranvier::connect
