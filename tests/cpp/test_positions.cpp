// Positions of neurons: their laws, distances between them, and what is refused.
#include "ranvier/connect/space/positions.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <vector>

#include "connect/space/spacing.hpp"
#include "error_fields.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/base/random.hpp"
#include "statistics.hpp"

namespace TEST_FILE {

using namespace ranvier;
using namespace ranvier::connect;
using Random = Positions::Random;
using Shape = Positions::Random::Shape;

const RandomKey key = make_key(7, Purpose::position, 3);

Positions random_in(unsigned dimensions, const Random& random, const Point& period = {}) {
    return {.dimensions = dimensions, .form = random, .period = period, .origin = random.lower};
}

std::vector<Point> points_of(const Positions& positions, std::uint64_t size) {
    std::vector<Point> points;
    for (std::uint64_t i = 0; i < size; ++i) points.push_back(positions.at(i, key));
    return points;
}

double uniform_p(const std::vector<Point>& points, const std::function<double(const Point&)>& share) {
    std::vector<double> sample;
    for (const Point& point : points) sample.push_back(share(point));
    return statistics::kolmogorov_smirnov_p_value(sample, [](double x) { return x; });
}

/// The share of a turn at which a point lies around the z axis.
double turn(const Point& point) { return std::atan2(point[1], point[0]) / (2.0 * std::numbers::pi) + 0.5; }

TEST(RandomPositions, AreUniformInTheirShape) {
    const Random unit{.shape = Shape::box, .lower = {-1.0, -1.0, -1.0}, .extent = {2.0, 2.0, 2.0}};
    const auto points_in = [&](Shape shape, unsigned dimensions) {
        Random random = unit;
        random.shape = shape;
        return points_of(random_in(dimensions, random), 20'000);
    };
    const auto radius = [](const Point& point) { return PairPositions::length(point); };
    const auto around = [](const Point& point) { return std::hypot(point[0], point[1]); };
    // What is uniform on [0, 1] for points that are uniform in the shape.
    const auto along = [](std::size_t axis) {
        return [axis](const Point& point) { return 0.5 * (point[axis] + 1.0); };
    };
    const auto disc = [&](const Point& point) { return around(point) * around(point); };
    const auto ball = [&](const Point& point) { return std::pow(radius(point), 3.0); };
    const auto cap = [&](const Point& point) { return 0.5 * (point[2] / radius(point) + 1.0); };
    struct Case {
        Shape shape;
        unsigned dimensions;
        std::vector<std::function<double(const Point&)>> shares;
    };
    const std::vector<Case> cases{
        {Shape::box, 2, {along(0), along(1)}},
        {Shape::box, 3, {along(0), along(1), along(2)}},
        {Shape::ellipsoid, 2, {disc, turn}},
        {Shape::ellipsoid, 3, {ball, cap, turn}},
        {Shape::cylinder, 3, {disc, turn, along(2)}},
        {Shape::surface, 2, {turn}},
        {Shape::surface, 3, {cap, turn}},
    };
    for (const Case& each : cases) {
        const std::vector<Point> points = points_in(each.shape, each.dimensions);
        for (std::size_t i = 0; i < each.shares.size(); ++i) {
            EXPECT_GT(uniform_p(points, each.shares[i]), statistics::significance)
                << static_cast<int>(each.shape) << " in " << each.dimensions << ", share " << i;
        }
        for (const Point& point : points) {
            if (each.shape == Shape::surface) {
                ASSERT_NEAR(radius(point), 1.0, 1e-12);
            }
            ASSERT_TRUE(each.dimensions == 3 || point[2] == 0.0);
        }
    }
}

TEST(RandomPositions, FillTheBoxThatIsGiven) {
    const Random random{.shape = Shape::ellipsoid, .lower = {1.0, -4.0, 0.0}, .extent = {2.0, 3.0, 0.5}};
    for (const Point& point : points_of(random_in(3, random), 5000)) {
        double squares = 0.0;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const double place = 2.0 * (point[axis] - random.lower[axis]) / random.extent[axis] - 1.0;
            squares += place * place;
        }
        ASSERT_LE(squares, 1.0 + 1e-12);
    }
}

TEST(LeastDistance, IsKept) {
    for (const bool is_periodic : {false, true}) {
        for (const unsigned dimensions : {2U, 3U}) {
            const Random random{.lower = {-1.0, 0.0, 3.0}, .extent = {2.0, 1.0, 1.0}, .min_distance = 0.09};
            const Point period = is_periodic ? Point{2.0, 0.0, dimensions == 3 ? 1.0 : 0.0} : Point{};
            const auto positions = std::make_shared<const Positions>(random_in(dimensions, random, period));
            const std::uint64_t size = dimensions == 2 ? 120 : 600;
            const auto found = located(positions, size, key, "exc");
            found->check(size, "exc");
            const std::vector<Point> points = points_of(*found, size);
            const PairPositions pairs{
                .space = {}, .sources = {}, .targets = {}, .dimensions = dimensions, .period = period};
            double least = std::numeric_limits<double>::infinity();
            for (std::size_t i = 0; i < size; ++i) {
                for (std::size_t j = 0; j < i; ++j) {
                    least = std::min(least, PairPositions::length(pairs.displacement(points[i], points[j])));
                }
            }
            EXPECT_GE(least, 0.09);
            EXPECT_LT(least, 0.1);
        }
    }
}

TEST(LeastDistance, LeavesNeuronsThatHadSpaceWhereTheyWere) {
    // Neurons that are far from all others are where they would be without a least distance; a position does not depend
    // on those that follow.
    Random random{.extent = {1.0, 1.0, 0.0}};
    const Positions independent = random_in(2, random);
    random.min_distance = 0.03;
    const auto spaced = std::make_shared<const Positions>(random_in(2, random));
    const std::vector<Point> all = points_of(*located(spaced, 300, key, "exc"), 300);
    const std::vector<Point> some = points_of(*located(spaced, 100, key, "exc"), 100);
    EXPECT_TRUE(std::equal(some.begin(), some.end(), all.begin()));
    std::size_t alike = 0;
    for (std::uint64_t i = 0; i < 300; ++i) alike += all[i] == independent.at(i, key) ? 1 : 0;
    EXPECT_GT(alike, 200);
    EXPECT_LT(alike, 300);
    // Others need no drawing.
    const auto as_given = std::make_shared<const Positions>(independent);
    EXPECT_EQ(located(as_given, 300, key, "exc"), as_given);
}

TEST(LeastDistance, ThatIsTooLargeIsRefused) {
    const auto draw = [](Shape shape, unsigned dimensions, double distance, std::uint64_t size) {
        const Random random{.shape = shape, .extent = {1.0, 1.0, 1.0}, .min_distance = distance};
        located(std::make_shared<const Positions>(random_in(dimensions, random)), size, key, "exc");
    };
    fields_of<ValueOutOfBoundsError>(
        [&] { draw(Shape::box, 2, 0.1, 100); },
        {"min_distance of population 'exc' is 0.1 mm", "there is no space: discs", "64.9 % of the space", "54.7 %"});
    fields_of<ValueOutOfBoundsError>([&] { draw(Shape::box, 3, 0.1, 1050); },
                                     {"balls", "no place was found for neuron"});
    fields_of<ValueOutOfBoundsError>([&] { draw(Shape::surface, 3, 0.1, 300); }, {"discs", "75 %"});
    fields_of<ValueOutOfBoundsError>([&] { draw(Shape::surface, 2, 0.1, 28); }, {"pieces", "89.1 %"});
    // One neuron has space everywhere.
    draw(Shape::box, 2, 10.0, 1);
}

TEST(NearPairs, AreFoundAsByComparingAll) {
    SequentialRandom numbers({make_key(5, Purpose::test, 0)});
    int found_pairs = 0;
    for (int trial = 0; trial < 300; ++trial) {
        const auto dimensions = static_cast<unsigned>(2 + numbers.next_below(2));
        const std::size_t size = 1 + numbers.next_below(40);
        Point period{};
        for (std::size_t axis = 0; axis < dimensions; ++axis) period[axis] = numbers.next_below(2) == 0 ? 0.0 : 1.0;
        const double distance = 0.3 * numbers.next_unit();
        std::vector<double> coordinates(size * dimensions);
        for (double& each : coordinates) each = numbers.next_unit();
        const PairPositions pairs{
            .space = {}, .sources = {}, .targets = {}, .dimensions = dimensions, .period = period};
        const auto point = [&](std::size_t i) {
            Point place{};
            std::copy_n(coordinates.begin() + static_cast<std::ptrdiff_t>(i * dimensions), dimensions, place.begin());
            return place;
        };
        const auto distance_of = [&](std::size_t i, std::size_t j) {
            return PairPositions::length(pairs.displacement(point(i), point(j)));
        };
        bool is_near = false;
        for (std::size_t i = 0; i < size; ++i) {
            for (std::size_t j = 0; j < i; ++j) is_near |= distance_of(i, j) < distance;
        }
        const auto pair =
            find_near_pair(coordinates, {.dimensions = dimensions, .extent = period, .period = period}, distance);
        ASSERT_EQ(pair.has_value(), is_near) << trial;
        if (!pair) continue;
        ++found_pairs;
        EXPECT_NEAR(pair->distance, distance_of(pair->first, pair->second), 1e-14);
        EXPECT_LT(pair->distance, distance);
    }
    EXPECT_GT(found_pairs, 50);
    EXPECT_LT(found_pairs, 280);
}

TEST(NearPairs, OfEqualPointsAreFound) {
    EXPECT_TRUE(find_near_pair(std::vector<double>{1.0, 1.0, 1.0, 1.0}, {.dimensions = 2}, 1e-300));
    EXPECT_FALSE(find_near_pair(std::vector<double>{1.0, 1.0}, {.dimensions = 2}, 1.0));
    EXPECT_FALSE(find_near_pair(std::vector<double>{}, {.dimensions = 2}, 1.0));
}

TEST(Positions, AreChecked) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const auto refuse = [](const Positions& positions, std::uint64_t size, const std::vector<std::string>& texts) {
        fields_of<ValueOutOfBoundsError>([&] { positions.check(size, "exc"); }, texts);
    };
    const auto refuse_number = [](const Positions& positions, std::uint64_t size,
                                  const std::vector<std::string>& texts) {
        fields_of<ShapeError>([&] { positions.check(size, "exc"); }, texts);
    };
    const auto array = [](std::vector<double> numbers) {
        return Positions{.form = Positions::Array{std::move(numbers)}};
    };
    refuse_number(array({0.0, 1.0}), 2, {"number of positions of population 'exc' is 1", "2 neurons"});
    refuse(array({0.0, 1.0, 2.0, nan}), 2, {"y of position 1 of population 'exc' is nan"});
    refuse_number({.form = Positions::Grid{.shape = {2, 3, 1}}}, 7, {"is 6"});
    const std::uint64_t many = std::uint64_t{1} << 40;
    refuse_number({.dimensions = 3, .form = Positions::Grid{.shape = {many, many, 1}}}, 0, {"18446744073709551615"});
    refuse({.dimensions = 4}, 0, {"dimensions", "2 or 3"});
    refuse({.dimensions = 1}, 0, {"dimensions", "2 or 3"});
    refuse(random_in(2, {.extent = {1.0, 0.0, 0.0}}), 1, {"y of the extent of population 'exc' is 0"});
    refuse(random_in(2, {.extent = {1.0, nan, 0.0}}), 1, {"y of the extent"});
    refuse(random_in(2, {.extent = {1.0, 1.0, 0.0}, .min_distance = -1.0}), 1, {"min_distance"});
    refuse(random_in(2, {.shape = Shape::cylinder, .extent = {1.0, 1.0, 0.0}}), 1, {"a cylinder has 3"});
    refuse(random_in(2, {.shape = Shape::surface, .extent = {1.0, 2.0, 0.0}}), 1, {"equal sides"});
    refuse(random_in(2, {.extent = {1.0, 1.0, 0.0}}, {-1.0, 0.0, 0.0}), 1, {"x of the period"});
    Positions outside = array({0.0, 0.0, 0.0, 1.5});
    outside.period = {0.0, 1.0, 0.0};
    refuse(outside, 2, {"y of position 1 of population 'exc' is 1.5", "from 0 to 1"});
}

