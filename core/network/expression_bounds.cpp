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

#include "connect/space/pair_bounds.hpp"
#include "connect/space/partner_index.hpp"
#include "network/network_checks.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/base/instruction_set.hpp"

namespace ranvier::network {

namespace {

using connect::PairBounds;
using connect::PairFunction;
using connect::PairPositions;
using connect::PairQuantity;
using connect::PairRanges;
using connect::Point;
using connect::Positions;
using connect::Space;
using Range = PairRanges::Range;

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

/// Names of the quantities of pairs or neurons.
using Names = std::array<const char*, connect::pair_quantity_count>;

/// Finds the bounds of the values of an expression over a region, and checks them.
class Search {
   public:
    Search(ExpressionValues& values, const connect::PairRegion& region, const std::string& object, std::string unit,
           const Names& names)
        : values_(values), object_(object), unit_(std::move(unit)), names_(names), bounds_(*values.function, region) {}

    void run() {
        values_.least = values_.greatest = {};
        if (bounds_.is_empty()) return;
        check_widths();
        const PairBounds::Part least = finite(bounds_.least());
        const PairBounds::Part greatest = finite(bounds_.greatest());
        values_.least = {least.bounds.low, place_of(least.ranges)};
        values_.greatest = {greatest.bounds.high, place_of(greatest.ranges)};
        if (!values_.function->redraws().empty()) {
            for (const PairRanges& part : bounds_.some_parts(places_of_acceptance)) check_acceptance(part);
        }
        if (valid_ != nullptr) values_.function = std::move(valid_);
    }

   private:
    std::string place_of(const PairRanges& ranges) const {
        std::string text;
        for (const PairQuantity quantity : bounds_.quantities()) {
            const Range& range = ranges[quantity];
            const bool is_point = range.low == range.high;
            text += (text.empty() ? "" : ", ") + std::string(names_[static_cast<std::size_t>(quantity)]) +
                    (is_point ? " = " : " from ") + short_text(range.low) +
                    (is_point ? "" : " to " + short_text(range.high));
            if (connect::is_spatial(quantity) && !unit_.empty()) text += " " + unit_;
        }
        return text;
    }

    /// Refuses widths that are surely negative somewhere. Those that may be are checked where values are drawn.
    void check_widths() {
        const PairFunction& function = *values_.function;
        if (function.widths().empty()) return;
        bool are_valid = true;
        for (std::size_t w = 0; w < function.widths().size(); ++w) {
            const PairBounds::Part part = bounds_.least(function.result_of(w), 0.0);
            are_valid = are_valid && part.bounds.low >= 0.0;
            if (!(part.bounds.high < 0.0)) continue;
            const std::string place = place_of(part.ranges);
            throw ValueOutOfBoundsError({.object = function.widths()[w].name,
                                         .value = to_text(part.bounds.low) + (place.empty() ? "" : ", at " + place),
                                         .bound = "it must be >= 0",
                                         .remedy = function.widths()[w].remedy});
        }
        if (are_valid) valid_ = std::make_shared<const PairFunction>(function.with_widths({}));
    }

    const PairBounds::Part& finite(const PairBounds::Part& part) const {
        if (std::isfinite(part.bounds.low) && std::isfinite(part.bounds.high)) return part;
        const std::string place = place_of(part.ranges);
        throw ValueOutOfBoundsError(
            {.object = object_,
             .value = "'" + values_.function->text() + "'" + (place.empty() ? "" : " at " + place),
             .bound = "it may be infinite or undefined there, and must be finite",
             .remedy = "keep divisors, roots and logarithms away from 0: max(d, 0.001), or where(d > 0, ..., 0)"});
    }

