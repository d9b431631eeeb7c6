#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/stimulators/poisson_stimulus.hpp"
#include "models/stimulators/stimulus_rates.hpp"
#include "ranvier/models/registry.hpp"

namespace ranvier::models {

namespace {
namespace sinusoidal_poisson_generator_parts {

enum Parameter : std::size_t { rate, amplitude, frequency, phase, start, stop };

constexpr std::array parameters{
    ParameterInfo{"rate", "spikes/s", 0.0, {.lower = 0.0, .upper = greatest_rate}, "Mean rate of each target's train"},
    ParameterInfo{"amplitude",
                  "spikes/s",
                  0.0,
                  {.lower = -greatest_rate, .upper = greatest_rate},
                  "Amplitude of the sine that is added to the rate"},
    ParameterInfo{"frequency", "Hz", 0.0, any_frequency, "Frequency of the sine"},
    ParameterInfo{"phase", "degrees", 0.0, any_phase, "Phase of the sine at time 0"},
    window_parameters::start,
    window_parameters::stop,
};

/// Thins a Poisson process with the greatest rate: each spike is kept with the ratio of the present rate to it. So
/// numbers are drawn from constant tables, and sines are calculated only for spikes.
class SinusoidalPoissonGenerator final : public Stimulus {
   public:
    explicit SinusoidalPoissonGenerator(const StimulusArguments& arguments)
        : key_(arguments.key),
          targets_(arguments.targets),
          delay_(arguments.delay),
          weights_(arguments.weights.copy(arguments.memory)),
          windows_(stimulus_tools::windows(arguments.parameters[start], arguments.parameters[stop],
                                           arguments.resolution, arguments.memory)),
          rates_(arguments, {arguments.parameters[rate], arguments.parameters[amplitude],
                             arguments.parameters[frequency], arguments.parameters[phase]}),
          sampler_(arguments) {
        const double most = std::min(greatest_mean, arguments.greatest_mean);
        const bool uniform = arguments.parameters[rate].uniform() && arguments.parameters[amplitude].uniform();
        GroupValues means{std::pmr::vector<double>(uniform ? 1 : targets_.size(), 0.0, arguments.memory)};
        for (std::size_t i = 0; i < means.values.size(); ++i) {
            means.values[i] = rates_.greatest(i) * arguments.resolution / 1000.0;
            if (means.values[i] > most) throw stimulus_tools::too_many_spikes(rates_.greatest(i), most);
        }
        sampler_.set_means(means);
    }

    void add(Step step, double* out) override {
        const Step time = stimulus_tools::emission_of_spikes(step, delay_);
        if (time < 1) return;
        sampler_.draw(time);
        const RandomKey key_of_step =
            make_key(key_.low | std::uint64_t{key_.high} << 32, Purpose::poisson, static_cast<std::uint64_t>(time));
        for (std::size_t i = 0; i < targets_.size(); ++i) {
            const std::uint32_t drawn = sampler_.count(i);
            if (drawn == 0 || !windows_[windows_.size() == 1 ? 0 : i].contains_step_to(time)) continue;
            // Attempt 0 is used by the sampler.
            SequentialRandom random({key_of_step, targets_[i].value, 1});
            const double kept = rates_.in_step(i, time) / rates_.greatest(i);
            std::uint32_t number = 0;
            for (std::uint32_t spike = 0; spike < drawn; ++spike) number += random.next_unit() < kept ? 1 : 0;
            if (number > 0) out[i] += weights_[i] * number;
        }
    }

   private:
    /// Upper limit of the spikes of a target in a step before thinning.
    static constexpr double greatest_mean = 1000.0;

    RandomKey key_;
    IdSequence targets_;
    DelaySteps delay_;
    GroupValues weights_;
    std::pmr::vector<stimulus_tools::Window> windows_;
    stimulus_rates::Sine rates_;
    PoissonSampler sampler_;
};

std::unique_ptr<Stimulus> create(const StimulusArguments& arguments) {
    return std::make_unique<SinusoidalPoissonGenerator>(arguments);
}

std::optional<std::string> conflict(std::span<const double> p, std::span<const std::vector<double>>) {
    return stimulus_tools::window_conflict(p[start], p[stop]);
}

}  // namespace sinusoidal_poisson_generator_parts
}  // namespace

constinit const StimulatorModel sinusoidal_poisson_generator{
    .name = "sinusoidal_poisson_generator",
    .summary = "Independent Poisson spike trains, one for each target, whose rate follows a sine",
    .equations =
        R"(r(t) = max(0, rate + amplitude sin(2 pi frequency t + phase)), with its mean in each step
The number of spikes that a target receives in a step is Poisson distributed with the mean r * resolution, for spikes
emitted in start < t <= stop; they arrive at t + delay.)",
    .reference = "P. A. W. Lewis and G. S. Shedler, Naval Research Logistics Quarterly 26, 403-413 (1979), thinning",
    .output = StimulatorOutput::spikes,
    .parameters = sinusoidal_poisson_generator_parts::parameters,
    .sequences = {},
    .create = sinusoidal_poisson_generator_parts::create,
    .conflict = sinusoidal_poisson_generator_parts::conflict,
};

}  // namespace ranvier::models
