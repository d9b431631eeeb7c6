#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/math.hpp"
#include "models/neurons/leaky_membrane.hpp"
#include "models/neurons/point_neuron.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/models/registry.hpp"

namespace ranvier::models {

namespace {
namespace iaf_cond_nmda_parts {

constexpr Bounds reversal_bounds{.lower = -1e6, .upper = 1e6};
constexpr Bounds magnesium_bounds{.lower = 0.0, .upper = 1e6};
/// Magnesium block of NMDA receptors: its voltage dependence (1/mV), and the concentration that blocks half of them
/// at 0 mV (mM).
constexpr double block_slope = 0.062;
constexpr double half_magnesium = 3.57;
// Bounds that keep products with conductances and currents finite, also in single precision.
constexpr double least_leak = 1e-6;       // nS
constexpr double greatest_leak = 1e12;    // nS
constexpr double greatest_distance = 1e6;  // mV, of a reversal potential from E_L

class IafCondNmda {
    enum Parameter : std::size_t {
        E_L,
        C_m,
        tau_m,
        t_ref,
        V_th,
        V_reset,
        I_e,
        E_AMPA,
        E_NMDA,
        E_GABA_A,
        E_GABA_B,
        tau_AMPA,
        tau_NMDA,
        tau_GABA_A,
        tau_GABA_B,
        Mg
    };

   public:
    static constexpr std::array parameters{
        membrane_parameters::E_L,
        membrane_parameters::C_m,
        membrane_parameters::tau_m,
        membrane_parameters::t_ref,
        membrane_parameters::V_th,
        membrane_parameters::V_reset,
        membrane_parameters::I_e,
        ParameterInfo{"E_AMPA", "mV", 0.0, reversal_bounds, "Reversal potential of AMPA receptors"},
        ParameterInfo{"E_NMDA", "mV", 0.0, reversal_bounds, "Reversal potential of NMDA receptors"},
        ParameterInfo{"E_GABA_A", "mV", -70.0, reversal_bounds, "Reversal potential of GABA_A receptors"},
        ParameterInfo{"E_GABA_B", "mV", -90.0, reversal_bounds, "Reversal potential of GABA_B receptors"},
        ParameterInfo{"tau_AMPA", "ms", 5.0, positive, "Time constant of the conductance of AMPA receptors"},
        ParameterInfo{"tau_NMDA", "ms", 150.0, positive, "Time constant of the conductance of NMDA receptors"},
        ParameterInfo{"tau_GABA_A", "ms", 6.0, positive, "Time constant of the conductance of GABA_A receptors"},
        ParameterInfo{"tau_GABA_B", "ms", 150.0, positive, "Time constant of the conductance of GABA_B receptors"},
        ParameterInfo{"Mg", "mM", 1.0, magnesium_bounds, "Extracellular magnesium, which blocks NMDA receptors"},
    };
    static constexpr std::array variables{
        VariableInfo{"V_m", "mV", "Potential of the membrane", "E_L"},
        VariableInfo{"g_AMPA", "nS", "Conductance of AMPA receptors"},
        VariableInfo{"g_NMDA", "nS", "Conductance of NMDA receptors without magnesium"},
        VariableInfo{"g_GABA_A", "nS", "Conductance of GABA_A receptors"},
        VariableInfo{"g_GABA_B", "nS", "Conductance of GABA_B receptors"},
    };
    static constexpr std::array<std::string_view, 4> receptors{"AMPA", "NMDA", "GABA_A", "GABA_B"};

    static constexpr std::size_t receptor_count = receptors.size();
    static constexpr std::size_t resting_potential = E_L;
    static constexpr std::size_t refractory_period = t_ref;

    template <class Real>
    struct State {
        Real potential;
        Real g_AMPA;
        Real g_NMDA;
        Real g_GABA_A;
        Real g_GABA_B;
    };

