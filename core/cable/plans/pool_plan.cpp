#include "cable/plans/pool_plan.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/math.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::cable {

namespace {

constexpr double faraday = 96485.33212;      // C/mol
constexpr double gas_constant = 8.314462618;  // J/(mol K)
constexpr double zero_celsius = 273.15;       // K
/// mM/ms of a current of 1 pA of monovalent ions into a shell of 1 um^3.
constexpr double filling = 1e3 / faraday;

/// A placeholder, mM, which the state of a general mechanism replaces.
constexpr double any_concentration = 1e-4;

}  // namespace

PoolPlan::PoolPlan(std::pmr::memory_resource* memory)
    : slots(memory),
      rest(memory),
      outside(memory),
      log_outside(memory),
      decay(memory),
      gain(memory),
      half_decay(memory),
      half_gain(memory) {}

PoolPlan::PoolPlan(const CellSpec& spec, std::span<const double> per_cell_values,
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
    std::ranges::sort(found, {}, [](const auto& each) { return each.first; });
    for (const auto& [slot, place] : found) {
        const auto& [painted, c] = place;
        slots.push_back(slot);
        const auto parameter = [&](std::size_t p) {
            return spec.value(*painted, p, static_cast<std::uint32_t>(c), per_cell_values);
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
