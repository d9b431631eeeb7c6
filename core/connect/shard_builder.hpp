#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/buffer.hpp"
#include "connect/row_sort.hpp"
#include "connect/stored_table.hpp"
#include "connect/table_builder.hpp"

namespace ranvier::connect {

/// What is known of a table before its synapses are drawn; the same on every shard.
struct TablePlan {
    RowMap row_map;
    bool used = false;
    bool tagged = false;  ///< source and target do not tell the projection
    DelaySteps least_delay = 1;
    DelaySteps greatest_delay = 1;
};

/// Synapses of one projection and receptor on their way into a table, as columns of equal length.
struct SynapseBatch {
    const std::uint32_t* rows = nullptr;
    const std::uint32_t* targets = nullptr;  ///< local indices
    const double* weights = nullptr;         ///< rounded to the grid and to what is stored
    const std::uint16_t* delays = nullptr;   ///< relative to the table's least delay
    std::size_t count = 0;
    std::uint16_t tag = 0;
};

/// The tables of one shard while they are being built.
class ShardBuilder {
   public:
    virtual ~ShardBuilder() = default;
    /// First pass: rows of synapses that will come.
    virtual void count(std::uint32_t receptor, const std::uint32_t* rows, std::size_t count) = 0;
    /// Between the passes.
    virtual void allocate() = 0;
    /// Second pass.
    virtual void store(std::uint32_t receptor, const SynapseBatch& batch) = 0;
    /// Sorts the rows and hands out the tables.
    virtual ShardTables finish() = 0;
};

template <class Target, class Weight>
class TypedShardBuilder final : public ShardBuilder {
   public:
    TypedShardBuilder(std::span<const TablePlan> plans, std::uint32_t local_neurons, BuildOptions options,
                      const parallel::Team& team)
        : local_neurons_(local_neurons), options_(options), team_(team) {
        for (const TablePlan& plan : plans) {
            Draft draft;
            draft.plan = plan;
            if (plan.used) {
                draft.columns.row_map = plan.row_map;
                draft.cursors = Buffer<std::uint64_t>(plan.row_map.rows());
                std::fill_n(draft.cursors.data(), draft.cursors.size(), 0);
            }
            drafts_.push_back(std::move(draft));
        }
    }

    void count(std::uint32_t receptor, const std::uint32_t* rows, std::size_t count) override {
        std::uint64_t* counts = drafts_[receptor].cursors.data();
        for (std::size_t i = 0; i < count; ++i) ++counts[rows[i]];
    }

    void allocate() override {
        for (Draft& draft : drafts_) {
            if (!draft.plan.used) continue;
            auto& columns = draft.columns;
            const std::uint32_t rows = draft.plan.row_map.rows();
            columns.row_start = Buffer<std::uint64_t>(std::size_t{rows} + 1);
            std::uint64_t total = 0;
            for (std::uint32_t row = 0; row < rows; ++row) {
                const std::uint64_t length = draft.cursors[row];
                columns.row_start[row] = total;
                draft.cursors[row] = total;
                total += length;
            }
            columns.row_start[rows] = total;
            columns.targets = Buffer<Target>(total);
            columns.weights = Buffer<Weight>(total);
            columns.least_delay = draft.plan.least_delay;
            columns.greatest_delay = draft.plan.greatest_delay;
            const DelaySteps range = draft.plan.greatest_delay - draft.plan.least_delay;
            if (range > UINT8_MAX) {
                columns.delays = Buffer<std::uint16_t>(total);
            } else if (range > 0) {
                columns.delays = Buffer<std::uint8_t>(total);
            }
            if (draft.plan.tagged) columns.tags = Buffer<std::uint16_t>(total);
        }
    }

    void store(std::uint32_t receptor, const SynapseBatch& batch) override {
        Draft& draft = drafts_[receptor];
        auto& columns = draft.columns;
        if (columns.greatest_delay == columns.least_delay) {
            scatter(draft, batch, NoDelays{});
        } else {
            std::visit(
                [&]<class Delay>(Buffer<Delay>& delays) { scatter(draft, batch, DelayColumn<Delay>{delays.data()}); },
                columns.delays);
        }
    }

    ShardTables finish() override {
        ShardTables tables;
        for (Draft& draft : drafts_) {
            draft.cursors = {};
            tables.push_back(draft.plan.used && !draft.columns.targets.empty() ? finish(std::move(draft.columns))
                                                                               : nullptr);
            draft = {};
        }
        return tables;
    }

   private:
    struct NoDelays {
        void prefetch(std::uint64_t) const {}
        void operator()(std::uint64_t, std::uint16_t) const {}
    };
    template <class Delay>
    struct DelayColumn {
        Delay* delays;
        void prefetch(std::uint64_t position) const { __builtin_prefetch(delays + position, 1, 3); }
        void operator()(std::uint64_t position, std::uint16_t delay) const {
            delays[position] = static_cast<Delay>(delay);
        }
    };

