#pragma once

#include <cstddef>
#include <cstdint>

/// The binary interface of what advances neurons by a step: the interpreter, or code that was compiled for a program.
///
/// A step function is a C function without state. It advances some lanes, each of which is a neuron, by one step: it
/// carries out the program of the step (models/program_description.hpp) in each lane, which knows nothing of the others. It is
/// called by several threads at the same time, each with arguments of its own. It must not throw, keep pointers, or change
/// the way in which the processor rounds; while it runs, subnormal numbers count as 0 (base/subnormals.hpp). It reads and
/// writes nothing else than what is named here.
///
/// Members are laid out as C does it on x86-64: all of them, pointers too, have 8 bytes, and stand in this order without
/// gaps; the offset of the n-th (from 0) is 8 n. `version` tells of changes.
namespace ranvier::program {

inline constexpr std::uint64_t step_function_version = 2;

/// Lanes of a call are a multiple of this, so that vectors of any width need no rest.
inline constexpr std::size_t lane_multiple = 64;

/// Step functions read at most so many elements of an array at once.
inline constexpr std::size_t widest_vector = 16;

/// What step functions read and write. Each array has `lanes` elements, and of lane k element k, unless something else is
/// said. No number of state, constants or `current` is subnormal: whether an operation that only chooses a number, as minimum
/// does, takes a subnormal one as it is or as 0 depends on the processor's instruction. Arrays of state, constants and `release` begin at a multiple of 64 bytes; `inputs` and `current` may begin anywhere
/// that their type allows. No two arrays overlap.
struct StepArguments {
    std::uint64_t lanes;  ///< a multiple of lane_multiple, greater than 0
    /// Lanes that are neurons, from 1 to `lanes`. Those from here on only fill up vectors: their numbers are of no account
    /// (they may be anything, not a number too), but they must not keep a loop going.
    std::uint64_t valid;
    double* const* state;  ///< by variable; before the step, and when the function returns after it
    /// By constant. Where `constants_per_lane` is 0, the first element of each of these arrays is that of all lanes.
    const double* const* constants;
    std::uint64_t constants_per_lane;
    /// By receptor: the sum of the weights that arrived, or -0.0 where none did. The program gets the sum + 0.0, so that it
    /// never sees -0.0, and the function leaves -0.0 in the array.
    double* const* inputs;
    const double* current;  ///< pA; null: 0 in all lanes
    const std::int32_t*
        release;  ///< a lane is refractory in this step if its element is >= clock, for the last time if it is clock
    std::int64_t clock;  ///< from 1 to 2^30
    /// By index of a draw: 64 random bits w for each lane, null where no instruction has this index. A uniform_draw is
    /// to_open_unit(w) and a normal_draw math::normal_quantile(to_open_unit(w)) (base/random.hpp, base/math.hpp).
    const std::uint64_t* const* draws;
    /// Lane k is bit k % 8 of byte k / 8: whether the neuron fires. All `lanes / 8` bytes are written if the function
    /// returns `some_fire`; else they may be left as they are.
    std::uint8_t* fires;
    /// The same for `some_fail`: whether one of the last results of the program, which must be true, is not.
    std::uint8_t* failures;
    /// What the function was registered with: null for compiled code; the interpreter keeps its program and its room there.
    void* context;
    /// By constant: all bits are set if the array has an element for each lane, and none if it has `widest_vector` equal
    /// elements for all lanes. So lane k has element k & mask, as long as no vector goes over a multiple of its size.
    const std::uint64_t* constant_masks;
};

/// What a step function returns, or 0. A lane that is no neuron may count too; whoever reads the bits leaves it out.
inline constexpr std::uint32_t some_fire = 1;
inline constexpr std::uint32_t some_fail = 2;

using StepFunction = std::uint32_t (*)(const StepArguments* arguments);

}  // namespace ranvier::program
