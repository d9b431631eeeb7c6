#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory_resource>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/buffer.hpp"
#include "connect/tables/table.hpp"

namespace ranvier::connect {

/// Delays of synapses relative to the least delay of their table, one byte each where that suffices.
using DelayStore = std::variant<Buffer<std::uint8_t>, Buffer<std::uint16_t>>;

/// Where rows begin, in as few bytes as their number of synapses allows.
class RowStarts {
   public:
    RowStarts() = default;
    /// Room for `rows` rows with `synapses` synapses in all.
    RowStarts(std::size_t rows, std::uint64_t synapses, std::pmr::memory_resource* memory) {
        if (synapses <= UINT32_MAX) {
            narrow_ = Buffer<std::uint32_t>(rows + 1, memory);
        } else {
            wide_ = Buffer<std::uint64_t>(rows + 1, memory);
        }
    }

    /// @param starts of all rows, and where the last one ends
    explicit RowStarts(Buffer<std::uint32_t> starts) : narrow_(std::move(starts)) {}
    explicit RowStarts(Buffer<std::uint64_t> starts) : wide_(std::move(starts)) {}

    std::uint64_t operator[](std::size_t row) const { return narrow_.empty() ? wide_[row] : narrow_[row]; }
    void set(std::size_t row, std::uint64_t begin) {
        if (narrow_.empty()) {
            wide_[row] = begin;
        } else {
            narrow_[row] = static_cast<std::uint32_t>(begin);
        }
    }
    void prefetch(std::size_t row) const {
        __builtin_prefetch(narrow_.empty() ? static_cast<const void*>(wide_.data() + row) : narrow_.data() + row, 0, 3);
    }
    /// Number of rows; 0 when there is nothing, as in unsorted tables.
    std::size_t rows() const { return narrow_.size() + wide_.size() == 0 ? 0 : narrow_.size() + wide_.size() - 1; }
    /// The row that a position lies in.
    std::uint32_t row_of(std::uint64_t position) const {
        std::size_t low = 0;
        std::size_t high = rows();
        // The last row that begins at or before the position.
        while (high - low > 1) {
            const std::size_t middle = (low + high) / 2;
            ((*this)[middle] <= position ? low : high) = middle;
        }
        return static_cast<std::uint32_t>(low);
    }

   private:
    Buffer<std::uint32_t> narrow_;
    Buffer<std::uint64_t> wide_;
};

/// How rows are numbered.
enum class RowNumbering : std::uint8_t {
    dense,  ///< every source that there could be has a row, if an empty one: a source's row is found by arithmetic
    compact,  ///< only sources that are there have a row
    unsorted,  ///< each synapse is a row, in the order in which they were drawn
};

/// The columns of a table, rows one after another, before anything is built on them.
template <class Target, class Weight>
struct TableColumns {
    RowMap row_map;
    RowNumbering numbering = RowNumbering::dense;
    RowStarts row_start;  ///< empty when unsorted
    /// Index in `row_map` of each row's source, unless rows are dense; empty once forgotten.
    Buffer<std::uint32_t> sources;
    Buffer<Target> targets;  ///< local indices
    Buffer<Weight> weights;
    DelayStore delays;  ///< empty when all delays are the same
    Buffer<std::uint16_t> tags;  ///< projections; empty when source and target tell the projection
    DelaySteps least_delay = 1;
    DelaySteps greatest_delay = 1;
};

namespace detail {

constexpr std::size_t cache_line = 64;

RANVIER_ALWAYS_INLINE void prefetch_span(const void* begin, std::size_t bytes) {
    const char* line = static_cast<const char*>(begin);
    const char* end = line + bytes;
    for (; line < end; line += cache_line) __builtin_prefetch(line, 0, 3);
}

template <class Target, class Weight>
RANVIER_ALWAYS_INLINE void add_run(const Target* __restrict targets, const Weight* __restrict weights,
                                   std::size_t count, double* inputs) {
    std::size_t i = 0;
    // Unrolled by hand: the compiler must assume that targets repeat, and would not.
    for (; i + 4 <= count; i += 4) {
        inputs[targets[i]] += static_cast<double>(weights[i]);
        inputs[targets[i + 1]] += static_cast<double>(weights[i + 1]);
        inputs[targets[i + 2]] += static_cast<double>(weights[i + 2]);
        inputs[targets[i + 3]] += static_cast<double>(weights[i + 3]);
    }
    for (; i < count; ++i) inputs[targets[i]] += static_cast<double>(weights[i]);
}

/// The same in sums of 128 bits, which takes four to five times as long (measured in the cache).
template <class Target, class Weight>
void add_wide_run(const Target* targets, const Weight* weights, std::size_t count, WideSum* sums,
                  std::int32_t exponent) {
    for (std::size_t i = 0; i < count; ++i) add_wide(sums[targets[i]], static_cast<double>(weights[i]), exponent);
}

}  // namespace detail

/// What both layouts share: columns, queries, changes of weights.
template <class Target, class Weight>
class StoredTable : public SynapseTable {
   public:
    explicit StoredTable(TableColumns<Target, Weight> columns) : columns_(std::move(columns)) {}

