#include "engine/shard/weight_checks.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "connect/tables/weight_estimate.hpp"
#include "network/network_checks.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::engine {

namespace {

using connect::WeightRange;

/// Absolute values as integers of the same order.
std::uint64_t bits_of(double value) { return std::bit_cast<std::uint64_t>(value); }

WeightRange join_all(const WeightRange& local, comm::Communicator& communicator) {
    std::uint64_t greatest[2] = {bits_of(local.greatest), local.most_inputs};
    std::uint64_t least[2] = {bits_of(local.least), bits_of(local.quantum)};
    communicator.reduce(greatest, comm::Reduction::greatest);
    communicator.reduce(least, comm::Reduction::least);
    return {.least = std::bit_cast<double>(least[0]),
            .greatest = std::bit_cast<double>(greatest[0]),
            .quantum = std::bit_cast<double>(least[1]),
            .most_inputs = greatest[1]};
}

/// The first projection, by id, with a weight on any process for which `matches` is true.
template <class Matches>
std::string first_projection(const connect::SynapseWeights& drawn, const network::LoweredNetwork& network,
                             std::uint32_t receptor, comm::Communicator& communicator, Matches matches) {
    std::uint64_t found = network.plans().size();
    for (std::size_t i = network.plans().size(); i-- > 0;) {
        if (matches(drawn.weights(i, receptor))) found = i;
    }
    found = communicator.least(found);
    if (found == network.plans().size()) return "";
    return network::quoted(network.network().projections()[network.plans()[found].id.value].name);
}

/// The greatest absolute value that weights of a kind that is not static can reach.
double bound_of_learning(const connect::SynapseWeights& drawn, const network::LoweredNetwork& network,
                         connect::KindIndex kind, comm::Communicator& communicator) {
    const connect::SynapseDynamics& dynamics = *network.plan().dynamics_of(kind);
    double given = 0.0;
    double greatest = 0.0;
    for (std::size_t i = 0; i < network.plans().size(); ++i) {
        if (!network.plans()[i].feeds(kind)) continue;
        given = std::max(given, network.plans()[i].weight_bound);
        greatest = std::max(greatest, drawn.weights(i, network.plan().receptor(kind)).greatest);
    }
    greatest = std::bit_cast<double>(communicator.greatest(bits_of(greatest)));
    return connect::bound_of_learning(dynamics, given, greatest);
}

/// The contributions of synapses that are not static to a receptor, whose grids do not depend on other synapses.
void join_dynamic(WeightRange& local, const connect::SynapseWeights& drawn, const network::LoweredNetwork& network,
                  std::uint32_t receptor, const WeightAgreement& agreed) {
    const connect::NetworkPlan& plan = network.plan();
    for (std::uint32_t kind = 0; kind < agreed.bounds.size(); ++kind) {
        const connect::KindIndex index{kind};
        if (agreed.bounds[kind] == 0.0 || plan.receptor(index) != receptor) continue;
        const double factor = plan.dynamics_of(index)->greatest_factor();
        if (factor == 0.0) {
            local.join({.least = agreed.quanta[kind], .greatest = agreed.bounds[kind], .quantum = agreed.quanta[kind]});
            continue;
        }
        local.join({.greatest = factor * agreed.bounds[kind]});
        for (std::size_t i = 0; i < network.plans().size(); ++i) {
            if (network.plans()[i].feeds(index)) local.join({.least = drawn.weights(i, receptor).least});
        }
    }
}

/// The grids of the other kinds, from the contributions of all processes.
void choose_grids_of_parts(WeightRange& all, const network::LoweredNetwork& network, std::uint32_t receptor,
                           WeightAgreement& agreed) {
    const connect::NetworkPlan& plan = network.plan();
    for (std::uint32_t kind = 0; kind < agreed.bounds.size(); ++kind) {
        const connect::KindIndex index{kind};
        if (agreed.bounds[kind] == 0.0 || plan.receptor(index) != receptor) continue;
        const double factor = plan.dynamics_of(index)->greatest_factor();
        if (factor == 0.0) continue;
        agreed.quanta[kind] = connect::quantum_of_parts(all, factor * agreed.bounds[kind]);
        all.quantum = std::min(all.quantum, agreed.quanta[kind]);
    }
}

/// The bounds of weights that are not static, by kind, and the grids of those that learn.
WeightAgreement agree_on_dynamics(const connect::SynapseWeights& drawn, const network::LoweredNetwork& network,
                                  comm::Communicator& communicator) {
    const connect::NetworkPlan& plan = network.plan();
    WeightAgreement agreed{.ranges = WeightRanges(network.receptors()),
                           .quanta = std::vector<double>(plan.kinds.size()),
                           .bounds = std::vector<double>(plan.kinds.size())};
    for (std::uint32_t kind = 0; kind < plan.kinds.size(); ++kind) {
        const connect::SynapseDynamics* const dynamics = plan.dynamics_of(connect::KindIndex{kind});
        if (dynamics == nullptr) continue;
        agreed.bounds[kind] = bound_of_learning(drawn, network, connect::KindIndex{kind}, communicator);
        if (dynamics->greatest_factor() > 0.0) continue;
        agreed.quanta[kind] = connect::quantum_of_learning(agreed.bounds[kind]);
    }
    return agreed;
}

}  // namespace

