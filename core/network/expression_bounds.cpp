#include "network/expression_bounds.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "connect/space/partner_index.hpp"
#include "network/network_checks.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/base/instruction_set.hpp"

namespace ranvier::network {

namespace {

using connect::PairFunction;
using connect::PairPositions;
using connect::PairQuantity;
using connect::PairRanges;
using connect::Point;
using connect::Positions;
using connect::Space;
using Range = PairRanges::Range;

/// The ranges of quantities are divided into at most so many parts, so that their bounds are near to those of values.
constexpr std::size_t most_parts = 4096;
constexpr std::size_t most_parts_of_one = 1024;
/// Neurons whose values are calculated to find the least and the greatest.
constexpr std::uint64_t most_neurons = std::uint64_t{1} << 20;
/// Redraws that accept less are refused: as for distributions.
constexpr double least_acceptance = 1e-3;
constexpr std::size_t places_of_acceptance = 16;

constexpr std::array<const char*, connect::pair_quantity_count> pair_names{
    "d", "dx", "dy", "dz", "x_pre", "y_pre", "z_pre", "x_post", "y_post", "z_post", "i", "j"};
constexpr std::array<const char*, connect::pair_quantity_count> neuron_names{"", "",  "",  "",  "", "",
                                                                             "", "x", "y", "z", "", "i"};

PairQuantity along(PairQuantity first, std::size_t axis) {
    return static_cast<PairQuantity>(static_cast<std::size_t>(first) + axis);
}

std::string short_text(double value) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.4g", value);
    return text.data();
}

/// The ranges of the coordinates of neurons that have positions.
std::array<Range, connect::most_dimensions> box_of(const Space& space, const IdSequence& ids) {
    const connect::SpaceBox bounds = connect::bounds_of(space, ids);
    std::array<Range, connect::most_dimensions> box;
    for (std::size_t axis = 0; axis < box.size(); ++axis) box[axis] = {bounds.low[axis], bounds.high[axis]};
    return box;
}

Range displacement_range(const Range& source, const Range& target, double period) {
    const Range direct{target.low - source.high, target.high - source.low};
    const double half = 0.5 * period;
    if (period == 0.0 || (direct.low >= -half && direct.high <= half)) return direct;
    return {-half, half};
}

Range distance_range(const std::array<Range, connect::most_dimensions>& displacement) {
    double nearest = 0.0;
    double farthest = 0.0;
    for (const Range& axis : displacement) {
        const double far = std::max(std::abs(axis.low), std::abs(axis.high));
        const bool crosses = axis.low <= 0.0 && axis.high >= 0.0;
        const double near = crosses ? 0.0 : std::min(std::abs(axis.low), std::abs(axis.high));
        nearest += near * near;
        farthest += far * far;
    }
    // Distances are rounded.
    return {std::sqrt(nearest) * (1.0 - 0x1p-50), std::sqrt(farthest) * (1.0 + 0x1p-50)};
}

/// Evaluates bounds part by part.
class Search {
   public:
    Search(ExpressionValues& values, const std::string& object, std::string unit,
           const std::array<const char*, connect::pair_quantity_count>& names)
        : values_(values), object_(object), unit_(std::move(unit)), names_(names) {}

    void use(PairQuantity quantity, const Range& range) {
        if (!values_.function->uses(quantity)) return;
        divided_.push_back(quantity);
        whole_[quantity] = range;
    }
    /// Displacements, and the distance, which follows from them.
    void use_displacement(const std::array<Range, connect::most_dimensions>& displacement) {
        const auto uses = [&](std::size_t axis) {
            return values_.function->uses(along(PairQuantity::displacement_x, axis));
        };
        follows_ = uses(0) || uses(1) || uses(2);
        if (!follows_) return use(PairQuantity::distance, distance_range(displacement));
        for (std::size_t axis = 0; axis < displacement.size(); ++axis) {
            const PairQuantity quantity = along(PairQuantity::displacement_x, axis);
            whole_[quantity] = displacement[axis];
            if (uses(axis) || values_.function->uses(PairQuantity::distance)) divided_.push_back(quantity);
        }
    }

