#pragma once

#include <cstddef>
#include <memory>
#include <memory_resource>
#include <vector>

#include "network/lowering/lowering.hpp"
#include "ranvier/base/id_sequence.hpp"
#include "ranvier/base/instruction_set.hpp"
#include "ranvier/engine/options.hpp"
#include "ranvier/models/neuron.hpp"
#include "ranvier/models/stimulator.hpp"

namespace ranvier::engine {

struct GroupParts {
    std::vector<models::GroupValues> parameters;
    std::unique_ptr<models::NeuronGroup> neurons;  ///< null without neurons
};
/// Creates some neurons of a population; `memory` provides all memory that grows with them.
/// @param shared by groups; must outlive them
GroupParts create_group(const network::LoweredNetwork& network, const network::Population& population,
                        const IdSequence& ids, const SimulationOptions& options, InstructionSet instruction_set,
                        std::pmr::memory_resource* memory, models::SharedParts* shared);

/// The fields that act on a population, in the order of GroupArguments::fields: indices of Network::outside_fields().
std::vector<std::size_t> fields_of(const network::Network& network, const network::Population& population);

/// Creates a stimulus of the description for some of its targets, which belong to one population.
/// @pre there are some
std::unique_ptr<models::Stimulus> create_stimulus(const network::LoweredNetwork& network, std::size_t index,
                                                  const network::Population& population, const IdSequence& targets,
                                                  InstructionSet instruction_set, std::pmr::memory_resource* memory);

}  // namespace ranvier::engine
