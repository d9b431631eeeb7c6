#pragma once

#include <memory>

#include "models/neuron.hpp"

namespace ranvier::cable {

/// The cells of a population on one shard: a NeuronModel::create of models that a CellModel has made.
std::unique_ptr<models::NeuronGroup> create_cell_group(const models::GroupArguments& arguments);

}  // namespace ranvier::cable
