#pragma once

#include <cstddef>
#include <cstdint>

#include "cable/kernels/eight.hpp"
#include "cable/kernels/membrane_kernel.hpp"
#include "ranvier/base/instruction_set.hpp"

namespace ranvier::cable {

/// A child and its parent in different lanes; see PackedOrder. Positions are 8 slot + lane.
struct KernelJoin {
    std::uint32_t child = 0;
    std::uint32_t parent = 0;
    double axial = 0.0;  ///< nS
};

/// See PackedOrder. The lists of all levels are concatenated.
struct KernelLevels {
    std::size_t size = 0;
    const std::uint32_t* begins = nullptr;       ///< the first slot of each level, and the end of the last one
    const std::uint32_t* join_begins = nullptr;  ///< of each level
    const KernelJoin* joins = nullptr;
    /// Slots whose equations are initialised by joins.
    const std::uint32_t* late_begins = nullptr;
    const std::uint32_t* late_slots = nullptr;
    /// By slot: whether nothing is added before its elimination.
    const std::uint8_t* is_plain = nullptr;
};

struct PackedSolveArguments {
    const KernelLevels& levels;
    /// nS by position, between a node and its parent in the same lane, or 0.
    const double* axial;
    const KernelMembrane& membrane;
    double* potential;
    double* solved;  ///< the solution: potentials, or the array of currents
};

/// The elimination of a block whose nodes have a PackedOrder. For each node it performs the operations of
/// BlockKernel::solve in the same order, so that the bits are the same: the children of a node with a lower subtree
/// are joined before its level, and its main child last, when the node itself is eliminated.
///
/// In a lane without a node, and in one without a main child, the axial conductance is 0, so that its neighbour
/// contributes nothing.
template <bool staggered>
struct PackedSolve {
    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static void run(const PackedSolveArguments& a) {
        const KernelLevels& levels = a.levels;
        double* const diagonal = a.membrane.diagonal;
        double* const current = a.membrane.current;
        for (std::size_t level = 0; level < levels.size; ++level) {
            for (std::size_t k = levels.late_begins[level]; k < levels.late_begins[level + 1]; ++k) {
                MembraneKernel<set, true>::begin(a.membrane, levels.late_slots[k]);
            }
            for (std::size_t j = levels.join_begins[level]; j < levels.join_begins[level + 1]; ++j) {
                const KernelJoin join = levels.joins[j];
                const double part = join.axial * diagonal[join.child];
                diagonal[join.parent] -= part * join.axial;
                current[join.parent] += part * current[join.child];
            }
            eliminate<set>(a, level);
        }
        for (std::size_t level = levels.size; level-- > 0;) {
            substitute<set>(a, level);
            for (std::size_t j = levels.join_begins[level]; j < levels.join_begins[level + 1]; ++j) {
                const KernelJoin join = levels.joins[j];
                current[join.child] += join.axial * a.solved[join.parent];
            }
        }
    }

   private:
    /// Inverses replace the diagonal.
    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static void eliminate(const PackedSolveArguments& a, std::size_t level) {
        using Lanes = Eight<set>;
        using Membrane = MembraneKernel<set, true>;
        const Lanes one = Lanes::all(1.0);
        double* const diagonal = a.membrane.diagonal;
        double* const current = a.membrane.current;
        const std::size_t begin = a.levels.begins[level];
        const std::size_t end = a.levels.begins[level + 1];
        if (level == 0) {
            for (std::size_t slot = begin; slot < end; ++slot) {
                const std::size_t p = slot * lanes;
                const bool is_plain = a.levels.is_plain[slot] != 0;
                const Lanes d = is_plain ? Membrane::diagonal(a.membrane, slot) : Lanes::load(diagonal + p);
                if (is_plain) Membrane::current(a.membrane, slot).store(current + p);
                (one / d).store(diagonal + p);
            }
            return;
        }
        const std::size_t back = (begin - a.levels.begins[level - 1]) * lanes;
        for (std::size_t slot = begin; slot < end; ++slot) {
            const std::size_t p = slot * lanes;
            const std::size_t child = p - back;
            const bool is_plain = a.levels.is_plain[slot] != 0;
            const Lanes d = is_plain ? Membrane::diagonal(a.membrane, slot) : Lanes::load(diagonal + p);
            const Lanes i = is_plain ? Membrane::current(a.membrane, slot) : Lanes::load(current + p);
            const Lanes axial = Lanes::load(a.axial + child);
            const Lanes part = axial * Lanes::load(diagonal + child);
            (one / (d - part * axial)).store(diagonal + p);
            (i + part * Lanes::load(current + child)).store(current + p);
        }
    }

    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static void substitute(const PackedSolveArguments& a, std::size_t level) {
        using Lanes = Eight<set>;
        const double* const current = a.membrane.current;
        const std::size_t begin = a.levels.begins[level] * lanes;
        const std::size_t end = a.levels.begins[level + 1] * lanes;
        // Slots with parents in the same lanes; the others have none.
        const std::size_t next = level + 1 < a.levels.size ? (a.levels.begins[level + 2] * lanes) - end : 0;
        for (std::size_t p = begin; p < begin + next; p += lanes) {
            const Lanes parent = Lanes::load(a.solved + p + (end - begin));
            finish<set>(a, p, Lanes::load(current + p) + Lanes::load(a.axial + p) * parent);
        }
        for (std::size_t p = begin + next; p < end; p += lanes) finish<set>(a, p, Lanes::load(current + p));
    }

    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static void finish(const PackedSolveArguments& a, std::size_t p, const Eight<set>& current) {
        using Lanes = Eight<set>;
        const Lanes result = current * Lanes::load(a.membrane.diagonal + p);
        if constexpr (staggered) {
            (Lanes::all(2.0) * result - Lanes::load(a.potential + p)).store(a.potential + p);
        }
        result.store(a.solved + p);
    }
};

}  // namespace ranvier::cable
