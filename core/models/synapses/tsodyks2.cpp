#include <array>
#include <cstddef>
#include <string_view>

#include "models/synapses/release_rules.hpp"
#include "models/synapses/short_term.hpp"
#include "ranvier/models/registry.hpp"

namespace ranvier::models {

namespace {

class Tsodyks2 {
   public:
    static constexpr std::array parameters{
        per_synapse(ParameterInfo{"U", "", 0.5, short_term::part, "Part of the resources that a spike uses at rest"}),
        per_synapse(ParameterInfo{"tau_rec", "ms", 800.0, short_term::time_constant,
                                  "Time constant with which resources recover"}),
        per_synapse(ParameterInfo{"tau_fac", "ms", 0.0, short_term::time_constant_or_none,
                                  "Time constant of facilitation; 0 means none"}),
        follows(at_beginning(ParameterInfo{"u", "", 0.5, short_term::part, "Part that the first spike uses"}), "U"),
        at_beginning(ParameterInfo{"x", "", 1.0, short_term::part, "Resources that the first spike finds"}),
    };

    struct Rule : release_rules::Tsodyks2 {
        using OnDevice = release_rules::Tsodyks2;
        static constexpr std::array<std::string_view, states> state_names{"used", "resources"};

        static State initial(const Constants& c) { return {.values = {c.first_used, c.first_resources}}; }
    };
};

}  // namespace

constinit const SynapseModel tsodyks2{
    .name = "tsodyks2",
    .summary = "Short-term depression and facilitation of the weight, for all kinds of synaptic input",
    .equations =
        R"(The n-th spike of the source adds w u_n x_n to the input of the target when it arrives. With the interval
t since the spike before:
    x_n = 1 + (x_(n-1) (1 - u_(n-1)) - 1) exp(-t / tau_rec)
    u_n = U + u_(n-1) (1 - U) exp(-t / tau_fac)
u_1 = u and x_1 = x: the first spike finds the synapse as the parameters say, whenever it comes.
All synapses with the same source share u_n and x_n, unless parameters differ between them. The weight w does not
change.)",
    .reference =
        "M. Tsodyks and H. Markram, Proceedings of the National Academy of Sciences 94, 719-723 (1997); "
        "M. Tsodyks, K. Pawelzik and H. Markram, Neural Computation 10, 821-835 (1998)",
    .parameters = Tsodyks2::parameters,
    .create = short_term::create<Tsodyks2>,
    .keeps_weights = true,
};

}  // namespace ranvier::models
