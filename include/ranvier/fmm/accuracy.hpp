#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "ranvier/fmm/geometry.hpp"
#include "ranvier/fmm/solver.hpp"

/// The accuracy of the fast multipole method: the root mean square of the errors of potentials, relative to the root mean
/// square of these potentials, for independent random strengths.
namespace ranvier::fmm {

/// The finest accuracy for which there is a choice: clustered problems reach it.
inline constexpr double finest_accuracy = 1e-7;

/// Order, capacity and precision for an accuracy: those with the least time in measurements of uniform and clustered
/// problems (docs/design/fmm.md). All other options have their defaults.
/// @param accuracy from finest_accuracy to 0.1
/// @param sources, targets their numbers
/// @param are_points whether all line pieces are points
/// @throws ValueOutOfBoundsError for an accuracy out of bounds
SolverOptions choose_options(double accuracy, std::uint64_t sources, std::uint64_t targets, bool are_points);

/// choose_options() with the lowest order that reaches the accuracy for a problem, with a third in reserve, since it is measured
/// at a sample of targets: for a problem that is evaluated many times. Each order that is tried takes as much time as
/// measure_accuracy() and a solver.
/// @throws ValueOutOfBoundsError for an accuracy out of bounds
/// @param given, group as those of the solver
/// @note Collective.
SolverOptions fit_options(double accuracy, const Portion& given, parallel::Team& team, std::size_t sample_size = 64,
                          SolverGroup& group = lone_group());

/// The accuracy of a solver at some of its targets, from a direct sum over all sources. Takes one evaluation, and some
/// 25 ns for each source and target of the sample on one processor. It has the same bits for any division into members.
/// @param given, group, plane those of the solver
/// @param sample_size number of targets, spread over all of them
/// @note Collective.
double measure_accuracy(Solver& solver, const Portion& given, const std::optional<Plane>& plane = std::nullopt,
                        std::size_t sample_size = 64, SolverGroup& group = lone_group());

/// Measures the accuracy of a solver.
/// @throws ValueOutOfBoundsError when it is worse than `accuracy`: names what was reached
/// @note Collective.
void check_accuracy(double accuracy, Solver& solver, const Portion& given,
                    const std::optional<Plane>& plane = std::nullopt, std::size_t sample_size = 64,
                    SolverGroup& group = lone_group());

}  // namespace ranvier::fmm
