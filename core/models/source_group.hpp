#pragma once

#include <cstdint>
#include <memory>

#include "ranvier/models/neuron.hpp"
#include "ranvier/models/stimulator.hpp"

/// Populations of sources: neurons that fire the spikes which a stimulator would give a target with a weight of 1 and no
/// delay. So a stimulator is described once, and serves both ways: the trains of a stimulus act on one target each, those of
/// sources on all that are connected to them.
namespace ranvier::models {

/// Spikes of a source in a step that its rate may give on average. The probability of more than `most_spikes_of_sources` is
/// then below 2^-200, beyond what the random numbers of a Poisson process can give.
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
