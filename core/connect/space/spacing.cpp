#include "connect/space/spacing.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "ranvier/base/errors.hpp"

namespace ranvier::connect {

namespace {

// Draws of a position before it is given up. Random discs cover 54.7 % of a plane when no other has space (E. L.
// Hinrichsen, J. Feder and T. Jossang 1986), balls 38.4 % of space (D. W. Cooper 1988), pieces 74.8 % of a line (A.
// Renyi 1958). Where a percent less is covered, one draw in some thousands finds a place.
constexpr std::uint32_t most_attempts = 20'000;
constexpr std::array<double, 4> most_coverage{0.0, 0.748, 0.547, 0.384};
// Populations of few neurons can cover a little more than the limits, which are those of an infinite space.
constexpr double coverage_tolerance = 1.1;

/// Volume of a ball of diameter 1.
double unit_ball(unsigned dimensions) {
    return dimensions == 3 ? std::numbers::pi / 6.0 : dimensions == 2 ? std::numbers::pi / 4.0 : 1.0;
}

/// The share of space that balls, whose diameter is the least distance, would cover.
/// @param dimensions of what the neurons fill, one less on a surface
double coverage(const Positions& positions, const Positions::Random& random, unsigned dimensions, std::uint64_t size) {
    using Shape = Positions::Random::Shape;
    const double diameter = random.min_distance;
    double balls = static_cast<double>(size) * unit_ball(dimensions);
    for (unsigned i = 0; i < dimensions; ++i) balls *= diameter;
    if (random.shape == Shape::surface) {
        const double across = random.extent[0];
        return balls / (std::numbers::pi * across * (dimensions == 2 ? across : 1.0));
    }
    // A ball may reach out of the box by half of its diameter.
    double space = random.shape == Shape::box ? 1.0 : unit_ball(random.shape == Shape::cylinder ? 2 : dimensions);
    for (std::size_t axis = 0; axis < dimensions; ++axis) {
        space *= random.extent[axis] + (positions.period[axis] == 0.0 ? diameter : 0.0);
    }
    return balls / space;
}

[[noreturn]] void refuse_density(const Positions& positions, double min_distance, const std::string& population,
                                 unsigned dimensions, double covered, const std::string& reason) {
    static constexpr std::array<std::string_view, 4> names{"", "pieces", "discs", "balls"};
    const auto percent = [](double share) { return to_text(std::round(1000.0 * share) / 10.0) + " %"; };
    throw ValueOutOfBoundsError(
        {.object = "min_distance of population '" + population + "'",
         .value = to_text(min_distance) + " " + std::string(to_string(positions.unit)),
         .bound = reason + ": " + std::string(names[dimensions]) + " of this diameter would cover " + percent(covered) +
                  " of the space, and random ones cover at most about " + percent(most_coverage[dimensions]),
         .remedy = "choose a smaller min_distance, a larger extent, fewer neurons, or a grid"});
}

}  // namespace

CellGrid::CellGrid(const Box& box, double reach, std::uint64_t points) : box_(box), reach_(reach) {
    points_.reserve(points);
    next_.reserve(points);
    // Cells are as large as the reach, so that neighbours of a cell contain all points within reach of it, unless there
    // would be many more cells than points. A little more takes care of rounding.
    double size = reach * (1.0 + 1e-9);
    const double most = 4.0 * static_cast<double>(points) + 64.0;
    const auto cells_along = [&](std::size_t axis) { return std::max(1.0, std::floor(box.extent[axis] / size)); };
    const auto cells = [&] {
        double product = 1.0;
        for (std::size_t axis = 0; axis < box_.dimensions; ++axis) product *= cells_along(axis);
        return product;
    };
    while (cells() > most) size *= std::max(1.1, std::pow(cells() / most, 1.0 / box_.dimensions));
    for (std::size_t axis = 0; axis < box_.dimensions; ++axis) {
        counts_[axis] = static_cast<std::uint64_t>(cells_along(axis));
        cells_per_length_[axis] = box.extent[axis] > 0.0 ? cells_along(axis) / box.extent[axis] : 0.0;
    }
    first_.assign(static_cast<std::size_t>(counts_[0] * counts_[1] * counts_[2]), none);
}

CellGrid::Cell CellGrid::cell_of(const Point& point) const {
    Cell cell{};
    for (std::size_t axis = 0; axis < box_.dimensions; ++axis) {
        const double place = (point[axis] - box_.lower[axis]) * cells_per_length_[axis];
        cell[axis] = std::min(counts_[axis] - 1, static_cast<std::uint64_t>(std::max(place, 0.0)));
    }
    return cell;
}

double CellGrid::distance(const Point& a, const Point& b) const {
    Point difference{};
    for (std::size_t axis = 0; axis < box_.dimensions; ++axis) {
        difference[axis] = PairPositions::shortest(a[axis] - b[axis], box_.period[axis]);
    }
    return PairPositions::length(difference);
}

void CellGrid::add(const Point& point) {
    std::uint64_t& first = first_[number_of(cell_of(point))];
    next_.push_back(first);
    first = points_.size();
    points_.push_back(point);
}

std::optional<std::pair<std::uint64_t, double>> CellGrid::find_near(const Point& place) const {
    const Cell center = cell_of(place);
    // By axis: the cells to look at, each once.
    std::array<std::array<std::uint64_t, 3>, most_dimensions> along{};
    std::array<std::size_t, most_dimensions> ends{1, 1, 1};
    for (std::size_t axis = 0; axis < box_.dimensions; ++axis) {
        const std::uint64_t count = counts_[axis];
        ends[axis] = 0;
        for (const std::int64_t step : {0, -1, 1}) {
            std::int64_t cell = static_cast<std::int64_t>(center[axis]) + step;
            const bool is_outside = cell < 0 || cell >= static_cast<std::int64_t>(count);
            if (is_outside && box_.period[axis] == 0.0) continue;
            if (is_outside) cell = cell < 0 ? static_cast<std::int64_t>(count) - 1 : 0;
            const auto known = std::span(along[axis]).first(ends[axis]);
            if (std::ranges::find(known, static_cast<std::uint64_t>(cell)) != known.end()) continue;
            along[axis][ends[axis]++] = static_cast<std::uint64_t>(cell);
        }
    }
    for (std::size_t x = 0; x < ends[0]; ++x) {
        for (std::size_t y = 0; y < ends[1]; ++y) {
            for (std::size_t z = 0; z < ends[2]; ++z) {
                const std::uint64_t number = number_of({along[0][x], along[1][y], along[2][z]});
                for (std::uint64_t point = first_[number]; point != none; point = next_[point]) {
                    const double found = distance(points_[point], place);
                    if (found < reach_) return std::pair(point, found);
                }
            }
        }
    }
    return std::nullopt;
}

std::optional<NearPair> find_near_pair(std::span<const double> coordinates, CellGrid::Box box, double distance) {
    const std::size_t size = coordinates.size() / box.dimensions;
    if (size == 0) return std::nullopt;
    const auto point = [&](std::size_t index) {
        Point found{};
        std::copy_n(coordinates.begin() + static_cast<std::ptrdiff_t>(index * box.dimensions), box.dimensions,
                    found.begin());
        return found;
    };
    for (std::size_t axis = 0; axis < box.dimensions; ++axis) {
        if (box.period[axis] != 0.0) continue;
        double least = coordinates[axis];
        double greatest = least;
        for (std::size_t i = axis; i < coordinates.size(); i += box.dimensions) {
            least = std::min(least, coordinates[i]);
            greatest = std::max(greatest, coordinates[i]);
        }
        box.lower[axis] = least;
        box.extent[axis] = greatest - least;
    }
    CellGrid grid(box, distance, size);
    for (std::size_t i = 0; i < size; ++i) {
        const Point place = point(i);
        if (const auto near = grid.find_near(place)) return NearPair{near->first, i, near->second};
        grid.add(place);
    }
    return std::nullopt;
}

Positions::Array draw_spaced(const Positions& positions, std::uint64_t size, RandomKey key,
                             const std::string& population, const std::function<void()>& poll) {
    constexpr std::uint64_t draws_between_polls = 1 << 14;
    const Positions::Random& random = std::get<Positions::Random>(positions.form);
    const bool is_surface = random.shape == Positions::Random::Shape::surface;
    const unsigned dimensions = positions.dimensions - (is_surface ? 1 : 0);
    const double covered = coverage(positions, random, dimensions, size);
    const auto fail = [&](const std::string& reason) {
        refuse_density(positions, random.min_distance, population, dimensions, covered, reason);
    };
    if (size > 1 && covered > coverage_tolerance * most_coverage[dimensions]) fail("there is no space");
    CellGrid grid({.dimensions = positions.dimensions,
                   .lower = random.lower,
                   .extent = random.extent,
                   .period = positions.period},
                  random.min_distance, size);
    std::vector<double> coordinates;
    coordinates.reserve(size * positions.dimensions);
    std::uint64_t draws = 0;
    for (std::uint64_t index = 0; index < size; ++index) {
        Point place{};
        std::uint32_t attempt = 0;
        do {
            if (attempt == most_attempts) {
                fail("no place was found for neuron " + std::to_string(index) + " of " + std::to_string(size) + " in " +
                     std::to_string(most_attempts) + " draws");
            }
            if (poll && ++draws % draws_between_polls == 0) poll();
            place = draw_position(random, positions.dimensions, key, index, attempt++);
        } while (grid.find_near(place));
        grid.add(place);
        coordinates.insert(coordinates.end(), place.begin(), place.begin() + positions.dimensions);
    }
    return {std::move(coordinates)};
}

}  // namespace ranvier::connect
