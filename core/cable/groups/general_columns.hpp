#pragma once

#include <cstddef>
#include <cstdint>

#include "cable/groups/cell_store.hpp"
#include "cable/plans/cell_plan.hpp"
#include "ranvier/cable/groups/cell_model.hpp"
#include "ranvier/models/neuron.hpp"

/// States of general mechanisms as columns of a saved state.
namespace ranvier::cable {

/// The states of membrane mechanisms, by mechanism, state and node.
/// @param cell index in the store
void serialize_general(const CellModel& model, const CellPlan& plan, CellStore& store, std::size_t cell,
                       StateColumns& columns);

/// The states of a receptor, by site.
/// @param sites maximum number over all kinds of cells of the population
void serialize_sites(std::uint32_t receptor, std::size_t sites, const CellPlan& plan, CellStore& store,
                     std::size_t cell, StateColumns& columns);

}  // namespace ranvier::cable