    void run() {
        const double each = std::floor(std::pow(static_cast<double>(most_parts), 1.0 / std::max<double>(1.0, size())));
        const auto most = std::clamp<std::size_t>(static_cast<std::size_t>(each), 2, most_parts_of_one);
        std::size_t total = 1;
        for (const PairQuantity quantity : divided_) {
            const bool is_point = whole_[quantity].low == whole_[quantity].high;
            counts_.push_back(is_point ? 1 : most);
            total *= counts_.back();
        }
        values_.least = {.value = std::numeric_limits<double>::infinity()};
        values_.greatest = {.value = -std::numeric_limits<double>::infinity()};
        for (std::size_t part = 0; part < total; ++part) look(part);
        if (values_.function->redraws().empty()) return;
        for (std::size_t k = 0; k < std::min(total, places_of_acceptance); ++k) {
            check_acceptance(total <= places_of_acceptance ? k : (2 * k + 1) * total / (2 * places_of_acceptance));
        }
    }

   private:
    double size() const { return static_cast<double>(divided_.size()); }

    PairRanges ranges_of(std::size_t part) const {
        PairRanges ranges = whole_;
        for (std::size_t k = 0; k < divided_.size(); ++k) {
            const Range& all = whole_[divided_[k]];
            const auto place = static_cast<double>(part % counts_[k]);
            const auto count = static_cast<double>(counts_[k]);
            part /= counts_[k];
            const auto edge = [&](double at) { return all.low + (all.high - all.low) * (at / count); };
            // Neighbouring parts share an edge; the last one ends where all do.
            ranges[divided_[k]] = {edge(place), place + 1.0 == count ? all.high : edge(place + 1.0)};
        }
        if (follows_) {
            std::array<Range, connect::most_dimensions> displacement;
            for (std::size_t axis = 0; axis < displacement.size(); ++axis) {
                displacement[axis] = ranges[along(PairQuantity::displacement_x, axis)];
            }
            ranges[PairQuantity::distance] = distance_range(displacement);
        }
        return ranges;
    }

    std::string place_of(const PairRanges& ranges) const {
        std::string text;
        for (const PairQuantity quantity : divided_) {
            const Range& range = ranges[quantity];
            const bool is_point = range.low == range.high;
            text += (text.empty() ? "" : ", ") + std::string(names_[static_cast<std::size_t>(quantity)]) +
                    (is_point ? " = " : " from ") + short_text(range.low) +
                    (is_point ? "" : " to " + short_text(range.high));
            if (connect::is_spatial(quantity) && !unit_.empty()) text += " " + unit_;
        }
        return text;
    }

    void look(std::size_t part) {
        const PairRanges ranges = ranges_of(part);
        const Range found = values_.function->range(ranges);
        if (!std::isfinite(found.low) || !std::isfinite(found.high)) {
            const std::string place = place_of(ranges);
            throw ValueOutOfBoundsError(
                {.object = object_,
                 .value = "'" + values_.function->text() + "'" + (place.empty() ? "" : " at " + place),
                 .bound = "it may be infinite or undefined there, and must be finite",
                 .remedy = "keep divisors, roots and logarithms away from 0: max(d, 0.001), or where(d > 0, ..., 0)"});
        }
        if (found.low < values_.least.value) values_.least = {found.low, place_of(ranges)};
        if (found.high > values_.greatest.value) values_.greatest = {found.high, place_of(ranges)};
    }

