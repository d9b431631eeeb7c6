#include <array>
#include <cstddef>
#include <numbers>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "models/neurons/leaky_membrane.hpp"
#include "models/neurons/point_neuron.hpp"
#include "ranvier/models/registry.hpp"

namespace ranvier::models {

namespace {
namespace iaf_psc_alpha_parts {

class IafPscAlpha {
    enum Parameter : std::size_t { E_L, C_m, tau_m, t_ref, V_th, V_reset, I_e, V_min, tau_syn_ex, tau_syn_in };

   public:
    static constexpr std::array parameters{
        membrane_parameters::E_L,
        membrane_parameters::C_m,
        membrane_parameters::tau_m,
        membrane_parameters::t_ref,
        membrane_parameters::V_th,
        membrane_parameters::V_reset,
        membrane_parameters::I_e,
        membrane_parameters::V_min,
        ParameterInfo{"tau_syn_ex", "ms", 2.0, positive, "Rise time of the excitatory synaptic current"},
        ParameterInfo{"tau_syn_in", "ms", 2.0, positive, "Rise time of the inhibitory synaptic current"},
    };
    static constexpr std::array variables{
        VariableInfo{"V_m", "mV", "Potential of the membrane", "E_L"},
        VariableInfo{"I_syn_ex", "pA", "Excitatory synaptic current"},
        VariableInfo{"I_syn_in", "pA", "Inhibitory synaptic current"},
        VariableInfo{"dI_syn_ex", "pA/ms", "What drives I_syn_ex: its derivative plus I_syn_ex / tau_syn_ex"},
        VariableInfo{"dI_syn_in", "pA/ms", "What drives I_syn_in: its derivative plus I_syn_in / tau_syn_in"},
    };
    static constexpr std::array<std::string_view, 2> receptors{"excitatory", "inhibitory"};

    static constexpr std::size_t receptor_count = receptors.size();
    static constexpr std::size_t resting_potential = E_L;
    static constexpr std::size_t refractory_period = t_ref;

    template <class Real>
    struct State {
        Real potential;
        Real current_ex;
        Real current_in;
        Real slope_ex;
        Real slope_in;
    };

    template <class Real>
    struct Constants {
        Real decay;
        Real decay_ex;
        Real decay_in;
        Real step;      // ms
        Real slope_of_weight_ex;
        Real slope_of_weight_in;
        Real gain_ex;
        Real gain_in;
        Real gain_of_slope_ex;
        Real gain_of_slope_in;
        Real gain_of_constant;
        Real drive;
        Real lower_limit;
        Real threshold;
        Real reset;
    };

    static Constants<double> constants(std::span<const double> p, double h) {
        const double gain_of_constant = leaky_membrane::gain_of_constant(h, p[tau_m], p[C_m]);
        return {.decay = leaky_membrane::decay(h, p[tau_m]),
                .decay_ex = leaky_membrane::decay(h, p[tau_syn_ex]),
                .decay_in = leaky_membrane::decay(h, p[tau_syn_in]),
                .step = h,
                // A weight is the peak of the current, which is reached after the rise time.
                .slope_of_weight_ex = std::numbers::e / p[tau_syn_ex],
                .slope_of_weight_in = std::numbers::e / p[tau_syn_in],
                .gain_ex = leaky_membrane::gain_of_exponential(h, p[tau_m], p[tau_syn_ex], p[C_m]),
                .gain_in = leaky_membrane::gain_of_exponential(h, p[tau_m], p[tau_syn_in], p[C_m]),
                .gain_of_slope_ex = leaky_membrane::gain_of_ramp(h, p[tau_m], p[tau_syn_ex], p[C_m]),
                .gain_of_slope_in = leaky_membrane::gain_of_ramp(h, p[tau_m], p[tau_syn_in], p[C_m]),
                .gain_of_constant = gain_of_constant,
                .drive = gain_of_constant * p[I_e],
                .lower_limit = p[V_min] - p[E_L],
                .threshold = p[V_th] - p[E_L],
                .reset = p[V_reset] - p[E_L]};
    }

    template <class Real>
    RANVIER_ALWAYS_INLINE static State<Real> step(const State<Real>& s, const Constants<Real>& c,
                                                  const StepInput<Real, receptor_count>& input) {
        const Real free = c.decay * s.potential + c.gain_ex * s.current_ex + c.gain_in * s.current_in +
                          c.gain_of_slope_ex * s.slope_ex + c.gain_of_slope_in * s.slope_in + input.drive;
        const Real potential = free < c.lower_limit ? c.lower_limit : free;
        return {input.refractory ? s.potential : potential, c.decay_ex * (s.current_ex + c.step * s.slope_ex),
                c.decay_in * (s.current_in + c.step * s.slope_in),
                c.decay_ex * s.slope_ex + c.slope_of_weight_ex * input.received[0],
                c.decay_in * s.slope_in + c.slope_of_weight_in * input.received[1]};
    }

    static std::optional<std::string> constants_conflict(const Constants<double>& c) {
        const double gains[] = {c.slope_of_weight_ex, c.slope_of_weight_in, c.gain_of_constant};
        const double others[] = {c.gain_ex, c.gain_in, c.gain_of_slope_ex, c.gain_of_slope_in, c.drive, c.reset};
        return leaky_membrane::constants_conflict(gains, others);
    }

    static std::optional<std::string> conflict(std::span<const double> p) {
        if (auto reason = leaky_membrane::reset_conflict(p[V_th], p[V_reset])) return reason;
        return leaky_membrane::limit_conflict(p[V_th], p[V_min]);
    }
};

constinit const point_neuron::PointNeuronModel<IafPscAlpha> model({
    .name = "iaf_psc_alpha",
    .summary = "Leaky integrate-and-fire neuron with alpha-shaped synaptic currents",
    .equations = R"(C_m dV_m/dt = -C_m (V_m - E_L) / tau_m + I_syn_ex + I_syn_in + I_e + I_stimulus
dI_syn_ex/dt = -I_syn_ex / tau_syn_ex + dI_syn_ex
d(dI_syn_ex)/dt = -dI_syn_ex / tau_syn_ex + (e / tau_syn_ex) sum of weights >= 0 of the spikes that arrive
and likewise for I_syn_in and weights < 0: a weight is the peak of the current that one spike causes.
V_m is never below V_min. When V_m >= V_th at the end of a step the neuron fires; V_m is set to V_reset and stays
there for t_ref, while the synaptic currents go on. Integrated exactly on the grid; a spike acts from the end of
the step in which it arrives.)",
    .reference = "S. Rotter and M. Diesmann, Biological Cybernetics 81, 381-402 (1999)",
    .parameters = IafPscAlpha::parameters,
    .variables = IafPscAlpha::variables,
    .receptors = IafPscAlpha::receptors,
    .sign_chooses_receptor = true,
    .weight_unit = "pA",
    .stretch_gain = StretchGain::some,
});

}  // namespace iaf_psc_alpha_parts
}  // namespace

constinit const NeuronModel& iaf_psc_alpha = iaf_psc_alpha_parts::model;

}  // namespace ranvier::models
