#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "comm/mirror_communicator.hpp"
#include "engine/fields/process_group.hpp"
#include "error_fields.hpp"
#include "fmm/tree.hpp"
#include "fmm_testing.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/fmm/accuracy.hpp"
#include "ranvier/fmm/group.hpp"
#include "ranvier/fmm/solver.hpp"
#include "thread_communicator.hpp"

namespace ranvier::fmm {
namespace TEST_FILE {

/// How pieces and targets are divided among processes.
enum class Dealing : std::uint8_t {
    in_turn,
    in_blocks,
    from_first,  ///< the first process has all pieces, the last one all targets
};

/// What a process has.
struct OwnProblem {
    Problem problem;
    std::vector<std::uint32_t> pieces;
    std::vector<std::uint32_t> targets;

    Portion portion() const {
        return {
            .pieces = problem.pieces, .piece_numbers = pieces, .targets = problem.targets, .target_numbers = targets};
    }
};

OwnProblem deal(const Problem& whole, std::size_t samples, Dealing dealing, std::uint32_t rank, std::uint32_t size) {
    OwnProblem own;
    const auto owner = [&](std::size_t number, std::size_t count, std::uint32_t all_at) -> std::size_t {
        if (dealing == Dealing::in_turn) return number % size;
        return dealing == Dealing::in_blocks ? number * size / count : all_at;
    };
    for (std::size_t i = 0; i < whole.pieces.size(); ++i) {
        if (owner(i, whole.pieces.size(), 0) != rank) continue;
        own.pieces.push_back(static_cast<std::uint32_t>(i));
        own.problem.pieces.push_back(whole.pieces[i]);
        const auto row = whole.strengths.begin() + static_cast<std::ptrdiff_t>(i * samples);
        own.problem.strengths.insert(own.problem.strengths.end(), row, row + static_cast<std::ptrdiff_t>(samples));
    }
    for (std::size_t i = 0; i < whole.targets.size(); ++i) {
        if (owner(i, whole.targets.size(), size - 1) != rank) continue;
        own.targets.push_back(static_cast<std::uint32_t>(i));
        own.problem.targets.push_back(whole.targets[i]);
    }
    return own;
}

/// Calls use(the part of a process, its solver, its group) on some processes.
template <class Use>
void with_solvers(const Problem& whole, std::size_t samples, Dealing dealing, std::uint32_t size,
                  const SolverOptions& options, Use&& use) {
    comm::run_processes(static_cast<std::int32_t>(size), [&](const std::shared_ptr<comm::Communicator>& communicator) {
        const auto rank = static_cast<std::uint32_t>(communicator->rank().value);
        const OwnProblem own = deal(whole, samples, dealing, rank, size);
        engine::ProcessGroup group(*communicator);
        parallel::Team team = make_team(1 + rank % 2);
        Solver solver(own.portion(), options, team, group);
        use(own, solver, group);
    });
}

/// The values of all, and the counts of each process.
std::pair<Values, std::vector<SolverCounts>> solve_in_group(const Problem& whole, std::size_t samples, Dealing dealing,
                                                            std::uint32_t size, const SolverOptions& options) {
    Values all;
    all.potentials.assign(whole.targets.size() * samples, std::numeric_limits<double>::quiet_NaN());
    if (options.has_gradient) all.gradients.assign(3 * all.potentials.size(), 0.0);
    std::vector<SolverCounts> counts(size);
    std::mutex mutex;
    with_solvers(whole, samples, dealing, size, options,
                 [&](const OwnProblem& own, Solver& solver, SolverGroup& group) {
                     Values values;
                     values.potentials.resize(own.targets.size() * samples);
                     if (options.has_gradient) values.gradients.resize(3 * values.potentials.size());
                     // Twice, since nothing of an evaluation may stay.
                     for (int i = 0; i < 2; ++i) {
                         solver.evaluate(own.problem.strengths, samples, values.potentials, values.gradients);
                     }
                     const std::lock_guard lock(mutex);
                     counts[group.member()] = solver.counts();
                     for (std::size_t i = 0; i < values.potentials.size(); ++i) {
                         const std::size_t at = own.targets[i / samples] * samples + i % samples;
                         all.potentials[at] = values.potentials[i];
                         for (std::size_t axis = 0; axis < 3 && options.has_gradient; ++axis) {
                             all.gradients[3 * at + axis] = values.gradients[3 * i + axis];
                         }
                     }
                 });
    return {all, counts};
}

Problem with_samples(Problem problem, std::size_t samples, std::uint64_t seed) {
    Draws draws(seed);
    problem.strengths.resize(problem.pieces.size() * samples);
    for (double& strength : problem.strengths) strength = draws.normal();
    return problem;
}

TEST(FmmGroups, GiveTheBitsOfOneSolver) {
    for (const std::string kind : {"points", "lines", "cells", "clusters", "coincident"}) {
        for (const std::size_t samples : {std::size_t{1}, std::size_t{8}}) {
            Problem problem = with_samples(make_problem(kind, kind == "cells" ? 60 : 500, 41), samples, 42);
            problem.targets.resize(problem.targets.size() * 2 / 3);
            SolverOptions options{.order = 4, .capacity = 12, .has_gradient = kind != "lines"};
            options.keeps_near = kind == "lines";
            options.precision = kind == "cells" ? Precision::float32 : Precision::float64;
            const Values whole = solve(problem, options, 1, samples);
            for (const std::uint32_t size : {2U, 3U, 7U}) {
                for (const Dealing dealing : {Dealing::in_turn, Dealing::in_blocks, Dealing::from_first}) {
                    EXPECT_EQ(solve_in_group(problem, samples, dealing, size, options).first, whole)
                        << kind << " on " << size;
                }
            }
        }
    }
}

TEST(FmmGroups, ReflectAtAPlane) {
    Problem problem = make_problem("lines", 300, 43);
    for (LinePiece& piece : problem.pieces) {
        piece.begin.z = std::abs(piece.begin.z);
        piece.end.z = std::abs(piece.end.z);
    }
    for (Point& target : problem.targets) target.z = std::abs(target.z);
    const SolverOptions options{.order = 3, .capacity = 10, .plane = Plane{{}, {0.0, 0.0, -1.0}, 0.5}};
    const Values whole = solve(problem, options);
    EXPECT_NE(whole, solve(problem, {.order = 3, .capacity = 10}));
    EXPECT_EQ(solve_in_group(problem, 1, Dealing::in_turn, 3, options).first, whole);
}

// Also where some processes, or all, have nothing.
TEST(FmmGroups, WorkWithFewSourcesAndTargets) {
    for (const auto& [pieces, targets] : {std::pair<std::size_t, std::size_t>{0, 0}, {0, 3}, {2, 0}, {1, 5}, {30, 2}}) {
        Problem problem = make_problem("lines", 30, 44);
        problem.pieces.resize(pieces);
        problem.strengths.resize(pieces);
        problem.targets.resize(targets);
        const SolverOptions options{.order = 2, .capacity = 2};
        EXPECT_EQ(solve_in_group(problem, 1, Dealing::in_blocks, 5, options).first, solve(problem, options)) << pieces;
    }
}

// No process has all places: those in its leaves and near them. The work is divided, and no pair is calculated twice.
TEST(FmmGroups, HoldTheirLeavesAndWhatIsNearThem) {
    const Problem problem = make_problem("points", 12000, 45);
    const SolverOptions options{.order = 2, .capacity = 20};
    parallel::Team team = make_team(1);
    const SolverCounts whole = Solver(problem.pieces, problem.targets, options, team).counts();
    EXPECT_EQ(whole.pieces, problem.pieces.size());
    for (const Dealing dealing : {Dealing::in_turn, Dealing::in_blocks}) {
        const auto counts = solve_in_group(problem, 1, dealing, 8, options).second;
        std::uint64_t pairs = 0;
        std::uint64_t pieces = 0;
        std::uint64_t operations = 0;
        for (const SolverCounts& each : counts) {
            EXPECT_EQ(each.boxes, whole.boxes);
            EXPECT_EQ(each.depth, whole.depth);
            EXPECT_LT(each.pieces, problem.pieces.size() / 2);
            EXPECT_LT(each.bytes, whole.bytes / 2);
            EXPECT_LT(each.sample_bytes, whole.sample_bytes / 2);
            EXPECT_LT(each.operations, whole.operations / 5);
            pairs += each.near_pairs;
            pieces += each.pieces;
            operations += each.operations;
        }
        EXPECT_EQ(pairs, whole.near_pairs);
        EXPECT_GE(pieces, whole.pieces);
        EXPECT_LT(static_cast<double>(operations), 1.1 * static_cast<double>(whole.operations));
    }
}

TEST(FmmGroups, HaveTheTreeOfAll) {
    const Problem problem = make_problem("clusters", 800, 46);
    const Tree whole(problem.pieces, problem.targets, {.capacity = 10});
    comm::run_processes(3, [&](const std::shared_ptr<comm::Communicator>& communicator) {
        const auto rank = static_cast<std::uint32_t>(communicator->rank().value);
        const OwnProblem own = deal(problem, 1, Dealing::in_turn, rank, 3);
        engine::ProcessGroup group(*communicator);
        const Tree tree(own.problem.pieces, own.problem.targets, {.capacity = 10}, group);
        ASSERT_EQ(tree.boxes().size(), whole.boxes().size());
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < tree.boxes().size(); ++i) {
            const Box& a = tree.boxes()[i];
            const Box& b = whole.boxes()[i];
            if (a.parent != b.parent || a.children != b.children || !(a.centre == b.centre) || a.sources != b.sources ||
                a.targets != b.targets || a.radius != b.radius) {
                ++wrong;
            }
        }
        EXPECT_EQ(wrong, 0U);
        EXPECT_LT(tree.parts().size(), whole.parts().size() / 2);
    });
}

TEST(FmmGroups, FindTargetsInsidePieces) {
    Problem problem = make_problem("lines", 300, 47);
    problem.targets.clear();
    Draws draws(48);
    for (int i = 0; i < 300; ++i) problem.targets.push_back(draws.in_box(1.0));
    const SolverOptions options{.order = 2, .capacity = 8};
    using Found = std::optional<std::pair<std::size_t, std::size_t>>;
    Found expected;
    for (const std::size_t target : {300U, 120U, 40U}) {
        if (target < 300) {
            const LinePiece& piece = problem.pieces[target + 100];
            const Point along = piece.end - piece.begin;
            const Point aside{along.y, -along.x, 0.0};
            problem.targets[target] = piece.begin + 0.3 * along + (0.9 * piece.radius / norm_of(aside)) * aside;
            expected.emplace(target, target + 100);
        }
        with_solvers(problem, 1, Dealing::in_turn, 3, options,
                     [&](const OwnProblem& own, Solver& solver, SolverGroup&) {
                         EXPECT_EQ(solver.find_inside(own.problem.targets), expected);
                     });
    }
}

TEST(FmmGroups, MeasureTheSameAccuracy) {
    const Problem problem = make_problem("lines", 500, 49);
    const SolverOptions options{.order = 3, .capacity = 10};
    parallel::Team team = make_team(1);
    Solver alone(problem.pieces, problem.targets, options, team);
    const double accuracy = measure_accuracy(alone, portion_of(problem));
    const std::uint32_t fitted = fit_options(1e-3, portion_of(problem), team).order;
    EXPECT_GT(accuracy, 1e-5);
    EXPECT_LT(accuracy, 1e-1);
    const std::vector<Point> some(problem.targets.begin(), problem.targets.begin() + 20);
    std::vector<double> exact(20);
    sum_directly(problem.pieces, some, problem.strengths, 1, exact);
    for (const Dealing dealing : {Dealing::in_turn, Dealing::from_first}) {
        with_solvers(problem, 1, dealing, 3, options, [&](const OwnProblem& own, Solver& solver, SolverGroup& group) {
            EXPECT_EQ(measure_accuracy(solver, own.portion(), std::nullopt, 64, group), accuracy);
            parallel::Team one = make_team(1);
            EXPECT_EQ(fit_options(1e-3, own.portion(), one, 64, group).order, fitted);
            std::vector<double> sums(20);
            sum_in_group(own.problem.pieces, some, own.problem.strengths, 1, sums, std::nullopt, group);
            EXPECT_LT(relative_error(sums, exact), 1e-9);
            (void)fields_of<ValueOutOfBoundsError>(
                [&] { check_accuracy(0.5 * accuracy, solver, own.portion(), std::nullopt, 64, group); },
                {"accuracy", to_text(accuracy), "64 of 500 targets"});
        });
    }
}

// A wrong piece of one process is an error on all of them.
TEST(FmmGroups, FailTogether) {
    const Problem problem = make_problem("points", 20, 50);
    comm::run_processes(3, [&](const std::shared_ptr<comm::Communicator>& communicator) {
        const auto rank = static_cast<std::uint32_t>(communicator->rank().value);
        OwnProblem own = deal(problem, 1, Dealing::in_turn, rank, 3);
        engine::ProcessGroup group(*communicator);
        parallel::Team team = make_team(1);
        if (rank == 1) own.problem.pieces[2].begin.y = std::numeric_limits<double>::quiet_NaN();
        const auto make = [&] { (void)Solver(own.portion(), {}, team, group).counts(); };
        if (rank == 1) {
            (void)fields_of<ValueOutOfBoundsError>(make, {"line piece 7", "nan"});
        } else {
            (void)fields_of<RemoteError>(make, {"solver 1"});
        }
        own = deal(problem, 1, Dealing::in_turn, rank, 3);
        if (rank == 2) own.targets.pop_back();
        const auto again = [&] { (void)Solver(own.portion(), {}, team, group).counts(); };
        if (rank == 2) {
            (void)fields_of<ShapeError>(again, {"numbers of targets", "5", "6"});
        } else {
            (void)fields_of<RemoteError>(again, {"solver 2"});
        }
    });
}

// The only process of a dry run has all sources and targets. It takes the memory of one of many, and computes its part.
TEST(FmmGroups, HaveAMemberOfADryRun) {
    const Problem problem = make_problem("points", 4000, 51);
    const SolverOptions options{.order = 2, .capacity = 20};
    const OwnProblem all = deal(problem, 1, Dealing::in_turn, 0, 1);
    const auto communicator = comm::make_mirror_communicator(4);
    engine::ProcessGroup group(*communicator);
    parallel::Team team = make_team(1);
    Solver solver(all.portion(), options, team, group);
    std::vector<double> potentials(problem.targets.size());
    solver.evaluate(problem.strengths, 1, potentials);
    const auto zeros = std::ranges::count(potentials, 0.0);
    EXPECT_GT(zeros, 2600);
    EXPECT_LT(zeros, 3400);
    const auto counts = solve_in_group(problem, 1, Dealing::in_turn, 4, options).second;
    EXPECT_EQ(solver.counts().pieces, counts[0].pieces);
    EXPECT_EQ(solver.counts().operations, counts[0].operations);
    EXPECT_NEAR(static_cast<double>(solver.counts().bytes), static_cast<double>(counts[0].bytes),
                0.1 * static_cast<double>(counts[0].bytes));
}

}  // namespace TEST_FILE
}  // namespace ranvier::fmm
