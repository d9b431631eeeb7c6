#include "fmm/tree.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "fmm/group.hpp"

namespace ranvier::fmm {

namespace {

/// Boxes have at least that many times the radius of their sources. Where targets are nearer to the axis of a piece than its
/// radius, but beyond its ends, expansions lack the radius: at a distance of two radii, an eighth of the potential.
constexpr double radii_in_side = 2.0;

/// Dividing a box is of no use where line pieces are so long that its parts become more than that many times the sources.
constexpr double most_parts = 2.5;

Point middle_of(const LinePiece& piece, const SourcePart& part) {
    return piece.begin + (0.5 * (part.begin + part.end)) * (piece.end - piece.begin);
}

/// The child of a box that a point is in: bit 0 for x, 1 for y, 2 for z.
std::uint32_t octant(const Point& point, const Point& centre) {
    return (point.x >= centre.x ? 1U : 0U) | (point.y >= centre.y ? 2U : 0U) | (point.z >= centre.z ? 4U : 0U);
}

/// Calls use(octant, part) for the pieces of a part, cut by the middle planes of a box.
template <class Use>
void cut(const LinePiece& piece, const SourcePart& part, const Point& centre, Use&& use) {
    std::array<double, 5> ends{part.begin};
    std::size_t count = 1;
    const auto add = [&](double begin, double end, double plane) {
        if (begin == end) return;
        const double place = (plane - begin) / (end - begin);
        // Not so near to an end that rounding could put the part into another box.
        const double margin = 1e-9 * (part.end - part.begin);
        if (place > part.begin + margin && place < part.end - margin) ends[count++] = place;
    };
    add(piece.begin.x, piece.end.x, centre.x);
    add(piece.begin.y, piece.end.y, centre.y);
    add(piece.begin.z, piece.end.z, centre.z);
    // At most three.
    if (ends[1] > ends[2] && count > 2) std::swap(ends[1], ends[2]);
    if (ends[2] > ends[3] && count > 3) std::swap(ends[2], ends[3]);
    if (ends[1] > ends[2] && count > 3) std::swap(ends[1], ends[2]);
    ends[count] = part.end;
    for (std::size_t i = 0; i < count; ++i) {
        const SourcePart cut_part{part.piece, ends[i], ends[i + 1]};
        use(octant(middle_of(piece, cut_part), centre), cut_part);
    }
}

}  // namespace

/// What lies in each box of the level that is being divided.
struct Tree::Contents {
    std::vector<Parts> parts;
    std::vector<Indices> targets;
};

/// A box that may be divided, and what lies in its children.
struct Tree::Division {
    std::uint32_t box = 0;
    std::array<Parts, 8> parts;
    std::array<Indices, 8> targets;
    // Of all members.
    std::array<std::uint64_t, 8> sources{};
    std::array<std::uint64_t, 8> target_counts{};
    std::array<double, 8> radii{};

    Division(std::uint32_t number, const Box& divided, std::span<const SourcePart> from,
             std::span<const LinePiece> pieces, std::span<const std::uint32_t> points, std::span<const Point> places)
        : box(number) {
        for (const SourcePart& part : from) {
            cut(pieces[part.piece], part, divided.centre, [&](std::uint32_t child, const SourcePart& piece) {
                parts[child].push_back(piece);
                radii[child] = std::max(radii[child], pieces[part.piece].radius);
            });
        }
        for (const std::uint32_t point : points) targets[octant(places[point], divided.centre)].push_back(point);
        for (std::uint32_t child = 0; child < 8; ++child) {
            sources[child] = parts[child].size();
            target_counts[child] = targets[child].size();
        }
    }

