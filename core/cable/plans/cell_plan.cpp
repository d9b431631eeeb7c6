#include "cable/plans/cell_plan.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "cable/kernels/program_rates.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::cable {

namespace {

// Factors from densities to areas in um^2.
constexpr double picofarads = 0.01;   // uF/cm^2
constexpr double nanosiemens = 10.0;  // S/cm^2
/// nS of a conductance along a neurite: 1 / (resistivity in ohm cm times an integral in 1/um).
constexpr double axial_nanosiemens = 1e5;

bool has_gates(const PaintedMechanism& painted, Follows follows) {
    const auto gates = painted.mechanism->gates;
    return !gates.empty() && gates.front().follows == follows;
}

}  // namespace

std::size_t CellPlan::Class::place_of(std::uint32_t slot) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(slots, slot) - slots.begin());
}

CellPlan::CellPlan(const CellSpec& cell, std::span<const double> given, double step, RateTables& tables,
                   std::pmr::memory_resource* memory)
    : spec(&cell),
      per_cell_values(given.begin(), given.end()),
      parents(memory),
      axial(memory),
      capacity(memory),
      leak(memory),
      drive(memory),
      begin_slots(memory),
      pools(memory) {
    const CellConstants constants = constants_of(cell, per_cell_values);
    order_nodes();
    add_cable(constants, cell.scheme == Scheme::staggered ? 0.5 * step : step);
    for (const PaintedMechanism& painted : cell.mechanisms) {
        for (const CurrentInfo& current : painted.mechanism->currents) {
            if (current.gates.empty()) add_leak(painted, current);
        }
    }
    pools = PoolPlan(cell, per_cell_values, slot_of_node, step, memory);
    generals = plan_general(cell, per_cell_values, slot_of_node, pools, memory);
    for (const Follows follows : all_followed) add_classes(follows, memory);
    for (Class& each : classes) complete(each, tables, memory);
    choose_begins();
    for (std::uint32_t number = 0; number < cell.receptors.size(); ++number) {
        add_receptor(number, constants.receptors[number], step);
    }
    add_clamps(constants.clamps, step);
    detector = slot_at(cell.detector);
    for (const PlacedElectrode& electrode : cell.electrodes) electrodes.push_back(slot_at(electrode.place));
}

/// Sorts nodes by their depth in the tree, so that consecutive nodes of the elimination do not depend on each other.
/// Within a depth they are in reverse order: those with the lowest subtrees come first, see Compartments::heights().
void CellPlan::order_nodes() {
    const auto nodes = spec->compartments.nodes();
    const std::vector<std::uint32_t> heights = spec->compartments.heights();
    std::vector<std::uint32_t> depth(nodes.size(), 0);
    for (std::size_t i = 1; i < nodes.size(); ++i) depth[i] = depth[static_cast<std::size_t>(nodes[i].parent)] + 1;
    std::vector<std::uint32_t> order(nodes.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
        if (depth[a] != depth[b]) return depth[a] < depth[b];
        return std::pair(heights[a], a) > std::pair(heights[b], b);
    });
    slot_of_node.resize(nodes.size());
    for (std::uint32_t slot = 0; slot < order.size(); ++slot) slot_of_node[order[slot]] = slot;
}

void CellPlan::add_clamps(std::span<const PlacedClamp> given, double step) {
    for (std::uint32_t c = 0; c < given.size(); ++c) {
        clamps.push_back({.slot = slot_at(given[c].place),
                          .course = ClampCourse(given[c], step),
                          .holds = given[c].kind == PlacedClamp::Kind::voltage,
                          .differs_per_cell = differs_per_cell(*spec, c),
                          .first_number = per_cell_numbers});
        if (clamps.back().differs_per_cell) per_cell_numbers += clamps.back().course.numbers().size();
    }
}

void CellPlan::fill_axial(const CellSpec& spec, double resistivity, std::span<const std::uint32_t> slots,
                          std::span<double> axial) {
    const auto nodes = spec.compartments.nodes();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (nodes[i].parent < 0) continue;
        axial[slots[i]] = axial_nanosiemens / (resistivity * nodes[i].resistance_integral);
    }
}

