#pragma once

#include <cstddef>
#include <cstdint>

#include "base/aligned_array.hpp"
#include "base/instruction_set.hpp"
#include "base/math.hpp"
#include "cable/calcium_kernel.hpp"
#include "cable/eight.hpp"
#include "cable/rate_table.hpp"
#include "cable/receptor.hpp"

/// One step of a block of cells.
///
/// Nodes lie in slots of 8 lanes, so that what is done for one slot is done by whole vectors of any width: a slot is a node
/// of 8 cells of one shape. An array of a block has 8 numbers for each slot; constants that all cells share have one.
namespace ranvier::cable {

/// Of one compartment.
inline constexpr std::size_t most_gates = 64;

/// A current of a class of compartments: g V^0 - ..., see CurrentInfo.
struct KernelCurrent {
    static constexpr std::size_t most_gates = 4;

    const double* conductance = nullptr;  ///< nS, one number for each slot of the class, or 8
    double reversal = 0.0;                ///< mV
    std::uint32_t gate_count = 0;
    struct Power {
        std::uint32_t gate;
        std::uint32_t power;
    } gates[most_gates] = {};
};

/// Compartments with the same gates.
struct KernelClass {
    std::size_t size = 0;
    const std::uint32_t* slots = nullptr;
    const double* argument = nullptr;  ///< what the gates follow: potentials, or logarithms of calcium
    double* gates = nullptr;  ///< [slot of the class][lane][gate], gates filled up to whole quads
    std::size_t quads = 0;
    const double* table = nullptr;
    double rows = 0.0;
    double lowest = 0.0;  ///< argument of the first row
    double rows_per_unit = 1.0;
    std::size_t current_count = 0;
    const KernelCurrent* currents = nullptr;
    /// Currents into pools, which give their reversal potential.
    std::size_t calcium_count = 0;
    const KernelCurrent* calcium_currents = nullptr;
};

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
            const KernelClass& own = a->classes[c];
            if (own.table != nullptr && advance_gates(own)) left |= potential_has_left;
            add_currents(own, a->diagonal, a->current);
            if (own.calcium_count > 0) add_calcium_currents(own, a->pools.conductance);
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

    RANVIER_ALWAYS_INLINE static bool advance_gates(const KernelClass& own) {
        std::int32_t left = 0;
        const std::size_t row_size = own.quads * numbers_of_quad;
        const std::size_t stride = own.quads * gates_of_quad;
        for (std::size_t s = 0; s < own.size; ++s) {
            alignas(line_bytes) double f[lanes];
            alignas(line_bytes) std::int32_t row[lanes];
            const double* const v = own.argument + own.slots[s] * lanes;
            for (std::size_t l = 0; l < lanes; ++l) {
                const double x = (v[l] - own.lowest) * own.rows_per_unit;
                const bool inside = x >= 0.0 && x < own.rows;
                const double y = inside ? x : 0.0;
                left |= inside ? 0 : 1;
                row[l] = static_cast<std::int32_t>(y);
                f[l] = y - static_cast<double>(row[l]);
            }
            double* const gates = own.gates + s * lanes * stride;
            for (std::size_t l = 0; l < lanes; ++l) {
                const double* const numbers = own.table + static_cast<std::size_t>(row[l]) * row_size;
                for (std::size_t q = 0; q < own.quads; ++q) {
                    advance_quad(numbers + q * numbers_of_quad, f[l], gates + l * stride + q * gates_of_quad);
                }
            }
        }
        return left != 0;
    }

    RANVIER_ALWAYS_INLINE static void advance_quad(const double* numbers, double f, double* gates) {
        const double* const c0 = numbers;
        const double* const c1 = c0 + functions_of_quad;
        const double* const c2 = c1 + functions_of_quad;
        const double* const c3 = c2 + functions_of_quad;
        RANVIER_NO_OVERLAP
        for (std::size_t j = 0; j < gates_of_quad; ++j) {
            const std::size_t k = j + gates_of_quad;
            const double steady = c0[j] + f * (c1[j] + f * (c2[j] + f * c3[j]));
            const double part = c0[k] + f * (c1[k] + f * (c2[k] + f * c3[k]));
            gates[j] += (steady - gates[j]) * part;
        }
    }

    RANVIER_ALWAYS_INLINE static void add_currents(const KernelClass& own, double* diagonal, double* current) {
        const std::size_t stride = own.quads * gates_of_quad;
        for (std::size_t s = 0; s < own.size; ++s) {
            const double* const gates = own.gates + s * lanes * stride;
            double* const d = diagonal + own.slots[s] * lanes;
            double* const i = current + own.slots[s] * lanes;
            for (std::size_t c = 0; c < own.current_count; ++c) {
                const KernelCurrent& term = own.currents[c];
                alignas(line_bytes) double g[lanes];
                conductances(term, s, gates, stride, g);
                RANVIER_NO_OVERLAP
                for (std::size_t l = 0; l < lanes; ++l) {
                    d[l] += g[l];
                    i[l] += g[l] * term.reversal;
                }
            }
        }
    }

    /// Their conductances are only known to the pools, which add the currents.
    RANVIER_ALWAYS_INLINE static void add_calcium_currents(const KernelClass& own, double* sums) {
        const std::size_t stride = own.quads * gates_of_quad;
        for (std::size_t s = 0; s < own.size; ++s) {
            const double* const gates = own.gates + s * lanes * stride;
            double* const sum = sums + own.slots[s] * lanes;
            for (std::size_t c = 0; c < own.calcium_count; ++c) {
                alignas(line_bytes) double g[lanes];
                conductances(own.calcium_currents[c], s, gates, stride, g);
                for (std::size_t l = 0; l < lanes; ++l) sum[l] += g[l];
            }
        }
    }

    /// Of a current in a slot of a class.
    RANVIER_ALWAYS_INLINE static void conductances(const KernelCurrent& term, std::size_t s, const double* gates,
                                                   std::size_t stride, double* g) {
        for (std::size_t l = 0; l < lanes; ++l) g[l] = term.conductance[s];
        for (std::uint32_t t = 0; t < term.gate_count; ++t) {
            const double* const x = gates + term.gates[t].gate;
            multiply(g, x, stride, term.gates[t].power);
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

    RANVIER_ALWAYS_INLINE static void multiply(double* g, const double* x, std::size_t stride, std::uint32_t power) {
        switch (power) {
            case 1:
                for (std::size_t l = 0; l < lanes; ++l) g[l] *= x[l * stride];
                break;
            case 2:
                for (std::size_t l = 0; l < lanes; ++l) g[l] *= x[l * stride] * x[l * stride];
                break;
            case 3:
                for (std::size_t l = 0; l < lanes; ++l) g[l] *= x[l * stride] * x[l * stride] * x[l * stride];
                break;
            case 4:
                for (std::size_t l = 0; l < lanes; ++l) {
                    const double square = x[l * stride] * x[l * stride];
                    g[l] *= square * square;
                }
                break;
            default:
                for (std::uint32_t p = 0; p < power; ++p) {
                    for (std::size_t l = 0; l < lanes; ++l) g[l] *= x[l * stride];
                }
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

}  // namespace ranvier::cable
