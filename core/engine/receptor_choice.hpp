#pragma once

#include <cstdint>

#include "models/neuron.hpp"

namespace ranvier::engine {

/// The receptors that weights >= 0 and weights < 0 go to, by their places among those of a model.
struct ReceptorChoice {
    std::uint32_t positive = 0;
    std::uint32_t negative = 0;
};

inline ReceptorChoice choose_receptors(const models::NeuronModel& model) {
    return {.positive = 0, .negative = model.receptors.size() == 2 ? 1u : 0u};
}

}  // namespace ranvier::engine
