#include "cable/groups/probe_reading.hpp"

#include <algorithm>

#include "base/math.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::cable {

namespace {

double gate_of(std::uint32_t painted, std::size_t gate, std::uint32_t slot, const CellPlan& plan,
               const CellValues& values, std::size_t cell) {
    if (const auto general = plan.general_of(painted)) {
        return values.state(cell, *general, plan.generals[*general].place_of(slot), gate);
    }
    const CellPlan::Class& compartment_class = *plan.class_with(painted, slot);
    const auto index = static_cast<std::size_t>(&compartment_class - plan.classes.data());
    return values.gate(cell, index, compartment_class.place_of(slot), compartment_class.first_gate(painted) + gate);
}

double calcium_reversal_at(std::uint32_t slot, const CellPlan& plan, const CellValues& values, std::size_t cell) {
    const std::size_t pool = plan.pools.place_of(slot);
    return plan.pools.nernst * (values.log_outside(cell, pool) - math::log(values.calcium(cell, pool)));
}

/// mA/cm^2 of membrane with the mechanism.
double current_density(const Probe& probe, const CurrentInfo& info, const CellPlan& plan, const CellValues& values,
                       std::size_t cell) {
    const PaintedMechanism& painted = plan.spec->mechanisms[probe.of];
    const std::uint32_t compartment = plan.spec->compartments.at(probe.place, "place");
    const std::uint32_t slot = plan.slot_at(probe.place);
    const std::vector<double> per_cell_values = values.per_cell_values(cell);
    double density = plan.spec->value(painted, info.conductance, compartment, per_cell_values);
    for (const GatePower& gate : info.gates) {
        const double x = gate_of(probe.of, gate.gate, slot, plan, values, cell);
        for (std::uint32_t p = 0; p < gate.power; ++p) density *= x;
    }
    const double reversal = info.carries_calcium && plan.pools.is_at(slot)
                                ? calcium_reversal_at(slot, plan, values, cell)
                                : plan.spec->value(painted, info.reversal, compartment, per_cell_values);
    return density * (values.potential(cell, slot) - reversal);
}

/// The currents at a place of a general mechanism.
std::vector<double> densities_at(std::size_t general, std::size_t place, const CellPlan& plan, const CellValues& values,
                                 std::size_t cell) {
    const GeneralPlan& general_plan = plan.generals[general];
    std::vector<double> states;
    states.reserve(general_plan.model->variables());
    for (std::size_t s = 0; s < general_plan.model->variables(); ++s)
        states.push_back(values.state(cell, general, place, s));
    const std::optional<std::uint32_t>& pool = general_plan.pools[place];
    const double calcium = pool ? values.calcium(cell, *pool) : 0.0;
    const std::vector<double> parameters = parameters_at(general_plan, place, *plan.spec, values.per_cell_values(cell));
    return current_densities(general_plan, place, parameters, states,
                             {.potential = values.potential(cell, general_plan.slots[place]),
                              .celsius = plan.spec->celsius,
                              .calcium = calcium,
                              .nernst = plan.pools.nernst,
                              .step = values.step(),
                              .time = values.time()});
}

/// The same for a general mechanism.
double general_density(const Probe& probe, std::size_t general, const CellPlan& plan, const CellValues& values,
                       std::size_t cell) {
    const std::size_t place = plan.generals[general].place_of(plan.slot_at(probe.place));
    return densities_at(general, place, plan, values, cell)[probe.gate];
}

double current_density(const Probe& probe, const CellPlan& plan, const CellValues& values, std::size_t cell) {
    if (const auto general = plan.general_of(probe.of)) return general_density(probe, *general, plan, values, cell);
    const MechanismModel& model = *plan.spec->mechanisms[probe.of].mechanism;
    if (model.sums.empty()) return current_density(probe, model.currents[probe.gate], plan, values, cell);
    double sum = 0.0;
    for (const std::uint32_t current : model.sums[probe.gate].currents) {
        sum += current_density(probe, model.currents[current], plan, values, cell);
    }
    return sum;
}

/// The sum of a quantity of a receptor over all of its sites, or its value at one of them.
template <class Read>
double of_receptor(const Probe& probe, const CellPlan& plan, Read read) {
    if (probe.gate != Probe::every_site) return read(plan.receptor_at(probe.of, probe.gate));
    double sum = 0.0;
    for (std::size_t r = 0; r < plan.receptors.size(); ++r) {
        if (plan.receptors[r].number == probe.of) sum += read(r);
    }
    return sum;
}

/// Outward current of a receptor that is a general mechanism, pA: at all sites, or at one.
double general_current(const Probe& probe, std::size_t general, const CellPlan& plan, const CellValues& values,
                       std::size_t cell) {
    const GeneralPlan& general_plan = plan.generals[general];
    double sum = 0.0;
    for (std::size_t place = 0; place < general_plan.slots.size(); ++place) {
        if (probe.gate != Probe::every_site && probe.gate != place) continue;
        const std::vector<double> densities = densities_at(general, place, plan, values, cell);
        for (std::size_t c = 0; c < densities.size(); ++c) {
            if (general_plan.model->general->currents[c].flows) sum += general_plan.covered[place] * densities[c];
        }
    }
    return sum;
}

/// Outward current, pA.
double receptor_current(std::size_t receptor, const CellPlan& plan, const CellValues& values, std::size_t cell) {
    const ReceptorConstants& constants = values.receptor_constants(cell, receptor);
    const double v = values.potential(cell, plan.receptors[receptor].slot);
    double g = values.conductance(cell, receptor);
    if (constants.blockers > 0.0) g /= 1.0 + constants.blockers * math::exp(-constants.block_slope * v);
    return g * (v - constants.reversal);
}

/// Axial conductances of a cell between slots and their parents, nS.
/// @param recalculated room for those of cells that differ from their plan
std::span<const double> axial_conductances(const CellPlan& plan, const CellValues& values, std::size_t cell,
                                           std::vector<double>& recalculated) {
    if (std::ranges::find(plan.spec->uses, PerCellUse::Kind::axial_resistivity, &PerCellUse::kind) ==
        plan.spec->uses.end()) {
        return plan.axial;
    }
    recalculated.resize(plan.slots());
    const double resistivity = constants_of(*plan.spec, values.per_cell_values(cell)).axial_resistivity;
    CellPlan::fill_axial(*plan.spec, resistivity, plan.slot_of_node, recalculated);
    return recalculated;
}

double clamp_current(std::size_t clamp, const CellPlan& plan, const CellValues& values, std::size_t cell) {
    const ClampCourse::Action action = values.action(cell, clamp);
    return action.current - action.conductance * values.potential(cell, plan.clamps[clamp].slot);
}

/// Current into a compartment from its neighbours, pA.
double axial_current(std::uint32_t slot, const CellPlan& plan, const CellValues& values, std::size_t cell) {
    std::vector<double> recalculated;
    const std::span<const double> axial = axial_conductances(plan, values, cell, recalculated);
    thread_local std::vector<double> outside;
    const bool is_outside = values.outside_potentials(cell, outside);
    const auto inner = [&](std::uint32_t at) { return values.potential(cell, at) + (is_outside ? outside[at] : 0.0); };
    const double v = inner(slot);
    double sum = 0.0;
    if (slot > 0) sum += axial[slot] * (inner(plan.parents[slot]) - v);
    for (std::uint32_t child = slot + 1; child < plan.slots(); ++child) {
        if (plan.parents[child] == slot) sum += axial[child] * (inner(child) - v);
    }
    return sum;
}

}  // namespace

