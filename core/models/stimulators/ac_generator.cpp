#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/math.hpp"
#include "models/stimulators/current_stimulus.hpp"
#include "ranvier/models/registry.hpp"

namespace ranvier::models {

namespace {
namespace ac_generator_parts {

enum Parameter : std::size_t { amplitude, offset, frequency, phase, start, stop };

constexpr std::array parameters{
    ParameterInfo{"amplitude", "pA", 0.0, any_current, "Amplitude of the sine"},
    ParameterInfo{"offset", "pA", 0.0, any_current, "Constant part of the current"},
    ParameterInfo{"frequency", "Hz", 0.0, any_frequency, "Frequency of the sine"},
    ParameterInfo{"phase", "degrees", 0.0, any_phase, "Phase of the sine at time 0"},
    window_parameters::start,
    window_parameters::stop,
};

class Sine {
   public:
    Sine(const StimulusArguments& arguments, std::size_t target)
        : amplitude_(arguments.parameters[amplitude][target]),
          offset_(arguments.parameters[offset][target]),
          cycles_per_step_(arguments.parameters[frequency][target] * arguments.resolution / 1000.0),
          phase_(arguments.parameters[phase][target] / 360.0) {}

    static constexpr bool is_constant = false;
    double value(Step time) const {
        return offset_ + amplitude_ * math::sin_cycles(cycles_per_step_ * static_cast<double>(time) + phase_);
    }

   private:
    double amplitude_;
    double offset_;
    double cycles_per_step_;
    double phase_;  // cycles
};

std::optional<std::string> conflict(std::span<const double> p, std::span<const std::vector<double>>) {
    return stimulus_tools::window_conflict(p[start], p[stop]);
}

}  // namespace ac_generator_parts
}  // namespace

constinit const StimulatorModel ac_generator{
    .name = "ac_generator",
    .summary = "Sinusoidal current",
    .equations =
        "I(t) = offset + amplitude sin(2 pi (frequency t + phase / 360)) for start <= t < stop, else 0, sampled\n"
        "at the steps of the grid; it flows into a target from t + delay on.",
    .reference = "",
    .output = StimulatorOutput::current,
    .parameters = ac_generator_parts::parameters,
    .sequences = {},
    .create = CurrentStimulus<ac_generator_parts::Sine, ac_generator_parts::start, ac_generator_parts::stop>::create,
    .conflict = ac_generator_parts::conflict,
};

}  // namespace ranvier::models
