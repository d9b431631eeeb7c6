#include <array>
#include <cmath>
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
namespace sinusoidal_gamma_generator_parts {

enum Parameter : std::size_t { rate, amplitude, frequency, phase, shape, dead_time, start, stop };

constexpr Bounds any_rate{.lower = 0.0, .upper = greatest_rate};
constexpr std::array parameters{
    ParameterInfo{"rate", "spikes/s", 0.0, any_rate, "Mean rate of each train"},
    ParameterInfo{"amplitude",
                  "spikes/s",
                  0.0,
                  {.lower = -greatest_rate, .upper = greatest_rate},
                  "Amplitude of the sine that is added to the rate"},
    ParameterInfo{"frequency", "Hz", 0.0, any_frequency, "Frequency of the sine"},
    ParameterInfo{"phase", "degrees", 0.0, any_phase, "Phase of the sine at time 0"},
    renewal_parameters::shape,
    renewal_parameters::dead_time,
    window_parameters::start,
    window_parameters::stop,
};

std::unique_ptr<Stimulus> create(const StimulusArguments& arguments) {
    using Rates = stimulus_rates::Sine;
    const auto& p = arguments.parameters;
    return std::make_unique<RenewalStimulus<Rates>>(
        arguments, RenewalStimulus<Rates>::Parameters{p[shape], p[dead_time], p[start], p[stop]},
        Rates(arguments, {p[rate], p[amplitude], p[frequency], p[phase]}));
}

std::optional<std::string> conflict(std::span<const double> p, std::span<const std::vector<double>>) {
    if (auto reason = stimulus_tools::window_conflict(p[start], p[stop])) return reason;
    return dead_time_conflict(p[rate] + std::abs(p[amplitude]), p[dead_time]);
}

}  // namespace sinusoidal_gamma_generator_parts
}  // namespace

constinit const StimulatorModel sinusoidal_gamma_generator{
    .name = "sinusoidal_gamma_generator",
    .summary = "Independent spike trains of gamma processes, one for each target, whose rate follows a sine",
    .equations =
        R"(r(t) = max(0, rate + amplitude sin(2 pi frequency t + phase)), with its mean in each step
After a dead time, the train fires when the integral of r(s) / (1 - r(s) dead_time) ds since then has reached a gamma
distributed number with the shape and a mean of 1. So r(t) is the rate of the train if it changes slowly; without a
dead time the mean number of spikes is the integral of r(t) always. shape = 1 is a Poisson process, with a dead time
if there is one. Trains begin in equilibrium with r(start). Spikes are emitted in start < t <= stop, rounded up to the
grid; they arrive at t + delay.)",
    .reference =
        "E. N. Brown et al., Neural Computation 14, 325-346 (2002), time rescaling; M. Deger et al., Journal of\n"
        "Computational Neuroscience 32, 443-463 (2012), dead times",
    .output = StimulatorOutput::spikes,
    .parameters = sinusoidal_gamma_generator_parts::parameters,
    .sequences = {},
    .create = sinusoidal_gamma_generator_parts::create,
    .conflict = sinusoidal_gamma_generator_parts::conflict,
};

}  // namespace ranvier::models
