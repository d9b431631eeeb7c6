#pragma once

#include "connect/rules/selected.hpp"
#include "ranvier/network/network.hpp"

namespace ranvier::network {

/// The rule of a projection, bound to its neurons, with their positions if it needs them.
/// @throws as connect::bind_selected; ValueOutOfBoundsError for a population without positions, and if dimensions, units
///         or periods differ
connect::SelectedRule bind_rule_of(const Network& network, const ProjectionSpec& projection, ProjectionId id);

}  // namespace ranvier::network