void check_least_weight(double least, bool double_weights, const std::string& object) {
    const double bound = connect::least_weight(double_weights);
    if (least >= bound) return;
    throw ValueOutOfBoundsError(
        {.object = object,
         .value = to_text(least),
         .bound = "weights that are not 0 have an absolute value of at least " + to_text(bound) + " in " +
                  (double_weights ? "double" : "single") + " precision",
         .remedy = double_weights ? "check its unit" : "check its unit, or store weights in double precision"});
}

void check_sums(const WeightRange& range, const std::string& object) {
    if (range.fits_wide()) return;
    throw ValueOutOfBoundsError(
        {.object = object,
         .value = "from " + to_text(range.least) + " to " + to_text(range.greatest),
         .bound = std::to_string(range.most_inputs) + " such weights can arrive at once, and their sum would need " +
                  to_text(std::ceil(std::log2(range.greatest_sum()))) + " bits; it can have 126",
         .remedy = "make the largest weights smaller, or the smallest larger"});
}

void check_given_weights(const network::LoweredNetwork& network, bool double_weights) {
    for (const connect::ProjectionPlan& plan : network.plans()) {
        check_least_weight(
            plan.weights.least_magnitude(), double_weights,
            "weight of projection " + network::quoted(network.network().projections()[plan.id.value].name));
    }
}

WeightAgreement agree_on_weights(const connect::SynapseWeights& drawn, const network::LoweredNetwork& network,
                                 bool double_weights, comm::Communicator& communicator) {
    const connect::NetworkPlan& plan_of_all = network.plan();
    WeightAgreement agreed = agree_on_dynamics(drawn, network, communicator);
    const auto is_static = [&](const connect::ProjectionPlan& plan) {
        return plan_of_all.dynamics_of(plan.positive_kind) == nullptr;
    };
    for (std::uint32_t receptor = 0; receptor < plan_of_all.receptors(); ++receptor) {
        WeightRange local{.most_inputs = drawn.most_inputs(receptor)};
        for (std::size_t i = 0; i < network.plans().size(); ++i) {
            if (is_static(network.plans()[i])) local.join(drawn.weights(i, receptor));
        }
        join_dynamic(local, drawn, network, receptor, agreed);
        WeightRange& all = agreed.ranges[receptor] = join_all(local, communicator);
        const auto projection_with = [&](auto matches) {
            return first_projection(drawn, network, receptor, communicator, matches);
        };
        if (all.least < connect::least_weight(double_weights)) {
            const std::string name =
                projection_with([&](const WeightRange& stored) { return stored.least == all.least; });
            check_least_weight(all.least, double_weights, "weight of projection " + name);
        }
        for (const connect::ProjectionPlan& plan : network.plans()) {
            const double bound = network.network().projections()[plan.id.value].weight_bound;
            if (network.plan().feeds_receptor(plan, receptor)) all.greatest = std::max(all.greatest, bound);
        }
        choose_grids_of_parts(all, network, receptor, agreed);
        if (all.fits_wide()) continue;
        const std::string least = projection_with([&](const WeightRange& stored) { return stored.least == all.least; });
        check_sums(all, "weights on neurons that projection " + least + " and others reach");
    }
    return agreed;
}

}  // namespace ranvier::engine