void CellPlan::add_cable(const CellConstants& constants, double capacity_time) {
    const auto nodes = spec->compartments.nodes();
    parents.assign(nodes.size(), 0);
    for (auto* const values : {&axial, &capacity, &leak, &drive}) values->assign(nodes.size(), 0.0);
    fill_axial(*spec, constants.axial_resistivity, slot_of_node, axial);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const std::uint32_t slot = slot_of_node[i];
        if (nodes[i].parent >= 0) parents[slot] = slot_of_node[static_cast<std::size_t>(nodes[i].parent)];
        if (nodes[i].compartment < 0) continue;
        const auto index = static_cast<std::uint32_t>(nodes[i].compartment);
        const Compartment& compartment = spec->compartments.compartments()[index];
        capacity[slot] = compartment.area * value_at(constants.capacitance, index) * picofarads / capacity_time;
        leak[slot] = capacity[slot];
    }
    // In the order of the nodes, independent of that of the slots.
    for (std::size_t i = 1; i < nodes.size(); ++i) {
        const std::uint32_t slot = slot_of_node[i];
        leak[slot] += axial[slot];
        leak[parents[slot]] += axial[slot];
    }
}

double CellPlan::conductance(const PaintedMechanism& painted, std::size_t parameter, std::uint32_t compartment) const {
    return spec->compartments.compartments()[compartment].area * value_at(painted.covered, compartment) *
           spec->value(painted, parameter, compartment, per_cell_values) * nanosiemens;
}

void CellPlan::add_leak(const PaintedMechanism& painted, const CurrentInfo& current) {
    for (std::uint32_t index = 0; index < spec->compartments.size(); ++index) {
        const double g = conductance(painted, current.conductance, index);
        if (g == 0.0) continue;
        const std::uint32_t slot = slot_of_node[spec->compartments.compartments()[index].node];
        leak[slot] += g;
        drive[slot] += g * spec->value(painted, current.reversal, index, per_cell_values);
    }
}

void CellPlan::add_classes(Follows follows, std::pmr::memory_resource* memory) {
    std::map<std::vector<std::uint32_t>, std::size_t> numbers;
    for (std::uint32_t c = 0; c < spec->compartments.size(); ++c) {
        std::vector<std::uint32_t> painted;
        for (std::uint32_t m = 0; m < spec->mechanisms.size(); ++m) {
            const PaintedMechanism& mechanism = spec->mechanisms[m];
            if (has_gates(mechanism, follows) && value_at(mechanism.covered, c) > 0.0) painted.push_back(m);
        }
        if (painted.empty()) continue;
        const auto [place, is_new] = numbers.try_emplace(painted, classes.size());
        if (is_new) {
            classes.emplace_back(memory);
            classes.back().follows = follows;
            classes.back().painted = painted;
        }
        classes[place->second].slots.push_back(slot_of_node[spec->compartments.compartments()[c].node]);
    }
}

void CellPlan::complete(Class& compartment_class, RateTables& tables, std::pmr::memory_resource* memory) {
    std::ranges::sort(compartment_class.slots);
    std::vector<std::uint32_t> compartment_of_slot(slots(), 0);
    for (std::uint32_t c = 0; c < spec->compartments.size(); ++c) {
        compartment_of_slot[slot_of_node[spec->compartments.compartments()[c].node]] = c;
    }
    for (const std::uint32_t m : compartment_class.painted)
        add_mechanism(compartment_class, m, compartment_of_slot, memory);
    if (compartment_class.gates.size() > most_gates) {
        throw ValueOutOfBoundsError({.object = "gates of a compartment",
                                     .value = std::to_string(compartment_class.gates.size()),
                                     .bound = "there can be at most " + std::to_string(most_gates),
                                     .remedy = "paint fewer mechanisms on the same membrane"});
    }
    // A table has one argument.
    if (spec->rates == RateMethod::table && compartment_class.follows != Follows::both)
        compartment_class.table = tables.of(compartment_class.gates);
}

void CellPlan::choose_begins() {
    std::vector<bool> has_class(slots(), false);
    for (const Class& compartment_class : classes) {
        if (compartment_class.follows != Follows::potential) continue;
        for (const std::uint32_t slot : compartment_class.slots) has_class[slot] = true;
    }
    for (std::uint32_t slot = 0; slot < slots(); ++slot) {
        if (!has_class[slot]) begin_slots.push_back(slot);
    }
}

