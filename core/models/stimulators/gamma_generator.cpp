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
namespace gamma_generator_parts {

enum Parameter : std::size_t { rate, shape, dead_time, start, stop };

constexpr std::array parameters{
    ParameterInfo{"rate", "spikes/s", 0.0, {.lower = 0.0, .upper = greatest_rate}, "Mean rate of each train"},
    renewal_parameters::shape,
    renewal_parameters::dead_time,
    window_parameters::start,
    window_parameters::stop,
};

std::unique_ptr<Stimulus> create(const StimulusArguments& arguments) {
    using Rates = stimulus_rates::Constant;
    const auto& p = arguments.parameters;
    return std::make_unique<RenewalStimulus<Rates>>(
        arguments, RenewalStimulus<Rates>::Parameters{p[shape], p[dead_time], p[start], p[stop]},
        Rates(p[rate], arguments.memory));
}

std::optional<std::string> conflict(std::span<const double> p, std::span<const std::vector<double>>) {
    if (auto reason = stimulus_tools::window_conflict(p[start], p[stop])) return reason;
    return dead_time_conflict(p[rate], p[dead_time]);
}

}  // namespace gamma_generator_parts
}  // namespace

constinit const StimulatorModel gamma_generator{
    .name = "gamma_generator",
    .summary = "Independent spike trains with gamma distributed intervals, one for each target, and a dead time",
    .equations =
        R"(Intervals between the spikes of a train are dead_time + (1 / rate - dead_time) G, with G gamma distributed with
the shape and a mean of 1. So the mean rate is `rate`, and the coefficient of variation (1 - rate dead_time) / sqrt(shape).
shape = 1 is a Poisson process, with a dead time if there is one. Trains begin in equilibrium, as if they had always
been going on. Spikes are emitted in start < t <= stop, rounded up to the grid; they arrive at t + delay.)",
    .reference =
        "D. R. Cox, Renewal Theory (1962); G. Marsaglia and W. W. Tsang, ACM Transactions on Mathematical\n"
        "Software 26, 363-372 (2000), for the gamma numbers",
    .output = StimulatorOutput::spikes,
    .parameters = gamma_generator_parts::parameters,
    .sequences = {},
    .create = gamma_generator_parts::create,
    .conflict = gamma_generator_parts::conflict,
};

}  // namespace ranvier::models
