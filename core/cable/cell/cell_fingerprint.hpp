#pragma once

#include <cstdint>

#include "ranvier/cable/cell/spec.hpp"

namespace ranvier::cable {

/// Of all that a cell is, but for the defaults of its own parameters.
std::uint64_t fingerprint_of(const CellSpec& spec);

}  // namespace ranvier::cable
