#include "network/value_checks.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <tuple>
#include <vector>

#include "ranvier/base/errors.hpp"

namespace ranvier::network {

namespace {

void check_length(const SharedArray& array, const std::string& object, std::uint64_t count) {
    if (array.size() == count) return;
    throw ShapeError({.object = "length of " + object,
                      .value = std::to_string(array.size()),
                      .bound = "there are " + std::to_string(count),
                      .remedy = "give one value for each, or one for all"});
}

void check_number(double value, const models::ParameterInfo& info, const std::string& object) {
    const bool may_stand = std::isfinite(value) || (std::isinf(value) && info.may_be_infinite);
    if (may_stand && info.bounds.contains(value)) return;
    throw ValueOutOfBoundsError(
        {.object = object,
         .value = to_text(value),
         .bound = may_stand ? "it must be " + describe(info.bounds) : std::string("it must be finite"),
         .remedy = "give a value within the bounds"});
}

/// The ends of a distribution must be within the bounds of the parameter, since a value may be close to them.
void check_ends(const Distribution& distribution, const models::ParameterInfo& info, const std::string& object) {
    const auto rounded = [&](double value) { return info.is_whole ? std::floor(value + 0.5) : value; };
    const double least = rounded(distribution.least());
    const double greatest = rounded(distribution.greatest());
    for (const double end : {least, greatest}) {
        if (info.bounds.contains(end)) continue;
        throw ValueOutOfBoundsError(
            {.object = end == least ? "least value that can be drawn for " + object
                                    : "greatest value that can be drawn for " + object,
             .value = to_text(end),
             .bound = "it must be " + describe(info.bounds),
             .remedy = end == least ? "restrict the distribution with low=" : "restrict the distribution with high="});
    }
}

void check_ends(const ExpressionValues& values, const models::ParameterInfo& info, const std::string& object) {
    for (const ExpressionValues::Bound* const end : {&values.least, &values.greatest}) {
        const double value = info.is_whole ? std::floor(end->value + 0.5) : end->value;
        if (info.bounds.contains(value)) continue;
        throw ValueOutOfBoundsError({.object = object,
                                     .value = described(*end),
                                     .bound = "'" + values.function->text() + "' must be " + describe(info.bounds),
                                     .remedy = "change the expression, or limit it with max() and min()"});
    }
}

const models::ParameterInfo any_finite{.name = "", .unit = "", .default_value = 0.0, .bounds = {}, .meaning = ""};

}  // namespace

std::string described(const ExpressionValues::Bound& bound) {
    return to_text(bound.value) + (bound.place.empty() ? "" : ", at " + bound.place);
}

std::pair<double, double> range_of(const Values& values) {
    if (const auto* number = std::get_if<double>(&values)) return {*number, *number};
    if (const auto* array = std::get_if<SharedArray>(&values)) {
        if (array->empty()) return {0.0, 0.0};
        const auto [least, greatest] = std::ranges::minmax(*array);
        return {least, greatest};
    }
    if (const auto* const expression = std::get_if<ExpressionValues>(&values)) {
        return {expression->least.value, expression->greatest.value};
    }
    const auto& distribution = std::get<Distribution>(values);
    return {distribution.least(), distribution.greatest()};
}

void check_values(const Values& values, const models::ParameterInfo& info, const std::string& object,
                  std::uint64_t count) {
    if (const auto* number = std::get_if<double>(&values)) {
        check_number(*number, info, object);
    } else if (const auto* array = std::get_if<SharedArray>(&values)) {
        check_length(*array, object, count);
        for (std::size_t i = 0; i < array->size(); ++i) {
            check_number((*array)[i], info, "element " + std::to_string(i) + " of " + object);
        }
    } else if (const auto* const expression = std::get_if<ExpressionValues>(&values)) {
        check_ends(*expression, info, object);
    } else {
        const auto& distribution = std::get<Distribution>(values);
        distribution.check(object);
        check_ends(distribution, info, object);
    }
}

void check_values(const Values& values, const std::string& object, std::uint64_t count) {
    check_values(values, any_finite, object, count);
}

namespace {

/// An end of each of some ranges, true for the upper one.
using Corner = std::vector<bool>;

/// Appends the corners in which `flips` additional ends, from the `first` on, are flipped.
void append_flipped(std::vector<Corner>& corners, Corner& corner, std::size_t first, std::size_t flips) {
    if (flips == 0) {
        corners.push_back(corner);
        return;
    }
    for (std::size_t i = first; i < corner.size(); ++i) {
        corner[i] = !corner[i];
        append_flipped(corners, corner, i + 1, flips - 1);
        corner[i] = !corner[i];
    }
}

/// The corners to check: all combinations if there are at most `most`. Otherwise those in which at most three ends
/// differ from all others: conflicts almost always involve two or three parameters, and each neuron is checked again
/// when it is created.
std::vector<Corner> corners_of(std::size_t ranges, std::size_t most) {
    std::vector<Corner> corners;
    constexpr std::size_t few = 3;
    if (ranges <= few || (ranges < 20 && std::size_t{1} << ranges <= most)) {
        for (std::size_t bits = 0; bits < std::size_t{1} << ranges; ++bits) {
            Corner corner(ranges);
            for (std::size_t i = 0; i < ranges; ++i) corner[i] = (bits >> i & 1) != 0;
            corners.push_back(std::move(corner));
        }
        return corners;
    }
    double size = 1.0;
    for (std::size_t flips = 0; flips <= few; ++flips) {
        if (flips > 0) size *= static_cast<double>(ranges - flips + 1) / static_cast<double>(flips);
        if (flips > 0 && 2.0 * size + static_cast<double>(corners.size()) > static_cast<double>(most)) break;
        for (const bool upper : {false, true}) {
            Corner corner(ranges, upper);
            append_flipped(corners, corner, 0, flips);
        }
    }
    return corners;
}

}  // namespace

void check_conflicts(std::span<const models::ParameterInfo> infos, const NamedValues& values, std::uint64_t count,
                     const ConflictTest& conflict, const std::string& object) {
    std::vector<double> parameters(infos.size());
    std::vector<std::pair<std::size_t, const SharedArray*>> arrays;
    std::vector<std::pair<std::size_t, std::pair<double, double>>> drawn;
    for (std::size_t i = 0; i < infos.size(); ++i) {
        parameters[i] = infos[i].default_value;
        const auto given = values.find(infos[i].name);
        if (given == values.end()) continue;
        if (const auto* number = std::get_if<double>(&given->second)) {
            parameters[i] = *number;
        } else if (const auto* array = std::get_if<SharedArray>(&given->second)) {
            arrays.emplace_back(i, array);
        } else {
            drawn.emplace_back(i, range_of(given->second));
        }
    }
    const std::uint64_t elements = arrays.empty() ? std::min<std::uint64_t>(count, 1) : count;
    constexpr std::uint64_t most_tests = 1 << 14;
    const std::vector<Corner> corners = corners_of(drawn.size(), most_tests / std::max<std::uint64_t>(elements, 1));
    for (std::uint64_t element = 0; element < elements; ++element) {
        for (const auto& [parameter, array] : arrays) parameters[parameter] = (*array)[element];
        for (const Corner& corner : corners) {
            for (std::size_t i = 0; i < drawn.size(); ++i) {
                const auto& [least, greatest] = drawn[i].second;
                parameters[drawn[i].first] = corner[i] ? greatest : least;
            }
            const auto reason = conflict(parameters);
            if (!reason) continue;
            const std::string where = arrays.empty() ? "" : " (element " + std::to_string(element) + ")";
            throw ValueOutOfBoundsError(
                {.object = "parameters of " + object + where,
                 .value = "",
                 .bound = *reason,
                 .remedy = drawn.empty() ? "change one of them"
                                         : "change one of them, or restrict the distributions with low= and high="});
        }
    }
}

void check_range_conflicts(std::span<const models::ParameterInfo> infos, const NamedValues& values, std::uint64_t count,
                           const RangeTest& conflict, const std::string& object) {
    std::vector<double> least(infos.size());
    std::vector<double> greatest(infos.size());
    std::vector<std::pair<std::size_t, const SharedArray*>> arrays;
    bool any_drawn = false;
    for (std::size_t i = 0; i < infos.size(); ++i) {
        least[i] = greatest[i] = infos[i].default_value;
        const auto given = values.find(infos[i].name);
        if (given == values.end()) continue;
        if (const auto* array = std::get_if<SharedArray>(&given->second)) {
            arrays.emplace_back(i, array);
        } else {
            std::tie(least[i], greatest[i]) = range_of(given->second);
            any_drawn = any_drawn || is_drawn(given->second);
        }
    }
    const std::uint64_t elements = arrays.empty() ? std::min<std::uint64_t>(count, 1) : count;
    for (std::uint64_t element = 0; element < elements; ++element) {
        for (const auto& [parameter, array] : arrays) least[parameter] = greatest[parameter] = (*array)[element];
        const auto neuron = arrays.empty() ? std::nullopt : std::optional<std::uint64_t>(element);
        const auto reason = conflict(neuron, least, greatest);
        if (!reason) continue;
        throw ValueOutOfBoundsError(
            {.object = "parameters of " + object + (neuron ? " (element " + std::to_string(element) + ")" : ""),
             .value = "",
             .bound = *reason,
             .remedy = any_drawn ? "change one of them, or restrict the distributions with low= and high="
                                 : "change one of them"});
    }
}

}  // namespace ranvier::network
