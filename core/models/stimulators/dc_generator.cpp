#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/stimulators/current_stimulus.hpp"
#include "ranvier/models/registry.hpp"

namespace ranvier::models {

namespace {
namespace dc_generator_parts {

enum Parameter : std::size_t { amplitude, start, stop };

constexpr std::array parameters{
    ParameterInfo{"amplitude", "pA", 0.0, any_current, "Current"},
    window_parameters::start,
    window_parameters::stop,
};

class Constant {
   public:
    Constant(const StimulusArguments& arguments, std::size_t target)
        : amplitude_(arguments.parameters[amplitude][target]) {}

    static constexpr bool is_constant = true;
    double value(Step) const { return amplitude_; }

   private:
    double amplitude_;
};

std::optional<std::string> conflict(std::span<const double> p, std::span<const std::vector<double>>) {
    return stimulus_tools::window_conflict(p[start], p[stop]);
}

}  // namespace dc_generator_parts
}  // namespace

constinit const StimulatorModel dc_generator{
    .name = "dc_generator",
    .summary = "Constant current",
    .equations = "I(t) = amplitude for start <= t < stop, else 0; it flows into a target from t + delay on.",
    .reference = "",
    .output = StimulatorOutput::current,
    .parameters = dc_generator_parts::parameters,
    .sequences = {},
    .create =
        CurrentStimulus<dc_generator_parts::Constant, dc_generator_parts::start, dc_generator_parts::stop>::create,
    .conflict = dc_generator_parts::conflict,
};

}  // namespace ranvier::models
