#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "ranvier/fmm/geometry.hpp"
#include "ranvier/fmm/group.hpp"

namespace ranvier::fmm {

inline constexpr std::uint32_t no_box = ~std::uint32_t{0};
inline constexpr std::uint32_t max_depth = 20;

/// A cube of the octree. Boxes are in the order of their levels, and siblings follow each other in Morton order.
struct Box {
    std::uint32_t parent = no_box;
    std::uint32_t first_child = 0;
    std::uint8_t children = 0;  ///< those that are not empty; 0: a leaf
    std::uint8_t level = 0;
    /// Place among the boxes of the level.
    std::uint32_t x = 0;
    std::uint32_t y = 0;
    std::uint32_t z = 0;
    Point centre;
    std::uint64_t sources = 0;
    std::uint64_t targets = 0;
    /// Largest radius of its sources. Boxes are not smaller than this, so targets that expansions reach are outside.
    double radius = 0.0;

    bool is_leaf() const { return children == 0; }
};

/// The part of a line piece that lies in a leaf.
struct SourcePart {
    std::uint32_t piece = 0;
    double begin = 0.0;  ///< as a fraction of the length of the piece
    double end = 1.0;
};

struct TreeOptions {
    /// A box with more sources and targets than that is divided.
    std::uint32_t capacity = 64;
    /// Divides all boxes down to this level.
    std::optional<std::uint32_t> depth = std::nullopt;
};

/// An octree over sources and targets. Line pieces are cut where they leave a leaf, so each part lies in its box.
///
/// All members of a group have the same boxes, those of the sources and targets of all of them: boxes follow from numbers
/// of sources and targets, which the members sum up level by level. Leaves contain what this member was given.
class Tree {
   public:
    /// @note Collective in a group.
    Tree(std::span<const LinePiece> pieces, std::span<const Point> targets, const TreeOptions& options,
         SolverGroup& group = lone_group());

    std::span<const Box> boxes() const { return boxes_; }
    std::uint32_t depth() const { return static_cast<std::uint32_t>(level_begin_.size()) - 2; }
    /// The boxes of a level are those from level_begin(level) to level_begin(level + 1).
    std::uint32_t level_begin(std::uint32_t level) const { return level_begin_[level]; }
    double side(std::uint32_t level) const { return sides_[level]; }

    /// Parts of pieces in the order of the leaves; those of a leaf in the order of the pieces.
    std::span<const SourcePart> parts() const { return parts_; }
    /// Targets in the order of the leaves: their indices.
    std::span<const std::uint32_t> targets() const { return targets_; }
    std::uint64_t parts_begin(std::uint32_t box) const { return parts_begin_[box]; }
    std::uint64_t parts_end(std::uint32_t box) const { return parts_begin_[box + 1]; }
    std::uint64_t targets_begin(std::uint32_t box) const { return targets_begin_[box]; }
    std::uint64_t targets_end(std::uint32_t box) const { return targets_begin_[box + 1]; }
    std::size_t bytes() const;

    /// Releases the parts, which are then stored elsewhere in the same order.
    void release_parts() { parts_ = {}; }
    /// Replaces the contents of leaves by others, whose parts are stored elsewhere.
    /// @param parts_begin, targets_begin by box, and one more
    void set_contents(std::vector<std::uint64_t> parts_begin, std::vector<std::uint32_t> targets,
                      std::vector<std::uint64_t> targets_begin);

   private:
    using Parts = std::vector<SourcePart>;
    using Indices = std::vector<std::uint32_t>;
    struct Contents;
    struct Division;

    void set_root(std::span<const LinePiece> pieces, std::span<const Point> targets, SolverGroup& group);
    Point centre_of(const Box& box) const;
    bool may_be_divided(const Box& box, const TreeOptions& options) const;
    void divide(std::span<const LinePiece> pieces, std::span<const Point> targets, const TreeOptions& options,
                SolverGroup& group);
    void add_children(const Division& division);
    void store(std::span<const Parts> leaf_parts, std::span<const Indices> leaf_targets);

    Point corner_;
    std::array<double, max_depth + 2> sides_{};  ///< by level, one more than the deepest
    std::vector<Box> boxes_;
    std::vector<std::uint32_t> level_begin_{0};
    std::vector<SourcePart> parts_;
    std::vector<std::uint32_t> targets_;
    std::vector<std::uint64_t> parts_begin_;
    std::vector<std::uint64_t> targets_begin_;
};

/// Boxes that act on each box. Those of one box are in a fixed order.
class BoxLists {
   public:
    struct Rows {
        std::vector<std::uint64_t> begin;
        std::vector<std::uint32_t> boxes;

        std::span<const std::uint32_t> row(std::uint32_t box) const {
            return std::span(boxes).subspan(begin[box], begin[box + 1] - begin[box]);
        }
        std::size_t bytes() const {
            return begin.size() * sizeof(std::uint64_t) + boxes.size() * sizeof(std::uint32_t);
        }
    };

    /// @param min_sources, min_targets boxes of another level than the leaf that they interact with, but with fewer sources
    /// or targets than this, are treated pair by pair
    BoxLists(const Tree& tree, std::uint64_t min_sources, std::uint64_t min_targets);

    /// Leaves next to a leaf, itself among them: each source acts on each target.
    const Rows& near() const { return near_; }
    /// Boxes of the same level that are not next to it, while their parents are: expansions are moved. Those at the same
    /// distances along the axes follow each other.
    const Rows& same_level() const { return same_level_; }
    /// Smaller boxes not next to the leaf, whose parents are: their multipole expansions act on the targets.
    const Rows& smaller() const { return smaller_; }
    /// Larger leaves that are not next to the box, but next to its parent: their sources act on the local expansion.
    const Rows& larger() const { return larger_; }
    std::size_t bytes() const { return near_.bytes() + same_level_.bytes() + smaller_.bytes() + larger_.bytes(); }
    /// Removes the lists of all other boxes.
    void keep(std::span<const char> is_kept);

   private:
    /// Sorts the boxes of the same level by |x|, |y| and |z| of their displacements, each from 0 to 3.
    void sort_by_distances(const Tree& tree);

    Rows near_;
    Rows same_level_;
    Rows smaller_;
    Rows larger_;
};

/// The octant of the displacement from a source to a target of the same level: bits for negative x, y and z.
inline std::uint32_t octant_between(const Box& target, const Box& source) {
    return (target.x < source.x ? 1U : 0U) | (target.y < source.y ? 2U : 0U) | (target.z < source.z ? 4U : 0U);
}

/// Whether two boxes touch or overlap.
bool are_adjacent(const Box& a, const Box& b);

}  // namespace ranvier::fmm
