#include "connect/rules/pair_weights.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "connect/space/pair_bounds.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::connect {

namespace {
namespace pair_weights_parts {

/// The nearest whole number, as std::nearbyint: |x| < 2^51.
RANVIER_ALWAYS_INLINE double nearest(double x) { return (x + 0x1.8p52) - 0x1.8p52; }

/// Of one axis; as PairPositions::displacement.
struct DisplacementsOfAxis {
    RANVIER_ALWAYS_INLINE static void run(const std::uint32_t* __restrict places, std::size_t count,
                                          const double* __restrict coordinates, double major, double sign,
                                          double period, double* __restrict out) {
        if (period == 0.0) {
            for (std::size_t i = 0; i < count; ++i) out[i] = sign * (major - coordinates[places[i]]);
            return;
        }
        for (std::size_t i = 0; i < count; ++i) {
            const double difference = sign * (major - coordinates[places[i]]);
            out[i] = difference - period * nearest(difference / period);
        }
    }
};

/// As PairPositions::length.
struct Lengths {
    RANVIER_ALWAYS_INLINE static void run(std::size_t count, const double* __restrict x, const double* __restrict y,
                                          const double* __restrict z, double* __restrict out) {
        for (std::size_t i = 0; i < count; ++i) out[i] = std::sqrt(x[i] * x[i] + y[i] * y[i] + z[i] * z[i]);
    }
};

/// Whether all values are from 0 to `most`, and no value exceeds its bound, up to rounding.
struct AreWithin {
    RANVIER_ALWAYS_INLINE static bool run(std::size_t count, const double* __restrict values,
                                          const double* __restrict bounds, double most) {
        std::uint64_t failures = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const bool fits = (values[i] >= 0.0) & (values[i] <= most) & (values[i] <= bounds[i] * (1.0 + 1e-6));
            failures += fits ? 0 : 1;
        }
        return failures == 0;
    }
};

/// Elements beyond the old size are 0, as the displacements along an axis that there is not.
void ensure(std::vector<double>& array, std::size_t size) {
    if (array.size() < size) array.resize(size);
}

/// A node is not divided where its bounds differ by this factor at most.
constexpr double even_enough = 1.25;

constexpr std::size_t place_of(PairQuantity quantity) { return static_cast<std::size_t>(quantity); }

PairQuantity displacement(std::size_t axis) {
    return static_cast<PairQuantity>(place_of(PairQuantity::displacement_x) + axis);
}
PairQuantity source_coordinate(std::size_t axis) {
    return static_cast<PairQuantity>(place_of(PairQuantity::source_x) + axis);
}
PairQuantity target_coordinate(std::size_t axis) {
    return static_cast<PairQuantity>(place_of(PairQuantity::target_x) + axis);
}

/// The greatest absolute displacement of a pair, by axis.
Point reach_of(const PairPositions& positions, const Mask* mask) {
    const SpaceBox sources = bounds_of(*positions.space, positions.sources);
    const SpaceBox targets = bounds_of(*positions.space, positions.targets);
    Point reach{};
    for (std::size_t axis = 0; axis < positions.dimensions; ++axis) {
        reach[axis] = std::max(targets.high[axis] - sources.low[axis], sources.high[axis] - targets.low[axis]);
        if (positions.period[axis] > 0.0) reach[axis] = std::min(reach[axis], 0.5 * positions.period[axis]);
        if (mask != nullptr) {
            const DisplacementBox limits = mask->bounds();
            const double limit = std::max(std::abs(limits.low[axis]), std::abs(limits.high[axis]));
            reach[axis] = std::min(reach[axis], limit);
        }
        reach[axis] *= 1.0 + 1e-9;
    }
    return reach;
}

/// Boxes that contain some neurons, not many more than the cells of a coarse grid.
std::vector<SpaceBox> boxes_around(const Space& space, const IdSequence& neurons, unsigned dimensions) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    constexpr SpaceBox empty{{infinity, infinity, infinity}, {-infinity, -infinity, -infinity}};
    const std::size_t cells = dimensions == 2 ? 16 : 8;
    const auto include = [](SpaceBox& box, const Point& point) {
        for (std::size_t axis = 0; axis < most_dimensions; ++axis) {
            box.low[axis] = std::min(box.low[axis], point[axis]);
            box.high[axis] = std::max(box.high[axis], point[axis]);
        }
    };
    SpaceBox all = empty;
    for_each_position(space, neurons, [&](std::uint64_t, const Point& point) { include(all, point); });
    std::vector<SpaceBox> boxes(cells * cells * (dimensions == 2 ? 1 : cells), empty);
    for_each_position(space, neurons, [&](std::uint64_t, const Point& point) {
        std::size_t box = 0;
        for (std::size_t axis = 0; axis < dimensions; ++axis) {
            const double extent = all.high[axis] - all.low[axis];
            const double place = extent > 0.0 ? (point[axis] - all.low[axis]) / extent : 0.0;
            box = box * cells + std::min(static_cast<std::size_t>(place * static_cast<double>(cells)), cells - 1);
        }
        include(boxes[box], point);
    });
    std::erase_if(boxes, [](const SpaceBox& box) { return box.low[0] > box.high[0]; });
    return boxes;
}

