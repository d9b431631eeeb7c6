#include "cable/groups/cell_settings.hpp"

namespace ranvier::cable {

void CellSettings::add(const CellSpec& spec, std::span<const double> per_cell_values, double step) {
    begins_.push_back(numbers_.size());
    if (spec.uses.empty()) {
        thresholds_.push_back(spec.threshold);
        return;
    }
    const CellConstants constants = constants_of(spec, per_cell_values);
    thresholds_.push_back(constants.threshold);
    for (std::uint32_t c = 0; c < constants.clamps.size(); ++c) {
        if (!differs_per_cell(spec, c)) continue;
        const ClampCourse course(constants.clamps[c], step);
        numbers_.insert(numbers_.end(), course.numbers().begin(), course.numbers().end());
    }
}

}  // namespace ranvier::cable
