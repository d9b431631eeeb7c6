#include "cable/kernels/rate_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "base/math.hpp"
#include "cable/kernels/program_rates.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::cable {

namespace {

/// Points where cubics meet their functions: the ends, so that intervals join continuously, and two between that keep
/// the error small.
constexpr std::array<double, 4> meeting_points{0.0, 0.25, 0.75, 1.0};
constexpr std::size_t probes = 16;  ///< sample points of an interval

std::array<double, 4> cubic_through(const std::array<double, 4>& y) {
    // Newton's divided differences, multiplied out.
    const auto& x = meeting_points;
    const double d01 = (y[1] - y[0]) / (x[1] - x[0]);
    const double d12 = (y[2] - y[1]) / (x[2] - x[1]);
    const double d23 = (y[3] - y[2]) / (x[3] - x[2]);
    const double d012 = (d12 - d01) / (x[2] - x[0]);
    const double d123 = (d23 - d12) / (x[3] - x[1]);
    const double d0123 = (d123 - d012) / (x[3] - x[0]);
    return {y[0], d01 - d012 * x[1] + d0123 * x[1] * x[2], d012 - d0123 * (x[1] + x[2]), d0123};
}

double value_of(const double* row, std::size_t function, double f) {
    const auto c = [&](std::size_t power) { return row[power * functions_of_quad + function]; };
    return c(0) + f * (c(1) + f * (c(2) + f * c(3)));
}

}  // namespace

void exact_rates(InstructionSet set, const GateOfMechanism& gate, double step, double celsius,
                 std::span<const double> arguments, double* steady, double* part, std::span<const double> logarithms) {
    if (gate.code != nullptr) {
        carry_out_rates(*gate.code, set, arguments, steady, part, logarithms);
    } else {
        gate.gate->rates(set, {.size = arguments.size(),
                               .argument = arguments.data(),
                               .celsius = celsius,
                               .parameters = gate.parameters.data(),
                               .steady = steady,
                               .tau = part});
    }
    for (std::size_t i = 0; i < arguments.size(); ++i) part[i] = -math::expm1(-step / part[i]);
}

RateTable::RateTable(std::span<const GateOfMechanism> gates, double step, double celsius,
                     std::pmr::memory_resource* memory)
    : range_(range_of(gates.front().gate->follows)),
      quads_((gates.size() + gates_of_quad - 1) / gates_of_quad),
      numbers_(memory) {
    constexpr int most_doublings = 7;
    const double most_rows = range_.coarsest * (1 << most_doublings);
    for (rows_per_unit_ = range_.coarsest; rows_per_unit_ <= most_rows; rows_per_unit_ *= 2.0) {
        const std::size_t worst = fill(gates, step, celsius);
        if (is_accurate()) return;
        if (rows_per_unit_ < most_rows) continue;
        if (std::isfinite(error_)) break;
        throw ValueOutOfBoundsError(
            {.object = "rates of gate " + std::string(gates[worst].gate->name),
             .value = "they are not finite somewhere from " + to_text(range_.lowest) + " to " +
                      to_text(range_.highest) +
                      (gates[worst].gate->follows == Follows::calcium ? " (logarithm of mM of calcium)" : " mV"),
             .bound = "tables need finite rates",
             .remedy = "check the parameters of the mechanism, or choose rates='exact'"});
    }
    // An inaccurate table is never used.
    numbers_.clear();
    numbers_.shrink_to_fit();
}

std::size_t RateTable::fill(std::span<const GateOfMechanism> gates, double step, double celsius) {
    rows_ = static_cast<std::size_t>((range_.highest - range_.lowest) * rows_per_unit_);
    numbers_.assign(rows_ * row_size(), 0.0);
    error_ = 0.0;
    std::size_t worst = 0;
    const double width = 1.0 / rows_per_unit_;
    std::vector<double> arguments;
    std::vector<double> results[2];
    for (std::size_t g = 0; g < gates.size(); ++g) {
        double* const first = numbers_.data() + g / gates_of_quad * numbers_of_quad + g % gates_of_quad;
        const auto evaluate = [&](std::span<const double> points) {
            arguments.clear();
            for (std::size_t row = 0; row < rows_; ++row) {
                for (const double f : points)
                    arguments.push_back(range_.lowest + (static_cast<double>(row) + f) * width);
            }
            for (auto& result : results) result.resize(arguments.size());
            exact_rates(InstructionSet::baseline, gates[g], step, celsius, arguments, results[0].data(),
                        results[1].data());
        };
        evaluate(meeting_points);
        for (std::size_t row = 0; row < rows_; ++row) {
            for (std::size_t k = 0; k < 2; ++k) {
                const double* const y = results[k].data() + row * meeting_points.size();
                const std::array<double, 4> cubic = cubic_through({y[0], y[1], y[2], y[3]});
                for (std::size_t c = 0; c < 4; ++c) {
                    first[row * row_size() + c * functions_of_quad + k * gates_of_quad] = cubic[c];
                }
            }
        }
        std::array<double, probes> points{};
        for (std::size_t i = 0; i < probes; ++i) points[i] = (static_cast<double>(i) + 0.5) / probes;
        evaluate(points);
        for (std::size_t i = 0; i < arguments.size(); ++i) {
            for (std::size_t k = 0; k < 2; ++k) {
                const double tabulated =
                    value_of(first + i / probes * row_size(), k * gates_of_quad, points[i % probes]);
                const double exact = results[k][i];
                const double error = std::abs(tabulated - exact) / (k == 0 ? 1.0 : exact);
                // The negation rejects NaN.
                if (error <= error_) continue;
                error_ = std::isnan(error) ? HUGE_VAL : error;
                worst = g;
            }
        }
    }
    return worst;
}

void RateTable::look_up(std::size_t gate, double argument, double& steady, double& part) const {
    const double place = std::clamp((argument - range_.lowest) * rows_per_unit_, 0.0, static_cast<double>(rows_));
    const std::size_t row = std::min(static_cast<std::size_t>(place), rows_ - 1);
    const double f = place - static_cast<double>(row);
    const double* const coefficients = data() + row * row_size() + gate / gates_of_quad * numbers_of_quad;
    steady = value_of(coefficients, gate % gates_of_quad, f);
    part = value_of(coefficients, gates_of_quad + gate % gates_of_quad, f);
}

}  // namespace ranvier::cable