    /// Reversal potentials are relative to the resting potential. Currents in pA over conductances in nS are potentials in mV.
    template <class Real>
    struct Constants {
        Real leak;             // nS
        Real step;             // 1/nS: length of a step by capacitance
        Real decay_AMPA;
        Real decay_NMDA;
        Real decay_GABA_A;
        Real decay_GABA_B;
        Real half_AMPA;  // decay over half a step
        Real half_NMDA;
        Real half_GABA_A;
        Real half_GABA_B;
        Real reversal_AMPA;
        Real reversal_NMDA;
        Real reversal_GABA_A;
        Real reversal_GABA_B;
        Real magnesium;         // ratio of blocked to unblocked NMDA receptors at the resting potential
        Real gain_of_constant;  // 1: currents stay in pA
        Real drive;             // pA
        Real threshold;
        Real reset;
    };

    static Constants<double> constants(std::span<const double> p, double h) {
        return {.leak = p[C_m] / p[tau_m],
                .step = h / p[C_m],
                .decay_AMPA = leaky_membrane::decay(h, p[tau_AMPA]),
                .decay_NMDA = leaky_membrane::decay(h, p[tau_NMDA]),
                .decay_GABA_A = leaky_membrane::decay(h, p[tau_GABA_A]),
                .decay_GABA_B = leaky_membrane::decay(h, p[tau_GABA_B]),
                .half_AMPA = leaky_membrane::decay(0.5 * h, p[tau_AMPA]),
                .half_NMDA = leaky_membrane::decay(0.5 * h, p[tau_NMDA]),
                .half_GABA_A = leaky_membrane::decay(0.5 * h, p[tau_GABA_A]),
                .half_GABA_B = leaky_membrane::decay(0.5 * h, p[tau_GABA_B]),
                .reversal_AMPA = p[E_AMPA] - p[E_L],
                .reversal_NMDA = p[E_NMDA] - p[E_L],
                .reversal_GABA_A = p[E_GABA_A] - p[E_L],
                .reversal_GABA_B = p[E_GABA_B] - p[E_L],
                .magnesium = p[Mg] / half_magnesium * math::exp(-block_slope * p[E_L]),
                .gain_of_constant = 1.0,
                .drive = p[I_e],
                .threshold = p[V_th] - p[E_L],
                .reset = p[V_reset] - p[E_L]};
    }

    /// The type in which exponentials are calculated.
    template <class Real>
    using Wide = std::conditional_t<std::is_floating_point_v<Real>, double, Real>;

    /// The fraction of NMDA receptors that magnesium does not block.
    template <class Real>
    RANVIER_ALWAYS_INLINE static Real unblocked(Real potential, const Constants<Real>& c) {
        using math::exp;
        const Wide<Real> blocked =
            static_cast<Wide<Real>>(c.magnesium) * exp(-block_slope * static_cast<Wide<Real>>(potential));
        return static_cast<Real>(1.0 / (1.0 + blocked));
    }

    /// Values that are constant while the potential is advanced.
    template <class Real>
    struct Membrane {
        Real conductance;  // nS
        Real current;      // pA, at the resting potential
    };

    /// The potential after some time (1/nS, by capacitance).
    template <class Real>
    RANVIER_ALWAYS_INLINE static Real advance(Real potential, Real time, const Membrane<Real>& without_NMDA,
                                              Real g_NMDA, const Constants<Real>& c) {
        const Real conductance = without_NMDA.conductance + g_NMDA;
        const Real limit = (without_NMDA.current + g_NMDA * c.reversal_NMDA) / conductance;
        using math::exp;
        const Real left = static_cast<Real>(exp(-static_cast<Wide<Real>>(time * conductance)));
        return limit + (potential - limit) * left;
    }

    template <class Real>
    RANVIER_ALWAYS_INLINE static State<Real> step(const State<Real>& s, const Constants<Real>& c,
                                                  const StepInput<Real, receptor_count>& input) {
        // Conductances in the middle of the step.
        const Real g_AMPA = c.half_AMPA * s.g_AMPA;
        const Real g_NMDA = c.half_NMDA * s.g_NMDA;
        const Real g_GABA_A = c.half_GABA_A * s.g_GABA_A;
        const Real g_GABA_B = c.half_GABA_B * s.g_GABA_B;
        const Membrane<Real> without_NMDA{.conductance = c.leak + g_AMPA + g_GABA_A + g_GABA_B,
                                          .current = input.drive + g_AMPA * c.reversal_AMPA +
                                                     g_GABA_A * c.reversal_GABA_A + g_GABA_B * c.reversal_GABA_B};
        const Real half_step = static_cast<Real>(0.5) * c.step;
        const Real middle = advance(s.potential, half_step, without_NMDA, g_NMDA * unblocked(s.potential, c), c);
        const Real potential = advance(s.potential, c.step, without_NMDA, g_NMDA * unblocked(middle, c), c);
        return {input.refractory ? s.potential : potential,       //
                c.decay_AMPA * s.g_AMPA + input.received[0],      //
                c.decay_NMDA * s.g_NMDA + input.received[1],      //
                c.decay_GABA_A * s.g_GABA_A + input.received[2],  //
                c.decay_GABA_B * s.g_GABA_B + input.received[3]};
    }

