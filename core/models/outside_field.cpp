#include "ranvier/models/outside_field.hpp"

#include <algorithm>
#include <cmath>

#include "base/math.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::models {

namespace {
namespace outside_field_parts {

/// How many numbers follow the shape of a course; for points, the least number.
constexpr std::size_t numbers_of_shapes[] = {1, 6, 5, 2};

FieldCourses::Shape shape_of(const std::vector<double>& course) { return static_cast<FieldCourses::Shape>(course[0]); }

void check(const std::string& name, const std::vector<double>& course) {
    bool fits = !course.empty() && course[0] >= 0.0 && course[0] < static_cast<double>(std::size(numbers_of_shapes));
    if (fits) {
        const std::size_t numbers = course.size() - 1;
        const std::size_t needed = numbers_of_shapes[static_cast<std::size_t>(course[0])];
        fits =
            shape_of(course) == FieldCourses::Shape::points ? numbers >= needed && numbers % 2 == 0 : numbers == needed;
    }
    if (fits) return;
    throw ShapeError({.object = "numbers of " + name + " of a field",
                      .value = std::to_string(course.size()),
                      .bound = "they must be a shape and its numbers",
                      .remedy = "see FieldCourses"});
}

/// The interval of ascending times that a time is in, and its place there: 0 at the beginning, 1 at the end.
struct Interpolation {
    std::size_t begin = 0;
    double part = 0.0;
};

Interpolation place_in(std::span<const double> times, double time) {
    if (time <= times.front()) return {};
    if (time >= times.back()) return {.begin = times.size() - 1, .part = 0.0};
    const auto after = std::ranges::upper_bound(times, time);
    const auto begin = static_cast<std::size_t>(after - times.begin()) - 1;
    return {.begin = begin, .part = (time - times[begin]) / (times[begin + 1] - times[begin])};
}

double value(const std::vector<double>& course, double time) {
    const double* const p = course.data() + 1;
    switch (shape_of(course)) {
        case FieldCourses::Shape::constant:
            return p[0];
        case FieldCourses::Shape::sine:
            if (time < p[4] || time >= p[5]) return 0.0;
            return p[1] + p[0] * math::sin_cycles(p[2] * time / 1000.0 + p[3] / 360.0);
        case FieldCourses::Shape::pulses: {
            const double since = time - p[1];
            if (since < 0.0) return 0.0;
            const double number = std::floor(since / p[3]);
            return number < p[4] && since - number * p[3] < p[2] ? p[0] : 0.0;
        }
        case FieldCourses::Shape::points: {
            const std::size_t count = (course.size() - 1) / 2;
            const Interpolation at = place_in(std::span(p, count), time);
            const double* const values = p + count;
            if (at.part == 0.0) return values[at.begin];
            return values[at.begin] + at.part * (values[at.begin + 1] - values[at.begin]);
        }
    }
    return 0.0;
}

}  // namespace outside_field_parts
}  // namespace

FieldCourses::FieldCourses(const std::map<std::string, std::vector<double>, std::less<>>& given) {
    if (const auto times = given.find("times"); times != given.end()) {
        times_ = times->second;
        return;
    }
    for (const auto& [name, course] : given) {
        outside_field_parts::check(name, course);
        courses_.push_back(course);
    }
}

std::vector<FieldCourses::Part> FieldCourses::at(double time) const {
    std::vector<Part> parts;
    if (!times_.empty()) {
        const outside_field_parts::Interpolation place = outside_field_parts::place_in(times_, time);
        const auto begin = static_cast<std::uint32_t>(place.begin);
        parts.push_back({.distribution = begin, .factor = 1.0 - place.part});
        if (place.part > 0.0) parts.push_back({.distribution = begin + 1, .factor = place.part});
        return parts;
    }
    for (std::uint32_t i = 0; i < courses_.size(); ++i) {
        const double factor = outside_field_parts::value(courses_[i], time);
        if (factor != 0.0) parts.push_back({.distribution = i, .factor = factor});
    }
    return parts;
}

}  // namespace ranvier::models
