#pragma once

#include "device/kernel/machine.hpp"

/// Poisson input on devices: the numbers of models/stimulators/poisson_sampler.hpp, whose words are those of base/random.hpp.
namespace ranvier::device {

/// Poisson spike trains for some neurons of a group, at one receptor.
struct PoissonInput {
    u32 receptor = 0;
    u32 first = 0;  ///< neuron of the group: target 0, if there is no list of targets
    u32 count = 0;
    u32 threshold_count = 0;  ///< in a row of `thresholds`
    u32 key_low = 0;
    u32 key_high = 0;
    i64 delay = 1;
    const i32* targets =
        nullptr;  ///< by neuron of the group: its index among the targets, or -1; null: those from `first` on
    const u64* ids = nullptr;      ///< by target
    // Values of all targets, or by target.
    const double* weights = nullptr;
    const i64* starts = nullptr;  ///< spikes are emitted in steps after this one,
    const i64* stops = nullptr;   ///< up to this one
    u32 weights_vary = 0;
    u32 windows_vary = 0;
    u32 means_vary = 0;
    /// A word below threshold k means more than k spikes. Beyond its length, a row has zeros.
    const u32* thresholds = nullptr;
    const u32* lengths = nullptr;      ///< of the rows: from so many spikes on, the tail decides
    const double* survival = nullptr;  ///< probabilities of more than k spikes, survival_count for each row
};
inline constexpr u32 survival_count = 192;

struct Words {
    u32 values[4];
};

/// Philox4x32-10 of Salmon et al. (2011).
RANVIER_DEVICE Words philox(u32 c0, u32 c1, u32 c2, u32 c3, u32 k0, u32 k1) {
    for (u32 round = 0; round < 10; ++round) {
        const u64 product0 = u64{0xD2511F53} * c0;
        const u64 product1 = u64{0xCD9E8D57} * c2;
        c0 = static_cast<u32>(product1 >> 32) ^ c1 ^ k0;
        c2 = static_cast<u32>(product0 >> 32) ^ c3 ^ k1;
        c1 = static_cast<u32>(product1);
        c3 = static_cast<u32>(product0);
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
    }
    return {{c0, c1, c2, c3}};
}

/// As ranvier::mix().
RANVIER_DEVICE u64 mix_bits(u64 z) {
    z += 0x9E3779B97F4A7C15ULL;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

/// As ranvier::to_open_unit(): whole numbers below 2^52 are exact, and so are these sums.
RANVIER_DEVICE double open_unit(u64 word) { return static_cast<double>(word >> 12) * 0x1p-52 + 0x1p-53; }

/// The number of spikes of a target that arrive in a step.
RANVIER_DEVICE u32 poisson_count(const PoissonInput& input, u32 target, i64 step) {
    // Purpose::poisson of base/random.hpp.
    constexpr u64 purpose = 6;
    const u32 row = input.means_vary != 0 ? target : 0;
    const u64 id = input.ids[target];
    const u64 block = static_cast<u64>(step) / 4;
    const Words words = philox(static_cast<u32>(block), static_cast<u32>(block >> 32), static_cast<u32>(id),
                               static_cast<u32>(id >> 32), input.key_low, input.key_high);
    const u32 word = words.values[static_cast<u64>(step) % 4];
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

/// Adds the weights of the spikes that arrive at a neuron of the group in a step to its input at the receptor of the trains.
RANVIER_DEVICE void add_poisson(const PoissonInput& input, u32 neuron, i64 step, double& sum) {
    u32 target = neuron - input.first;
    if (input.targets != nullptr) {
        if (input.targets[neuron] < 0) return;
        target = static_cast<u32>(input.targets[neuron]);
    } else if (target >= input.count) {
        return;
    }
    const i64 time = step - input.delay;
    const u32 window = input.windows_vary != 0 ? target : 0;
    if (time < 1 || time <= input.starts[window] || time > input.stops[window]) return;
    // Also 0 is added: it is not -0.0.
    sum +=
        input.weights[input.weights_vary != 0 ? target : 0] * static_cast<double>(poisson_count(input, target, time));
}

}  // namespace ranvier::device
