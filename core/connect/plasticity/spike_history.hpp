#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory_resource>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/tight_list.hpp"
#include "connect/plasticity/decay.hpp"
#include "ranvier/base/buffer.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/base/state_columns.hpp"

namespace ranvier::connect {

/// The postsynaptic spikes of the neurons of a shard, as far back as some plastic synapse may need them.
///
/// The newest eight of each neuron are in eight planes, the newest of all neurons first, since most synapses need one
/// of them or none; older ones are in one list for all neurons, each linked to the previous one. Steps are stored in 32
/// bits relative to a base.
///
/// Each spike has the trace that presynaptic spikes read, after the spike, and any number of other traces that
/// postsynaptic spikes read, with their values before the spike.
template <class Real>
class SpikeHistory {
   public:
    using Bits = std::conditional_t<sizeof(Real) == sizeof(std::uint32_t), std::uint32_t, std::uint64_t>;
    static constexpr std::size_t newest = 8;
    static constexpr std::int32_t never = std::numeric_limits<std::int32_t>::min();
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    /// So that places are 32-bit numbers.
    static constexpr std::uint32_t most_neurons = std::numeric_limits<std::uint32_t>::max() / (newest + 1);

    struct Older {
        std::int32_t step = never;
        std::uint32_t before = none;  ///< of the same neuron
        Real after = 0;
    };

    /// Bytes per neuron, without its older spikes.
    static constexpr std::size_t neuron_bytes(std::size_t same_side_traces) {
        return (newest + 1) * (sizeof(std::int32_t) + sizeof(Real)) + sizeof(double) + sizeof(std::uint32_t) +
               same_side_traces * (newest * sizeof(Real) + sizeof(double));
    }
    static constexpr std::size_t older_spike_bytes(std::size_t same_side_traces) {
        return sizeof(Older) + same_side_traces * sizeof(Real);
    }

    SpikeHistory() = default;
    /// @param same_side_steps time constants of the traces that postsynaptic spikes read
    /// @param accumulates whether each spike adds to the traces; otherwise it sets them to 1
    SpikeHistory(std::uint32_t neurons, double trace_steps, const std::vector<double>& same_side_steps,
                 bool accumulates, std::pmr::memory_resource* memory)
        : decay_(trace_steps, memory),
          accumulates_(accumulates),
          neurons_(neurons),
          steps_(std::size_t{neurons} * (newest + 1), memory),
          traces_(std::size_t{neurons} * (newest + 1), memory),
          same_side_(std::size_t{neurons} * newest * same_side_steps.size(), memory),
          last_trace_(neurons, memory),
          last_same_side_(neurons * same_side_steps.size(), memory),
          chains_(neurons, memory),
          older_(memory),
          older_same_side_(memory) {
        std::fill_n(steps_.data(), steps_.size(), never);
        std::fill_n(traces_.data(), traces_.size(), Real{0});
        std::fill_n(same_side_.data(), same_side_.size(), Real{0});
        std::fill_n(last_trace_.data(), last_trace_.size(), 0.0);
        std::fill_n(chains_.data(), chains_.size(), none);
        std::fill_n(last_same_side_.data(), last_same_side_.size(), 0.0);
        for (const double steps : same_side_steps) same_side_decays_.emplace_back(steps, memory);
    }

    /// Adds a spike of a neuron. @param step not before the previous one of the neuron, relative to the base
    void add(std::uint32_t neuron, std::int32_t step) {
        const std::int32_t last = steps_[neuron];
        const std::size_t oldest = place_of(neuron, newest - 1);
        if (steps_[oldest] != never) {
            append(older_, {steps_[oldest], chains_[neuron], traces_[oldest]});
            for (std::size_t k = 0; k < same_side_traces(); ++k) append(older_same_side_, same_side(k)[oldest]);
            chains_[neuron] = static_cast<std::uint32_t>(older_.size() - 1);
        }
        double trace = 1.0;
        if (accumulates_ && last != never) trace += last_trace_[neuron] * decay_(std::int64_t{step} - last);
        last_trace_[neuron] = trace;
        add_to_same_side(neuron, step, last);
        push(steps_.data() + neuron, step);
        push(traces_.data() + neuron, static_cast<Real>(trace));
    }

    /// By place: a plane of all neurons for each of the newest spikes, and one more as a sentinel.
    const std::int32_t* steps() const { return steps_.data(); }
    /// After the spike of the same place.
    const Real* traces() const { return traces_.data(); }
    std::size_t same_side_traces() const { return same_side_decays_.size(); }
    /// A trace read by postsynaptic spikes, before the spike of the same place.
    const Real* same_side(std::size_t trace) const { return same_side_.data() + trace * newest * neurons_; }
    std::uint32_t neurons() const { return neurons_; }
    /// The newest of the older spikes of a neuron, or null.
    const Older* first_older(std::uint32_t neuron) const { return link(chains_[neuron]); }
    const Older* next_older(const Older& older) const { return link(older.before); }
    /// A trace read by an older spike.
    Real older_same_side(const Older& older, std::size_t trace) const {
        return older_same_side_[static_cast<std::size_t>(&older - older_.data()) * same_side_traces() + trace];
    }
    std::size_t older_spikes() const { return older_.size(); }

