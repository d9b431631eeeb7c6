#pragma once

#include <memory>

#include "models/neuron.hpp"

namespace ranvier::models {

/// The neurons of a population on one shard: a NeuronModel::create of models that a ProgramModel has made.
std::unique_ptr<NeuronGroup> create_program_group(const GroupArguments& arguments);

}  // namespace ranvier::models