    /// Replaces numbers and radii by those of all members. @note Collective.
    static void sum(SolverGroup& group, std::span<Division> divisions) {
        if (group.size() == 1) return;
        std::vector<std::uint64_t> counts;
        std::vector<double> largest;
        for (const Division& each : divisions) {
            counts.insert(counts.end(), each.sources.begin(), each.sources.end());
            counts.insert(counts.end(), each.target_counts.begin(), each.target_counts.end());
            largest.insert(largest.end(), each.radii.begin(), each.radii.end());
        }
        group.sum(counts);
        find_greatest(group, largest);
        for (std::size_t i = 0; i < divisions.size(); ++i) {
            std::copy_n(counts.begin() + static_cast<std::ptrdiff_t>(16 * i), 8, divisions[i].sources.begin());
            std::copy_n(counts.begin() + static_cast<std::ptrdiff_t>(16 * i + 8), 8,
                        divisions[i].target_counts.begin());
            std::copy_n(largest.begin() + static_cast<std::ptrdiff_t>(8 * i), 8, divisions[i].radii.begin());
        }
    }
};

Tree::Tree(std::span<const LinePiece> pieces, std::span<const Point> targets, const TreeOptions& options,
           SolverGroup& group) {
    sides_[0] = 1.0;
    set_root(pieces, targets, group);
    for (std::size_t level = 1; level < sides_.size(); ++level) sides_[level] = 0.5 * sides_[level - 1];
    divide(pieces, targets, options, group);
}

void Tree::set_root(std::span<const LinePiece> pieces, std::span<const Point> targets, SolverGroup& group) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    Point low{infinity, infinity, infinity};
    Point high{-infinity, -infinity, -infinity};
    const auto include = [&](const Point& point) {
        low = {std::min(low.x, point.x), std::min(low.y, point.y), std::min(low.z, point.z)};
        high = {std::max(high.x, point.x), std::max(high.y, point.y), std::max(high.z, point.z)};
    };
    for (const LinePiece& piece : pieces) {
        include(piece.begin);
        include(piece.end);
    }
    for (const Point& target : targets) include(target);
    std::array<double, 6> ends{-low.x, -low.y, -low.z, high.x, high.y, high.z};
    find_greatest(group, ends);
    low = {-ends[0], -ends[1], -ends[2]};
    high = {ends[3], ends[4], ends[5]};
    if (low.x > high.x) return;
    const Point extent = high - low;
    const double largest = std::max({extent.x, extent.y, extent.z});
    const double size = std::max(
        {std::abs(low.x), std::abs(high.x), std::abs(low.y), std::abs(high.y), std::abs(low.z), std::abs(high.z)});
    // Larger than what it encloses by more than rounding errors, also where all is in one point.
    sides_[0] = largest > 1e-12 * size ? largest * (1.0 + 1e-9) : (size > 0.0 ? 1e-6 * size : 1.0);
    const Point centre = 0.5 * (low + high);
    corner_ = {centre.x - 0.5 * sides_[0], centre.y - 0.5 * sides_[0], centre.z - 0.5 * sides_[0]};
}

std::size_t Tree::bytes() const {
    return boxes_.size() * sizeof(Box) + parts_.size() * sizeof(SourcePart) + targets_.size() * sizeof(std::uint32_t) +
           (parts_begin_.size() + targets_begin_.size()) * sizeof(std::uint64_t);
}

Point Tree::centre_of(const Box& box) const {
    const double length = side(box.level);
    return {corner_.x + (box.x + 0.5) * length, corner_.y + (box.y + 0.5) * length, corner_.z + (box.z + 0.5) * length};
}

bool Tree::may_be_divided(const Box& box, const TreeOptions& options) const {
    const bool is_large = options.depth ? box.level < *options.depth
                                        : box.sources + box.targets > options.capacity && box.level < max_depth;
    return is_large && side(box.level + 1U) >= radii_in_side * box.radius;
}

void Tree::divide(std::span<const LinePiece> pieces, std::span<const Point> targets, const TreeOptions& options,
                  SolverGroup& group) {
    Contents contents;
    contents.parts.resize(1);
    contents.targets.resize(1);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        contents.parts[0].push_back({static_cast<std::uint32_t>(i), 0.0, 1.0});
    }
    for (std::size_t i = 0; i < targets.size(); ++i) contents.targets[0].push_back(static_cast<std::uint32_t>(i));

    std::array<std::uint64_t, 2> totals{pieces.size(), targets.size()};
    group.sum(totals);
    std::array<double, 1> radius{0.0};
    for (const LinePiece& piece : pieces) radius[0] = std::max(radius[0], piece.radius);
    find_greatest(group, radius);
    Box root;
    root.centre = centre_of(root);
    root.sources = totals[0];
    root.targets = totals[1];
    root.radius = radius[0];
    boxes_.push_back(root);

    // Contents of leaves, by box.
    std::vector<Parts> leaf_parts;
    std::vector<Indices> leaf_targets;
    for (;;) {
        const auto begin = level_begin_.back();
        const auto end = static_cast<std::uint32_t>(boxes_.size());
        level_begin_.push_back(end);
        leaf_parts.resize(end);
        leaf_targets.resize(end);
        std::vector<Division> divisions;
        for (std::uint32_t number = begin; number < end; ++number) {
            if (!may_be_divided(boxes_[number], options)) continue;
            divisions.emplace_back(number, boxes_[number], contents.parts[number - begin], pieces,
                                   contents.targets[number - begin], targets);
        }
        Division::sum(group, divisions);
        Contents next;
        std::vector<char> is_divided(end - begin, 0);
        for (Division& each : divisions) {
            const std::uint64_t count = std::accumulate(each.sources.begin(), each.sources.end(), std::uint64_t{0});
            if (!options.depth &&
                static_cast<double>(count) > most_parts * static_cast<double>(boxes_[each.box].sources)) {
                continue;
            }
            is_divided[each.box - begin] = 1;
            add_children(each);
            for (std::uint32_t child = 0; child < 8; ++child) {
                if (each.sources[child] + each.target_counts[child] == 0) continue;
                next.parts.push_back(std::move(each.parts[child]));
                next.targets.push_back(std::move(each.targets[child]));
            }
        }
        for (std::uint32_t number = begin; number < end; ++number) {
            if (is_divided[number - begin] != 0) continue;
            leaf_parts[number] = std::move(contents.parts[number - begin]);
            leaf_targets[number] = std::move(contents.targets[number - begin]);
        }
        if (boxes_.size() == end) break;
        contents = std::move(next);
    }
    store(leaf_parts, leaf_targets);
}