bool uses_displacements_only(const PairFunction& function) {
    return std::ranges::all_of(function.inputs(), [](PairQuantity input) {
        return input == PairQuantity::distance || (input >= displacement(0) && input <= displacement(2));
    });
}

}  // namespace pair_weights_parts
}  // namespace

using namespace pair_weights_parts;

PairWeights::PairWeights(Description description, const MajorView& view)
    : description_(std::move(description)),
      view_(view),
      partners_(view.partners()),
      majors_(view.majors()),
      of_target_(description_.major == RuleSampler::Major::target) {
    if (const auto* const number = std::get_if<double>(&description_.value)) {
        constant_ = *number;
    } else {
        function_ = std::get<std::shared_ptr<const PairFunction>>(description_.value).get();
    }
    // Cells of indices bound a function of indices better than cells of space.
    if (description_.mask == nullptr && (function_ == nullptr || !function_->is_spatial())) {
        description_.positions = nullptr;
    }
    if (description_.positions != nullptr) {
        dimensions_ = description_.positions->dimensions;
        period_ = description_.positions->period;
        for (std::size_t axis = 0; axis < most_dimensions; ++axis) {
            inverse_period_[axis] = period_[axis] > 0.0 ? 1.0 / period_[axis] : 0.0;
            half_period_[axis] = period_[axis] > 0.0 ? 0.5 * period_[axis] : std::numeric_limits<double>::infinity();
        }
        check_dimensions();
    } else if (description_.mask != nullptr || (function_ != nullptr && function_->is_spatial())) {
        throw RuleError({.object = description_.mask != nullptr ? description_.mask_object : description_.object,
                         .value = description_.mask != nullptr ? "a mask" : "'" + function_->text() + "'",
                         .bound = "it needs positions of all sources and targets",
                         .remedy = "give positions= when the populations are created"});
    }
    index_ = description_.positions == nullptr
                 ? std::make_shared<const SharedIndex>(IdSequence(NeuronId{0}, 1, partners_), 1)
                 : shared_index(*description_.positions->space, partner_ids(), dimensions_);
    if (description_.positions == nullptr || partners_ == 0 || majors_ == 0) return;
    const Mask* const mask = description_.mask.get();
    const bool is_radial_mask = mask == nullptr || (mask->dimensions() == dimensions_ && mask->is_radial());
    is_by_distance_ = is_radial_mask && (function_ == nullptr || function_->is_radial());
    if (!is_by_distance_ && (function_ == nullptr || !uses_displacements_only(*function_))) return;
    tables_ = std::make_shared<Tables>();
}

void PairWeights::make_tables() const {
    const Mask* const mask = description_.mask.get();
    const Point reach = reach_of(*description_.positions, mask);
    if (function_ != nullptr && !function_->is_radial()) {
        tables_->by_displacement.emplace(*function_, dimensions_, reach);
        return;
    }
    // Without an extent, all pairs are at the distance 0.
    const double distance = PairPositions::length(reach);
    tables_->by_distance.emplace(ValueByDistance{.function = function_,
                                                 .constant = constant_,
                                                 .mask = is_by_distance_ ? mask : nullptr,
                                                 .most = description_.most},
                                 distance > 0.0 ? distance : 1.0);
}

bool PairWeights::is_surely_valid() const {
    if (function_ == nullptr || partners_ == 0 || majors_ == 0) return true;
    const auto indices = [](std::uint64_t count) { return PairRanges::Range{0.0, static_cast<double>(count - 1)}; };
    PairRegion region{.ranges = {}};
    region.ranges[PairQuantity::source_index] = indices(of_target_ ? partners_ : majors_);
    region.ranges[PairQuantity::target_index] = indices(of_target_ ? majors_ : partners_);
    if (description_.positions != nullptr) region.limit(*description_.positions, description_.mask);
    const PairBounds bounds(*function_, region);
    return bounds.is_empty() || (bounds.least(0, 0.0).bounds.low >= 0.0 &&
                                 bounds.greatest(0, description_.most).bounds.high <= description_.most);
}

