#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "connect/plasticity/plastic_table.hpp"

/// How weights are read of synapses that learn; for plastic_table.cpp alone.
namespace ranvier::connect {

/// Copies of weights, of which what their synapses have still to learn is applied to many at a time.
template <class Target, class Real>
class PlasticTable<Target, Real>::WeightCopies {
   public:
    /// @param weights that are read, by the place of the synapse among all that were asked for
    WeightCopies(const PlasticTable& table, std::span<double> weights) : table_(table), weights_(weights) {
        // They stay where they are until they are given.
        copies_.reserve(most);
        visits_.reserve(most_visits);
    }

    /// Starts with synapses of a row that follow each other, and so gives those before if there is no room for these.
    void add_visit(Visit visit, std::uint64_t first, std::size_t count) {
        if (copies_.size() + count > most || visits_.size() == most_visits) give();
        visit.weights = copies_.data() + copies_.size();
        visit.count = count;
        visits_.push_back(visit);
        first_copy_ = copies_.size();
        first_ = first;
        const Real* const stored = table_.columns_.weights.data() + first;
        copies_.insert(copies_.end(), stored, stored + count);
    }
    /// One of the synapses of the last visit. @param place among all that were asked for
    void add(std::uint64_t position, std::size_t place) {
        wanted_.push_back({place, first_copy_ + static_cast<std::size_t>(position - first_)});
    }
    void give() {
        table_.bring_up_to_date(visits_);
        for (const Wanted& one : wanted_) weights_[one.place] = static_cast<double>(copies_[one.copy]);
        visits_.clear();
        copies_.clear();
        wanted_.clear();
    }

    static constexpr std::size_t most = std::size_t{1} << 14;

   private:
    struct Wanted {
        std::size_t place;
        std::size_t copy;
    };
    const PlasticTable& table_;
    std::span<double> weights_;
    std::vector<Real> copies_;
    std::vector<Visit> visits_;
    std::vector<Wanted> wanted_;
    std::size_t first_copy_ = 0;  ///< of the last visit
    std::uint64_t first_ = 0;     ///< synapse of that
};

template <class Target, class Real>
void PlasticTable<Target, Real>::read_weights(std::span<const std::uint64_t> positions,
                                              std::span<double> weights) const {
    std::vector<std::size_t> order(positions.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto position_of = [&](std::size_t place) { return positions[place]; };
    if (!std::ranges::is_sorted(positions)) std::ranges::sort(order, {}, position_of);
    const auto waiting = first_waiting();
    WeightCopies copies(*this, weights);
    for (std::size_t i = 0; i < order.size();) {
        const std::uint64_t first = positions[order[i]];
        const RowIndex row = this->row_of(first);
        const Run run = run_of(this->row_begin(row), first, this->row_end(row));
        const std::uint64_t most_end = std::min(run.end, first + WeightCopies::most);
        std::uint64_t end = first + 1;
        std::size_t next = i + 1;
        for (; next < order.size() && positions[order[next]] <= end && positions[order[next]] < most_end; ++next) {
            end = positions[order[next]] + 1;
        }
        copies.add_visit(pending(row, run, first, waiting, now_), first, static_cast<std::size_t>(end - first));
        for (; i < next; ++i) copies.add(positions[order[i]], order[i]);
    }
    copies.give();
}

/// Applies to copies of weights what their synapses have still to learn.
template <class Target, class Real>
void PlasticTable<Target, Real>::bring_up_to_date(std::span<const Visit> visits) const {
    LearnArguments<Real> given = arguments();
    given.visits = visits;
    given.arrives = false;
    if (!modulated_ && !timed_) return learn_visits(InstructionSet::baseline, given);
    for (const Visit& visit : visits) {
        if (timed_) {
            learn_timed_visit(InstructionSet::baseline, given, visit, timed(visit));
            continue;
        }
        ModulatedArguments<Real> of_transmitter = modulated(visit);
        of_transmitter.to_end = true;
        modulated_run(InstructionSet::baseline, given, visit, of_transmitter);
    }
}

}  // namespace ranvier::connect
