#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <optional>
#include <utility>
#include <vector>

#include "models/stimulus_tools.hpp"
#include "ranvier/models/stimulator.hpp"

namespace ranvier::models {

/// A current that is the same function of time for all targets, up to its parameters. `Signal` is built from the
/// parameters of one target, the sequences and the resolution, and gives the current at the end of a step:
///
///     Signal(const StimulusArguments& arguments, std::size_t target);
///     double value(Step time) const;      // pA
///     static constexpr bool is_constant;
///
/// `start` and `stop` are the indices of these two parameters.
template <class Signal, std::size_t start, std::size_t stop>
class CurrentStimulus final : public Stimulus {
   public:
    explicit CurrentStimulus(const StimulusArguments& arguments)
        : size_(arguments.targets.size()),
          delay_(arguments.delay),
          weights_(arguments.weights.copy(arguments.memory)),
          windows_(stimulus_tools::windows(arguments.parameters[start], arguments.parameters[stop],
                                           arguments.resolution, arguments.memory)),
          signals_(arguments.memory) {
        bool uniform = true;
        for (const GroupValues& values : arguments.parameters) uniform = uniform && values.uniform();
        const std::size_t count = uniform ? 1 : size_;
        signals_.reserve(count);
        for (std::size_t i = 0; i < count; ++i) signals_.emplace_back(arguments, i);
    }

    void add(Step step, double* out) override {
        const Step time = stimulus_tools::emission_of_current(step, delay_);
        if (time < 0) return;
        if (signals_.size() == 1 && size_ > 0) {
            if (windows_[0].contains(time)) {
                stimulus_tools::add_weighted(signals_[0].value(time), weights_, size_, out);
            }
            return;
        }
        for (std::size_t i = 0; i < size_; ++i) {
            if (!windows_[windows_.size() == 1 ? 0 : i].contains(time)) continue;
            out[i] += signals_[i].value(time) * weights_[i];
        }
    }

    std::optional<double> common_number(Step step) const override {
        if (signals_.size() != 1 || !weights_.uniform()) return std::nullopt;
        const Step time = stimulus_tools::emission_of_current(step, delay_);
        if (time < 0 || !windows_[0].contains(time)) return -0.0;
        return stimulus_tools::weighted(signals_[0].value(time), weights_.values[0]);
    }

    Step steady_until(Step step) const override {
        const Step time = stimulus_tools::emission_of_current(step, delay_);
        if (time < 0) return stimulus_tools::step_of_current(-1, delay_);
        if constexpr (!Signal::is_constant) return step;
        return stimulus_tools::step_of_current(stimulus_tools::same_windows_until(windows_, time), delay_);
    }

    static std::unique_ptr<Stimulus> create(const StimulusArguments& arguments) {
        return std::make_unique<CurrentStimulus>(arguments);
    }

   private:
    std::size_t size_;
    DelaySteps delay_;
    GroupValues weights_;
    std::pmr::vector<stimulus_tools::Window> windows_;
    std::pmr::vector<Signal> signals_;
};

}  // namespace ranvier::models
