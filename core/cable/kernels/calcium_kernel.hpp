#pragma once

#include <cstddef>
#include <cstdint>

#include "base/aligned_array.hpp"
#include "base/math.hpp"
#include "cable/kernels/eight.hpp"
#include "ranvier/base/instruction_set.hpp"

/// Calcium in one step of a block of cells; see BlockKernel.
///
/// A step starts from the concentrations at its start. They give the reversal potential of calcium currents, directly
/// or, if `staggered`, extrapolated to the middle of the step. The calcium that flows through these currents at the
/// new potentials then gives the concentrations at the end.
namespace ranvier::cable {

/// mM: the logarithms of concentrations are within rate tables; see calcium_range.
inline constexpr double lowest_calcium = 1e-9;
inline constexpr double highest_calcium = 1e3;

/// Pools of calcium. Constants are one number for each, or, in a packed block, 8.
struct KernelPools {
    std::size_t size = 0;
    const std::uint32_t* slots = nullptr;
    const double* rest = nullptr;         ///< mM
    const double* log_outside = nullptr;  ///< logarithm of a concentration in mM
    const double* decay = nullptr;        ///< factor by which the distance from rest decays in a step
    const double* gain = nullptr;         ///< mM/pA: change of the concentration by a current in a step
    const double* half_decay = nullptr;   ///< the same for half a step
    const double* half_gain = nullptr;
    double nernst = 0.0;  ///< mV: R T / (2 F)
    double* concentration = nullptr;  ///< mM [pool][lane]
    // Scratch of the step; allocated if there are pools.
    double* logarithm = nullptr;    ///< of concentrations [slot][lane]
    double* conductance = nullptr;  ///< nS, of all calcium currents [slot][lane]
    double* reversal = nullptr;     ///< mV [pool][lane]; before that, the logarithms
};

template <bool staggered, bool packed>
struct CalciumKernel {
    /// Calculates the logarithms of concentrations, and clears conductances.
    RANVIER_ALWAYS_INLINE static void begin(const KernelPools& pools) {
        logarithms(pools.concentration, pools.reversal, pools.size * lanes);
        for (std::size_t p = 0; p < pools.size; ++p) {
            const std::size_t first = pools.slots[p] * lanes;
            __builtin_memcpy(pools.logarithm + first, pools.reversal + p * lanes, lanes * sizeof(double));
            __builtin_memset(pools.conductance + first, 0, lanes * sizeof(double));
        }
    }

    /// Adds the calcium currents, whose conductances are available now, to the equations of potentials.
    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static void add(const KernelPools& pools, const double* potential, double* diagonal,
                                          double* current) {
        using Lanes = Eight<set>;
        if constexpr (staggered) {
            for (std::size_t p = 0; p < pools.size; ++p)
                expect_middle<set>(pools, p, potential + pools.slots[p] * lanes);
            logarithms(pools.reversal, pools.reversal, pools.size * lanes);
        }
        for (std::size_t p = 0; p < pools.size; ++p) {
            const std::size_t first = pools.slots[p] * lanes;
            const Lanes g = Lanes::load(pools.conductance + first);
            const Lanes e = reversal<set>(pools, p);
            e.store(pools.reversal + p * lanes);
            (Lanes::load(diagonal + first) + g).store(diagonal + first);
            (Lanes::load(current + first) + g * e).store(current + first);
        }
    }

    /// @param solved potentials at the end of the step, or in its middle. Returns whether a concentration was out of
    ///         bounds.
    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static bool finish(const KernelPools& pools, const double* solved) {
        using Lanes = Eight<set>;
        for (std::size_t p = 0; p < pools.size; ++p) {
            const std::size_t first = pools.slots[p] * lanes;
            const Lanes flow = Lanes::load(pools.conductance + first) *
                               (Lanes::load(solved + first) - Lanes::load(pools.reversal + p * lanes));
            moved<set>(pools, p, flow, pools.decay, pools.gain).store(pools.concentration + p * lanes);
        }
        return keep_within_bounds(pools.concentration, pools.size * lanes, lowest_calcium, highest_calcium);
    }

   private:
    /// Extrapolates concentrations to the middle of the step, in place of their logarithms.
    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static void expect_middle(const KernelPools& pools, std::size_t p, const double* potential) {
        using Lanes = Eight<set>;
        const Lanes flow = Lanes::load(pools.conductance + pools.slots[p] * lanes) *
                           (Lanes::load(potential) - reversal<set>(pools, p));
        double* const middle = pools.reversal + p * lanes;
        moved<set>(pools, p, flow, pools.half_decay, pools.half_gain).store(middle);
        (void)keep_within_bounds(middle, lanes, lowest_calcium, highest_calcium);
    }

    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static Eight<set> constant(const double* values, std::size_t pool) {
        return packed ? Eight<set>::load(values + pool * lanes) : Eight<set>::all(values[pool]);
    }

    /// Reversal potentials (mV) from the logarithms.
    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static Eight<set> reversal(const KernelPools& pools, std::size_t p) {
        using Lanes = Eight<set>;
        return Lanes::all(pools.nernst) *
               (constant<set>(pools.log_outside, p) - Lanes::load(pools.reversal + p * lanes));
    }

    /// Concentrations after a constant current (pA).
    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static Eight<set> moved(const KernelPools& pools, std::size_t p, const Eight<set>& flow,
                                                  const double* decay, const double* gain) {
        using Lanes = Eight<set>;
        const Lanes rest = constant<set>(pools.rest, p);
        const Lanes calcium = Lanes::load(pools.concentration + p * lanes);
        return rest + (calcium - rest) * constant<set>(decay, p) + flow * constant<set>(gain, p);
    }

    // Separate long loops, which GCC vectorises.
    RANVIER_ALWAYS_INLINE static void logarithms(const double* of, double* to, std::size_t size) {
        RANVIER_NO_OVERLAP
        for (std::size_t i = 0; i < size; ++i) to[i] = math::log(of[i]);
    }

    /// Clamps values to their bounds. Returns whether any value was out of bounds.
    RANVIER_ALWAYS_INLINE static bool keep_within_bounds(double* values, std::size_t size, double lowest,
                                                         double highest) {
        double outside = 0.0;
        for (std::size_t i = 0; i < size; ++i) {
            const double value = values[i];
            // NaN becomes the lowest value.
            const double above = value > lowest ? value : lowest;
            const double kept = above < highest ? above : highest;
            values[i] = kept;
            outside = value == kept ? outside : 1.0;
        }
        return outside > 0.0;
    }
};

}  // namespace ranvier::cable
