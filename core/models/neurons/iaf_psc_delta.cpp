#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "models/neurons/leaky_membrane.hpp"
#include "models/neurons/point_neuron.hpp"
#include "ranvier/models/registry.hpp"

namespace ranvier::models {

namespace {
namespace iaf_psc_delta_parts {

class IafPscDelta {
    enum Parameter : std::size_t { E_L, C_m, tau_m, t_ref, V_th, V_reset, I_e, V_min };

   public:
    static constexpr std::array parameters{
        membrane_parameters::E_L,  membrane_parameters::C_m,     membrane_parameters::tau_m, membrane_parameters::t_ref,
        membrane_parameters::V_th, membrane_parameters::V_reset, membrane_parameters::I_e,   membrane_parameters::V_min,
    };
    static constexpr std::array variables{
        VariableInfo{"V_m", "mV", "Potential of the membrane", "E_L"},
    };
    static constexpr std::array<std::string_view, 1> receptors{"jump"};

    static constexpr std::size_t receptor_count = receptors.size();
    static constexpr std::size_t resting_potential = E_L;
    static constexpr std::size_t refractory_period = t_ref;

    template <class Real>
    struct State {
        Real potential;
    };

    template <class Real>
    struct Constants {
        Real decay;
        Real gain_of_constant;
        Real drive;
        Real lower_limit;
        Real threshold;
        Real reset;
    };

    static Constants<double> constants(std::span<const double> p, double h) {
        const double gain_of_constant = leaky_membrane::gain_of_constant(h, p[tau_m], p[C_m]);
        return {.decay = leaky_membrane::decay(h, p[tau_m]),
                .gain_of_constant = gain_of_constant,
                .drive = gain_of_constant * p[I_e],
                .lower_limit = p[V_min] - p[E_L],
                .threshold = p[V_th] - p[E_L],
                .reset = p[V_reset] - p[E_L]};
    }

    template <class Real>
    RANVIER_ALWAYS_INLINE static State<Real> step(const State<Real>& s, const Constants<Real>& c,
                                                  const StepInput<Real, receptor_count>& input) {
        const Real free = c.decay * s.potential + input.drive + input.received[0];
        const Real potential = free < c.lower_limit ? c.lower_limit : free;
        return {input.refractory ? s.potential : potential};
    }

    static std::optional<std::string> constants_conflict(const Constants<double>& c) {
        const double gains[] = {c.gain_of_constant};
        const double others[] = {c.drive, c.reset};
        return leaky_membrane::constants_conflict(gains, others);
    }

    static std::optional<std::string> conflict(std::span<const double> p) {
        if (auto reason = leaky_membrane::reset_conflict(p[V_th], p[V_reset])) return reason;
        return leaky_membrane::limit_conflict(p[V_th], p[V_min]);
    }
};

constinit const point_neuron::PointNeuronModel<IafPscDelta> model({
    .name = "iaf_psc_delta",
    .summary = "Leaky integrate-and-fire neuron whose potential jumps when a spike arrives",
    .equations = R"(C_m dV_m/dt = -C_m (V_m - E_L) / tau_m + I_e + I_stimulus
V_m jumps by the sum of the weights of the spikes that arrive, at the end of the step in which they do.
V_m is never below V_min. When V_m >= V_th at the end of a step the neuron fires; V_m is set to V_reset and stays
there for t_ref; spikes that arrive meanwhile are lost. Integrated exactly on the grid.)",
    .reference = "S. Rotter and M. Diesmann, Biological Cybernetics 81, 381-402 (1999)",
    .parameters = IafPscDelta::parameters,
    .variables = IafPscDelta::variables,
    .receptors = IafPscDelta::receptors,
    .weight_unit = "mV",
    .stretch_gain = StretchGain::some,
});

}  // namespace iaf_psc_delta_parts
}  // namespace

constinit const NeuronModel& iaf_psc_delta = iaf_psc_delta_parts::model;

}  // namespace ranvier::models
