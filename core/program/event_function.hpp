#pragma once

#include <cstddef>
#include <cstdint>

/// The binary interface of compiled code for a synapse event: the effect of a spike of one side on weights.
///
/// An event function is a stateless C function. It executes the program of an event
/// (models/equations/program_synapse.hpp) for some synapses, independently of each other. Several threads call it
/// concurrently, with separate arguments. It must not throw, keep pointers, or change the rounding mode of the
/// processor; while it runs, subnormal numbers count as 0 (base/subnormals.hpp). It accesses only the memory listed
/// here.
///
/// Members have the layout of StepArguments (program/step_function.hpp): the offset of the n-th (from 0) is 8 n.
namespace ranvier::program {

inline constexpr std::uint64_t event_function_version = 1;

/// The number of synapses of a call is a multiple of this.
inline constexpr std::size_t event_multiple = 16;

/// Arrays have the precision of the stored weights, for which the function is compiled, and are aligned to 64 bytes.
/// Programs receive numbers in double precision, + 0.0, and stored values are rounded to the precision of weights, +
/// 0.0: so neither is subnormal or -0.0. No two arrays overlap.
struct EventArguments {
    std::uint64_t count;  ///< a multiple of event_multiple, greater than 0
    void* weights;  ///< before the spike; after it when the function returns
    const void* traces;  ///< of the spikes of the other side
    const void* same_side;  ///< of earlier spikes of the same side; null if the program does not read them
    /// One array for each per-synapse parameter, in the order of the parameters.
    const void* const* parameters;
    const double* uniforms;  ///< computed by the function's UniformsFunction from the other parameters
};

using EventFunction = void (*)(const EventArguments* arguments);

/// Computes the values that are equal for all synapses from the parameters. It writes at most as many numbers as the
/// program has inputs and instructions, and does not read per-synapse parameters.
using UniformsFunction = void (*)(const double* parameters, double* uniforms);

}  // namespace ranvier::program
