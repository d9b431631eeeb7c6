#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory_resource>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>

#include "connect/tables/delivery_loops.hpp"
#include "connect/tables/recent_rows.hpp"
#include "connect/tables/static_table.hpp"

namespace ranvier::connect {

namespace detail {

template <class Target, class Weight, class Delay>
struct RingArguments {
    const std::uint64_t* begins;
    const std::uint64_t* ends;
    std::size_t count;
    const Target* targets;
    const Weight* weights;
    const Delay* delays;
    Step base;  ///< step in which the shortest delay arrives
    InputRing inputs;
    std::size_t ahead;  ///< number of rows to prefetch ahead
};

/// The delays of synapses with equal delays.
struct SameDelay {};

/// Adds all synapses of each row at once, each to the slot of its arrival.
template <class Target, class Weight, class Delay, bool wide = false>
struct DeliverRing {
    static constexpr bool same_delay = std::is_same_v<Delay, SameDelay>;

    RANVIER_ALWAYS_INLINE static void run(const RingArguments<Target, Weight, Delay>* arguments) {
        const auto& a = *arguments;
        for (std::size_t r = 0; r < a.count; ++r) {
            if (r + a.ahead < a.count) {
                const std::uint64_t next = a.begins[r + a.ahead];
                const std::size_t length = std::size_t(a.ends[r + a.ahead] - next);
                prefetch_span(a.targets + next, length * sizeof(Target));
                prefetch_span(a.weights + next, length * sizeof(Weight));
                if constexpr (!same_delay) prefetch_span(a.delays + next, length * sizeof(Delay));
            }
            if constexpr (wide) {
                add_wide_row(a, r);
            } else if constexpr (same_delay) {
                const std::uint64_t begin = a.begins[r];
                add_run(a.targets + begin, a.weights + begin, std::size_t(a.ends[r] - begin), a.inputs.slot(a.base));
            } else {
                for (std::uint64_t i = a.begins[r]; i < a.ends[r]; ++i) {
                    a.inputs.slot(a.base + a.delays[i])[a.targets[i]] += static_cast<double>(a.weights[i]);
                }
            }
        }
    }

   private:
    static void add_wide_row(const RingArguments<Target, Weight, Delay>& a, std::size_t r) {
        for (std::uint64_t i = a.begins[r]; i < a.ends[r]; ++i) {
            Step arrival = a.base;  // NOLINT(misc-const-correctness): with one delay it never changes
            if constexpr (!same_delay) arrival += a.delays[i];
            add_wide(a.inputs.wide_slot(arrival)[a.targets[i]], static_cast<double>(a.weights[i]), a.inputs.exponent);
        }
    }
};

}  // namespace detail

/// The layout for sparse networks and long delays, where a run (source, delay) would hold hardly one synapse: the delay
/// is stored with each synapse, and a row is added at once, when its source fires, to a ring of inputs as long as the
/// longest delay.
template <class Target, class Weight>
class RingTable : public StaticTable<Target, Weight> {
   public:
    /// @param spike_memory for spikes in transit
    RingTable(TableColumns<Target, Weight> columns, std::pmr::memory_resource* spike_memory)
        : StaticTable<Target, Weight>(std::move(columns)),
          begins_(spike_memory),
          ends_(spike_memory),
          recent_(spike_memory) {}

    std::uint64_t accept(InstructionSet /*set*/, Step stamp, std::span<const RowIndex> rows, Step now,
                         Step /*window_end*/, const InputRing& inputs) override {
        std::uint64_t events = 0;
        for (std::span<const RowIndex> left = rows; !left.empty();) {
            const std::span<const RowIndex> some = left.first(std::min(left.size(), rows_at_once));
            left = left.subspan(some.size());
            events += find_synapses(some, left);
            add(stamp, found(some), inputs);
        }
        remember(stamp, rows, now);
        return events;
    }

