#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ranvier/parallel/topology.hpp"

namespace ranvier::parallel {

/// Topology::detect() with the given hwloc libraries, in search order.
Topology detect_topology(std::span<const std::string> libraries);

/// Topology::synthetic() with the given hwloc libraries, in search order.
Topology synthetic_topology(std::string_view description, std::span<const std::string> libraries);

}  // namespace ranvier::parallel
