#pragma once

#include <cstddef>
#include <cstdint>

#include "base/aligned_array.hpp"
#include "cable/kernels/eight.hpp"
#include "cable/kernels/membrane_kernel.hpp"
#include "cable/kernels/rate_table.hpp"
#include "ranvier/base/instruction_set.hpp"

/// Gates and currents of compartments with the same mechanisms, in one step of a block of cells; see BlockKernel.
namespace ranvier::cable {

/// Maximum number of gates of a compartment.
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
    const double* argument = nullptr;  ///< input of the gates: potentials, or logarithms of calcium
    const double* present = nullptr;  ///< of a packed block: see PackedPlan::Class
    double* gates = nullptr;  ///< [slot of the class][lane][gate], gates padded to whole quads
    std::size_t quads = 0;
    bool begins = false;  ///< whether the equations of its slots have not been initialised; see MembraneKernel
    const double* table = nullptr;  ///< null: gates have been advanced already
    double rows = 0.0;
    double lowest = 0.0;  ///< argument of the first row
    double rows_per_unit = 1.0;
    std::size_t current_count = 0;
    const KernelCurrent* currents = nullptr;
    /// Currents into pools, which set their reversal potential.
    std::size_t calcium_count = 0;
    const KernelCurrent* calcium_currents = nullptr;

    void look_up_in(const RateTable& rates) {
        table = rates.data();
        rows = static_cast<double>(rates.rows());
        lowest = rates.lowest();
        rows_per_unit = rates.rows_per_unit();
    }
};

/// `packed`: whether conductances are 8 numbers for each slot.
template <InstructionSet set, bool packed>
struct ClassKernel {
    using Lanes = Eight<set>;
    using Quad = Numbers<set, gates_of_quad>;

    /// Advances the gates, and adds the currents to the equations; `sums` are those of calcium conductances. Returns whether
    /// an argument was outside the table of rates.
    RANVIER_ALWAYS_INLINE static bool run(const KernelClass& compartments, const KernelMembrane& membrane,
                                          double* sums) {
        Lanes outside = Lanes::all(0.0);
        for (std::size_t s = 0; s < compartments.size; ++s) {
            alignas(line_bytes) double columns[most_gates * lanes];  // [gate][lane]
            const std::size_t first = compartments.slots[s] * lanes;
            if (compartments.table != nullptr) {
                advance(compartments, s, first, columns, outside);
            } else {
                look_up(compartments, s, columns);
            }
            add_currents(compartments, s, columns, membrane);
            // Their conductances are passed to the pools, which add the currents.
            for (std::size_t c = 0; c < compartments.calcium_count; ++c) {
                (Lanes::load(sums + first) + conductance(compartments.calcium_currents[c], s, columns))
                    .store(sums + first);
            }
        }
        alignas(line_bytes) double flags[lanes];
        outside.store(flags);
        double any = 0.0;
        for (const double flag : flags) any += flag;
        return any > 0.0;
    }

   private:
    RANVIER_ALWAYS_INLINE static void advance(const KernelClass& compartments, std::size_t s, std::size_t first,
                                              double* columns, Lanes& outside) {
        alignas(line_bytes) double f[lanes];
        alignas(line_bytes) std::int32_t row[lanes];
        Lanes place = (Lanes::load(compartments.argument + first) - Lanes::all(compartments.lowest)) *
                      Lanes::all(compartments.rows_per_unit);
        Lanes away = Lanes::all(0.0);
        place.keep_within(compartments.rows, away);
        outside = outside + (packed ? away * Lanes::load(compartments.present + s * lanes) : away);
        place.split(row).store(f);
        const std::size_t row_size = compartments.quads * numbers_of_quad;
        const std::size_t stride = compartments.quads * gates_of_quad;
        double* const gates = compartments.gates + s * lanes * stride;
        for (std::size_t q = 0; q < compartments.quads; ++q) {
            for (std::size_t begin = 0; begin < lanes; begin += 4) {
                Quad rows[4];
                for (std::size_t l = 0; l < 4; ++l) {
                    const auto number = static_cast<std::size_t>(row[begin + l]);
                    rows[l] = advance_quad(compartments.table + number * row_size + q * numbers_of_quad, f[begin + l],
                                           gates + (begin + l) * stride + q * gates_of_quad);
                }
                Quad::transpose(rows, columns + q * gates_of_quad * lanes + begin, lanes);
            }
        }
    }

    RANVIER_ALWAYS_INLINE static Quad advance_quad(const double* numbers, double f, double* gates) {
        Quad steady;
        Quad part;
        cubic(numbers, f, steady, part);
        const Quad before = Quad::load(gates);
        const Quad after = before + (steady - before) * part;
        after.store(gates);
        return after;
    }

    RANVIER_ALWAYS_INLINE static void look_up(const KernelClass& compartments, std::size_t s, double* columns) {
        const std::size_t stride = compartments.quads * gates_of_quad;
        const double* const gates = compartments.gates + s * lanes * stride;
        for (std::size_t q = 0; q < compartments.quads; ++q) {
            for (std::size_t begin = 0; begin < lanes; begin += 4) {
                Quad rows[4];
                for (std::size_t l = 0; l < 4; ++l) {
                    rows[l] = Quad::load(gates + (begin + l) * stride + q * gates_of_quad);
                }
                Quad::transpose(rows, columns + q * gates_of_quad * lanes + begin, lanes);
            }
        }
    }

    RANVIER_ALWAYS_INLINE static void add_currents(const KernelClass& compartments, std::size_t s,
                                                   const double* columns, const KernelMembrane& membrane) {
        using Membrane = MembraneKernel<set, packed>;
        const std::size_t slot = compartments.slots[s];
        double* const diagonal = membrane.diagonal + slot * lanes;
        double* const current = membrane.current + slot * lanes;
        Lanes d = compartments.begins ? Membrane::diagonal(membrane, slot) : Lanes::load(diagonal);
        Lanes i = compartments.begins ? Membrane::current(membrane, slot) : Lanes::load(current);
        for (std::size_t c = 0; c < compartments.current_count; ++c) {
            const Lanes g = conductance(compartments.currents[c], s, columns);
            d = d + g;
            i = i + g * Lanes::all(compartments.currents[c].reversal);
        }
        d.store(diagonal);
        i.store(current);
    }

    RANVIER_ALWAYS_INLINE static Lanes conductance(const KernelCurrent& term, std::size_t s, const double* columns) {
        Lanes g = packed ? Lanes::load(term.conductance + s * lanes) : Lanes::all(term.conductance[s]);
        for (std::uint32_t t = 0; t < term.gate_count; ++t) {
            const Lanes x = Lanes::load(columns + term.gates[t].gate * lanes);
            switch (term.gates[t].power) {
                case 1:
                    g = g * x;
                    break;
                case 2:
                    g = g * (x * x);
                    break;
                case 3:
                    g = g * (x * x * x);
                    break;
                case 4:
                    g = g * ((x * x) * (x * x));
                    break;
                default:
                    for (std::uint32_t p = 0; p < term.gates[t].power; ++p) g = g * x;
            }
        }
        return g;
    }
};

}  // namespace ranvier::cable