void Tree::add_children(const Division& division) {
    const Box box = boxes_[division.box];
    boxes_[division.box].first_child = static_cast<std::uint32_t>(boxes_.size());
    for (std::uint32_t child = 0; child < 8; ++child) {
        if (division.sources[child] + division.target_counts[child] == 0) continue;
        ++boxes_[division.box].children;
        Box made;
        made.parent = division.box;
        made.level = static_cast<std::uint8_t>(box.level + 1);
        made.x = 2 * box.x + (child & 1U);
        made.y = 2 * box.y + (child >> 1U & 1U);
        made.z = 2 * box.z + (child >> 2U);
        made.centre = centre_of(made);
        made.sources = division.sources[child];
        made.targets = division.target_counts[child];
        made.radius = division.radii[child];
        boxes_.push_back(made);
    }
}

void Tree::store(std::span<const Parts> leaf_parts, std::span<const Indices> leaf_targets) {
    parts_begin_.push_back(0);
    targets_begin_.push_back(0);
    for (std::uint32_t box = 0; box < boxes_.size(); ++box) {
        parts_.insert(parts_.end(), leaf_parts[box].begin(), leaf_parts[box].end());
        targets_.insert(targets_.end(), leaf_targets[box].begin(), leaf_targets[box].end());
        parts_begin_.push_back(parts_.size());
        targets_begin_.push_back(targets_.size());
    }
}

void Tree::set_contents(std::vector<std::uint64_t> parts_begin, std::vector<std::uint32_t> targets,
                        std::vector<std::uint64_t> targets_begin) {
    parts_ = {};
    parts_begin_ = std::move(parts_begin);
    targets_ = std::move(targets);
    targets_begin_ = std::move(targets_begin);
}

// ---- lists -----------------------------------------------------------------------------------------------------------

bool are_adjacent(const Box& a, const Box& b) {
    const std::uint32_t level = std::max(a.level, b.level);
    const auto touch = [&](std::uint64_t p, std::uint64_t q) {
        const std::uint64_t p_begin = p << (level - a.level);
        const std::uint64_t p_end = (p + 1) << (level - a.level);
        const std::uint64_t q_begin = q << (level - b.level);
        const std::uint64_t q_end = (q + 1) << (level - b.level);
        return p_begin <= q_end && q_begin <= p_end;
    };
    return touch(a.x, b.x) && touch(a.y, b.y) && touch(a.z, b.z);
}

namespace {

/// Collects pairs of boxes from the root downwards.
class PairSearch {
   public:
    using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

    PairSearch(const Tree& tree, std::uint64_t min_sources, std::uint64_t min_targets)
        : tree_(&tree), boxes_(tree.boxes()), min_sources_(min_sources), min_targets_(min_targets) {
        search(0, 0);
    }

    Pairs near;
    Pairs same_level;
    Pairs smaller;
    Pairs larger;

