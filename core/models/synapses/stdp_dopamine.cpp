#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "connect/plasticity/modulation.hpp"
#include "models/synapses/pair_plasticity.hpp"
#include "models/synapses/weight_interval.hpp"
#include "ranvier/models/registry.hpp"

namespace ranvier::models {

namespace {

class StdpDopamine {
    enum Parameter : std::size_t {
        A_plus,
        A_minus,
        tau_plus,
        tau_minus,
        tau_c,
        tau_n,
        b,
        W_min,
        W_max,
        dopamine_delay,
        axonal_fraction,
    };

   public:
    static constexpr std::array parameters{
        ParameterInfo{"A_plus", "", 1.0, any_number, "What a postsynaptic spike adds to the eligibility, times K_plus"},
        ParameterInfo{"A_minus", "", 1.5, any_number,
                      "What a presynaptic spike takes from the eligibility, times K_minus"},
        ParameterInfo{"tau_plus", "ms", 20.0, pair_plasticity::time_constant, "Time constant of the presynaptic trace"},
        ParameterInfo{"tau_minus", "ms", 20.0, pair_plasticity::time_constant,
                      "Time constant of the postsynaptic trace"},
        ParameterInfo{"tau_c", "ms", 1000.0, pair_plasticity::time_constant, "Time constant of the eligibility"},
        ParameterInfo{"tau_n", "ms", 200.0, pair_plasticity::time_constant,
                      "Time constant of the concentration of dopamine"},
        ParameterInfo{"b", "1/ms", 0.0, any_number, "Concentration at which weights do not change"},
        ParameterInfo{"W_min", "", 0.0, any_number,
                      "The weight stays between this and W_max, which have the same sign"},
        ParameterInfo{"W_max", "", 200.0, any_number, "The weight stays between W_min and this"},
        ParameterInfo{"dopamine_delay",
                      "ms",
                      1.0,
                      {.lower = 0.0, .lower_open = true},
                      "Time from a spike of a dopaminergic neuron to all of the synapses, at least one step"},
        pair_plasticity::axonal_fraction,
    };

    static connect::Learning learning(std::span<const double> p) {
        return {.presynaptic_steps = p[tau_plus],
                .postsynaptic_steps = p[tau_minus],
                .axonal_fraction = p[axonal_fraction]};
    }
    static connect::ModulationConstants modulation(std::span<const double> p, double resolution) {
        return {.up = p[A_plus],
                .down = p[A_minus],
                .tau_eligibility = p[tau_c],
                .tau_transmitter = p[tau_n],
                .baseline = p[b],
                .least = p[W_min],
                .greatest = p[W_max],
                .resolution = resolution};
    }
    static std::pair<double, double> weight_bounds(std::span<const double> p) { return {p[W_min], p[W_max]}; }
    static std::optional<std::string> conflict(std::span<const double> p) {
        return weight_interval_conflict(p[W_min], p[W_max]);
    }
};

}  // namespace

constinit const SynapseModel stdp_dopamine{
    .name = "stdp_dopamine",
    .summary = "Spike-timing dependent plasticity of all pairs of spikes, modulated by dopamine",
    .equations = R"(dw/dt = c (n - b), and w stays between W_min and W_max
dc/dt = -c / tau_c; c is the eligibility of a synapse
dn/dt = -n / tau_n, and 1 / tau_n is added with each spike that arrives from one of the dopaminergic neurons
When a postsynaptic spike arrives at the synapse:
    c -> c + A_plus K_plus
When a presynaptic spike arrives at the synapse:
    c -> c - A_minus K_minus
dK_plus/dt = -K_plus / tau_plus, and 1 is added with each presynaptic spike
dK_minus/dt = -K_minus / tau_minus, and 1 is added with each postsynaptic spike
All synapses of a projection share n. A weight stops at its bounds when a spike of any of the three kinds arrives.)",
    .reference =
        "E. M. Izhikevich, Cerebral Cortex 17, 2443-2452 (2007); "
        "W. Potjans, A. Morrison and M. Diesmann, Frontiers in Computational Neuroscience 4, 141 (2010)",
    .parameters = StdpDopamine::parameters,
    .create = pair_plasticity::create<StdpDopamine>,
    .conflict = StdpDopamine::conflict,
    .transmitter = "dopamine",
};

}  // namespace ranvier::models