    struct Draft {
        TablePlan plan;
        TableColumns<Target, Weight> columns;
        Buffer<std::uint64_t> cursors;  ///< counts in the first pass, next free position in the second
    };

    /// Rows grow at as many places as there are sources. The places of a block of synapses are found first and their cache
    /// lines asked for, so that the stores that follow do not wait for one line after another.
    template <class StoreDelay>
    static void scatter(Draft& draft, const SynapseBatch& batch, StoreDelay store_delay) {
        std::uint64_t* cursors = draft.cursors.data();
        Target* targets = draft.columns.targets.data();
        Weight* weights = draft.columns.weights.data();
        std::uint16_t* tags = draft.columns.tags.data();
        constexpr std::size_t block = 32;
        std::uint64_t positions[2][block];
        const auto find_places = [&](std::size_t begin, std::uint64_t* places) {
            const std::size_t end = std::min(begin + block, batch.count);
            for (std::size_t i = begin; i < end; ++i) {
                const std::uint64_t position = cursors[batch.rows[i]]++;
                places[i - begin] = position;
                __builtin_prefetch(targets + position, 1, 3);
                __builtin_prefetch(weights + position, 1, 3);
                store_delay.prefetch(position);
            }
        };
        find_places(0, positions[0]);
        for (std::size_t begin = 0, turn = 0; begin < batch.count; begin += block, turn ^= 1) {
            if (begin + block < batch.count) find_places(begin + block, positions[turn ^ 1]);
            const std::size_t end = std::min(begin + block, batch.count);
            for (std::size_t i = begin; i < end; ++i) {
                const std::uint64_t position = positions[turn][i - begin];
                targets[position] = static_cast<Target>(batch.targets[i]);
                weights[position] = static_cast<Weight>(batch.weights[i]);
                store_delay(position, batch.delays[i]);
            }
            if (tags == nullptr) continue;
            for (std::size_t i = begin; i < end; ++i) tags[positions[turn][i - begin]] = batch.tag;
        }
    }

    std::unique_ptr<SynapseTable> finish(TableColumns<Target, Weight> columns) {
        narrow_delays(columns);
        if (use_ring(columns)) return std::make_unique<RingTable<Target, Weight>>(std::move(columns));
        std::uint64_t longest = 0;
        for (std::uint32_t row = 0; row < columns.row_map.rows(); ++row) {
            longest = std::max(longest, columns.row_start[row + 1] - columns.row_start[row]);
        }
        if (longest <= UINT16_MAX) return sort_rows<std::uint16_t>(std::move(columns), longest);
        if (longest <= UINT32_MAX) return sort_rows<std::uint32_t>(std::move(columns), longest);
        return sort_rows<std::uint64_t>(std::move(columns), longest);
    }

    /// Replaces the bounds of the delays by those that were drawn.
    static void narrow_delays(TableColumns<Target, Weight>& columns) {
        if (columns.least_delay == columns.greatest_delay) return;
        std::visit(
            [&]<class Delay>(Buffer<Delay>& delays) {
                // Not minmax_element, which compilers do not vectorise.
                Delay low = std::numeric_limits<Delay>::max();
                Delay high = 0;
                for (std::size_t i = 0; i < delays.size(); ++i) {
                    low = std::min(low, delays[i]);
                    high = std::max(high, delays[i]);
                }
                columns.greatest_delay = columns.least_delay + high;
                columns.least_delay += low;
                if (low == 0) return;
                for (std::size_t i = 0; i < delays.size(); ++i) delays[i] = static_cast<Delay>(delays[i] - low);
            },
            columns.delays);
    }

    bool use_ring(const TableColumns<Target, Weight>& columns) const {
        const bool has_delays = std::visit([](const auto& delays) { return !delays.empty(); }, columns.delays);
        if (!has_delays || options_.layout == TableLayout::runs) return false;
        if (options_.layout == TableLayout::ring) return true;
        return prefer_ring(columns.targets.size(), columns.row_map.rows(),
                           columns.greatest_delay - columns.least_delay + 1, columns.greatest_delay, local_neurons_);
    }

    template <class Offset>
    std::unique_ptr<SynapseTable> sort_rows(TableColumns<Target, Weight> columns, std::uint64_t longest) {
        const std::size_t delay_count = columns.greatest_delay - columns.least_delay + 1;
        const std::uint32_t rows = columns.row_map.rows();
        Buffer<Offset> offsets(rows * (delay_count + 1));
        RowSorter<Target, Weight> sorter(longest, delay_count);
        for (std::uint32_t row = 0; row < rows; ++row) {
            if (row % 1024 == 0) team_.check_cancelled();
            sorter.sort(columns, row, offsets.data() + row * (delay_count + 1));
        }
        columns.delays = DelayStore{};
        return std::make_unique<RunTable<Target, Weight, Offset>>(std::move(columns), std::move(offsets));
    }

    std::uint32_t local_neurons_;
    BuildOptions options_;
    const parallel::Team& team_;
    std::vector<Draft> drafts_;
};

}  // namespace ranvier::connect
