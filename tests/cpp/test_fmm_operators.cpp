#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "fmm/harmonics.hpp"
#include "fmm/near_field.hpp"
#include "fmm/operators.hpp"
#include "fmm/translations.hpp"
#include "fmm_testing.hpp"
#include "ranvier/base/instruction_set.hpp"

// Each operator against the series or the integral that it stands for, in double precision, for orders from 0 to 20. Operators
// without truncation hold to rounding: 1e-12 of the largest term. For the others the error is bounded by the rest of
// the series.

namespace ranvier::fmm {
namespace TEST_FILE {

constexpr std::array<std::uint32_t, 9> orders{0, 1, 2, 3, 5, 8, 12, 16, 20};

std::vector<double> harmonics_at(std::uint32_t order, const Point& x) {
    std::vector<double> values(harmonic_count(order));
    regular_harmonics<1>(HarmonicFactors<double>::get(), order, &x.x, &x.y, &x.z, values.data());
    return values;
}

double product(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0.0;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) sum += a[i] * b[i];
    return sum;
}

Operators<double> make_operators(std::uint32_t order, Translation translation = Translation::dense) {
    return {order, translation, detect_instruction_set()};
}

/// A block of targets with one valid.
std::vector<double> target_block(const Point& x) {
    std::vector<double> block(3 * point_lanes);
    std::fill_n(block.begin(), point_lanes, x.x);
    std::fill_n(block.begin() + point_lanes, point_lanes, x.y);
    std::fill_n(block.begin() + 2 * point_lanes, point_lanes, x.z);
    return block;
}

TEST(FmmHarmonics, AreThoseOfLowDegree) {
    const Point x{0.3, -0.7, 0.2};
    const double square = dot(x, x);
    const std::vector<double> s = harmonics_at(3, x);
    const double root3 = std::sqrt(3.0);
    const std::vector<double> expected{1.0,
                                       x.y,
                                       x.z,
                                       x.x,
                                       root3 * x.x * x.y,
                                       root3 * x.y * x.z,
                                       0.5 * (3.0 * x.z * x.z - square),
                                       root3 * x.x * x.z,
                                       0.5 * root3 * (x.x * x.x - x.y * x.y)};
    for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(s[i], expected[i], 1e-15) << i;
}

TEST(FmmHarmonics, OfTwoPointsMultiplyToLegendrePolynomials) {
    Draws draws(1);
    for (int repetition = 0; repetition < 20; ++repetition) {
        const Point x = draws.direction();
        const Point y = draws.direction();
        const std::vector<double> a = harmonics_at(max_order, x);
        const std::vector<double> b = harmonics_at(max_order, y);
        for (unsigned l = 0; l <= max_order; ++l) {
            double sum = 0.0;
            for (std::size_t k = std::size_t{l} * l; k < harmonic_count(l); ++k) sum += a[k] * b[k];
            EXPECT_NEAR(sum, std::legendre(l, dot(x, y)), 1e-13) << l;
        }
    }
}

TEST(FmmQuadrature, IsExactUpToItsDegree) {
    for (std::uint32_t count = 1; count <= 12; ++count) {
        const Quadrature quadrature = gauss_legendre(count);
        for (std::uint32_t degree = 0; degree < 2 * count; ++degree) {
            double sum = 0.0;
            for (std::uint32_t i = 0; i < count; ++i) {
                sum += quadrature.weights[i] * std::pow(quadrature.nodes[i], degree);
            }
            EXPECT_NEAR(sum, 1.0 / (degree + 1), 1e-15) << count << " " << degree;
        }
        double beyond = 0.0;
        for (std::uint32_t i = 0; i < count; ++i) {
            beyond += quadrature.weights[i] * std::pow(quadrature.nodes[i], 2 * count);
        }
        EXPECT_GT(std::abs(beyond - 1.0 / (2 * count + 1)), 1e-15) << count;
    }
}

// P2M: the moments of a line are the integrals of polynomials, so a fine midpoint sum converges to them.
TEST(FmmOperators, TakeMomentsOfLinesExactly) {
    Draws draws(2);
    for (const std::uint32_t order : orders) {
        const Operators<double> operators = make_operators(order);
        const SourceGeometry line{draws.in_box(0.5), draws.in_box(0.5)};
        const SourceGeometry point{line.begin, line.begin};
        const std::array<SourceGeometry, 2> sources{line, point};
        const std::array<double, 2> strengths{1.5, -0.75};
        const GridNumber grid = grid_for(1.5, 2);
        std::vector<double> moments(operators.count(), 0.0);
        operators.sources_to_multipole(sources, false, strengths.data(), 1, &grid, moments.data());
        std::vector<double> expected = harmonics_at(order, point.begin);
        for (double& value : expected) value *= strengths[1];
        // By Simpson's rule in many intervals.
        constexpr int intervals = 400;
        for (int i = 0; i <= intervals; ++i) {
            const double weight = (i == 0 || i == intervals ? 1.0 : (i % 2 == 1 ? 4.0 : 2.0)) / (3.0 * intervals);
            const Point place = line.begin + (static_cast<double>(i) / intervals) * (line.end - line.begin);
            const std::vector<double> values = harmonics_at(order, place);
            for (std::size_t k = 0; k < values.size(); ++k) expected[k] += strengths[0] * weight * values[k];
        }
        for (std::size_t k = 0; k < expected.size(); ++k)
            EXPECT_NEAR(moments[k], expected[k], 1e-8) << order << " " << k;
    }
}

TEST(FmmOperators, SumMomentsInAnyOrderToTheSameBits) {
    Draws draws(3);
    const Operators<double> operators = make_operators(7);
    std::vector<SourceGeometry> sources;
    std::vector<double> strengths;
    for (int i = 0; i < 37; ++i) {
        sources.push_back({draws.in_box(0.5), draws.in_box(0.5)});
        strengths.push_back(draws.normal());
    }
    const GridNumber grid = grid_for(5.0, 37);
    std::vector<double> moments(operators.count(), 0.0);
    operators.sources_to_multipole(sources, false, strengths.data(), 1, &grid, moments.data());
    std::reverse(sources.begin(), sources.end());
    std::reverse(strengths.begin(), strengths.end());
    std::vector<double> reversed(operators.count(), 0.0);
    const auto first = std::span<const SourceGeometry>(sources).first(11);
    const auto rest = std::span<const SourceGeometry>(sources).subspan(11);
    operators.sources_to_multipole(rest, false, strengths.data() + 11, 1, &grid, reversed.data());
    operators.sources_to_multipole(first, false, strengths.data(), 1, &grid, reversed.data());
    EXPECT_EQ(moments, reversed);
}

// M2M: the moments of a child about the centre of the parent are those of its sources. L2L: the same polynomial.
TEST(FmmOperators, ShiftWithoutError) {
    Draws draws(4);
    for (const std::uint32_t order : orders) {
        const Operators<double> operators = make_operators(order);
        for (std::uint32_t child = 0; child < 8; ++child) {
            const auto side = [&](std::uint32_t bit) { return (child >> bit & 1U) != 0 ? 0.25 : -0.25; };
            const Point centre{side(0), side(1), side(2)};
            const Point y = draws.in_box(0.5);
            std::vector<double> moments = harmonics_at(order, y);
            moments.resize(operators.stride());
            std::vector<double> moved(operators.stride(), 0.0);
            operators.multipole_to_multipole(child, moments.data(), 1, moved.data());
            const std::vector<double> expected = harmonics_at(order, centre + 0.5 * y);
            for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_NEAR(moved[k], expected[k], 1e-12) << order;

            std::vector<double> local(operators.stride(), 0.0);
            for (std::size_t k = 0; k < operators.count(); ++k) local[k] = draws.normal();
            std::vector<double> of_child(operators.stride(), 0.0);
            operators.local_to_local(child, local.data(), 1, of_child.data());
            // Potentials are per unit of length, which is half as long.
            const double potential = 0.5 * product(local, harmonics_at(order, centre + 0.5 * y));
            EXPECT_NEAR(product(of_child, harmonics_at(order, y)), potential, 1e-12) << order;
        }
    }
}

// M2L, both forms: for all places of a source box, a local expansion has the potential that the multipole expansion has. The
// error of a truncated series with the ratio a / (d - a) of radii is below its next powers.
TEST(FmmOperators, TranslateToLocalExpansions) {
    Draws draws(5);
    for (const std::uint32_t order : orders) {
        const Operators<double> dense = make_operators(order);
        const Operators<double> rotating = make_operators(order, Translation::rotation);
        for (int x = -3; x <= 3; ++x) {
            for (int y = -3; y <= 3; ++y) {
                for (int z = -3; z <= 3; ++z) {
                    if (std::max({std::abs(x), std::abs(y), std::abs(z)}) < 2) continue;
                    if (order > 8 && (x + y + z) % 3 != 0) continue;
                    const Point source = draws.in_box(0.5);
                    const Point target = draws.in_box(0.5);
                    std::vector<double> moments = harmonics_at(order, source);
                    moments.resize(dense.stride());
                    const Operators<double>::Neighbor neighbor{moments.data(), static_cast<std::int8_t>(x),
                                                               static_cast<std::int8_t>(y),
                                                               static_cast<std::int8_t>(z)};
                    std::vector<double> local(dense.stride(), 0.0);
                    dense.multipole_to_local(std::span(&neighbor, 1), 1, local.data());
                    std::vector<double> rotated(dense.stride(), 0.0);
                    rotating.multipole_to_local(std::span(&neighbor, 1), 1, rotated.data());
                    for (std::size_t k = 0; k < dense.count(); ++k) EXPECT_NEAR(rotated[k], local[k], 2e-13) << order;

                    const Point offset{static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)};
                    const double exact = 1.0 / norm_of(offset + target - source);
                    const double a = norm_of(source) + norm_of(target);
                    const double d = norm_of(offset);
                    const double bound = std::pow(a / d, order + 1) / (d - a);
                    const double potential = product(local, harmonics_at(order, target));
                    EXPECT_LT(std::abs(potential - exact), bound + 1e-12) << order << " " << x << " " << y << " " << z;
                }
            }
        }
    }
}