TEST(Space, KnowsTheNeuronsOfEachPopulation) {
    const auto line = std::make_shared<const Positions>(
        Positions{.form = Positions::Grid{.shape = {4, 1, 1}, .first = {1.0, 2.0}, .spacing = {0.5, 0.0}}});
    const auto drawn = std::make_shared<const Positions>(random_in(2, {.extent = {1.0, 1.0, 0.0}}));
    const auto space = std::make_shared<const Space>(std::vector<Space::Part>{
        {.first = NeuronId{0}, .size = 4, .positions = line},
        {.first = NeuronId{4}, .size = 3, .positions = nullptr},
        {.first = NeuronId{7}, .size = 2, .positions = drawn, .key = key},
    });
    EXPECT_EQ(space->at(NeuronId{3}), (Point{2.5, 2.0, 0.0}));
    EXPECT_EQ(space->at(NeuronId{8}), drawn->at(1, key));
    EXPECT_EQ(space->part_of(NeuronId{6}).positions, nullptr);
    EXPECT_EQ(pair_positions(nullptr, {NeuronId{0}, 1, 4}, {NeuronId{7}, 1, 2}, "projection"), nullptr);
    EXPECT_EQ(pair_positions(space, {NeuronId{0}, 1, 4}, {NeuronId{4}, 1, 3}, "projection"), nullptr);
    const auto pairs = pair_positions(space, {NeuronId{0}, 2, 2}, {NeuronId{7}, 1, 2}, "projection");
    EXPECT_EQ(pairs->source(1), (Point{2.0, 2.0, 0.0}));
    EXPECT_EQ(pairs->target(1), drawn->at(1, key));
}

