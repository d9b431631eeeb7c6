#include "connect/tables/weight_estimate.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "base/saturation.hpp"

namespace ranvier::connect {

namespace {

/// The least absolute value of so many weights: where they lie around zero, the density there is taken to be as high as on
/// average.
double expected_least(const ProjectionPlan& plan, double count, double low, double high) {
    if (std::isfinite(plan.weights.least_magnitude())) return plan.weights.least_magnitude();
    if (low > 0.0 || high < 0.0) return std::min(std::abs(low), std::abs(high));
    return (high - low) / std::max(1.0, count);
}

/// As it will be stored, if there are no other weights.
WeightRange stored_range(double least, double greatest, bool double_weights) {
    std::vector<double> weights{least, greatest};
    return round_as_stored(InstructionSet::baseline, weights, double_weights);
}

}  // namespace

WeightRange expected_weights(const NetworkPlan& network, std::uint32_t receptor, bool double_weights) {
    WeightRange all;
    std::map<std::uint32_t, double> inputs;  // by population
    for (const ProjectionPlan& plan : network.projections) {
        // Where the sign is drawn, all are taken to be those of weights >= 0.
        if (network.receptor(plan.positive_kind) != receptor || plan.pairs.sources == 0 || plan.pairs.targets == 0)
            continue;
        const double count = plan.sampler->expected_synapses();
        if (count == 0.0) continue;
        const auto [low, high] = plan.weights.expected_range(count);
        const double greatest = std::max(std::abs(low), std::abs(high));
        if (greatest == 0.0) continue;
        all.join(stored_range(expected_least(plan, count, low, high), greatest, double_weights));
        const double mean = plan.most_spikes * count / static_cast<double>(plan.pairs.targets);
        for (const PopulationId id : plan.target_populations) inputs[id.value] += mean;
    }
    double most = 0.0;
    for (const auto& [population, mean] : inputs) most = std::max(most, mean);
    all.most_inputs = to_saturated(most);
    return all;
}

}  // namespace ranvier::connect
