#pragma once

#include <cstdint>
#include <variant>

#include "ranvier/base/shared_array.hpp"

namespace ranvier::network {

/// Probabilities of the sites of each target, in any unit.
struct SiteProbabilities {
    SharedArray values;
};

/// The site of the target of each synapse or stimulus: drawn with equal probabilities; one for all; one each; or
/// drawn with given probabilities.
using SiteSpec = std::variant<std::monostate, std::uint64_t, SharedArray, SiteProbabilities>;

}  // namespace ranvier::network
