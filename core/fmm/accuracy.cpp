#include "ranvier/fmm/accuracy.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "ranvier/base/errors.hpp"

namespace ranvier::fmm {

namespace {

/// Order and best capacity of an accuracy, as measured.
struct OrderChoice {
    double accuracy;  ///< reached by uniform and clustered problems
    std::uint32_t order;
    std::uint32_t point_capacity;
    std::uint32_t line_capacity;
};

constexpr std::array<OrderChoice, 12> choices{{
    {1e-1, 1, 210, 130},
    {2e-2, 2, 230, 140},
    {1e-2, 3, 250, 150},
    {2e-3, 4, 270, 160},
    {1e-3, 5, 320, 180},
    {2.5e-4, 6, 370, 210},
    {1e-4, 7, 450, 240},
    {3e-5, 8, 540, 280},
    {1e-5, 10, 680, 310},
    {1e-6, 13, 1400, 600},
    {3e-7, 15, 1900, 800},
    {finest_accuracy, 17, 2500, 1100},
}};

/// The finest accuracy for which single precision is enough.
constexpr double single_accuracy = 1e-5;

}  // namespace

SolverOptions choose_options(double accuracy, std::uint64_t sources, std::uint64_t targets, bool are_points) {
    if (!(accuracy >= finest_accuracy && accuracy <= 0.1)) {
        throw ValueOutOfBoundsError({.object = "accuracy of the fast multipole method",
                                     .value = to_text(accuracy),
                                     .bound = "it must be from " + to_text(finest_accuracy) + " to 0.1",
                                     .remedy = "use an accuracy in this range, or sum directly"});
    }
    const OrderChoice* choice = choices.data();
    while (choice->accuracy > accuracy) ++choice;
    // The product of the numbers of sources and targets in a box decides.
    const double least = static_cast<double>(std::max<std::uint64_t>(std::min(sources, targets), 1));
    const double ratio = static_cast<double>(std::max<std::uint64_t>(std::max(sources, targets), 1)) / least;
    const double capacity = are_points ? choice->point_capacity : choice->line_capacity;
    const double scaled = capacity * 0.5 * (std::sqrt(ratio) + 1.0 / std::sqrt(ratio));
    return {.order = choice->order,
            .capacity = static_cast<std::uint32_t>(std::min(scaled, 1e6)),
            .precision = accuracy >= single_accuracy ? Precision::float32 : Precision::float64};
}

double measure_accuracy(Solver& solver, std::span<const LinePiece> pieces, std::span<const Point> targets,
                        const std::optional<Plane>& plane, std::size_t sample_size) {
    if (pieces.empty() || targets.empty() || sample_size == 0) return 0.0;
    std::mt19937_64 engine(37);
    std::vector<double> strengths(pieces.size());
    for (double& strength : strengths) strength = static_cast<double>(engine() >> 11) * 0x1p-52 - 1.0;
    std::vector<double> potentials(targets.size());
    solver.evaluate(strengths, 1, potentials);

    const std::size_t size = std::min(sample_size, targets.size());
    std::vector<Point> sample(size);
    std::vector<double> exact(size);
    for (std::size_t i = 0; i < size; ++i) sample[i] = targets[i * targets.size() / size];
    sum_directly(pieces, sample, strengths, 1, exact, {}, plane);
    double error = 0.0;
    double square = 0.0;
    for (std::size_t i = 0; i < size; ++i) {
        const double difference = potentials[i * targets.size() / size] - exact[i];
        error += difference * difference;
        square += exact[i] * exact[i];
    }
    return square > 0.0 ? std::sqrt(error / square) : 0.0;
}

void check_accuracy(double accuracy, Solver& solver, std::span<const LinePiece> pieces, std::span<const Point> targets,
                    const std::optional<Plane>& plane, std::size_t sample_size) {
    const double reached = measure_accuracy(solver, pieces, targets, plane, sample_size);
    if (reached <= accuracy) return;
    throw ValueOutOfBoundsError(
        {.object = "accuracy of the fast multipole method",
         .value = to_text(accuracy),
         .bound = to_text(reached) + " was reached at " + std::to_string(std::min(sample_size, targets.size())) +
                  " of " + std::to_string(targets.size()) +
                  " targets, relative to the root mean square of their potentials for random strengths",
         .remedy = "ask for an accuracy that is not finer than that, or sum directly"});
}

}  // namespace ranvier::fmm
