#include "connect/tables/network_plan.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "ranvier/base/errors.hpp"

namespace ranvier::connect {

namespace {

/// Only one kind if all weights have the same sign.
KindChoice without_idle_kinds(const ProjectionPlan& plan, KindChoice choice) {
    if (!(plan.weights.least() < 0.0)) return {choice.positive, choice.positive};
    if (!(plan.weights.greatest() >= 0.0)) return {choice.negative, choice.negative};
    return choice;
}

}  // namespace

NetworkPlan make_network_plan(std::vector<ProjectionPlan> projections, std::span<const KindChoice> choices) {
    NetworkPlan network{.projections = std::move(projections), .kinds = {}, .dynamics = {}};
    std::vector<KindChoice> used;
    for (std::size_t i = 0; i < network.projections.size(); ++i) {
        used.push_back(without_idle_kinds(network.projections[i], choices[i]));
        network.kinds.push_back(used.back().positive);
        network.kinds.push_back(used.back().negative);
    }
    std::ranges::sort(network.kinds);
    network.kinds.erase(std::unique(network.kinds.begin(), network.kinds.end()), network.kinds.end());
    if (network.kinds.size() > most_kinds) {
        throw ValueOutOfBoundsError(
            {.object = "kinds of synapses",
             .value = std::to_string(network.kinds.size()),
             .bound = "receptors, synapse models and their shared parameters can make up at most " +
                      std::to_string(most_kinds),
             .remedy = "let projections share parameters"});
    }
    const auto index_of = [&](TableKind kind) {
        const auto place = std::ranges::lower_bound(network.kinds, kind);
        return KindIndex{static_cast<std::uint32_t>(place - network.kinds.begin())};
    };
    for (std::size_t i = 0; i < used.size(); ++i) {
        network.projections[i].positive_kind = index_of(used[i].positive);
        network.projections[i].negative_kind = index_of(used[i].negative);
    }
    return network;
}

NetworkPlan without(NetworkPlan network, const std::vector<bool>& left_out) {
    for (std::size_t i = 0; i < network.projections.size(); ++i) {
        if (left_out[i]) network.projections[i].pairs = {};
    }
    return network;
}

}  // namespace ranvier::connect
