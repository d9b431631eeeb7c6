#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "models/synapses/short_term.hpp"
#include "ranvier/models/registry.hpp"

namespace ranvier::models {

namespace {

class Tsodyks {
    enum Parameter : std::size_t { U, tau_psc, tau_rec, tau_fac, x, y, u };

   public:
    static constexpr std::array parameters{
        per_synapse(ParameterInfo{"U", "", 0.5, short_term::part, "Part of the resources that a spike uses at rest"}),
        per_synapse(
            ParameterInfo{"tau_psc", "ms", 3.0, short_term::time_constant,
                          "Time constant with which resources in use become inactive: that of the synaptic current"}),
        per_synapse(ParameterInfo{"tau_rec", "ms", 800.0, short_term::time_constant,
                                  "Time constant with which inactive resources recover"}),
        per_synapse(ParameterInfo{"tau_fac", "ms", 0.0, short_term::time_constant_or_none,
                                  "Time constant of facilitation; 0 means none"}),
        at_beginning(
            ParameterInfo{"x", "", 1.0, short_term::part, "Recovered resources at the beginning of the simulation"}),
        at_beginning(
            ParameterInfo{"y", "", 0.0, short_term::part, "Resources in use at the beginning of the simulation"}),
        at_beginning(ParameterInfo{"u", "", 0.0, short_term::part, "Facilitation at the beginning of the simulation"}),
    };

    struct Rule {
        static constexpr std::size_t states = 3;
        /// The last one is the fraction that the last spike used.
        static constexpr std::array<std::string_view, states> state_names{"recovered", "in_use", "used"};

        struct State {
            double values[states] = {};  // NOLINT(modernize-avoid-c-arrays): no calls in kernels
            Step last = 0;
        };
        struct Constants {
            double rest;
            double current;       ///< ms
            double recovery;      ///< ms
            double facilitation;  ///< ms
            double resolution;    ///< ms
            State first;
        };

        RANVIER_ALWAYS_INLINE static Constants constants(const double* p, double resolution) {
            return {p[U], p[tau_psc], p[tau_rec], p[tau_fac], resolution, {.values = {p[x], p[y], p[u]}, .last = 0}};
        }
        static State initial(const Constants& c) { return c.first; }
        RANVIER_ALWAYS_INLINE static double release(State& state, Step now, const Constants& c) {
            const auto [recovered_before, in_use_before, used_before] = state.values;
            const double time = static_cast<double>(now - state.last) * c.resolution;
            const double inactive = 1.0 - recovered_before - in_use_before;
            // The fraction of the resources in use that is inactive after this time. This form also holds for equal
            // time constants, and nothing overflows.
            const double difference = std::abs(time / c.current - time / c.recovery);
            const double slower = math::exp(-time / (c.current < c.recovery ? c.recovery : c.current));
            const double passed = slower * (time / c.current) * math::expm1_over(-difference);
            const double inactive_now = inactive * math::exp(-time / c.recovery) + in_use_before * passed;
            const double in_use = in_use_before * math::exp(-time / c.current);
            const double left = 1.0 - in_use - inactive_now;
            const double recovered = left < 0.0 ? 0.0 : (left > 1.0 ? 1.0 : left);
            const double decayed = used_before * short_term::decay(time, c.facilitation);
            const double used = decayed + c.rest * (1.0 - decayed);
            const double released = used * recovered;
            state.values[0] = recovered - released;
            state.values[1] = in_use + released;
            state.values[2] = used;
            state.last = now;
            return released;
        }
    };

    static std::optional<std::string> conflict(std::span<const double> p) {
        if (p[x] + p[y] <= 1.0) return std::nullopt;
        return "x and y are parts of the same resources: their sum can be at most 1";
    }
};

}  // namespace

constinit const SynapseModel tsodyks{
    .name = "tsodyks",
    .summary = "Short-term depression and facilitation, for synaptic currents that decay exponentially",
    .equations =
        R"(A spike of the source uses a part of the recovered resources x, and adds w u x to the input of the target
when it arrives. Between two spikes, with the resources y in use and z inactive:
    dx/dt = z / tau_rec
    dy/dt = -y / tau_psc
    z = 1 - x - y
    du/dt = -u / tau_fac
With each spike:
    u -> u + U (1 - u), then  x -> x - u x,  y -> y + u x  (with the x before the spike)
tau_psc should be the time constant of the input current of the target, which is then proportional to y.
All synapses with the same source share x, y and u, unless parameters differ between them. The weight w does not
change.)",
    .reference = "M. Tsodyks, A. Uziel and H. Markram, Journal of Neuroscience 20, RC50 (2000)",
    .parameters = Tsodyks::parameters,
    .create = short_term::create<Tsodyks>,
    .conflict = Tsodyks::conflict,
    .keeps_weights = true,
};

}  // namespace ranvier::models
