#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "connect/plasticity/plastic_table.hpp"

/// How a table of synapses that learn saves its state, and loads it; for plastic_table.cpp alone.
namespace ranvier::connect {

template <class Target, class Real>
void PlasticTable<Target, Real>::begin_saving(Step now) {
    settle(InstructionSet::baseline, now);
    saved_ = waiting_spikes();
}

template <class Target, class Real>
void PlasticTable<Target, Real>::begin_loading(Step now) {
    base_ = now > most_steps ? now : 0;
    now_ = now;
    settled_ = relative(now);
    loads_ = true;
}

template <class Target, class Real>
void PlasticTable<Target, Real>::exchange_synapses(std::span<const std::uint64_t> positions, StateColumns& columns) {
    Base::exchange_synapses(positions, columns);
    if (timed_) exchange_traces(positions, columns);
    if (centred() && !timed_) {
        columns.exchange_list<Real>("presynaptic_trace", positions.size(),
                                    [&](std::size_t i) -> Real& { return synapse_traces_[positions[i]]; });
    }
    if (!modulated_) return;
    columns.exchange_list<Real>("eligibility", positions.size(),
                                [&](std::size_t i) -> Real& { return modulated_->eligibility[positions[i]]; });
    if (modulated_->remainders.empty()) return;
    columns.exchange_list<Real>("weight_remainder", positions.size(),
                                [&](std::size_t i) -> Real& { return modulated_->remainders[positions[i]]; });
}

template <class Target, class Real>
void PlasticTable<Target, Real>::exchange_row(RowIndex row, StateColumns& columns) {
    std::int64_t last = History::absolute(last_[row.value], base_);
    columns.exchange("last_spike", last);
    last_[row.value] = History::relative(last, base_);
    columns.exchange("trace", traces_[row.value]);
    for (std::size_t k = 0; k < own_decays_.size(); ++k) {
        columns.exchange("own_trace" + std::to_string(k), own_[row.value * own_decays_.size() + k]);
    }
    if (columns.loads()) {
        const std::size_t size = columns.exchange_size(0);
        for (std::size_t i = 0; i < size; ++i) {
            Saved one;
            one.spike.row = row;
            exchange_waiting(one.spike, columns);
            if (i > 0 && saved_.back().spike.stamp == one.spike.stamp) one.number = saved_.back().number + 1;
            saved_.push_back(one);
        }
        return;
    }
    const auto row_of_saved = [](const Saved& one) { return one.spike.row; };
    const auto own = std::ranges::equal_range(saved_, row, {}, row_of_saved);
    columns.exchange_size(own.size());
    for (Saved one : own) exchange_waiting(one.spike, columns);
}

template <class Target, class Real>
void PlasticTable<Target, Real>::exchange_common(StateColumns& columns) {
    auto greatest = std::bit_cast<Real>(greatest_);
    columns.exchange("greatest_weight", greatest);
    greatest_ = std::max(greatest_, std::bit_cast<Bits>(greatest));
    // All have had the same.
    if (modulated_) modulated_->concentration.exchange(base_, columns);
}

template <class Target, class Real>
void PlasticTable<Target, Real>::end_exchange() {
    if (!std::exchange(loads_, false)) {
        saved_ = {};
        return;
    }
    // A row may have been loaded several times, each time with the spikes that waited for some of its synapses.
    std::sort(saved_.begin(), saved_.end(), [](const Saved& a, const Saved& b) { return a.place() < b.place(); });
    const auto same = [](const Saved& a, const Saved& b) { return a.place() == b.place(); };
    saved_.erase(std::unique(saved_.begin(), saved_.end(), same), saved_.end());
    for (const Saved& one : saved_) {
        for_each_run(one.spike.row, [&](const Run& run) {
            const Step arrival = base_ + one.spike.stamp + run.axonal;
            if (arrival > now_) append(waiting_at(arrival), {one.spike, run});
        });
    }
    saved_ = {};
    kept_ = history_.older_spikes();
    if (modulated_) modulated_->kept = modulated_->concentration.pulses().size();
}

template <class Target, class Real>
void PlasticTable<Target, Real>::exchange_waiting(Spike& spike, StateColumns& columns) const {
    std::int64_t stamp = History::absolute(spike.stamp, base_);
    std::int64_t last = History::absolute(spike.last, base_);
    columns.exchange_element("waiting_spike", stamp);
    columns.exchange_element("spike_before", last);
    columns.exchange_element("trace_before", spike.trace);
    for (std::size_t k = 0; k < own_decays_.size(); ++k) {
        columns.exchange_element("waiting_own_trace" + std::to_string(k), spike.own[k]);
    }
    spike.stamp = History::relative(stamp, base_);
    spike.last = History::relative(last, base_);
}

template <class Target, class Real>
auto PlasticTable<Target, Real>::waiting_spikes() const -> std::vector<Saved> {
    std::vector<Saved> found;
    for (Step step = now_ + 1; step <= now_ + static_cast<Step>(waiting_.size()); ++step) {
        for (const Waiting& one : waiting_[static_cast<std::uint64_t>(step) & (waiting_.size() - 1)]) {
            if (one.run.end == this->row_end(one.spike.row)) found.push_back({.spike = one.spike});
        }
    }
    std::ranges::stable_sort(found, {}, [](const Saved& one) { return one.spike.row; });
    return found;
}

}  // namespace ranvier::connect
