#include "ranvier/connect/space/mask.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ranvier/base/errors.hpp"

namespace ranvier::connect {

namespace {
namespace mask_parts {

constexpr double tolerance = 1e-10;
// Half the tolerance: a box that is inside contains no displacement for which contains() is false.
constexpr double inner = 1.0 + 0.5 * tolerance;
constexpr double outer = 1.0 + 4.0 * tolerance;

Mask::Place combine(Mask::Kind kind, Mask::Place one, Mask::Place other) {
    using enum Mask::Place;
    if (kind == Mask::Kind::both) return std::min(one, other);
    if (kind == Mask::Kind::either) return std::max(one, other);
    if (one == outside || other == inside) return outside;
    return one == inside && other == outside ? inside : partial;
}
constexpr double infinity = std::numeric_limits<double>::infinity();

struct Range {
    double low;
    double high;
    double least_absolute() const { return low > 0.0 ? low : (high < 0.0 ? -high : 0.0); }
    double greatest_absolute() const { return std::max(std::abs(low), std::abs(high)); }
};

void check_finite(const Point& point, std::string_view what) {
    for (const double value : point) {
        if (std::isfinite(value)) continue;
        throw ValueOutOfBoundsError({.object = std::string(what) + " of a mask",
                                     .value = to_text(value),
                                     .bound = "it must be finite",
                                     .remedy = "give numbers; without a mask nothing is limited"});
    }
}

}  // namespace mask_parts
}  // namespace

using namespace mask_parts;

Mask::Mask(Parts parts)
    : kind_(parts.kind),
      dimensions_(parts.dimensions),
      is_rotated_(parts.rotation != unrotated),
      center_(parts.center),
      halves_(parts.halves),
      rotation_(parts.rotation),
      first_(std::move(parts.first)),
      second_(std::move(parts.second)) {}

Mask::Pointer Mask::ellipsoid(unsigned dimensions, const Point& center, const Point& semiaxes,
                              const Rotation& rotation) {
    check_finite(center, "center");
    check_finite(semiaxes, "length");
    for (const Point& axis : rotation) check_finite(axis, "rotation");
    for (std::size_t axis = 0; axis < dimensions; ++axis) {
        if (semiaxes[axis] > 0.0) continue;
        throw ValueOutOfBoundsError({.object = "length of a mask",
                                     .value = to_text(semiaxes[axis]),
                                     .bound = "it must be > 0",
                                     .remedy = "give the radius, or the length of the axis"});
    }
    return Pointer(new Mask({.kind = Kind::ellipsoid,
                             .dimensions = dimensions,
                             .center = center,
                             .halves = semiaxes,
                             .rotation = rotation}));
}

Mask::Pointer Mask::box(unsigned dimensions, const Point& lower, const Point& upper, const Rotation& rotation) {
    check_finite(lower, "lower corner");
    check_finite(upper, "upper corner");
    for (const Point& axis : rotation) check_finite(axis, "rotation");
    Point center{};
    Point halves{};
    for (std::size_t axis = 0; axis < dimensions; ++axis) {
        center[axis] = 0.5 * (lower[axis] + upper[axis]);
        halves[axis] = 0.5 * (upper[axis] - lower[axis]);
        if (halves[axis] > 0.0) continue;
        throw ValueOutOfBoundsError({.object = "upper corner of a mask",
                                     .value = to_text(upper[axis]),
                                     .bound = "it must be > " + to_text(lower[axis]) + ", the lower corner",
                                     .remedy = "give the lower corner first"});
    }
    return Pointer(new Mask(
        {.kind = Kind::box, .dimensions = dimensions, .center = center, .halves = halves, .rotation = rotation}));
}

Mask::Pointer Mask::combined(Kind kind, Pointer first, Pointer second) {
    if (first->dimensions_ != second->dimensions_) {
        throw ValueOutOfBoundsError(
            {.object = "dimensions of combined masks",
             .value = std::to_string(first->dimensions_) + " and " + std::to_string(second->dimensions_),
             .bound = "both must have the same",
             .remedy = "combine circles with rectangles, and balls with boxes"});
    }
    const unsigned dimensions = first->dimensions_;
    return Pointer(
        new Mask({.kind = kind, .dimensions = dimensions, .first = std::move(first), .second = std::move(second)}));
}

bool Mask::contains(const Point& displacement) const {
    switch (kind_) {
        case Kind::both:
            return first_->contains(displacement) && second_->contains(displacement);
        case Kind::either:
            return first_->contains(displacement) || second_->contains(displacement);
        case Kind::without:
            return first_->contains(displacement) && !second_->contains(displacement);
        case Kind::ellipsoid:
        case Kind::box:
            break;
    }
    Point offset{};
    for (std::size_t axis = 0; axis < dimensions_; ++axis) offset[axis] = displacement[axis] - center_[axis];
    if (is_rotated_) {
        Point turned{};
        for (std::size_t axis = 0; axis < dimensions_; ++axis) {
            const Point& of = rotation_[axis];
            turned[axis] = of[0] * offset[0] + of[1] * offset[1] + of[2] * offset[2];
        }
        offset = turned;
    }
    if (kind_ == Kind::box) {
        for (std::size_t axis = 0; axis < dimensions_; ++axis) {
            if (!(std::abs(offset[axis]) <= halves_[axis] * (1.0 + tolerance))) return false;
        }
        return true;
    }
    double sum = 0.0;
    for (std::size_t axis = 0; axis < dimensions_; ++axis) {
        const double part = offset[axis] / halves_[axis];
        sum += part * part;
    }
    return sum <= 1.0 + 2.0 * tolerance;
}

bool Mask::is_radial() const {
    if (first_ != nullptr) return first_->is_radial() && second_->is_radial();
    if (kind_ != Kind::ellipsoid || center_ != Point{}) return false;
    return std::all_of(halves_.begin(), halves_.begin() + dimensions_,
                       [this](double half) { return half == halves_[0]; });
}

Mask::Place Mask::classify_squares(double least, double greatest) const {
    if (first_ != nullptr) {
        return combine(kind_, first_->classify_squares(least, greatest), second_->classify_squares(least, greatest));
    }
    const double square = halves_[0] * halves_[0];
    if (least > square * outer) return Place::outside;
    return greatest <= square * inner ? Place::inside : Place::partial;
}

Mask::Place Mask::classify(const DisplacementBox& box) const {
    if (first_ != nullptr) {
        return combine(kind_, first_->classify(box), second_->classify(box));
    }
    // The ranges of the coordinates along the axes of the region. With a rotation they are wider than the box.
    std::array<Range, most_dimensions> ranges{};
    for (std::size_t axis = 0; axis < dimensions_; ++axis) {
        if (!is_rotated_) {
            ranges[axis] = {box.low[axis] - center_[axis], box.high[axis] - center_[axis]};
            continue;
        }
        Range range{0.0, 0.0};
        for (std::size_t of = 0; of < dimensions_; ++of) {
            const double factor = rotation_[axis][of];
            const double one = factor * (box.low[of] - center_[of]);
            const double other = factor * (box.high[of] - center_[of]);
            range.low += std::min(one, other);
            range.high += std::max(one, other);
        }
        ranges[axis] = range;
    }
    if (kind_ == Kind::box) {
        bool inside = true;
        for (std::size_t axis = 0; axis < dimensions_; ++axis) {
            if (ranges[axis].least_absolute() > halves_[axis] * outer) return Place::outside;
            inside = inside && ranges[axis].greatest_absolute() <= halves_[axis] * inner;
        }
        return inside ? Place::inside : Place::partial;
    }
    double least = 0.0;
    double greatest = 0.0;
    for (std::size_t axis = 0; axis < dimensions_; ++axis) {
        const double near = ranges[axis].least_absolute() / halves_[axis];
        const double far = ranges[axis].greatest_absolute() / halves_[axis];
        least += near * near;
        greatest += far * far;
    }
    if (least > outer) return Place::outside;
    return greatest <= inner ? Place::inside : Place::partial;
}

DisplacementBox Mask::bounds() const {
    if (first_ != nullptr) {
        DisplacementBox box = first_->bounds();
        if (kind_ == Kind::without) return box;
        const DisplacementBox other = second_->bounds();
        for (std::size_t axis = 0; axis < most_dimensions; ++axis) {
            if (kind_ == Kind::both) {
                box.low[axis] = std::max(box.low[axis], other.low[axis]);
                // Regions that do not overlap: an empty box, not one that is turned inside out.
                box.high[axis] = std::max(box.low[axis], std::min(box.high[axis], other.high[axis]));
            } else {
                box.low[axis] = std::min(box.low[axis], other.low[axis]);
                box.high[axis] = std::max(box.high[axis], other.high[axis]);
            }
        }
        return box;
    }
    DisplacementBox box{{-infinity, -infinity, -infinity}, {infinity, infinity, infinity}};
    for (std::size_t axis = 0; axis < dimensions_; ++axis) {
        double reach = 0.0;
        for (std::size_t of = 0; of < dimensions_; ++of) reach += std::abs(rotation_[of][axis]) * halves_[of];
        reach *= 1.0 + 4.0 * tolerance;
        box.low[axis] = center_[axis] - reach;
        box.high[axis] = center_[axis] + reach;
    }
    return box;
}

}  // namespace ranvier::connect
