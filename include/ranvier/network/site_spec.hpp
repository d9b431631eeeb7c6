#pragma once

#include <cstdint>
#include <variant>

#include "ranvier/base/shared_array.hpp"

namespace ranvier::network {

/// Probabilities of the sites of each target, in any unit.
struct SiteProbabilities {
    SharedArray values;
};

/// Which site of its target each synapse or stimulus reaches: all are as probable; one for all; one each; or drawn with
/// probabilities.
using SiteSpec = std::variant<std::monostate, std::uint64_t, SharedArray, SiteProbabilities>;

}  // namespace ranvier::network
