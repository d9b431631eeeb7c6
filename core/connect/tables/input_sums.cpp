#include "ranvier/connect/tables/input_sums.hpp"

#include <cmath>

namespace ranvier::connect {

namespace {

constexpr std::uint32_t bits_of_no_weight = UINT32_MAX;

/// Results of a loop over weights, from the bits of their absolute values, which have the order of the numbers.
struct FoundBits {
    std::uint32_t least_less_one = bits_of_no_weight;  ///< zeros wrap around to the greatest number
    std::uint32_t greatest = 0;
    bool lost = false;  ///< a weight has become zero
};

/// Rounds weights to single precision. A weight of -0.0 becomes 0.0.
struct RoundToSingle {
    RANVIER_ALWAYS_INLINE static void run(double* __restrict weights, std::size_t count, FoundBits* found) {
        std::uint32_t least = found->least_less_one;
        std::uint32_t greatest = found->greatest;
        std::uint64_t lost = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const double given = weights[i];
            const double stored = static_cast<double>(static_cast<float>(given)) + 0.0;
            lost |= stored == 0.0 && given != 0.0 ? ~std::uint64_t{0} : std::uint64_t{0};
            weights[i] = stored;
        }
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint32_t bits = std::bit_cast<std::uint32_t>(static_cast<float>(weights[i])) & 0x7FFFFFFF;
            least = bits - 1 < least ? bits - 1 : least;
            greatest = bits > greatest ? bits : greatest;
        }
        found->least_less_one = least;
        found->greatest = greatest;
        found->lost = found->lost || lost != 0;
    }
};

double least_of(std::span<const double> weights) {
    double least = std::numeric_limits<double>::infinity();
    for (const double weight : weights) {
        if (weight != 0.0) least = std::min(least, std::abs(weight));
    }
    return least;
}

/// The power of two of the lowest bit of a nonzero number.
int exponent_of_lowest_bit(double weight) {
    const auto bits = std::bit_cast<std::uint64_t>(weight);
    const std::uint64_t mantissa = (bits & 0xFFFFFFFFFFFFF) | std::uint64_t{1} << 52;
    return static_cast<int>(bits >> 52 & 0x7FF) - 1075 + std::countr_zero(mantissa);
}

WeightRange round_single(InstructionSet set, std::span<double> weights) {
    // Blocks that stay in the nearest cache between the two loops over them.
    constexpr std::size_t block = 512;
    FoundBits found;
    WeightRange range;
    for (std::size_t begin = 0; begin < weights.size(); begin += block) {
        const std::size_t count = std::min(block, weights.size() - begin);
        const bool lost_before = found.lost;
        double given[block];
        std::copy_n(weights.data() + begin, count, given);
        Dispatched<RoundToSingle>::call(set, weights.data() + begin, count, &found);
        if (found.lost && !lost_before) range.least = least_of({given, count});
    }
    if (found.least_less_one == bits_of_no_weight) return range;
    range.least = std::min(range.least, static_cast<double>(std::bit_cast<float>(found.least_less_one + 1)));
    range.greatest = static_cast<double>(std::bit_cast<float>(found.greatest));
    range.quantum = quantum_of_single(range.least);
    return range;
}

WeightRange round_double(std::span<double> weights) {
    WeightRange range;
    int exponent = std::numeric_limits<int>::max();
    for (double& weight : weights) {
        weight += 0.0;  // -0.0 becomes 0.0
        if (weight == 0.0) continue;
        range.least = std::min(range.least, std::abs(weight));
        range.greatest = std::max(range.greatest, std::abs(weight));
        exponent = std::min(exponent, exponent_of_lowest_bit(weight));
    }
    if (range.greatest > 0.0) range.quantum = std::ldexp(1.0, exponent);
    return range;
}

}  // namespace

double quantum_of_single(double least) {
    constexpr int fraction_bits = 23;
    return std::ldexp(1.0, std::ilogb(least) - fraction_bits);
}

WeightRange round_as_stored(InstructionSet set, std::span<double> weights, bool double_precision) {
    return double_precision ? round_double(weights) : round_single(set, weights);
}

}  // namespace ranvier::connect
