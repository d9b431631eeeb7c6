#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "error_fields.hpp"
#include "fmm/tree.hpp"
#include "fmm_testing.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/base/instruction_set.hpp"
#include "ranvier/fmm/accuracy.hpp"

namespace ranvier::fmm {
namespace TEST_FILE {

using parallel::StealingPolicy;

// The error falls geometrically with the order: from one order to the one four higher by at least 3.
TEST(FmmSolver, ConvergesToTheDirectSum) {
    for (const std::string kind : {"points", "lines", "cells", "clusters", "coincident", "short"}) {
        const Problem problem = make_problem(kind, kind == "cells" ? 150 : 600, 11);
        const Values exact = solve_directly(problem);
        double before = std::numeric_limits<double>::infinity();
        double gradient_before = before;
        for (std::uint32_t order = 0; order <= 16; order += 4) {
            const Values values = solve(problem, {.order = order, .capacity = 20, .has_gradient = true});
            const double error = relative_error(values.potentials, exact.potentials);
            const double gradient_error = relative_error(values.gradients, exact.gradients);
            EXPECT_LT(error, before / 3.0) << kind << " " << order;
            EXPECT_LT(gradient_error, gradient_before / 3.0) << kind << " " << order;
            EXPECT_GT(error, 1e-13) << kind << ": nothing is expanded";
            before = error;
            gradient_before = gradient_error;
        }
        EXPECT_LT(before, 1e-7) << kind;
    }
}

TEST(FmmSolver, IsExactWithinOneBoxAndWithoutSources) {
    Problem problem = make_problem("lines", 50, 12);
    const Values exact = solve_directly(problem);
    EXPECT_LT(relative_error(solve(problem, {.order = 0, .capacity = 1000}).potentials, exact.potentials), 1e-13);

    problem.pieces.clear();
    problem.strengths.clear();
    for (const double value : solve(problem, {}).potentials) EXPECT_EQ(value, 0.0);
    problem.targets.clear();
    EXPECT_TRUE(solve(problem, {}).potentials.empty());
    Problem one{{{{1.0, 2.0, 3.0}, {1.0, 2.0, 3.0}, 0.0}}, {{1.0, 2.0, 3.0}, {1.0, 2.0, 5.0}}, {4.0}};
    EXPECT_EQ(solve(one, {.capacity = 1}).potentials, (std::vector<double>{0.0, 2.0}));
}

// Points far from all sources, in boxes without sources; sources in boxes without targets.
TEST(FmmSolver, HandlesTargetsApartFromSources) {
    Problem problem = make_problem("cells", 100, 13);
    problem.targets.clear();
    Draws draws(14);
    for (int i = 0; i < 500; ++i) problem.targets.push_back(Point{8.0, 0.0, 0.0} + draws.in_box(0.5));
    const Values exact = solve_directly(problem);
    const Values values = solve(problem, {.order = 14, .capacity = 10, .has_gradient = true});
    EXPECT_LT(relative_error(values.potentials, exact.potentials), 1e-6);
    EXPECT_LT(relative_error(values.gradients, exact.gradients), 1e-5);
    // A dipole's field: the potential of neutral cells falls with the square of the distance.
    const std::array<Point, 2> two{Point{40.0, 3.0, -2.0}, Point{80.0, 6.0, -4.0}};
    problem.targets.assign(two.begin(), two.end());
    const std::vector<double> far = solve(problem, {.order = 8, .capacity = 10}).potentials;
    EXPECT_NEAR(far[0] / far[1], 4.0, 0.2);
}

TEST(FmmSolver, GivesTheSameBitsForAnyTeam) {
    for (const Translation translation : {Translation::dense, Translation::rotation}) {
        for (const Precision precision : {Precision::float32, Precision::float64}) {
            const Problem problem = make_problem("clusters", 800, 15);
            const SolverOptions options{
                .order = 5, .capacity = 12, .translation = translation, .precision = precision, .has_gradient = true};
            const Values one = solve(problem, options);
            const Values exact = solve_directly(problem);
            EXPECT_LT(relative_error(one.potentials, exact.potentials), 1e-3);
            for (const StealingPolicy stealing : {StealingPolicy::local_and_remote, StealingPolicy::local_only}) {
                EXPECT_EQ(solve(problem, options, 3, 1, stealing), one);
            }
            for (const InstructionSet set : available_instruction_sets()) {
                SolverOptions with_set = options;
                with_set.instruction_set = set;
                EXPECT_EQ(solve(problem, with_set, 2), one) << to_string(set);
            }
        }
    }
}

TEST(FmmSolver, KeepsNearPairs) {
    Problem problem = make_problem("lines", 600, 31);
    const SolverOptions options{.order = 4, .capacity = 12};
    const Values whole = solve(problem, options, 1, 1);
    double square = 0.0;
    for (const double potential : whole.potentials) square += potential * potential;
    const double scale = std::sqrt(square / static_cast<double>(whole.potentials.size()));
    for (const Precision precision : {Precision::float64, Precision::float32}) {
        SolverOptions keeping = options;
        keeping.precision = precision;
        keeping.keeps_near = true;
        const Values kept = solve(problem, keeping, 1, 1);
        const double bound = (precision == Precision::float64 ? 1e-13 : 1e-5) * scale;
        for (std::size_t i = 0; i < kept.potentials.size(); ++i) {
            EXPECT_NEAR(kept.potentials[i], whole.potentials[i], bound);
        }
        keeping.instruction_set = InstructionSet::baseline;
        EXPECT_EQ(solve(problem, keeping, 3, 1).potentials, kept.potentials);
    }
}

/// Where leaves have different sizes, more pairs are kept than would be calculated.
TEST(FmmSolver, KeepsPairsOfClusters) {
    const Problem problem = make_problem("clusters", 2000, 32);
    SolverOptions options{.order = 6, .capacity = 20, .precision = Precision::float32};
    parallel::Team team = make_team(2);
    Solver calculating(problem.pieces, problem.targets, options, team);
    options.keeps_near = true;
    Solver keeping(problem.pieces, problem.targets, options, team);
    EXPECT_GT(keeping.counts().near_pairs, calculating.counts().near_pairs);
    EXPECT_LE(measure_accuracy(keeping, portion_of(problem)), measure_accuracy(calculating, portion_of(problem)));

    // A sample has the bits that it has alone.
    constexpr std::size_t samples = 5;
    std::vector<double> strengths(problem.pieces.size() * samples);
    Draws draws(33);
    for (double& strength : strengths) strength = draws.in_box(1.0).x;
    std::vector<double> together(problem.targets.size() * samples);
    keeping.evaluate(strengths, samples, together);
    std::vector<double> alone(problem.pieces.size());
    std::vector<double> potentials(problem.targets.size());
    for (std::size_t t = 0; t < samples; ++t) {
        for (std::size_t i = 0; i < alone.size(); ++i) alone[i] = strengths[i * samples + t];
        keeping.evaluate(alone, 1, potentials);
        for (std::size_t i = 0; i < potentials.size(); ++i) EXPECT_EQ(together[i * samples + t], potentials[i]);
    }
}

TEST(FmmSolver, FindsTargetsInsidePieces) {
    Problem problem = make_problem("lines", 300, 21);
    problem.targets.clear();
    Draws draws(22);
    for (int i = 0; i < 300; ++i) problem.targets.push_back(draws.in_box(1.0));
    parallel::Team team = make_team(1);
    const SolverOptions options{.order = 2, .capacity = 8};
    EXPECT_FALSE(Solver(problem.pieces, problem.targets, options, team).find_inside(problem.targets));
    for (const std::size_t target : {120U, 40U}) {
        const LinePiece& piece = problem.pieces[target + 100];
        const Point along = piece.end - piece.begin;
        const Point aside{along.y, -along.x, 0.0};
        problem.targets[target] = piece.begin + 0.3 * along + (0.9 * piece.radius / norm_of(aside)) * aside;
        const auto inside = Solver(problem.pieces, problem.targets, options, team).find_inside(problem.targets);
        EXPECT_EQ(inside, std::pair(target, target + 100));
    }
}

TEST(FmmSolver, GivesEachSampleTheSameBits) {
    Problem problem = make_problem("clusters", 400, 16);
    Draws draws(17);
    constexpr std::size_t samples = 11;
    const std::size_t pieces = problem.pieces.size();
    std::vector<double> strengths(pieces * samples);
    for (double& strength : strengths) strength = draws.normal();
    // In larger leaves, the sources near a target are summed in pieces.
    for (const auto& [translation, capacity] :
         {std::pair{Translation::dense, 12U}, {Translation::dense, 90U}, {Translation::rotation, 40U}}) {
        const SolverOptions options{.order = 4, .capacity = capacity, .translation = translation, .has_gradient = true};
        problem.strengths = strengths;
        const Values all = solve(problem, options, 2, samples);
        problem.strengths.resize(pieces);
        for (std::size_t t = 0; t < samples; ++t) {
            for (std::size_t i = 0; i < pieces; ++i) problem.strengths[i] = strengths[i * samples + t];
            const Values one = solve(problem, options);
            double difference = 0.0;
            for (std::size_t i = 0; i < problem.targets.size(); ++i) {
                EXPECT_EQ(all.potentials[i * samples + t], one.potentials[i]);
                for (std::size_t axis = 0; axis < 3; ++axis) {
                    difference = std::max(difference, std::abs(all.gradients[(i * samples + t) * 3 + axis] -
                                                               one.gradients[i * 3 + axis]));
                }
            }
            EXPECT_EQ(difference, 0.0);
        }
    }
}

// The same solver again and again, with other numbers of samples.
TEST(FmmSolver, CanBeUsedAgain) {
    const Problem problem = make_problem("lines", 300, 18);
    parallel::Team team(std::vector<parallel::Place>(2));
    Solver solver(problem.pieces, problem.targets, {.order = 3, .capacity = 10}, team);
    std::vector<double> first(300);
    solver.evaluate(problem.strengths, 1, first);
    std::vector<double> strengths(300 * 3);
    for (std::size_t i = 0; i < 300; ++i) strengths[3 * i + 1] = problem.strengths[i];
    std::vector<double> potentials(300 * 3);
    solver.evaluate(strengths, 3, potentials);
    for (std::size_t i = 0; i < 300; ++i) {
        EXPECT_EQ(potentials[3 * i], 0.0);
        EXPECT_EQ(potentials[3 * i + 1], first[i]);
    }
    std::vector<double> again(300);
    solver.evaluate(problem.strengths, 1, again);
    EXPECT_EQ(again, first);
}

TEST(FmmSolver, ReflectsAtAPlane) {
    Problem problem = make_problem("lines", 200, 19);
    for (LinePiece& piece : problem.pieces) {
        piece.begin.z = std::abs(piece.begin.z);
        piece.end.z = std::abs(piece.end.z);
    }
    for (Point& target : problem.targets) target.z = std::abs(target.z);
    // An earthed plane has the potential 0; an insulating one no field through it.
    for (Point& target : problem.targets) target.z = 0.0;
    const double size = 1.0;
    for (const double image : {-1.0, 1.0}) {
        const Plane plane{{5.0, -3.0, 0.0}, {0.0, 0.0, -2.0}, image};
        const Values exact = solve_directly(problem, 1, plane);
        const Values values = solve(problem, {.order = 10, .capacity = 10, .has_gradient = true, .plane = plane});
        for (std::size_t i = 0; i < problem.targets.size(); ++i) {
            if (image < 0.0) {
                EXPECT_NEAR(exact.potentials[i], 0.0, 1e-12 * size);
                EXPECT_NEAR(values.potentials[i], 0.0, 1e-3 * size);
            } else {
                EXPECT_NEAR(exact.gradients[3 * i + 2], 0.0, 1e-9 * size);
            }
        }
        if (image > 0.0) {
            EXPECT_LT(relative_error(values.potentials, exact.potentials), 1e-5);
        }
    }
}

TEST(FmmTree, CutsPiecesAtTheFacesOfLeaves) {
    const Problem problem = make_problem("lines", 500, 20);
    const Tree tree(problem.pieces, problem.targets, {.capacity = 16});
    std::vector<double> lengths(problem.pieces.size(), 0.0);
    std::size_t leaves = 0;
    for (std::uint32_t number = 0; number < tree.boxes().size(); ++number) {
        const Box& box = tree.boxes()[number];
        const double half = 0.5 * tree.side(box.level) * (1.0 + 1e-6);
        if (box.is_leaf()) ++leaves;
        for (std::uint64_t i = tree.parts_begin(number); i < tree.parts_end(number); ++i) {
            const SourcePart& part = tree.parts()[i];
            lengths[part.piece] += part.end - part.begin;
            const LinePiece& piece = problem.pieces[part.piece];
            for (const double end : {part.begin, part.end}) {
                const Point place = piece.begin + end * (piece.end - piece.begin) - box.centre;
                EXPECT_LE(std::max({std::abs(place.x), std::abs(place.y), std::abs(place.z)}), half);
            }
        }
        for (std::uint64_t i = tree.targets_begin(number); i < tree.targets_end(number); ++i) {
            const Point place = problem.targets[tree.targets()[i]] - box.centre;
            EXPECT_LE(std::max({std::abs(place.x), std::abs(place.y), std::abs(place.z)}), half);
        }
    }
    for (const double length : lengths) EXPECT_NEAR(length, 1.0, 1e-12);
    EXPECT_GT(leaves, 50U);
    EXPECT_GT(tree.parts().size(), problem.pieces.size());
}

// Each source acts on each target exactly once, through one of the lists.
TEST(FmmTree, ListsEachPairOfLeavesOnce) {
    const Problem problem = make_problem("clusters", 1000, 21);
    const Tree tree(problem.pieces, problem.targets, {.capacity = 8});
    const BoxLists lists(tree, 3, 3);
    const auto boxes = tree.boxes();
    std::vector<std::vector<std::uint32_t>> leaves_below(boxes.size());
    std::vector<std::uint32_t> index(boxes.size(), 0);
    std::uint32_t leaves = 0;
    for (std::uint32_t number = 0; number < boxes.size(); ++number) {
        if (!boxes[number].is_leaf()) continue;
        index[number] = leaves++;
        for (std::uint32_t above = number; above != no_box; above = boxes[above].parent) {
            leaves_below[above].push_back(index[number]);
        }
    }
    std::vector<int> times(std::size_t{leaves} * leaves, 0);
    const auto add = [&](const BoxLists::Rows& rows) {
        for (std::uint32_t target = 0; target < boxes.size(); ++target) {
            for (const std::uint32_t source : rows.row(target)) {
                for (const std::uint32_t a : leaves_below[target]) {
                    for (const std::uint32_t b : leaves_below[source]) ++times[std::size_t{a} * leaves + b];
                }
            }
        }
    };
    add(lists.near());
    add(lists.same_level());
    add(lists.smaller());
    add(lists.larger());
    std::size_t wrong = 0;
    for (std::uint32_t a = 0; a < boxes.size(); ++a) {
        if (!boxes[a].is_leaf() || boxes[a].targets == 0) continue;
        for (std::uint32_t b = 0; b < boxes.size(); ++b) {
            if (!boxes[b].is_leaf() || boxes[b].sources == 0) continue;
            if (times[std::size_t{index[a]} * leaves + index[b]] != 1) ++wrong;
        }
    }
    EXPECT_EQ(wrong, 0U);
    for (const auto* rows : {&lists.near(), &lists.same_level(), &lists.smaller(), &lists.larger()}) {
        EXPECT_FALSE(rows->boxes.empty());
    }
}

TEST(FmmSolver, ChecksItsInput) {
    parallel::Team team(std::vector<parallel::Place>(1));
    const std::vector<LinePiece> pieces{{{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, 0.1}};
    const std::vector<Point> targets{{0.0, 1.0, 0.0}};
    const auto make = [&](const SolverOptions& options) { return Solver(pieces, targets, options, team).counts(); };
    (void)fields_of<ValueOutOfBoundsError>([&] { make({.order = 21}); }, {"order", "21", "from 0 to 20"});
    (void)fields_of<ValueOutOfBoundsError>([&] { make({.depth = 21}); }, {"depth", "21"});
    (void)fields_of<ValueOutOfBoundsError>([&] { make({.capacity = 0}); }, {"capacity", "0"});
    (void)fields_of<StateError>([&] { make({.has_gradient = true, .keeps_near = true}); }, {"near pairs", "gradients"});
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const std::vector<LinePiece> hostile{{{0.0, nan, 0.0}, {1.0, 0.0, 0.0}, 0.1}};
    (void)fields_of<ValueOutOfBoundsError>([&] { Solver(hostile, targets, {}, team); },
                                           {"line piece 0", "nan", "finite"});
    const std::vector<LinePiece> thin{{{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, -0.1}};
    (void)fields_of<ValueOutOfBoundsError>([&] { Solver(thin, targets, {}, team); }, {"line piece 0", "-0.1"});
    const std::vector<Point> nowhere{{0.0, 0.0, std::numeric_limits<double>::infinity()}};
    (void)fields_of<ValueOutOfBoundsError>([&] { Solver(pieces, nowhere, {}, team); }, {"target 0", "inf"});
    Solver solver(pieces, targets, {}, team);
    std::vector<double> one(1);
    std::vector<double> three(3);
    (void)fields_of<ShapeError>([&] { solver.evaluate(three, 1, one); }, {"strengths", "3", "1"});
    (void)fields_of<ShapeError>([&] { solver.evaluate(one, 1, three); }, {"potentials", "3", "1"});
    (void)fields_of<StateError>([&] { solver.evaluate(one, 1, one, three); }, {"gradients", "has_gradient"});
}

}  // namespace TEST_FILE
}  // namespace ranvier::fmm
