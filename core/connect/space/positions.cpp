#include "ranvier/connect/space/positions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/math.hpp"
#include "connect/space/spacing.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::connect {

namespace {

constexpr std::string_view axis_names = "xyz";

void refuse(std::string object, double value, std::string bound, std::string remedy) {
    throw ValueOutOfBoundsError(
        {.object = std::move(object), .value = to_text(value), .bound = std::move(bound), .remedy = std::move(remedy)});
}

void check_finite(const Point& point, unsigned dimensions, const std::string& object) {
    for (std::size_t axis = 0; axis < dimensions; ++axis) {
        if (!std::isfinite(point[axis])) {
            refuse(std::string(1, axis_names[axis]) + " of " + object, point[axis], "it must be finite",
                   "give a number");
        }
    }
}

void check_positive(const Point& extent, unsigned dimensions, const std::string& object) {
    check_finite(extent, dimensions, object);
    for (std::size_t axis = 0; axis < dimensions; ++axis) {
        if (!(extent[axis] > 0.0)) {
            refuse(std::string(1, axis_names[axis]) + " of " + object, extent[axis], "it must be > 0",
                   "give its length, or use fewer dimensions");
        }
    }
}

void check_count(std::uint64_t positions, std::uint64_t size, const std::string& population) {
    if (positions == size) return;
    throw ShapeError({.object = "number of positions of population '" + population + "'",
                      .value = std::to_string(positions),
                      .bound = "the population has " + std::to_string(size) + " neurons",
                      .remedy = "give one position for each neuron"});
}

}  // namespace

Point draw_position(const Positions::Random& random, unsigned dimensions, RandomKey key, std::uint64_t index,
                    std::uint32_t attempt) {
    using Shape = Positions::Random::Shape;
    const RandomStream numbers{key, index, attempt};
    const auto uniform = [&](std::uint32_t number) { return to_open_unit(numbers.word64(number)); };
    Point unit{};  // within the box from 0 to 1
    if (random.shape == Shape::box) {
        for (std::size_t axis = 0; axis < dimensions; ++axis) unit[axis] = uniform(static_cast<std::uint32_t>(axis));
    } else {
        // Polar coordinates: the root of the radius makes the density uniform.
        const bool is_surface = random.shape == Shape::surface;
        const double cycle = uniform(0);
        const double sine = math::sin_cycles(cycle);
        const double cosine = math::sin_cycles(cycle + 0.25);
        if (random.shape != Shape::cylinder && dimensions == 3) {
            const double height = 2.0 * uniform(1) - 1.0;
            const double radius = is_surface ? 1.0 : math::exp(math::log(uniform(2)) / 3.0);
            const double across = std::sqrt(1.0 - height * height) * radius;
            unit = {0.5 + 0.5 * across * cosine, 0.5 + 0.5 * across * sine, 0.5 + 0.5 * radius * height};
        } else {
            const double radius = is_surface ? 1.0 : std::sqrt(uniform(1));
            unit = {0.5 + 0.5 * radius * cosine, 0.5 + 0.5 * radius * sine, 0.0};
            if (dimensions == 3) unit[2] = uniform(2);
        }
    }
    Point position{};
    for (std::size_t axis = 0; axis < dimensions; ++axis) {
        position[axis] = random.lower[axis] + random.extent[axis] * unit[axis];
    }
    return position;
}

std::string_view to_string(LengthUnit unit) { return unit == LengthUnit::millimetre ? "mm" : "um"; }

Point Positions::at(std::uint64_t index, RandomKey key) const {
    if (const auto* const array = std::get_if<Array>(&form)) {
        Point position{};
        std::copy_n(array->coordinates.data() + index * dimensions, dimensions, position.begin());
        return position;
    }
    if (const auto* const random = std::get_if<Random>(&form)) return draw_position(*random, dimensions, key, index, 0);
    const Grid& grid = std::get<Grid>(form);
    Point position{};
    for (std::size_t axis = dimensions; axis-- > 0; index /= grid.shape[axis]) {
        position[axis] = grid.first[axis] + grid.spacing[axis] * static_cast<double>(index % grid.shape[axis]);
    }
    return position;
}