void PairWeights::check_dimensions() const {
    const auto refuse = [&](const std::string& object, std::string value) {
        throw RuleError({.object = object,
                         .value = std::move(value),
                         .bound = "the positions have two dimensions",
                         .remedy = "limit x and y only, or give positions with three coordinates"});
    };
    if (dimensions_ == most_dimensions) return;
    if (description_.mask != nullptr && description_.mask->dimensions() > dimensions_) {
        refuse(description_.mask_object, "a mask of three dimensions");
    }
    if (function_ == nullptr) return;
    for (const PairQuantity z : {displacement(2), source_coordinate(2), target_coordinate(2)}) {
        if (function_->uses(z)) refuse(description_.object, "'" + function_->text() + "'");
    }
}

std::optional<double> PairWeights::constant() const {
    return function_ == nullptr ? std::optional(constant_) : std::nullopt;
}

const IdSequence& PairWeights::partner_ids() const {
    return of_target_ ? description_.positions->sources : description_.positions->targets;
}

PairWeights::MajorNeuron PairWeights::neuron(std::uint64_t index) const {
    MajorNeuron neuron{.index = index, .excluded = view_.excluded(index)};
    if (description_.positions != nullptr) {
        neuron.position = of_target_ ? description_.positions->target(index) : description_.positions->source(index);
    }
    return neuron;
}

PairWeights::AxisRange PairWeights::range_of(PairRanges::Range major, double low, double high, std::size_t axis) const {
    AxisRange range;
    double from = of_target_ ? major.low - high : low - major.high;
    double to = of_target_ ? major.high - low : high - major.low;
    const double period = period_[axis];
    const auto in_one_piece = [&](double least, double greatest) {
        range.low[0] = least;
        range.high[0] = greatest;
        range.least = least > 0.0 ? least : (greatest < 0.0 ? -greatest : 0.0);
        range.greatest = std::max(std::abs(least), std::abs(greatest));
    };
    if (period == 0.0) {
        in_one_piece(from, to);
        return range;
    }
    const double half = 0.5 * period;
    if (to - from >= period) {
        in_one_piece(-half, half);
        return range;
    }
    const double shift = period * nearest(0.5 * (from + to) * inverse_period_[axis]);
    from -= shift;
    to -= shift;
    if (from >= -half && to <= half) {
        in_one_piece(from, to);
        return range;
    }
    // Across the far side, which half a period is at either end of.
    range.pieces = 2;
    if (to > half) {
        range.low = {from, -half};
        range.high = {half, to - period};
    } else {
        range.low = {-half, from + period};
        range.high = {to, half};
    }
    range.least = from <= 0.0 && to >= 0.0 ? 0.0
                                           : std::min({std::abs(range.low[0]), std::abs(range.high[0]),
                                                       std::abs(range.low[1]), std::abs(range.high[1])});
    range.greatest = half;
    return range;
}

template <class Visit>
void PairWeights::for_each_piece(const std::array<AxisRange, most_dimensions>& axes, Visit visit) {
    const std::size_t pieces = axes[0].pieces * axes[1].pieces * axes[2].pieces;
    for (std::size_t piece = 0; piece < pieces; ++piece) {
        DisplacementBox box;
        std::size_t rest = piece;
        for (std::size_t axis = 0; axis < most_dimensions; ++axis) {
            const std::size_t of_axis = rest % axes[axis].pieces;
            rest /= axes[axis].pieces;
            box.low[axis] = axes[axis].low[of_axis];
            box.high[axis] = axes[axis].high[of_axis];
        }
        visit(box);
    }
}

Mask::Place PairWeights::classify(const std::array<AxisRange, most_dimensions>& axes) const {
    bool some_inside = false;
    bool some_outside = false;
    for_each_piece(axes, [&](const DisplacementBox& box) {
        const Mask::Place place = description_.mask->classify(box);
        some_inside = some_inside || place != Mask::Place::outside;
        some_outside = some_outside || place != Mask::Place::inside;
    });
    if (some_inside && some_outside) return Mask::Place::partial;
    return some_inside ? Mask::Place::inside : Mask::Place::outside;
}

PairRanges PairWeights::ranges(const std::array<AxisRange, most_dimensions>& axes, const MajorNeuron& neuron,
                               const SpaceBox& box) const {
    PairRanges ranges;
    const auto major_index = static_cast<double>(neuron.index);
    PairRanges::Range partner_index{0.0, static_cast<double>(partners_ - 1)};
    if (description_.positions == nullptr) {
        partner_index = {std::max(std::ceil(box.low[0]), 0.0), std::floor(box.high[0])};
    } else {
        double least = 0.0;
        double greatest = 0.0;
        for (std::size_t axis = 0; axis < dimensions_; ++axis) {
            const AxisRange& range = axes[axis];
            least += range.least * range.least;
            greatest += range.greatest * range.greatest;
            ranges[displacement(axis)] = {std::min(range.low[0], range.low[range.pieces - 1]),
                                          std::max(range.high[0], range.high[range.pieces - 1])};
            const PairRanges::Range at_major{neuron.position[axis], neuron.position[axis]};
            const PairRanges::Range at_partner{box.low[axis], box.high[axis]};
            ranges[source_coordinate(axis)] = of_target_ ? at_partner : at_major;
            ranges[target_coordinate(axis)] = of_target_ ? at_major : at_partner;
        }
        ranges[PairQuantity::distance] = {std::sqrt(least) * (1.0 - 1e-12), std::sqrt(greatest) * (1.0 + 1e-12)};
    }
    const PairRanges::Range at_major{major_index, major_index};
    ranges[PairQuantity::source_index] = of_target_ ? partner_index : at_major;
    ranges[PairQuantity::target_index] = of_target_ ? at_major : partner_index;
    return ranges;
}

