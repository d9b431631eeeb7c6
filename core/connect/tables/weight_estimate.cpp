#include "connect/tables/weight_estimate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "base/saturation.hpp"

namespace ranvier::connect {

namespace {

/// The expected least absolute value of this many weights: for weights around zero, the density there is assumed to
/// equal the average.
double expected_least(const ProjectionPlan& plan, double count, double low, double high) {
    if (std::isfinite(plan.weights.least_magnitude())) return plan.weights.least_magnitude();
    if (low > 0.0 || high < 0.0) return std::min(std::abs(low), std::abs(high));
    return (high - low) / std::max(1.0, count);
}

/// The stored range, without other weights.
WeightRange stored_range(double least, double greatest, bool double_weights) {
    std::vector<double> weights{least, greatest};
    return round_as_stored(InstructionSet::baseline, weights, double_weights);
}

/// Of the non-static synapses of a kind, before they learn.
struct ExpectedKind {
    double given = 0.0;  ///< bound of the user
    double least = std::numeric_limits<double>::infinity();
    double greatest = 0.0;
};

/// Adds the contributions of non-static synapses at a receptor to those of static ones.
void join_dynamic(WeightRange& all, const NetworkPlan& network, const std::map<std::uint32_t, ExpectedKind>& kinds) {
    double parts = 0.0;  // the least of the greatest weights with a varying part
    for (const auto& [kind, expected] : kinds) {
        const SynapseDynamics& dynamics = *network.dynamics_of(KindIndex{kind});
        const double bound = bound_of_learning(dynamics, expected.given, expected.greatest);
        if (const double factor = dynamics.greatest_factor(); factor > 0.0) {
            all.join({.least = expected.least, .greatest = factor * bound});
            parts = parts == 0.0 ? factor * bound : std::min(parts, factor * bound);
        } else {
            const double quantum = quantum_of_learning(bound);
            all.join({.least = quantum, .greatest = bound, .quantum = quantum});
        }
    }
    if (parts > 0.0) all.quantum = std::min(all.quantum, quantum_of_parts(all, parts));
}

}  // namespace

double quantum_of_parts(const WeightRange& all, double greatest) {
    constexpr int finest = 50;
    const int bit = std::ilogb(greatest) + 1;
    const double sum = static_cast<double>(std::max<std::uint64_t>(all.most_inputs, 1)) * all.greatest;
    const int exact = std::ilogb(sum) + 1 - 52;
    return std::ldexp(1.0, std::clamp(exact, bit - finest, bit - bits_of_learning));
}

WeightRange expected_weights(const NetworkPlan& network, std::uint32_t receptor, bool double_weights) {
    WeightRange all;
    std::map<std::uint32_t, double> inputs;  // by population
    std::map<std::uint32_t, ExpectedKind> kinds;
    for (const ProjectionPlan& plan : network.projections) {
        // If the sign is drawn, all weights are assumed to be >= 0.
        if (network.receptor(plan.positive_kind) != receptor || plan.pairs.sources == 0 || plan.pairs.targets == 0)
            continue;
        const double count = plan.sampler->expected_synapses();
        if (count == 0.0) continue;
        const auto [low, high] = plan.weights.expected_range(count);
        const double least = expected_least(plan, count, low, high);
        const double greatest = std::max(std::abs(low), std::abs(high));
        if (network.dynamics_of(plan.positive_kind) != nullptr) {
            ExpectedKind& kind = kinds[plan.positive_kind.value];
            kind.given = std::max(kind.given, plan.weight_bound);
            if (greatest > 0.0) kind.least = std::min(kind.least, least);
            kind.greatest = std::max(kind.greatest, greatest);
        } else if (greatest > 0.0) {
            all.join(stored_range(least, greatest, double_weights));
        }
        const double mean = plan.most_spikes * count / static_cast<double>(plan.pairs.targets);
        for (const PopulationId id : plan.target_populations) inputs[id.value] += mean;
    }
    for (const auto& [population, mean] : inputs) all.most_inputs = std::max(all.most_inputs, to_saturated(mean));
    for (const ProjectionPlan& plan : network.projections) {
        if (network.feeds_receptor(plan, receptor)) all.greatest = std::max(all.greatest, plan.weight_bound);
    }
    join_dynamic(all, network, kinds);
    return all;
}

}  // namespace ranvier::connect
