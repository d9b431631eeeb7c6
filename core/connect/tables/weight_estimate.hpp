#pragma once

#include <cstdint>

#include "connect/tables/network_plan.hpp"
#include "ranvier/connect/tables/input_sums.hpp"

namespace ranvier::connect {

/// The range that the weights onto a receptor will have on all processes, before anything is drawn: medians over the random
/// numbers.
WeightRange expected_weights(const NetworkPlan& network, std::uint32_t receptor, bool double_weights);

/// The grid of what is added where a changing part of a weight arrives: as fine as leaves sums in double precision exact
/// beside all that reaches the receptor, up to 50 bits below the greatest weight; not coarser than that of weights that
/// learn.
/// @param greatest weight of the kind
double quantum_of_parts(const WeightRange& all, double greatest);

}  // namespace ranvier::connect
