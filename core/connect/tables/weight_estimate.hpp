#pragma once

#include <cstdint>

#include "connect/tables/network_plan.hpp"
#include "ranvier/connect/tables/input_sums.hpp"

namespace ranvier::connect {

/// The expected range of the weights onto a receptor on all processes, before anything is drawn: medians over the
/// random numbers.
WeightRange expected_weights(const NetworkPlan& network, std::uint32_t receptor, bool double_weights);

/// The grid of contributions with a varying part of a weight: as fine as sums in double precision stay exact together
/// with all other contributions to the receptor, up to 50 bits below the greatest weight; not coarser than that of
/// weights that learn.
/// @param greatest weight of the kind
double quantum_of_parts(const WeightRange& all, double greatest);

}  // namespace ranvier::connect
