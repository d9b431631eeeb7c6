#include "program/matrix_exponential.hpp"

#include <cmath>
#include <limits>

namespace ranvier::program {

namespace {

/// A number with twice the digits: an unevaluated sum (T. J. Dekker, Numerische Mathematik 18, 224-242, 1971).
struct Wide {
    double high = 0.0;
    double low = 0.0;

    bool is_zero() const { return high == 0.0; }
};

Wide sum_of(double a, double b) {
    const double sum = a + b;
    const double b_part = sum - a;
    return {sum, (a - (sum - b_part)) + (b - b_part)};
}

/// |a| >= |b|
Wide quick_sum_of(double a, double b) {
    const double sum = a + b;
    return {sum, b - (sum - a)};
}

Wide halves_of(double a) {
    const double scaled = 134217729.0 * a;  // 2^27 + 1
    const double high = scaled - (scaled - a);
    return {high, a - high};
}

Wide product_of(double a, double b) {
    const double product = a * b;
    const Wide x = halves_of(a);
    const Wide y = halves_of(b);
    return {product, ((x.high * y.high - product) + x.high * y.low + x.low * y.high) + x.low * y.low};
}

Wide operator+(Wide a, Wide b) {
    Wide high = sum_of(a.high, b.high);
    const Wide low = sum_of(a.low, b.low);
    high = quick_sum_of(high.high, high.low + low.high);
    return quick_sum_of(high.high, high.low + low.low);
}

Wide operator*(Wide a, Wide b) {
    const Wide product = product_of(a.high, b.high);
    return quick_sum_of(product.high, product.low + (a.high * b.low + a.low * b.high));
}

Wide operator/(Wide a, double divisor) {
    const double quotient = a.high / divisor;
    const Wide back = product_of(quotient, divisor);
    const double rest = (a.high - back.high) - back.low + a.low;
    return quick_sum_of(quotient, rest / divisor);
}

using Matrix = std::vector<Wide>;

Matrix product(const Matrix& a, const Matrix& b, std::size_t n) {
    Matrix result(n * n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t k = 0; k < n; ++k) {
            // Most entries of most systems are 0.
            if (a[i * n + k].is_zero()) continue;
            for (std::size_t j = 0; j < n; ++j) {
                if (b[k * n + j].is_zero()) continue;
                result[i * n + j] = result[i * n + j] + a[i * n + k] * b[k * n + j];
            }
        }
    }
    return result;
}

double norm_of(const Matrix& matrix, std::size_t n) {
    double norm = 0.0;
    for (std::size_t j = 0; j < n; ++j) {
        double column = 0.0;
        for (std::size_t i = 0; i < n; ++i) column += std::abs(matrix[i * n + j].high);
        // True for NaN, too.
        if (!(column <= norm)) norm = column;
    }
    return norm;
}

/// e^X for a small norm of X.
Matrix series(const Matrix& x, std::size_t n) {
    // With a norm of at most 1/8 the first omitted term is below 2^-106 of 1. For an entry that begins with the k-th
    // power, as at the end of a chain of k equations, it is below 2^-106 of the entry with k more terms.
    const std::size_t terms = 18 + n;
    Matrix sum(n * n);
    for (std::size_t i = 0; i < n; ++i) sum[i * n + i] = {1.0, 0.0};
    Matrix term = sum;
    for (std::size_t k = 1; k <= terms; ++k) {
        term = product(term, x, n);
        for (std::size_t i = 0; i < n * n; ++i) {
            if (term[i].is_zero()) continue;
            term[i] = term[i] / static_cast<double>(k);
            sum[i] = sum[i] + term[i];
        }
    }
    return sum;
}

}  // namespace

std::vector<double> matrix_exponential(std::span<const double> matrix, std::size_t n, double h) {
    Matrix x(n * n);
    for (std::size_t i = 0; i < n * n; ++i) x[i] = product_of(matrix[i], h);
    double norm = norm_of(x, n);
    if (!(norm <= largest_norm)) {
        return std::vector<double>(n * n, std::numeric_limits<double>::quiet_NaN());
    }
    std::size_t squarings = 0;
    double scale = 1.0;
    for (; norm > 0.125; norm *= 0.5, scale *= 0.5) ++squarings;
    for (Wide& entry : x) entry = {entry.high * scale, entry.low * scale};
    Matrix result = series(x, n);
    for (std::size_t s = 0; s < squarings; ++s) result = product(result, result, n);
    std::vector<double> rounded(n * n);
    for (std::size_t i = 0; i < n * n; ++i) rounded[i] = result[i].high + result[i].low;
    return rounded;
}

}  // namespace ranvier::program
