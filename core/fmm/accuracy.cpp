#include "ranvier/fmm/accuracy.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <random>
#include <span>
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

constexpr std::size_t elsewhere = ~std::size_t{0};

/// The index of a number among those of a member, or elsewhere.
std::size_t index_of(std::uint64_t number, std::span<const std::uint32_t> numbers, std::size_t count) {
    if (numbers.empty()) return number < count ? number : elsewhere;
    const auto found = std::ranges::lower_bound(numbers, number);
    if (found == numbers.end() || *found != number) return elsewhere;
    return static_cast<std::size_t>(found - numbers.begin());
}

/// From -1 to 1, for the numbers of the pieces of a member: the same for any division.
std::vector<double> random_strengths(const Portion& given) {
    std::mt19937_64 engine(37);  // NOLINT(bugprone-random-generator-seed): the same for all members.
    std::vector<double> strengths(given.pieces.size());
    std::uint64_t drawn = 0;
    for (std::size_t i = 0; i < strengths.size(); ++i) {
        const std::uint64_t number = given.piece_numbers.empty() ? i : given.piece_numbers[i];
        engine.discard(number - drawn);
        drawn = number + 1;
        strengths[i] = static_cast<double>(engine() >> 11) * 0x1p-52 - 1.0;
    }
    return strengths;
}

/// Random strengths, and their exact potentials at some of the targets of all members. Collective.
class AccuracySample {
   public:
    AccuracySample(const Portion& given, const std::optional<Plane>& plane, std::size_t size, SolverGroup& group)
        : group_(&group), strengths_(random_strengths(given)), potentials_(given.targets.size()) {
        std::array<std::uint64_t, 2> totals{given.pieces.size(), given.targets.size()};
        group.sum(totals);
        if (totals[0] == 0) return;
        exact_.resize(std::min<std::size_t>(size, totals[1]));
        // They are spread over all targets.
        for (std::size_t i = 0; i < exact_.size(); ++i) {
            indices_.push_back(index_of(i * totals[1] / exact_.size(), given.target_numbers, given.targets.size()));
        }
        std::vector<Point> sample(exact_.size());
        for (double Point::* const axis : {&Point::x, &Point::y, &Point::z}) {
            const std::vector<double> values =
                values_of_all([&](std::size_t index) { return given.targets[index].*axis; });
            for (std::size_t i = 0; i < sample.size(); ++i) sample[i].*axis = values[i];
        }
        sum_in_group(given.pieces, sample, strengths_, 1, exact_, plane, group);
    }

    /// Relative to the root mean square of the potentials.
    double error_of(Solver& solver) {
        if (exact_.empty()) return 0.0;
        solver.evaluate(strengths_, 1, potentials_);
        const std::vector<double> values = values_of_all([&](std::size_t index) { return potentials_[index]; });
        double error = 0.0;
        double square = 0.0;
        for (std::size_t i = 0; i < exact_.size(); ++i) {
            const double difference = values[i] - exact_[i];
            error += difference * difference;
            square += exact_[i] * exact_[i];
        }
        return square == 0.0 ? 0.0 : std::sqrt(error / square);
    }

   private:
    /// Numbers of the sample from the members that have its targets.
    template <class Value>
    std::vector<double> values_of_all(const Value& value) {
        std::vector<std::uint64_t> bits(indices_.size(), 0);
        for (std::size_t i = 0; i < bits.size(); ++i) {
            if (indices_[i] != elsewhere) bits[i] = std::bit_cast<std::uint64_t>(value(indices_[i]));
        }
        group_->sum(bits);
        std::vector<double> values(bits.size());
        std::ranges::transform(bits, values.begin(), [](std::uint64_t each) { return std::bit_cast<double>(each); });
        return values;
    }

    SolverGroup* group_;
    std::vector<double> strengths_;
    std::vector<double> potentials_;
    std::vector<std::size_t> indices_;  ///< of the targets of the sample, or elsewhere
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

SolverOptions fit_options(double accuracy, const Portion& given, parallel::Team& team, std::size_t sample_size,
                          SolverGroup& group) {
    const bool are_points =
        std::ranges::all_of(given.pieces, [](const LinePiece& piece) { return piece.begin == piece.end; });
    std::array<std::uint64_t, 3> totals{given.pieces.size(), given.targets.size(), are_points ? 0U : 1U};
    group.sum(totals);
    SolverOptions options = choose_options(accuracy, totals[0], totals[1], totals[2] == 0);
    AccuracySample sample(given, std::nullopt, sample_size, group);
    const std::uint32_t most = options.order;
    for (options.order = most > 3 ? most - 3 : 1; options.order < most; ++options.order) {
        Solver solver(given, options, team, group);
        if (1.5 * sample.error_of(solver) <= accuracy) break;
    }
    return options;
}

double measure_accuracy(Solver& solver, const Portion& given, const std::optional<Plane>& plane,
                        std::size_t sample_size, SolverGroup& group) {
    return AccuracySample(given, plane, sample_size, group).error_of(solver);
}

void check_accuracy(double accuracy, Solver& solver, const Portion& given, const std::optional<Plane>& plane,
                    std::size_t sample_size, SolverGroup& group) {
    const double reached = measure_accuracy(solver, given, plane, sample_size, group);
    if (reached <= accuracy) return;
    std::array<std::uint64_t, 1> targets{given.targets.size()};
    group.sum(targets);
    throw ValueOutOfBoundsError(
        {.object = "accuracy of the fast multipole method",
         .value = to_text(accuracy),
         .bound = to_text(reached) + " was reached at " +
                  std::to_string(std::min<std::size_t>(sample_size, targets[0])) + " of " + std::to_string(targets[0]) +
                  " targets, relative to the root mean square of their potentials for random strengths",
         .remedy = "ask for an accuracy that is not finer than that, or sum directly"});
}

}  // namespace ranvier::fmm
