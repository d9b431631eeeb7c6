#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/aligned_array.hpp"
#include "base/instruction_set.hpp"
#include "base/math.hpp"
#include "cable/calcium_kernel.hpp"
#include "cable/cell.hpp"
#include "cable/class_kernel.hpp"
#include "cable/eight.hpp"
#include "cable/receptor.hpp"

/// One step of a block of cells.
///
/// Nodes lie in slots of 8 lanes, so that what is done for one slot is done by whole vectors of any width: a slot is a node
/// of 8 cells of one shape. An array of a block has 8 numbers for each slot; constants that all cells share have one.
namespace ranvier::cable {

/// What injects a current at one place of each cell.
struct KernelElectrode {
    std::uint32_t slot = 0;
    double conductance = 0.0;         ///< nS: 1 / the resistance of a voltage clamp; else 0
    const double* current = nullptr;  ///< pA by lane; of a voltage clamp where the potential is 0
};

/// A receptor at one place of each cell.
struct KernelReceptor {
    std::uint32_t slot = 0;
    ReceptorConstants constants;
    double* slow = nullptr;  ///< exponentials of the conductance, nS, by lane
    double* fast = nullptr;
    const double* input = nullptr;  ///< nS: weights of the spikes that arrive at the end of the step, by lane
};

struct KernelArguments {
    std::size_t slots = 0;
    /// Of each slot: that of the parent, a smaller one.
    const std::uint32_t* parents = nullptr;
    const double* axial = nullptr;     ///< nS, between a slot and its parent
    const double* capacity = nullptr;  ///< nS: capacitance by the length of a step
    const double* leak = nullptr;      ///< nS: all that does not change, with capacity and axial conductances
    const double* drive = nullptr;     ///< pA: of leaks
    double* potential = nullptr;       ///< mV
    double* diagonal = nullptr;
    double* current = nullptr;
    std::size_t class_count = 0;
    const KernelClass* classes = nullptr;
    std::size_t receptor_count = 0;
    const KernelReceptor* receptors = nullptr;
    std::size_t electrode_count = 0;
    const KernelElectrode* electrodes = nullptr;
    KernelPools pools;
};

/// `staggered`: see Scheme. Then gates are those in the middle of the step, and so are conductances of receptors.
template <bool staggered>
struct BlockKernel {
    using Calcium = CalciumKernel<staggered>;

    /// Returns which values have left their bounds: potentials that of the tables of rates.
    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static std::uint32_t run(const KernelArguments* a) {
        begin<set>(*a);
        if (a->pools.size > 0) Calcium::begin(a->pools);
        std::uint32_t left = 0;
        for (std::size_t c = 0; c < a->class_count; ++c) {
            const bool outside = ClassKernel<set>::run(a->classes[c], a->diagonal, a->current, a->pools.conductance);
            if (outside) left |= potential_has_left;
        }
        if (a->pools.size > 0) Calcium::add(a->pools, a->potential, a->diagonal, a->current);
        for (std::size_t r = 0; r < a->receptor_count; ++r) add_receptor(a->receptors[r], *a);
        for (std::size_t e = 0; e < a->electrode_count; ++e) add_electrode(a->electrodes[e], *a);
        solve<set>(*a);
        // What was solved for stands where currents were.
        if (a->pools.size > 0) left |= Calcium::finish(a->pools, a->current);
        return left;
    }

    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static void begin(const KernelArguments& a) {
        using Lanes = Eight<set>;
        for (std::size_t s = 0; s < a.slots; ++s) {
            const Lanes potential = Lanes::load(a.potential + s * lanes);
            Lanes::all(a.leak[s]).store(a.diagonal + s * lanes);
            (Lanes::all(a.capacity[s]) * potential + Lanes::all(a.drive[s])).store(a.current + s * lanes);
        }
    }

    RANVIER_ALWAYS_INLINE static void add_electrode(const KernelElectrode& own, const KernelArguments& a) {
        double* const d = a.diagonal + own.slot * lanes;
        double* const i = a.current + own.slot * lanes;
        RANVIER_NO_OVERLAP
        for (std::size_t l = 0; l < lanes; ++l) {
            d[l] += own.conductance;
            i[l] += own.current[l];
        }
    }

