#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/aligned_array.hpp"
#include "base/math.hpp"
#include "models/stimulus_tools.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/base/random.hpp"
#include "ranvier/models/registry.hpp"

namespace ranvier::models {

namespace {
namespace noise_generator_parts {

enum Parameter : std::size_t { mean, deviation, interval, start, stop, modulation, frequency, phase };

constexpr std::array parameters{
    ParameterInfo{"mean", "pA", 0.0, any_current, "Mean current"},
    ParameterInfo{"std", "pA", 0.0, {.lower = 0.0, .upper = 1e30}, "Standard deviation of the current"},
    ParameterInfo{"interval",
                  "ms",
                  1.0,
                  {.lower = 0.0, .upper = 1e12, .lower_open = true},
                  "Time for which a value holds, a multiple of the resolution"},
    window_parameters::start,
    window_parameters::stop,
    ParameterInfo{
        "std_mod", "pA", 0.0, {.lower = 0.0, .upper = 1e30}, "Modulation of the standard deviation, at most std"},
    ParameterInfo{"frequency", "Hz", 0.0, any_frequency, "Frequency of the modulation"},
    ParameterInfo{"phase", "degrees", 0.0, any_phase, "Phase of the modulation at time 0"},
};

struct TransformToNormal {
    RANVIER_ALWAYS_INLINE static void run(const std::uint32_t* words, std::size_t which, std::size_t size,
                                          double* __restrict normals) {
        for (std::size_t i = 0; i < size; ++i) {
            const std::uint32_t* const pair = words + 4 * i + 2 * which;
            normals[i] = math::normal_quantile(to_open_unit(pair[0] | std::uint64_t{pair[1]} << 32));
        }
    }
};

class NoiseStimulus final : public Stimulus {
   public:
    explicit NoiseStimulus(const StimulusArguments& arguments)
        : key_(arguments.key),
          targets_(arguments.targets),
          size_(arguments.targets.size()),
          delay_(arguments.delay),
          instruction_set_(arguments.instruction_set),
          weights_(arguments.weights.copy(arguments.memory)),
          mean_(arguments.parameters[mean].copy(arguments.memory)),
          deviation_(arguments.parameters[deviation].copy(arguments.memory)),
          modulation_(arguments.parameters[modulation].copy(arguments.memory)),
          cycles_per_step_(arguments.parameters[frequency].copy(arguments.memory)),
          phase_(arguments.parameters[phase].copy(arguments.memory)),
          windows_(stimulus_tools::windows(arguments.parameters[start], arguments.parameters[stop],
                                           arguments.resolution, arguments.memory)),
          intervals_(arguments.memory),
          drawn_(arguments.memory),
          currents_(size_, 0.0, arguments.memory) {
        for (const double value : arguments.parameters[interval].values) {
            intervals_.push_back(stimulus_tools::to_steps(value, arguments.resolution, "interval"));
            if (intervals_.back() >= 1) continue;
            throw ValueOutOfBoundsError({.object = "interval",
                                         .value = to_text(value) + " ms",
                                         .bound = "it must be at least one step",
                                         .remedy = "the resolution is " + to_text(arguments.resolution) + " ms"});
        }
        for (double& value : cycles_per_step_.values) value *= arguments.resolution / 1000.0;
        for (double& value : phase_.values) value /= 360.0;
        common_clock_ = windows_.size() == 1 && intervals_.size() == 1;
        drawn_.assign(common_clock_ ? 1 : size_, none);
    }

    void add(Step step, double* out) override {
        const Step time = stimulus_tools::emission_of_current(step, delay_);
        if (time < 0) return;
        if (common_clock_) {
            if (!windows_[0].contains(time)) return;
            if (draw_of(0, time) != drawn_[0]) draw_all(draw_of(0, time));
            for (std::size_t i = 0; i < size_; ++i) out[i] += currents_[i];
            return;
        }
        for (std::size_t i = 0; i < size_; ++i) {
            if (!window(i).contains(time)) continue;
            if (draw_of(i, time) != drawn_[i]) draw_one(i, draw_of(i, time));
            out[i] += currents_[i];
        }
    }

    std::optional<NoiseCurrents> noise_currents() const override {
        NoiseCurrents noise{.key = key_,
                            .delay = delay_,
                            .weights = weights_,
                            .means = mean_,
                            .deviations = deviation_,
                            .modulations = modulation_,
                            .cycles_per_step = cycles_per_step_,
                            .phases = phase_,
                            .starts = {},
                            .stops = {},
                            .intervals = {intervals_.begin(), intervals_.end()}};
        for (const stimulus_tools::Window& window : windows_) {
            noise.starts.push_back(window.start);
            noise.stops.push_back(window.stop);
        }
        return noise;
    }

   private:
    static constexpr Step none = -1;

