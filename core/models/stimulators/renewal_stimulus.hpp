#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/aligned_array.hpp"
#include "models/stimulators/poisson_stimulus.hpp"
#include "models/stimulators/renewal_process.hpp"
#include "models/stimulus_tools.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/models/stimulator.hpp"

namespace ranvier::models {

/// Common parameters of trains with gamma distributed intervals.
namespace renewal_parameters {

inline constexpr ParameterInfo shape{
    "shape",
    "",
    1.0,
    {.lower = renewal_process::least_shape, .upper = renewal_process::greatest_shape},
    "Shape of the gamma distribution of intervals: 1 for a Poisson process, more for a regular one"};
inline constexpr ParameterInfo dead_time{
    "dead_time", "ms", 0.0, {.lower = 0.0, .upper = 1e6}, "Time after each spike without another one"};

}  // namespace renewal_parameters

/// Trains whose intervals are a dead time and a gamma distributed time, with a rate that changes in time: a renewal
/// process in operational time, which advances with the rate of the train and stops during the dead time.
///
/// A train starts in equilibrium, as if it had been running forever at its initial rate. `Rates` is a class of
/// stimulus_rates.hpp.
template <class Rates>
class RenewalStimulus final : public Stimulus {
   public:
    struct Parameters {
        const GroupValues& shape;
        const GroupValues& dead_time;
        const GroupValues& start;
        const GroupValues& stop;
    };

    RenewalStimulus(const StimulusArguments& arguments, const Parameters& given, Rates rates)
        : key_(arguments.key),
          targets_(arguments.targets),
          resolution_(arguments.resolution),
          delay_(arguments.delay),
          weights_(arguments.weights.copy(arguments.memory)),
          shapes_(given.shape.copy(arguments.memory)),
          dead_times_(given.dead_time.copy(arguments.memory)),
          windows_(stimulus_tools::windows(given.start, given.stop, arguments.resolution, arguments.memory)),
          rates_(std::move(rates)),
          left_(targets_.size(), 0.0, arguments.memory),
          dead_(targets_.size(), 0.0, arguments.memory),
          drawn_(targets_.size(), 0, arguments.memory) {
        const double most = std::min(greatest_mean, arguments.greatest_mean);
        for (std::size_t i = 0; i < targets_.size(); ++i) {
            const double rate = rates_.greatest(i);
            if (rate * resolution_ / 1000.0 > most) throw stimulus_tools::too_many_spikes(rate, most);
        }
    }

    void add(Step step, double* out) override {
        const Step time = stimulus_tools::emission_of_spikes(step, delay_);
        if (time < 1) return;
        const GroupValues& rates = rates_.in_step(time);
        const bool uniform = rates.uniform() && dead_times_.uniform();
        double passes = uniform ? passing(rates[0], dead_times_[0]) * resolution_ : 0.0;
        for (std::size_t i = 0; i < targets_.size(); ++i) {
            if (!windows_[windows_.size() == 1 ? 0 : i].contains_step_to(time)) continue;
            if (!uniform) passes = passing(rates[i], dead_times_[i]) * resolution_;
            if (dead_[i] == 0.0 && left_[i] > passes) {
                left_[i] -= passes;
                continue;
            }
            const std::uint32_t number = spikes_in_step(i, rates[i]);
            if (number > 0) out[i] += weights_[i] * number;
        }
    }

    bool has_state() const override { return true; }
    void serialize_state(std::uint32_t target, StateColumns& columns) override {
        columns.serialize("left", left_[target]);
        columns.serialize("dead", dead_[target]);
        columns.serialize("drawn", drawn_[target]);
    }
    void take_state(Stimulus& before) noexcept override {
        auto& other = static_cast<RenewalStimulus&>(before);
        left_.swap(other.left_);
        dead_.swap(other.dead_);
        drawn_.swap(other.drawn_);
    }

   private:
    /// Upper limit of the spikes of a target in a step, which are emitted one by one.
    static constexpr double greatest_mean = 1000.0;

    /// Mean intervals that pass in a ms outside the dead time.
    static double passing(double rate, double dead_time) {
        const double per_ms = rate / 1000.0;
        return per_ms / (1.0 - per_ms * dead_time);
    }

    void begin(std::size_t i, double rate) {
        SequentialRandom random = renewal_process::numbers_of(key_, targets_[i], drawn_[i]++);
        // The fraction of time that is dead.
        const double dead_part = rate / 1000.0 * dead_times_[i];
        const double u = random.next_unit();
        if (u < dead_part) {
            dead_[i] = dead_times_[i] * random.next_unit();
            left_[i] = renewal_process::draw_interval(random, shapes_[i]);
        } else {
            left_[i] = renewal_process::draw_rest(random, shapes_[i]);
        }
    }

    std::uint32_t spikes_in_step(std::size_t i, double rate) {
        if (drawn_[i] == 0) begin(i, rate);
        const double passes_in_ms = passing(rate, dead_times_[i]);
        double time = resolution_;  // left in the step
        std::uint32_t spikes = 0;
        while (true) {
            if (dead_[i] >= time) {
                dead_[i] -= time;
                return spikes;
            }
            time -= dead_[i];
            dead_[i] = 0.0;
            const double passes = passes_in_ms * time;
            if (left_[i] > passes || passes == 0.0) {
                left_[i] -= passes;
                return spikes;
            }
            time = std::max(0.0, time - left_[i] / passes_in_ms);
            ++spikes;
            SequentialRandom random = renewal_process::numbers_of(key_, targets_[i], drawn_[i]++);
            if (drawn_[i] == 0) ++drawn_[i];  // after a wrap-around: 0 marks the start of a train
            dead_[i] = dead_times_[i];
            left_[i] = renewal_process::draw_interval(random, shapes_[i]);
        }
    }

    RandomKey key_;
    IdSequence targets_;
    double resolution_;
    DelaySteps delay_;
    GroupValues weights_;
    GroupValues shapes_;
    GroupValues dead_times_;
    std::pmr::vector<stimulus_tools::Window> windows_;
    Rates rates_;
    AlignedVector<double> left_;  ///< rest of the present interval without its dead time, in mean intervals
    AlignedVector<double> dead_;  ///< rest of the dead time, ms
    std::pmr::vector<std::uint32_t> drawn_;  ///< number of intervals
};

/// Why a dead time leaves no time at the greatest rate; nothing if it does.
inline std::optional<std::string> dead_time_conflict(double most, double dead_time) {
    if (most / 1000.0 * dead_time < 1.0) return std::nullopt;
    return "dead_time, " + to_text(dead_time) + " ms, must be shorter than the mean interval at the greatest rate, " +
           to_text(1000.0 / most) + " ms";
}

}  // namespace ranvier::models
