#include "cable/plans/general_plan.hpp"

#include <algorithm>
#include <numbers>
#include <utility>

#include "base/math.hpp"
#include "base/subnormals.hpp"
#include "cable/mechanisms/general_mechanism.hpp"
#include "program/evaluate.hpp"

namespace ranvier::cable {

namespace {

constexpr double nanosiemens_of_density = 10.0;  // of S/cm^2 in um^2
constexpr double of_microsiemens = 1000.0;

/// um, diameter of a cylinder with the same length and surface.
double diameter_of(const Compartment& compartment, const Morphology& morphology) {
    const double length = morphology.length(compartment.section) * (compartment.end - compartment.begin);
    return compartment.area / (std::numbers::pi * length);
}

/// @param covered see GeneralPlan
void add_place(GeneralPlan& plan, const CellSpec& spec, std::uint32_t compartment, double covered,
               const PoolPlan& pools) {
    const Compartment& found = spec.compartments.compartments()[compartment];
    const std::uint32_t slot = plan.slots[plan.area.size()];
    plan.compartments.push_back(compartment);
    plan.area.push_back(found.area);
    plan.surface.push_back(found.area * nanosiemens_of_density);
    plan.covered.push_back(covered);
    plan.diameter.push_back(diameter_of(found, spec.compartments.morphology()));
    if (pools.is_at(slot)) {
        const std::size_t pool = pools.place_of(slot);
        plan.pools.emplace_back(static_cast<std::uint32_t>(pool));
        plan.outside.push_back(pools.outside[pool]);
    } else {
        plan.pools.emplace_back();
        plan.outside.push_back(0.0);
    }
}

std::vector<double> values_at(const GeneralPlan& plan, std::size_t place) {
    std::vector<double> values;
    values.reserve(plan.parameters.size());
    for (const AlignedVector<double>& each : plan.parameters) values.push_back(each[place]);
    return values;
}

std::vector<double> inputs_at(const GeneralPlan& plan, std::size_t place, std::span<const double> parameters,
                              std::span<const double> states, const GeneralMoment& moment) {
    std::vector<double> inputs(states.begin(), states.end());
    inputs.resize(states.size() + external_count, 0.0);
    const auto set = [&](External external, double value) { inputs[input_of(external, states.size())] = value; };
    set(External::potential, moment.potential);
    set(External::celsius, moment.celsius);
    set(External::step, moment.step);
    set(External::time, moment.time);
    set(External::diameter, plan.diameter[place]);
    set(External::area, plan.area[place]);
    if (plan.pools[place]) {
        set(External::calcium, moment.calcium);
        set(External::outside, plan.outside[place]);
        set(External::calcium_reversal, moment.nernst * (math::log(plan.outside[place]) - math::log(moment.calcium)));
    }
    inputs.insert(inputs.end(), parameters.begin(), parameters.end());
    return inputs;
}

GeneralPlan plan_receptor(const CellSpec& spec, std::uint32_t number, std::span<const double> parameters,
                          std::span<const std::uint32_t> slot_of_node, const PoolPlan& pools,
                          std::pmr::memory_resource* memory) {
    const PlacedReceptor& placed = spec.receptors[number];
    GeneralPlan plan(memory);
    plan.painted = static_cast<std::uint32_t>(spec.mechanisms.size()) + number;
    plan.model = placed.model->general;
    plan.receptor = number;
    for (const double value : parameters) plan.parameters.emplace_back(placed.places.size(), value, memory);
    const std::vector<double> zero(plan.model->general->states.size(), 0.0);
    for (const Place place : placed.places) {
        const std::uint32_t compartment = spec.compartments.at(place, "place");
        plan.slots.push_back(slot_of_node[spec.compartments.compartments()[compartment].node]);
        add_place(plan, spec, compartment, of_microsiemens, pools);
        const std::vector<double> inputs =
            inputs_at(plan, plan.slots.size() - 1, parameters, zero, {.celsius = spec.celsius});
        plan.jumps.push_back(program::evaluate(*plan.model->general->jumps, inputs));
    }
    return plan;
}

}  // namespace

std::size_t GeneralPlan::place_of(std::uint32_t slot) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(slots, slot) - slots.begin());
}

