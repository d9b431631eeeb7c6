#pragma once

#include <cstdint>

#include "ranvier/cable/cell/spec.hpp"

namespace ranvier::cable {

/// Hash of the whole cell, except the defaults of per-cell parameters.
std::uint64_t fingerprint_of(const CellSpec& spec);

}  // namespace ranvier::cable
