// Rotations of cells: steps one after the other, and what is refused.
#include "ranvier/connect/space/rotations.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "error_fields.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/base/random.hpp"

namespace TEST_FILE {

using namespace ranvier;
using namespace ranvier::connect;
using Kind = Rotations::Kind;

const RandomKey key = make_key(7, Purpose::rotation, 3);

Point times(const Matrix& matrix, const Point& point) {
    Point result{};
    for (std::size_t row = 0; row < 3; ++row) {
        for (std::size_t column = 0; column < 3; ++column) result[row] += matrix[row][column] * point[column];
    }
    return result;
}

void expect_near(const Point& found, const Point& expected) {
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(found[i], expected[i], 1e-15) << i;
}

TEST(Rotations, TurnCounterClockwiseAboutTheirAxis) {
    const std::vector<double> quarters{0.25, 0.5};
    const Rotations rotations{{{.axis = {0.0, 0.0, 1.0}, .angles = quarters}}};
    expect_near(times(rotations.at(0, key), {1.0, 0.0, 5.0}), {0.0, 1.0, 5.0});
    expect_near(times(rotations.at(1, key), {1.0, 0.0, 5.0}), {-1.0, 0.0, 5.0});
    const Rotations about_x{{{.axis = {1.0, 0.0, 0.0}, .angles = std::vector<double>{0.25}}}};
    expect_near(times(about_x.at(12, key), {5.0, 1.0, 0.0}), {5.0, 0.0, 1.0});
    expect_near(times(Rotations{}.at(3, key), {1.0, 2.0, 3.0}), {1.0, 2.0, 3.0});
}

TEST(Rotations, FollowEachOther) {
    const std::vector<double> quarter{0.25};
    const Rotations rotations{
        {{.axis = {1.0, 0.0, 0.0}, .angles = quarter}, {.axis = {0.0, 0.0, 1.0}, .angles = quarter}}};
    // y to z by the first, which the second keeps.
    expect_near(times(rotations.at(0, key), {0.0, 1.0, 0.0}), {0.0, 0.0, 1.0});
    expect_near(times(rotations.at(0, key), {1.0, 0.0, 0.0}), {0.0, 1.0, 0.0});
}

TEST(Rotations, OfDifferentStepsAreDrawnIndependently) {
    const Rotations once{{{.kind = Kind::random}}};
    const Rotations twice{{{.kind = Kind::random}, {.kind = Kind::random}}};
    const Rotations any_after{{{.kind = Kind::any}, {.kind = Kind::random}}};
    const Rotations any{{{.kind = Kind::any}}};
    // Twice the same angle would give twice the angle.
    const Point turned = times(once.at(4, key), {1.0, 0.0, 0.0});
    const Point back = times(twice.at(4, key), {1.0, 0.0, 0.0});
    EXPECT_GT(std::abs(back[0] - (2.0 * turned[0] * turned[0] - 1.0)), 1e-3);
    EXPECT_NE(any_after.at(4, key), any.at(4, key));
    EXPECT_NE(any.at(4, key), any.at(5, key));
}

TEST(Rotations, AreChecked) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const auto with_axis = [](const Point& axis) { Rotations{{{.kind = Kind::random, .axis = axis}}}.check(2, "exc"); };
    const auto with_angles = [](std::vector<double> angles) {
        Rotations{{{.angles = std::move(angles)}}}.check(2, "exc");
    };
    with_angles({0.5});
    with_angles({0.5, 0.25});
    fields_of<ShapeError>([&] { with_angles({0.1, 0.2, 0.3}); },
                          {"number of angles of a rotation of population 'exc' is 3", "2 cells"});
    fields_of<ShapeError>([&] { with_angles({}); }, {"is 0"});
    fields_of<ValueOutOfBoundsError>([&] { with_angles({nan}); }, {"angle of a rotation of population 'exc' is nan"});
    fields_of<ValueOutOfBoundsError>([&] { with_axis({0.0, 0.0, 2.0}); }, {"length of the axis", "is 2"});
    fields_of<ValueOutOfBoundsError>([&] { with_axis({0.0, nan, 1.0}); }, {"length of the axis", "is nan"});
}

}  // namespace TEST_FILE
