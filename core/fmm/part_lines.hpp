#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fmm/near_field.hpp"
#include "fmm/tree.hpp"
#include "ranvier/fmm/geometry.hpp"

namespace ranvier::fmm {

/// A part of a line piece in a leaf.
struct PartLine {
    Point begin;
    Point along;
    double length = 0.0;
    double radius = 0.0;
    /// Of the strength of its piece.
    double share = 1.0;
    std::uint32_t piece = 0;
    bool is_image = false;
};

inline PartLine part_of(const LinePiece& piece, const SourcePart& part, std::uint32_t number, double share) {
    const Point whole = piece.end - piece.begin;
    const double length = std::sqrt(dot(whole, whole));
    return {.begin = piece.begin + part.begin * whole,
            // A point has no direction: then its radius is that of a ball.
            .along = length > 0.0 ? (1.0 / length) * whole : Point{},
            .length = (part.end - part.begin) * length,
            .radius = piece.radius,
            .share = (part.end - part.begin) * share,
            .piece = number};
}

/// Sources for pairs, about `origin` in units of `side`.
template <class Real>
NearSource<Real> near_source(const PartLine& part, const Point& origin, double inverse_side) {
    const Point begin = inverse_side * (part.begin - origin);
    const double length = std::max(part.length * inverse_side, static_cast<double>(NearSource<Real>::min_length));
    const double radius = part.radius * inverse_side;
    return {static_cast<Real>(begin.x),      static_cast<Real>(begin.y),         static_cast<Real>(begin.z),
            static_cast<Real>(part.along.x), static_cast<Real>(part.along.y),    static_cast<Real>(part.along.z),
            static_cast<Real>(length),       static_cast<Real>(radius * radius), static_cast<Real>(1.0 / length)};
}

/// Whether a point is nearer to the axis of a part of a line than its radius.
inline bool is_inside(const Point& point, const PartLine& part) {
    const Point offset = point - part.begin;
    const Point nearest = offset - std::clamp(dot(offset, part.along), 0.0, part.length) * part.along;
    return dot(nearest, nearest) < part.radius * part.radius;
}

inline bool is_point(const LinePiece& piece) { return piece.begin == piece.end && piece.radius == 0.0; }

inline Point mirrored(const Point& point, const Plane& plane) {
    const double distance = dot(point - plane.point, plane.normal) / dot(plane.normal, plane.normal);
    return point - (2.0 * distance) * plane.normal;
}

/// The pieces, followed by their images.
inline std::vector<LinePiece> with_images(std::span<const LinePiece> pieces, const std::optional<Plane>& plane) {
    std::vector<LinePiece> all(pieces.begin(), pieces.end());
    if (!plane) return all;
    for (const LinePiece& piece : pieces) {
        all.push_back({mirrored(piece.begin, *plane), mirrored(piece.end, *plane), piece.radius});
    }
    return all;
}

}  // namespace ranvier::fmm
