#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/stimulus_tools.hpp"
#include "ranvier/models/registry.hpp"

namespace ranvier::models {

namespace {
namespace step_current_generator_parts {

enum Parameter : std::size_t { start, stop };
enum Sequence : std::size_t { times, amplitudes };

constexpr std::array parameters{window_parameters::start, window_parameters::stop};
constexpr std::array sequences{
    SequenceInfo{"times", "ms", "Times at which the current changes, ascending"},
    SequenceInfo{"amplitudes", "pA", "Current from each of these times on"},
};

class StepCurrent final : public Stimulus {
   public:
    explicit StepCurrent(const StimulusArguments& arguments)
        : size_(arguments.targets.size()),
          delay_(arguments.delay),
          weights_(arguments.weights.copy(arguments.memory)),
          windows_(stimulus_tools::windows(arguments.parameters[start], arguments.parameters[stop],
                                           arguments.resolution, arguments.memory)),
          times_(stimulus_tools::to_steps(std::span<const double>(arguments.sequences[times]), arguments.resolution,
                                          "times", arguments.memory)),
          amplitudes_(arguments.sequences[amplitudes].begin(), arguments.sequences[amplitudes].end(),
                      arguments.memory) {}

    void add(Step step, double* out) override {
        const Step time = stimulus_tools::emission_of_current(step, delay_);
        if (time < 0) return;
        const double value = course_.at(times_, amplitudes_, time);
        if (windows_.size() == 1) {
            if (windows_[0].contains(time)) stimulus_tools::add_weighted(value, weights_, size_, out);
            return;
        }
        for (std::size_t i = 0; i < size_; ++i) {
            if (windows_[i].contains(time)) out[i] += value * weights_[i];
        }
    }

    std::optional<double> common_number(Step step) const override {
        if (windows_.size() != 1 || !weights_.uniform()) return std::nullopt;
        const Step time = stimulus_tools::emission_of_current(step, delay_);
        if (time < 0 || !windows_[0].contains(time)) return -0.0;
        return stimulus_tools::weighted(stimulus_tools::piecewise_constant(times_, amplitudes_, time),
                                        weights_.values[0]);
    }

    Step steady_until(Step step) const override {
        const Step time = stimulus_tools::emission_of_current(step, delay_);
        if (time < 0) return stimulus_tools::step_of_current(-1, delay_);
        const Step last =
            std::min(stimulus_tools::same_windows_until(windows_, time), stimulus_tools::constant_until(times_, time));
        return stimulus_tools::step_of_current(last, delay_);
    }

   private:
    stimulus_tools::PiecewiseConstant course_;
    std::size_t size_;
    DelaySteps delay_;
    GroupValues weights_;
    std::pmr::vector<stimulus_tools::Window> windows_;
    std::pmr::vector<Step> times_;
    std::pmr::vector<double> amplitudes_;
};

std::unique_ptr<Stimulus> create(const StimulusArguments& arguments) {
    return std::make_unique<StepCurrent>(arguments);
}

std::optional<std::string> conflict(std::span<const double> p, std::span<const std::vector<double>> s) {
    if (auto reason = stimulus_tools::window_conflict(p[start], p[stop])) return reason;
    return stimulus_tools::sequence_conflict(s[times], "amplitudes", s[amplitudes]);
}

}  // namespace step_current_generator_parts
}  // namespace

constinit const StimulatorModel step_current_generator{
    .name = "step_current_generator",
    .summary = "Current that is constant between given times",
    .equations =
        "I(t) = amplitudes[i] for times[i] <= t < times[i + 1] and start <= t < stop, else 0;\n"
        "it flows into a target from t + delay on.",
    .reference = "",
    .output = StimulatorOutput::current,
    .parameters = step_current_generator_parts::parameters,
    .sequences = step_current_generator_parts::sequences,
    .create = step_current_generator_parts::create,
    .conflict = step_current_generator_parts::conflict,
};

}  // namespace ranvier::models