    void visit_recent(const std::function<void(RowIndex, Step)>& visit) const override {
        recent_.for_each([&](Step stamp, RowIndex row) { visit(row, stamp); });
    }

   protected:
    /// Large enough that the initial latency is negligible, and small enough that all lists stay in the nearest cache.
    static constexpr std::size_t rows_at_once = 1024;

    /// Rows, each with the begin and the end of its synapses.
    struct Rows {
        std::span<const RowIndex> rows;
        std::span<const std::uint64_t> begins;
        std::span<const std::uint64_t> ends;
    };

    /// Adds the synapses of rows, for a spike in step `stamp` of each.
    virtual void add(Step stamp, const Rows& rows, const InputRing& inputs) {
        if (this->columns_.least_delay == this->columns_.greatest_delay) {
            add_with<detail::SameDelay>(stamp, rows, nullptr, inputs);
            return;
        }
        std::visit([&]<class Delay>(const Buffer<Delay>& delays) { add_with(stamp, rows, delays.data(), inputs); },
                   this->columns_.delays);
    }

    /// Start and end of the synapses of some rows. @param next rows to prefetch, for the following call
    std::uint64_t find_synapses(std::span<const RowIndex> rows, std::span<const RowIndex> next) {
        constexpr std::size_t starts_ahead = 24;
        begins_.clear();
        ends_.clear();
        std::uint64_t events = 0;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const std::size_t ahead = i + starts_ahead;
            if (ahead < rows.size()) {
                this->columns_.row_start.prefetch(rows[ahead].value);
            } else if (ahead - rows.size() < next.size()) {
                this->columns_.row_start.prefetch(next[ahead - rows.size()].value);
            }
            begins_.push_back(this->row_begin(rows[i]));
            ends_.push_back(this->row_end(rows[i]));
            events += ends_.back() - begins_.back();
        }
        return events;
    }

    /// The rows passed to find_synapses(), with what it has found.
    Rows found(std::span<const RowIndex> rows) const { return {rows, begins_, ends_}; }
    /// Remembers spikes for changes of weights. @param now last step whose neurons have been updated
    void remember(Step stamp, std::span<const RowIndex> rows, Step now) {
        recent_.drop_until(now - this->columns_.greatest_delay);
        recent_.add(stamp, rows);
    }
    /// Mean number of synapses of a row.
    std::size_t mean_row() const { return static_cast<std::size_t>(this->size() / std::max(this->rows(), 1U)); }

   private:
    template <class Delay>
    void add_with(Step stamp, const Rows& rows, const Delay* delays, const InputRing& inputs) const {
        constexpr std::size_t arrays = std::is_same_v<Delay, detail::SameDelay> ? 2 : 3;
        constexpr std::size_t synapse_bytes = sizeof(Target) + sizeof(Weight) + (arrays == 3 ? sizeof(Delay) : 0);
        const detail::RingArguments<Target, Weight, Delay> arguments{
            .begins = rows.begins.data(),
            .ends = rows.ends.data(),
            .count = rows.begins.size(),
            .targets = this->columns_.targets.data(),
            .weights = this->columns_.weights.data(),
            .delays = delays,
            .base = stamp + this->columns_.least_delay,
            .inputs = inputs,
            // Short rows are finished quickly, so more of them must be prefetched to hide the latency of memory.
            .ahead = mean_row() < 16 ? 24 : detail::rows_ahead(arrays, mean_row() * synapse_bytes),
        };
        if (inputs.wide != nullptr) {
            detail::DeliverRing<Target, Weight, Delay, true>::run(&arguments);
        } else {
            // Additions to scattered inputs take the same time with each instruction set (measured), so this is compiled
            // for one of them.
            detail::DeliverRing<Target, Weight, Delay>::run(&arguments);
        }
    }

    std::pmr::vector<std::uint64_t> begins_;
    std::pmr::vector<std::uint64_t> ends_;
    /// Only for changes of weights: the spikes have been added already.
    RecentRows recent_;
};

}  // namespace ranvier::connect
