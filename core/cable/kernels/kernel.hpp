#pragma once

#include <cstddef>
#include <cstdint>

#include "base/aligned_array.hpp"
#include "base/math.hpp"
#include "cable/kernels/calcium_kernel.hpp"
#include "cable/kernels/class_kernel.hpp"
#include "cable/kernels/eight.hpp"
#include "cable/kernels/membrane_kernel.hpp"
#include "cable/kernels/packed_solve.hpp"
#include "ranvier/base/instruction_set.hpp"
#include "ranvier/cable/methods.hpp"
#include "ranvier/cable/receptor.hpp"

/// One step of a block of cells.
///
/// Nodes are stored in slots of 8 lanes, so that operations on a slot use whole vectors of any width: a slot is the
/// same node of 8 cells of one shape. An array of a block has 8 numbers for each slot; constants that all cells share
/// have one. In a packed block, a slot has nodes of arbitrary cells, and constants are 8 numbers, too.
namespace ranvier::cable {

/// A current injection at one place of each cell.
struct KernelElectrode {
    std::uint32_t slot = 0;
    const std::uint32_t* positions = nullptr;  ///< of 8 cells in a packed block, in different slots
    const double* conductance = nullptr;  ///< nS by lane: 1 / the resistance of a voltage clamp; null: 0
    const double* current = nullptr;  ///< pA by lane; of a voltage clamp, at a potential of 0
};

/// A receptor at one place of each cell.
struct KernelReceptor {
    std::uint32_t slot = 0;
    const std::uint32_t* positions = nullptr;  ///< as those of KernelElectrode
    ReceptorConstants constants;
    double* slow = nullptr;  ///< exponentials of the conductance, nS, by lane
    double* fast = nullptr;
    const double* input = nullptr;  ///< nS: weights of the spikes that arrive at the end of the step, by lane
};

/// The gather slots of a packed block; see PackedPlan. Positions are 8 slot + lane.
struct KernelGather {
    std::size_t first = 0;  ///< position of the first one
    std::size_t size = 0;
    const std::uint32_t* sources = nullptr;  ///< position of the node of each gather slot
};

struct KernelArguments {
    std::size_t slots = 0;
    /// By slot: its parent, a smaller index. Unused in a packed block.
    const std::uint32_t* parents = nullptr;
    const double* axial = nullptr;     ///< nS, between a slot and its parent
    const double* capacity = nullptr;  ///< nS: capacitance by the length of a step
    const double* leak = nullptr;  ///< nS: the constant part of the diagonal, with capacity and axial conductances
    const double* drive = nullptr;  ///< pA: of leaks
    double* potential = nullptr;  ///< mV
    double* diagonal = nullptr;
    double* current = nullptr;
    /// Slots whose equations are initialised first: those that no class initialises, and in a packed block no level.
    std::size_t begin_count = 0;
    const std::uint32_t* begin_slots = nullptr;
    std::size_t class_count = 0;
    const KernelClass* classes = nullptr;
    std::size_t receptor_count = 0;
    const KernelReceptor* receptors = nullptr;
    std::size_t electrode_count = 0;
    const KernelElectrode* electrodes = nullptr;
    KernelPools pools;
    KernelGather gather;
    KernelLevels levels;
};

/// `staggered`: see Scheme. If set, gates and conductances of receptors are those in the middle of the step.
/// `packed`: whether the block has a PackedPlan.
template <bool staggered, bool packed>
struct BlockKernel {
    using Calcium = CalciumKernel<staggered, packed>;

    /// Advances gates and adds their currents to the equations. Returns whether a potential is outside the rate
    /// tables; potentials are still those before the step.
    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static bool advance_gates(const KernelArguments* a) {
        if constexpr (packed) gather_values(a->gather, a->potential);
        const KernelMembrane membrane = membrane_of(*a);
        for (std::size_t k = 0; k < a->begin_count; ++k) {
            MembraneKernel<set, packed>::begin(membrane, a->begin_slots[k]);
        }
        if (a->pools.size > 0) Calcium::begin(a->pools);
        bool left = false;
        for (std::size_t c = 0; c < a->class_count; ++c) {
            left |= ClassKernel<set, packed>::run(a->classes[c], membrane, a->pools.conductance);
        }
        return left;
    }