   private:
    /// @pre the boxes are of the same level, and touch or are the children of boxes that do
    void search(std::uint32_t target, std::uint32_t source) {
        const Box& a = boxes_[target];
        const Box& b = boxes_[source];
        if (a.targets == 0 || b.sources == 0) return;
        if (!are_adjacent(a, b)) {
            same_level.emplace_back(target, source);
        } else if (a.is_leaf()) {
            search_smaller(target, source);
        } else if (b.is_leaf()) {
            for (std::uint32_t child = 0; child < a.children; ++child) search_larger(a.first_child + child, source);
        } else {
            for (std::uint32_t i = 0; i < a.children; ++i) {
                for (std::uint32_t j = 0; j < b.children; ++j) search(a.first_child + i, b.first_child + j);
            }
        }
    }
    void search_smaller(std::uint32_t target, std::uint32_t source) {
        const Box& b = boxes_[source];
        if (b.sources == 0) return;
        if (!are_adjacent(boxes_[target], b) && b.sources >= min_sources_) {
            smaller.emplace_back(target, source);
        } else if (b.is_leaf()) {
            near.emplace_back(target, source);
        } else {
            for (std::uint32_t child = 0; child < b.children; ++child) search_smaller(target, b.first_child + child);
        }
    }
    void search_larger(std::uint32_t target, std::uint32_t source) {
        const Box& a = boxes_[target];
        if (a.targets == 0) return;
        const bool is_outside =
            !are_adjacent(a, boxes_[source]) && tree_->side(a.level) >= radii_in_side * boxes_[source].radius;
        if (is_outside && a.targets >= min_targets_) {
            larger.emplace_back(target, source);
        } else if (a.is_leaf()) {
            near.emplace_back(target, source);
        } else {
            for (std::uint32_t child = 0; child < a.children; ++child) search_larger(a.first_child + child, source);
        }
    }

    const Tree* tree_;
    std::span<const Box> boxes_;
    std::uint64_t min_sources_;
    std::uint64_t min_targets_;
};

std::uint32_t distance_between(std::uint32_t a, std::uint32_t b) { return a < b ? b - a : a - b; }

BoxLists::Rows make_rows(const PairSearch::Pairs& pairs, std::size_t boxes) {
    BoxLists::Rows rows;
    rows.begin.assign(boxes + 1, 0);
    for (const auto& [target, source] : pairs) ++rows.begin[target + 1];
    for (std::size_t box = 0; box < boxes; ++box) rows.begin[box + 1] += rows.begin[box];
    rows.boxes.resize(pairs.size());
    std::vector<std::uint64_t> next(rows.begin.begin(), rows.begin.end() - 1);
    for (const auto& [target, source] : pairs) rows.boxes[next[target]++] = source;
    return rows;
}

}  // namespace

BoxLists::BoxLists(const Tree& tree, std::uint64_t min_sources, std::uint64_t min_targets) {
    const PairSearch search(tree, min_sources, min_targets);
    const std::size_t boxes = tree.boxes().size();
    near_ = make_rows(search.near, boxes);
    same_level_ = make_rows(search.same_level, boxes);
    sort_by_distances(tree);
    smaller_ = make_rows(search.smaller, boxes);
    larger_ = make_rows(search.larger, boxes);
}

void BoxLists::keep(std::span<const char> is_kept) {
    for (Rows* rows : {&near_, &same_level_, &smaller_, &larger_}) {
        std::vector<std::uint32_t> kept;
        for (std::uint32_t box = 0; box + 1 < rows->begin.size(); ++box) {
            const std::span<const std::uint32_t> row = rows->row(box);
            rows->begin[box] = kept.size();
            if (is_kept[box] != 0) kept.insert(kept.end(), row.begin(), row.end());
        }
        rows->begin.back() = kept.size();
        kept.shrink_to_fit();
        rows->boxes = std::move(kept);
    }
}

void BoxLists::sort_by_distances(const Tree& tree) {
    constexpr std::size_t places = 64;
    std::vector<std::uint8_t> place;
    std::vector<std::uint32_t> sorted;
    for (std::uint32_t target = 0; target < tree.boxes().size(); ++target) {
        const Box& box = tree.boxes()[target];
        const std::span<const std::uint32_t> row = same_level_.row(target);
        place.resize(row.size());
        sorted.resize(row.size());
        std::array<std::uint32_t, places + 1> begin{};
        for (std::size_t i = 0; i < row.size(); ++i) {
            const Box& other = tree.boxes()[row[i]];
            const std::uint32_t at = distance_between(box.x, other.x) + 4 * distance_between(box.y, other.y) +
                                     16 * distance_between(box.z, other.z);
            place[i] = static_cast<std::uint8_t>(at);
            ++begin[at + 1];
        }
        for (std::size_t i = 0; i < places; ++i) begin[i + 1] += begin[i];
        for (std::size_t i = 0; i < row.size(); ++i) sorted[begin[place[i]]++] = row[i];
        std::copy(sorted.begin(), sorted.end(),
                  same_level_.boxes.begin() + static_cast<std::ptrdiff_t>(same_level_.begin[target]));
    }
}

}  // namespace ranvier::fmm