    static std::optional<std::string> constants_conflict(const Constants<double>& c) {
        const double gains[] = {c.step};
        const double others[] = {c.magnesium, c.drive, c.threshold, c.reset};
        if (auto reason = leaky_membrane::constants_conflict(gains, others)) return reason;
        if (!(c.leak >= least_leak && c.leak <= greatest_leak)) {
            return "the conductance of the leak, C_m / tau_m, is " + to_text(c.leak) +
                   " nS; a factor of the update, it must be between " + to_text(least_leak) + " and " +
                   to_text(greatest_leak);
        }
        for (const double reversal : {c.reversal_AMPA, c.reversal_NMDA, c.reversal_GABA_A, c.reversal_GABA_B}) {
            if (std::abs(reversal) <= greatest_distance) continue;
            return "a reversal potential is " + to_text(reversal) + " mV above E_L; it can be at most " +
                   to_text(greatest_distance) + " mV away";
        }
        return std::nullopt;
    }

    static std::optional<std::string> conflict(std::span<const double> p) {
        return leaky_membrane::reset_conflict(p[V_th], p[V_reset]);
    }
};

constinit const point_neuron::PointNeuronModel<IafCondNmda> model({
    .name = "iaf_cond_nmda",
    .summary = "Leaky integrate-and-fire neuron with conductances of AMPA, NMDA, GABA_A and GABA_B receptors",
    .equations = R"(C_m dV_m/dt = -C_m (V_m - E_L) / tau_m - g_AMPA (V_m - E_AMPA) - B(V_m) g_NMDA (V_m - E_NMDA)
              - g_GABA_A (V_m - E_GABA_A) - g_GABA_B (V_m - E_GABA_B) + I_e + I_stimulus
B(V_m) = 1 / (1 + exp(-0.062 V_m / mV) Mg / 3.57 mM)
dg_X/dt = -g_X / tau_X + sum of the weights of the spikes that arrive at receptor X, for each X of AMPA, NMDA,
GABA_A, GABA_B
A connection or a stimulus names its receptor; weights are conductances, in nS, and not negative.
Spikes add up: no receptor saturates by itself. Conductances of NMDA receptors, which close slowly, then become too
large at high rates (at 100 spikes/s, eleven times those of receptors that saturate). Connections saturate with
synapse="saturating_nmda", whose tau_decay should be tau_NMDA.
When V_m >= V_th at the end of a step the neuron fires; V_m is set to V_reset and stays there for t_ref, while the
conductances go on. A spike acts on V_m from the end of the step in which it arrives. The conductances are
integrated exactly on the grid. V_m is advanced by the exponential midpoint rule, whose error is of second order
in the resolution: as if the conductances, and B, were constant during a step, with the values that they have in its
middle; for B, V_m in the middle comes from half a step with B(V_m) of its begin.)",
    .reference =
        "C. E. Jahr and C. F. Stevens, Journal of Neuroscience 10, 3178-3182 (1990), the magnesium block; "
        "E. M. Izhikevich and G. M. Edelman, PNAS 105, 3593-3598 (2008), four receptors and their time constants",
    .parameters = IafCondNmda::parameters,
    .variables = IafCondNmda::variables,
    .receptors = IafCondNmda::receptors,
    .weight_bounds = not_negative,
    .weight_unit = "nS",
    .stretch_gain = StretchGain::some,
});

}  // namespace iaf_cond_nmda_parts
}  // namespace

constinit const NeuronModel& iaf_cond_nmda = iaf_cond_nmda_parts::model;

}  // namespace ranvier::models
