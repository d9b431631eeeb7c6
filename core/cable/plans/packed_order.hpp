#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ranvier/cable/cell/compartments.hpp"

namespace ranvier::cable {

/// The assignment of nodes of several cells of arbitrary shapes to the slots of a block, such that the elimination
/// can process the 8 nodes of each slot together.
///
/// The last child of a node in the order of the elimination, see Compartments::heights(), is its main child: its
/// height is one less. So a cell is split into chains of main children. A chain starts at a leaf and has a node of
/// each height up to its length. Each chain is assigned to a lane, the longest one first, those of all cells
/// together: level h has the nodes of height h. Since the main children of the nodes of a level are in the previous
/// level, in the same lane of the slot with the same index, whole slots are eliminated. The remaining joins connect
/// the first nodes of the other children's chains, one for each leaf of a cell but one.
struct PackedOrder {
    /// A child and its parent in different lanes. Positions are 8 slot + lane.
    struct Join {
        std::uint32_t cell = 0;
        std::uint32_t node = 0;  ///< the child
        std::uint32_t child = 0;
        std::uint32_t parent = 0;
    };

    PackedOrder() = default;
    /// @pre there is a cell
    explicit PackedOrder(std::span<const Compartments* const> cells);

    std::size_t levels() const { return level_begins.size() - 1; }
    std::size_t slots() const { return level_begins.back(); }

    std::vector<std::vector<std::uint32_t>> positions;  ///< of each node of each cell
    std::vector<std::uint32_t> level_begins{0};  ///< the first slot of each level, and the end of the last one
    std::vector<Join> joins;  ///< by level of the parent, by parent, and in the order of the elimination
    std::vector<std::uint32_t> join_begins{0};  ///< by level
};

/// By node: its main child, or -1 for a leaf.
std::vector<std::int32_t> main_children(std::span<const Node> nodes, std::span<const std::uint32_t> heights);

}  // namespace ranvier::cable
