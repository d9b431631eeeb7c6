#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "models/synapses/random_release.hpp"
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

    struct Rule {
        struct Constants {
            double probability;
        };
        using Spike = Constants;
        static constexpr std::uint32_t blocks = 1;
        static constexpr std::size_t parameters = Bernoulli::parameters.size();
        static constexpr std::size_t states = 0;
        static constexpr std::array<std::string_view, states> state_names{};

        static Constants constants(std::span<const double> p, double /*resolution*/) { return {p[0]}; }
        static std::array<double, states> initial(const Constants&) { return {}; }
        static std::uint32_t greatest_state(const Constants&) { return 0; }
        static std::uint32_t initial_state(const Constants&) { return 0; }
        static Spike spike(std::array<double, states>&, Step, Step, const Constants& c) { return c; }
        static std::uint32_t released(const Spike& spike, std::uint32_t&, const connect::SynapseDraws& draws) {
            return draws.unit(0) < spike.probability ? 1 : 0;
        }
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
