#pragma once

#include <cstdint>
#include <memory>

#include "ranvier/models/neuron.hpp"
#include "ranvier/models/stimulator.hpp"

/// Populations of sources: neurons that fire the spikes which a stimulator would give a target with a weight of 1 and
/// no delay. So one description of a stimulator serves both uses: a stimulus gives each target a train, and a source
/// sends its train to all neurons that are connected to it.
namespace ranvier::models {

/// Upper limit of the mean number of spikes of a source in a step. The probability of more than
/// `most_spikes_of_sources` is then below 2^-200, less than the random numbers of a Poisson process can resolve.
inline constexpr double greatest_mean_of_sources = 16.0;
inline constexpr std::uint32_t most_spikes_of_sources = 127;

/// The sources of a stimulator that emits spikes, as a neuron model.
class SourceModel final : public NeuronModel {
   public:
    explicit SourceModel(const StimulatorModel& described);

    std::unique_ptr<NeuronGroup> create(const GroupArguments& arguments) const override;
    bool has_conflicts() const override { return false; }
};

}  // namespace ranvier::models
