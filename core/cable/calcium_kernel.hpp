#pragma once

#include <cstddef>
#include <cstdint>

#include "base/aligned_array.hpp"
#include "base/instruction_set.hpp"
#include "base/math.hpp"
#include "cable/eight.hpp"

/// Calcium in one step of a block of cells; see BlockKernel.
///
/// A step goes on from the concentrations at its begin. They give the reversal potential of calcium currents, as they are or,
/// `staggered`, as they should be in the middle of the step. What has flown through these currents by the new potentials,
/// then, gives the concentrations at the end.
namespace ranvier::cable {

/// What a step tells of values that have left their bounds.
inline constexpr std::uint32_t potential_has_left = 1;
inline constexpr std::uint32_t calcium_has_left = 2;

/// mM: concentrations have their logarithms within the tables of rates; see calcium_range.
inline constexpr double lowest_calcium = 1e-9;
inline constexpr double highest_calcium = 1e3;

/// Pools of calcium. Constants are one number for each, or, in a packed block, 8.
struct KernelPools {
    std::size_t size = 0;
    const std::uint32_t* slots = nullptr;
    const double* rest = nullptr;         ///< mM
    const double* log_outside = nullptr;  ///< logarithm of a concentration in mM
    const double* decay = nullptr;        ///< what is left of the distance from rest after a step
    const double* gain = nullptr;         ///< mM/pA: how far a current moves the concentration in a step
    const double* half_decay = nullptr;   ///< the same for half a step
    const double* half_gain = nullptr;
    double nernst = 0.0;  ///< mV: R T / (2 F)
    double* concentration = nullptr;  ///< mM [pool][lane]
    // Of the step [slot][lane]; defined where there are pools.
    double* logarithm = nullptr;    ///< of concentrations
    double* conductance = nullptr;  ///< nS, of all calcium currents
    double* reversal = nullptr;     ///< mV
};

template <bool staggered, bool packed>
struct CalciumKernel {
    RANVIER_ALWAYS_INLINE static void begin(const KernelPools& pools) {
        for (std::size_t p = 0; p < pools.size; ++p) {
            const double* const calcium = pools.concentration + p * lanes;
            double* const logarithm = pools.logarithm + pools.slots[p] * lanes;
            double* const conductance = pools.conductance + pools.slots[p] * lanes;
            RANVIER_NO_OVERLAP
            for (std::size_t l = 0; l < lanes; ++l) {
                logarithm[l] = math::log(calcium[l]);
                conductance[l] = 0.0;
            }
        }
    }

    /// Adds the calcium currents, whose conductances are known now, to the equations of potentials.
    RANVIER_ALWAYS_INLINE static void add(const KernelPools& pools, const double* potential, double* diagonal,
                                          double* current) {
        for (std::size_t p = 0; p < pools.size; ++p) {
            const std::size_t first = pools.slots[p] * lanes;
            const double* const calcium = pools.concentration + p * lanes;
            const double* const g = pools.conductance + first;
            const double* const v = potential + first;
            alignas(line_bytes) double e[lanes];
            for (std::size_t l = 0; l < lanes; ++l) {
                e[l] = pools.nernst * (of(pools.log_outside, p, l) - pools.logarithm[first + l]);
            }
            if constexpr (staggered) {
                for (std::size_t l = 0; l < lanes; ++l) {
                    const double middle = of(pools.rest, p, l) +
                                          (calcium[l] - of(pools.rest, p, l)) * of(pools.half_decay, p, l) +
                                          g[l] * (v[l] - e[l]) * of(pools.half_gain, p, l);
                    const double bounded = middle > lowest_calcium ? middle : lowest_calcium;
                    e[l] = pools.nernst * (of(pools.log_outside, p, l) - math::log(bounded));
                }
            }
            double* const reversal = pools.reversal + first;
            double* const d = diagonal + first;
            double* const i = current + first;
            RANVIER_NO_OVERLAP
            for (std::size_t l = 0; l < lanes; ++l) {
                reversal[l] = e[l];
                d[l] += g[l];
                i[l] += g[l] * e[l];
            }
        }
    }

    /// @param solved potentials at the end of the step, or in its middle. Returns whether a concentration has left its bounds.
    RANVIER_ALWAYS_INLINE static std::uint32_t finish(const KernelPools& pools, const double* solved) {
        std::uint32_t left = 0;
        for (std::size_t p = 0; p < pools.size; ++p) {
            const std::size_t first = pools.slots[p] * lanes;
            double* const calcium = pools.concentration + p * lanes;
            const double* const g = pools.conductance + first;
            const double* const e = pools.reversal + first;
            const double* const v = solved + first;
            for (std::size_t l = 0; l < lanes; ++l) {
                const double next = of(pools.rest, p, l) + (calcium[l] - of(pools.rest, p, l)) * of(pools.decay, p, l) +
                                    g[l] * (v[l] - e[l]) * of(pools.gain, p, l);
                const bool inside = next > lowest_calcium && next < highest_calcium;
                calcium[l] = inside ? next : of(pools.rest, p, l);
                left |= inside ? 0 : calcium_has_left;
            }
        }
        return left;
    }

   private:
    RANVIER_ALWAYS_INLINE static double of(const double* constants, std::size_t pool, std::size_t lane) {
        return constants[packed ? pool * lanes + lane : pool];
    }
};

}  // namespace ranvier::cable
