#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "models/synapses/random_release.hpp"
#include "models/synapses/release_rules.hpp"
#include "models/synapses/short_term.hpp"
#include "ranvier/models/registry.hpp"

namespace ranvier::models {

namespace {

class QuantalStp {
    enum Parameter : std::size_t { n, U, tau_rec, tau_fac, u, depleted };
    static constexpr double most_sites = 65535.0;

   public:
    static constexpr std::array parameters{
        whole(at_beginning(ParameterInfo{"n",
                                         "",
                                         1.0,
                                         {.lower = 1.0, .upper = most_sites},
                                         "Number of release sites of each synapse, a whole number"})),
        per_synapse(ParameterInfo{"U", "", 0.5, short_term::part, "Probability with which a site releases at rest"}),
        per_synapse(ParameterInfo{"tau_rec", "ms", 800.0, short_term::time_constant,
                                  "Mean time after which a site holds a vesicle again"}),
        per_synapse(ParameterInfo{"tau_fac", "ms", 0.0, short_term::time_constant_or_none,
                                  "Time constant of facilitation; 0 means none"}),
        follows(at_beginning(ParameterInfo{"u", "", 0.5, short_term::part,
                                           "Probability with which a site releases at the first spike"}),
                "U"),
        whole(at_beginning(ParameterInfo{"depleted",
                                         "",
                                         0.0,
                                         {.lower = 0.0, .upper = most_sites},
                                         "Number of sites that hold no vesicle at the first spike, a whole number"})),
    };
    static constexpr std::size_t parameter_count = parameters.size();

    struct Rule : release_rules::QuantalStp {
        using OnDevice = release_rules::QuantalStp;
        static constexpr std::size_t parameters = parameter_count;
        static constexpr std::array<std::string_view, states> state_names{"used"};

        static std::array<double, states> initial(const Constants& c) { return {c.first_used}; }
        static std::uint32_t greatest_state(const Constants& c) { return c.sites; }
        static std::uint32_t initial_state(const Constants& c) { return c.available; }
    };

    /// At least 1: for no synapses the greatest number is 0.
    static double most_released(const Rule::Constants& c) { return std::max(1.0, static_cast<double>(c.sites)); }
    static std::optional<std::string> conflict(std::span<const double> p) {
        if (p[n] != std::floor(p[n])) return "n is " + std::to_string(p[n]) + ", but it must be a whole number";
        if (p[depleted] != std::floor(p[depleted]))
            return "depleted is " + std::to_string(p[depleted]) + ", but it must be a whole number";
        if (p[depleted] > p[n]) return "depleted is greater than n, the number of all sites";
        return std::nullopt;
    }
};

}  // namespace

constinit const SynapseModel quantal_stp{
    .name = "quantal_stp",
    .summary = "Synapse with sites that release vesicles at random, with short-term depression and facilitation",
    .equations =
        R"(Of n sites, a_k hold a vesicle when the k-th spike of the source comes, and each of these releases it with the
probability u_k. The spike adds the weight as many times as there are sites that release. A site that has released
is refilled after a random time with the mean tau_rec. With the interval t since the spike before:
    a_k = (a_(k-1) - released_(k-1)) + as many as are drawn of the others, each with 1 - exp(-t / tau_rec)
    u_k = U + u_(k-1) (1 - U) exp(-t / tau_fac)
    released_k is drawn from a_k, each with u_k
u_1 = u and a_1 = n - depleted: the first spike finds the synapse as the parameters say, whenever it comes.
Synapses draw independently of each other. Those with the same source share u_k, unless parameters differ between
them.)",
    .reference =
        "G. Fuhrmann, I. Segev, H. Markram and M. Tsodyks, Journal of Neurophysiology 87, 140-148 (2002); "
        "A. Loebel, G. Silberberg, D. Helbig, H. Markram, M. Tsodyks and M. J. E. Richardson, Frontiers in "
        "Computational Neuroscience 3, 27 (2009)",
    .parameters = QuantalStp::parameters,
    .create = random_release::create<QuantalStp>,
    .conflict = QuantalStp::conflict,
    .keeps_weights = true,
    .is_random = true,
};

}  // namespace ranvier::models
