#pragma once

#include <cstdint>
#include <span>

namespace ranvier {

/// How many sites the neurons of a population have at one receptor: places at which a synapse can reach them.
struct SiteCounts {
    std::uint32_t least = 1;  ///< of any neuron
    std::uint32_t most = 1;
    /// Where neurons differ: the numbers of kinds of neurons, and the kind of each. Else empty.
    std::span<const std::uint32_t> of_kind = {};
    std::span<const std::uint32_t> kind_of = {};

    /// @param neuron its index within the population
    std::uint32_t of(std::uint64_t neuron) const { return of_kind.empty() ? most : of_kind[kind_of[neuron]]; }
};

}  // namespace ranvier
