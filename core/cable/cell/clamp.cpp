#include "ranvier/cable/cell/clamp.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

#include "cable/cell/bound_checks.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/cable/cell/compartments.hpp"
#include "ranvier/models/model_info.hpp"

namespace ranvier::cable {

namespace {

constexpr double nanosiemens_of_megohm = 1e3;  // of 1/MOhm

void check(const PlacedClamp& clamp, const Compartments& compartments) {
    const std::string name = "clamp '" + clamp.name + "'";
    (void)compartments.at(clamp.place, "place of " + name);
    if (clamp.levels.empty() || clamp.levels.size() != clamp.durations.size()) {
        throw ShapeError({.object = "durations of " + name,
                          .value = std::to_string(clamp.durations.size()),
                          .bound = "it has " + std::to_string(clamp.levels.size()) + " levels",
                          .remedy = "give at least one level, and a duration for each"});
    }
    const bool is_voltage = clamp.kind == PlacedClamp::Kind::voltage;
    for (const double level : clamp.levels) {
        if (is_voltage) {
            check_bounds(level, level_bounds, "level of " + name, "mV");
        } else {
            check_bounds(level, models::any_current, "amplitude of " + name, "pA");
        }
    }
    check_bounds(clamp.start, start_bounds, "start of " + name, "ms");
    for (const double& duration : clamp.durations) {
        check_bounds(duration, duration_bounds, "duration of " + name, "ms");
        if (&duration == &clamp.durations.back() || std::isfinite(duration)) continue;
        throw ValueOutOfBoundsError({.object = "duration of " + name,
                                     .value = "infinite",
                                     .bound = "only that of its last level can be",
                                     .remedy = "remove the levels after it"});
    }
    if (is_voltage) check_bounds(clamp.resistance, resistance_bounds, "resistance of " + name, "MOhm");
}

}  // namespace

double end_of(const PlacedClamp& clamp) {
    return std::accumulate(clamp.durations.begin(), clamp.durations.end(), clamp.start);
}

void check_clamps(std::span<const PlacedClamp> clamps, const Compartments& compartments) {
    for (const PlacedClamp& clamp : clamps) check(clamp, compartments);
    for (std::size_t i = 0; i < clamps.size(); ++i) {
        for (std::size_t k = 0; k < i; ++k) {
            const PlacedClamp& clamp = clamps[i];
            const PlacedClamp& other = clamps[k];
            if (clamp.kind != PlacedClamp::Kind::voltage || other.kind != PlacedClamp::Kind::voltage) continue;
            if (compartments.at(clamp.place, "place") != compartments.at(other.place, "place")) continue;
            if (clamp.start >= end_of(other) || other.start >= end_of(clamp)) continue;
            throw ValueOutOfBoundsError(
                {.object = "clamp '" + clamp.name + "'",
                 .value = "from " + to_text(clamp.start) + " to " + to_text(end_of(clamp)) + " ms",
                 .bound = "voltage clamp '" + other.name + "' holds the same compartment at that time",
                 .remedy = "let one end before the other starts, or give one clamp several levels"});
        }
    }
}

ClampCourse::ClampCourse(const PlacedClamp& clamp, double step)
    : numbers_{clamp.kind == PlacedClamp::Kind::voltage ? nanosiemens_of_megohm / clamp.resistance : 0.0} {
    // Rounds times on the grid exactly.
    const auto in_steps = [&](double time) {
        const double steps = time / step;
        return std::abs(steps - std::round(steps)) < 1e-6 ? std::round(steps) : steps;
    };
    double time = clamp.start;
    numbers_.push_back(in_steps(time));
    for (const double duration : clamp.durations) {
        time += duration;
        numbers_.push_back(in_steps(time));
    }
    numbers_.insert(numbers_.end(), clamp.levels.begin(), clamp.levels.end());
}

ClampCourse::Action ClampCourse::at(std::span<const double> numbers, Step step) {
    const std::size_t count = numbers.size() / 2 - 1;
    const double conductance = numbers[0];
    const std::span<const double> bounds = numbers.subspan(1, count + 1);
    const std::span<const double> levels = numbers.subspan(count + 2);
    const auto end = static_cast<double>(step);
    const double begin = end - 1.0;
    Action action;
    const auto after = std::ranges::upper_bound(bounds, begin);
    auto level = static_cast<std::size_t>(after - bounds.begin());
    for (level = level > 0 ? level - 1 : 0; level < count && bounds[level] < end; ++level) {
        const double part = std::min(bounds[level + 1], end) - std::max(bounds[level], begin);
        if (conductance > 0.0) {
            action.conductance += part * conductance;
            action.current += part * conductance * levels[level];
        } else {
            action.current += part * levels[level];
        }
    }
    return action;
}

}  // namespace ranvier::cable
