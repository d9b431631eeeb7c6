#pragma once

#include <cstddef>
#include <cstdint>

/// The binary interface of code that was compiled for an event of synapses: what a spike of one side does to weights.
///
/// An event function is a C function without state. It carries out the program of an event (models/program_synapse.hpp) for
/// some synapses, which know nothing of each other. It is called by several threads at the same time, each with arguments of its
/// own. It must not throw, keep pointers, or change the way in which the processor rounds; while it runs, subnormal numbers
/// count as 0 (base/subnormals.hpp). It reads and writes nothing else than what is named here.
///
/// Members are laid out as those of StepArguments (program/step_function.hpp): the offset of the n-th (from 0) is 8 n.
namespace ranvier::program {

inline constexpr std::uint64_t event_function_version = 1;

/// Synapses of a call are a multiple of this.
inline constexpr std::size_t event_multiple = 16;

/// Arrays are of the precision in which weights are stored, which the function is made for, and begin at multiples of 64 bytes.
/// Programs see numbers in double precision, + 0.0, and what is stored is rounded to that of weights, + 0.0: so neither is
/// subnormal or -0.0. No two arrays overlap.
struct EventArguments {
    std::uint64_t count;  ///< a multiple of event_multiple, greater than 0
    void* weights;  ///< before the spike, and when the function returns after it
    const void* traces;  ///< of the spikes of the other side
    const void* own;  ///< of those of this side before this one; null where the program does not read it
    /// Of parameters of which each synapse has a value of its own, an array each, in the order of the parameters.
    const void* const* parameters;
    const double* uniforms;  ///< what the function that belongs to this one has made of the other parameters
};

using EventFunction = void (*)(const EventArguments* arguments);

/// Makes, of all parameters, what does not differ between synapses. At most as many numbers are written as the program has
/// inputs and instructions. Parameters of which each synapse has a value of its own are not read.
using UniformsFunction = void (*)(const double* parameters, double* uniforms);

}  // namespace ranvier::program
