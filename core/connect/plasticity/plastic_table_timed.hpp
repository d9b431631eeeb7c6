#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <memory_resource>
#include <span>
#include <string_view>

#include "connect/plasticity/plastic_table.hpp"

/// What a table does whose synapses have time constants of their own; for plastic_table.cpp alone.
namespace ranvier::connect {

template <class Target, class Real>
void PlasticTable<Target, Real>::begin_timed(std::pmr::memory_resource* memory) {
    timed_ = std::make_unique<Timed>();
    const auto kept = timed_traces(learning_.own_times, rule_);
    for (std::size_t kind = 0; kind < trace_kinds; ++kind) {
        Buffer<Real>& traces = (*timed_)[kind];
        traces = Buffer<Real>(kept[kind] ? this->size() : 0, memory);
        std::fill_n(traces.data(), traces.size(), Real{0});
    }
}

template <class Target, class Real>
auto PlasticTable<Target, Real>::timed(const Visit& visit) const -> TimedArguments<Real> {
    const auto first = static_cast<const Target*>(visit.targets) - this->columns_.targets.data();
    TimedArguments<Real> timed{.resolution = learning_.own_times.resolution};
    for (std::size_t kind = 0; kind < trace_kinds; ++kind) {
        const auto column = learning_.own_times.columns[kind];
        if (column) timed.time_constants[kind] = this->columns_.parameters[*column].data() + first;
        if (!(*timed_)[kind].empty()) timed.traces[kind] = (*timed_)[kind].data() + first;
    }
    timed.first = visit.learnt == std::numeric_limits<std::int32_t>::max();
    timed.counted = settled_ - visit.dendritic;
    if (!timed.first) timed.counted = std::max(timed.counted, visit.last - 1);
    return timed;
}

template <class Target, class Real>
void PlasticTable<Target, Real>::learn_timed(InstructionSet set, const LearnArguments<Real>& given,
                                             const Visit& visit) {
    TimedArguments<Real> arguments = timed(visit);
    const auto first = static_cast<const Target*>(visit.targets) - this->columns_.targets.data();
    for (std::size_t kind = 0; kind < trace_kinds; ++kind) {
        if (!(*timed_)[kind].empty()) arguments.new_traces[kind] = (*timed_)[kind].data() + first;
    }
    learn_timed_visit(set, given, visit, arguments);
}

template <class Target, class Real>
void PlasticTable<Target, Real>::exchange_traces(std::span<const std::uint64_t> positions, StateColumns& columns) {
    constexpr std::array<std::string_view, trace_kinds> names{"presynaptic_trace", "postsynaptic_trace",
                                                              "own_presynaptic_trace", "own_postsynaptic_trace"};
    for (std::size_t kind = 0; kind < trace_kinds; ++kind) {
        if (!(*timed_)[kind].empty()) Base::exchange_column(columns, names[kind], positions, (*timed_)[kind]);
    }
}

}  // namespace ranvier::connect
