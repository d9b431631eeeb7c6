#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/stimulators/poisson_stimulus.hpp"
#include "ranvier/models/registry.hpp"

namespace ranvier::models {

namespace {
namespace poisson_generator_parts {

enum Parameter : std::size_t { rate, start, stop };

constexpr std::array parameters{
    ParameterInfo{"rate", "spikes/s", 0.0, {.lower = 0.0, .upper = greatest_rate}, "Rate of each target's train"},
    window_parameters::start,
    window_parameters::stop,
};

class PoissonGenerator final : public PoissonStimulus {
   public:
    explicit PoissonGenerator(const StimulusArguments& arguments)
        : PoissonStimulus(arguments, arguments.parameters[start], arguments.parameters[stop]) {
        sampler_.set_means(means_of(arguments.parameters[rate]));
    }

    std::optional<PoissonTrains> poisson_trains() const override { return trains(); }

   private:
    void prepare(Step) override {}
};

std::unique_ptr<Stimulus> create(const StimulusArguments& arguments) {
    return std::make_unique<PoissonGenerator>(arguments);
}

std::optional<std::string> conflict(std::span<const double> p, std::span<const std::vector<double>>) {
    return stimulus_tools::window_conflict(p[start], p[stop]);
}

}  // namespace poisson_generator_parts
}  // namespace

constinit const StimulatorModel poisson_generator{
    .name = "poisson_generator",
    .summary = "Independent Poisson spike trains, one for each target",
    .equations =
        "The number of spikes that a target receives in a step is Poisson distributed with the mean\n"
        "rate * resolution, for spikes emitted in start < t <= stop; they arrive at t + delay.",
    .reference =
        "J. K. Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC'11 (2011); W. Hörmann,\n"
        "Insurance: Mathematics and Economics 12, 39-45 (1993), where the mean exceeds 16",
    .output = StimulatorOutput::spikes,
    .parameters = poisson_generator_parts::parameters,
    .sequences = {},
    .create = poisson_generator_parts::create,
    .conflict = poisson_generator_parts::conflict,
};

}  // namespace ranvier::models
