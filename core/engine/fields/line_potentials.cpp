#include "engine/fields/line_potentials.hpp"

#include <algorithm>
#include <cmath>

#include "fmm/near_field.hpp"

namespace ranvier::engine {

LinePotentials line_potentials(std::span<const fmm::LinePiece> pieces, std::span<const fmm::Point> targets) {
    LinePotentials result{.potentials = std::vector<double>(pieces.size() * targets.size()),
                          .inside = std::vector<std::int64_t>(pieces.size(), -1)};
    for (std::size_t piece = 0; piece < pieces.size(); ++piece) {
        const fmm::NearSource<double> source = fmm::near_source(pieces[piece]);
        const fmm::Point begin = pieces[piece].begin;
        const bool is_point = pieces[piece].end == begin;
        const fmm::Point along{source.along_x, source.along_y, source.along_z};
        const fmm::Point whole = pieces[piece].end - begin;
        const double length = std::sqrt(dot(whole, whole));
        for (std::size_t target = 0; target < targets.size(); ++target) {
            const fmm::Point& at = targets[target];
            const fmm::NearValue<double> unit = is_point ? fmm::point_potential<false>(source, at.x, at.y, at.z)
                                                         : fmm::line_potential<false>(source, at.x, at.y, at.z);
            result.potentials[piece * targets.size() + target] = unit.potential;
            const fmm::Point offset = at - begin;
            const fmm::Point from_axis = offset - std::clamp(dot(offset, along), 0.0, length) * along;
            if (result.inside[piece] < 0 && dot(from_axis, from_axis) < source.square_radius) {
                result.inside[piece] = static_cast<std::int64_t>(target);
            }
        }
    }
    return result;
}

}  // namespace ranvier::engine
