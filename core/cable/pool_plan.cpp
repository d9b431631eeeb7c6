#include "cable/pool_plan.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "base/math.hpp"

namespace ranvier::cable {

namespace {

constexpr double faraday = 96485.33212;      // C/mol
constexpr double gas_constant = 8.314462618;  // J/(mol K)
constexpr double zero_celsius = 273.15;       // K
/// mM/ms of a current of 1 pA into a shell of 1 um^3, of ions with one charge.
constexpr double filling = 1e3 / faraday;

/// A placeholder, mM, that the state of a general mechanism replaces.
constexpr double any_concentration = 1e-4;

bool carries_calcium(const MechanismModel& mechanism) {
    if (mechanism.general != nullptr) {
        return std::ranges::any_of(mechanism.general->currents, &GeneralCurrentInfo::carries_calcium);
    }
    return std::ranges::any_of(mechanism.currents, &CurrentInfo::carries_calcium);
}

std::string place_text(const Compartment& own) {
    return "section " + std::to_string(own.section) + ", position " + to_text(0.5 * (own.begin + own.end));
}

void check_reversal(const PaintedMechanism& painted, const Compartment& own, bool has_pool) {
    const MechanismModel& model = *painted.mechanism;
    const std::string name = "mechanism " + std::string(model.name);
    for (const CurrentInfo& current : model.currents) {
        if (!current.carries_calcium) continue;
        const bool is_own = !painted.own.empty() && painted.own[current.reversal] >= 0;
        const bool is_given = !std::isnan(painted.parameters[current.reversal].front());
        if (is_given && has_pool) {
            throw ValueOutOfBoundsError(
                {.object = std::string(model.parameters[current.reversal].name) + " of " + name,
                 .value =
                     is_own ? "a value for each cell" : to_text(painted.parameters[current.reversal].front()) + " mV",
                 .bound = "a calcium_pool gives it in " + place_text(own),
                 .remedy = "leave it out, or paint the mechanism for its own on membrane without a pool"});
        }
        if (!is_given && !has_pool) {
            throw ValueOutOfBoundsError({.object = name,
                                         .value = place_text(own),
                                         .bound = "it needs a reversal potential, and no calcium_pool is there",
                                         .remedy = "paint a calcium_pool on the same membrane, or give " +
                                                   std::string(model.parameters[current.reversal].name)});
        }
    }
}

/// Checks that receptors whose equations read calcium are placed at a pool.
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
                                             .remedy = "let the regions of pools not overlap"});
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

PoolPlan::PoolPlan(std::pmr::memory_resource* memory)
    : slots(memory),
      rest(memory),
      outside(memory),
      log_outside(memory),
      decay(memory),
      gain(memory),
      half_decay(memory),
      half_gain(memory) {}

PoolPlan::PoolPlan(const CellSpec& spec, std::span<const double> own_values,
                   std::span<const std::uint32_t> slot_of_node, double step, std::pmr::memory_resource* memory)
    : PoolPlan(memory) {
    nernst = 1e3 * gas_constant * (spec.celsius + zero_celsius) / (2.0 * faraday);
    const auto compartments = spec.compartments.compartments();
    std::vector<std::pair<std::uint32_t, std::pair<const PaintedMechanism*, std::size_t>>> found;
    for (const PaintedMechanism& painted : spec.mechanisms) {
        if (!painted.mechanism->is_pool()) continue;
        for (std::size_t c = 0; c < compartments.size(); ++c) {
            if (value_at(painted.covered, c) == 0.0) continue;
            found.push_back({slot_of_node[compartments[c].node], {&painted, c}});
        }
    }
    std::ranges::sort(found, {}, [](const auto& own) { return own.first; });
    for (const auto& [slot, place] : found) {
        const auto& [painted, c] = place;
        slots.push_back(slot);
        const auto parameter = [&](std::size_t p) {
            return spec.value(*painted, p, static_cast<std::uint32_t>(c), own_values);
        };
        if (painted->mechanism->general != nullptr) {
            const std::int32_t of_outside = painted->mechanism->general->outside;
            outside.push_back(of_outside < 0 ? GeneralInfo::default_outside
                                             : parameter(static_cast<std::size_t>(of_outside)));
            add_constant();
        } else {
            const PoolInfo& info = *painted->mechanism->pool;
            const double volume = compartments[c].area * value_at(painted->covered, c) * parameter(info.depth);
            outside.push_back(parameter(info.outside));
            add_decaying(parameter(info.rest), parameter(info.share), volume, parameter(info.decay), step);
        }
        log_outside.push_back(math::log(outside.back()));
    }
}

void PoolPlan::add_decaying(double rest_of_it, double share, double volume, double tau, double step) {
    const double steady = -share * filling / (2.0 * volume) * tau;
    rest.push_back(rest_of_it);
    decay.push_back(math::exp(-step / tau));
    gain.push_back(steady * -math::expm1(-step / tau));
    half_decay.push_back(math::exp(-0.5 * step / tau));
    half_gain.push_back(steady * -math::expm1(-0.5 * step / tau));
}

void PoolPlan::add_constant() {
    rest.push_back(any_concentration);
    for (auto* const values : {&decay, &half_decay}) values->push_back(1.0);
    for (auto* const values : {&gain, &half_gain}) values->push_back(0.0);
}

bool PoolPlan::is_at(std::uint32_t slot) const { return std::ranges::binary_search(slots, slot); }

std::size_t PoolPlan::place_of(std::uint32_t slot) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(slots, slot) - slots.begin());
}

}  // namespace ranvier::cable