PairWeights::Bound PairWeights::limited(PairRanges::Range range, bool on_edge) const {
    // Values that may be out of bounds are bounded by the limit, so that all such pairs are evaluated.
    const bool may_be_refused = !(range.low >= 0.0);
    return {
        .low = may_be_refused ? -1.0 : std::min(range.low, description_.most),
        .high = may_be_refused || !(range.high <= description_.most) ? description_.most : range.high * (1.0 + 1e-12),
        .on_edge = on_edge};
}

/// The squares of the least and the greatest distance from a neuron to a cell.
struct PairWeights::CellDistances {
    double least = 0.0;
    double greatest = 0.0;

    RANVIER_ALWAYS_INLINE CellDistances(const PartnerIndex::Cells& cells, const PartnerIndex::Node& node,
                                        unsigned dimensions, const Point& from, const Point& period,
                                        const Point& inverse_period, const Point& half_period) {
        for (std::size_t axis = 0; axis < dimensions; ++axis) {
            double centre = cells.first[axis] - from[axis] + cells.size[axis] * static_cast<double>(node.cell[axis]);
            centre = std::abs(centre - period[axis] * nearest(centre * inverse_period[axis]));
            const double near = std::max(centre - cells.half[axis], 0.0);
            const double far = std::min(centre + cells.half[axis], half_period[axis]);
            least += near * near;
            greatest += far * far;
        }
    }
};

PairWeights::Bound PairWeights::bound_by_distance(const PartnerIndex& index, const MajorNeuron& neuron,
                                                  const PartnerIndex::Node& node) const {
    const CellDistances distances(index.cells(node.level), node, dimensions_, neuron.position, period_, inverse_period_,
                                  half_period_);
    const PairRanges::Range range = tables_->by_distance->between(distances.least, distances.greatest);
    return {range.low, range.high, description_.mask != nullptr && range.low <= 0.0};
}

void PairWeights::decide(InstructionSet set, const PartnerIndex& index, const MajorNeuron& neuron,
                         std::span<const std::uint32_t> places, const double* limits, std::uint8_t* decisions) const {
    DistanceBounds::Candidates candidates{
        .count = places.size(), .places = places.data(), .limits = limits, .dimensions = dimensions_};
    for (std::size_t axis = 0; axis < dimensions_; ++axis) {
        candidates.from[axis] = neuron.position[axis];
        candidates.coordinates[axis] = index.coordinates(axis).data();
        candidates.period[axis] = 2.0 * half_period_[axis];
    }
    tables_->by_distance->decide(set, candidates, decisions);
}