    void check_acceptance(std::size_t part) const {
        const PairRanges ranges = ranges_of(part);
        std::array<double, connect::pair_quantity_count> middle{};
        for (std::size_t q = 0; q < middle.size(); ++q) {
            const Range& range = ranges.of[q];
            if (std::isfinite(range.low) && std::isfinite(range.high)) middle[q] = 0.5 * (range.low + range.high);
        }
        const double acceptance = values_.function->acceptance(middle);
        if (acceptance >= least_acceptance) return;
        const std::string place = place_of(ranges);
        throw ValueOutOfBoundsError(
            {.object = object_,
             .value = to_text(acceptance) + (place.empty() ? "" : " at " + place),
             .bound = "redrawing must accept at least one draw in 1000 (this is the accepted fraction)",
             .remedy = "widen the bounds or clip instead"});
    }

    ExpressionValues& values_;
    const std::string& object_;
    std::string unit_;
    const std::array<const char*, connect::pair_quantity_count>& names_;
    PairRanges whole_;
    std::vector<PairQuantity> divided_;
    std::vector<std::size_t> counts_;
    bool follows_ = false;  ///< the distance follows from displacements
};

/// The error for an expression that needs positions that a population lacks.
[[noreturn]] void refuse_without_positions(const ExpressionValues& values, const std::string& object,
                                           std::initializer_list<const NeuronsInSpace*> sides) {
    for (const NeuronsInSpace* const side : sides) {
        for (const PopulationId id : side->network->populations_of(side->ids)) {
            const Population& population = side->network->population(id);
            if (population.positions != nullptr) continue;
            throw ValueOutOfBoundsError(
                {.object = object,
                 .value = "'" + values.function->text() + "'",
                 .bound = "it needs positions, and population " + quoted(population.name) + " has none",
                 .remedy = "give them: net.create(..., positions=...)"});
        }
    }
    throw InternalError("no population lacks positions");
}

Range indices_of(const IdSequence& ids) { return {0.0, ids.empty() ? 0.0 : static_cast<double>(ids.size() - 1)}; }

/// The values of all neurons, in blocks.
void bound_exactly(ExpressionValues& values, const NeuronsInSpace& neurons, const std::string& object) {
    constexpr std::uint64_t block = 4096;
    values.least = {.value = std::numeric_limits<double>::infinity()};
    values.greatest = {.value = -std::numeric_limits<double>::infinity()};
    for (std::uint64_t begin = 0; begin < neurons.ids.size(); begin += block) {
        const IdSequence some = neurons.ids.subsequence(begin, std::min(block, neurons.ids.size() - begin));
        const std::vector<double> found =
            evaluate_neurons(*values.function, neurons.space.get(), neurons.ids, some, {}, 0);
        for (std::size_t i = 0; i < found.size(); ++i) {
            const std::string place = "neuron " + std::to_string(begin + i);
            if (!std::isfinite(found[i])) {
                throw ValueOutOfBoundsError({.object = object,
                                             .value = to_text(found[i]) + " at " + place,
                                             .bound = "'" + values.function->text() + "' must be finite",
                                             .remedy = "keep divisors, roots and logarithms away from 0"});
            }
            if (found[i] < values.least.value) values.least = {found[i], place};
            if (found[i] > values.greatest.value) values.greatest = {found[i], place};
        }
    }
}

}  // namespace

void bound_pairs(Values& values, const NeuronsInSpace& sources, const NeuronsInSpace& targets,
                 const std::string& object) {
    auto* const expression = std::get_if<ExpressionValues>(&values);
    if (expression == nullptr) return;
    std::string unit;
    std::shared_ptr<const PairPositions> positions;
    if (expression->function->is_spatial()) {
        positions = connect::pair_positions(targets.space, sources.ids, targets.ids, object);
        const bool has_pairs = !sources.ids.empty() && !targets.ids.empty();
        if (positions == nullptr && has_pairs) refuse_without_positions(*expression, object, {&sources, &targets});
        if (positions != nullptr) unit = to_string(positions->unit);
    }
    if (sources.ids.empty() || targets.ids.empty()) {
        expression->least = expression->greatest = {};
        return;
    }
    Search search(*expression, object, unit, pair_names);
    if (positions != nullptr) {
        const auto from = box_of(*targets.space, sources.ids);
        const auto to = box_of(*targets.space, targets.ids);
        std::array<Range, connect::most_dimensions> displacement;
        for (std::size_t axis = 0; axis < displacement.size(); ++axis) {
            displacement[axis] = displacement_range(from[axis], to[axis], positions->period[axis]);
        }
        search.use_displacement(displacement);
        for (std::size_t axis = 0; axis < from.size(); ++axis) {
            search.use(along(PairQuantity::source_x, axis), from[axis]);
            search.use(along(PairQuantity::target_x, axis), to[axis]);
        }
    }
    search.use(PairQuantity::source_index, indices_of(sources.ids));
    search.use(PairQuantity::target_index, indices_of(targets.ids));
    search.run();
}