    /// Drops older spikes, when all synapses have learnt from those up to a step. The newest of these is kept: the next
    /// presynaptic spike may need it.
    void drop_older(std::int32_t learnt) {
        std::pmr::vector<Older> kept(older_.get_allocator());
        std::pmr::vector<Real> kept_same_side(older_same_side_.get_allocator());
        for (std::size_t neuron = 0; neuron < chains_.size(); ++neuron) {
            std::uint32_t place = chains_[neuron];
            std::int32_t newer = steps_[place_of(static_cast<std::uint32_t>(neuron), newest - 1)];
            chains_[neuron] = none;
            for (std::uint32_t* link = &chains_[neuron]; place != none && newer > learnt; link = &kept.back().before) {
                *link = static_cast<std::uint32_t>(kept.size());
                append(kept, older_[place]);
                for (std::size_t k = 0; k < same_side_traces(); ++k)
                    append(kept_same_side, older_same_side(older_[place], k));
                newer = older_[place].step;
                place = older_[place].before;
                kept.back().before = none;
            }
        }
        older_ = std::move(kept);
        older_same_side_ = std::move(kept_same_side);
    }
    /// Counts steps from a later base. Spikes without a remaining trace are clamped to the oldest relevant step.
    void move_base(std::int64_t by) {
        for (std::int32_t& step : steps_.span()) step = moved(step, by);
        for (Older& older : older_) older.step = moved(older.step, by);
    }

    /// Saves or loads the spikes of a neuron, newest first. Before loading, the neuron must not have fired.
    /// @param base origin of steps
    void serialize(std::uint32_t neuron, std::int64_t base, StateColumns& columns) {
        columns.serialize("last_trace", last_trace_[neuron]);
        for (std::size_t k = 0; k < same_side_traces(); ++k) {
            columns.serialize("last_same_side_trace" + std::to_string(k), last_same_side_[k * neurons() + neuron]);
        }
        if (columns.loads()) {
            load(neuron, base, columns);
        } else {
            save(neuron, base, columns);
        }
    }
    // The spikes of a neuron for a device, and from it.

    double last_trace(std::uint32_t neuron) const { return last_trace_[neuron]; }
    double last_same_side(std::uint32_t neuron) const {
        return same_side_traces() == 0 ? 0.0 : last_same_side_[neuron];
    }
    /// Visits spikes, the newest first, up to one that is not after a step: visit(step, trace after it, trace of the same
    /// side before it). @param learnt relative to the base
    template <class Visit>
    void visit_newest(std::uint32_t neuron, std::int32_t learnt, Visit visit) const {
        for (std::size_t i = 0; i < newest; ++i) {
            const std::size_t at = place_of(neuron, i);
            if (steps_[at] == never) return;
            visit(steps_[at], traces_[at], same_side_traces() == 0 ? Real{0} : same_side(0)[at]);
            if (steps_[at] <= learnt) return;
        }
        for (const Older* older = first_older(neuron); older != nullptr; older = next_older(*older)) {
            visit(older->step, older->after, same_side_traces() == 0 ? Real{0} : older_same_side(*older, 0));
            if (older->step <= learnt) return;
        }
    }
    /// Forgets all spikes.
    void clear() {
        std::fill_n(steps_.data(), steps_.size(), never);
        std::fill_n(traces_.data(), traces_.size(), Real{0});
        std::fill_n(same_side_.data(), same_side_.size(), Real{0});
        std::fill_n(chains_.data(), chains_.size(), none);
        older_.clear();
        older_same_side_.clear();
    }
    void set_last_traces(std::uint32_t neuron, double trace, double same_side_trace) {
        last_trace_[neuron] = trace;
        if (same_side_traces() > 0) last_same_side_[neuron] = same_side_trace;
    }
    /// Adds a spike that is older than all of the neuron. @param count of these
    void add_older(std::uint32_t neuron, std::size_t count, const Older& spike, std::span<const Real> before) {
        if (count < newest) {
            steps_[place_of(neuron, count)] = spike.step;
            traces_[place_of(neuron, count)] = spike.after;
        } else {
            std::uint32_t& link = count == newest ? chains_[neuron] : older_.back().before;
            link = static_cast<std::uint32_t>(older_.size());
            append(older_, spike);
        }
        for (std::size_t k = 0; k < same_side_traces(); ++k) {
            if (count < newest) {
                same_side_[k * newest * neurons_ + place_of(neuron, count)] = before[k];
            } else {
                append(older_same_side_, before[k]);
            }
        }
    }