    const stimulus_tools::Window& window(std::size_t target) const {
        return windows_[windows_.size() == 1 ? 0 : target];
    }
    Step interval_of(std::size_t target) const { return intervals_[intervals_.size() == 1 ? 0 : target]; }
    /// The first time at which a current is emitted.
    Step origin(std::size_t target) const { return window(target).start; }

    /// Index of the value that holds at a time.
    Step draw_of(std::size_t target, Step time) const { return (time - origin(target)) / interval_of(target); }

    /// Index of the 64-bit word from which value `draw` of a target is made.
    static std::uint32_t block_of(Step draw) { return static_cast<std::uint32_t>(draw / 2); }
    static std::uint32_t attempt_of(Step draw) { return static_cast<std::uint32_t>(draw / 2 >> 32); }

    void set_current(std::size_t i, Step draw, double normal) {
        const double time = static_cast<double>(origin(i) + draw * interval_of(i));
        const double sine = math::sin_cycles(cycles_per_step_[i] * time + phase_[i]);
        const double variance = deviation_[i] * deviation_[i] + modulation_[i] * modulation_[i] * sine;
        // With equal amplitudes, rounding may leave the variance a little below 0.
        currents_[i] = (mean_[i] + std::sqrt(std::max(variance, 0.0)) * normal) * weights_[i];
    }

    void draw_all(Step draw) {
        drawn_[0] = draw;
        constexpr std::size_t batch = 256;
        std::uint64_t ids[batch];
        std::uint32_t blocks[batch];
        std::uint32_t words[4 * batch];
        double normals[batch];
        std::fill_n(blocks, batch, block_of(draw));
        for (std::size_t begin = 0; begin < size_; begin += batch) {
            const std::size_t count = std::min(batch, size_ - begin);
            targets_.copy(begin, std::span(ids, count));
            fill_blocks(instruction_set_, key_, attempt_of(draw), std::span(ids, count), std::span(blocks, count),
                        words);
            Dispatched<TransformToNormal>::call(instruction_set_, static_cast<const std::uint32_t*>(words),
                                                static_cast<std::size_t>(draw % 2), count,
                                                static_cast<double*>(normals));
            for (std::size_t i = 0; i < count; ++i) set_current(begin + i, draw, normals[i]);
        }
    }

    void draw_one(std::size_t i, Step draw) {
        drawn_[i] = draw;
        const auto words = RandomStream{key_, targets_[i].value, attempt_of(draw)}.block(block_of(draw));
        const std::size_t first = 2 * static_cast<std::size_t>(draw % 2);
        set_current(i, draw, math::normal_quantile(to_open_unit(words[first] | std::uint64_t{words[first + 1]} << 32)));
    }

    RandomKey key_;
    IdSequence targets_;
    std::size_t size_;
    DelaySteps delay_;
    InstructionSet instruction_set_;
    GroupValues weights_;
    GroupValues mean_;
    GroupValues deviation_;
    GroupValues modulation_;
    GroupValues cycles_per_step_;
    GroupValues phase_;  ///< in cycles
    std::pmr::vector<stimulus_tools::Window> windows_;
    std::pmr::vector<Step> intervals_;
    bool common_clock_;         ///< whether all targets get new values at the same times
    std::pmr::vector<Step> drawn_;   ///< index of the values in currents_, for all targets or for each
    std::pmr::vector<double> currents_;  ///< times the weight
};

std::unique_ptr<Stimulus> create(const StimulusArguments& arguments) {
    return std::make_unique<NoiseStimulus>(arguments);
}

std::optional<std::string> conflict(std::span<const double> p, std::span<const std::vector<double>>) {
    if (auto reason = stimulus_tools::window_conflict(p[start], p[stop])) return reason;
    if (p[modulation] <= p[deviation]) return std::nullopt;
    return "std_mod, " + to_text(p[modulation]) + " pA, must not exceed std, " + to_text(p[deviation]) + " pA";
}

}  // namespace noise_generator_parts
}  // namespace

constinit const StimulatorModel noise_generator{
    .name = "noise_generator",
    .summary = "Independent Gaussian noise currents, one for each target",
    .equations =
        "I(t) = mean + sqrt(std^2 + std_mod^2 sin(2 pi (frequency t_j + phase / 360))) N_j for t_j <= t < t_j + "
        "interval,\n"
        "where t_j = start + j interval, and the N_j of each target are independent and standard normal; 0 outside\n"
        "start <= t < stop. The current flows into a target from t + delay on.",
    .reference = "M. J. Wichura, Applied Statistics 37, 477-484 (1988), for the normal numbers",
    .output = StimulatorOutput::current,
    .parameters = noise_generator_parts::parameters,
    .sequences = {},
    .create = noise_generator_parts::create,
    .conflict = noise_generator_parts::conflict,
};

}  // namespace ranvier::models
