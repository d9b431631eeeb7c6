#pragma once

#include "device/kernel/random.hpp"

/// Poisson input on devices: the numbers of models/stimulators/poisson_sampler.hpp, whose words are those of base/random.hpp.
namespace ranvier::device {

/// Poisson spike trains for the targets of a signal.
struct PoissonInput {
    u32 threshold_count = 0;  ///< in a row of `thresholds`
    u32 key_low = 0;
    u32 key_high = 0;
    i64 delay = 1;
    const u64* ids = nullptr;  ///< by target
    PerTarget<double> weights;
    PerTarget<i64> starts;  ///< spikes are emitted in steps after this one,
    PerTarget<i64> stops;   ///< up to this one
    u32 means_vary = 0;
    /// A word below threshold k means more than k spikes. Beyond its length, a row has zeros.
    const u32* thresholds = nullptr;
    const u32* lengths = nullptr;      ///< of the rows: from so many spikes on, the tail decides
    const double* survival = nullptr;  ///< probabilities of more than k spikes, survival_count for each row
};
inline constexpr u32 survival_count = 192;

/// The number of spikes of a target that arrive in a step.
RANVIER_DEVICE u32 poisson_count(const PoissonInput& input, u32 target, i64 step) {
    // Purpose::poisson of base/random.hpp.
    constexpr u64 purpose = 6;
    const u32 row = input.means_vary != 0 ? target : 0;
    const u64 id = input.ids[target];
    const u64 block = static_cast<u64>(step) / 4;
    const Words words = philox(static_cast<u32>(block), static_cast<u32>(block >> 32), static_cast<u32>(id),
                               static_cast<u32>(id >> 32), input.key_low, input.key_high);
    const u32 which = static_cast<u32>(step) % 4;
    // Without an index, all are in registers.
    const u32 word =
        which < 2 ? (which == 0 ? words.values[0] : words.values[1]) : (which == 2 ? words.values[2] : words.values[3]);
    const u32* const limits = input.thresholds + u64{row} * input.threshold_count;
    u32 number = 0;
    while (number < input.threshold_count && word < limits[number]) ++number;
    const u32 length = input.lengths[row];
    if (length == 0 || number != length) return number;
    // Given that the word lies below the last threshold, u is uniform between 0 and the probability of the tail.
    const double* const survival = input.survival + u64{row} * survival_count;
    const u64 seed = input.key_low | u64{input.key_high} << 32;
    const u64 key = mix_bits(mix_bits(mix_bits(seed) ^ purpose) ^ static_cast<u64>(step));
    const Words more = philox(0, 0, static_cast<u32>(id), static_cast<u32>(id >> 32), static_cast<u32>(key),
                              static_cast<u32>(key >> 32));
    const double unit = open_unit(more.values[0] | u64{more.values[1]} << 32);
    const double u = (static_cast<double>(word) + unit) / static_cast<double>(limits[length - 1]);
    number = length;
    while (number < survival_count - 1 && u * survival[length - 1] < survival[number]) ++number;
    return number;
}

/// The sum of the weights of the spikes that arrive at a target in a step: -0.0 outside of its window.
RANVIER_DEVICE double poisson_sum(const PoissonInput& input, u32 target, i64 step) {
    const i64 time = step - input.delay;
    if (time < 1 || time <= input.starts.at(target) || time > input.stops.at(target)) return -0.0;
    // Also 0 is added: it is not -0.0.
    return input.weights.at(target) * static_cast<double>(poisson_count(input, target, time));
}

}  // namespace ranvier::device
