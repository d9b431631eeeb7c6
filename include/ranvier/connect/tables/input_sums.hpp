#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "ranvier/base/ids.hpp"
#include "ranvier/base/instruction_set.hpp"

/// Inputs of neurons are exact sums, so that the order in which spikes are delivered cannot matter.
///
/// Weights are stored as they were given, rounded to single precision (24 bits) or not at all, and all that arrives in
/// a step at a receptor is summed without any rounding. All weights are multiples of a *quantum*, the least bit that
/// any of them has. So are their sums, which have at most
///
///     log2(number of inputs * greatest weight / quantum)
///
/// bits. While these are fewer than 53, sums in double precision are exact, which is the case for almost all networks. Where
/// they are more, as where weights are spread over many orders of magnitude, sums are taken in integers of 128 bits. What
/// a neuron gets is the exact sum, rounded once to double precision: the same bits, whichever way it was taken.
namespace ranvier::connect {

/// The range of the weights of the synapses of one receptor, on all processes.
struct WeightRange {
    double least = std::numeric_limits<double>::infinity();  ///< absolute value of one that is not zero
    double greatest = 0.0;                                   ///< absolute value
    /// A power of two that all weights are multiples of.
    double quantum = std::numeric_limits<double>::infinity();
    /// The most synapses of one neuron. A synapse whose source may fire several times in a step counts several times.
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
    /// Whether sums in 128 bits are: without the sign, and the bit that tells whether there is an input.
    bool fits_wide() const { return greatest_sum() <= 0x1p126 * rounding; }

   private:
    static constexpr double rounding = 1.0 - 0x1p-40;  ///< room for that of the bound itself
};

/// Rounds weights to what is stored, in single or double precision, and tells their range: of weights that single precision
/// cannot keep, as they were given.
WeightRange round_as_stored(InstructionSet set, std::span<double> weights, bool double_precision);

/// Least absolute value of a weight that is not zero: below, single precision loses bits of it (and double precision those
/// of the sums).
constexpr double least_weight(bool double_precision) { return double_precision ? 0x1p-900 : 0x1p-126; }

/// Integers that sums are taken in which double precision would round: (sum / unit) with the lowest bit set, or 0 where
/// nothing has arrived. The unit is half a quantum, so that weights leave the lowest bit free.
__extension__ using WideSum = __int128;

/// What one weight adds. @param exponent of the unit. @pre the weight is a multiple of two units.
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

/// The sum as neurons read it, rounded once; -0.0 where nothing has arrived. @param quantum two units
inline double from_wide(WideSum sum, double quantum) {
    return (sum & 1) == 0 ? -0.0 : static_cast<double>(sum >> 1) * quantum;
}

/// The input of one receptor of all neurons of a shard over the steps to come, as a ring of arrays. What arrives in step n
/// is summed in slot n mod slots.
struct InputRing {
    double* data = nullptr;
    std::size_t slot_stride = 0;  ///< elements between slots
    std::uint32_t slot_mask = 0;  ///< slots - 1; slots are a power of two
    std::int32_t exponent = 0;    ///< of the unit of wide sums
    WideSum* wide = nullptr;      ///< in place of `data`, where sums need more bits

    double* slot(Step step) const { return data + place_of(step); }
    WideSum* wide_slot(Step step) const { return wide + place_of(step); }
    /// Adds a number that the sums can hold to what arrives at an input in a step.
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
