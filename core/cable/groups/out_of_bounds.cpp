#include "cable/groups/out_of_bounds.hpp"

#include <algorithm>
#include <string>

#include "cable/kernels/calcium_kernel.hpp"
#include "cable/plans/cell_plan.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::cable {

namespace {

/// The place of a slot in messages: the middle of its compartment.
std::string place_of(const CellPlan& plan, std::uint32_t slot) {
    const Compartments& all = plan.spec->compartments;
    const auto node = std::ranges::find(plan.slot_of_node, slot) - plan.slot_of_node.begin();
    const std::int32_t compartment = all.nodes()[static_cast<std::size_t>(node)].compartment;
    if (compartment < 0) return "a point where sections meet";
    const Compartment& found = all.compartments()[static_cast<std::size_t>(compartment)];
    return "section " + std::to_string(found.section) + ", position " + to_text(0.5 * (found.begin + found.end));
}

void describe_general(const OutOfBounds& out_of_bounds, const CellPlan& plan, models::GroupFailure& failure) {
    const std::size_t mechanisms = plan.spec->mechanisms.size();
    const bool is_receptor = out_of_bounds.painted >= mechanisms;
    const MechanismModel& model = *plan.generals[plan.general_of(out_of_bounds.painted).value()].model;
    const std::string of = is_receptor
                               ? " of receptor '" + plan.spec->receptors[out_of_bounds.painted - mechanisms].name + "'"
                               : " of mechanism " + std::string(model.name);
    if (out_of_bounds.of == OutOfBounds::Of::iteration) {
        failure.what = "the iteration that solves its equations has not converged: steps are too long for them";
        failure.variable = "states" + of;
        failure.value = "";
        return;
    }
    failure.what = "it is not finite: its equations divide by 0 or grow without bound there, or steps are too long";
    if (out_of_bounds.of == OutOfBounds::Of::state) {
        const StateInfo& state = model.general->states[out_of_bounds.variable];
        failure.variable = "state " + std::string(state.name) + of;
        failure.value = to_text(out_of_bounds.value) + " " + std::string(state.unit);
    } else {
        failure.variable = "current " + std::string(model.general->currents[out_of_bounds.variable].name) + of;
        failure.value = to_text(out_of_bounds.value) + (is_receptor ? " nA" : " mA/cm^2");
    }
}

}  // namespace

models::GroupFailure describe(const OutOfBounds& out_of_bounds, const CellPlan& plan) {
    models::GroupFailure failure{.what = "it is not finite",
                                 .variable = "potential",
                                 .place = place_of(plan, out_of_bounds.slot),
                                 .value = to_text(out_of_bounds.value) + " mV",
                                 .neuron = out_of_bounds.cell,
                                 .step = out_of_bounds.step};
    if (out_of_bounds.of == OutOfBounds::Of::potential) {
        failure.what = "it has left the range from " + to_text(potential_range.lowest) + " to " +
                       to_text(potential_range.highest) + " mV for which rates of channels are tabulated";
    }
    if (out_of_bounds.of == OutOfBounds::Of::calcium) {
        failure.variable = "concentration of calcium";
        failure.value = to_text(out_of_bounds.value) + " mM";
        failure.what = "it has left the range from " + to_text(lowest_calcium) + " to " + to_text(highest_calcium) +
                       " mM: steps are too long for its pool, or too much current flows into too thin a shell";
    }
    if (out_of_bounds.of >= OutOfBounds::Of::state) describe_general(out_of_bounds, plan, failure);
    return failure;
}

}  // namespace ranvier::cable
