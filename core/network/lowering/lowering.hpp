#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "connect/space/partner_index.hpp"
#include "connect/tables/network_plan.hpp"
#include "ranvier/base/id_sequence.hpp"
#include "ranvier/connect/placement/layout.hpp"
#include "ranvier/models/neuron.hpp"
#include "ranvier/network/network.hpp"

namespace ranvier::network {

/// Lowers a network to numbers: names, units and defaults become the arguments of building and stepping.
class LoweredNetwork {
   public:
    explicit LoweredNetwork(const Network& network);

    const Network& network() const { return *network_; }
    /// Upper bound of the factor, at least 1, by which the spikes that reach a receptor at once grow if a population
    /// plays the lists of `changed`.
    std::uint64_t growth_of_bursts(const Population& changed, std::uint32_t receptor) const;
    /// Updates the counts after the lists of a population changed.
    void count_bursts(PopulationId population);
    std::span<const connect::PopulationRange> ranges() const { return ranges_; }
    const connect::NetworkPlan& plan() const { return plan_; }
    std::span<const connect::ProjectionPlan> plans() const { return plan_.projections; }
    /// The shared parameters of a kind of synapses, with their values.
    const SynapseSpec& synapse(connect::KindIndex kind) const;
    /// Maximum number of receptors of a model.
    std::uint32_t receptors() const { return receptors_; }
    /// Whether stimuli of neurons of a shard can reach a receptor with spikes, with present or later weights.
    std::vector<bool> stimulated_receptors(const connect::ShardLayout& shard) const;
    /// By electrode: whether a stimulus of neurons of a population on a shard injects currents there.
    std::vector<bool> stimulated_electrodes(const connect::ShardLayout& shard, const Population& population) const;
    /// The electrode that receives the currents of a stimulus, for some targets.
    std::uint32_t electrode(std::size_t stimulus, const Population& targets) const;
    /// Upper bound of the absolute weights that synapses onto a receptor can have later: the greatest weight_bound of
    /// the projections that reach it, if all have one.
    double weight_bound(PopulationId population, std::uint32_t receptor) const;
    /// The shortest delay of all projections, in steps; a large number without projections.
    Step shortest_delay() const { return shortest_delay_; }
    /// Bytes of the arrays given by the user, and of the indices to find their elements.
    std::uint64_t array_bytes() const;
    /// Lets rules draw for the neurons of this process. @param all whether there is no other process
    void draw_for(const IdSequence& neurons, bool all);
    /// After drawing: frees the indexes of neurons by their positions. Rules make them again if they need them.
    void free_indexes();
    /// Bytes of the indexes, or those that are expected before they are made.
    std::uint64_t index_bytes() const { return indexes_ ? indexes_->bytes() : 0; }

    /// Values of a model's parameters, in its order, for some neurons of a population.
    std::vector<models::GroupValues> parameters(const Population& population, const IdSequence& neurons) const;
    /// Initial values of a model's variables, in its order.
    std::vector<models::GroupValues> variables(const Population& population, const IdSequence& neurons,
                                               std::span<const models::GroupValues> parameters) const;
    /// The values of a parameter or variable that was given for some neurons of a population after step `now`. Before
    /// the first step they are drawn as at the creation of the population.
    /// @param indices within the population
    /// @param places of the neurons among those for which the value was given
    std::vector<double> values_at(const Population& population, bool is_parameter, std::size_t number,
                                  const Values& value, std::span<const std::uint64_t> indices,
                                  std::span<const std::size_t> places, Step now) const;
    /// Values of a stimulator's parameters for some of its targets.
    std::vector<models::GroupValues> parameters(std::size_t stimulus, const IdSequence& targets) const;
    /// Weights of a stimulus for some of its targets.
    models::GroupValues weights(std::size_t stimulus, const IdSequence& targets) const;
    /// The receptor of the spikes of a stimulus, for some targets; 0 for currents.
    /// @throws ValueOutOfBoundsError if spikes have weights of both signs and the model has two receptors
    std::uint32_t receptor(std::size_t stimulus, const Population& targets) const;

   private:
    void lower_projections();
    std::uint64_t spikes_at_once(const Projection& projection) const;

    const Network* network_;
    std::shared_ptr<const connect::Space> space_;  ///< null without positions
    std::vector<connect::PopulationRange> ranges_;
    connect::NetworkPlan plan_;
    std::vector<std::shared_ptr<connect::RuleSampler>> samplers_;  ///< those of the plan
    std::unique_ptr<connect::ProcessIndexes> indexes_;
    std::vector<ProjectionId> synapses_;  ///< by kind that is not static, a projection with it
    std::uint32_t receptors_ = 0;
    Step shortest_delay_ = 0;
};

}  // namespace ranvier::network
