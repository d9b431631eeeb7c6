#pragma once

#include <cstddef>
#include <cstdint>

#include "ranvier/base/ids.hpp"
#include "ranvier/base/instruction_set.hpp"
#include "ranvier/connect/tables/input_sums.hpp"

namespace ranvier::connect::detail {

template <class Target, class Weight>
struct ScaledArguments {
    const std::uint64_t* begins;
    const std::uint64_t* ends;
    const double* factors;  ///< of rows
    std::size_t count;
    const Target* targets;
    const Weight* weights;
    const std::uint8_t* narrow_delays;  ///< in 8 or in 16 bits; both null if all are equal
    const std::uint16_t* wide_delays;
    Step base;  ///< step in which the shortest delay arrives
    InputRing inputs;
    double to_grid;  ///< adding and subtracting it rounds to the grid of the sums
    std::size_t ahead;  ///< number of rows to prefetch ahead
};

/// Adds all synapses of each row at once, each to the slot of its arrival: the weight times the factor of the row,
/// rounded to the grid of the sums.
/// @param arguments targets of 16 or 32 bits, weights of either precision
template <class Target, class Weight>
void deliver_scaled(InstructionSet set, const ScaledArguments<Target, Weight>& arguments);

}  // namespace ranvier::connect::detail
