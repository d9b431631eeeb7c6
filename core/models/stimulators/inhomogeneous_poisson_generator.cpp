#include <array>
#include <cstddef>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/stimulators/poisson_stimulus.hpp"
#include "ranvier/models/registry.hpp"

namespace ranvier::models {

namespace {
namespace inhomogeneous_poisson_generator_parts {

enum Parameter : std::size_t { start, stop };
enum Sequence : std::size_t { times, rates };

constexpr std::array parameters{window_parameters::start, window_parameters::stop};
constexpr std::array sequences{
    SequenceInfo{"times", "ms", "Times at which the rate changes, ascending"},
    SequenceInfo{"rates", "spikes/s", "Rate of each target's train from each of these times on"},
};

class InhomogeneousPoissonGenerator final : public PoissonStimulus {
   public:
    explicit InhomogeneousPoissonGenerator(const StimulusArguments& arguments)
        : PoissonStimulus(arguments, arguments.parameters[start], arguments.parameters[stop]),
          times_(stimulus_tools::to_steps(std::span<const double>(arguments.sequences[times]), arguments.resolution,
                                          "times", arguments.memory)),
          means_(
              means_of({std::pmr::vector<double>(arguments.sequences[rates].begin(), arguments.sequences[rates].end())})
                  .values,
              arguments.memory) {}

   private:
    void prepare(Step time) override {
        // The step that ends at `time` has the rate at its start.
        const double mean = course_.at(times_, means_, time - 1);
        if (mean == current_mean_) return;
        sampler_.set_means({{mean}});
        current_mean_ = mean;
    }

    std::pmr::vector<Step> times_;
    std::pmr::vector<double> means_;
    stimulus_tools::PiecewiseConstant course_;
    double current_mean_ = 0.0;  ///< spikes in a step
};

std::unique_ptr<Stimulus> create(const StimulusArguments& arguments) {
    return std::make_unique<InhomogeneousPoissonGenerator>(arguments);
}

std::optional<std::string> conflict(std::span<const double> p, std::span<const std::vector<double>> s) {
    if (auto reason = stimulus_tools::window_conflict(p[start], p[stop])) return reason;
    if (auto reason = stimulus_tools::sequence_conflict(s[times], "rates", s[rates], 0.0)) return reason;
    for (std::size_t i = 0; i < s[rates].size(); ++i) {
        if (s[rates][i] <= greatest_rate) continue;
        return "rates[" + std::to_string(i) + "] is above 1e9 spikes/s";
    }
    return std::nullopt;
}

}  // namespace inhomogeneous_poisson_generator_parts
}  // namespace

constinit const StimulatorModel inhomogeneous_poisson_generator{
    .name = "inhomogeneous_poisson_generator",
    .summary = "Independent Poisson spike trains, one for each target, whose rate changes at given times",
    .equations =
        "As poisson_generator, with the rate rates[i] for spikes emitted in times[i] < t <= times[i + 1],\n"
        "and 0 before times[0].",
    .reference =
        "J. K. Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC'11 (2011); W. Hörmann,\n"
        "Insurance: Mathematics and Economics 12, 39-45 (1993), where the mean exceeds 16",
    .output = StimulatorOutput::spikes,
    .parameters = inhomogeneous_poisson_generator_parts::parameters,
    .sequences = inhomogeneous_poisson_generator_parts::sequences,
    .create = inhomogeneous_poisson_generator_parts::create,
    .conflict = inhomogeneous_poisson_generator_parts::conflict,
};

}  // namespace ranvier::models
