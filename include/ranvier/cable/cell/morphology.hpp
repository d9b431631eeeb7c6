#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace ranvier::cable {

/// A place on a neurite: a section, and a fraction of its length between 0 (its start) and 1 (its end).
struct Place {
    std::uint32_t section = 0;
    double position = 0.0;
};

/// An unbranched piece of a cell: a chain of truncated cones.
struct Section {
    std::int32_t parent = -1;      ///< a section with a smaller index; -1: the root
    double parent_position = 1.0;  ///< where it starts on the parent: fraction of the parent's length
    std::int32_t tag = 0;          ///< 1 soma, 2 axon, 3 basal dendrite, 4 apical dendrite, or any other number
    std::vector<double> distances;  ///< of its points from its start along it, um; ascending, the first one 0
    std::vector<double> radii;      ///< at its points, um
};

/// The form of a cell: a tree of sections. Radii are interpolated linearly between points.
class Morphology {
   public:
    /// @throws ShapeError, ValueOutOfBoundsError with the name of the section: no section, a root other than section
    ///         0, a parent after its child, fewer than two points, lengths that do not increase, radii that are not
    ///         positive, numbers that are not finite
    explicit Morphology(std::vector<Section> sections);

    std::size_t size() const { return sections_.size(); }
    std::span<const Section> sections() const { return sections_; }
    const Section& section(std::uint32_t index) const { return sections_[index]; }
    double length(std::uint32_t section) const { return sections_[section].distances.back(); }
    /// Length of the path from the start of the root to the start of a section, um.
    double distance(std::uint32_t section) const { return distances_[section]; }
    double distance(Place place) const { return distances_[place.section] + place.position * length(place.section); }

    /// Membrane area between two positions of a section, um^2: the surface of the cones without their ends.
    double area(std::uint32_t section, double begin, double end) const;
    /// The integral of 1 / (pi radius^2) between two positions, 1/um: times the resistivity, the axial resistance.
    double resistance_integral(std::uint32_t section, double begin, double end) const;

    /// @throws ValueOutOfBoundsError with the name `object` for a place outside the cell
    void check(Place place, std::string_view object) const;

   private:
    template <class Add>
    void visit_cones(std::uint32_t section, double begin, double end, Add add) const;

    std::vector<Section> sections_;
    std::vector<double> distances_;
};

}  // namespace ranvier::cable
