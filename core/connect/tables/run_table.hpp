#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory_resource>
#include <span>
#include <utility>
#include <vector>

#include "base/tight_list.hpp"
#include "connect/tables/delivery_loops.hpp"
#include "connect/tables/static_table.hpp"

namespace ranvier::connect {

namespace detail {

/// A spike with undelivered synapses.
struct ActiveSpike {
    std::uint64_t row_begin = 0;
    std::uint64_t offsets = 0;  ///< index of the row's first entry in the table of offsets
    Step stamp = 0;
};

template <class Target, class Weight, class Offset>
struct RunArguments {
    const ActiveSpike* spikes;
    std::size_t count;
    const Offset* offsets;
    const Target* targets;
    const Weight* weights;
    Step begin;  ///< of the window of arrival
    Step end;
    Step least_delay;
    Step delays;  ///< number of different delays, and so of runs of a row
    InputRing inputs;
};

/// Adds, for each spike, the runs (source, delay) that arrive in the window.
///
/// Runs lie at random places in gigabytes, so that memory latency dominates: the offsets of a row are prefetched
/// `offsets_ahead` spikes before they are needed, its synapses `synapses_ahead` before.
template <class Target, class Weight, class Offset, bool wide = false>
struct DeliverRuns {
    static constexpr std::size_t offsets_ahead = 16;
    static constexpr std::size_t synapses_ahead = 6;

    RANVIER_ALWAYS_INLINE static void run(const RunArguments<Target, Weight, Offset>* arguments) {
        const auto& a = *arguments;
        for (std::size_t i = 0; i < a.count + offsets_ahead; ++i) {
            if (i < a.count) {
                const Offset* row = a.offsets + a.spikes[i].offsets;
                __builtin_prefetch(row + first(a, i), 0, 3);
            }
            if (i >= offsets_ahead - synapses_ahead && i - (offsets_ahead - synapses_ahead) < a.count) {
                const std::size_t j = i - (offsets_ahead - synapses_ahead);
                const Offset* row = a.offsets + a.spikes[j].offsets;
                const std::size_t begin = row[first(a, j)];
                const std::size_t length = row[last(a, j)] - begin;
                prefetch_span(a.targets + a.spikes[j].row_begin + begin, length * sizeof(Target));
                prefetch_span(a.weights + a.spikes[j].row_begin + begin, length * sizeof(Weight));
            }
            if (i >= offsets_ahead) deliver(a, i - offsets_ahead);
        }
    }

   private:
    RANVIER_ALWAYS_INLINE static Step first(const RunArguments<Target, Weight, Offset>& a, std::size_t i) {
        const Step d = a.begin - a.spikes[i].stamp - a.least_delay;
        return d < 0 ? 0 : (d > a.delays ? a.delays : d);
    }
    RANVIER_ALWAYS_INLINE static Step last(const RunArguments<Target, Weight, Offset>& a, std::size_t i) {
        const Step d = a.end - a.spikes[i].stamp - a.least_delay;
        return d < 0 ? 0 : (d > a.delays ? a.delays : d);
    }
    RANVIER_ALWAYS_INLINE static void deliver(const RunArguments<Target, Weight, Offset>& a, std::size_t i) {
        const ActiveSpike spike = a.spikes[i];
        const Offset* row = a.offsets + spike.offsets;
        const Target* targets = a.targets + spike.row_begin;
        const Weight* weights = a.weights + spike.row_begin;
        const Step end = last(a, i);
        for (Step d = first(a, i); d < end; ++d) {
            const std::size_t begin = row[d];
            const Step arrival = spike.stamp + a.least_delay + d;
            if constexpr (wide) {
                add_wide_run(targets + begin, weights + begin, row[d + 1] - begin, a.inputs.wide_slot(arrival),
                             a.inputs.exponent);
            } else {
                add_run(targets + begin, weights + begin, row[d + 1] - begin, a.inputs.slot(arrival));
            }
        }
    }
};

}  // namespace detail

/// The layout for dense networks: each row is sorted by delay, with the start of the run of each delay. Arrivals of the
/// next few steps are added just before they are needed, so that all writes go to a few arrays that stay in the cache.
template <class Target, class Weight, class Offset>
class RunTable final : public StaticTable<Target, Weight>, public DeferredDelivery {
   public:
    /// @param offsets for each row `delays + 1` positions relative to its start
    /// @param spike_memory for spikes in transit
    RunTable(TableColumns<Target, Weight> columns, Buffer<Offset> offsets, std::pmr::memory_resource* spike_memory)
        : StaticTable<Target, Weight>(std::move(columns)),
          offsets_(std::move(offsets)),
          delays_(this->columns_.greatest_delay - this->columns_.least_delay + 1),
          active_(spike_memory) {}

