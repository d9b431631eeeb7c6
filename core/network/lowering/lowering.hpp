#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "connect/tables/network_plan.hpp"
#include "ranvier/base/id_sequence.hpp"
#include "ranvier/connect/placement/layout.hpp"
#include "ranvier/models/neuron.hpp"
#include "ranvier/network/network.hpp"

namespace ranvier::network {

/// A network as numbers: what users wrote with names, units and defaults becomes what building and stepping take.
class LoweredNetwork {
   public:
    explicit LoweredNetwork(const Network& network);

    const Network& network() const { return *network_; }
    /// By which factor, at most, the spikes that may reach a receptor at once grow if a population plays other lists, those
    /// of `changed`; at least 1.
    std::uint64_t growth_of_bursts(const Population& changed, std::uint32_t receptor) const;
    /// To be called when they do.
    void count_bursts(PopulationId population);
    std::span<const connect::PopulationRange> ranges() const { return ranges_; }
    const connect::NetworkPlan& plan() const { return plan_; }
    std::span<const connect::ProjectionPlan> plans() const { return plan_.projections; }
    /// Of synapses of a kind: which parameters they share, with the values of these.
    const SynapseSpec& synapse(connect::KindIndex kind) const;
    /// Of the model that has the most.
    std::uint32_t receptors() const { return receptors_; }
    /// Whether stimuli of neurons of a shard can reach a receptor with spikes: as they are now, or with other weights.
    std::vector<bool> stimulated_receptors(const connect::ShardLayout& shard) const;
    /// By electrode: whether a stimulus of neurons of a population on a shard injects currents there.
    std::vector<bool> stimulated_electrodes(const connect::ShardLayout& shard, const Population& population) const;
    /// The electrode of some targets that the currents of a stimulus go to.
    std::uint32_t electrode(std::size_t stimulus, const Population& targets) const;
    /// The greatest absolute weight that synapses onto a receptor may be given later: the greatest weight_bound of the
    /// projections that reach it, if all have one.
    double weight_bound(PopulationId population, std::uint32_t receptor) const;
    /// The shortest delay of all projections, in steps; a large number when there are none.
    Step shortest_delay() const { return shortest_delay_; }
    /// Bytes of the arrays that the user gave, and of what is kept beside them to find their elements.
    std::uint64_t array_bytes() const;

    /// Values of a model's parameters, in its order, for some neurons of a population.
    std::vector<models::GroupValues> parameters(const Population& population, const IdSequence& neurons) const;
    /// Initial values of a model's variables, in its order.
    std::vector<models::GroupValues> variables(const Population& population, const IdSequence& neurons,
                                               std::span<const models::GroupValues> parameters) const;
    /// A value that was given for some neurons of a population after step `now`: of one of its parameters, or of one of its
    /// variables. Before the first step it is drawn as when the population is created. @param indices within the population
    /// @param places of the neurons among those that the value was given for
    std::vector<double> values_at(const Population& population, bool is_parameter, std::size_t number,
                                  const Values& value, std::span<const std::uint64_t> indices,
                                  std::span<const std::size_t> places, Step now) const;
    /// Values of a stimulator's parameters for some of its targets.
    std::vector<models::GroupValues> parameters(std::size_t stimulus, const IdSequence& targets) const;
    /// Weights of a stimulus for some of its targets.
    models::GroupValues weights(std::size_t stimulus, const IdSequence& targets) const;
    /// The receptor of some targets that the spikes of a stimulus go to; 0 for currents.
    /// @throws ValueOutOfBoundsError when spikes have weights of both signs and the model has two receptors
    std::uint32_t receptor(std::size_t stimulus, const Population& targets) const;

   private:
    void lower_projections();
    std::uint64_t spikes_at_once(const Projection& projection) const;

    const Network* network_;
    std::vector<connect::PopulationRange> ranges_;
    connect::NetworkPlan plan_;
    std::vector<ProjectionId> synapses_;  ///< of those that are not static, a projection that has them
    std::uint32_t receptors_ = 0;
    Step shortest_delay_ = 0;
};

}  // namespace ranvier::network
