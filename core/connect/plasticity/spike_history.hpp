#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory_resource>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/buffer.hpp"
#include "base/ids.hpp"
#include "base/state_columns.hpp"
#include "base/tight_list.hpp"
#include "connect/plasticity/decay.hpp"

namespace ranvier::connect {

/// The postsynaptic spikes of the neurons of a shard, as far back as some plastic synapse may still have to learn from them.
///
/// The newest eight of each neuron lie in half a cache line, newest first, so that a synapse counts with a few compares how
/// many have come since it was visited last; older ones are in one list for all neurons, each linked to the one before.
/// Steps are kept in 32 bits relative to a base.
///
/// With each spike there is the trace that presynaptic spikes read, after the spike, and any number of other traces that
/// postsynaptic spikes read, as they were before the spike.
template <class Real>
class SpikeHistory {
   public:
    using Bits = std::conditional_t<sizeof(Real) == sizeof(std::uint32_t), std::uint32_t, std::uint64_t>;
    static constexpr std::size_t newest = 8;
    static constexpr std::int32_t never = std::numeric_limits<std::int32_t>::min();
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    struct alignas(32) Steps {
        std::array<std::int32_t, newest> at;
    };
    struct Traces {
        std::array<Real, newest> after;  ///< the spike at the same place
    };
    struct OwnTraces {
        std::array<Real, newest> before;  ///< the spike at the same place
    };
    struct Older {
        std::int32_t step = never;
        std::uint32_t before = none;  ///< of the same neuron
        Real after = 0;
    };

    SpikeHistory() = default;
    /// @param own_steps time constants of the traces that postsynaptic spikes read
    /// @param accumulates whether each spike adds to the traces; else they are set to 1
    SpikeHistory(std::uint32_t neurons, double trace_steps, const std::vector<double>& own_steps, bool accumulates,
                 std::pmr::memory_resource* memory)
        : decay_(trace_steps),
          accumulates_(accumulates),
          steps_(neurons, memory),
          traces_(neurons, memory),
          own_(neurons * own_steps.size(), memory),
          last_trace_(neurons, memory),
          last_own_(neurons * own_steps.size(), memory),
          chains_(neurons, memory),
          older_(memory),
          older_own_(memory) {
        for (std::uint32_t i = 0; i < neurons; ++i) {
            steps_[i].at.fill(never);
            traces_[i].after.fill(Real{0});
            last_trace_[i] = 0.0;
            chains_[i] = none;
        }
        for (std::size_t i = 0; i < own_.size(); ++i) own_[i].before.fill(Real{0});
        std::fill_n(last_own_.data(), last_own_.size(), 0.0);
        for (const double steps : own_steps) own_decays_.emplace_back(steps);
    }

    /// A neuron has fired. @param step after all that it was told for this neuron, or the same again, relative to the base
    void add(std::uint32_t neuron, std::int32_t step) {
        auto& steps = steps_[neuron].at;
        auto& traces = traces_[neuron].after;
        if (steps[newest - 1] != never) {
            append(older_, {steps[newest - 1], chains_[neuron], traces[newest - 1]});
            for (std::size_t k = 0; k < own_traces(); ++k) {
                append(older_own_, own_[k * neurons() + neuron].before[newest - 1]);
            }
            chains_[neuron] = static_cast<std::uint32_t>(older_.size() - 1);
        }
        double trace = 1.0;
        if (accumulates_ && steps[0] != never) trace += last_trace_[neuron] * decay_(std::int64_t{step} - steps[0]);
        last_trace_[neuron] = trace;
        add_to_own(neuron, step, steps[0]);
        std::copy_backward(steps.begin(), steps.end() - 1, steps.end());
        std::copy_backward(traces.begin(), traces.end() - 1, traces.end());
        steps[0] = step;
        traces[0] = static_cast<Real>(trace);
    }

    const Steps* steps() const { return steps_.data(); }
    const Traces* traces() const { return traces_.data(); }
    std::size_t own_traces() const { return own_decays_.size(); }
    /// One of the traces that postsynaptic spikes read, of all neurons.
    const OwnTraces* own(std::size_t trace) const { return own_.data() + trace * neurons(); }
    std::uint32_t neurons() const { return static_cast<std::uint32_t>(steps_.size()); }
    /// The newest of the older spikes of a neuron, or null.
    const Older* first_older(std::uint32_t neuron) const { return link(chains_[neuron]); }
    const Older* next_older(const Older& older) const { return link(older.before); }
    /// One of the traces that an older spike reads.
    Real older_own(const Older& older, std::size_t trace) const {
        return older_own_[static_cast<std::size_t>(&older - older_.data()) * own_traces() + trace];
    }
    std::size_t older_spikes() const { return older_.size(); }

