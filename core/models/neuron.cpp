#include "models/neuron.hpp"

#include "base/errors.hpp"

namespace ranvier::models {

std::unique_ptr<ParameterChange> NeuronGroup::prepare_spikes(std::span<const std::vector<Step>>) {
    throw InternalError("these neurons do not play spikes");
}

}  // namespace ranvier::models
