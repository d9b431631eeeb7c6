#include "ranvier/cable/cell/morphology.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <string_view>
#include <utility>

#include "base/counted.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::cable {

namespace {

// Bounds that keep areas and resistances finite.
constexpr double longest = 1e9;      // um: a kilometre
constexpr double thinnest = 1e-6;    // um

std::string name_of(std::size_t section) { return "section " + std::to_string(section) + " of a morphology"; }

void check_parent(const Section& section, std::size_t index) {
    if (index == 0 && section.parent != -1) {
        throw ValueOutOfBoundsError({.object = name_of(0),
                                     .value = "parent " + std::to_string(section.parent),
                                     .bound = "the first section is the root and has no parent",
                                     .remedy = "begin with the root; its parent is -1"});
    }
    if (index > 0 && (section.parent < 0 || static_cast<std::size_t>(section.parent) >= index)) {
        throw ValueOutOfBoundsError({.object = name_of(index),
                                     .value = "parent " + std::to_string(section.parent),
                                     .bound = "a parent is one of the sections before it, since a cell is one tree",
                                     .remedy = "list parents before their children; a cell has one root"});
    }
    if (!(section.parent_position >= 0.0 && section.parent_position <= 1.0)) {
        throw ValueOutOfBoundsError({.object = name_of(index),
                                     .value = "parent_position " + to_text(section.parent_position),
                                     .bound = "a fraction of the length of the parent, from 0 to 1",
                                     .remedy = "0 is the start of the parent, 1 its end"});
    }
}

void check_points(const Section& section, std::size_t index) {
    const std::size_t count = section.distances.size();
    if (count < 2 || section.radii.size() != count) {
        throw ShapeError(
            {.object = name_of(index),
             .value = std::to_string(count) + " distances and " + std::to_string(section.radii.size()) + " radii",
             .bound = "a section has at least two points, each with a distance and a radius",
             .remedy = "give each point both"});
    }
    for (std::size_t i = 0; i < count; ++i) {
        const double distance = section.distances[i];
        const bool ascends = i == 0 ? distance == 0.0 : distance >= section.distances[i - 1];
        if (!ascends || !(distance <= longest)) {
            throw ValueOutOfBoundsError({.object = name_of(index),
                                         .value = "distance " + to_text(distance) + " um of point " + std::to_string(i),
                                         .bound = "distances begin with 0, ascend, and end below " + to_text(longest),
                                         .remedy = "check the order and the unit of the points"});
        }
        const double radius = section.radii[i];
        if (radius >= thinnest && radius <= longest) continue;
        throw ValueOutOfBoundsError({.object = name_of(index),
                                     .value = "radius " + to_text(radius) + " um of point " + std::to_string(i),
                                     .bound = "a radius is between " + to_text(thinnest) + " and " + to_text(longest),
                                     .remedy = "check the unit; a point without thickness cannot conduct"});
    }
    if (section.distances.back() >= thinnest) return;
    throw ValueOutOfBoundsError({.object = name_of(index),
                                 .value = "length " + to_text(section.distances.back()) + " um",
                                 .bound = "a section is at least " + to_text(thinnest) + " um long",
                                 .remedy = "join it with its parent"});
}

}  // namespace

Morphology::Morphology(std::vector<Section> sections) : sections_(std::move(sections)) {
    if (sections_.empty()) {
        throw ShapeError({.object = "a morphology",
                          .value = "no section",
                          .bound = "a cell has at least one",
                          .remedy = "add the soma"});
    }
    distances_.reserve(sections_.size());
    for (std::size_t i = 0; i < sections_.size(); ++i) {
        check_parent(sections_[i], i);
        check_points(sections_[i], i);
        const std::int32_t parent = sections_[i].parent;
        distances_.push_back(
            parent < 0 ? 0.0 : distance(Place{static_cast<std::uint32_t>(parent), sections_[i].parent_position}));
    }
}

template <class Add>
void Morphology::visit_cones(std::uint32_t index, double begin, double end, Add add) const {
    const Section& section = sections_[index];
    const double first = begin * length(index);
    const double last = end * length(index);
    // A section may have very many points: only those of the cones between the positions are visited.
    const auto reached = std::ranges::lower_bound(section.distances, first) - section.distances.begin();
    for (std::size_t i = std::max<std::size_t>(1, static_cast<std::size_t>(reached)); i < section.distances.size();
         ++i) {
        const double left = section.distances[i - 1];
        const double right = section.distances[i];
        if (left > last) break;
        const double from = std::max(first, left);
        const double to = std::min(last, right);
        if (right == left) {
            // A step of the radius: a ring of membrane, which belongs to the part that starts there.
            if (left >= first && (left < last || (end == 1.0 && left == last))) {
                add(0.0, section.radii[i - 1], section.radii[i]);
            }
            continue;
        }
        if (to <= from) continue;
        const auto radius = [&](double at) {
            return section.radii[i - 1] + (section.radii[i] - section.radii[i - 1]) * ((at - left) / (right - left));
        };
        add(to - from, radius(from), radius(to));
    }
}

double Morphology::area(std::uint32_t section, double begin, double end) const {
    double area = 0.0;
    visit_cones(section, begin, end, [&](double length, double r, double s) {
        area += std::numbers::pi * (r + s) * std::sqrt(length * length + (r - s) * (r - s));
    });
    return area;
}

double Morphology::resistance_integral(std::uint32_t section, double begin, double end) const {
    double integral = 0.0;
    visit_cones(section, begin, end,
                [&](double length, double r, double s) { integral += length / (std::numbers::pi * r * s); });
    return integral;
}

void Morphology::check(Place place, std::string_view object) const {
    if (place.section >= size()) {
        throw ValueOutOfBoundsError({.object = std::string(object),
                                     .value = "section " + std::to_string(place.section),
                                     .bound = "the morphology has " + counted(size(), "section"),
                                     .remedy = "sections are numbered from 0"});
    }
    if (place.position >= 0.0 && place.position <= 1.0) return;
    throw ValueOutOfBoundsError({.object = std::string(object),
                                 .value = "position " + to_text(place.position),
                                 .bound = "a fraction of the length of a section, from 0 to 1",
                                 .remedy = "divide a distance in um by the length of the section"});
}

}  // namespace ranvier::cable
