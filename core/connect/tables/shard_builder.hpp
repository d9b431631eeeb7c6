#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "connect/tables/block_table.hpp"
#include "connect/tables/bucket_sort.hpp"
#include "connect/tables/delay_blocks.hpp"
#include "connect/tables/layout_choice.hpp"
#include "connect/tables/ring_table.hpp"
#include "connect/tables/row_cursors.hpp"
#include "connect/tables/row_sort.hpp"
#include "connect/tables/run_table.hpp"
#include "connect/tables/synapse_stage.hpp"
#include "connect/tables/table_builder.hpp"
#include "connect/tables/table_plan.hpp"
#include "ranvier/base/buffer.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/connect/tables/table_columns.hpp"

namespace ranvier::connect {

/// The tables of one shard during construction, without those of transmitters.
class ShardBuilder {
   public:
    virtual ~ShardBuilder() = default;
    /// First pass: rows of synapses to be stored.
    virtual void count(KindIndex kind, const std::uint32_t* rows, std::size_t count) = 0;
    /// Called between the passes.
    virtual void allocate() = 0;
    /// Second pass.
    virtual void store(KindIndex kind, const SynapseBatch& batch) = 0;
    /// @pre synapses have no per-synapse parameters
    virtual void store(KindIndex kind, const StagedBatch& batch) = 0;
    /// Sorts the rows and returns the tables, except those that were returned before. @param quanta see TableBuilder::finish
    /// @param only_static whether other tables are left for a later call
    virtual ShardTables finish(std::span<const double> quanta, bool only_static) = 0;
};

template <class Target, class Weight>
class TypedShardBuilder final : public ShardBuilder {
   public:
    /// @param inputs by receptor
    TypedShardBuilder(std::span<const TablePlan> plans, std::span<const InputLayout> inputs, BuildOptions options,
                      const parallel::Team& team, TableMemory memory)
        : inputs_(inputs), options_(options), team_(team), memory_(memory) {
        for (const TablePlan& plan : plans) {
            Draft draft;
            draft.plan = plan;
            if (plan.used) {
                draft.columns.row_map = plan.row_map;
                draft.columns.numbering = plan.numbering;
                draft.cursors =
                    RowCursors(static_cast<std::size_t>(std::uint64_t{plan.row_map.rows() - 1} >> plan.bucket_bits) + 1,
                               memory_.synapses);
            }
            drafts_.push_back(std::move(draft));
        }
    }

    void count(KindIndex kind, const std::uint32_t* rows, std::size_t count) override {
        Draft& draft = drafts_[kind.value];
        draft.cursors.count(rows, count, draft.plan.bucket_bits);
    }

    void allocate() override {
        for (Draft& draft : drafts_) {
            if (!draft.plan.used) continue;
            auto& columns = draft.columns;
            const std::uint64_t total = draft.cursors.total();
            if (columns.numbering != RowNumbering::dense && total >= RowMap::none.value) {
                throw ValueOutOfBoundsError({.object = "number of synapses of one shard",
                                             .value = std::to_string(total),
                                             .bound =
                                                 "where few of the possible sources have targets on a shard, it holds "
                                                 "fewer than 4294967295 synapses of one kind",
                                             .remedy = "use more threads"});
            }
            draft.cursors.place();
            if (columns.numbering != RowNumbering::dense)
                columns.sources = Buffer<std::uint32_t>(total, memory_.synapses);
            columns.targets = Buffer<Target>(total, memory_.synapses);
            columns.weights = Buffer<Weight>(total, memory_.synapses);
            for (std::size_t i = 0; i < draft.plan.per_synapse_parameters(); ++i) {
                columns.parameters.emplace_back(total, memory_.synapses);
            }
            columns.least_delay = draft.plan.least_delay;
            columns.greatest_delay = draft.plan.greatest_delay;
            const DelaySteps range = draft.plan.greatest_delay - draft.plan.least_delay;
            if (range > UINT8_MAX) {
                columns.delays = Buffer<std::uint16_t>(total, memory_.synapses);
            } else if (range > 0) {
                columns.delays = Buffer<std::uint8_t>(total, memory_.synapses);
            }
            if (draft.plan.tagged) columns.tags = Buffer<std::uint16_t>(total, memory_.synapses);
        }
    }

    void store(KindIndex kind, const SynapseBatch& batch) override { store_batch(kind, batch); }
    void store(KindIndex kind, const StagedBatch& batch) override { store_batch(kind, batch); }

