#include "models/stimulus_tools.hpp"

#include <algorithm>
#include <cmath>

#include "base/step_times.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::models::stimulus_tools {

Step to_steps(double milliseconds, double resolution, std::string_view object) {
    if (milliseconds == std::numeric_limits<double>::infinity()) return std::numeric_limits<Step>::max();
    const double steps = milliseconds / resolution;
    const double nearest = std::floor(steps + 0.5);
    const auto time_of = [resolution](double step) {
        return std::abs(step) < 0x1p62 ? StepTimes(resolution)(static_cast<Step>(step)) : step * resolution;
    };
    // A decimal time in ms and the resolution are both rounded to binary.
    const double tolerance = 1e-6 + std::abs(steps) * 1e-15;
    if (!(std::abs(steps - nearest) <= tolerance)) {
        throw GridError({.object = std::string(object),
                         .value = to_text(milliseconds) + " ms",
                         .bound = "it must be a multiple of the resolution, " + to_text(resolution) + " ms",
                         .remedy = "the nearest one is " + to_text(time_of(nearest)) + " ms"});
    }
    if (!(std::abs(nearest) < 0x1p62)) {
        throw ValueOutOfBoundsError({.object = std::string(object),
                                     .value = to_text(milliseconds) + " ms",
                                     .bound = "it must be below 2^62 steps",
                                     .remedy = "give a smaller time"});
    }
    return static_cast<Step>(nearest);
}

std::pmr::vector<Step> to_steps(std::span<const double> times, double resolution, std::string_view object,
                                std::pmr::memory_resource* memory) {
    std::pmr::vector<Step> steps(memory);
    steps.reserve(times.size());
    for (const double time : times) steps.push_back(to_steps(time, resolution, object));
    return steps;
}

std::pmr::vector<Window> windows(const GroupValues& start, const GroupValues& stop, double resolution,
                                 std::pmr::memory_resource* memory) {
    std::pmr::vector<Window> result(std::max(start.values.size(), stop.values.size()), memory);
    for (std::size_t i = 0; i < result.size(); ++i) {
        result[i] = {to_steps(start[i], resolution, "start"), to_steps(stop[i], resolution, "stop")};
    }
    return result;
}

Step same_windows_until(std::span<const Window> windows, Step time) {
    Step last = std::numeric_limits<Step>::max();
    for (const Window& window : windows) {
        for (const Step edge : {window.start, window.stop}) {
            if (edge > time) last = std::min(last, edge - 1);
        }
    }
    return last;
}

Step constant_until(std::span<const Step> times, Step time) {
    const auto after = std::upper_bound(times.begin(), times.end(), time);
    return after == times.end() ? std::numeric_limits<Step>::max() : *after - 1;
}

double piecewise_constant(std::span<const Step> times, std::span<const double> values, Step time) {
    const auto after = std::upper_bound(times.begin(), times.end(), time);
    return after == times.begin() ? 0.0 : values[static_cast<std::size_t>(after - times.begin()) - 1];
}

void PiecewiseConstant::find(std::span<const Step> times, std::span<const double> values, Step time) {
    const auto after = std::upper_bound(times.begin(), times.end(), time);
    begin_ = after == times.begin() ? std::numeric_limits<Step>::min() : *(after - 1);
    end_ = after == times.end() ? std::numeric_limits<Step>::max() : *after;
    value_ = piecewise_constant(times, values, time);
}

ValueOutOfBoundsError too_many_spikes(double rate, double most) {
    return ValueOutOfBoundsError({.object = "rate",
                                  .value = to_text(rate) + " spikes/s",
                                  .bound = "it must not give more than " + to_text(most) + " spikes in a step",
                                  .remedy = "give a smaller rate or a finer resolution"});
}

std::optional<std::string> window_conflict(double start, double stop) {
    if (start <= stop) return std::nullopt;
    return "stop, " + to_text(stop) + " ms, must not be before start, " + to_text(start) + " ms";
}

std::optional<std::string> sequence_conflict(std::span<const double> times, std::string_view name_of_values,
                                             std::span<const double> values, double least) {
    const std::string name(name_of_values);
    if (times.size() != values.size()) {
        return "times has " + std::to_string(times.size()) + " elements, but " + name + " has " +
               std::to_string(values.size());
    }
    for (std::size_t i = 0; i < times.size(); ++i) {
        const std::string index = "[" + std::to_string(i) + "]";
        if (!std::isfinite(times[i]) || times[i] < 0.0) {
            return "times" + index + " is " + to_text(times[i]) + " ms, and must be a finite time >= 0";
        }
        if (i > 0 && times[i] <= times[i - 1]) {
            return "times" + index + ", " + to_text(times[i]) + " ms, must be later than the time before it, " +
                   to_text(times[i - 1]) + " ms";
        }
        if (!std::isfinite(values[i])) return name + index + " is " + to_text(values[i]) + ", and must be finite";
        if (values[i] < least) {
            return name + index + " is " + to_text(values[i]) + ", and must not be below " + to_text(least);
        }
    }
    return std::nullopt;
}

void add_weighted(double value, const GroupValues& weights, std::size_t size, double* out) {
    if (value == 0.0) return;
    if (weights.uniform()) {
        const double product = value * weights.values[0];
        for (std::size_t i = 0; i < size; ++i) out[i] += product;
    } else {
        for (std::size_t i = 0; i < size; ++i) out[i] += value * weights.values[i];
    }
}

}  // namespace ranvier::models::stimulus_tools