void bound_neurons(Values& values, const NeuronsInSpace& neurons, const std::string& object) {
    auto* const expression = std::get_if<ExpressionValues>(&values);
    if (expression == nullptr) return;
    const PairFunction& function = *expression->function;
    expression->least = expression->greatest = {};
    if (neurons.ids.empty()) return;
    std::string unit;
    bool has_random = false;
    if (function.is_spatial()) {
        const auto positions = connect::pair_positions(neurons.space, neurons.ids, neurons.ids, object);
        if (positions == nullptr) refuse_without_positions(*expression, object, {&neurons});
        unit = to_string(positions->unit);
        for (const Space::Part& part : neurons.space->parts()) {
            // Their positions change with the seed.
            has_random =
                has_random || (part.positions != nullptr && !neurons.ids.within(part.first, part.size).empty() &&
                               std::holds_alternative<Positions::Random>(part.positions->form));
        }
    }
    if (!function.draws() && !has_random && neurons.ids.size() <= most_neurons) {
        return bound_exactly(*expression, neurons, object);
    }
    Search search(*expression, object, unit, neuron_names);
    if (function.is_spatial()) {
        const auto box = box_of(*neurons.space, neurons.ids);
        for (std::size_t axis = 0; axis < box.size(); ++axis)
            search.use(along(PairQuantity::target_x, axis), box[axis]);
    }
    search.use(PairQuantity::target_index, indices_of(neurons.ids));
    search.run();
}

std::vector<double> evaluate_neurons(const PairFunction& function, const Space* space, const IdSequence& neurons,
                                     const IdSequence& ids, RandomKey key, Step step) {
    const auto count = static_cast<std::size_t>(ids.size());
    std::array<std::vector<double>, connect::pair_quantity_count> arrays;
    PairFunction::Quantities quantities{};
    for (const PairQuantity input : function.inputs()) {
        std::vector<double>& array = arrays[static_cast<std::size_t>(input)];
        array.resize(count);
        quantities[static_cast<std::size_t>(input)] = array.data();
    }
    std::vector<std::uint64_t> streams(count);
    for (std::size_t i = 0; i < count; ++i) {
        streams[i] = neurons.count_below(ids[i]);
        if (function.is_spatial()) {
            const Point point = space->at(ids[i]);
            for (std::size_t axis = 0; axis < point.size(); ++axis) {
                std::vector<double>& array = arrays[static_cast<std::size_t>(along(PairQuantity::target_x, axis))];
                if (!array.empty()) array[i] = point[axis];
            }
        }
        std::vector<double>& indices = arrays[static_cast<std::size_t>(PairQuantity::target_index)];
        if (!indices.empty()) indices[i] = static_cast<double>(streams[i]);
    }
    // The number of the step is the position in the stream of the neuron.
    const auto number = static_cast<std::uint64_t>(step);
    if (number >> 32 != 0) key = make_key(key.low | std::uint64_t{key.high} << 32, Purpose::parameter, number >> 32);
    const std::vector<std::uint32_t> steps(count, static_cast<std::uint32_t>(number));
    std::vector<double> values(count);
    function.draw(detect_instruction_set(), count, quantities, key,
                  PairFunction::Objects::at(streams.data(), steps.data()), values.data());
    return values;
}

}  // namespace ranvier::network