PairRanges::Range PairWeights::range_by_displacement(const std::array<AxisRange, most_dimensions>& axes,
                                                     const MajorNeuron& neuron, const SpaceBox& box) const {
    PairRanges::Range range{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
    bool is_finer = true;
    for_each_piece(axes, [&](const DisplacementBox& piece) {
        const PairRanges::Range of_piece = tables_->by_displacement->between(piece);
        range.low = std::min(range.low, of_piece.low);
        range.high = std::max(range.high, of_piece.high);
        is_finer = is_finer && tables_->by_displacement->is_finer(piece);
    });
    // In a box that is smaller than the cells of the table, the function itself has closer bounds.
    const bool is_close = range.low >= 0.0 && range.high <= 2.0 * range.low;
    return is_finer && !is_close ? function_->range(ranges(axes, neuron, box)) : range;
}

PairWeights::Bound PairWeights::bound(const PartnerIndex& index, const MajorNeuron& neuron,
                                      const PartnerIndex::Node& node) const {
    if (description_.positions == nullptr && function_ == nullptr) return {constant_, constant_, false};
    if (is_by_distance_) return bound_by_distance(index, neuron, node);
    const SpaceBox box = index.box(node);
    std::array<AxisRange, most_dimensions> axes{};
    bool on_edge = false;
    if (description_.positions != nullptr) {
        for (std::size_t axis = 0; axis < dimensions_; ++axis) {
            axes[axis] = range_of({neuron.position[axis], neuron.position[axis]}, box.low[axis], box.high[axis], axis);
        }
        if (description_.mask != nullptr) {
            const Mask::Place place = classify(axes);
            if (place == Mask::Place::outside) return {};
            on_edge = place == Mask::Place::partial;
        }
    }
    if (function_ == nullptr) return {constant_, constant_, on_edge};
    if (tables_ != nullptr && tables_->by_displacement)
        return limited(range_by_displacement(axes, neuron, box), on_edge);
    if (tables_ == nullptr) return limited(function_->range(ranges(axes, neuron, box)), on_edge);
    double least = 0.0;
    double greatest = 0.0;
    for (std::size_t axis = 0; axis < dimensions_; ++axis) {
        least += axes[axis].least * axes[axis].least;
        greatest += axes[axis].greatest * axes[axis].greatest;
    }
    return limited(tables_->by_distance->between(least, greatest), on_edge);
}

bool PairWeights::reaches(const SpaceBox& majors, const SpaceBox& partners) const {
    std::array<AxisRange, most_dimensions> axes{};
    double least = 0.0;
    double greatest = 0.0;
    for (std::size_t axis = 0; axis < dimensions_; ++axis) {
        axes[axis] = range_of({majors.low[axis], majors.high[axis]}, partners.low[axis], partners.high[axis], axis);
        least += axes[axis].least * axes[axis].least;
        greatest += axes[axis].greatest * axes[axis].greatest;
    }
    // As bound(), so that no partner is missing for which that is above 0.
    if (is_by_distance_) return tables_->by_distance->between(least, greatest).high > 0.0;
    return classify(axes) != Mask::Place::outside;
}

PartnerIndex::Needed PairWeights::needed_by(const IdSequence& majors) const {
    ensure_tables();
    const Space& space = *description_.positions->space;
    std::vector<SpaceBox> boxes = boxes_around(space, majors, dimensions_);
    // More than the rounding of distances to the boxes of an index.
    const SpaceBox partners = bounds_of(space, partner_ids());
    for (SpaceBox& box : boxes) {
        for (std::size_t axis = 0; axis < dimensions_; ++axis) {
            const double rounding = 1e-9 * (std::abs(partners.low[axis]) + std::abs(partners.high[axis]) +
                                            std::abs(box.low[axis]) + std::abs(box.high[axis]));
            box.low[axis] -= rounding;
            box.high[axis] += rounding;
        }
    }
    // Cells that follow each other are mostly in reach of the same box.
    return [weights = std::make_shared<const PairWeights>(*this), boxes = std::move(boxes),
            last = std::make_shared<std::size_t>(0)](const SpaceBox& cell) {
        for (std::size_t i = 0; i < boxes.size(); ++i) {
            const std::size_t tried = (*last + i) % boxes.size();
            if (!weights->reaches(boxes[tried], cell)) continue;
            *last = tried;
            return true;
        }
        return false;
    };
}

PairWeights PairWeights::with_all_partners() const {
    PairWeights all = *this;
    if (description_.positions != nullptr) {
        all.index_ = shared_index(*description_.positions->space, partner_ids(), dimensions_);
    }
    return all;
}

void PairWeights::use(ProcessIndexes& indexes, bool draws_here) {
    if (description_.positions == nullptr) return;
    SharedIndex::MakeNeeded make;
    if (indexes.neurons() && draws_here && description_.mask != nullptr) {
        const IdSequence& all = of_target_ ? description_.positions->targets : description_.positions->sources;
        // Without the index, which the function would keep.
        auto weights = std::make_shared<PairWeights>(*this);
        weights->index_ = nullptr;
        make = [weights, majors = all.among(*indexes.neurons())] { return weights->needed_by(majors); };
    }
    index_ = indexes.get(partner_ids(), dimensions_, std::move(make));
}

void PairWeights::divide_by_waste(const PartnerIndex& index, const MajorNeuron& neuron, double most_waste,
                                  std::vector<Segment>& segments) const {
    if (index.nodes().empty()) return;
    // Of a tree with at most 8 children of a node, and 60 levels.
    struct Part {
        const PartnerIndex::Node* node;
        Bound bound;
    };
    std::array<Part, 8 * 64> waiting;
    waiting[0] = {index.nodes().data(), bound(index, neuron, index.nodes()[0])};
    std::size_t size = 1;
    while (size > 0) {
        const Part part = waiting[--size];
        const PartnerIndex::Node& node = *part.node;
        // Pairs outside of the mask have the value 0.
        const double low = part.bound.on_edge ? 0.0 : part.bound.low;
        const double waste = (part.bound.high - low) * static_cast<double>(node.count);
        if (node.is_leaf() || waste <= most_waste || (low > 0.0 && part.bound.high <= even_enough * low)) {
            if (part.bound.high > 0.0)
                segments.push_back({node.begin, node.count, part.bound.high, part.bound.on_edge});
            continue;
        }
        // The first child is next.
        const PartnerIndex::Node* const children = index.nodes().data() + node.first_child;
        for (std::uint32_t child = node.children; child-- > 0;) {
            const Bound found = is_by_distance_ ? bound_by_distance(index, neuron, children[child])
                                                : bound(index, neuron, children[child]);
            if (found.high > 0.0) waiting[size++] = {children + child, found};
        }
    }
}

void PairWeights::divide_by_share(const PartnerIndex& index, const MajorNeuron& neuron, double share,
                                  std::size_t enough, std::vector<Segment>& segments) const {
    struct Part {
        const PartnerIndex::Node* node;
        Bound bound;
        double waste;
    };
    std::vector<Part> parts;
    double weight = 0.0;
    double waste = 0.0;
    const auto add = [&](std::vector<Part>& to, const PartnerIndex::Node& node) {
        const Bound found = bound(index, neuron, node);
        if (found.high == 0.0) return;
        const double low = found.on_edge ? 0.0 : std::max(found.low, 0.0);
        const auto count = static_cast<double>(node.count);
        to.push_back({&node, found, (found.high - low) * count});
        weight += found.high * count;
        waste += to.back().waste;
    };
    if (!index.nodes().empty()) add(parts, index.nodes()[0]);
    std::vector<Part> next;
    while (waste > share * weight && parts.size() < enough) {
        const double most = share * weight / (2.0 * static_cast<double>(parts.size()));
        next.clear();
        weight = 0.0;
        waste = 0.0;
        bool divided = false;
        for (const Part& part : parts) {
            if (part.node->is_leaf() || part.waste <= most) {
                next.push_back(part);
                weight += part.bound.high * static_cast<double>(part.node->count);
                waste += part.waste;
                continue;
            }
            divided = true;
            for (std::uint32_t child = 0; child < part.node->children; ++child) {
                add(next, index.nodes()[part.node->first_child + child]);
            }
        }
        parts.swap(next);
        if (!divided) break;
    }
    for (const Part& part : parts) {
        segments.push_back({part.node->begin, part.node->count, part.bound.high, part.bound.on_edge});
    }
}

void PairWeights::evaluate(InstructionSet set, const PartnerIndex& index, std::span<const MajorNeuron> neurons,
                           const CandidatePairs& candidates, PairScratch& scratch) const {
    const std::size_t count = candidates.size();
    ensure(scratch.values, count);
    const bool needs_space = candidates.some_on_edge() || (function_ != nullptr && function_->is_spatial());
    if (description_.positions != nullptr && needs_space) {
        for (std::vector<double>& of_axis : scratch.displacements) ensure(of_axis, count);
        for (std::size_t begin = 0; begin < count;) {
            std::size_t end = begin + 1;
            while (end < count && candidates.ordinals[end] == candidates.ordinals[begin]) ++end;
            const Point& major = neurons[candidates.ordinals[begin]].position;
            for (std::size_t axis = 0; axis < dimensions_; ++axis) {
                Dispatched<DisplacementsOfAxis>::call(
                    set, candidates.places.data() + begin, end - begin, index.coordinates(axis).data(), major[axis],
                    of_target_ ? 1.0 : -1.0, period_[axis], scratch.displacements[axis].data() + begin);
            }
            begin = end;
        }
    }
    if (function_ == nullptr) {
        std::fill_n(scratch.values.begin(), count, constant_);
        exclude(index, neurons, candidates, scratch);
        return;
    }
    fill_quantities(set, index, neurons, candidates, scratch);
    std::array<const double*, pair_quantity_count> quantities{};
    for (std::size_t i = 0; i < pair_quantity_count; ++i) quantities[i] = scratch.quantities[i].data();
    for (std::size_t axis = 0; axis < most_dimensions; ++axis) {
        quantities[place_of(displacement(axis))] = scratch.displacements[axis].data();
    }
    function_->evaluate(set, count, quantities, {}, scratch.values.data());
    exclude(index, neurons, candidates, scratch);
    if (Dispatched<AreWithin>::call(set, count, static_cast<const double*>(scratch.values.data()),
                                    candidates.bounds.data(), description_.most)) {
        return;
    }
    refuse_first(candidates, scratch);
}

PairWeights::Total PairWeights::total(const MajorNeuron& neuron, double most_waste) const {
    constexpr std::size_t at_once = 2048;
    const PartnerIndex& all = index();
    const std::vector<MajorNeuron> neurons{neuron};
    std::vector<Segment> segments;
    divide_by_waste(all, neuron, most_waste, segments);
    Total total;
    CandidatePairs candidates;
    candidates.reserve(at_once);
    PairScratch scratch;
    const auto add = [&] {
        evaluate(detect_instruction_set(), all, neurons, candidates, scratch);
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            const double value = scratch.values[i];
            total.sum += value;
            total.squares += value * value;
            total.positive += value > 0.0 ? 1 : 0;
        }
        total.evaluated += candidates.size();
        candidates.clear();
    };
    for (const Segment& segment : segments) {
        total.candidates += segment.weight();
        for (std::uint32_t i = 0; i < segment.count; ++i) {
            const std::uint32_t place = all.held_place(segment.begin + i);
            // Beyond the mask.
            if (place == PartnerIndex::not_held) continue;
            candidates.add(0, place, 0.0, segment.high, segment.on_edge);
            if (candidates.size() == at_once) add();
        }
    }
    add();
    return total;
}

