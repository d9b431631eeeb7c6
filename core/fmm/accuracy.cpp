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

/// Random strengths, and their exact potentials at some of the targets.
class AccuracySample {
   public:
    AccuracySample(std::span<const LinePiece> pieces, std::span<const Point> targets, const std::optional<Plane>& plane,
                   std::size_t size)
        : strengths_(pieces.size()), potentials_(targets.size()), exact_(std::min(size, targets.size())) {
        if (pieces.empty()) exact_.clear();
        std::mt19937_64 engine(37);
        for (double& strength : strengths_) strength = static_cast<double>(engine() >> 11) * 0x1p-52 - 1.0;
        std::vector<Point> sample(exact_.size());
        for (std::size_t i = 0; i < sample.size(); ++i) sample[i] = targets[place(i)];
        sum_directly(pieces, sample, strengths_, 1, exact_, {}, plane);
    }

    /// Relative to the root mean square of the potentials.
    double error_of(Solver& solver) {
        if (exact_.empty()) return 0.0;
        solver.evaluate(strengths_, 1, potentials_);
        double error = 0.0;
        double square = 0.0;
        for (std::size_t i = 0; i < exact_.size(); ++i) {
            const double difference = potentials_[place(i)] - exact_[i];
            error += difference * difference;
            square += exact_[i] * exact_[i];
        }
        return square > 0.0 ? std::sqrt(error / square) : 0.0;
    }

   private:
    /// They are spread over all targets.
    std::size_t place(std::size_t i) const { return i * potentials_.size() / exact_.size(); }

    std::vector<double> strengths_;
    std::vector<double> potentials_;
    std::vector<double> exact_;
};

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

SolverOptions fit_options(double accuracy, std::span<const LinePiece> pieces, std::span<const Point> targets,
                          parallel::Team& team, std::size_t sample_size) {
    const bool are_points =
        std::ranges::all_of(pieces, [](const LinePiece& piece) { return piece.begin == piece.end; });
    SolverOptions options = choose_options(accuracy, pieces.size(), targets.size(), are_points);
    AccuracySample sample(pieces, targets, std::nullopt, sample_size);
    const std::uint32_t most = options.order;
    for (options.order = most > 3 ? most - 3 : 1; options.order < most; ++options.order) {
        Solver solver(pieces, targets, options, team);
        if (1.5 * sample.error_of(solver) <= accuracy) break;
    }
    return options;
}

double measure_accuracy(Solver& solver, std::span<const LinePiece> pieces, std::span<const Point> targets,
                        const std::optional<Plane>& plane, std::size_t sample_size) {
    return AccuracySample(pieces, targets, plane, sample_size).error_of(solver);
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
