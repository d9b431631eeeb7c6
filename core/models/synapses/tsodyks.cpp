#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "models/synapses/release_rules.hpp"
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

    struct Rule : release_rules::Tsodyks {
        using OnDevice = release_rules::Tsodyks;
        static constexpr std::array<std::string_view, states> state_names{"recovered", "in_use", "used"};

        static State initial(const Constants& c) { return c.first; }
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
