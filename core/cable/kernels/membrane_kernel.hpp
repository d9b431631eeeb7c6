#pragma once

#include <cstddef>

#include "cable/kernels/eight.hpp"
#include "ranvier/base/instruction_set.hpp"

namespace ranvier::cable {

/// The equations of a block, a diagonal and a right side by slot and lane, and their constant parts; see
/// KernelArguments.
struct KernelMembrane {
    const double* capacity;
    const double* leak;
    const double* drive;
    const double* potential;
    double* diagonal;
    double* current;
};

/// A constant of a slot, or 8 in a packed block.
template <InstructionSet set, bool packed>
RANVIER_ALWAYS_INLINE Eight<set> constant_of(const double* values, std::size_t slot) {
    return packed ? Eight<set>::load(values + slot * lanes) : Eight<set>::all(values[slot]);
}

/// Initialises the equations of a slot with their constant parts. The first code that adds to the equations also
/// initialises them, since storing and loading them again would take longer than calculating them.
template <InstructionSet set, bool packed>
struct MembraneKernel {
    using Lanes = Eight<set>;

    RANVIER_ALWAYS_INLINE static Lanes diagonal(const KernelMembrane& a, std::size_t slot) {
        return constant_of<set, packed>(a.leak, slot);
    }
    RANVIER_ALWAYS_INLINE static Lanes current(const KernelMembrane& a, std::size_t slot) {
        return constant_of<set, packed>(a.capacity, slot) * Lanes::load(a.potential + slot * lanes) +
               constant_of<set, packed>(a.drive, slot);
    }
    RANVIER_ALWAYS_INLINE static void begin(const KernelMembrane& a, std::size_t slot) {
        diagonal(a, slot).store(a.diagonal + slot * lanes);
        current(a, slot).store(a.current + slot * lanes);
    }
};

}  // namespace ranvier::cable
