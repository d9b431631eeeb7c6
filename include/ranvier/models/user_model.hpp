#pragma once

#include <cstdint>

#include "ranvier/models/neuron.hpp"

namespace ranvier::models {

/// A neuron model that was made of a user's description. Populations of it share its ownership.
class UserModel : public NeuronModel {
   public:
    /// Neurons of the only population that can be made of it; 0: any number.
    virtual std::uint64_t size() const { return 0; }
};

}  // namespace ranvier::models
