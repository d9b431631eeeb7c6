#pragma once

#include <cstddef>
#include <limits>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ranvier/base/errors.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/models/model_info.hpp"
#include "ranvier/models/stimulator.hpp"

/// Common functions of stimulators: times on the grid, and the window of activity.
namespace ranvier::models::window_parameters {

inline constexpr ParameterInfo start{"start", "ms", 0.0, {.lower = 0.0, .upper = 1e12}, "Time from which it is active"};
inline constexpr ParameterInfo stop{.name = "stop",
                                    .unit = "ms",
                                    .default_value = std::numeric_limits<double>::infinity(),
                                    .bounds = not_negative,
                                    .meaning = "Time up to which it is active",
                                    .may_be_infinite = true};

}  // namespace ranvier::models::window_parameters

namespace ranvier::models::stimulus_tools {

/// Converts a time in ms to steps; infinity becomes the greatest possible step.
/// @throws GridError if it is not on the grid; `object` is its name in the error
Step to_steps(double milliseconds, double resolution, std::string_view object);

/// The window in which a stimulator is active, in steps.
struct Window {
    Step start = 0;
    Step stop = std::numeric_limits<Step>::max();

    /// Whether a current that is emitted at a time flows: start <= time < stop.
    bool contains(Step time) const { return time >= start && time < stop; }
    /// Whether spikes are emitted in the step that ends at a time, that is, in (time - 1, time]: start < time <= stop.
    bool contains_step_to(Step time) const { return time > start && time <= stop; }
};

/// The windows of the targets: one for all or one each.
std::pmr::vector<Window> windows(const GroupValues& start, const GroupValues& stop, double resolution,
                                 std::pmr::memory_resource* memory);

/// The step at whose end the current was emitted that flows during `step`; see Stimulus::add.
inline Step emission_of_current(Step step, DelaySteps delay) { return step - 1 - Step{delay}; }
/// The step in which the spikes were emitted that arrive in `step`.
inline Step emission_of_spikes(Step step, DelaySteps delay) { return step - Step{delay}; }

/// The last time at which the same of these windows contain it as at this time.
Step same_windows_until(std::span<const Window> windows, Step time);
/// The step during which a current flows that is emitted at a time: see emission_of_current().
inline Step step_of_current(Step time, DelaySteps delay) {
    constexpr Step latest = std::numeric_limits<Step>::max();
    return time > latest - 1 - Step{delay} ? latest : time + 1 + Step{delay};
}

/// The value of a piecewise constant function: that of the last of `times` not after `time`, and 0 before the first.
double piecewise_constant(std::span<const Step> times, std::span<const double> values, Step time);

/// The last time up to which it has this value.
Step constant_until(std::span<const Step> times, Step time);

/// The same for mostly ascending times: searches only when the value may have changed.
class PiecewiseConstant {
   public:
    /// @param times ascending @param values one for each time
    double at(std::span<const Step> times, std::span<const double> values, Step time) {
        if (time < begin_ || time >= end_) find(times, values, time);
        return value_;
    }

   private:
    void find(std::span<const Step> times, std::span<const double> values, Step time);

    Step begin_ = 0;
    Step end_ = 0;  ///< no value before the first call
    double value_ = 0.0;
};

/// Converts ascending times to steps.
/// @throws GridError if one is not on the grid
std::pmr::vector<Step> to_steps(std::span<const double> times, double resolution, std::string_view object,
                                std::pmr::memory_resource* memory);

/// @param rate spikes/s, which gives more than `most` spikes in a step
ValueOutOfBoundsError too_many_spikes(double rate, double most);

/// Why start and stop do not fit together; nothing if they do.
std::optional<std::string> window_conflict(double start, double stop);
/// Why times (ascending, >= 0) and values (as many, finite, none below `least`) do not fit together; nothing if they
/// do.
std::optional<std::string> sequence_conflict(std::span<const double> times, std::string_view name_of_values,
                                             std::span<const double> values,
                                             double least = -std::numeric_limits<double>::infinity());

/// What add_weighted() adds for a target.
inline double weighted(double value, double weight) { return value == 0.0 ? -0.0 : value * weight; }
/// Adds value * weight for each target.
void add_weighted(double value, const GroupValues& weights, std::size_t size, double* out);

}  // namespace ranvier::models::stimulus_tools