// P2L, L2P and M2P with gradients.
TEST(FmmOperators, ActOnTargetsAndLocalExpansions) {
    Draws draws(6);
    for (const std::uint32_t order : orders) {
        const Operators<double> operators = make_operators(order);
        const Point far = 3.0 * draws.direction();
        const Point near = draws.in_box(0.3);
        const Point difference = far - near;
        const double distance = norm_of(difference);
        const double ratio = norm_of(near) / norm_of(far);
        const double bound = std::pow(ratio, order + 1) / (norm_of(far) - norm_of(near)) + 1e-12;

        std::vector<double> local(operators.stride(), 0.0);
        const SourceGeometry source{far, far};
        const double strength = 2.0;
        operators.sources_to_local(std::span(&source, 1), true, &strength, 1, local.data());
        std::vector<double> block = target_block(near);
        double potential = 0.0;
        std::array<double, 3> gradient{};
        operators.local_to_targets(local.data(), block.data(), 1, 1, 1.0, &potential, gradient.data());
        EXPECT_LT(std::abs(potential - strength / distance), strength * bound) << order;
        // The gradient at the near point of 1 / |x - far|, in a series of one term less.
        const double slope = strength / std::pow(distance, 3);
        const double gradient_bound = 2.0 * strength * bound * (order + 2) / norm_of(near);
        EXPECT_LT(std::abs(gradient[0] - slope * difference.x), gradient_bound) << order;
        EXPECT_LT(std::abs(gradient[1] - slope * difference.y), gradient_bound) << order;
        EXPECT_LT(std::abs(gradient[2] - slope * difference.z), gradient_bound) << order;

        std::vector<double> moments = harmonics_at(order, near);
        moments.resize(operators.stride());
        block = target_block(far);
        potential = 0.0;
        gradient = {};
        operators.multipole_to_targets(moments.data(), {}, 1.0, block.data(), 1, 1, 1.0, &potential, gradient.data());
        EXPECT_LT(std::abs(potential - 1.0 / distance), bound) << order;
        EXPECT_LT(std::abs(gradient[0] + difference.x / std::pow(distance, 3)), 2.0 * bound * (order + 2)) << order;
        EXPECT_LT(std::abs(gradient[1] + difference.y / std::pow(distance, 3)), 2.0 * bound * (order + 2)) << order;
        EXPECT_LT(std::abs(gradient[2] + difference.z / std::pow(distance, 3)), 2.0 * bound * (order + 2)) << order;
    }
}

