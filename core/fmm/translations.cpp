#include "fmm/translations.hpp"

#include <cmath>
#include <complex>
#include <cstdlib>
#include <numbers>
#include <span>

namespace ranvier::fmm {

namespace {

using Complex = std::complex<double>;

constexpr std::int32_t to_signed(std::uint32_t number) { return static_cast<std::int32_t>(number); }

/// n! as a double: exact up to 22!, and rounded beyond.
std::array<double, 2 * max_degree + 1> factorials() {
    std::array<double, 2 * max_degree + 1> values{};
    values[0] = 1.0;
    for (std::size_t n = 1; n < values.size(); ++n) values[n] = values[n - 1] * static_cast<double>(n);
    return values;
}

double factorial(std::int32_t n) {
    static const auto values = factorials();
    return values[static_cast<std::size_t>(n)];
}

/// S_lm = norm(l, m) Re or Im of R_lm, with R of White and Head-Gordon (1994), whose addition theorems have no factors:
/// R_lm(x) = |x|^l P_lm exp(i m phi) / (l + m)!
double norm(std::uint32_t l, std::int32_t m) {
    const auto degree = to_signed(l);
    return (m == 0 ? 1.0 : std::numbers::sqrt2) * std::sqrt(factorial(degree - m) * factorial(degree + m));
}

/// R_jk and R_j(-k) where one real harmonic is 1 and all others are 0.
struct UnitHarmonic {
    std::int32_t degree;
    std::int32_t size;  ///< |k|
    Complex plus;
    Complex minus;
};
std::vector<UnitHarmonic> unit_harmonics(std::uint32_t order) {
    std::vector<UnitHarmonic> units;
    for (std::uint32_t j = 0; j <= order; ++j) {
        for (std::int32_t k = -to_signed(j); k <= to_signed(j); ++k) {
            const Complex value = (k < 0 ? Complex(0.0, 1.0) : Complex(1.0, 0.0)) / norm(j, std::abs(k));
            const double sign = k % 2 == 0 ? 1.0 : -1.0;
            units.push_back({to_signed(j), std::abs(k), value, k == 0 ? Complex{} : sign * std::conj(value)});
        }
    }
    return units;
}

/// All R_lm up to an order, from the real harmonics.
class ComplexHarmonics {
   public:
    explicit ComplexHarmonics(std::uint32_t order) : values_(harmonic_count(order)) {}

    static ComplexHarmonics from_real(std::uint32_t order, std::span<const double> real) {
        ComplexHarmonics result(order);
        for (std::uint32_t l = 0; l <= order; ++l) {
            const auto degree = to_signed(l);
            result.at(l, 0) = real[harmonic_index(l, 0)] / norm(l, 0);
            for (std::int32_t m = 1; m <= degree; ++m) {
                const Complex value(real[harmonic_index(l, m)], real[harmonic_index(l, -m)]);
                result.at(l, m) = value / norm(l, m);
                result.at(l, -m) = (m % 2 == 0 ? 1.0 : -1.0) * std::conj(result.at(l, m));
            }
        }
        return result;
    }

    Complex& at(std::uint32_t l, std::int32_t m) { return values_[harmonic_index(l, m)]; }
    Complex at(std::uint32_t l, std::int32_t m) const { return values_[harmonic_index(l, m)]; }
    /// 0 where there is none.
    Complex get(std::int32_t l, std::int32_t m) const {
        return l < 0 || std::abs(m) > l ? Complex{} : values_[harmonic_index(static_cast<std::uint32_t>(l), m)];
    }

