#include "fmm/tree.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

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
    std::vector<std::vector<SourcePart>> parts;
    std::vector<std::vector<std::uint32_t>> targets;
};

Tree::Tree(std::span<const LinePiece> pieces, std::span<const Point> targets, const TreeOptions& options) {
    sides_[0] = 1.0;
    set_root(pieces, targets);
    for (std::size_t level = 1; level < sides_.size(); ++level) sides_[level] = 0.5 * sides_[level - 1];
    divide(pieces, targets, options);
}

void Tree::set_root(std::span<const LinePiece> pieces, std::span<const Point> targets) {
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

void Tree::divide(std::span<const LinePiece> pieces, std::span<const Point> targets, const TreeOptions& options) {
    Contents contents;
    contents.parts.resize(1);
    contents.targets.resize(1);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        contents.parts[0].push_back({static_cast<std::uint32_t>(i), 0.0, 1.0});
    }
    for (std::size_t i = 0; i < targets.size(); ++i) contents.targets[0].push_back(static_cast<std::uint32_t>(i));

    Box root;
    root.centre = centre_of(root);
    root.sources = pieces.size();
    root.targets = targets.size();
    for (const LinePiece& piece : pieces) root.radius = std::max(root.radius, piece.radius);
    boxes_.push_back(root);

    // Contents of leaves, by box.
    std::vector<std::vector<SourcePart>> leaf_parts;
    std::vector<std::vector<std::uint32_t>> leaf_targets;
    for (std::uint32_t level = 0;; ++level) {
        const auto begin = level_begin_.back();
        const auto end = static_cast<std::uint32_t>(boxes_.size());
        level_begin_.push_back(end);
        leaf_parts.resize(end);
        leaf_targets.resize(end);
        Contents next;
        for (std::uint32_t number = begin; number < end; ++number) {
            std::vector<SourcePart>& parts = contents.parts[number - begin];
            std::vector<std::uint32_t>& points = contents.targets[number - begin];
            const Box box = boxes_[number];
            bool is_divided = options.depth ? level < *options.depth
                                            : box.sources + box.targets > options.capacity && level < max_depth;
            is_divided = is_divided && side(level + 1) >= radii_in_side * box.radius;
            std::array<std::vector<SourcePart>, 8> child_parts;
            std::array<std::vector<std::uint32_t>, 8> child_points;
            if (is_divided) {
                std::size_t count = 0;
                for (const SourcePart& part : parts) {
                    cut(pieces[part.piece], part, box.centre, [&](std::uint32_t child, const SourcePart& piece) {
                        child_parts[child].push_back(piece);
                        ++count;
                    });
                }
                for (const std::uint32_t point : points)
                    child_points[octant(targets[point], box.centre)].push_back(point);
                is_divided =
                    options.depth || static_cast<double>(count) <= most_parts * static_cast<double>(box.sources);
            }
            if (!is_divided) {
                leaf_parts[number] = std::move(parts);
                leaf_targets[number] = std::move(points);
                continue;
            }
            boxes_[number].first_child = static_cast<std::uint32_t>(boxes_.size());
            for (std::uint32_t child = 0; child < 8; ++child) {
                if (child_parts[child].empty() && child_points[child].empty()) continue;
                ++boxes_[number].children;
                Box made;
                made.parent = number;
                made.level = static_cast<std::uint8_t>(level + 1);
                made.x = 2 * box.x + (child & 1U);
                made.y = 2 * box.y + (child >> 1U & 1U);
                made.z = 2 * box.z + (child >> 2U);
                made.centre = centre_of(made);
                made.sources = child_parts[child].size();
                made.targets = child_points[child].size();
                for (const SourcePart& part : child_parts[child]) {
                    made.radius = std::max(made.radius, pieces[part.piece].radius);
                }
                boxes_.push_back(made);
                next.parts.push_back(std::move(child_parts[child]));
                next.targets.push_back(std::move(child_points[child]));
            }
        }
        if (boxes_.size() == end) break;
        contents = std::move(next);
    }
    parts_begin_.push_back(0);
    targets_begin_.push_back(0);
    for (std::uint32_t box = 0; box < boxes_.size(); ++box) {
        parts_.insert(parts_.end(), leaf_parts[box].begin(), leaf_parts[box].end());
        targets_.insert(targets_.end(), leaf_targets[box].begin(), leaf_targets[box].end());
        parts_begin_.push_back(parts_.size());
        targets_begin_.push_back(targets_.size());
    }
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