TEST(FmmOperators, TurnLongLinesIntoLocalExpansions) {
    Draws draws(7);
    // Lines much longer than the box that pass beside it.
    for (int repetition = 0; repetition < 30; ++repetition) {
        const Operators<double> operators = make_operators(10);
        const Point side = draws.direction();
        Point along = draws.direction();
        along = along - dot(along, side) * side;
        const Point nearest = 1.6 * side;
        const SourceGeometry source{nearest - draws.uniform(0.0, 50.0) * along,
                                    nearest + draws.uniform(0.0, 50.0) * along};
        const LinePiece piece{source.begin, source.end, 0.0};
        const double strength = 1.0;
        std::vector<double> local(operators.stride(), 0.0);
        operators.sources_to_local(std::span(&source, 1), false, &strength, 1, local.data());
        const Point target = draws.in_box(0.5);
        double exact = 0.0;
        sum_directly(std::span(&piece, 1), std::span(&target, 1), std::span(&strength, 1), 1, std::span(&exact, 1));
        EXPECT_NEAR(product(local, harmonics_at(10, target)) / exact, 1.0, 2e-3);
    }
}

// P2P: the logarithm of Holt and Koch against the integral of 1 / |x - y| along the line, by Simpson's rule.
TEST(FmmNearField, HasThePotentialOfALine) {
    Draws draws(8);
    for (int repetition = 0; repetition < 50; ++repetition) {
        const LinePiece piece{draws.in_box(1.0), draws.in_box(1.0), 0.0};
        const Point target = draws.in_box(3.0);
        const double strength = 0.7;
        double potential = 0.0;
        std::array<double, 3> gradient{};
        sum_directly(std::span(&piece, 1), std::span(&target, 1), std::span(&strength, 1), 1, std::span(&potential, 1),
                     gradient);
        constexpr int intervals = 20000;
        double expected = 0.0;
        Point slope;
        for (int i = 0; i <= intervals; ++i) {
            const double weight = (i == 0 || i == intervals ? 1.0 : (i % 2 == 1 ? 4.0 : 2.0)) / (3.0 * intervals);
            const Point from =
                target - (piece.begin + (static_cast<double>(i) / intervals) * (piece.end - piece.begin));
            const double inverse = 1.0 / norm_of(from);
            expected += strength * weight * inverse;
            slope = slope - (strength * weight * std::pow(inverse, 3)) * from;
        }
        EXPECT_NEAR(potential / expected, 1.0, 1e-9);
        EXPECT_NEAR(gradient[0], slope.x, 1e-8 * norm_of(slope));
        EXPECT_NEAR(gradient[1], slope.y, 1e-8 * norm_of(slope));
        EXPECT_NEAR(gradient[2], slope.z, 1e-8 * norm_of(slope));
    }
}

