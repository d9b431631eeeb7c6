#include "fmm/checks.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "fmm/harmonics.hpp"
#include "fmm/tree.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/fmm/solver.hpp"

namespace ranvier::fmm {

namespace {

bool is_finite(const Point& point) {
    return std::isfinite(point.x) && std::isfinite(point.y) && std::isfinite(point.z);
}

std::string to_text(const Point& point) {
    return "(" + ranvier::to_text(point.x) + ", " + ranvier::to_text(point.y) + ", " + ranvier::to_text(point.z) + ")";
}

void check_range(std::string_view name, std::uint64_t value, std::uint64_t least, std::uint64_t most) {
    if (value >= least && value <= most) return;
    throw ValueOutOfBoundsError({.object = std::string(name) + " of the fast multipole method",
                                 .value = std::to_string(value),
                                 .bound = "it must be from " + std::to_string(least) + " to " + std::to_string(most),
                                 .remedy = "use a value in this range"});
}

void check_options(const SolverOptions& options) {
    check_range("order", options.order, 0, max_order);
    check_range("capacity", options.capacity, 1, ~std::uint32_t{0});
    if (options.depth) check_range("depth", *options.depth, 0, max_depth);
    if (options.keeps_near && options.has_gradient) {
        throw StateError({.object = "near pairs of the fast multipole method",
                          .value = "",
                          .bound = "they are kept without gradients",
                          .remedy = "leave out keeps_near or has_gradient"});
    }
}

std::size_t number_of(std::span<const std::uint32_t> numbers, std::size_t index) {
    return numbers.empty() ? index : numbers[index];
}

void check_numbers(std::string_view name, std::span<const std::uint32_t> numbers, std::size_t size, bool is_alone) {
    const bool is_given =
        numbers.size() == size && std::ranges::adjacent_find(numbers, std::ranges::greater_equal{}) == numbers.end();
    if (is_given || (is_alone && numbers.empty())) return;
    throw ShapeError({.object = "numbers of " + std::string(name) + " of the fast multipole method",
                      .value = std::to_string(numbers.size()),
                      .bound = "there must be one for each of " + std::to_string(size) + ", ascending",
                      .remedy = "number those of all processes"});
}

}  // namespace

void check_totals(std::uint64_t pieces, std::uint64_t targets) {
    check_range("number of line pieces", pieces, 0, ~std::uint32_t{0} / 2);
    check_range("number of targets", targets, 0, ~std::uint32_t{0} / 2);
}

void check(const Portion& given, const SolverOptions& options, bool is_alone) {
    check_options(options);
    check_numbers("line pieces", given.piece_numbers, given.pieces.size(), is_alone);
    check_numbers("targets", given.target_numbers, given.targets.size(), is_alone);
    for (std::size_t i = 0; i < given.pieces.size(); ++i) {
        const LinePiece& piece = given.pieces[i];
        if (is_finite(piece.begin) && is_finite(piece.end) && std::isfinite(piece.radius) && piece.radius >= 0.0)
            continue;
        throw ValueOutOfBoundsError({.object = "line piece " + std::to_string(number_of(given.piece_numbers, i)),
                                     .value = "from " + to_text(piece.begin) + " to " + to_text(piece.end) +
                                              " with the radius " + ranvier::to_text(piece.radius),
                                     .bound = "coordinates must be finite, and the radius at least 0",
                                     .remedy = "correct the positions or the morphology"});
    }
    for (std::size_t i = 0; i < given.targets.size(); ++i) {
        if (is_finite(given.targets[i])) continue;
        throw ValueOutOfBoundsError({.object = "target " + std::to_string(number_of(given.target_numbers, i)),
                                     .value = to_text(given.targets[i]),
                                     .bound = "coordinates must be finite",
                                     .remedy = "correct the positions"});
    }
}

}  // namespace ranvier::fmm
