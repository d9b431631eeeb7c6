#pragma once

#include <cstddef>
#include <cstdint>

/// The binary interface of functions that advance neurons by a step: the interpreter, or code compiled for a program.
///
/// A step function is a stateless C function. It advances some lanes, each of which is a neuron, by one step: it
/// executes the program of the step (models/equations/program_description.hpp) in each lane independently. Several
/// threads call it concurrently, with separate arguments. It must not throw, keep pointers, or change the rounding mode
/// of the processor; while it runs, subnormal numbers count as 0 (base/subnormals.hpp). It accesses only the memory
/// listed here.
///
/// Members have C's layout on x86-64: all of them, including pointers, have 8 bytes and follow in this order without
/// gaps; the offset of the n-th (from 0) is 8 n. `version` changes with the interface.
namespace ranvier::program {

inline constexpr std::uint64_t step_function_version = 2;

/// The number of lanes of a call is a multiple of this, so that vectors of any width leave no remainder.
inline constexpr std::size_t lane_multiple = 64;

/// Greatest number of array elements that step functions read at once.
inline constexpr std::size_t widest_vector = 16;

/// The arguments of step functions. Unless stated otherwise, each array has `lanes` elements, one for each lane. No
/// number of state, constants or `current` is subnormal: whether an operation that only selects a number, as minimum
/// does, passes a subnormal one unchanged or as 0 depends on the processor's instruction. Arrays of state, constants
/// and `release` are aligned to 64 bytes; `inputs` and `current` only as their type requires. No two arrays overlap.
struct StepArguments {
    std::uint64_t lanes;  ///< a multiple of lane_multiple, greater than 0
    /// Lanes that are neurons, from 1 to `lanes`. The lanes after them are padding: their values are arbitrary
    /// (including NaN), but they must not prolong a loop.
    std::uint64_t valid;
    double* const* state;  ///< by variable; before the step; after it when the function returns
    /// By constant. If `constants_per_lane` is 0, the first element of each array is the value of all lanes.
    const double* const* constants;
    std::uint64_t constants_per_lane;
    /// By receptor: the sum of the weights that arrived, or -0.0 without any. The program gets the sum + 0.0, so that
    /// it never receives -0.0, and the function resets the array to -0.0.
    double* const* inputs;
    const double* current;  ///< pA; null: 0 in all lanes
    /// A lane is refractory in this step if its element is >= clock, for the last time if it is clock.
    const std::int32_t* release;
    std::int64_t clock;  ///< from 1 to 2^30
    /// By index of a draw: 64 random bits w for each lane, null if no instruction has this index. A uniform_draw is
    /// to_open_unit(w) and a normal_draw math::normal_quantile(to_open_unit(w)) (base/random.hpp, base/math.hpp).
    const std::uint64_t* const* draws;
    /// Lane k is bit k % 8 of byte k / 8: whether the neuron fires. All `lanes / 8` bytes are written if the function
    /// returns `some_fire`; otherwise they may be left unchanged.
    std::uint8_t* fires;
    /// The same for `some_fail`: whether one of the last results of the program, which must be true, is false.
    std::uint8_t* failures;
    /// The registered context: null for compiled code; the interpreter with its program and buffers otherwise.
    void* context;
    /// By constant: all bits set if the array has an element for each lane, and none if it has `widest_vector` equal
    /// elements for all lanes. So lane k has element k & mask, as long as no vector crosses a multiple of its size.
    const std::uint64_t* constant_masks;
};

/// Return values of a step function, or 0. Padding lanes may be included; readers of the bits exclude them.
inline constexpr std::uint32_t some_fire = 1;
inline constexpr std::uint32_t some_fail = 2;

using StepFunction = std::uint32_t (*)(const StepArguments* arguments);

}  // namespace ranvier::program