// Inside of the radius, the potential is that at the radius, whatever the direction.
TEST(FmmNearField, IsConstantAcrossThePiece) {
    const LinePiece piece{{-1.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, 0.2};
    const std::vector<Point> targets{{0.3, 0.2, 0.0}, {0.3, 0.0, 0.0}, {0.3, -0.1, 0.1}, {0.3, 0.0, -0.2}};
    const double strength = 3.0;
    std::vector<double> potentials(targets.size());
    std::vector<double> gradients(3 * targets.size());
    sum_directly(std::span(&piece, 1), targets, std::span(&strength, 1), 1, potentials, gradients);
    // As Holt and Koch write it.
    const auto root = [](double h) { return std::sqrt(h * h + 0.04); };
    const double expected = strength / 2.0 * std::log((root(-0.7) + 0.7) / (root(1.3) - 1.3));
    for (const double potential : potentials) EXPECT_NEAR(potential, expected, 1e-14 * expected);
    EXPECT_NEAR(gradients[4], 0.0, 1e-14);
    EXPECT_NEAR(gradients[5], 0.0, 1e-14);
    EXPECT_NEAR(gradients[3], gradients[0], 1e-14);
}

TEST(FmmNearField, HasAccurateLogarithms) {
    Draws draws(9);
    for (int i = 0; i < 100000; ++i) {
        const double d = std::exp(draws.uniform(-20.0, 20.0));
        const double n = d * (1.0 + std::exp(draws.uniform(-30.0, 30.0)));
        const double exact = std::log1p((n - d) / d);
        EXPECT_NEAR(log_ratio(n, d, n - d) / exact, 1.0, 1e-15 + 2e-16 / exact);
        const auto small_d = static_cast<float>(d);
        const auto small_n = static_cast<float>(n);
        const double ratio = (static_cast<double>(small_n) - small_d) / small_d;
        EXPECT_NEAR(log_ratio(small_n, small_d, small_n - small_d), std::log1p(ratio), 4e-7 * std::log1p(ratio))
            << ratio;
    }
    EXPECT_EQ(log_ratio(3.0, 3.0, 0.0), 0.0);
}

}  // namespace TEST_FILE
}  // namespace ranvier::fmm
