#include "ranvier/connect/space/rotations.hpp"

#include <cmath>
#include <cstddef>

#include "base/math.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::connect {

namespace {

Matrix product(const Matrix& left, const Matrix& right) {
    Matrix result{};
    for (std::size_t row = 0; row < most_dimensions; ++row) {
        for (std::size_t column = 0; column < most_dimensions; ++column) {
            for (std::size_t i = 0; i < most_dimensions; ++i) {
                result[row][column] += left[row][i] * right[i][column];
            }
        }
    }
    return result;
}

/// Rodrigues' formula.
Matrix about(const Point& axis, double turns) {
    const double sine = math::sin_cycles(turns);
    const double cosine = math::sin_cycles(turns + 0.25);
    const auto& [x, y, z] = axis;
    const double rest = 1.0 - cosine;
    return {{{cosine + rest * x * x, rest * x * y - sine * z, rest * x * z + sine * y},
             {rest * x * y + sine * z, cosine + rest * y * y, rest * y * z - sine * x},
             {rest * x * z - sine * y, rest * y * z + sine * x, cosine + rest * z * z}}};
}

/// A rotation that is uniform among all, from three uniform numbers: K. Shoemake (1992), "Uniform random rotations".
Matrix uniform_rotation(double first, double second, double third) {
    const double low = std::sqrt(1.0 - first);
    const double high = std::sqrt(first);
    const double x = low * math::sin_cycles(second);
    const double y = low * math::sin_cycles(second + 0.25);
    const double z = high * math::sin_cycles(third);
    const double w = high * math::sin_cycles(third + 0.25);
    return {{{1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)},
             {2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)},
             {2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)}}};
}

}  // namespace

Matrix Rotations::at(std::uint64_t index, RandomKey key) const {
    Matrix result{{{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}};
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const Step& step = steps[i];
        // Two blocks of random numbers; a step needs three numbers.
        SequentialRandom numbers({key, index}, static_cast<std::uint32_t>(2 * i));
        if (step.kind == Kind::any) {
            const double first = numbers.next_unit();
            const double second = numbers.next_unit();
            result = product(uniform_rotation(first, second, numbers.next_unit()), result);
        } else if (step.kind == Kind::random) {
            result = product(about(step.axis, numbers.next_unit()), result);
        } else {
            result = product(about(step.axis, step.angles[step.angles.size() == 1 ? 0 : index]), result);
        }
    }
    return result;
}

void Rotations::check(std::uint64_t size, const std::string& population) const {
    const std::string of_population = " of a rotation of population '" + population + "'";
    for (const Step& step : steps) {
        const double length = PairPositions::length(step.axis);
        if (!(std::abs(length - 1.0) < 1e-9)) {
            throw ValueOutOfBoundsError({.object = "length of the axis" + of_population,
                                         .value = to_text(length),
                                         .bound = "it must be 1",
                                         .remedy = "divide the axis by its length"});
        }
        if (step.kind != Kind::given) continue;
        if (step.angles.size() != 1 && step.angles.size() != size) {
            throw ShapeError({.object = "number of angles" + of_population,
                              .value = std::to_string(step.angles.size()),
                              .bound = "the population has " + std::to_string(size) + " cells",
                              .remedy = "give one angle for all, or one for each cell"});
        }
        for (const double turns : step.angles) {
            if (std::abs(turns) < 0x1p50) continue;
            throw ValueOutOfBoundsError({.object = "angle" + of_population,
                                         .value = to_text(turns) + " turns",
                                         .bound = "it must be finite, and below 2^50",
                                         .remedy = "give angles of less than a turn"});
        }
    }
}

}  // namespace ranvier::connect