    /// The rest of the step. Returns whether a concentration was out of bounds.
    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static bool advance_potentials(const KernelArguments* a) {
        if (a->pools.size > 0) Calcium::template add<set>(a->pools, a->potential, a->diagonal, a->current);
        if constexpr (packed) scatter_results(*a);
        for (std::size_t r = 0; r < a->receptor_count; ++r) add_receptor<set>(a->receptors[r], *a);
        for (std::size_t e = 0; e < a->electrode_count; ++e) add_electrode<set>(a->electrodes[e], *a);
        if constexpr (packed) {
            PackedSolve<staggered>::template run<set>({a->levels, a->axial, membrane_of(*a), a->potential, solved(*a)});
        } else {
            solve<set>(*a);
        }
        if (a->pools.size == 0) return false;
        if constexpr (packed) gather_values(a->gather, solved(*a));
        return Calcium::template finish<set>(a->pools, solved(*a));
    }

    RANVIER_ALWAYS_INLINE static KernelMembrane membrane_of(const KernelArguments& a) {
        return {a.capacity, a.leak, a.drive, a.potential, a.diagonal, a.current};
    }

    /// The array of the solution: the new potentials themselves or, for those in the middle of the step, the array of
    /// currents.
    RANVIER_ALWAYS_INLINE static double* solved(const KernelArguments& a) {
        return staggered ? a.current : a.potential;
    }

    /// Copies the values of nodes to their gather slots.
    RANVIER_ALWAYS_INLINE static void gather_values(const KernelGather& gather, double* values) {
        for (std::size_t k = 0; k < gather.size; ++k) values[gather.first + k] = values[gather.sources[k]];
    }

    RANVIER_ALWAYS_INLINE static void scatter_results(const KernelArguments& a) {
        const double* const d = a.diagonal + a.gather.first;
        const double* const i = a.current + a.gather.first;
        RANVIER_NO_OVERLAP
        for (std::size_t k = 0; k < a.gather.size; ++k) {
            a.diagonal[a.gather.sources[k]] = d[k];
            a.current[a.gather.sources[k]] = i[k];
        }
    }

    /// Reads values at one place of each cell.
    template <InstructionSet set, class Placed>
    RANVIER_ALWAYS_INLINE static Eight<set> at(const Placed& placed, const double* values) {
        if constexpr (packed) {
            alignas(line_bytes) double gathered[lanes];
            for (std::size_t l = 0; l < lanes; ++l) gathered[l] = values[placed.positions[l]];
            return Eight<set>::load(gathered);
        } else {
            return Eight<set>::load(values + placed.slot * lanes);
        }
    }
    template <InstructionSet set, class Placed>
    RANVIER_ALWAYS_INLINE static Eight<set> constant_at(const Placed& placed, const double* values) {
        if constexpr (packed) return at<set>(placed, values);
        return constant_of<set, packed>(values, placed.slot);
    }
    template <InstructionSet set, class Placed>
    RANVIER_ALWAYS_INLINE static void put(const Placed& placed, double* values, const Eight<set>& results) {
        if constexpr (packed) {
            alignas(line_bytes) double scattered[lanes];
            results.store(scattered);
            for (std::size_t l = 0; l < lanes; ++l) values[placed.positions[l]] = scattered[l];
        } else {
            results.store(values + placed.slot * lanes);
        }
    }

    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static void add_electrode(const KernelElectrode& electrode, const KernelArguments& a) {
        if (electrode.conductance != nullptr) {
            put<set>(electrode, a.diagonal, at<set>(electrode, a.diagonal) + Eight<set>::load(electrode.conductance));
        }
        put<set>(electrode, a.current, at<set>(electrode, a.current) + Eight<set>::load(electrode.current));
    }

    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static void add_receptor(const KernelReceptor& receptor, const KernelArguments& a) {
        using Lanes = Eight<set>;
        const ReceptorConstants& c = receptor.constants;
        const Lanes slow = Lanes::load(receptor.slow);
        const Lanes fast = Lanes::load(receptor.fast);
        Lanes g = staggered ? slow * Lanes::all(c.half_decay) - fast * Lanes::all(c.half_rise) : slow - fast;
        if (c.blockers > 0.0) {
            alignas(line_bytes) double block[lanes];
            at<set>(receptor, a.potential).store(block);
            for (double& v : block) v = c.blockers * math::exp(-c.block_slope * v);
            const Lanes blocked = Lanes::load(block);
            const Lanes freed = Lanes::all(1.0) + blocked;
            g = g / freed;
            follow_block<set>(receptor, a, g, blocked / freed);
        }
        put<set>(receptor, a.diagonal, at<set>(receptor, a.diagonal) + g);
        put<set>(receptor, a.current, at<set>(receptor, a.current) + g * Lanes::all(c.reversal));
        const Lanes input = Lanes::all(c.scale) * Lanes::load(receptor.input);
        (slow * Lanes::all(c.decay) + input).store(receptor.slow);
        if (c.rise == 0.0) return;
        (fast * Lanes::all(c.rise) + input).store(receptor.fast);
    }

