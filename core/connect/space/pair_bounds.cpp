#include "connect/space/pair_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <queue>
#include <utility>

#include "connect/space/partner_index.hpp"

namespace ranvier::connect {

namespace {
namespace pair_bounds_parts {

using Range = PairRanges::Range;

/// Halvings of the range of a quantity.
constexpr unsigned most_halvings = 10;
/// Parts that are divided in the search for one bound.
constexpr std::size_t most_divided = 2048;
/// Parts of the displacements in a search for the greatest distance within a mask.
constexpr std::size_t most_of_mask = 4096;

PairQuantity displacement(std::size_t axis) {
    return static_cast<PairQuantity>(static_cast<std::size_t>(PairQuantity::displacement_x) + axis);
}

Range intersection(const Range& a, const Range& b) { return {std::max(a.low, b.low), std::min(a.high, b.high)}; }

/// The lengths within a mask that depends on them alone.
Range radii_of(const Mask& mask) {
    if (mask.first() == nullptr) return {0.0, mask.halves()[0] * (1.0 + 4e-10)};
    const Range one = radii_of(*mask.first());
    const Range other = radii_of(*mask.second());
    if (mask.kind() == Mask::Kind::both) return intersection(one, other);
    if (mask.kind() == Mask::Kind::either) return {std::min(one.low, other.low), std::max(one.high, other.high)};
    // Only a ball leaves out all of what is nearer.
    const bool is_ball = mask.second()->first() == nullptr;
    return {is_ball ? std::max(one.low, other.high * (1.0 - 8e-10)) : one.low, one.high};
}

DisplacementBox box_of(const PairRanges& ranges, bool is_reversed) {
    DisplacementBox box;
    for (std::size_t axis = 0; axis < most_dimensions; ++axis) {
        const Range& range = ranges[displacement(axis)];
        box.low[axis] = is_reversed ? -range.high : range.low;
        box.high[axis] = is_reversed ? -range.low : range.high;
    }
    return box;
}

Range displacements_between(const Range& source, const Range& target, double period) {
    const Range direct{target.low - source.high, target.high - source.low};
    const double half = 0.5 * period;
    if (period == 0.0 || (direct.low >= -half && direct.high <= half)) return direct;
    return {-half, half};
}

}  // namespace pair_bounds_parts
}  // namespace

using namespace pair_bounds_parts;

void PairRegion::limit(const PairPositions& positions, Mask::Pointer within, bool is_reversed) {
    dimensions = positions.dimensions;
    mask = std::move(within);
    is_mask_reversed = is_reversed;
    const SpaceBox from = bounds_of(*positions.space, positions.sources);
    const SpaceBox to = bounds_of(*positions.space, positions.targets);
    for (std::size_t axis = 0; axis < most_dimensions; ++axis) {
        const auto along = [&](PairQuantity first) {
            return static_cast<PairQuantity>(static_cast<std::size_t>(first) + axis);
        };
        const Range source{from.low[axis], from.high[axis]};
        const Range target{to.low[axis], to.high[axis]};
        ranges[along(PairQuantity::displacement_x)] = displacements_between(source, target, positions.period[axis]);
        ranges[along(PairQuantity::source_x)] = source;
        ranges[along(PairQuantity::target_x)] = target;
    }
}

PairRanges::Range distances_of(const PairRanges& ranges, unsigned dimensions) {
    double nearest = 0.0;
    double farthest = 0.0;
    for (std::size_t axis = 0; axis < dimensions; ++axis) {
        const Range& along = ranges[displacement(axis)];
        const double far = std::max(std::abs(along.low), std::abs(along.high));
        const bool crosses = along.low <= 0.0 && along.high >= 0.0;
        const double near = crosses ? 0.0 : std::min(std::abs(along.low), std::abs(along.high));
        nearest += near * near;
        farthest += far * far;
    }
    // Distances are rounded.
    return {std::sqrt(nearest) * (1.0 - 0x1p-50), std::sqrt(farthest) * (1.0 + 0x1p-50)};
}

/// A part of the region: of each quantity that is divided, one of 2^halvings equal parts.
struct PairBounds::Box {
    std::array<std::uint16_t, pair_quantity_count> place{};
    std::array<std::uint8_t, pair_quantity_count> halvings{};
    unsigned depth = 0;
    Range bounds;
    double key = 0.0;  ///< the bound that is sought; less is better
};

PairBounds::PairBounds(const PairFunction& function, const PairRegion& region) : function_(function), region_(region) {
    for (std::size_t axis = region.dimensions; axis < most_dimensions; ++axis) {
        region_.ranges[displacement(axis)] = {0.0, 0.0};
    }
    if (region.mask != nullptr) {
        const DisplacementBox limits = region.mask->bounds();
        for (std::size_t axis = 0; axis < region.dimensions; ++axis) {
            Range& along = region_.ranges[displacement(axis)];
            along = intersection(along, region.is_mask_reversed ? Range{-limits.high[axis], -limits.low[axis]}
                                                                : Range{limits.low[axis], limits.high[axis]});
            is_empty_ = is_empty_ || along.low > along.high;
        }
        if (is_empty_) return;
        limit_distances();
        if (is_empty_) return;
    }
    const auto uses = [&](PairQuantity quantity) { return function.uses(quantity); };
    const bool by_distance = uses(PairQuantity::distance);
    for (std::size_t axis = 0; axis < most_dimensions; ++axis) follows_ = follows_ || uses(displacement(axis));
    Range& distances = region_.ranges[PairQuantity::distance];
    distances = distances_of(region_.ranges, region.dimensions);
    if (limits_) distances = intersection(distances, *limits_);
    for (std::size_t q = 0; q < pair_quantity_count; ++q) {
        const auto quantity = static_cast<PairQuantity>(q);
        const bool is_displacement = quantity >= displacement(0) && quantity <= displacement(2);
        const bool is_divided = quantity == PairQuantity::distance ? by_distance && !follows_
                                : is_displacement
                                    ? follows_ && (uses(quantity) || by_distance || region.mask != nullptr)
                                    : uses(quantity);
        if (is_divided && !(is_displacement && q - 1 >= region.dimensions)) divided_.push_back(quantity);
    }
}

/// Finds the distances within the mask: those of a ball exactly, and of other masks by dividing the displacements.
void PairBounds::limit_distances() {
    const Mask& mask = *region_.mask;
    if (mask.dimensions() == region_.dimensions && mask.is_radial()) {
        const Range radii = radii_of(mask);
        limits_ = radii;
        const Range possible = intersection(radii, distances_of(region_.ranges, region_.dimensions));
        is_empty_ = possible.low > possible.high;
        return;
    }
    struct Piece {
        PairRanges ranges;
        double key;
    };
    const auto search = [&](bool is_nearest) -> std::optional<double> {
        const auto is_later = [](const Piece& a, const Piece& b) { return a.key > b.key; };
        std::priority_queue<Piece, std::vector<Piece>, decltype(is_later)> waiting(is_later);
        const auto add = [&](const PairRanges& ranges) {
            if (is_outside(ranges)) return;
            const Range distances = distances_of(ranges, region_.dimensions);
            waiting.push({ranges, is_nearest ? distances.low : -distances.high});
        };
        add(region_.ranges);
        for (std::size_t divided = 0; divided < most_of_mask && !waiting.empty(); ++divided) {
            const Piece piece = waiting.top();
            if (mask.classify(box_of(piece.ranges, region_.is_mask_reversed)) == Mask::Place::inside) break;
            waiting.pop();
            std::size_t longest = 0;
            const auto length = [&](std::size_t axis) {
                return piece.ranges[displacement(axis)].high - piece.ranges[displacement(axis)].low;
            };
            for (std::size_t axis = 1; axis < region_.dimensions; ++axis) {
                if (length(axis) > length(longest)) longest = axis;
            }
            const Range whole = piece.ranges[displacement(longest)];
            const double middle = 0.5 * (whole.low + whole.high);
            for (const Range& half : {Range{whole.low, middle}, Range{middle, whole.high}}) {
                PairRanges ranges = piece.ranges;
                ranges[displacement(longest)] = half;
                add(ranges);
            }
        }
        return waiting.empty() ? std::nullopt : std::optional(std::abs(waiting.top().key));
    };
    const std::optional<double> nearest = search(true);
    const std::optional<double> farthest = search(false);
    is_empty_ = !nearest || !farthest;
    if (!is_empty_) limits_ = Range{*nearest, *farthest};
}

bool PairBounds::is_outside(const PairRanges& ranges) const {
    return region_.mask != nullptr &&
           region_.mask->classify(box_of(ranges, region_.is_mask_reversed)) == Mask::Place::outside;
}

PairRanges PairBounds::ranges_of(const Box& box) const {
    PairRanges ranges = region_.ranges;
    for (std::size_t k = 0; k < divided_.size(); ++k) {
        const Range& all = region_.ranges[divided_[k]];
        const double count = std::ldexp(1.0, box.halvings[k]);
        const auto edge = [&](double at) { return all.low + (all.high - all.low) * (at / count); };
        const double place = box.place[k];
        // Neighbouring parts share an edge; the last one ends where all do.
        ranges[divided_[k]] = {edge(place), place + 1.0 == count ? all.high : edge(place + 1.0)};
    }
    if (follows_) {
        Range& distances = ranges[PairQuantity::distance];
        distances = distances_of(ranges, region_.dimensions);
        if (limits_) distances = intersection(distances, *limits_);
    }
    return ranges;
}

PairBounds::Part PairBounds::find(std::size_t result, bool is_least, double enough) const {
    // Of equal bounds the smallest part, so that it is found without dividing others.
    const auto is_later = [](const Box& a, const Box& b) { return a.key != b.key ? a.key > b.key : a.depth < b.depth; };
    std::priority_queue<Box, std::vector<Box>, decltype(is_later)> waiting(is_later);
    const auto add = [&](Box box) {
        const PairRanges ranges = ranges_of(box);
        const bool is_far = follows_ && ranges[PairQuantity::distance].low > ranges[PairQuantity::distance].high;
        if (follows_ && (is_far || is_outside(ranges))) return;
        box.bounds = function_.range(ranges, result);
        box.key = is_least ? box.bounds.low : -box.bounds.high;
        waiting.push(box);
    };
    const auto axis_of = [&](const Box& box) {
        std::size_t best = divided_.size();
        for (std::size_t k = 0; k < divided_.size(); ++k) {
            const Range& all = region_.ranges[divided_[k]];
            if (all.low == all.high || box.halvings[k] == most_halvings) continue;
            if (best == divided_.size() || box.halvings[k] < box.halvings[best]) best = k;
        }
        return best;
    };
    add({});
    // The mask leaves out what is around the region, not all of it.
    Box last;
    for (std::size_t divided = 0; !waiting.empty(); ++divided) {
        last = waiting.top();
        const std::size_t axis = axis_of(last);
        const bool is_enough = is_least ? last.key >= enough : last.key >= -enough;
        if (is_enough || axis == divided_.size() || divided == most_divided) break;
        waiting.pop();
        for (const unsigned side : {0U, 1U}) {
            Box half = last;
            half.place[axis] = static_cast<std::uint16_t>(2 * half.place[axis] + side);
            ++half.halvings[axis];
            ++half.depth;
            add(half);
        }
    }
    return {last.bounds, ranges_of(last)};
}

PairBounds::Part PairBounds::least(std::size_t result, double enough) const { return find(result, true, enough); }
PairBounds::Part PairBounds::greatest(std::size_t result, double enough) const { return find(result, false, enough); }

std::vector<PairRanges> PairBounds::some_parts(std::size_t most) const {
    std::vector<PairRanges> parts;
    // Of the diagonals of the region: all quantities are divided, and in different orders.
    const auto count = static_cast<double>(most);
    for (std::size_t i = 0; i < most; ++i) {
        PairRanges ranges = region_.ranges;
        for (std::size_t k = 0; k < divided_.size(); ++k) {
            const Range all = region_.ranges[divided_[k]];
            const auto place = static_cast<double>((2 * k + 1) * i % most);
            ranges[divided_[k]] = {all.low + (all.high - all.low) * (place / count),
                                   all.low + (all.high - all.low) * ((place + 1.0) / count)};
        }
        if (follows_) ranges[PairQuantity::distance] = distances_of(ranges, region_.dimensions);
        if (follows_ && is_outside(ranges)) continue;
        parts.push_back(ranges);
        if (divided_.empty()) break;
    }
    return parts;
}

}  // namespace ranvier::connect