    std::uint32_t rows() const override {
        if (columns_.numbering == RowNumbering::unsorted) return static_cast<std::uint32_t>(size());
        return static_cast<std::uint32_t>(columns_.row_start.rows());
    }
    bool has_sources() const override { return columns_.numbering == RowNumbering::dense || !columns_.sources.empty(); }
    void forget_sources() override { columns_.sources = {}; }
    NeuronId source(RowIndex row) const override {
        return columns_.row_map.source(
            columns_.numbering == RowNumbering::dense ? row : RowIndex{columns_.sources[row.value]});
    }
    void find_rows(std::span<const NeuronId> sources, std::pmr::vector<RowIndex>& rows) const override {
        if (columns_.numbering == RowNumbering::unsorted) {
            search_unsorted(sources, rows);
            return;
        }
        for (const NeuronId source : sources) {
            const RowIndex index = columns_.row_map.row(source);
            if (index == RowMap::none) continue;
            if (columns_.numbering == RowNumbering::dense) {
                if (row_begin(index) != row_end(index)) rows.push_back(index);
                continue;
            }
            const std::span<const std::uint32_t> all = columns_.sources.span();
            const auto found = std::lower_bound(all.begin(), all.end(), index.value);
            if (found == all.end() || *found != index.value) continue;
            rows.push_back(RowIndex{static_cast<std::uint32_t>(found - all.begin())});
        }
    }
    std::uint64_t size() const override { return columns_.targets.size(); }
    DelaySteps least_delay() const override { return columns_.least_delay; }
    DelaySteps greatest_delay() const override { return columns_.greatest_delay; }

    std::uint64_t row_begin(RowIndex row) const override {
        return columns_.numbering == RowNumbering::unsorted ? row.value : columns_.row_start[row.value];
    }
    std::uint64_t row_end(RowIndex row) const override {
        return columns_.numbering == RowNumbering::unsorted ? row.value + std::uint64_t{1}
                                                            : columns_.row_start[row.value + std::size_t{1}];
    }
    std::uint32_t target(std::uint64_t position) const override { return columns_.targets[position]; }
    double weight(std::uint64_t position) const override { return static_cast<double>(columns_.weights[position]); }
    bool has_tags() const override { return !columns_.tags.empty(); }
    std::uint32_t tag(std::uint64_t position) const override {
        return columns_.tags.empty() ? 0 : columns_.tags[position];
    }

   protected:
    /// A spike that may not have reached all of its targets.
    struct RecentSpike {
        std::uint32_t row = 0;
        Step stamp = 0;

        friend auto operator<=>(const RecentSpike&, const RecentSpike&) = default;
    };

    /// set_weights(), given the spikes that may still be on their way, in any order, and where delays are found. Inputs
    /// have been written for arrivals before `written_end`.
    template <class DelayOf>
    void change_weights(std::span<const std::uint64_t> positions, std::span<const double> weights,
                        std::vector<RecentSpike> recent, Step now, Step written_end, const InputRing& inputs,
                        DelayOf delay_of) {
        std::sort(recent.begin(), recent.end());
        for (std::size_t i = 0; i < positions.size(); ++i) {
            const std::uint64_t position = positions[i];
            const double before = weight(position);
            columns_.weights[position] = static_cast<Weight>(weights[i]);
            if (recent.empty() || weights[i] == before) continue;
            const std::uint32_t row = columns_.numbering == RowNumbering::unsorted
                                          ? static_cast<std::uint32_t>(position)
                                          : columns_.row_start.row_of(position);
            const auto first = std::lower_bound(recent.begin(), recent.end(), RecentSpike{row, 0});
            for (auto spike = first; spike != recent.end() && spike->row == row; ++spike) {
                const Step arrival = spike->stamp + delay_of(RowIndex{row}, position);
                if (arrival <= now || arrival >= written_end) continue;
                if (inputs.wide == nullptr) {
                    inputs.slot(arrival)[target(position)] += weights[i] - before;
                } else {
                    inputs.wide_slot(arrival)[target(position)] +=
                        to_wide(weights[i], inputs.exponent) - to_wide(before, inputs.exponent);
                }
            }
        }
    }

    TableColumns<Target, Weight> columns_;

   private:
    /// find_rows() by one walk through all synapses, however many sources are looked for.
    void search_unsorted(std::span<const NeuronId> sources, std::pmr::vector<RowIndex>& rows) const {
        struct Wanted {
            std::uint32_t index;
            std::size_t turn;
        };
        std::vector<Wanted> wanted;
        for (std::size_t turn = 0; turn < sources.size(); ++turn) {
            const RowIndex index = columns_.row_map.row(sources[turn]);
            if (index != RowMap::none) wanted.push_back({index.value, turn});
        }
        const auto by_index = [](const Wanted& a, const Wanted& b) { return a.index < b.index; };
        std::sort(wanted.begin(), wanted.end(), by_index);
        std::vector<std::pair<std::size_t, std::uint32_t>> found;
        for (std::uint32_t row = 0; row < columns_.sources.size(); ++row) {
            const auto [first, last] =
                std::equal_range(wanted.begin(), wanted.end(), Wanted{columns_.sources[row], 0}, by_index);
            for (auto source = first; source != last; ++source) found.emplace_back(source->turn, row);
        }
        std::sort(found.begin(), found.end());
        for (const auto& [turn, row] : found) rows.push_back(RowIndex{row});
    }
};

}  // namespace ranvier::connect
