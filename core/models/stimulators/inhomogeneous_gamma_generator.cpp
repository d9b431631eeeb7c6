#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/stimulators/renewal_stimulus.hpp"
#include "models/stimulators/stimulus_rates.hpp"
#include "ranvier/models/registry.hpp"

namespace ranvier::models {

namespace {
namespace inhomogeneous_gamma_generator_parts {

enum Parameter : std::size_t { shape, dead_time, start, stop };
enum Sequence : std::size_t { times, rates };

constexpr std::array parameters{
    renewal_parameters::shape,
    renewal_parameters::dead_time,
    window_parameters::start,
    window_parameters::stop,
};
constexpr std::array sequences{
    SequenceInfo{"times", "ms", "Times at which the rate changes, ascending"},
    SequenceInfo{"rates", "spikes/s", "Rate of each train from each of these times on"},
};

std::unique_ptr<Stimulus> create(const StimulusArguments& arguments) {
    using Rates = stimulus_rates::Piecewise;
    const auto& p = arguments.parameters;
    return std::make_unique<RenewalStimulus<Rates>>(
        arguments, RenewalStimulus<Rates>::Parameters{p[shape], p[dead_time], p[start], p[stop]},
        Rates(arguments, arguments.sequences[times], arguments.sequences[rates]));
}

std::optional<std::string> conflict(std::span<const double> p, std::span<const std::vector<double>> s) {
    if (auto reason = stimulus_tools::window_conflict(p[start], p[stop])) return reason;
    if (auto reason = stimulus_tools::sequence_conflict(s[times], "rates", s[rates], 0.0)) return reason;
    if (s[rates].empty()) return std::nullopt;
    return dead_time_conflict(*std::ranges::max_element(s[rates]), p[dead_time]);
}

}  // namespace inhomogeneous_gamma_generator_parts
}  // namespace

constinit const StimulatorModel inhomogeneous_gamma_generator{
    .name = "inhomogeneous_gamma_generator",
    .summary = "Independent spike trains of gamma processes, one for each target, whose rate changes at given times",
    .equations =
        R"(r(t) = rates[i] for times[i] < t <= times[i + 1], and 0 before times[0]
After a dead time, the train fires when the integral of r(s) / (1 - r(s) dead_time) ds since then has reached a gamma
distributed number with the shape and a mean of 1. So r(t) is the rate of the train, but for some intervals after it
has changed; without a dead time the mean number of spikes is the integral of r(t) always. shape = 1 is a Poisson
process, with a dead time if there is one. Trains begin in equilibrium with r(start). Spikes are emitted in
start < t <= stop, rounded up to the grid; they arrive at t + delay.)",
    .reference =
        "E. N. Brown et al., Neural Computation 14, 325-346 (2002), time rescaling; M. Deger et al., Journal of\n"
        "Computational Neuroscience 32, 443-463 (2012), dead times",
    .output = StimulatorOutput::spikes,
    .parameters = inhomogeneous_gamma_generator_parts::parameters,
    .sequences = inhomogeneous_gamma_generator_parts::sequences,
    .create = inhomogeneous_gamma_generator_parts::create,
    .conflict = inhomogeneous_gamma_generator_parts::conflict,
};

}  // namespace ranvier::models
