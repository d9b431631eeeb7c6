#pragma once

#include "device/kernel/noise.hpp"
#include "device/kernel/poisson.hpp"

/// What stimuli add to the inputs and currents of neurons.
namespace ranvier::device {

/// Numbers that the host has calculated for some steps, and spikes that it knows.
struct Courses {
    i64 first = 1;              ///< the first of the steps
    u32 count = 0;              ///< courses
    const u32* rows = nullptr;  ///< [step - first][course]: the first number of its row, with common_row
    const double* values = nullptr;
    /// Where the spikes of a step begin, by step, and the end of the last one; null: there are none.
    const u32* played_begin = nullptr;
    const u16* played = nullptr;  ///< neurons of the block; those that fire several times are repeated
};
/// Bit of a row that has one number for all targets. Other rows have one for each.
inline constexpr u32 common_row = 0x8000'0000;

/// Some neurons of a group.
struct Targets {
    u32 first = 0;  ///< neuron of the group: target 0, if there is no list
    u32 count = 0;
    const i32* indices = nullptr;  ///< by neuron of the group: its index among the targets, or -1

    /// Returns false for neurons that are not among them.
    RANVIER_DEVICE bool find(u32 neuron, u32& target) const {
        if (indices == nullptr) {
            target = neuron - first;
            return target < count;
        }
        target = static_cast<u32>(indices[neuron]);
        return indices[neuron] >= 0;
    }
};

enum class SignalKind : u32 { course, poisson, noise };

/// A stimulus of a group.
struct Signal {
    SignalKind kind = SignalKind::course;
    u32 input = 0;  ///< a receptor, or current_input less the number of an electrode
    u32 course = 0;  ///< index among those of the block
    Targets targets;
    const PoissonInput* poisson = nullptr;
    const NoiseInput* noise = nullptr;
};
inline constexpr u32 current_input = 0xFFFF'FFFF;

/// The number, or zero of the same sign for a subnormal one: programs count these as zero.
RANVIER_DEVICE double normal_or_zero(double number) {
    return number > -0x1p-1022 && number < 0x1p-1022 ? number * 0.0 : number;
}

/// The kinds of a network as bits: code of others would take registers from all threads.
constexpr u32 bit_of(SignalKind kind) { return 1U << static_cast<u32>(kind); }
inline constexpr u32 all_signals = bit_of(SignalKind::course) | bit_of(SignalKind::poisson) | bit_of(SignalKind::noise);

/// The number that a stimulus adds for a target in a step: -0.0 if it adds none.
/// @tparam kinds that there may be
template <u32 kinds>
RANVIER_DEVICE double signal_number(const Signal& signal, const Courses& courses, u32 target, i64 step) {
    if constexpr ((kinds & bit_of(SignalKind::poisson)) != 0) {
        if (signal.kind == SignalKind::poisson) return poisson_sum(*signal.poisson, target, step);
    }
    if constexpr ((kinds & bit_of(SignalKind::noise)) != 0) {
        if (signal.kind == SignalKind::noise) return noise_current(*signal.noise, target, step);
    }
    if constexpr ((kinds & bit_of(SignalKind::course)) == 0) return -0.0;
    const u32 row = courses.rows[static_cast<u64>(step - courses.first) * courses.count + signal.course];
    return courses.values[(row & ~common_row) + ((row & common_row) != 0 ? 0 : target)];
}

}  // namespace ranvier::device