TEST(Space, RefusesPairsInDifferentSpaces) {
    const auto with = [](Positions second) {
        const auto first = std::make_shared<const Positions>(Positions{.form = Positions::Grid{.shape = {2, 2, 1}}});
        const auto space = std::make_shared<const Space>(std::vector<Space::Part>{
            {.first = NeuronId{0}, .size = 4, .positions = first},
            {.first = NeuronId{4}, .size = 4, .positions = std::make_shared<const Positions>(std::move(second))}});
        pair_positions(space, {NeuronId{0}, 1, 4}, {NeuronId{4}, 1, 4}, "projection 'a to b'");
    };
    const Positions::Grid grid{.shape = {2, 2, 1}};
    with({.form = grid});
    fields_of<ValueOutOfBoundsError>([&] { with({.dimensions = 3, .form = grid}); },
                                     {"dimensions of the positions of projection 'a to b' is 2 and 3"});
    fields_of<ValueOutOfBoundsError>([&] { with({.unit = LengthUnit::micrometre, .form = grid}); }, {"mm and um"});
    fields_of<ValueOutOfBoundsError>([&] { with({.form = grid, .period = {2.0, 0.0, 0.0}}); },
                                     {"(0, 0, 0) and (2, 0, 0)"});
}

TEST(PairPositions, HaveTheShortestDisplacement) {
    const PairPositions pairs{.space = {}, .sources = {}, .targets = {}, .dimensions = 2, .period = {2.0, 0.0, 0.0}};
    // From the source to the target, across the end of the box.
    EXPECT_EQ(pairs.displacement({0.75, 0.0, 0.0}, {-0.75, 1.5, 0.0}), (Point{0.5, 1.5, 0.0}));
    EXPECT_EQ(pairs.displacement({-0.75, 1.5, 0.0}, {0.75, 0.0, 0.0}), (Point{-0.5, -1.5, 0.0}));
    EXPECT_EQ(pairs.displacement({0.0, 0.0, 0.0}, {0.75, 0.0, 0.0}), (Point{0.75, 0.0, 0.0}));
}

}  // namespace TEST_FILE
