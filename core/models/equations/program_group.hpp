#pragma once

#include <memory>

#include "ranvier/models/neuron.hpp"

namespace ranvier::models {

class ProgramModel;

/// The neurons of a population on one shard. The model must outlive them.
std::unique_ptr<NeuronGroup> create_program_group(const ProgramModel& model, const GroupArguments& arguments);

}  // namespace ranvier::models
