#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ranvier/parallel/topology.hpp"

namespace ranvier::parallel {

/// Topology::detect() with the libraries in which hwloc is looked for.
Topology detect_topology(std::span<const std::string> libraries);

/// Topology::synthetic() with the libraries in which hwloc is looked for.
Topology synthetic_topology(std::string_view description, std::span<const std::string> libraries);

}  // namespace ranvier::parallel
