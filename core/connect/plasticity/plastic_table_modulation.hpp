#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <memory_resource>
#include <type_traits>
#include <vector>

#include "connect/plasticity/plastic_table.hpp"

/// What a table does whose synapses a transmitter modulates; for plastic_table.cpp alone.
namespace ranvier::connect {

template <class Target, class Real>
void PlasticTable<Target, Real>::begin_modulation(std::pmr::memory_resource* synapse_memory,
                                                  std::pmr::memory_resource* spike_memory) {
    const ModulationConstants& constants = *rule_.modulation;
    modulated_ = std::make_unique<Modulated>(
        Modulated{.concentration = Concentration(constants.tau_transmitter, constants.resolution, spike_memory),
                  .gains = StretchGains(constants, synapse_memory),
                  .decay = Decay<double>(constants.tau_eligibility / constants.resolution, synapse_memory),
                  .eligibility = Buffer<Real>(this->size(), synapse_memory),
                  .remainders = Buffer<Real>(std::is_same_v<Real, float> ? this->size() : 0, synapse_memory)});
    std::fill_n(modulated_->eligibility.data(), modulated_->eligibility.size(), Real{0});
    std::fill_n(modulated_->remainders.data(), modulated_->remainders.size(), Real{0});
}

template <class Target, class Real>
void PlasticTable<Target, Real>::modulate(Step step, std::uint64_t spikes) {
    modulated_->concentration.add(relative(step), spikes);
}

/// What a transmitter needs besides.
template <class Target, class Real>
auto PlasticTable<Target, Real>::modulated(const Visit& visit) const -> ModulatedArguments<Real> {
    const auto first = static_cast<const Target*>(visit.targets) - this->columns_.targets.data();
    ModulatedArguments<Real> modulated{.constants = rule_.modulation.get(),
                                       .concentration = &modulated_->concentration,
                                       .gains = &modulated_->gains,
                                       .decay = modulated_->decay.view(),
                                       .eligibility = modulated_->eligibility.data() + first};
    if (!modulated_->remainders.empty()) modulated.remainders = modulated_->remainders.data() + first;
    modulated.first = visit.learnt == std::numeric_limits<std::int32_t>::max();
    modulated.seen = std::max(settled_ - visit.dendritic, visit.last);
    return modulated;
}

template <class Target, class Real>
void PlasticTable<Target, Real>::learn_modulated(InstructionSet set, const LearnArguments<Real>& given,
                                                 const Visit& visit) {
    ModulatedArguments<Real> of_transmitter = modulated(visit);
    const auto first = of_transmitter.eligibility - modulated_->eligibility.data();
    of_transmitter.new_eligibility = modulated_->eligibility.data() + first;
    if (!modulated_->remainders.empty()) of_transmitter.new_remainders = modulated_->remainders.data() + first;
    modulated_run(set, given, visit, of_transmitter);
}

/// The weight of a synapse that a transmitter modulates as it is now, were it not for its bounds, with all that is known of it.
template <class Target, class Real>
double PlasticTable<Target, Real>::followed_weight(std::uint64_t position,
                                                   const std::vector<const Waiting*>& waiting) const {
    const RowIndex row = this->row_of(position);
    Real weight = this->columns_.weights[position];
    Real remainder = 0;
    const Run run = run_of(this->row_begin(row), position, this->row_end(row));
    Visit visit = pending(row, run, position, waiting, now_);
    visit.weights = &weight;
    visit.count = 1;
    LearnArguments<Real> given = arguments();
    given.arrives = false;
    ModulatedArguments<Real> of_transmitter = modulated(visit);
    of_transmitter.new_remainders = of_transmitter.remainders == nullptr ? nullptr : &remainder;
    of_transmitter.to_end = true;
    of_transmitter.bounded = false;
    modulated_run(InstructionSet::baseline, given, visit, of_transmitter);
    return static_cast<double>(weight) + static_cast<double>(remainder);
}

/// Of what a transmitter modulates, the weight after the last spike or pulse is stored: as much earlier as leads to this one
/// now.
template <class Target, class Real>
void PlasticTable<Target, Real>::set_followed(std::uint64_t position, Real weight,
                                              const std::vector<const Waiting*>& waiting) {
    auto stored = static_cast<double>(weight);
    for (int attempt = 0; attempt < 3; ++attempt) {
        this->columns_.weights[position] = static_cast<Real>(stored);
        if (!modulated_->remainders.empty()) {
            modulated_->remainders[position] =
                static_cast<Real>(stored - static_cast<double>(this->columns_.weights[position]));
        }
        stored += static_cast<double>(weight) - followed_weight(position, waiting);
    }
}

}  // namespace ranvier::connect