    /// Drops older spikes, when all synapses have learnt from those up to a step. The newest of these is kept: the next
    /// presynaptic spike may ask for it.
    void forget_older(std::int32_t learnt) {
        std::pmr::vector<Older> kept(older_.get_allocator());
        std::pmr::vector<Real> kept_own(older_own_.get_allocator());
        for (std::size_t neuron = 0; neuron < chains_.size(); ++neuron) {
            std::uint32_t place = chains_[neuron];
            std::int32_t newer = steps_[neuron].at[newest - 1];
            chains_[neuron] = none;
            for (std::uint32_t* link = &chains_[neuron]; place != none && newer > learnt; link = &kept.back().before) {
                *link = static_cast<std::uint32_t>(kept.size());
                append(kept, older_[place]);
                for (std::size_t k = 0; k < own_traces(); ++k) append(kept_own, older_own(older_[place], k));
                newer = older_[place].step;
                place = older_[place].before;
                kept.back().before = none;
            }
        }
        older_ = std::move(kept);
        older_own_ = std::move(kept_own);
    }
    /// Counts steps from a later base. Spikes that have left no trace stand where they end to matter.
    void move_base(std::int64_t by) {
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            for (std::int32_t& step : steps_[i].at) step = moved(step, by);
        }
        for (Older& older : older_) older.step = moved(older.step, by);
    }

    /// Saves or loads the spikes of a neuron, newest first. Loaded are those of one that has not fired.
    /// @param base that steps are relative to
    void exchange(std::uint32_t neuron, std::int64_t base, StateColumns& columns) {
        columns.exchange("last_trace", last_trace_[neuron]);
        for (std::size_t k = 0; k < own_traces(); ++k) {
            columns.exchange("last_own_trace" + std::to_string(k), last_own_[k * neurons() + neuron]);
        }
        if (columns.loads()) {
            load(neuron, base, columns);
        } else {
            save(neuron, base, columns);
        }
    }
    /// A step as it is saved, and back.
    static std::int64_t absolute(std::int32_t step, std::int64_t base) {
        return step == never ? std::numeric_limits<std::int64_t>::min() : step + base;
    }
    static std::int32_t relative(std::int64_t step, std::int64_t base) {
        return step == std::numeric_limits<std::int64_t>::min() ? never : bounded(step - base);
    }

   private:
    static void exchange_spike(std::int64_t base, std::int32_t& step, Real& after, StateColumns& columns) {
        std::int64_t spike = absolute(step, base);
        columns.exchange_element("spike", spike);
        step = relative(spike, base);
        columns.exchange_element("trace", after);
    }
    void save(std::uint32_t neuron, std::int64_t base, StateColumns& columns) const {
        const auto& steps = steps_[neuron].at;
        const auto recent = static_cast<std::size_t>(std::find(steps.begin(), steps.end(), never) - steps.begin());
        std::size_t size = recent;
        for (const Older* older = first_older(neuron); older != nullptr; older = next_older(*older)) ++size;
        columns.exchange_size(size);
        for (std::size_t i = 0; i < recent; ++i) {
            std::int32_t step = steps[i];
            Real after = traces_[neuron].after[i];
            exchange_spike(base, step, after, columns);
            for (std::size_t k = 0; k < own_traces(); ++k) {
                Real before = own_[k * neurons() + neuron].before[i];
                columns.exchange_element("own_trace" + std::to_string(k), before);
            }
        }
        for (const Older* older = first_older(neuron); older != nullptr; older = next_older(*older)) {
            Older one = *older;
            exchange_spike(base, one.step, one.after, columns);
            for (std::size_t k = 0; k < own_traces(); ++k) {
                Real before = older_own(*older, k);
                columns.exchange_element("own_trace" + std::to_string(k), before);
            }
        }
    }
    void load(std::uint32_t neuron, std::int64_t base, StateColumns& columns) {
        const std::size_t size = columns.exchange_size(0);
        for (std::size_t i = 0; i < size; ++i) {
            Older one;
            exchange_spike(base, one.step, one.after, columns);
            if (i < newest) {
                steps_[neuron].at[i] = one.step;
                traces_[neuron].after[i] = one.after;
            } else {
                std::uint32_t& link = i == newest ? chains_[neuron] : older_.back().before;
                link = static_cast<std::uint32_t>(older_.size());
                append(older_, one);
            }
            for (std::size_t k = 0; k < own_traces(); ++k) {
                Real before = 0;
                columns.exchange_element("own_trace" + std::to_string(k), before);
                if (i < newest) {
                    own_[k * neurons() + neuron].before[i] = before;
                } else {
                    append(older_own_, before);
                }
            }
        }
    }
    void add_to_own(std::uint32_t neuron, std::int32_t step, std::int32_t last) {
        for (std::size_t k = 0; k < own_traces(); ++k) {
            double& after = last_own_[k * neurons() + neuron];
            const double before = last == never ? 0.0 : after * own_decays_[k](std::int64_t{step} - last);
            after = accumulates_ ? before + 1.0 : 1.0;
            auto& kept = own_[k * neurons() + neuron].before;
            std::copy_backward(kept.begin(), kept.end() - 1, kept.end());
            kept[0] = static_cast<Real>(before);
        }
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
    std::vector<Decay<double>> own_decays_;
    bool accumulates_ = true;
    Buffer<Steps> steps_;
    Buffer<Traces> traces_;
    Buffer<OwnTraces> own_;      ///< by trace, then neuron
    Buffer<double> last_trace_;  ///< after the newest spike
    Buffer<double> last_own_;    ///< after the newest spike, by trace, then neuron
    Buffer<std::uint32_t> chains_;
    std::pmr::vector<Older> older_;
    std::pmr::vector<Real> older_own_;  ///< by older spike, then trace
};

}  // namespace ranvier::connect
