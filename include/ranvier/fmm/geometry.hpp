#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

/// Potentials of points and line pieces, by direct sums and by the fast multipole method (FMM).
///
/// A point with strength q has the potential q / |x| at the displacement x; a line piece has its strength spread evenly
/// along its length. Strengths have any unit: potentials have that unit divided by that of lengths. Nothing here knows
/// cells, conductivities, or processes.
namespace ranvier::fmm {

struct Point {
    double x = 0.0;
    double y = 0.0;
    double z = 0.0;

    friend bool operator==(const Point&, const Point&) = default;
};

inline Point operator+(const Point& a, const Point& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline Point operator-(const Point& a, const Point& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline Point operator*(double factor, const Point& a) { return {factor * a.x, factor * a.y, factor * a.z}; }
inline double dot(const Point& a, const Point& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

/// A source with a constant strength per length between two points; a point source where they are the same.
struct LinePiece {
    Point begin;
    Point end;
    /// Targets nearer to the axis than that get the potential at this distance from it (Holt and Koch 1999).
    double radius = 0.0;
};

/// A plane that reflects: the medium beyond it has another conductivity. Sources and targets lie on one side of it.
struct Plane {
    Point point;
    Point normal;
    /// Strength of an image relative to its source: (a - b) / (a + b) with the conductivities a on the side of the
    /// sources and b beyond; 1 if the plane insulates, -1 if it is earthed.
    double image = 0.0;
};

}  // namespace ranvier::fmm
