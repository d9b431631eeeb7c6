#include "fmm/harmonics.hpp"

#include <cmath>

#include "base/math.hpp"

namespace ranvier::fmm {

template <class Real>
HarmonicFactors<Real>::HarmonicFactors() {
    for (std::uint32_t m = 0; m <= max_degree; ++m) {
        sectoral[m] = m < 2 ? Real{1} : static_cast<Real>(std::sqrt((2.0 * m - 1.0) / (2.0 * m)));
        for (std::uint32_t l = m + 1; l <= max_degree; ++l) {
            const double norm = static_cast<double>(l * l - m * m);
            const double below = static_cast<double>((l - 1) * (l - 1)) - static_cast<double>(m * m);
            up[l * (max_degree + 1) + m] = static_cast<Real>((2.0 * l - 1.0) / std::sqrt(norm));
            down[l * (max_degree + 1) + m] = static_cast<Real>(std::sqrt(below / norm));
        }
    }
}

template <class Real>
const HarmonicFactors<Real>& HarmonicFactors<Real>::get() {
    static const HarmonicFactors factors;
    return factors;
}

template struct HarmonicFactors<float>;
template struct HarmonicFactors<double>;

Quadrature gauss_legendre(std::uint32_t count) {
    Quadrature quadrature;
    quadrature.nodes.resize(count);
    quadrature.weights.resize(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        // The i-th zero of the Legendre polynomial, by Newton's method from the estimate of Tricomi.
        double x = math::sin_cycles(0.25 + 0.5 * (i + 0.75) / (count + 0.5));
        double slope = 1.0;
        for (int iteration = 0; iteration < 100; ++iteration) {
            double below = 1.0;
            double value = x;
            for (std::uint32_t l = 2; l <= count; ++l) {
                const double next = ((2.0 * l - 1.0) * x * value - (l - 1.0) * below) / l;
                below = value;
                value = next;
            }
            slope = count * (x * value - below) / (x * x - 1.0);
            const double step = value / slope;
            x -= step;
            if (std::abs(step) < 1e-16) break;
        }
        quadrature.nodes[count - 1 - i] = 0.5 * (1.0 + x);
        quadrature.weights[count - 1 - i] = 1.0 / ((1.0 - x * x) * slope * slope);
    }
    return quadrature;
}

}  // namespace ranvier::fmm