void Positions::check(std::uint64_t size, const std::string& population) const {
    const std::string of_population = "population '" + population + "'";
    if (dimensions != 2 && dimensions != 3) {
        refuse("dimensions of the positions of " + of_population, dimensions, "there are 2 or 3",
               "give two or three coordinates for each neuron");
    }
    check_finite(period, dimensions, "the period of " + of_population);
    check_finite(origin, dimensions, "the origin of " + of_population);
    if (const auto* const array = std::get_if<Array>(&form)) {
        check_count(array->coordinates.size() / dimensions, size, population);
        for (std::uint64_t i = 0; i < size; ++i) {
            check_finite(at(i, {}), dimensions, "position " + std::to_string(i) + " of " + of_population);
        }
    } else if (const auto* const grid = std::get_if<Grid>(&form)) {
        std::uint64_t count = 1;
        for (std::size_t axis = 0; axis < dimensions; ++axis) {
            const std::uint64_t along = grid->shape[axis];
            count = along != 0 && count > std::numeric_limits<std::uint64_t>::max() / along
                        ? std::numeric_limits<std::uint64_t>::max()
                        : count * along;
        }
        check_count(count, size, population);
        check_finite(grid->first, dimensions, "the first position of " + of_population);
        check_finite(grid->spacing, dimensions, "the spacing of " + of_population);
    } else {
        const Random& random = std::get<Random>(form);
        check_finite(random.lower, dimensions, "the lower end of " + of_population);
        check_positive(random.extent, dimensions, "the extent of " + of_population);
        if (random.shape == Random::Shape::cylinder && dimensions == 2) {
            refuse("dimensions of the positions of " + of_population, dimensions, "a cylinder has 3",
                   "use an ellipsoid, or three dimensions");
        }
        for (std::size_t axis = 1; random.shape == Random::Shape::surface && axis < dimensions; ++axis) {
            if (random.extent[axis] == random.extent[0]) continue;
            refuse(std::string(1, axis_names[axis]) + " of the extent of " + of_population, random.extent[axis],
                   "positions on a surface are in a box with equal sides, " + to_text(random.extent[0]),
                   "give equal lengths");
        }
        if (!std::isfinite(random.min_distance) || random.min_distance < 0.0) {
            refuse("min_distance of " + of_population, random.min_distance, "it must be >= 0 and finite",
                   "give a distance, or 0 for independent positions");
        }
    }
    if (!is_periodic()) return;
    for (std::size_t axis = 0; axis < dimensions; ++axis) {
        if (period[axis] == 0.0) continue;
        if (period[axis] < 0.0) {
            refuse(std::string(1, axis_names[axis]) + " of the period of " + of_population, period[axis],
                   "it must be > 0, or 0 for an axis that is not periodic", "give the length of the box");
        }
        // Random positions and grids are within the box by construction; an array is the user's.
        if (!std::holds_alternative<Array>(form)) continue;
        for (std::uint64_t i = 0; i < size; ++i) {
            const double place = at(i, {})[axis] - origin[axis];
            if (place >= 0.0 && place <= period[axis]) continue;
            refuse(std::string(1, axis_names[axis]) + " of position " + std::to_string(i) + " of " + of_population,
                   at(i, {})[axis],
                   "the periodic box reaches from " + to_text(origin[axis]) + " to " +
                       to_text(origin[axis] + period[axis]),
                   "give a larger extent, or move the neuron into the box");
        }
    }
}

std::uint64_t Positions::bytes() const {
    const auto* const array = std::get_if<Array>(&form);
    return array == nullptr ? 0 : array->coordinates.bytes();
}

std::shared_ptr<const Positions> located(const std::shared_ptr<const Positions>& positions, std::uint64_t size,
                                         RandomKey key, const std::string& population,
                                         const std::function<void()>& poll) {
    if (positions == nullptr) return nullptr;
    const auto* const random = std::get_if<Positions::Random>(&positions->form);
    if (random == nullptr || random->min_distance == 0.0) return positions;
    Positions drawn = *positions;
    drawn.form = draw_spaced(*positions, size, key, population, poll);
    return std::make_shared<const Positions>(std::move(drawn));
}

const Space::Part& Space::part_of(NeuronId id) const {
    const auto after = std::ranges::upper_bound(parts_, id, [](NeuronId a, NeuronId b) { return a < b; }, &Part::first);
    return *(after - 1);
}

double PairPositions::shortest(double difference, double period) {
    return period == 0.0 ? difference : difference - period * std::nearbyint(difference / period);
}

double PairPositions::length(const Point& displacement) {
    return std::sqrt(displacement[0] * displacement[0] + displacement[1] * displacement[1] +
                     displacement[2] * displacement[2]);
}

std::shared_ptr<const PairPositions> pair_positions(std::shared_ptr<const Space> space, const IdSequence& sources,
                                                    const IdSequence& targets, const std::string& object) {
    if (space == nullptr) return nullptr;
    const Positions* common = nullptr;
    for (const IdSequence* const ids : {&sources, &targets}) {
        for (const Space::Part& part : space->parts()) {
            if (ids->within(part.first, part.size).empty()) continue;
            const Positions* const positions = part.positions.get();
            if (positions == nullptr) return nullptr;
            if (common == nullptr) common = positions;
            const auto differ = [&](std::string what, std::string one, std::string other, std::string remedy) {
                throw ValueOutOfBoundsError({.object = std::move(what) + " of the positions of " + object,
                                             .value = std::move(one) + " and " + std::move(other),
                                             .bound = "all neurons of a projection must share them",
                                             .remedy = std::move(remedy)});
            };
            if (common->dimensions != positions->dimensions) {
                differ("dimensions", std::to_string(common->dimensions), std::to_string(positions->dimensions),
                       "give all populations two or three coordinates");
            }
            if (common->unit != positions->unit) {
                differ("unit", std::string(to_string(common->unit)), std::string(to_string(positions->unit)),
                       "give all positions in one unit");
            }
            if (common->period != positions->period) {
                const auto text = [](const Point& period) {
                    return "(" + to_text(period[0]) + ", " + to_text(period[1]) + ", " + to_text(period[2]) + ")";
                };
                differ("period", text(common->period), text(positions->period),
                       "give all populations the same periodic box");
            }
        }
    }
    if (common == nullptr) return nullptr;
    return std::make_shared<const PairPositions>(PairPositions{.space = std::move(space),
                                                               .sources = sources,
                                                               .targets = targets,
                                                               .dimensions = common->dimensions,
                                                               .unit = common->unit,
                                                               .period = common->period});
}

}  // namespace ranvier::connect
