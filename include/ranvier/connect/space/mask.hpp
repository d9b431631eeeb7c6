#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "ranvier/connect/space/positions.hpp"

namespace ranvier::connect {

/// A box of displacements, by axis.
struct DisplacementBox {
    Point low{};
    Point high{};
};

/// A region of displacements, target minus source: the targets around a source that a rule may connect. Lengths are in
/// the unit of the positions. Immutable and thread-safe.
///
/// A displacement on the surface is inside, also if it is outside by rounding: lengths are compared with a relative
/// tolerance of 1e-10. A region of two dimensions limits x and y only, so that in three dimensions a circle is a
/// cylinder.
class Mask {
   public:
    using Pointer = std::shared_ptr<const Mask>;

    enum class Kind : std::uint8_t {
        ellipsoid,  ///< an ellipse in two dimensions
        box,        ///< a rectangle in two dimensions
        both,       ///< in two regions
        either,
        without,    ///< in the first region and not in the second
    };
    /// Where a box of displacements is. Boxes may be called partial that are not.
    enum class Place : std::uint8_t { outside, partial, inside };

    /// By column: the axes of the region in the coordinates of space. The unit matrix without a rotation.
    using Rotation = std::array<Point, most_dimensions>;
    static constexpr Rotation unrotated{{{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}};

    /// @param semiaxes half the lengths along its axes
    /// @throws ValueOutOfBoundsError for numbers that are not finite, and lengths <= 0
    static Pointer ellipsoid(unsigned dimensions, const Point& center, const Point& semiaxes,
                             const Rotation& rotation = unrotated);
    /// @param lower, upper corners before the rotation, which is about the center of the box
    /// @throws ValueOutOfBoundsError for numbers that are not finite, and where upper <= lower
    static Pointer box(unsigned dimensions, const Point& lower, const Point& upper,
                       const Rotation& rotation = unrotated);
    /// @param kind both, either or without
    /// @throws ValueOutOfBoundsError if their dimensions differ
    static Pointer combined(Kind kind, Pointer first, Pointer second);

    Kind kind() const { return kind_; }
    unsigned dimensions() const { return dimensions_; }
    const Point& center() const { return center_; }
    /// Of ellipsoids and boxes: half the lengths along the axes.
    const Point& halves() const { return halves_; }
    const Rotation& rotation() const { return rotation_; }
    /// Of combined regions; otherwise null.
    const Pointer& first() const { return first_; }
    const Pointer& second() const { return second_; }

    bool contains(const Point& displacement) const;
    Place classify(const DisplacementBox& box) const;
    /// Whether it depends on the length of a displacement alone: balls around 0, and combinations of them.
    bool is_radial() const;
    /// Where displacements are whose squared lengths are between two numbers. @pre is_radial()
    Place classify_squares(double least, double greatest) const;
    /// A box that contains the region; infinite where it is not limited.
    DisplacementBox bounds() const;

   private:
    struct Parts {
        Kind kind;
        unsigned dimensions;
        Point center{};
        Point halves{};
        Rotation rotation = unrotated;
        Pointer first = nullptr;
        Pointer second = nullptr;
    };
    explicit Mask(Parts parts);

    Kind kind_;
    unsigned dimensions_;
    bool is_rotated_;
    Point center_;
    Point halves_;
    Rotation rotation_;
    Pointer first_;
    Pointer second_;
};

}  // namespace ranvier::connect
