#include "ranvier/cable/cell/spec.hpp"

#include <algorithm>
#include <vector>

namespace ranvier::cable {

bool is_of_current(const MechanismModel& mechanism, std::size_t parameter) {
    return std::ranges::any_of(mechanism.currents, [&](const CurrentInfo& current) {
        return current.conductance == parameter || current.reversal == parameter;
    });
}

std::vector<double> rate_parameters(const PaintedMechanism& painted) {
    std::vector<double> values;
    for (std::size_t p = 0; p < painted.parameters.size(); ++p) {
        if (!is_of_current(*painted.mechanism, p)) values.push_back(painted.parameters[p].front());
    }
    return values;
}

}  // namespace ranvier::cable
