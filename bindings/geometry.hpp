#pragma once

#include <cstddef>
#include <vector>

#include "bindings.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/fmm/geometry.hpp"

namespace ranvier::bindings {

/// The coordinates of points, one row for each.
using InputTriples = nb::ndarray<const double, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu>;

inline std::vector<fmm::Point> points_of(const InputTriples& rows) {
    std::vector<fmm::Point> points(rows.shape(0));
    for (std::size_t i = 0; i < points.size(); ++i) {
        const double* const row = rows.data() + 3 * i;
        points[i] = {row[0], row[1], row[2]};
    }
    return points;
}

inline std::vector<fmm::LinePiece> pieces_of(const InputTriples& begin, const InputTriples& end,
                                             const InputArray<double>& radius) {
    if (end.shape(0) != begin.shape(0) || radius.shape(0) != begin.shape(0)) {
        throw InternalError("line pieces with different numbers of ends and radii");
    }
    const std::vector<fmm::Point> first = points_of(begin);
    const std::vector<fmm::Point> last = points_of(end);
    std::vector<fmm::LinePiece> pieces(first.size());
    for (std::size_t i = 0; i < pieces.size(); ++i) pieces[i] = {first[i], last[i], radius.data()[i]};
    return pieces;
}

}  // namespace ranvier::bindings
