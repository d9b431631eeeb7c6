#include "models/stimulators/poisson_stimulus.hpp"

#include <algorithm>

#include "ranvier/base/errors.hpp"

namespace ranvier::models {

PoissonStimulus::PoissonStimulus(const StimulusArguments& arguments, const GroupValues& start, const GroupValues& stop)
    : sampler_(arguments),
      size_(arguments.targets.size()),
      resolution_(arguments.resolution),
      greatest_mean_(std::min(PoissonSampler::greatest_mean, arguments.greatest_mean)),
      delay_(arguments.delay),
      weights_(arguments.weights.copy(arguments.memory)),
      windows_(stimulus_tools::windows(start, stop, arguments.resolution, arguments.memory)) {}

GroupValues PoissonStimulus::means_of(const GroupValues& rates) const {
    GroupValues means = rates;
    for (double& value : means.values) {
        const double rate = value;
        value *= resolution_ / 1000.0;
        if (value <= greatest_mean_) continue;
        throw stimulus_tools::too_many_spikes(rate, greatest_mean_);
    }
    return means;
}

std::optional<PoissonTrains> PoissonStimulus::trains() const {
    PoissonTrains trains;
    if (!sampler_.describe(trains)) return std::nullopt;
    trains.delay = delay_;
    trains.weights = weights_;
    for (const stimulus_tools::Window& window : windows_) {
        trains.starts.push_back(window.start);
        trains.stops.push_back(window.stop);
    }
    return trains;
}

void PoissonStimulus::add(Step step, double* out) {
    const Step time = stimulus_tools::emission_of_spikes(step, delay_);
    if (time < 1) return;
    if (windows_.size() == 1) {
        if (!windows_[0].contains_step_to(time)) return;
        prepare(time);
        sampler_.draw(time);
        sampler_.add(weights_, out);
        return;
    }
    prepare(time);
    sampler_.draw(time);
    for (std::size_t i = 0; i < size_; ++i) {
        if (windows_[i].contains_step_to(time)) out[i] += weights_[i] * sampler_.count(i);
    }
}

}  // namespace ranvier::models
