#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "ranvier/engine/simulation.hpp"
#include "selections.hpp"

namespace ranvier::engine {

using namespace network;

constexpr double resolution = 0.1;

using Spikes = std::vector<std::pair<Step, std::uint64_t>>;

inline Distribution normal(double mean, double deviation, double lower, double upper) {
    return {.kind = Distribution::Kind::normal,
            .first = mean,
            .second = deviation,
            .restriction = Distribution::Restriction::redraw,
            .lower = lower,
            .upper = upper};
}

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Two populations that excite and inhibit each other and fire irregularly; every kind of rule, drive and recorder.
struct BalancedNetwork {
    Network network{resolution, 12};
    PopulationId excitatory;
    PopulationId inhibitory;
    RecorderIndex spikes = 0;
    RecorderIndex potentials = 0;

    /// @param least_delay ms; with one step, spikes are exchanged after every step
    explicit BalancedNetwork(double least_delay = 0.05) {
        excitatory = network.create("iaf_psc_exp", 160, "excitatory", {{"V_m", normal(-65.0, 5.0, -infinity, -56.0)}});
        inhibitory = network.create("iaf_psc_alpha", 40, "inhibitory", {{"V_m", normal(-65.0, 5.0, -infinity, -56.0)}});
        const auto connect = [&](PopulationId from, PopulationId to, connect::RuleSpec rule, double weight) {
            add_projection(network, all_of(network, from), all_of(network, to), std::move(rule),
                           weight > 0.0 ? normal(weight, 0.2 * weight, 0.0, infinity)
                                        : normal(weight, -0.2 * weight, -infinity, 0.0),
                           normal(1.5, 0.8, least_delay, infinity));
        };
        connect(excitatory, excitatory, {"fixed_total_number", {{"number", 3000}}}, 80.0);
        connect(excitatory, inhibitory, {"fixed_indegree", {{"indegree", 20}}}, 80.0);
        connect(inhibitory, excitatory, {"pairwise_bernoulli", {{"probability", 0.2}}}, -300.0);
        connect(inhibitory, inhibitory, {"fixed_outdegree", {{"outdegree", 8}}}, -300.0);
        // Weights of both signs in one projection: they go to both receptors.
        add_projection(network, {excitatory, 10, 60}, all_of(network, excitatory),
                       {"fixed_outdegree", {{"outdegree", 5}}}, normal(0.0, 50.0, -infinity, infinity), 1.2);
        add_stimulus(network, all_of(network, excitatory), "poisson_generator", {{"rate", 9000.0}}, {}, 80.0, 1.5);
        add_stimulus(network, all_of(network, inhibitory), "poisson_generator", {{"rate", 9000.0}}, {}, 80.0, 1.5);
        add_stimulus(network, {inhibitory, 0, 20}, "dc_generator", {{"amplitude", 50.0}}, {}, 1.0, 1.0);
        spikes = add_spike_recorder(network, {all_of(network, excitatory), all_of(network, inhibitory)});
        potentials = add_state_recorder(network, excitatory, {0, 3, 77, 159}, {"V_m", "I_syn_in"}, 0.5);
    }
};

inline Spikes take(Simulation& simulation, RecorderIndex recorder) {
    const SpikeData data = simulation.take_spikes(recorder);
    Spikes spikes;
    for (std::size_t i = 0; i < data.steps.size(); ++i) spikes.emplace_back(data.steps[i], data.neurons[i]);
    return spikes;
}

}  // namespace ranvier::engine
