#pragma once

#include <memory>

#include "ranvier/models/neuron.hpp"

namespace ranvier::cable {

class CellModel;

/// The cells of a population on one shard. The model must outlive them.
std::unique_ptr<models::NeuronGroup> create_cell_group(const CellModel& model, const models::GroupArguments& arguments);

}  // namespace ranvier::cable
