// The portable functions against those of the C library in extended precision, at points spread over their ranges.
#include "base/math.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "ranvier/base/instruction_set.hpp"
#include "ranvier/base/random.hpp"

namespace TEST_FILE {

using namespace ranvier;

/// Units in the last place by which a value differs from the true one.
double error_in_units(double value, long double truth) {
    const double nearest = static_cast<double>(truth);
    const double next = std::nextafter(std::abs(nearest), HUGE_VAL);
    const double unit = next - std::abs(nearest);
    return static_cast<double>(std::abs(static_cast<long double>(value) - truth) / static_cast<long double>(unit));
}

/// `count` numbers in [low, high), the same in every run.
std::vector<double> points(double low, double high, std::size_t count) {
    SequentialRandom random({make_key(1, Purpose::test, 0), 0, 0});
    std::vector<double> values(count);
    for (double& value : values) value = low + (high - low) * random.next_unit();
    return values;
}

template <class Function, class Truth>
void expect_close(const std::vector<double>& where, double tolerance, const Function& function, const Truth& truth) {
    double worst = 0.0;
    double worst_at = 0.0;
    for (const double x : where) {
        const double error = error_in_units(function(x), truth(static_cast<long double>(x)));
        if (error > worst) {
            worst = error;
            worst_at = x;
        }
    }
    EXPECT_LE(worst, tolerance) << "units in the last place, at " << worst_at;
}

TEST(Math, ExpIsExactToTwoUnits) {
    expect_close(
        points(-700, 700, 100000), 2.0, [](double x) { return math::exp(x); },
        [](long double x) { return std::exp(x); });
    expect_close(
        points(-1, 1, 100000), 2.0, [](double x) { return math::exp(x); }, [](long double x) { return std::exp(x); });
    EXPECT_EQ(math::exp(0.0), 1.0);
    EXPECT_EQ(math::exp(-1e9), math::exp(-700.0));
    EXPECT_EQ(math::exp(1e9), math::exp(700.0));
}

TEST(Math, Expm1KeepsSmallNumbers) {
    for (const double scale : {1e-300, 1e-15, 1e-8, 1e-3, 0.1, 0.34, 0.36, 2.0, 50.0}) {
        expect_close(
            points(-scale, scale, 20000), 6.0, [](double x) { return math::expm1(x); },
            [](long double x) { return std::expm1(x); });
    }
    EXPECT_EQ(math::expm1(0.0), 0.0);
    EXPECT_EQ(math::expm1_over(0.0), 1.0);
    EXPECT_NEAR(math::expm1_over(1e-12), 1.0 + 0.5e-12, 1e-15);
    EXPECT_EQ(math::over_expm1(0.0), 1.0);
    EXPECT_NEAR(math::over_expm1(1e-12), 1.0 - 0.5e-12, 1e-15);
    EXPECT_NEAR(math::over_expm1(3.0), 3.0 / std::expm1(3.0), 1e-16);
    EXPECT_NEAR(math::over_expm1(-40.0), 40.0, 1e-13);
}

TEST(Math, LogIsExactToTwoUnits) {
    const auto log = [](double x) { return math::log(x); };
    const auto truth = [](long double x) { return std::log(x); };
    expect_close(points(1e-3, 0.7, 100000), 2.0, log, truth);
    expect_close(points(1.5, 1000, 100000), 2.0, log, truth);
    // Near 1, where the result is small.
    expect_close(points(0.7, 1.5, 100000), 3.0, log, truth);
    for (int exponent = -1021; exponent <= 1023; exponent += 7) {
        const double x = std::ldexp(1.2345, exponent);
        ASSERT_LE(error_in_units(math::log(x), std::log(static_cast<long double>(x))), 2.0) << x;
    }
    EXPECT_EQ(math::log(1.0), 0.0);
    EXPECT_NEAR(math::log(0x1p-53), -53 * std::log(2.0), 1e-14);
}

TEST(Math, Log1pKeepsSmallNumbers) {
    for (const double scale : {1e-300, 1e-18, 1e-15, 1e-8, 1e-3, 0.1, 0.5, 0.99}) {
        expect_close(
            points(-scale, scale, 20000), 4.0, [](double x) { return math::log1p(x); },
            [](long double x) { return std::log1p(x); });
    }
    EXPECT_EQ(math::log1p(0.0), 0.0);
}

TEST(Math, SinCyclesIsExactToAFewUnitsOfOne) {
    constexpr long double two_pi = 6.283185307179586476925286766559005768L;
    for (const double x : points(-3, 3, 100000)) {
        const long double truth = std::sin(two_pi * static_cast<long double>(x));
        ASSERT_NEAR(math::sin_cycles(x), static_cast<double>(truth), 4e-16) << x;
    }
    for (const double whole : {0.0, 1.0, -7.0, 1e9}) {
        EXPECT_EQ(math::sin_cycles(whole), 0.0);
        EXPECT_EQ(math::sin_cycles(whole + 0.25), 1.0);
        EXPECT_EQ(math::sin_cycles(whole - 0.25), -1.0);
    }
}

TEST(Math, NormalQuantileInvertsTheNormalDistribution) {
    const auto probability = [](double z) { return 0.5L * std::erfc(-static_cast<long double>(z) / std::sqrt(2.0L)); };
    std::vector<double> where = points(0.0, 1.0, 20000);
    for (int exponent = 2; exponent <= 53; ++exponent) where.push_back(std::ldexp(1.0, -exponent));
    for (const double u : where) {
        // The relative error of the probability is that of z times z phi(z) / u, at most about z^2.
        const double z = math::normal_quantile(u);
        const double tolerance = 4e-15 * (1.0 + z * z);
        ASSERT_NEAR(static_cast<double>(probability(z) / static_cast<long double>(u)), 1.0, tolerance) << u;
    }
    EXPECT_EQ(math::normal_quantile(0.5), 0.0);
    EXPECT_EQ(math::normal_quantile(1.0 - 0x1p-20), -math::normal_quantile(0x1p-20));
}

struct AllFunctions {
    RANVIER_ALWAYS_INLINE static void run(const double* __restrict x, std::size_t count, double* __restrict out) {
        for (std::size_t i = 0; i < count; ++i) {
            const double unit = 1.0 / (1.0 + x[i] * x[i]);
            out[i] = math::exp(x[i]) + math::expm1(0.01 * x[i]) + math::log(unit) + math::log1p(-0.9 * unit) +
                     math::sin_cycles(x[i]) + math::normal_quantile(0.999 * unit);
        }
    }
};

TEST(Math, GivesTheSameBitsOnEveryInstructionSet) {
    const std::vector<double> x = points(-20, 20, 4099);
    std::vector<double> expected(x.size());
    Dispatched<AllFunctions>::call(InstructionSet::baseline, x.data(), x.size(), expected.data());
    for (const InstructionSet set : available_instruction_sets()) {
        std::vector<double> values(x.size());
        Dispatched<AllFunctions>::call(set, x.data(), x.size(), values.data());
        for (std::size_t i = 0; i < x.size(); ++i) {
            ASSERT_EQ(std::bit_cast<std::uint64_t>(values[i]), std::bit_cast<std::uint64_t>(expected[i]))
                << to_string(set) << " at " << x[i];
        }
    }
}

}  // namespace TEST_FILE
