#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "fmm/harmonics.hpp"
#include "fmm/near_field.hpp"
#include "fmm/operation_counts.hpp"
#include "fmm_testing.hpp"
#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace ranvier::fmm {
namespace TEST_FILE {

/// A number that counts the operations on it.
struct Counted {
    double value = 0.0;
    inline static std::uint64_t operations = 0;

    constexpr Counted() = default;
    constexpr explicit Counted(double number) : value(number) {}
    friend bool operator>(Counted a, Counted b) { return a.value > b.value; }
    friend bool operator<(Counted a, Counted b) { return a.value < b.value; }
    friend bool operator<=(Counted a, Counted b) { return a.value <= b.value; }
    friend Counted operator-(Counted a) { return Counted(-a.value); }
    friend Counted operator+(Counted a, Counted b) { return count(a.value + b.value); }
    friend Counted operator-(Counted a, Counted b) { return count(a.value - b.value); }
    friend Counted operator*(Counted a, Counted b) { return count(a.value * b.value); }
    friend Counted operator/(Counted a, Counted b) { return count(a.value / b.value); }
    friend Counted& operator*=(Counted& a, Counted b) { return a = a * b; }
    friend Counted square_root(Counted a) { return count(square_root(a.value)); }
    /// In double precision.
    friend Counted log_ratio(Counted n, Counted d, Counted difference) {
        operations += 28;
        return count(log_ratio(n.value, d.value, difference.value));
    }

   private:
    static Counted count(double result) {
        ++operations;
        return Counted(result);
    }
};

template <class Work>
std::uint64_t operations_of(Work&& work) {
    Counted::operations = 0;
    work();
    return Counted::operations;
}

}  // namespace TEST_FILE

template <>
inline HarmonicFactors<TEST_FILE::Counted>::HarmonicFactors() = default;

namespace TEST_FILE {

NearSource<Counted> counted_source() {
    const Counted one(1.0);
    const Counted zero(0.0);
    return {.x = zero,
            .y = zero,
            .z = zero,
            .along_x = one,
            .along_y = zero,
            .along_z = zero,
            .length = one,
            .square_radius = zero,
            .inverse_length = one};
}

// The formulas are those of the operators, counted one by one.
TEST(FmmCounts, OfPairsAreThoseOfTheCode) {
    const NearSource<Counted> source = counted_source();
    // Beyond the end of the piece: a vector computes both forms of a + b - L.
    const Counted x(2.0);
    for (const bool has_gradient : {false, true}) {
        const OperationCounts points({.are_points = true, .has_gradient = has_gradient});
        const OperationCounts lines({.has_gradient = has_gradient});
        const OperationCounts single({.precision = Precision::float32, .has_gradient = has_gradient});
        EXPECT_EQ(points.unit_potential(), operations_of([&] {
                      has_gradient ? point_potential<true>(source, x, x, x) : point_potential<false>(source, x, x, x);
                  }));
        EXPECT_EQ(lines.unit_potential(), operations_of([&] {
                      has_gradient ? line_potential<true>(source, x, x, x) : line_potential<false>(source, x, x, x);
                  }));
        // The shorter polynomial: six terms less, and an exponent without subtraction.
        EXPECT_EQ(lines.unit_potential() - single.unit_potential(), 13U);
        EXPECT_EQ(points.pair() - points.unit_potential(), has_gradient ? 8U : 2U);
    }
}

TEST(FmmCounts, OfHarmonicsAreThoseOfTheCode) {
    const HarmonicFactors<Counted> factors;
    const Counted x(0.5);
    for (std::uint32_t order = 0; order <= max_order; ++order) {
        std::vector<Counted> values(harmonic_count(order));
        EXPECT_EQ(OperationCounts::regular_harmonics(order),
                  operations_of([&] { regular_harmonics<1>(factors, order, &x, &x, &x, values.data()); }));
        EXPECT_EQ(OperationCounts::irregular_harmonics(order),
                  operations_of([&] { irregular_harmonics<1>(factors, order, &x, &x, &x, values.data()); }));
    }
}

// Two points in opposite corners of a root of 4^3 boxes, at order 1: 4 coefficients.
TEST(FmmCounts, AreThoseOfASmallProblemByHand) {
    const Point low{0.0, 0.0, 0.0};
    const Point high{1.0, 1.0, 1.0};
    const std::vector<LinePiece> pieces{{low, low, 0.0}, {high, high, 0.0}};
    const std::vector<Point> targets{low, high};
    parallel::Team team = make_team(1);
    const Solver solver(pieces, targets, {.order = 1, .depth = 2}, team);
    const SolverCounts& counts = solver.counts();
    EXPECT_EQ(counts.boxes, 5U);
    EXPECT_EQ(counts.leaves, 2U);
    EXPECT_EQ(counts.near_pairs, 2U);
    EXPECT_EQ(counts.translations, 2U);
    // P2M: place 14, at the only node 9 + 7 of the harmonics + 4 weights, product, grid and sum 4 x 4.
    // M2L: signs 4, matrix 4 x 4 x 2, reflection 4 x 2. L2P: place 6, harmonics 7, products 4 x 2, unit and sum 2.
    // P2P: strength 1, place 3, pair 12, unit and sum 2. Sum of both fields: 1.
    EXPECT_EQ(counts.operations, 2U * ((14 + 9 + 7 + 4 + 16) + (4 + 32 + 8) + (6 + 7 + 8 + 2) + (1 + 3 + 12 + 2) + 1));
    // P2M, P2P, M2L, L2L and L2P of both leaves, M2M of the three boxes above.
    EXPECT_EQ(counts.tasks, 2U * 5 + 3);
}

#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
std::size_t allocated_bytes() {
    const struct mallinfo2 found = mallinfo2();
    return found.uordblks + found.hblkhd;
}

// What is counted is at least 80 % of what is allocated, which is rounded up and in blocks.
TEST(FmmCounts, OfBytesAreWhatIsAllocated) {
    Draws draws(31);
    Problem problem;
    for (int i = 0; i < 20000; ++i) {
        const Point place = draws.in_box(1.0);
        problem.pieces.push_back({place, place + 0.02 * draws.direction(), 1e-4});
        problem.targets.push_back(draws.in_box(1.0));
        problem.strengths.push_back(draws.normal());
    }
    std::vector<double> potentials(problem.targets.size());
    parallel::Team team = make_team(1);
    const std::size_t before = allocated_bytes();
    Solver solver(problem.pieces, problem.targets, {.order = 4, .capacity = 40}, team);
    solver.evaluate(problem.strengths, 1, potentials);
    const auto allocated = static_cast<double>(allocated_bytes() - before);
    const auto counted = static_cast<double>(solver.counts().bytes);
    EXPECT_GT(counted, 0.8 * allocated);
    EXPECT_LT(counted, 1.02 * allocated);
}
#endif

}  // namespace TEST_FILE
}  // namespace ranvier::fmm
