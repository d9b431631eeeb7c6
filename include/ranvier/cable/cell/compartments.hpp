#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "ranvier/cable/cell/morphology.hpp"

namespace ranvier::cable {

/// A piece of a section with one potential.
struct Compartment {
    std::uint32_t section = 0;
    double begin = 0.0;  ///< fraction of the length of the section
    double end = 0.0;
    double area = 0.0;      ///< of its membrane, um^2
    double distance = 0.0;  ///< of its middle from the start of the root along the neurites, um
    std::uint32_t node = 0;
};

/// The value of a compartment, from one value for all or one for each.
inline double value_at(std::span<const double> values, std::size_t compartment) {
    return values[values.size() == 1 ? 0 : compartment];
}

/// A point at which a potential is calculated: a compartment, or a point where sections meet, which has no membrane.
struct Node {
    std::int32_t parent = -1;  ///< a node with a smaller index; -1: the root
    std::int32_t compartment = -1;  ///< -1: a point without membrane
    double resistance_integral = 0.0;  ///< between it and its parent, 1/um; see Morphology::resistance_integral()
};

/// A cell divided into compartments: each section into pieces of equal length. Potentials are those in their middles.
///
/// A section starts at the point where it is attached to its parent: at its start or its end or, between them, in the
/// middle of the compartment at that place. Points where more than one section starts are separate nodes.
class Compartments {
   public:
    /// @param counts compartments of each section, or one number for all
    /// @throws ShapeError, ValueOutOfBoundsError for a count of 0 or too many
    Compartments(Morphology morphology, std::span<const std::uint32_t> counts);

    const Morphology& morphology() const { return morphology_; }
    std::size_t size() const { return compartments_.size(); }
    std::span<const Compartment> compartments() const { return compartments_; }
    std::span<const Node> nodes() const { return nodes_; }
    /// By node: the number of nodes between it and the furthest leaf below it, including that leaf.
    ///
    /// The elimination subtracts the children of a node in ascending order of (height, index), so that its bits do
    /// not depend on how the nodes of one or more cells are arranged.
    std::vector<std::uint32_t> heights() const;
    /// The compartments [first, second) of a section.
    std::pair<std::uint32_t, std::uint32_t> of_section(std::uint32_t section) const {
        return {first_[section], first_[section + 1]};
    }
    /// The compartment at a place; at a boundary the one that starts there, at the end of a section its last one.
    /// @throws ValueOutOfBoundsError
    std::uint32_t at(Place place, std::string_view object) const;

   private:
    Morphology morphology_;
    std::vector<Compartment> compartments_;
    std::vector<Node> nodes_;
    std::vector<std::uint32_t> first_;
};

}  // namespace ranvier::cable
