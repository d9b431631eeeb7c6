#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "parallel_measurements.hpp"
#include "ranvier/fmm/geometry.hpp"
#include "ranvier/fmm/solver.hpp"
#include "ranvier/parallel/team.hpp"

namespace ranvier::benchmarks {

/// A solver that was made, and evaluated several times.
struct FieldRun {
    double setup_seconds = 0.0;
    std::vector<double> seconds;  ///< of each evaluation
    std::vector<double> potentials;
    fmm::SolverCounts counts;
};

/// Makes a solver, evaluates it once unmeasured, and then `repetitions` times.
/// @param strengths [piece][sample]
/// @throws the exceptions of `poll`; InternalError if the evaluations differ in a bit
FieldRun measure_fields(std::span<const fmm::LinePiece> pieces, std::span<const fmm::Point> targets,
                        std::span<const double> strengths, std::size_t samples, const fmm::SolverOptions& options,
                        parallel::Team& team, std::uint32_t repetitions, const ParallelMeasurement::Poll& poll);

/// Points with uniform charges in [0, 1) at uniform positions in the unit cube, which are also the targets: the input of
/// Morgenstern et al. (2020).
struct UniformPoints {
    std::vector<fmm::LinePiece> pieces;
    std::vector<fmm::Point> targets;
    std::vector<double> strengths;

    explicit UniformPoints(std::uint32_t count);
};

}  // namespace ranvier::benchmarks
