#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "models/synapses/random_release.hpp"
#include "models/synapses/release_rules.hpp"
#include "ranvier/models/registry.hpp"

namespace ranvier::models {

namespace {

class Bernoulli {
   public:
    static constexpr std::array parameters{
        per_synapse(ParameterInfo{"p_transmit",
                                  "",
                                  1.0,
                                  {.lower = 0.0, .upper = 1.0},
                                  "Probability with which a synapse transmits a spike of its source"}),
    };
    static constexpr std::size_t parameter_count = parameters.size();

    struct Rule : release_rules::Bernoulli {
        using OnDevice = release_rules::Bernoulli;
        static constexpr std::size_t parameters = parameter_count;
        static constexpr std::array<std::string_view, states> state_names{};

        static std::array<double, states> initial(const Constants&) { return {}; }
        static std::uint32_t greatest_state(const Constants&) { return 0; }
        static std::uint32_t initial_state(const Constants&) { return 0; }
    };

    static double most_released(const Rule::Constants&) { return 1.0; }
};

}  // namespace

constinit const SynapseModel bernoulli{
    .name = "bernoulli",
    .summary = "Synapse that transmits a spike with a fixed probability",
    .equations = R"(Each spike of the source adds the weight to the input of the target with the probability p_transmit.
Synapses draw independently of each other, and anew for each spike.)",
    .reference = "S. Lefort, C. Tomm, J.-C. F. Sarria and C. C. H. Petersen, Neuron 61, 301-316 (2009)",
    .parameters = Bernoulli::parameters,
    .create = random_release::create<Bernoulli>,
    .keeps_weights = true,
    .is_random = true,
};

}  // namespace ranvier::models
