#pragma once

#include <cstddef>

#include "cable/kernels/eight.hpp"
#include "ranvier/base/instruction_set.hpp"

namespace ranvier::cable {

/// The equations of a block, a diagonal and a right side by slot and lane, and what they begin with; see KernelArguments.
struct KernelMembrane {
    const double* capacity;
    const double* leak;
    const double* drive;
    const double* potential;
    double* diagonal;
    double* current;
};

/// A number for a slot, or 8 in a packed block.
template <InstructionSet set, bool packed>
RANVIER_ALWAYS_INLINE Eight<set> constant_of(const double* values, std::size_t slot) {
    return packed ? Eight<set>::load(values + slot * lanes) : Eight<set>::all(values[slot]);
}

/// How the equations of a slot begin: with all that does not change. Whoever has the first part to add to them, does it on
/// the way, since writing and reading them again would take longer than to calculate them.
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
