#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "error_fields.hpp"
#include "fmm_testing.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/fmm/accuracy.hpp"

namespace ranvier::fmm {
namespace TEST_FILE {

/// Uniform or clustered points or line pieces, with targets at other places.
Problem make_accuracy_problem(bool are_points, bool are_clustered) {
    Draws draws(41);
    Problem problem;
    const auto draw_place = [&](int i) {
        if (!are_clustered) return draws.in_box(1.0);
        const double size = std::pow(0.25, i % 4);
        return Point{0.5 * (i % 4), 0.0, 0.0} + size * draws.in_box(0.4);
    };
    for (int i = 0; i < 3000; ++i) {
        const Point place = draw_place(i);
        problem.pieces.push_back({place, are_points ? place : place + 0.03 * draws.direction(), 0.0});
        problem.targets.push_back(draw_place(i));
    }
    return problem;
}

TEST(FmmAccuracy, IsReachedByWhatIsChosenForIt) {
    parallel::Team team = make_team(2);
    for (const bool are_points : {true, false}) {
        for (const bool are_clustered : {true, false}) {
            const Problem problem = make_accuracy_problem(are_points, are_clustered);
            for (const double accuracy : {1e-1, 1e-2, 1e-3, 1e-4, 1e-5, finest_accuracy}) {
                // The matrices of high orders take long to make.
                if (accuracy < 1e-5 && (!are_points || !are_clustered)) continue;
                SolverOptions options = choose_options(accuracy, 3000, 3000, are_points);
                // More boxes, so that the far field counts as in larger problems.
                options.capacity = std::min<std::uint32_t>(options.capacity, 100);
                Solver solver(problem.pieces, problem.targets, options, team);
                EXPECT_LE(measure_accuracy(solver, portion_of(problem)), accuracy)
                    << are_points << are_clustered << " " << accuracy;
            }
        }
    }
}

TEST(FmmAccuracy, OrdersAreFittedToAProblem) {
    parallel::Team team = make_team(2);
    const Problem problem = make_accuracy_problem(false, false);
    for (const double accuracy : {1e-1, 1e-3, 1e-4}) {
        SolverOptions options = fit_options(accuracy, portion_of(problem), team);
        EXPECT_LE(options.order, choose_options(accuracy, 3000, 3000, false).order);
        const auto measure = [&] {
            Solver solver(problem.pieces, problem.targets, options, team);
            return measure_accuracy(solver, portion_of(problem));
        };
        EXPECT_LE(measure(), accuracy);
        if (options.order == 1) continue;
        --options.order;
        EXPECT_GT(1.5 * measure(), accuracy);
    }
}

TEST(FmmAccuracy, ThatIsNotReachedIsAnError) {
    parallel::Team team = make_team(1);
    const Problem problem = make_accuracy_problem(true, false);
    Solver solver(problem.pieces, problem.targets, {.order = 2, .capacity = 20}, team);
    const double reached = measure_accuracy(solver, portion_of(problem));
    EXPECT_GT(reached, 1e-4);
    EXPECT_NO_THROW(check_accuracy(1.01 * reached, solver, portion_of(problem)));
    (void)fields_of<ValueOutOfBoundsError>([&] { check_accuracy(0.5 * reached, solver, portion_of(problem)); },
                                           {"accuracy", to_text(reached), "64 of 3000 targets", "sum directly"});
    const std::vector<Point> nowhere;
    Solver without_targets(problem.pieces, nowhere, {}, team);
    EXPECT_EQ(measure_accuracy(without_targets, {.pieces = problem.pieces, .targets = nowhere}), 0.0);
}

TEST(FmmAccuracy, ChoicesHaveBounds) {
    for (const double accuracy : {0.2, 1e-8, 0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
        (void)fields_of<ValueOutOfBoundsError>([&] { choose_options(accuracy, 10, 10, true); },
                                               {"accuracy", to_text(accuracy), "from 1e-07 to 0.1"});
    }
    // What counts is the product of the numbers of sources and targets in a box.
    EXPECT_GT(choose_options(1e-3, 1'000'000, 100, false).capacity, choose_options(1e-3, 1000, 1000, false).capacity);
    EXPECT_EQ(choose_options(1e-3, 0, 0, true).order, choose_options(1e-3, 100, 100, true).order);
    EXPECT_EQ(choose_options(1e-3, 100, 100, true).precision, Precision::float32);
    EXPECT_EQ(choose_options(1e-6, 100, 100, true).precision, Precision::float64);
}

}  // namespace TEST_FILE
}  // namespace ranvier::fmm