void CellPlan::add_mechanism(Class& compartment_class, std::uint32_t index,
                             std::span<const std::uint32_t> compartment_of_slot, std::pmr::memory_resource* memory) {
    const PaintedMechanism& painted = spec->mechanisms[index];
    const auto first = static_cast<std::uint32_t>(compartment_class.gates.size());
    compartment_class.first_gates.push_back(first);
    compartment_class.key.push_back(static_cast<std::uint64_t>(spec->rates));
    compartment_class.key.push_back(reinterpret_cast<std::uintptr_t>(painted.mechanism));
    for (const double value : rate_parameters(painted))
        compartment_class.key.push_back(std::bit_cast<std::uint64_t>(value));
    // Parameters of currents do not affect rates.
    std::vector<double> parameters;
    parameters.reserve(painted.parameters.size());
    for (std::size_t p = 0; p < painted.parameters.size(); ++p) {
        parameters.push_back(is_of_current(*painted.mechanism, p) ? 0.0 : painted.parameters[p].front());
    }
    for (const GateInfo& gate : painted.mechanism->gates)
        compartment_class.gates.push_back(gate_of(gate, parameters, spec->celsius));
    for (const CurrentInfo& current : painted.mechanism->currents) {
        if (current.gates.empty()) continue;
        AlignedVector<double> conductances(memory);
        for (const std::uint32_t slot : compartment_class.slots) {
            conductances.push_back(conductance(painted, current.conductance, compartment_of_slot[slot]));
        }
        compartment_class.conductances.push_back(std::move(conductances));
        KernelCurrent kernel{.conductance = compartment_class.conductances.back().data(),
                             .reversal = spec->value(painted, current.reversal, 0, per_cell_values)};
        compartment_class.key.push_back(std::bit_cast<std::uint64_t>(kernel.reversal));
        for (const GatePower& gate : current.gates) {
            kernel.gates[kernel.gate_count++] = {first + gate.gate, gate.power};
        }
        // If a reversal potential is given, there is no pool; see check_calcium().
        const bool fills = current.carries_calcium && std::isnan(kernel.reversal);
        (fills ? compartment_class.calcium_currents : compartment_class.currents).push_back(kernel);
    }
}

void CellPlan::add_receptor(std::uint32_t number, std::span<const double> parameters, double step) {
    const PlacedReceptor& placed = spec->receptors[number];
    receptors_of_sites_.emplace_back();
    if (placed.model->general != nullptr) return;
    const ReceptorConstants constants = placed.model->constants(parameters, step);
    std::map<std::uint32_t, std::size_t> of_slot;
    for (std::uint32_t site = 0; site < placed.places.size(); ++site) {
        const std::uint32_t slot = slot_at(placed.places[site]);
        const auto [found, is_first] = of_slot.try_emplace(slot, receptors.size());
        const std::uint32_t place = is_first ? 0 : receptors[found->second].place + 1;
        if (is_first || spec->separate_sites) {
            found->second = receptors.size();
            receptors.push_back({.slot = slot, .constants = constants, .number = number, .place = place, .sites = {}});
        }
        receptors[found->second].sites.push_back(site);
        receptors_of_sites_[number].push_back(found->second);
    }
}

std::uint32_t CellPlan::slot_at(Place place) const {
    const std::uint32_t compartment = spec->compartments.at(place, "place");
    return slot_of_node[spec->compartments.compartments()[compartment].node];
}

const CellPlan::Class* CellPlan::class_with(std::uint32_t painted, std::uint32_t slot) const {
    for (const Class& compartment_class : classes) {
        if (std::ranges::find(compartment_class.painted, painted) == compartment_class.painted.end()) continue;
        if (std::ranges::binary_search(compartment_class.slots, slot)) return &compartment_class;
    }
    return nullptr;
}

std::optional<std::size_t> CellPlan::general_of(std::uint32_t painted) const {
    const auto found = std::ranges::find(generals, painted, &GeneralPlan::painted);
    if (found == generals.end()) return std::nullopt;
    return static_cast<std::size_t>(found - generals.begin());
}

}  // namespace ranvier::cable
