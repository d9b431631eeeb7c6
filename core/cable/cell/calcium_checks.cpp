#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "cable/cell/checks.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::cable {

namespace {

bool carries_calcium(const MechanismModel& mechanism) {
    if (mechanism.general != nullptr) {
        return std::ranges::any_of(mechanism.general->currents, &GeneralCurrentInfo::carries_calcium);
    }
    return std::ranges::any_of(mechanism.currents, &CurrentInfo::carries_calcium);
}

std::string place_text(const Compartment& compartment) {
    return "section " + std::to_string(compartment.section) + ", position " +
           to_text(0.5 * (compartment.begin + compartment.end));
}

void check_reversal(const PaintedMechanism& painted, const Compartment& compartment, bool has_pool) {
    const MechanismModel& model = *painted.mechanism;
    const std::string name = "mechanism " + std::string(model.name);
    for (const CurrentInfo& current : model.currents) {
        if (!current.carries_calcium) continue;
        const bool is_per_cell = !painted.per_cell.empty() && painted.per_cell[current.reversal] >= 0;
        const bool is_given = !std::isnan(painted.parameters[current.reversal].front());
        if (is_given && has_pool) {
            throw ValueOutOfBoundsError(
                {.object = std::string(model.parameters[current.reversal].name) + " of " + name,
                 .value = is_per_cell ? "a value for each cell"
                                      : to_text(painted.parameters[current.reversal].front()) + " mV",
                 .bound = "a calcium_pool gives it in " + place_text(compartment),
                 .remedy = "leave it out, or paint the mechanism separately on membrane without a pool"});
        }
        if (!is_given && !has_pool) {
            throw ValueOutOfBoundsError({.object = name,
                                         .value = place_text(compartment),
                                         .bound = "it needs a reversal potential, and no calcium_pool is there",
                                         .remedy = "paint a calcium_pool on the same membrane, or give " +
                                                   std::string(model.parameters[current.reversal].name)});
        }
    }
}

/// Checks that receptors whose equations read calcium are placed where there is a pool.
void check_receptors(const CellSpec& spec, const std::vector<bool>& has_pool) {
    for (const PlacedReceptor& receptor : spec.receptors) {
        if (receptor.model->general == nullptr || !receptor.model->general->follows_calcium()) continue;
        for (const Place place : receptor.places) {
            const std::uint32_t c = spec.compartments.at(place, "place of a receptor");
            if (has_pool[c]) continue;
            throw ValueOutOfBoundsError({.object = "receptor '" + receptor.name + "'",
                                         .value = place_text(spec.compartments.compartments()[c]),
                                         .bound = "its equations read calcium, and no calcium_pool is there",
                                         .remedy = "paint a calcium_pool on the same membrane"});
        }
    }
}

}  // namespace

bool is_calcium_reversal(const MechanismModel& mechanism, std::size_t parameter) {
    return std::ranges::any_of(mechanism.currents, [&](const CurrentInfo& current) {
        return current.carries_calcium && current.reversal == parameter;
    });
}

void check_calcium(const CellSpec& spec) {
    std::vector<bool> has_pool(spec.compartments.size(), false);
    const auto compartments = spec.compartments.compartments();
    for (const PaintedMechanism& painted : spec.mechanisms) {
        if (!painted.mechanism->is_pool()) continue;
        for (std::size_t c = 0; c < compartments.size(); ++c) {
            if (value_at(painted.covered, c) == 0.0) continue;
            if (has_pool[c]) {
                throw ValueOutOfBoundsError({.object = "mechanism " + std::string(painted.mechanism->name),
                                             .value = "twice in " + place_text(compartments[c]),
                                             .bound = "a compartment has at most one pool of calcium",
                                             .remedy = "choose regions of pools that do not overlap"});
            }
            has_pool[c] = true;
        }
    }
    for (const PaintedMechanism& painted : spec.mechanisms) {
        const bool follows = painted.mechanism->follows_calcium();
        if (!follows && !carries_calcium(*painted.mechanism)) continue;
        for (std::size_t c = 0; c < compartments.size(); ++c) {
            if (value_at(painted.covered, c) == 0.0) continue;
            check_reversal(painted, compartments[c], has_pool[c]);
            if (!follows || has_pool[c]) continue;
            throw ValueOutOfBoundsError({.object = "mechanism " + std::string(painted.mechanism->name),
                                         .value = place_text(compartments[c]),
                                         .bound = painted.mechanism->general != nullptr
                                                      ? "its equations read calcium, and no calcium_pool is there"
                                                      : "its gates follow calcium, and no calcium_pool is there",
                                         .remedy = "paint a calcium_pool on the same membrane"});
        }
    }
    check_receptors(spec, has_pool);
}

}  // namespace ranvier::cable
