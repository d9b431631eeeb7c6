#pragma once

#include <compare>
#include <cstdint>

#include "ranvier/base/ids.hpp"

namespace ranvier::connect {

/// Common properties of all synapses of a table.
struct TableKind {
    std::uint32_t receptor = 0;  ///< index among those of the target's model
    /// Number of the pair (synapse model, shared parameters) among those of a network. 0 is the static synapse.
    std::uint32_t synapse = 0;

    friend constexpr auto operator<=>(const TableKind&, const TableKind&) = default;
};

/// Index of a kind among those of a network: the same on all processes.
using KindIndex = StrongId<struct KindIndexTag, std::uint32_t>;

/// Limit given by the bits in handles of synapses.
inline constexpr int kind_bits = 8;
inline constexpr std::uint32_t most_kinds = std::uint32_t{1} << kind_bits;

}  // namespace ranvier::connect
