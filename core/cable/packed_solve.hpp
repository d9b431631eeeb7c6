#pragma once

#include <cstddef>
#include <cstdint>

#include "base/instruction_set.hpp"
#include "cable/eight.hpp"

namespace ranvier::cable {

/// A child and its parent that are not in the same lane; see PackedOrder. Positions are 8 slot + lane.
struct KernelJoin {
    std::uint32_t child = 0;
    std::uint32_t parent = 0;
    double axial = 0.0;  ///< nS
};

/// See PackedOrder.
struct KernelLevels {
    std::size_t size = 0;
    const std::uint32_t* begins = nullptr;       ///< the first slot of each level, and the end of the last one
    const std::uint32_t* join_begins = nullptr;  ///< of each level
    const KernelJoin* joins = nullptr;
};

struct PackedSolveArguments {
    const KernelLevels& levels;
    /// nS by position, between a node and its parent in the same lane, or 0.
    const double* axial;
    double* potential;
    double* diagonal;
    double* current;
};

/// The elimination of a block whose nodes have a PackedOrder. It does for each node what BlockKernel::solve does, in the
/// same order, so that the bits are the same: the children of a node with a lower subtree join it after their level, and
/// its main child comes last, when the node itself is eliminated.
///
/// In a lane without a node, and in one without a main child, the axial conductance is 0: nothing comes of its neighbour.
template <bool staggered>
struct PackedSolve {
    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static void run(const PackedSolveArguments& a) {
        for (std::size_t level = 0; level < a.levels.size; ++level) {
            eliminate<set>(a, level);
            for (std::size_t j = a.levels.join_begins[level]; j < a.levels.join_begins[level + 1]; ++j) {
                const KernelJoin join = a.levels.joins[j];
                const double part = join.axial * a.diagonal[join.child];
                a.diagonal[join.parent] -= part * join.axial;
                a.current[join.parent] += part * a.current[join.child];
            }
        }
        for (std::size_t level = a.levels.size; level-- > 0;) {
            for (std::size_t j = a.levels.join_begins[level]; j < a.levels.join_begins[level + 1]; ++j) {
                const KernelJoin join = a.levels.joins[j];
                a.current[join.child] += join.axial * a.current[join.parent];
            }
            substitute<set>(a, level);
        }
    }

   private:
    /// Inverses take the place of the diagonal.
    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static void eliminate(const PackedSolveArguments& a, std::size_t level) {
        using Lanes = Eight<set>;
        const Lanes one = Lanes::all(1.0);
        const std::size_t begin = a.levels.begins[level] * lanes;
        const std::size_t end = a.levels.begins[level + 1] * lanes;
        if (level == 0) {
            for (std::size_t p = begin; p < end; p += lanes) (one / Lanes::load(a.diagonal + p)).store(a.diagonal + p);
            return;
        }
        const std::size_t back = begin - a.levels.begins[level - 1] * lanes;
        for (std::size_t p = begin; p < end; p += lanes) {
            const std::size_t child = p - back;
            const Lanes axial = Lanes::load(a.axial + child);
            const Lanes part = axial * Lanes::load(a.diagonal + child);
            (one / (Lanes::load(a.diagonal + p) - part * axial)).store(a.diagonal + p);
            (Lanes::load(a.current + p) + part * Lanes::load(a.current + child)).store(a.current + p);
        }
    }

    /// What is solved for takes the place of the currents.
    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static void substitute(const PackedSolveArguments& a, std::size_t level) {
        using Lanes = Eight<set>;
        const std::size_t begin = a.levels.begins[level] * lanes;
        const std::size_t end = a.levels.begins[level + 1] * lanes;
        // Slots with parents in the same lanes; the others have none.
        const std::size_t next = level + 1 < a.levels.size ? (a.levels.begins[level + 2] * lanes) - end : 0;
        for (std::size_t p = begin; p < begin + next; p += lanes) {
            const Lanes parent = Lanes::load(a.current + p + (end - begin));
            finish<set>(a, p, Lanes::load(a.current + p) + Lanes::load(a.axial + p) * parent);
        }
        for (std::size_t p = begin + next; p < end; p += lanes) finish<set>(a, p, Lanes::load(a.current + p));
    }

    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static void finish(const PackedSolveArguments& a, std::size_t p, const Eight<set>& current) {
        using Lanes = Eight<set>;
        const Lanes solved = current * Lanes::load(a.diagonal + p);
        solved.store(a.current + p);
        (staggered ? Lanes::all(2.0) * solved - Lanes::load(a.potential + p) : solved).store(a.potential + p);
    }
};

}  // namespace ranvier::cable
