#pragma once

#include "base/math.hpp"
#include "device/kernel/random.hpp"

/// Noise currents on devices: the numbers of models/stimulators/noise_generator.cpp.
namespace ranvier::device {

/// Noise currents for the targets of a signal.
struct NoiseInput {
    u32 key_low = 0;
    u32 key_high = 0;
    i64 delay = 1;
    const u64* ids = nullptr;  ///< by target
    PerTarget<double> weights;
    PerTarget<double> means;
    PerTarget<double> deviations;
    PerTarget<double> modulations;
    PerTarget<double> cycles_per_step;
    PerTarget<double> phases;  ///< cycles
    PerTarget<i64> starts;     ///< a current is emitted from this step on,
    PerTarget<i64> stops;      ///< before this one
    PerTarget<i64> intervals;  ///< steps for which a number holds
};

/// The current of a target in a step: -0.0 outside of its window.
RANVIER_DEVICE double noise_current(const NoiseInput& input, u32 target, i64 step) {
    const i64 time = step - 1 - input.delay;
    const i64 start = input.starts.at(target);
    if (time < 0 || time < start || time >= input.stops.at(target)) return -0.0;
    const i64 interval = input.intervals.at(target);
    const i64 draw = (time - start) / interval;
    const Words words = stream_block(input.key_low, input.key_high, input.ids[target], static_cast<u64>(draw) / 2);
    const double normal = math::normal_quantile(open_unit(word64(words, draw % 2 != 0)));
    const double sine = math::sin_cycles(
        input.cycles_per_step.at(target) * static_cast<double>(start + draw * interval) + input.phases.at(target));
    const double deviation = input.deviations.at(target);
    const double modulation = input.modulations.at(target);
    const double variance = deviation * deviation + modulation * modulation * sine;
    const double size = __builtin_sqrt(variance < 0.0 ? 0.0 : variance);
    return (input.means.at(target) + size * normal) * input.weights.at(target);
}

}  // namespace ranvier::device
