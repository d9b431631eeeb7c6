#pragma once

#include <cstdint>

#include "ranvier/models/neuron.hpp"

namespace ranvier::models {

/// A user-defined neuron model. Populations share its ownership.
class UserModel : public NeuronModel {
   public:
    /// Size of the only population that it can have; 0: any size.
    virtual std::uint64_t size() const { return 0; }
};

}  // namespace ranvier::models
