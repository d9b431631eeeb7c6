#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "ranvier/base/ids.hpp"
#include "ranvier/base/instruction_set.hpp"

/// Inputs of neurons are exact sums, so that the order of delivery does not matter.
///
/// Weights are stored as given, rounded to single precision (24 bits) or not at all, and all weights that arrive in a
/// step at a receptor are summed without rounding. All weights are multiples of a *quantum*, the lowest bit of any of
/// them. So are their sums, which have at most
///
///     log2(number of inputs * greatest weight / quantum)
///
/// bits. Below 53 bits, sums in double precision are exact, which holds for almost all networks. Otherwise, as for
/// weights spread over many orders of magnitude, sums are taken in integers of 128 bits. Neurons receive the exact sum,
/// rounded once to double precision: the same bits in either case.
namespace ranvier::connect {

/// The range of the weights of the synapses of one receptor, on all processes.
struct WeightRange {
    double least = std::numeric_limits<double>::infinity();  ///< least absolute value other than zero
    double greatest = 0.0;  ///< greatest absolute value
    /// A power of two of which all weights are multiples.
    double quantum = std::numeric_limits<double>::infinity();
    /// Greatest number of synapses of one neuron. A synapse whose source may fire several times in a step counts
    /// several times.
    std::uint64_t most_inputs = 0;

    void join(const WeightRange& other) {
        least = std::min(least, other.least);
        greatest = std::max(greatest, other.greatest);
        quantum = std::min(quantum, other.quantum);
        most_inputs = std::max(most_inputs, other.most_inputs);
    }
    /// Bound on sums, in quanta.
    double greatest_sum() const {
        return greatest == 0.0 ? 0.0
                               : static_cast<double>(std::max<std::uint64_t>(most_inputs, 1)) * greatest / quantum;
    }
    /// Whether sums in double precision are exact.
    bool fits_double() const { return greatest_sum() <= 0x1p53 * rounding; }
    /// Whether sums in 128 bits are exact: without the sign, and the bit that marks the presence of an input.
    bool fits_wide() const { return greatest_sum() <= 0x1p126 * rounding; }

   private:
    static constexpr double rounding = 1.0 - 0x1p-40;  ///< margin for the rounding of the bound itself
};

/// A power of two of which all weights in single precision are multiples whose absolute values are at least `least`, if they
/// are not 0.
double quantum_of_single(double least);

/// Rounds weights to the stored precision, single or double, and returns their range; for weights outside the range of
/// single precision, that of the given weights.
WeightRange round_as_stored(InstructionSet set, std::span<double> weights, bool double_precision);

/// Least absolute value of a nonzero weight: smaller weights lose bits in single precision (and in double precision,
/// the sums do).
constexpr double least_weight(bool double_precision) { return double_precision ? 0x1p-900 : 0x1p-126; }

/// Integer sums for values that double precision would round: (sum / unit) with the lowest bit set, or 0 without any
/// input. The unit is half a quantum, so that weights leave the lowest bit free.
__extension__ using WideSum = __int128;

/// The contribution of one weight. @param exponent of the unit. @pre the weight is a multiple of two units.
RANVIER_ALWAYS_INLINE WideSum to_wide(double weight, std::int32_t exponent) {
    const auto bits = std::bit_cast<std::uint64_t>(weight);
    const auto field = static_cast<std::int32_t>(bits >> 52 & 0x7FF);
    if (field == 0) return 0;
    const auto mantissa = static_cast<std::int64_t>((bits & 0xFFFFFFFFFFFFF) | std::uint64_t{1} << 52);
    const std::int64_t value = (bits >> 63) != 0 ? -mantissa : mantissa;
    const std::int32_t shift = field - 1075 - exponent;
    return shift >= 0 ? WideSum{value} << shift : WideSum{value >> -shift};
}

/// Adds a weight.
RANVIER_ALWAYS_INLINE void add_wide(WideSum& sum, double weight, std::int32_t exponent) {
    sum = (sum + to_wide(weight, exponent)) | 1;
}

/// The sum as read by neurons, rounded once; -0.0 without any input. @param quantum two units
inline double from_wide(WideSum sum, double quantum) {
    return (sum & 1) == 0 ? -0.0 : static_cast<double>(sum >> 1) * quantum;
}

/// The input of one receptor of all neurons of a shard over the following steps, as a ring of arrays. Arrivals of step
/// n are summed in slot n mod slots.
struct InputRing {
    double* data = nullptr;
    std::size_t slot_stride = 0;  ///< elements between slots
    std::uint32_t slot_mask = 0;  ///< slots - 1; slots are a power of two
    std::int32_t exponent = 0;    ///< of the unit of wide sums
    WideSum* wide = nullptr;      ///< instead of `data`, if sums need more bits

    double* slot(Step step) const { return data + place_of(step); }
    WideSum* wide_slot(Step step) const { return wide + place_of(step); }
    /// Adds a number, which the sums must be able to represent, to an input in a step.
    RANVIER_ALWAYS_INLINE void add(Step step, std::size_t input, double number) const {
        if (wide == nullptr) {
            slot(step)[input] += number;
        } else {
            add_wide(wide_slot(step)[input], number, exponent);
        }
    }

   private:
    std::size_t place_of(Step step) const { return (static_cast<std::uint64_t>(step) & slot_mask) * slot_stride; }
};

}  // namespace ranvier::connect
