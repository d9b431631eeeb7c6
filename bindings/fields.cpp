#include "bindings.hpp"

#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "fmm/near_field.hpp"
#include "ranvier/fmm/geometry.hpp"

namespace ranvier::bindings {

namespace {

using fmm::Point;
/// One row for each point.
using InputTriples = nb::ndarray<const double, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu>;

Point point_of(const InputTriples& points, std::size_t row) {
    const double* const numbers = points.data() + 3 * row;
    return {numbers[0], numbers[1], numbers[2]};
}

/// Potentials of line pieces of unit strength, [piece][target], and for each piece whether a target is nearer to it than its
/// radius: the number of the first one, or -1.
std::tuple<OutputArray<double>, OutputArray<std::int64_t>> line_potentials(const InputTriples& begin,
                                                                           const InputTriples& end,
                                                                           const InputArray<double>& radius,
                                                                           const InputTriples& targets) {
    const std::size_t pieces = begin.shape(0);
    const std::size_t count = targets.shape(0);
    std::vector<double> potentials(pieces * count);
    std::vector<std::int64_t> inside(pieces, -1);
    for (std::size_t piece = 0; piece < pieces; ++piece) {
        const Point from = point_of(begin, piece);
        const Point whole = point_of(end, piece) - from;
        const double length = std::sqrt(dot(whole, whole));
        const Point along = length > 0.0 ? (1.0 / length) * whole : Point{};
        const double square_radius = radius.data()[piece] * radius.data()[piece];
        const fmm::NearSource<double> source{from.x,
                                             from.y,
                                             from.z,
                                             along.x,
                                             along.y,
                                             along.z,
                                             length > 0.0 ? length : fmm::NearSource<double>::min_length,
                                             square_radius,
                                             1.0 / (length > 0.0 ? length : fmm::NearSource<double>::min_length)};
        for (std::size_t target = 0; target < count; ++target) {
            const Point place = point_of(targets, target);
            potentials[piece * count + target] =
                fmm::line_potential<false>(source, place.x, place.y, place.z).potential;
            const Point offset = place - from;
            const double at = std::min(std::max(dot(offset, along), 0.0), length);
            const Point nearest = offset - at * along;
            if (inside[piece] < 0 && dot(nearest, nearest) < square_radius) {
                inside[piece] = static_cast<std::int64_t>(target);
            }
        }
    }
    return {to_array<double>(std::move(potentials)), to_array<std::int64_t>(std::move(inside))};
}

}  // namespace

void bind_fields(nb::module_& module) {
    module.def("line_potentials", line_potentials, nb::arg("begin"), nb::arg("end"), nb::arg("radius"),
               nb::arg("targets"),
               "Potentials of line pieces of unit strength at targets, by piece, then target, in one over the unit of "
               "length; and the first target within the radius of each piece, or -1.");
}

}  // namespace ranvier::bindings
