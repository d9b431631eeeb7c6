#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <span>
#include <string>
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

/// Points, lines, neutral cells of lines, clusters of different density, many points in one place, and points among lines down
/// to lengths that digits do not hold.
inline Problem make_problem(const std::string& kind, std::size_t count, std::uint64_t seed) {
    Draws draws(seed);
    Problem problem;
    const auto add = [&](const LinePiece& piece, double strength) {
        problem.pieces.push_back(piece);
        problem.strengths.push_back(strength);
    };
    for (std::size_t i = 0; i < count; ++i) {
        const Point place = draws.in_box(1.0);
        if (kind == "points") {
            add({place, place, 0.0}, draws.normal());
        } else if (kind == "lines") {
            add({place, place + 0.1 * draws.direction(), 1e-4}, draws.normal());
        } else if (kind == "cells") {
            // Ten pieces from one point; their strengths sum up to 0.
            double sum = 0.0;
            for (int k = 0; k < 10; ++k) {
                const double strength = k < 9 ? draws.normal() : -sum;
                sum += strength;
                add({place, place + 0.2 * draws.direction(), 1e-4}, strength);
            }
        } else if (kind == "clusters") {
            const double size = std::pow(0.2, static_cast<double>(i % 5));
            const Point at{0.4 * static_cast<double>(i % 5), 0.0, size * draws.normal()};
            add({at, at + (0.1 * size) * draws.direction(), 1e-4 * size}, draws.normal());
        } else if (kind == "short") {
            const double length = i % 2 == 0 ? 0.0 : std::pow(0.1, static_cast<double>(1 + i % 14));
            add({place, place + length * draws.direction(), length == 0.0 ? 0.0 : 1e-3 * length}, draws.normal());
        } else if (kind == "coincident") {
            const Point at = i % 3 == 0 ? Point{0.25, 0.25, 0.25} : place;
            add({at, at, 0.0}, draws.normal());
        }
    }
    for (std::size_t i = 0; i < count; ++i) {
        const LinePiece& piece = problem.pieces[i * problem.pieces.size() / count];
        problem.targets.push_back(i % 2 == 0 ? piece.begin + 0.5 * (piece.end - piece.begin) : draws.in_box(1.2));
    }
    return problem;
}

inline Portion portion_of(const Problem& problem) { return {.pieces = problem.pieces, .targets = problem.targets}; }

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