    void check_acceptance(const PairRanges& ranges) const {
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
    const Names& names_;
    PairBounds bounds_;
    std::shared_ptr<const PairFunction> valid_;  ///< without widths, which are known to be valid
};

/// Names the object in errors for widths that are found later.
void name_widths(ExpressionValues& values, const std::string& object) {
    const std::span<const PairFunction::Width> widths = values.function->widths();
    const std::string suffix = " in " + object;
    if (widths.empty() || widths.front().name.ends_with(suffix)) return;
    std::vector<PairFunction::Width> named(widths.begin(), widths.end());
    for (PairFunction::Width& width : named) width.name += suffix;
    values.function = std::make_shared<const PairFunction>(values.function->with_widths(std::move(named)));
}

/// Whether a width differs between draws.
bool is_random(const PairFunction& function, std::size_t width) {
    const program::Program& program = function.program();
    std::vector<bool> random(program.inputs.size(), false);
    for (const program::Instruction& instruction : program.instructions) {
        random.push_back(program::is_draw(instruction.operation) ||
                         std::ranges::any_of(instruction.operands, [&](std::uint32_t each) { return random[each]; }));
    }
    return random[program.results[function.result_of(width)]];
}

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

/// Refuses coordinates of the third axis where positions have two.
void check_dimensions(const PairFunction& function, const PairPositions& positions, const std::string& object) {
    if (positions.dimensions == connect::most_dimensions) return;
    for (const PairQuantity z : {PairQuantity::displacement_z, PairQuantity::source_z, PairQuantity::target_z}) {
        if (!function.uses(z)) continue;
        throw ValueOutOfBoundsError({.object = object,
                                     .value = "'" + function.text() + "'",
                                     .bound = "the positions have two dimensions",
                                     .remedy = "use x and y only, or give positions with three coordinates"});
    }
}

Range indices_of(const IdSequence& ids) { return {0.0, ids.empty() ? 0.0 : static_cast<double>(ids.size() - 1)}; }

/// Calls visit(index of the first, values) for the values of all neurons, in blocks.
template <class Visit>
void for_each_block(const PairFunction& function, const NeuronsInSpace& neurons, Visit visit) {
    constexpr std::uint64_t block = 4096;
    for (std::uint64_t begin = 0; begin < neurons.ids.size(); begin += block) {
        const IdSequence some = neurons.ids.subsequence(begin, std::min(block, neurons.ids.size() - begin));
        visit(begin, evaluate_neurons(function, neurons.space.get(), neurons.ids, some, {}, 0));
    }
}

/// Draws once for each neuron. @throws ValueOutOfBoundsError for a negative width
void check_each(const PairFunction& function, const NeuronsInSpace& neurons) {
    for_each_block(function, neurons, [](std::uint64_t, const std::vector<double>&) {});
}

void bound_exactly(ExpressionValues& values, const NeuronsInSpace& neurons, const std::string& object) {
    values.least = {.value = std::numeric_limits<double>::infinity()};
    values.greatest = {.value = -std::numeric_limits<double>::infinity()};
    for_each_block(*values.function, neurons, [&](std::uint64_t begin, const std::vector<double>& found) {
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
    });
    if (!values.function->widths().empty()) {
        values.function = std::make_shared<const PairFunction>(values.function->with_widths({}));
    }
}

}  // namespace

void bound_pairs(Values& values, const NeuronsInSpace& sources, const NeuronsInSpace& targets, const PairLimit& mask,
                 const std::string& object) {
    auto* const expression = std::get_if<ExpressionValues>(&values);
    if (expression == nullptr) return;
    name_widths(*expression, object);
    std::string unit;
    std::shared_ptr<const PairPositions> positions;
    if (expression->function->is_spatial()) {
        positions = connect::pair_positions(targets.space, sources.ids, targets.ids, object);
        const bool has_pairs = !sources.ids.empty() && !targets.ids.empty();
        if (positions == nullptr && has_pairs) refuse_without_positions(*expression, object, {&sources, &targets});
        if (positions != nullptr) {
            check_dimensions(*expression->function, *positions, object);
            unit = to_string(positions->unit);
        }
    }
    if (sources.ids.empty() || targets.ids.empty()) {
        expression->least = expression->greatest = {};
        return;
    }
    connect::PairRegion region;
    if (positions != nullptr) region.limit(*positions, mask.mask, mask.is_reversed);
    region.ranges[PairQuantity::source_index] = indices_of(sources.ids);
    region.ranges[PairQuantity::target_index] = indices_of(targets.ids);
    Search(*expression, region, object, unit, pair_names).run();
}

void bound_neurons(Values& values, const NeuronsInSpace& neurons, const std::string& object) {
    auto* const expression = std::get_if<ExpressionValues>(&values);
    if (expression == nullptr) return;
    name_widths(*expression, object);
    const PairFunction& function = *expression->function;
    expression->least = expression->greatest = {};
    if (neurons.ids.empty()) return;
    std::string unit;
    bool has_random = false;
    if (function.is_spatial()) {
        const auto positions = connect::pair_positions(neurons.space, neurons.ids, neurons.ids, object);
        if (positions == nullptr) refuse_without_positions(*expression, object, {&neurons});
        check_dimensions(function, *positions, object);
        unit = to_string(positions->unit);
        for (const Space::Part& part : neurons.space->parts()) {
            // Their positions change with the seed.
            has_random =
                has_random || (part.positions != nullptr && !neurons.ids.within(part.first, part.size).empty() &&
                               std::holds_alternative<Positions::Random>(part.positions->form));
        }
    }
    const bool is_countable = !has_random && neurons.ids.size() <= most_neurons;
    if (is_countable && !function.draws()) return bound_exactly(*expression, neurons, object);
    connect::PairRegion region;
    if (function.is_spatial()) {
        const auto box = box_of(*neurons.space, neurons.ids);
        for (std::size_t axis = 0; axis < box.size(); ++axis) {
            region.ranges[along(PairQuantity::target_x, axis)] = box[axis];
        }
    }
    region.ranges[PairQuantity::target_index] = indices_of(neurons.ids);
    Search(*expression, region, object, unit, neuron_names).run();
    const PairFunction& checked = *expression->function;
    for (std::size_t w = 0; w < checked.widths().size(); ++w) {
        if (is_countable && !is_random(checked, w)) return check_each(checked, neurons);
    }
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