    DelaySteps reach() const override { return 0; }
    DeferredDelivery* deferred() override { return this; }

    std::uint64_t accept(InstructionSet set, Step stamp, std::span<const RowIndex> rows, Step now, Step window_end,
                         const InputRing& inputs) override {
        const std::size_t before = active_.size();
        make_room(active_, before + rows.size());
        std::uint64_t events = 0;
        for (const RowIndex row : rows) {
            const std::uint64_t begin = this->row_begin(row);
            const std::uint64_t length = this->row_end(row) - begin;
            if (length == 0) continue;
            events += length;
            active_.push_back({begin, std::uint64_t{row.value} * (delays_ + 1), stamp});
        }
        if (window_end > now + 1) deliver_from(set, before, now + 1, window_end, inputs);
        return events;
    }

    void deliver(InstructionSet set, Step begin, Step end, const InputRing& inputs) override {
        while (head_ < active_.size() && active_[head_].stamp + this->columns_.greatest_delay < begin) ++head_;
        // Finished spikes are dropped when they are a quarter, so that each is moved at most three times.
        if (head_ > 64 && head_ > active_.size() / 4) {
            active_.erase(active_.begin(), active_.begin() + static_cast<std::ptrdiff_t>(head_));
            head_ = 0;
        }
        deliver_from(set, head_, begin, end, inputs);
    }

    void read(RowIndex row, std::uint64_t begin, std::uint64_t end, std::vector<SynapseView>& out) const override {
        const std::uint64_t start = this->row_begin(row);
        const Offset* offsets = offsets_.data() + std::uint64_t{row.value} * (delays_ + 1);
        DelaySteps delay = 0;
        for (std::uint64_t position = begin; position < end; ++position) {
            while (start + offsets[delay + 1] <= position) ++delay;
            out.push_back({position, this->target(position), this->columns_.least_delay + delay, this->tag(position)});
        }
    }

    void visit_recent(const std::function<void(RowIndex, Step)>& visit) const override {
        for (std::size_t i = head_; i < active_.size(); ++i) {
            visit(RowIndex{static_cast<std::uint32_t>(active_[i].offsets / (delays_ + 1))}, active_[i].stamp);
        }
    }

   private:
    void copy_delays(RowIndex row, DelaySteps* delays) const override {
        const Offset* const offsets = offsets_.data() + std::uint64_t{row.value} * (delays_ + 1);
        for (DelaySteps delay = 0; delay < delays_; ++delay) {
            std::fill(delays + offsets[delay], delays + offsets[delay + 1], this->columns_.least_delay + delay);
        }
    }
    DelaySteps delay_at(RowIndex row, std::uint64_t position) const override {
        const Offset* begin = offsets_.data() + std::uint64_t{row.value} * (delays_ + 1);
        const auto place = static_cast<Offset>(position - this->row_begin(row));
        return this->columns_.least_delay +
               static_cast<DelaySteps>(std::upper_bound(begin, begin + delays_ + 1, place) - begin - 1);
    }

    void deliver_from(InstructionSet set, std::size_t first, Step begin, Step end, const InputRing& inputs) {
        if (first == active_.size()) return;
        const detail::RunArguments<Target, Weight, Offset> arguments{
            .spikes = active_.data() + first,
            .count = active_.size() - first,
            .offsets = offsets_.data(),
            .targets = this->columns_.targets.data(),
            .weights = this->columns_.weights.data(),
            .begin = begin,
            .end = end,
            .least_delay = this->columns_.least_delay,
            .delays = delays_,
            .inputs = inputs,
        };
        if (inputs.wide != nullptr) {
            detail::DeliverRuns<Target, Weight, Offset, true>::run(&arguments);
        } else {
            Dispatched<detail::DeliverRuns<Target, Weight, Offset>>::call(set, &arguments);
        }
    }

    Buffer<Offset> offsets_;
    DelaySteps delays_;
    std::pmr::vector<detail::ActiveSpike> active_;
    std::size_t head_ = 0;
};

}  // namespace ranvier::connect
