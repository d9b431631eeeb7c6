#pragma once

#include <cstddef>
#include <cstdint>

#include "ranvier/connect/tables/input_sums.hpp"

namespace ranvier::connect {

/// What is known of the weights of a process once its synapses were drawn.
class SynapseWeights {
   public:
    /// The range of the weights of a projection (by its index in the list) onto a receptor, as stored on this process,
    /// without the numbers of inputs.
    virtual WeightRange weights(std::size_t plan, std::uint32_t receptor) const = 0;
    /// Greatest number of synapses of all kinds onto a receptor of a neuron of this process; see WeightRange.
    virtual std::uint64_t most_inputs(std::uint32_t receptor) const = 0;

   protected:
    ~SynapseWeights() = default;
};

}  // namespace ranvier::connect