std::uint64_t PairWeights::count_partners(const MajorNeuron& neuron, std::uint64_t enough, std::uint64_t& cost) const {
    const PartnerIndex& all = index();
    if (all.nodes().empty()) return 0;
    // The neuron itself may be among those that are counted by bounds.
    const std::uint64_t surely_enough = neuron.excluded == no_partner ? enough : enough + 1;
    std::uint64_t sure = 0;
    std::uint64_t possible = 0;
    std::vector<const PartnerIndex::Node*> waiting{all.nodes().data()};
    while (!waiting.empty()) {
        const PartnerIndex::Node& node = *waiting.back();
        waiting.pop_back();
        const Bound found = bound(all, neuron, node);
        ++cost;
        if (found.high == 0.0) continue;
        const bool is_sure = !found.on_edge && found.low > 0.0;
        if (is_sure || node.is_leaf()) {
            possible += node.count;
            sure += is_sure ? node.count : 0;
            if (sure >= surely_enough) return enough;
            continue;
        }
        for (std::uint32_t child = 0; child < node.children; ++child) {
            waiting.push_back(all.nodes().data() + node.first_child + child);
        }
    }
    if (possible == 0) return 0;
    // Bounds do not decide.
    cost += possible;
    return std::min(enough, total(neuron, 0.0).positive);
}

