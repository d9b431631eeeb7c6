#pragma once

#include <cstdint>

#include "connect/tables/input_sums.hpp"
#include "connect/tables/network_plan.hpp"

namespace ranvier::connect {

/// The range that the weights onto a receptor will have on all processes, before anything is drawn: medians over the random
/// numbers.
WeightRange expected_weights(const NetworkPlan& network, std::uint32_t receptor, bool double_weights);

}  // namespace ranvier::connect
