#pragma once

#include "ranvier/models/neuron.hpp"

namespace ranvier::models {

/// A user-defined neuron model. Populations share its ownership.
class UserModel : public NeuronModel {};

}  // namespace ranvier::models