std::optional<PairWeights> PairWeights::with_fewer_partners(std::uint64_t most, RandomKey key) const {
    if (partners_ <= most || description_.positions == nullptr) return std::nullopt;
    if (function_ != nullptr &&
        (function_->uses(PairQuantity::source_index) || function_->uses(PairQuantity::target_index))) {
        return std::nullopt;
    }
    PairPositions positions = *description_.positions;
    IdSequence& partners = of_target_ ? positions.sources : positions.targets;
    // At random, since positions may repeat themselves after some indices.
    const std::uint64_t stride = (partners_ + most - 1) / most;
    SequentialRandom random({key, std::numeric_limits<std::uint64_t>::max() - 1, 0});
    std::vector<std::uint64_t> chosen(partners_ / stride);
    for (std::uint64_t i = 0; i < chosen.size(); ++i) {
        chosen[i] = partners[i * stride + random.next_below(stride)].value;
    }
    const std::uint64_t size = chosen.size();
    partners = IdSequence(std::make_shared<const std::vector<std::uint64_t>>(std::move(chosen)), 0, size);
    const PairSpace pairs{.first_source = {},
                          .sources = of_target_ ? partners.size() : majors_,
                          .first_target = {},
                          .targets = of_target_ ? majors_ : partners.size()};
    Description description = description_;
    description.positions = std::make_shared<const PairPositions>(std::move(positions));
    // A neuron that is excluded is one of many.
    return PairWeights(std::move(description), MajorView(pairs, description_.major, true));
}

void PairWeights::evaluate_pairs(std::span<const std::uint64_t> sources, std::span<const std::uint64_t> targets,
                                 std::vector<double>& values) const {
    const std::size_t count = sources.size();
    values.assign(count, constant_);
    PairScratch scratch;
    for (auto& of_quantity : scratch.quantities) of_quantity.resize(count);
    const auto set = [&](PairQuantity quantity, std::size_t i, double value) {
        scratch.quantities[place_of(quantity)][i] = value;
    };
    std::vector<std::uint8_t> outside(count);
    for (std::size_t i = 0; i < count; ++i) {
        set(PairQuantity::source_index, i, static_cast<double>(sources[i]));
        set(PairQuantity::target_index, i, static_cast<double>(targets[i]));
        if (description_.positions == nullptr) continue;
        const Point source = description_.positions->source(sources[i]);
        const Point target = description_.positions->target(targets[i]);
        const Point apart = description_.positions->displacement(source, target);
        set(PairQuantity::distance, i, PairPositions::length(apart));
        for (std::size_t axis = 0; axis < most_dimensions; ++axis) {
            set(displacement(axis), i, apart[axis]);
            set(source_coordinate(axis), i, source[axis]);
            set(target_coordinate(axis), i, target[axis]);
        }
        outside[i] = description_.mask != nullptr && !description_.mask->contains(apart) ? 1 : 0;
    }
    if (function_ != nullptr) {
        std::array<const double*, pair_quantity_count> quantities{};
        for (std::size_t i = 0; i < pair_quantity_count; ++i) quantities[i] = scratch.quantities[i].data();
        function_->evaluate(detect_instruction_set(), count, quantities, {}, values.data());
    }
    for (std::size_t i = 0; i < count; ++i) {
        if (outside[i] != 0) values[i] = 0.0;
        if (!(values[i] >= 0.0 && values[i] <= description_.most)) {
            refuse(values[i], scratch.quantities[place_of(PairQuantity::distance)][i]);
        }
    }
}

