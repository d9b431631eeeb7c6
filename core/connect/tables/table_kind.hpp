#pragma once

#include <compare>
#include <cstdint>

#include "ranvier/base/ids.hpp"

namespace ranvier::connect {

/// What all synapses of a table have in common.
struct TableKind {
    std::uint32_t receptor = 0;  ///< that they reach: its place among those of the target's model
    /// How they transmit: numbers the different pairs (synapse model, shared parameters) of a network. 0 is the static
    /// synapse.
    std::uint32_t synapse = 0;

    friend constexpr auto operator<=>(const TableKind&, const TableKind&) = default;
};

/// Place of a kind in the list of those of a network: the same on all processes.
using KindIndex = StrongId<struct KindIndexTag, std::uint32_t>;

/// Handles of synapses have room for so many.
inline constexpr int kind_bits = 8;
inline constexpr std::uint32_t most_kinds = std::uint32_t{1} << kind_bits;

}  // namespace ranvier::connect