    /// Linearises the block around the present potential. Without this, errors of the staggered scheme were of first
    /// order in the step, and those of backward Euler six times as large.
    ///
    /// Below the reversal potential this is a negative conductance. It takes at most half of the capacitance from the
    /// diagonal, so that the solution stays bounded.
    ///
    /// @param part fraction of the receptors that is blocked
    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static void follow_block(const KernelReceptor& receptor, const KernelArguments& a,
                                                   const Eight<set>& g, const Eight<set>& part) {
        using Lanes = Eight<set>;
        const Lanes v = at<set>(receptor, a.potential);
        const Lanes d = at<set>(receptor, a.diagonal);
        const Lanes slope =
            g * Lanes::all(receptor.constants.block_slope) * part * (v - Lanes::all(receptor.constants.reversal));
        const Lanes least =
            constant_at<set>(receptor, a.leak) - Lanes::all(0.5) * constant_at<set>(receptor, a.capacity);
        const Lanes added = greater(slope, least - d);
        put<set>(receptor, a.diagonal, d + added);
        put<set>(receptor, a.current, at<set>(receptor, a.current) + added * v);
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
        finish<set>(a, 0, Lanes::load(a.current) * (one / Lanes::load(a.diagonal)));
        for (std::size_t s = 1; s < a.slots; ++s) {
            const Lanes parent = Lanes::load(solved(a) + a.parents[s] * lanes);
            const Lanes sum = Lanes::load(a.current + s * lanes) + Lanes::all(a.axial[s]) * parent;
            finish<set>(a, s, sum * Lanes::load(a.diagonal + s * lanes));
        }
    }

    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static void finish(const KernelArguments& a, std::size_t slot, const Eight<set>& result) {
        using Lanes = Eight<set>;
        if constexpr (staggered) {
            double* const v = a.potential + slot * lanes;
            (Lanes::all(2.0) * result - Lanes::load(v)).store(v);
        }
        result.store(solved(a) + slot * lanes);
    }
};

/// The same for all schemes.
template <bool packed>
struct GateHalf {
    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static bool run(const KernelArguments* arguments) {
        return BlockKernel<false, packed>::template advance_gates<set>(arguments);
    }
};

template <bool staggered, bool packed>
struct PotentialHalf {
    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static bool run(const KernelArguments* arguments) {
        return BlockKernel<staggered, packed>::template advance_potentials<set>(arguments);
    }
};

// The kernel has two halves, so that the caller can check the potentials between them. (A call from within one
// kernel, taken or not, halved its speed.)

/// See BlockKernel::advance_gates.
template <bool packed>
bool advance_gates(InstructionSet set, const KernelArguments& arguments) {
    return Dispatched<GateHalf<packed>>::call(set, &arguments);
}

/// See BlockKernel::advance_potentials.
template <bool packed>
bool advance_potentials(InstructionSet set, Scheme scheme, const KernelArguments& arguments) {
    return scheme == Scheme::staggered ? Dispatched<PotentialHalf<true, packed>>::call(set, &arguments)
                                       : Dispatched<PotentialHalf<false, packed>>::call(set, &arguments);
}

}  // namespace ranvier::cable