/// The neuron itself, if it is excluded, and pairs outside of the mask get the value 0.
void PairWeights::exclude(const PartnerIndex& index, std::span<const MajorNeuron> neurons,
                          const CandidatePairs& candidates, PairScratch& scratch) const {
    const std::size_t count = candidates.size();
    for (std::size_t i = 0; candidates.some_on_edge() && i < count; ++i) {
        if (candidates.on_edge[i] == 0) continue;
        const Point at{scratch.displacements[0][i], scratch.displacements[1][i], scratch.displacements[2][i]};
        if (!description_.mask->contains(at)) scratch.values[i] = 0.0;
    }
    if (!view_.excludes()) return;
    for (std::size_t i = 0; i < count; ++i) {
        if (index.neuron(candidates.places[i]) == neurons[candidates.ordinals[i]].excluded) scratch.values[i] = 0.0;
    }
}

void PairWeights::refuse_first(const CandidatePairs& candidates, const PairScratch& scratch) const {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        const double value = scratch.values[i];
        if (!(value >= 0.0 && value <= description_.most)) {
            Point at{};
            for (std::size_t axis = 0; axis < most_dimensions && description_.positions != nullptr; ++axis) {
                if (axis < dimensions_) at[axis] = scratch.displacements[axis][i];
            }
            refuse(value, PairPositions::length(at));
        }
        if (value > candidates.bounds[i] * (1.0 + 1e-6)) {
            throw InternalError(description_.object + ": " + to_text(value) + " exceeds its bound, " +
                                to_text(candidates.bounds[i]));
        }
    }
    throw InternalError(description_.object + " is out of bounds");
}

void PairWeights::fill_quantities(InstructionSet set, const PartnerIndex& index, std::span<const MajorNeuron> neurons,
                                  const CandidatePairs& candidates, PairScratch& scratch) const {
    const std::size_t count = candidates.size();
    if (function_->uses(PairQuantity::distance)) {
        std::vector<double>& distances = scratch.quantities[place_of(PairQuantity::distance)];
        ensure(distances, count);
        Dispatched<Lengths>::call(set, count, scratch.displacements[0].data(), scratch.displacements[1].data(),
                                  scratch.displacements[2].data(), distances.data());
    }
    const auto fill = [&](PairQuantity quantity, auto value_of) {
        if (!function_->uses(quantity)) return;
        std::vector<double>& values = scratch.quantities[place_of(quantity)];
        ensure(values, count);
        for (std::size_t i = 0; i < count; ++i) values[i] = value_of(i);
    };
    const auto of_partner = [&](std::size_t axis) {
        return [&, axis](std::size_t i) { return index.coordinates(axis)[candidates.places[i]]; };
    };
    const auto of_major = [&](std::size_t axis) {
        return [&, axis](std::size_t i) { return neurons[candidates.ordinals[i]].position[axis]; };
    };
    for (std::size_t axis = 0; axis < dimensions_ && description_.positions != nullptr; ++axis) {
        fill(of_target_ ? source_coordinate(axis) : target_coordinate(axis), of_partner(axis));
        fill(of_target_ ? target_coordinate(axis) : source_coordinate(axis), of_major(axis));
    }
    fill(of_target_ ? PairQuantity::source_index : PairQuantity::target_index,
         [&](std::size_t i) { return static_cast<double>(index.neuron(candidates.places[i])); });
    fill(of_target_ ? PairQuantity::target_index : PairQuantity::source_index,
         [&](std::size_t i) { return static_cast<double>(neurons[candidates.ordinals[i]].index); });
}

void PairWeights::refuse(double value, double distance) const {
    std::string where = function_->text();
    throw ValueOutOfBoundsError(
        {.object = description_.object,
         .value = to_text(value) +
                  (description_.positions != nullptr ? " at the distance " + to_text(distance) + " " +
                                                           std::string(to_string(description_.positions->unit))
                                                     : std::string()) +
                  " ('" + where + "')",
         .bound = "it must be from 0 to " + to_text(description_.most),
         .remedy = "scale the expression, or limit it: clip(..., 0, " + to_text(description_.most) + ")"});
}

}  // namespace ranvier::connect