std::span<const double> outside_currents(const CellPlan& plan, const CellValues& values, std::size_t cell,
                                         std::span<const double> potentials, std::vector<double>& room) {
    thread_local std::vector<double> recalculated;
    const std::span<const double> axial = axial_conductances(plan, values, cell, recalculated);
    room.assign(plan.slots(), 0.0);
    for (std::uint32_t slot = 1; slot < plan.slots(); ++slot) {
        const std::uint32_t parent = plan.parents[slot];
        const double current = axial[slot] * (potentials[parent] - potentials[slot]);
        room[slot] += current;
        room[parent] -= current;
    }
    return room;
}

void read_membrane_currents(const CellPlan& plan, const CellValues& values, std::size_t cell, double* out) {
    std::vector<double> recalculated;
    const std::span<const double> axial = axial_conductances(plan, values, cell, recalculated);
    thread_local std::vector<double> potentials;
    thread_local std::vector<double> currents;
    potentials.resize(plan.slots());
    currents.assign(plan.slots(), 0.0);
    for (std::uint32_t slot = 0; slot < plan.slots(); ++slot) potentials[slot] = values.potential(cell, slot);
    for (std::uint32_t slot = 1; slot < plan.slots(); ++slot) {
        const std::uint32_t parent = plan.parents[slot];
        const double current = axial[slot] * (potentials[parent] - potentials[slot]);
        currents[slot] += current;
        currents[parent] -= current;
    }
    thread_local std::vector<double> outside;
    if (values.outside_potentials(cell, outside)) {
        thread_local std::vector<double> room;
        const std::span<const double> added = outside_currents(plan, values, cell, outside, room);
        for (std::uint32_t slot = 0; slot < plan.slots(); ++slot) currents[slot] += added[slot];
    }
    for (std::size_t electrode = 0; electrode < plan.electrodes.size(); ++electrode) {
        currents[plan.electrodes[electrode]] += values.injected(cell, electrode);
    }
    for (std::size_t clamp = 0; clamp < plan.clamps.size(); ++clamp) {
        currents[plan.clamps[clamp].slot] += clamp_current(clamp, plan, values, cell);
    }
    const std::span<const Compartment> compartments = plan.spec->compartments.compartments();
    for (std::size_t i = 0; i < compartments.size(); ++i) out[i] = currents[plan.slot_of_node[compartments[i].node]];
}

double read_probe(const Probe& probe, const CellPlan& plan, const CellValues& values, std::size_t cell) {
    switch (probe.kind) {
        case Probe::Kind::potential:
            return values.potential(cell, plan.slot_at(probe.place));
        case Probe::Kind::gate:
            return gate_of(probe.of, probe.gate, plan.slot_at(probe.place), plan, values, cell);
        case Probe::Kind::conductance:
            return of_receptor(probe, plan, [&](std::size_t r) { return values.conductance(cell, r); });
        case Probe::Kind::current:
            return current_density(probe, plan, values, cell);
        case Probe::Kind::receptor_current:
            if (const auto general = plan.general_of_receptor(probe.of)) {
                return general_current(probe, *general, plan, values, cell);
            }
            return of_receptor(probe, plan, [&](std::size_t r) { return receptor_current(r, plan, values, cell); });
        case Probe::Kind::calcium:
            return values.calcium(cell, plan.pools.place_of(plan.slot_at(probe.place)));
        case Probe::Kind::calcium_reversal:
            return calcium_reversal_at(plan.slot_at(probe.place), plan, values, cell);
        case Probe::Kind::axial_current:
            return axial_current(plan.slot_at(probe.place), plan, values, cell);
        case Probe::Kind::electrode_current:
            return values.injected(cell, probe.of);
        case Probe::Kind::clamp_current:
            return clamp_current(probe.of, plan, values, cell);
    }
    throw InternalError("a probe of an unknown kind");
}

}  // namespace ranvier::cable
