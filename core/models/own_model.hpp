#pragma once

#include <cstdint>

#include "models/neuron.hpp"

namespace ranvier::models {

/// A neuron model that was made of a user's description, which it keeps: what a population of it belongs to must keep it.
class OwnModel {
   public:
    OwnModel() = default;
    OwnModel(const OwnModel&) = delete;
    OwnModel& operator=(const OwnModel&) = delete;
    virtual ~OwnModel() = default;

    virtual const NeuronModel& neuron_model() const = 0;
    /// Neurons of the only population that can be made of it; 0: any number.
    virtual std::uint64_t size() const { return 0; }
};

}  // namespace ranvier::models