    ShardTables finish(std::span<const double> quanta, bool only_static) override {
        ShardTables tables;
        for (std::size_t kind = 0; kind < drafts_.size(); ++kind) {
            Draft& draft = drafts_[kind];
            if (only_static && draft.plan.dynamics != nullptr) {
                tables.push_back(nullptr);
                continue;
            }
            if (draft.plan.used && !draft.columns.targets.empty()) {
                draft.columns.row_start = std::move(draft.cursors).starts();
                if (draft.plan.dynamics != nullptr) {
                    tables.push_back(finish_dynamic(std::move(draft.columns), draft.plan, quanta[kind]));
                } else {
                    tables.push_back(finish(std::move(draft.columns), inputs_[draft.plan.receptor].size()));
                }
            } else {
                tables.push_back(nullptr);
            }
            draft = {};
        }
        return tables;
    }

   private:
    struct NoDelays {
        RANVIER_ALWAYS_INLINE void prefetch(std::uint64_t) const {}
        void operator()(std::uint64_t, std::uint16_t) const {}
    };
    template <class Delay>
    struct DelayColumn {
        Delay* delays;
        RANVIER_ALWAYS_INLINE void prefetch(std::uint64_t position) const {
            __builtin_prefetch(delays + position, 1, 3);
        }
        void operator()(std::uint64_t position, std::uint16_t delay) const {
            delays[position] = static_cast<Delay>(delay);
        }
    };

    struct Draft {
        TablePlan plan;
        TableColumns<Target, Weight> columns;
        RowCursors cursors;  ///< of buckets
    };

    template <class Batch>
    void store_batch(KindIndex kind, const Batch& batch) {
        Draft& draft = drafts_[kind.value];
        auto& columns = draft.columns;
        draft.cursors.visit([&](auto* cursors) {
            if (columns.greatest_delay == columns.least_delay) {
                scatter(draft, cursors, batch, NoDelays{});
                return;
            }
            std::visit(
                [&]<class Delay>(Buffer<Delay>& delays) {
                    scatter(draft, cursors, batch, DelayColumn<Delay>{delays.data()});
                },
                columns.delays);
        });
    }

    /// Rows are written at as many places as there are sources. The places of a block of synapses are computed first
    /// and their cache lines prefetched, so that the following stores do not wait for one line after another.
    template <class Cursor, class Batch, class StoreDelay>
    static void scatter(Draft& draft, Cursor* cursors, const Batch& batch, StoreDelay store_delay) {
        Target* targets = draft.columns.targets.data();
        Weight* weights = draft.columns.weights.data();
        std::uint16_t* tags = draft.columns.tags.data();
        std::uint32_t* sources = draft.columns.sources.data();
        const std::uint32_t bits = draft.plan.bucket_bits;
        constexpr std::size_t block = 32;
        std::uint64_t positions[2][block];
        const auto find_places = [&](std::size_t begin, std::uint64_t* places) {
            const std::size_t end = std::min(begin + block, batch.count);
            for (std::size_t i = begin; i < end; ++i) {
                const std::uint64_t position = cursors[std::uint64_t{batch.row(i)} >> bits]++;
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
                targets[position] = static_cast<Target>(batch.target(i));
                weights[position] = static_cast<Weight>(batch.weight(i));
                store_delay(position, batch.delay(i));
            }
            if (sources != nullptr) {
                for (std::size_t i = begin; i < end; ++i) sources[positions[turn][i - begin]] = batch.row(i);
            }
            if constexpr (std::is_same_v<Batch, SynapseBatch>) {
                for (std::size_t k = 0; k < draft.columns.parameters.size(); ++k) {
                    Weight* const values = draft.columns.parameters[k].data();
                    const double* const given = batch.parameters + k * batch.stride;
                    for (std::size_t i = begin; i < end; ++i) {
                        values[positions[turn][i - begin]] = static_cast<Weight>(given[i]);
                    }
                }
            }
            if (tags == nullptr) continue;
            for (std::size_t i = begin; i < end; ++i) tags[positions[turn][i - begin]] = batch.tag;
        }
    }

    /// Sorts the columns of a table by row.
    void order_rows(TableColumns<Target, Weight>& columns) {
        narrow_delays(columns);
        if (columns.numbering == RowNumbering::compact || columns.numbering == RowNumbering::sparse)
            compact_rows(columns);
        if (columns.numbering == RowNumbering::sparse) {
            columns.index = SourceIndex(columns.sources.span(), columns.row_map.rows(), memory_.synapses);
        }
        if (columns.numbering == RowNumbering::unsorted) columns.row_start = {};
    }

