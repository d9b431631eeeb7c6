#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <variant>
#include <vector>

#include "connect/plasticity/plastic_table.hpp"

/// Which synapses of a row spikes reach together, and what they have to learn then; for plastic_table.cpp alone.
namespace ranvier::connect {

/// The source of a row has fired: its traces go on.
template <class Target, class Real>
auto PlasticTable<Target, Real>::next_spike(RowIndex row, std::int32_t stamp) -> Spike {
    const std::int32_t last = last_[row.value];
    double& trace = traces_[row.value];
    Spike spike{.row = row, .stamp = stamp, .last = last, .trace = static_cast<Real>(trace)};
    const auto after = [&](double before) { return rule_.presynaptic_trace_accumulates ? before + 1.0 : 1.0; };
    trace = after(last == History::never ? 0.0 : trace * row_decay_(std::int64_t{stamp} - last));
    for (std::size_t k = 0; k < own_decays_.size(); ++k) {
        double& own = own_[row.value * own_decays_.size() + k];
        const double before = last == History::never ? 0.0 : own * own_decays_[k](std::int64_t{stamp} - last);
        spike.own[k] = static_cast<Real>(before);
        own = after(before);
    }
    last_[row.value] = stamp;
    return spike;
}

/// The synapses of a row from a place on that have the same delay.
template <class Target, class Real>
auto PlasticTable<Target, Real>::run_from(std::uint64_t begin, std::uint64_t row_end) const -> Run {
    std::uint64_t end = row_end;
    DelaySteps delay = this->columns_.least_delay;
    if (delay != this->columns_.greatest_delay && begin < end && !has_whole_rows()) {
        std::visit(
            [&](const auto& delays) {
                const auto relative = delays[begin];
                for (end = begin + 1; end < row_end && delays[end] == relative;) ++end;
                delay += relative;
            },
            this->columns_.delays);
    }
    return {begin, end, delay, learning_.axonal(delay)};
}

/// The same of a synapse in the midst of a row.
template <class Target, class Real>
auto PlasticTable<Target, Real>::run_of(std::uint64_t row_begin, std::uint64_t position, std::uint64_t row_end) const
    -> Run {
    if (this->columns_.least_delay == this->columns_.greatest_delay || has_whole_rows())
        return run_from(row_begin, row_end);
    return std::visit(
        [&](const auto& delays) -> Run {
            const auto relative = delays[position];
            const auto* const first = delays.data() + row_begin;
            const auto [begin, end] = std::equal_range(first, delays.data() + row_end, relative);
            const DelaySteps delay = this->columns_.least_delay + relative;
            return {row_begin + static_cast<std::uint64_t>(begin - first),
                    row_begin + static_cast<std::uint64_t>(end - first), delay, learning_.axonal(delay)};
        },
        this->columns_.delays);
}

template <class Target, class Real>
template <class Call>
void PlasticTable<Target, Real>::for_each_run(RowIndex row, Call call) const {
    const std::uint64_t end = this->row_end(row);
    for (std::uint64_t begin = this->row_begin(row); begin < end;) {
        const Run run = run_from(begin, end);
        call(run);
        begin = run.end;
    }
}

/// Synapses of a run, from one on, with a presynaptic spike.
/// @param last before it, and the trace after that
template <class Target, class Real>
auto PlasticTable<Target, Real>::visit_of(const Run& run, std::uint64_t first, std::int32_t last, Real trace) const
    -> Visit {
    Visit visit{.targets = this->columns_.targets.data() + first, .trace = trace};
    if (centred() && !timed_) visit.synapse_traces = synapse_traces_.data() + first;
    if (has_whole_rows()) visit.delays = delays_from(first);
    visit.dendritic = static_cast<std::int32_t>(run.dendritic());
    visit.learnt = settled_ - visit.dendritic;
    visit.since = History::never;
    if (last == History::never) {
        // Nothing is learnt before the first presynaptic spike.
        visit.learnt = std::numeric_limits<std::int32_t>::max();
    } else {
        visit.last = last + run.shift();
        visit.since = visit.last - run.tie();
        visit.learnt = std::max(visit.learnt, visit.since);
    }
    return visit;
}

template <class Target, class Real>
auto PlasticTable<Target, Real>::arriving(const Spike& spike, const Run& run, const InputRing& inputs) -> Visit {
    Visit visit = visit_of(run, run.begin, spike.last, spike.trace);
    visit.weights = this->columns_.weights.data() + run.begin;
    visit.count = run.end - run.begin;
    visit.meets = spike.stamp + run.shift();
    visit.end = visit.meets - run.tie();
    visit.own = spike.own;
    if (centred() && !timed_) {
        visit.new_synapse_traces = synapse_traces_.data() + run.begin;
        if (spike.last != History::never) visit.left = presynaptic_(std::int64_t{spike.stamp} - spike.last);
    }
    if (inputs.wide != nullptr) return visit;
    const Step step = base_ + spike.stamp + run.delay;
    visit.inputs = (visit.delays == nullptr ? inputs.slot(step) : inputs.data) + first_neuron();
    visit.slot = static_cast<std::uint32_t>(step) & inputs.slot_mask;
    return visit;
}

/// What synapses of a run, from one on, have still to learn from postsynaptic spikes that arrive up to the end of a step.
/// @param waiting the first spike that waits for each run
template <class Target, class Real>
auto PlasticTable<Target, Real>::pending(RowIndex row, const Run& run, std::uint64_t first,
                                         const std::vector<const Waiting*>& waiting, Step step) const -> Visit {
    std::int32_t last = last_[row.value];
    auto trace = static_cast<Real>(traces_[row.value]);
    const auto found = std::lower_bound(waiting.begin(), waiting.end(), run.begin,
                                        [](const Waiting* one, std::uint64_t begin) { return one->run.begin < begin; });
    if (found != waiting.end() && (*found)->run.begin == run.begin) {
        last = (*found)->spike.last;
        trace = (*found)->spike.trace;
    }
    Visit visit = visit_of(run, first, last, trace);
    visit.end = relative(step) - static_cast<std::int32_t>(run.dendritic());
    visit.meets = visit.end + 1;
    return visit;
}

/// The first spike that waits for each run for which any does, by the place of the run.
template <class Target, class Real>
auto PlasticTable<Target, Real>::first_waiting() const -> std::vector<const Waiting*> {
    std::vector<const Waiting*> found;
    for (Step step = now_ + 1; step <= now_ + static_cast<Step>(waiting_.size()); ++step) {
        for (const Waiting& one : waiting_[static_cast<std::uint64_t>(step) & (waiting_.size() - 1)]) {
            found.push_back(&one);
        }
    }
    // Those of one run and step lie in one list, in the order in which they came.
    std::sort(found.begin(), found.end(), [](const Waiting* a, const Waiting* b) {
        return std::tie(a->run.begin, a->spike.stamp, a) < std::tie(b->run.begin, b->spike.stamp, b);
    });
    found.erase(std::unique(found.begin(), found.end(),
                            [](const Waiting* a, const Waiting* b) { return a->run.begin == b->run.begin; }),
                found.end());
    return found;
}

}  // namespace ranvier::connect
