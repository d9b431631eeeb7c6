#pragma once

#include <cstdint>
#include <span>

namespace ranvier {

/// The number of sites, places that a synapse can reach, of the neurons of a population at one receptor.
struct SiteCounts {
    std::uint32_t least = 1;  ///< of any neuron
    std::uint32_t most = 1;
    /// Where neurons differ: the numbers of sites by kind of neuron, and the kind of each neuron. Otherwise empty.
    std::span<const std::uint32_t> of_kind = {};
    std::span<const std::uint32_t> kind_of = {};

    /// @param neuron index within the population
    std::uint32_t of(std::uint64_t neuron) const { return of_kind.empty() ? most : of_kind[kind_of[neuron]]; }
};

}  // namespace ranvier