bool GeneralPlan::is_at(std::uint32_t slot) const { return std::ranges::binary_search(slots, slot); }

std::vector<GeneralPlan> plan_general(const CellSpec& spec, std::span<const double> per_cell_values,
                                      std::span<const std::uint32_t> slot_of_node, const PoolPlan& pools,
                                      std::pmr::memory_resource* memory) {
    std::vector<GeneralPlan> plans;
    for (std::uint32_t m = 0; m < spec.mechanisms.size(); ++m) {
        const PaintedMechanism& painted = spec.mechanisms[m];
        if (painted.mechanism->general == nullptr) continue;
        std::vector<std::pair<std::uint32_t, std::uint32_t>> places;  // pairs of slot and compartment
        for (std::uint32_t c = 0; c < spec.compartments.size(); ++c) {
            if (value_at(painted.covered, c) == 0.0) continue;
            places.emplace_back(slot_of_node[spec.compartments.compartments()[c].node], c);
        }
        if (places.empty()) continue;
        std::ranges::sort(places);
        GeneralPlan& plan = plans.emplace_back(memory);
        plan.painted = m;
        plan.model = painted.mechanism;
        plan.parameters.resize(painted.parameters.size(), AlignedVector<double>(memory));
        for (const auto& [slot, compartment] : places) plan.slots.push_back(slot);
        for (const auto& [slot, compartment] : places) {
            for (std::size_t p = 0; p < painted.parameters.size(); ++p) {
                plan.parameters[p].push_back(spec.value(painted, p, compartment, per_cell_values));
            }
            const double area = spec.compartments.compartments()[compartment].area;
            add_place(plan, spec, compartment, area * value_at(painted.covered, compartment) * nanosiemens_of_density,
                      pools);
        }
    }
    const CellConstants constants = constants_of(spec, per_cell_values);
    for (std::uint32_t r = 0; r < spec.receptors.size(); ++r) {
        if (spec.receptors[r].model->general == nullptr) continue;
        plans.push_back(plan_receptor(spec, r, constants.receptors[r], slot_of_node, pools, memory));
    }
    return plans;
}

std::vector<double> initial_states(const GeneralPlan& plan, std::size_t place, const GeneralMoment& moment) {
    const std::vector<double> zero(plan.model->general->states.size(), 0.0);
    const std::vector<double> inputs = inputs_at(plan, place, values_at(plan, place), zero, moment);
    std::vector<double> states = program::evaluate(*plan.model->general->initial, inputs);
    for (double& state : states) state = without_subnormal(state);
    return states;
}

std::vector<double> parameters_at(const GeneralPlan& plan, std::size_t place, const CellSpec& spec,
                                  std::span<const double> per_cell_values) {
    if (spec.per_cell.empty()) return values_at(plan, place);
    if (plan.receptor) return constants_of(spec, per_cell_values).receptors[*plan.receptor];
    std::vector<double> values;
    values.reserve(plan.parameters.size());
    for (std::size_t p = 0; p < plan.parameters.size(); ++p) {
        values.push_back(spec.value(spec.mechanisms[plan.painted], p, plan.compartments[place], per_cell_values));
    }
    return values;
}

std::vector<double> current_densities(const GeneralPlan& plan, std::size_t place, std::span<const double> parameters,
                                      std::span<const double> states, const GeneralMoment& moment) {
    const std::vector<double> inputs = inputs_at(plan, place, parameters, states, moment);
    const std::vector<double> results = program::evaluate(*plan.model->general->current, inputs);
    std::vector<double> densities;
    for (std::size_t k = 0; k < results.size(); k += 2) densities.push_back(results[k]);
    return densities;
}

}  // namespace ranvier::cable
