#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "connect/tables/projection_plan.hpp"
#include "connect/tables/table_kind.hpp"
#include "ranvier/connect/placement/input_layout.hpp"
#include "ranvier/connect/tables/synapse_dynamics.hpp"

namespace ranvier::connect {

/// The kinds of a projection's synapses: for weights >= 0, and for weights < 0.
struct KindChoice {
    TableKind positive;
    TableKind negative;
};

/// All projections of a network, and their kinds of tables: each once, ascending.
struct NetworkPlan {
    std::vector<ProjectionPlan> projections;
    std::vector<TableKind> kinds;
    /// Of synapses that are not static, by TableKind::synapse minus 1.
    std::vector<std::shared_ptr<const SynapseDynamics>> dynamics = {};
    /// By receptor, if any neuron has several sites: the number of sites reserved per neuron, by population. Otherwise
    /// empty.
    std::vector<std::vector<std::uint32_t>> sites = {};

    /// Null for static synapses.
    const SynapseDynamics* dynamics_of(KindIndex kind) const {
        const std::uint32_t synapse = kinds[kind.value].synapse;
        return synapse == 0 ? nullptr : dynamics[synapse - 1].get();
    }
    /// Whether any neuron has several sites at a receptor.
    bool has_sites() const {
        return std::ranges::any_of(sites, [](const auto& of_receptor) { return !of_receptor.empty(); });
    }
    /// The numbering of the inputs of a shard at a receptor. @param shard must outlive it
    InputLayout inputs_at(std::uint32_t receptor, const ShardLayout& shard) const {
        return {shard, receptor < sites.size() ? std::span<const std::uint32_t>(sites[receptor])
                                               : std::span<const std::uint32_t>()};
    }
    /// One more than the greatest receptor of any projection.
    std::uint32_t receptors() const { return kinds.empty() ? 0 : kinds.back().receptor + 1; }
    std::uint32_t receptor(KindIndex kind) const { return kinds[kind.value].receptor; }
    /// Whether synapses of a projection can go to a receptor.
    bool feeds_receptor(const ProjectionPlan& plan, std::uint32_t of) const {
        return receptor(plan.positive_kind) == of || receptor(plan.negative_kind) == of;
    }
};

/// Lists the kinds and assigns their indices to the projections. @param choices of each projection
/// @throws ValueOutOfBoundsError when there are more than most_kinds
NetworkPlan make_network_plan(std::vector<ProjectionPlan> projections, std::span<const KindChoice> choices);

/// The same network, in which some projections have no synapses. @param left_out by projection
NetworkPlan without(NetworkPlan network, const std::vector<bool>& left_out);

}  // namespace ranvier::connect