    /// Tables of synapses that are not static, for any layout: rows are sorted by delay, and store it.
    std::unique_ptr<SynapseTable> finish_dynamic(TableColumns<Target, Weight> columns, const TablePlan& plan,
                                                 double quantum) {
        order_rows(columns);
        if (columns.numbering != RowNumbering::unsorted && columns.least_delay != columns.greatest_delay) {
            sort_by_delay(columns);
        }
        const InputLayout& inputs = inputs_[plan.receptor];
        const auto compiled =
            options_.compiled_rules ? std::optional(options_.instruction_set) : std::optional<InstructionSet>();
        return plan.dynamics->make_table(std::move(columns), {.local_neurons = inputs.shard().size(),
                                                              .layout = &inputs,
                                                              .receptor = plan.receptor,
                                                              .resolution = options_.resolution,
                                                              .quantum = quantum,
                                                              .compiled_rules = compiled,
                                                              .synapses = memory_.synapses,
                                                              .spikes = memory_.spikes});
    }

    void sort_by_delay(TableColumns<Target, Weight>& columns) {
        const std::size_t delay_count = columns.greatest_delay - columns.least_delay + 1;
        RowSorter<Target, Weight> sorter(longest_row(columns), delay_count);
        std::vector<std::uint64_t> offsets(delay_count + 1);
        for (std::uint32_t row = 0; row < columns.row_start.rows(); ++row) {
            if (row % 1024 == 0) team_.check_cancelled();
            sorter.sort(columns, row, offsets.data());
            const std::uint64_t begin = columns.row_start[row];
            std::visit(
                [&]<class Delay>(Buffer<Delay>& delays) {
                    for (std::size_t delay = 0; delay < delay_count; ++delay) {
                        std::fill(delays.data() + begin + offsets[delay], delays.data() + begin + offsets[delay + 1],
                                  static_cast<Delay>(delay));
                    }
                },
                columns.delays);
        }
    }

    /// Of the rows with synapses.
    static std::uint64_t mean_row(const TableColumns<Target, Weight>& columns) {
        std::uint64_t rows = 0;
        for (std::size_t row = 0; row < columns.row_start.rows(); ++row) {
            rows += columns.row_start[row + 1] > columns.row_start[row] ? 1 : 0;
        }
        return columns.targets.size() / std::max<std::uint64_t>(rows, 1);
    }
    static std::uint64_t longest_row(const TableColumns<Target, Weight>& columns) {
        std::uint64_t longest = 0;
        for (std::size_t row = 0; row < columns.row_start.rows(); ++row) {
            longest = std::max(longest, columns.row_start[row + 1] - columns.row_start[row]);
        }
        return longest;
    }

    /// @param inputs that synapses can reach
    std::unique_ptr<SynapseTable> finish(TableColumns<Target, Weight> columns, std::uint32_t inputs) {
        order_rows(columns);
        const std::uint64_t longest = longest_row(columns);
        const TableLayout layout = layout_of(columns, inputs);
        // Offsets in rows have at most 32 bits.
        if (layout == TableLayout::ring || longest > UINT32_MAX)
            return std::make_unique<RingTable<Target, Weight>>(std::move(columns), memory_.spikes);
        const auto sort_rows = [&]<class Offset>(Offset /*greatest*/) -> std::unique_ptr<SynapseTable> {
            if (layout == TableLayout::runs) return make_runs<Offset>(std::move(columns), longest);
            return make_blocks<Offset>(std::move(columns), longest, inputs);
        };
        return longest <= UINT16_MAX ? sort_rows(std::uint16_t{UINT16_MAX}) : sort_rows(std::uint32_t{UINT32_MAX});
    }

    /// Replaces the bounds of the delays by those of the drawn values.
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

    TableLayout layout_of(const TableColumns<Target, Weight>& columns, std::uint32_t inputs) const {
        if (columns.numbering == RowNumbering::unsorted) return TableLayout::ring;
        if (options_.layout != TableLayout::automatic) return options_.layout;
        const DelaySteps delays = columns.greatest_delay - columns.least_delay + 1;
        return choose_layout({.synapses = columns.targets.size(),
                              .rows = columns.row_start.rows(),
                              .delays = delays,
                              .longest_delay = columns.greatest_delay,
                              .inputs = inputs,
                              .blocks = divide_delays<Target>(delays, inputs)});
    }