    /// Conversion of steps to and from their saved form.
    static std::int64_t absolute(std::int32_t step, std::int64_t base) {
        return step == never ? std::numeric_limits<std::int64_t>::min() : step + base;
    }
    static std::int32_t relative(std::int64_t step, std::int64_t base) {
        return step == std::numeric_limits<std::int64_t>::min() ? never : bounded(step - base);
    }

   private:
    std::size_t place_of(std::uint32_t neuron, std::size_t spike) const { return spike * neurons_ + neuron; }
    static void serialize_spike(std::int64_t base, std::int32_t& step, Real& after, StateColumns& columns) {
        std::int64_t spike = absolute(step, base);
        columns.serialize_element("spike", spike);
        step = relative(spike, base);
        columns.serialize_element("trace", after);
    }
    void save(std::uint32_t neuron, std::int64_t base, StateColumns& columns) const {
        std::size_t recent = 0;
        while (recent < newest && steps_[place_of(neuron, recent)] != never) ++recent;
        std::size_t size = recent;
        for (const Older* older = first_older(neuron); older != nullptr; older = next_older(*older)) ++size;
        columns.serialize_size(size);
        for (std::size_t i = 0; i < recent; ++i) {
            std::int32_t step = steps_[place_of(neuron, i)];
            Real after = traces_[place_of(neuron, i)];
            serialize_spike(base, step, after, columns);
            for (std::size_t k = 0; k < same_side_traces(); ++k) {
                Real before = same_side(k)[place_of(neuron, i)];
                columns.serialize_element("same_side_trace" + std::to_string(k), before);
            }
        }
        for (const Older* older = first_older(neuron); older != nullptr; older = next_older(*older)) {
            Older one = *older;
            serialize_spike(base, one.step, one.after, columns);
            for (std::size_t k = 0; k < same_side_traces(); ++k) {
                Real before = older_same_side(*older, k);
                columns.serialize_element("same_side_trace" + std::to_string(k), before);
            }
        }
    }
    void load(std::uint32_t neuron, std::int64_t base, StateColumns& columns) {
        const std::size_t size = columns.serialize_size(0);
        std::vector<Real> before;
        for (std::size_t i = 0; i < size; ++i) {
            Older one;
            serialize_spike(base, one.step, one.after, columns);
            before.clear();
            for (std::size_t k = 0; k < same_side_traces(); ++k) {
                before.push_back(0);
                columns.serialize_element("same_side_trace" + std::to_string(k), before.back());
            }
            add_older(neuron, i, one, before);
        }
    }
    void add_to_same_side(std::uint32_t neuron, std::int32_t step, std::int32_t last) {
        for (std::size_t k = 0; k < same_side_traces(); ++k) {
            double& after = last_same_side_[k * neurons_ + neuron];
            const double before = last == never ? 0.0 : after * same_side_decays_[k](std::int64_t{step} - last);
            after = accumulates_ ? before + 1.0 : 1.0;
            push(same_side_.data() + k * newest * neurons_ + neuron, static_cast<Real>(before));
        }
    }
    /// Shifts the entries of a neuron by one plane, and stores another as the first.
    template <class T>
    void push(T* newest_one, T one) {
        for (std::size_t i = newest - 1; i > 0; --i) newest_one[i * neurons_] = newest_one[(i - 1) * neurons_];
        *newest_one = one;
    }
    const Older* link(std::uint32_t place) const { return place == none ? nullptr : &older_[place]; }
    static std::int32_t moved(std::int32_t step, std::int64_t by) {
        return step == never ? never : bounded(std::int64_t{step} - by);
    }
    static std::int32_t bounded(std::int64_t step) {
        constexpr std::int64_t least = std::int64_t{never} / 2;
        return static_cast<std::int32_t>(std::max(step, least));
    }

    Decay<double> decay_;
    std::vector<Decay<double>> same_side_decays_;
    bool accumulates_ = true;
    std::uint32_t neurons_ = 0;
    Buffer<std::int32_t> steps_;
    Buffer<Real> traces_;
    Buffer<Real> same_side_;         ///< by trace, then place
    Buffer<double> last_trace_;      ///< after the newest spike
    Buffer<double> last_same_side_;  ///< after the newest spike, by trace, then neuron
    Buffer<std::uint32_t> chains_;
    std::pmr::vector<Older> older_;
    std::pmr::vector<Real> older_same_side_;  ///< by older spike, then trace
};

}  // namespace ranvier::connect