    RANVIER_ALWAYS_INLINE static void add_receptor(const KernelReceptor& own, const KernelArguments& a) {
        double* const d = a.diagonal + own.slot * lanes;
        double* const i = a.current + own.slot * lanes;
        const double* const v = a.potential + own.slot * lanes;
        const ReceptorConstants& c = own.constants;
        alignas(line_bytes) double g[lanes];
        for (std::size_t l = 0; l < lanes; ++l) {
            g[l] = staggered ? own.slow[l] * c.half_decay - own.fast[l] * c.half_rise : own.slow[l] - own.fast[l];
        }
        if (c.blockers > 0.0) {
            for (std::size_t l = 0; l < lanes; ++l) g[l] /= 1.0 + c.blockers * math::exp(-c.block_slope * v[l]);
            follow_block(own, a, g);
        }
        RANVIER_NO_OVERLAP
        for (std::size_t l = 0; l < lanes; ++l) {
            d[l] += g[l];
            i[l] += g[l] * c.reversal;
            own.slow[l] = own.slow[l] * c.decay + c.scale * own.input[l];
        }
        if (c.rise == 0.0) return;
        for (std::size_t l = 0; l < lanes; ++l) own.fast[l] = own.fast[l] * c.rise + c.scale * own.input[l];
    }

    /// The block at the potential that is solved for: by its slope at the one before. Without this, errors of the staggered
    /// scheme were of first order in the step, and those of backward Euler six times as large.
    ///
    /// Below the reversal potential this is a negative conductance. It takes at most half of the capacitance from the
    /// diagonal, so that what is solved for stays bounded.
    RANVIER_ALWAYS_INLINE static void follow_block(const KernelReceptor& own, const KernelArguments& a,
                                                   const double* g) {
        double* const d = a.diagonal + own.slot * lanes;
        double* const i = a.current + own.slot * lanes;
        const double* const v = a.potential + own.slot * lanes;
        const ReceptorConstants& c = own.constants;
        const double least = a.leak[own.slot] - 0.5 * a.capacity[own.slot];
        for (std::size_t l = 0; l < lanes; ++l) {
            const double blocked = c.blockers * math::exp(-c.block_slope * v[l]);
            const double slope = g[l] * c.block_slope * (blocked / (1.0 + blocked)) * (v[l] - c.reversal);
            const double lowest = least - d[l];
            const double added = slope > lowest ? slope : lowest;
            d[l] += added;
            i[l] += added * v[l];
        }
    }

    /// Gaussian elimination from the leaves to the root and back (M. Hines, 1984): the matrix is symmetric, with minus the
    /// axial conductances beside its diagonal.
    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static void solve(const KernelArguments& a) {
        using Lanes = Eight<set>;
        const Lanes one = Lanes::all(1.0);
        for (std::size_t s = a.slots; --s > 0;) {
            double* const d = a.diagonal + s * lanes;
            double* const parent_d = a.diagonal + a.parents[s] * lanes;
            double* const parent_i = a.current + a.parents[s] * lanes;
            const Lanes axial = Lanes::all(a.axial[s]);
            const Lanes inverse = one / Lanes::load(d);
            const Lanes part = axial * inverse;
            inverse.store(d);
            (Lanes::load(parent_d) - part * axial).store(parent_d);
            (Lanes::load(parent_i) + part * Lanes::load(a.current + s * lanes)).store(parent_i);
        }
        // What is solved for takes the place of the currents.
        finish<set>(a, 0, Lanes::load(a.current) * (one / Lanes::load(a.diagonal)));
        for (std::size_t s = 1; s < a.slots; ++s) {
            const Lanes parent = Lanes::load(a.current + a.parents[s] * lanes);
            const Lanes own = Lanes::load(a.current + s * lanes) + Lanes::all(a.axial[s]) * parent;
            finish<set>(a, s, own * Lanes::load(a.diagonal + s * lanes));
        }
    }

    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static void finish(const KernelArguments& a, std::size_t slot, const Eight<set>& solved) {
        using Lanes = Eight<set>;
        double* const v = a.potential + slot * lanes;
        solved.store(a.current + slot * lanes);
        (staggered ? Lanes::all(2.0) * solved - Lanes::load(v) : solved).store(v);
    }
};

/// Vectors have at most 32 bytes, see Numbers, so that AVX-512 could only add masks, which took a fifth longer.
inline std::uint32_t advance_block(InstructionSet set, Scheme scheme, const KernelArguments& arguments) {
    const InstructionSet used = std::min(set, InstructionSet::avx2);
    return scheme == Scheme::staggered ? Dispatched<BlockKernel<true>>::call(used, &arguments)
                                       : Dispatched<BlockKernel<false>>::call(used, &arguments);
}

}  // namespace ranvier::cable
