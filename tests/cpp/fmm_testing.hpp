#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "ranvier/fmm/geometry.hpp"
#include "ranvier/fmm/solver.hpp"
#include "ranvier/parallel/pinning.hpp"
#include "ranvier/parallel/team.hpp"

namespace ranvier::fmm {

inline double norm_of(const Point& point) { return std::sqrt(dot(point, point)); }

/// Random numbers for tests.
class Draws {
   public:
    explicit Draws(std::uint64_t seed) : engine_(seed) {}

    double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine_); }
    double normal() { return std::normal_distribution<double>()(engine_); }
    Point in_box(double half) { return {uniform(-half, half), uniform(-half, half), uniform(-half, half)}; }
    Point direction() {
        const Point point{normal(), normal(), normal()};
        return (1.0 / norm_of(point)) * point;
    }

   private:
    std::mt19937_64 engine_;
};

/// Sources, targets and strengths of one sample.
struct Problem {
    std::vector<LinePiece> pieces;
    std::vector<Point> targets;
    std::vector<double> strengths;
};

inline parallel::Team make_team(std::uint32_t workers,
                                parallel::StealingPolicy stealing = parallel::StealingPolicy::local_and_remote) {
    return parallel::Team(std::vector<parallel::Place>(workers), {.stealing = stealing});
}

struct Values {
    std::vector<double> potentials;
    std::vector<double> gradients;

    friend bool operator==(const Values&, const Values&) = default;
};

inline Values solve(const Problem& problem, SolverOptions options, std::uint32_t workers = 1, std::size_t samples = 1,
                    parallel::StealingPolicy stealing = parallel::StealingPolicy::local_and_remote) {
    parallel::Team team(std::vector<parallel::Place>(workers), {.stealing = stealing});
    Solver solver(problem.pieces, problem.targets, options, team);
    Values values;
    values.potentials.resize(problem.targets.size() * samples);
    if (options.has_gradient) values.gradients.resize(values.potentials.size() * 3);
    solver.evaluate(problem.strengths, samples, values.potentials, values.gradients);
    return values;
}

inline Values solve_directly(const Problem& problem, std::size_t samples = 1,
                             const std::optional<Plane>& plane = std::nullopt) {
    Values values;
    values.potentials.resize(problem.targets.size() * samples);
    values.gradients.resize(values.potentials.size() * 3);
    sum_directly(problem.pieces, problem.targets, problem.strengths, samples, values.potentials, values.gradients,
                 plane);
    return values;
}

/// The root of the sum of squared differences, relative to that of the values.
inline double relative_error(std::span<const double> values, std::span<const double> exact) {
    double error = 0.0;
    double size = 0.0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
        error += (values[i] - exact[i]) * (values[i] - exact[i]);
        size += exact[i] * exact[i];
    }
    return std::sqrt(error / size);
}

}  // namespace ranvier::fmm