   private:
    std::vector<Complex> values_;
};

std::vector<double> real_harmonics(std::uint32_t order, const Point& x) {
    std::vector<double> values(harmonic_count(order));
    regular_harmonics<1>(HarmonicFactors<double>::get(), order, &x.x, &x.y, &x.z, values.data());
    return values;
}

/// I_lm(x) = (l - m)! P_lm exp(i m phi) / |x|^(l + 1) up to the order.
ComplexHarmonics complex_irregular(std::uint32_t order, const Point& x) {
    std::vector<double> real(harmonic_count(order));
    const double square = dot(x, x);
    const Point inverted = (1.0 / square) * x;
    regular_harmonics<1>(HarmonicFactors<double>::get(), order, &inverted.x, &inverted.y, &inverted.z, real.data());
    ComplexHarmonics result = ComplexHarmonics::from_real(order, real);
    for (std::uint32_t l = 0; l <= order; ++l) {
        const auto degree = to_signed(l);
        for (std::int32_t m = -degree; m <= degree; ++m) {
            result.at(l, m) *= factorial(degree - m) * factorial(degree + m) / std::sqrt(square);
        }
    }
    return result;
}

}  // namespace

std::vector<double> shift_matrix(std::uint32_t order, const Point& t, std::size_t stride) {
    const ComplexHarmonics shift = ComplexHarmonics::from_real(order, real_harmonics(order, t));
    const std::size_t count = harmonic_count(order);
    std::vector<double> matrix(count * stride, 0.0);
    const std::vector<UnitHarmonic> units = unit_harmonics(order);
    for (std::size_t column = 0; column < count; ++column) {
        const UnitHarmonic& unit = units[column];
        for (std::uint32_t l = 0; l <= order; ++l) {
            const auto degree = to_signed(l);
            for (std::int32_t m = 0; m <= degree; ++m) {
                // R_lm(x + t) = sum R_jk(x) R_(l-j)(m-k)(t)
                const std::int32_t rest = degree - unit.degree;
                const Complex sum =
                    unit.plus * shift.get(rest, m - unit.size) + unit.minus * shift.get(rest, m + unit.size);
                matrix[column * stride + harmonic_index(l, m)] = norm(l, m) * sum.real();
                if (m > 0) matrix[column * stride + harmonic_index(l, -m)] = norm(l, m) * sum.imag();
            }
        }
    }
    return matrix;
}

std::vector<double> multipole_to_local_matrix(std::uint32_t order, const Point& d, std::size_t stride) {
    const ComplexHarmonics irregular = complex_irregular(2 * order, d);
    const std::size_t count = harmonic_count(order);
    std::vector<double> matrix(count * stride, 0.0);
    const std::vector<UnitHarmonic> units = unit_harmonics(order);
    for (std::size_t column = 0; column < count; ++column) {
        const UnitHarmonic& unit = units[column];
        for (std::uint32_t l = 0; l <= order; ++l) {
            const auto degree = to_signed(l);
            for (std::int32_t m = 0; m <= degree; ++m) {
                // 1 / |d + x - y| = sum conj(R_lm(x)) (-1)^l sum I_(l+j)(m+k)(d) conj(R_jk(y))
                const std::int32_t both = degree + unit.degree;
                Complex sum = irregular.get(both, m + unit.size) * std::conj(unit.plus) +
                              irregular.get(both, m - unit.size) * std::conj(unit.minus);
                if (l % 2 == 1) sum = -sum;
                const double factor = (m == 0 ? 1.0 : 2.0) / norm(l, m);
                matrix[column * stride + harmonic_index(l, m)] = factor * sum.real();
                if (m > 0) matrix[column * stride + harmonic_index(l, -m)] = factor * sum.imag();
            }
        }
    }
    return matrix;
}

std::vector<double> mirror_signs(std::uint32_t order, bool x, bool y, bool z) {
    std::vector<double> signs(harmonic_count(order), 1.0);
    for (std::uint32_t l = 0; l <= order; ++l) {
        const auto degree = to_signed(l);
        for (std::int32_t m = -degree; m <= degree; ++m) {
            double& sign = signs[harmonic_index(l, m)];
            // x -> -x: phi -> pi - phi; y -> -y: phi -> -phi; z -> -z: the parity in z is that of l - m.
            if (x && (m % 2 == 0) == (m < 0)) sign = -sign;
            if (y && m < 0) sign = -sign;
            if (z && (degree - m) % 2 != 0) sign = -sign;
        }
    }
    return signs;
}

namespace {

/// Entries of shift matrices between neighbouring degrees are linear in the shift: those of a unit shift are derivatives.
template <class Add>
void for_each_derivative(std::uint32_t order, double sign, Add&& add) {
    if (order == 0) return;
    const std::size_t count = harmonic_count(order);
    const std::array<Point, 3> axes{Point{sign, 0.0, 0.0}, Point{0.0, sign, 0.0}, Point{0.0, 0.0, sign}};
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
        const std::vector<double> shift = shift_matrix(order, axes[axis], count);
        for (std::uint32_t l = 1; l <= order; ++l) {
            for (std::size_t high = std::size_t{l} * l; high < harmonic_count(l); ++high) {
                for (std::size_t low = std::size_t{l - 1} * (l - 1); low < harmonic_count(l - 1); ++low) {
                    const double factor = shift[low * count + high];
                    if (std::abs(factor) > 1e-12) add(axis, low, high, factor);
                }
            }
        }
    }
}

}  // namespace

std::array<std::vector<GradientTerm>, 3> local_gradient(std::uint32_t order) {
    // d/dx L S(x) = L dS(x)/dx, and S(x + t) = W(t) S(x).
    std::array<std::vector<GradientTerm>, 3> terms;
    for_each_derivative(order, 1.0, [&](std::size_t axis, std::size_t low, std::size_t high, double factor) {
        terms[axis].push_back({static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(high), factor});
    });
    return terms;
}

std::array<std::vector<GradientTerm>, 3> multipole_gradient(std::uint32_t order) {
    // The potential at x + t is that of sources moved by -t at x.
    std::array<std::vector<GradientTerm>, 3> terms;
    for_each_derivative(order + 1, -1.0, [&](std::size_t axis, std::size_t low, std::size_t high, double factor) {
        terms[axis].push_back({static_cast<std::uint32_t>(high), static_cast<std::uint32_t>(low), factor});
    });
    return terms;
}

}  // namespace ranvier::fmm
