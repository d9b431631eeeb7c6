#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "connect/plasticity/voltage_table.hpp"
#include "models/synapses/weight_interval.hpp"
#include "models/synapses/width_dispatch.hpp"
#include "ranvier/base/step_rounding.hpp"
#include "ranvier/models/registry.hpp"

namespace ranvier::models {

namespace {

enum Parameter : std::size_t {
    A_LTD,
    A_LTP,
    theta_minus,
    theta_plus,
    tau_x,
    delay_u_bars,
    A_LTD_const,
    u_ref_squared,
    u_rest,
    W_min,
    W_max,
};

constexpr Bounds time_constant{.lower = 0.0, .upper = 1e5, .lower_open = true};
constexpr Bounds delay_bounds{.lower = 0.0, .upper = 1000.0};
constexpr Bounds truth{.lower = 0.0, .upper = 1.0};

constexpr std::array parameters{
    ParameterInfo{"A_LTD", "1/mV", 14e-5, not_negative,
                  "Depression of the weight by a presynaptic spike, for each mV of u_bar_minus above theta_minus"},
    ParameterInfo{"A_LTP", "1/mV^2", 8e-5, not_negative,
                  "Potentiation of the weight, for V_m and u_bar_plus a mV above their thresholds and x a time of 1"},
    ParameterInfo{"theta_minus", "mV", -70.6, any_number, "Threshold of u_bar_minus and u_bar_plus"},
    ParameterInfo{"theta_plus", "mV", -45.3, any_number, "Threshold of V_m"},
    ParameterInfo{"tau_x", "ms", 15.0, time_constant, "Time constant of the trace of presynaptic spikes"},
    ParameterInfo{"delay_u_bars", "ms", 5.0, delay_bounds,
                  "How long ago u_bar_plus and u_bar_minus are taken, rounded to steps"},
    whole(ParameterInfo{"A_LTD_const", "", 1.0, truth,
                        "1: A_LTD is constant; 0: it is multiplied by (u_bar_bar - u_rest)^2/u_ref_squared"}),
    ParameterInfo{"u_ref_squared", "mV^2", 60.0, positive,
                  "Where depression has the size A_LTD, if it is not constant"},
    ParameterInfo{"u_rest", "mV", 0.0, any_number,
                  "What u_bar_bar is counted from: 0 as in NEST, the resting potential in the paper"},
    ParameterInfo{"W_min", "", 0.0, any_number, "The weight stays between this and W_max, which have the same sign"},
    ParameterInfo{"W_max", "", 100.0, any_number, "The weight stays between W_min and this"},
};

class Clopath final : public WidthDispatch<Clopath> {
   public:
    Clopath(std::span<const double> p, double resolution)
        : constants_{.depression = p[A_LTD],
                     .potentiation = p[A_LTP] * resolution,
                     .theta_minus = p[theta_minus],
                     .theta_plus = p[theta_plus],
                     .is_homeostatic = p[A_LTD_const] == 0.0,
                     .rest = p[u_rest],
                     .reference = p[u_ref_squared],
                     .delay = static_cast<DelaySteps>(round_half_up(p[delay_u_bars] / resolution)),
                     .trace_steps = p[tau_x] / resolution,
                     .jump = 1.0 / p[tau_x],
                     .least = p[W_min],
                     .greatest = p[W_max]},
          potentiations_(spike_duration / resolution) {}

    double least_weight() const override { return constants_.least; }
    double greatest_weight() const override { return constants_.greatest; }
    connect::PlasticTableMemory memory(bool /*double_weights*/) const override {
        return connect::VoltageTable<std::uint16_t, float>::memory(constants_, potentiations_);
    }

   private:
    friend class WidthDispatch<Clopath>;

    template <class Target, class Weight>
    std::unique_ptr<connect::SynapseTable> make(connect::TableColumns<Target, Weight> columns,
                                                const connect::PlasticTableArguments& arguments) const {
        return std::make_unique<connect::VoltageTable<Target, Weight>>(std::move(columns), constants_, arguments);
    }

    /// Approximate time for which a spike keeps the potential above its threshold, ms: the clamp of
    /// aeif_psc_delta_clopath, and the upstroke before it.
    static constexpr double spike_duration = 2.5;

    connect::VoltageConstants constants_;
    double potentiations_;
};

std::unique_ptr<connect::SynapseDynamics> create(std::span<const double> p, double resolution) {
    return std::make_unique<Clopath>(p, resolution);
}

/// The change by a presynaptic spike while the filtered potential is 10 mV above its threshold, and by a postsynaptic
/// spike of 2 ms and 50 mV above it.
std::array<ChangeSize, 2> changes(std::span<const double> p, double /*weight*/) {
    const double bound = std::max(std::abs(p[W_min]), std::abs(p[W_max]));
    return {{{"A_LTP", p[A_LTP] * 1000.0 / p[tau_x] / bound}, {"A_LTD", p[A_LTD] * 10.0 / bound}}};
}

std::optional<std::string> conflict(std::span<const double> p) { return weight_interval_conflict(p[W_min], p[W_max]); }

}  // namespace

constinit const SynapseModel clopath{
    .name = "clopath",
    .summary = "Plasticity that depends on filtered potentials of the target",
    .equations = R"(When a presynaptic spike arrives at the synapse:
    w -> max(w - A [u_bar_minus(t - delay_u_bars) - theta_minus]+, W_min), then x -> x + 1 / tau_x
At all times, and w stays below W_max:
    dw/dt = A_LTP x [V_m(t) - theta_plus]+ [u_bar_plus(t - delay_u_bars) - theta_minus]+
dx/dt = -x / tau_x
A is A_LTD, or A_LTD (u_bar_bar(t) - u_rest)^2 / u_ref_squared where A_LTD_const is 0. [v]+ is v, or 0 if v < 0.
V_m, u_bar_plus, u_bar_minus and u_bar_bar are variables of the target, at the end of a step; they take the delay of
the synapse to it, as postsynaptic spikes do. Before the beginning they are as at the beginning.)",
    .reference = "C. Clopath, L. Buesing, E. Vasilaki and W. Gerstner, Nature Neuroscience 13, 344-352 (2010)",
    .parameters = parameters,
    .create = create,
    .conflict = conflict,
    .changes = changes,
    .followed_variables = connect::FollowedPotentials::variables,
};

}  // namespace ranvier::models