    /// Sorts the synapses of each bucket by source, stably, and gives each source that occurs a row.
    void compact_rows(TableColumns<Target, Weight>& columns) {
        BucketSorter<Target, Weight> sorter;
        const std::span<std::uint32_t> sources = columns.sources.span();
        std::uint32_t rows = 0;
        for (std::size_t bucket = 0; bucket < columns.row_start.rows(); ++bucket) {
            if (bucket % 1024 == 0) team_.check_cancelled();
            const std::uint64_t begin = columns.row_start[bucket];
            const std::uint64_t end = columns.row_start[bucket + 1];
            sorter.sort(columns, begin, end);
            for (std::uint64_t i = begin; i < end; ++i) rows += i == begin || sources[i] != sources[i - 1] ? 1 : 0;
        }
        RowStarts starts(rows, sources.size(), memory_.synapses);
        Buffer<std::uint32_t> present(rows, memory_.synapses);
        std::uint32_t row = 0;
        for (std::size_t i = 0; i < sources.size(); ++i) {
            if (i > 0 && sources[i] == sources[i - 1]) continue;
            starts.set(row, i);
            present[row++] = sources[i];
        }
        starts.set(rows, sources.size());
        columns.row_start = std::move(starts);
        columns.sources = std::move(present);
    }

    template <class Offset>
    std::unique_ptr<SynapseTable> make_blocks(TableColumns<Target, Weight> columns, std::uint64_t longest,
                                              std::uint32_t inputs) {
        const DelaySteps delay_count = columns.greatest_delay - columns.least_delay + 1;
        DelayBlocks blocks = divide_delays<Target>(delay_count, inputs);
        if (options_.divides_rows) blocks = divide_further(blocks, delay_count, mean_row(columns));
        Buffer<Offset> offsets;
        if (blocks.count > 1) {
            offsets = sort_by_block<Offset>(columns, longest, blocks, MakeCells(delay_count, blocks, inputs));
        } else if (delay_count > 1) {
            const MakeCells make_cell(delay_count, blocks, inputs);
            Target* const targets = columns.targets.data();
            std::visit(
                [&]<class Delay>(const Buffer<Delay>& column) {
                    const Delay* const delays = column.data();
                    const std::size_t count = column.size();
                    for (std::size_t i = 0; i < count; ++i) targets[i] = make_cell(targets[i], delays[i]);
                },
                columns.delays);
        }
        columns.cell_stride = inputs;
        columns.delays = RelativeDelays{};
        return std::make_unique<BlockTable<Target, Weight, Offset>>(std::move(columns), blocks, std::move(offsets),
                                                                    memory_.spikes);
    }

    /// Returns the starts of the blocks of each row, and its end.
    template <class Offset>
    Buffer<Offset> sort_by_block(TableColumns<Target, Weight>& columns, std::uint64_t longest, DelayBlocks blocks,
                                 MakeCells make_cell) {
        // By delay: with few blocks, each synapse would wait for the counter that the one before has changed.
        const std::size_t delay_count = columns.greatest_delay - columns.least_delay + 1;
        const auto rows = static_cast<std::uint32_t>(columns.row_start.rows());
        Buffer<Offset> offsets(rows * (std::size_t{blocks.count} + 1), memory_.synapses);
        RowSorter<Target, Weight, MakeCells> sorter(longest, delay_count, std::move(make_cell));
        std::vector<Offset> of_delays(delay_count + 1);
        for (std::uint32_t row = 0; row < rows; ++row) {
            if (row % 1024 == 0) team_.check_cancelled();
            sorter.sort(columns, row, of_delays.data());
            Offset* const of_row = offsets.data() + row * (std::size_t{blocks.count} + 1);
            for (std::uint32_t block = 0; block < blocks.count; ++block) {
                of_row[block] = of_delays[std::size_t{block} * blocks.length];
            }
            of_row[blocks.count] = of_delays[delay_count];
        }
        return offsets;
    }

    template <class Offset>
    std::unique_ptr<SynapseTable> make_runs(TableColumns<Target, Weight> columns, std::uint64_t longest) {
        const std::size_t delay_count = columns.greatest_delay - columns.least_delay + 1;
        const auto rows = static_cast<std::uint32_t>(columns.row_start.rows());
        Buffer<Offset> offsets(rows * (delay_count + 1), memory_.synapses);
        RowSorter<Target, Weight> sorter(longest, delay_count);
        for (std::uint32_t row = 0; row < rows; ++row) {
            if (row % 1024 == 0) team_.check_cancelled();
            sorter.sort(columns, row, offsets.data() + row * (delay_count + 1));
        }
        columns.delays = RelativeDelays{};
        return std::make_unique<RunTable<Target, Weight, Offset>>(std::move(columns), std::move(offsets),
                                                                  memory_.spikes);
    }

    std::span<const InputLayout> inputs_;  ///< by receptor
    BuildOptions options_;
    const parallel::Team& team_;
    TableMemory memory_;
    std::vector<Draft> drafts_;  ///< by kind
};

}  // namespace ranvier::connect
