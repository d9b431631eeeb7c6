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
#include <utility>
#include <vector>

#include "base/math.hpp"
#include "models/stimulators/poisson_stimulus.hpp"
#include "ranvier/models/registry.hpp"

namespace ranvier::models {

namespace {
namespace mip_generator_parts {

enum Parameter : std::size_t { rate, p_copy, start, stop };

constexpr std::array parameters{
    ParameterInfo{"rate", "spikes/s", 0.0, {.lower = 0.0, .upper = greatest_rate}, "Rate of the mother process"},
    ParameterInfo{"p_copy",
                  "",
                  1.0,
                  {.lower = 0.0, .upper = 1.0},
                  "Probability with which a train has each of the spikes of the mother process"},
    window_parameters::start,
    window_parameters::stop,
};

/// A Poisson number, by inversion. @pre mean is small enough that e^-mean is a normal number
std::uint32_t draw_poisson(SequentialRandom& random, double mean) {
    double probability = math::exp(-mean);
    double sum = probability;
    const double u = random.next_unit();
    std::uint32_t number = 0;
    while (u > sum && probability > 0.0) {
        ++number;
        probability *= mean / number;
        sum += probability;
    }
    return number;
}

/// A spike of the mother process is a point (time, level), where points have a density of one per second and spike/s:
/// processes of all rates share the points whose level is below their rate. Points are drawn in layers of levels, 0
/// to 1, 1 to 2, 2 to 4, 4 to 8 and so on, so that they do not depend on the rates in use.
class MipGenerator final : public Stimulus {
   public:
    explicit MipGenerator(const StimulusArguments& arguments)
        : key_(arguments.key),
          mother_key_(make_key(bits_of(arguments.key), Purpose::poisson, ~std::uint64_t{0})),
          resolution_(arguments.resolution),
          instruction_set_(arguments.instruction_set),
          delay_(arguments.delay),
          weights_(arguments.weights.copy(arguments.memory)),
          rates_(arguments.parameters[rate].copy(arguments.memory)),
          kept_(arguments.parameters[p_copy].copy(arguments.memory)),
          windows_(stimulus_tools::windows(arguments.parameters[start], arguments.parameters[stop],
                                           arguments.resolution, arguments.memory)),
          targets_(arguments.targets.size(), arguments.memory),
          blocks_(targets_.size(), 0, arguments.memory),
          words_(4 * targets_.size(), 0, arguments.memory),
          numbers_(targets_.size(), 0, arguments.memory) {
        arguments.targets.copy(0, targets_);
        const double most = std::min(greatest_mean, arguments.greatest_mean);
        for (const double value : rates_.values) {
            if (value * resolution_ / 1000.0 > most) throw stimulus_tools::too_many_spikes(value, most);
            greatest_rate_ = std::max(greatest_rate_, value);
        }
    }

    void add(Step step, double* out) override {
        const Step time = stimulus_tools::emission_of_spikes(step, delay_);
        if (time < 1 || targets_.empty()) return;
        const auto number = static_cast<std::uint64_t>(time);
        const RandomKey mother = make_key(bits_of(mother_key_), Purpose::poisson, number);
        const RandomKey children = make_key(bits_of(key_), Purpose::poisson, number);
        double low = 0.0;
        double high = 1.0;
        for (std::uint32_t layer = 0; low < greatest_rate_; ++layer, low = high, high *= 2.0) {
            SequentialRandom random({mother, layer});
            const std::uint32_t points = draw_poisson(random, (high - low) * resolution_ / 1000.0);
            for (std::uint32_t point = 0; point < points; ++point) {
                const double level = low + (high - low) * random.next_unit();
                if (level < greatest_rate_) copy(time, level, children, {layer, point});
            }
        }
        for (std::size_t i = 0; i < numbers_.size(); ++i) {
            if (numbers_[i] > 0) out[i] += weights_[i] * std::exchange(numbers_[i], 0);
        }
    }

   private:
    /// Upper limit for the mother process in a step. The layers up to it may contain twice as many.
    static constexpr double greatest_mean = 256.0;

    struct Point {
        std::uint32_t layer;
        std::uint32_t number;
    };

    static std::uint64_t bits_of(RandomKey key) { return key.low | std::uint64_t{key.high} << 32; }

    /// Gives a spike of the mother process to the targets that keep it.
    void copy(Step time, double level, RandomKey key, Point point) {
        std::ranges::fill(blocks_, point.number / 2);
        fill_blocks(instruction_set_, key, point.layer, targets_, blocks_, words_.data());
        for (std::size_t i = 0; i < targets_.size(); ++i) {
            const std::uint32_t* const words = words_.data() + 4 * i + 2 * (point.number % 2);
            const double u = to_open_unit(words[0] | std::uint64_t{words[1]} << 32);
            if (u >= kept_[i] || level >= rates_[i]) continue;
            if (windows_[windows_.size() == 1 ? 0 : i].contains_step_to(time)) ++numbers_[i];
        }
    }

    RandomKey key_;
    RandomKey mother_key_;
    double resolution_;
    InstructionSet instruction_set_;
    DelaySteps delay_;
    GroupValues weights_;
    GroupValues rates_;
    GroupValues kept_;
    std::pmr::vector<stimulus_tools::Window> windows_;
    double greatest_rate_ = 0.0;
    std::pmr::vector<std::uint64_t> targets_;
    std::pmr::vector<std::uint32_t> blocks_;
    std::pmr::vector<std::uint32_t> words_;
    std::pmr::vector<std::uint32_t> numbers_;  ///< spikes of each target in a step; 0 between steps
};

std::unique_ptr<Stimulus> create(const StimulusArguments& arguments) {
    return std::make_unique<MipGenerator>(arguments);
}

std::optional<std::string> conflict(std::span<const double> p, std::span<const std::vector<double>>) {
    return stimulus_tools::window_conflict(p[start], p[stop]);
}

}  // namespace mip_generator_parts
}  // namespace

constinit const StimulatorModel mip_generator{
    .name = "mip_generator",
    .summary = "Correlated Poisson spike trains, one for each target: parts of one mother process (MIP)",
    .equations =
        R"(The mother process is a Poisson process with the rate `rate`. The train of each target has each spike of it with the
probability p_copy. So trains are Poisson processes with the rate p_copy rate; the correlation of the numbers of spikes
of two trains in any bin is sqrt(p_copy1 p_copy2), and their covariance p_copy1 p_copy2 times the mean number of spikes
of the mother process. If rates differ, trains share the spikes of the mother process with the lower rate, which are a
part of those with the higher rate. All targets of a stimulus, or all sources of a population, share one mother
process. Spikes are emitted in start < t <= stop; they arrive at t + delay.)",
    .reference = "A. Kuhn, A. Aertsen and S. Rotter, Neural Computation 15, 67-101 (2003)",
    .output = StimulatorOutput::spikes,
    .parameters = mip_generator_parts::parameters,
    .sequences = {},
    .create = mip_generator_parts::create,
    .conflict = mip_generator_parts::conflict,
};

}  // namespace ranvier::models
