#include "cable/cell/checks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_set>
#include <utility>

#include "cable/cell/bound_checks.hpp"
#include "cable/kernels/program_rates.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::cable {

namespace {

constexpr Bounds temperature_bounds{.lower = -50.0, .upper = 100.0};
constexpr Bounds refractory_bounds{.lower = 0.0, .upper = 1e6};

/// Whether a parameter may have a value for each compartment.
bool may_differ(const MechanismModel& mechanism, std::size_t parameter) {
    if (mechanism.general != nullptr) return true;
    return mechanism.pool != nullptr || std::ranges::any_of(mechanism.currents, [&](const CurrentInfo& current) {
               return current.conductance == parameter || (current.reversal == parameter && current.gates.empty());
           });
}

/// Checks that a parameter may differ between cells.
void check_may_differ(const PaintedMechanism& painted, std::size_t parameter) {
    const MechanismModel& model = *painted.mechanism;
    const std::string object =
        std::string(model.parameters[parameter].name) + " of mechanism " + std::string(model.name);
    if (!may_differ(model, parameter) && !is_of_current(model, parameter)) {
        throw ValueOutOfBoundsError({.object = object,
                                     .value = "a value for each cell",
                                     .bound = "it changes rates, of which cells of one kind share tables",
                                     .remedy = "make a rv.Cell for each value, and give net.create() a list of them"});
    }
    check_factors(painted.parameters[parameter], model.parameters[parameter].bounds, false, object);
}

void check(const PaintedMechanism& painted, std::size_t compartments) {
    const MechanismModel& model = *painted.mechanism;
    const std::string name = "mechanism " + std::string(model.name);
    check_length(painted.covered.size(), compartments, "covered membrane of " + name);
    for (const double part : painted.covered) {
        check_bounds(part, {.lower = 0.0, .upper = 1.0}, "covered membrane of " + name, "");
    }
    if (painted.parameters.size() != model.parameters.size()) {
        throw ShapeError({.object = "parameters of " + name,
                          .value = std::to_string(painted.parameters.size()),
                          .bound = "it has " + std::to_string(model.parameters.size()),
                          .remedy = "give each of them"});
    }
    for (std::size_t p = 0; p < model.parameters.size(); ++p) {
        const models::ParameterInfo& info = model.parameters[p];
        const std::string object = std::string(info.name) + " of " + name;
        check_length(painted.parameters[p].size(), compartments, object);
        const bool is_per_cell = !painted.per_cell.empty() && painted.per_cell[p] >= 0;
        if (is_per_cell) check_may_differ(painted, p);
        for (const double value : painted.parameters[p]) {
            if (is_per_cell || (std::isnan(value) && is_calcium_reversal(model, p))) continue;
            check_parameter(value, info, object);
        }
        if (painted.parameters[p].size() == 1 || may_differ(model, p)) continue;
        throw ShapeError(
            {.object = object,
             .value = "a value for each compartment",
             .bound = "rates and reversal potentials of gated currents are the same wherever the mechanism is",
             .remedy = "paint the mechanism once for each value"});
    }
}

/// Checks the rates of a user-defined mechanism, over the ranges of potentials and concentrations of tables.
void check_rates(const PaintedMechanism& painted, double celsius) {
    std::vector<double> parameters;
    parameters.reserve(painted.parameters.size());
    for (const auto& values : painted.parameters) parameters.push_back(values.front());
    check_program_rates(*painted.mechanism, parameters, celsius);
}

void check(const PlacedReceptor& receptor, const Morphology& morphology) {
    const ReceptorModel& model = *receptor.model;
    const std::string name = "receptor '" + receptor.name + "'";
    if (receptor.places.empty()) {
        throw ShapeError({.object = "places of " + name,
                          .value = "none",
                          .bound = "a receptor has at least one place",
                          .remedy = "give a place, or leave the receptor out"});
    }
    for (const Place place : receptor.places) morphology.check(place, "place of " + name);
    if (receptor.parameters.size() != model.parameters.size()) {
        throw ShapeError({.object = "parameters of " + name,
                          .value = std::to_string(receptor.parameters.size()),
                          .bound = std::string(model.name) + " has " + std::to_string(model.parameters.size()),
                          .remedy = "give each of them"});
    }
    for (std::size_t p = 0; p < model.parameters.size(); ++p) {
        const models::ParameterInfo& info = model.parameters[p];
        check_parameter(receptor.parameters[p], info, std::string(info.name) + " of " + name);
    }
    if (model.conflict == nullptr) return;
    if (const auto reason = model.conflict(receptor.parameters)) {
        throw ValueOutOfBoundsError(
            {.object = "parameters of " + name, .value = "", .bound = *reason, .remedy = "check the units"});
    }
}

/// The number of elements that the fields `of` and `gate` of a probe can refer to.
std::pair<std::size_t, std::size_t> counts(const Probe& probe, const CellSpec& spec) {
    using Kind = Probe::Kind;
    const std::size_t receptors = spec.receptors.size();
    if (probe.kind == Kind::conductance || probe.kind == Kind::receptor_current) {
        if (probe.of >= receptors) return {receptors, 1};
        const std::size_t sites = spec.receptors[probe.of].places.size();
        return {receptors, probe.gate == Probe::every_site ? std::size_t{Probe::every_site} + 1 : sites};
    }
    if (probe.kind == Kind::clamp_current) return {spec.clamps.size(), 1};
    if (probe.kind == Kind::electrode_current) return {spec.electrodes.size(), 1};
    const std::size_t mechanisms = spec.mechanisms.size();
    if (probe.of >= mechanisms) return {mechanisms, 1};
    const MechanismModel& model = *spec.mechanisms[probe.of].mechanism;
    if (probe.kind == Kind::gate) return {mechanisms, model.variables()};
    if (probe.kind == Kind::current) return {mechanisms, model.recorded_currents()};
    return {mechanisms, model.is_pool() ? 1 : 0};
}

void check(const Probe& probe, const CellSpec& spec) {
    using Kind = Probe::Kind;
    const std::string name = "probe '" + probe.name + "'";
    const bool is_of_place = probe.kind == Kind::potential || probe.kind == Kind::axial_current;
    const auto [owners, parts] = counts(probe, spec);
    if (probe.kind == Kind::conductance && probe.of < owners && spec.receptors[probe.of].model->general != nullptr) {
        const std::string& receptor = spec.receptors[probe.of].name;
        throw ValueOutOfBoundsError({.object = name,
                                     .value = "the conductance of receptor '" + receptor + "'",
                                     .bound = "a receptor of equations may have none",
                                     .remedy = "record its current: 'i of " + receptor + "'"});
    }
    if (!is_of_place && (probe.of >= owners || probe.gate >= parts))
        throw InternalError(name + " refers to a missing element");
    if (probe.kind == Kind::conductance || probe.kind == Kind::receptor_current || probe.kind == Kind::clamp_current ||
        probe.kind == Kind::electrode_current) {
        return;
    }
    const std::uint32_t compartment = spec.compartments.at(probe.place, "place of " + name);
    if (is_of_place) return;
    const PaintedMechanism& painted = spec.mechanisms[probe.of];
    if (painted.covered[painted.covered.size() == 1 ? 0 : compartment] > 0.0) return;
    throw ValueOutOfBoundsError(
        {.object = name,
         .value = "section " + std::to_string(probe.place.section) + ", position " + to_text(probe.place.position),
         .bound = "there is no mechanism " + std::string(painted.mechanism->name) + " there",
         .remedy = "choose a place that the mechanism was painted on"});
}

/// The staggered scheme extrapolates potentials from the middle of a step, so that a tightly held one oscillates,
/// whatever the step.
void check_scheme(const CellSpec& spec) {
    if (spec.scheme != Scheme::staggered) return;
    for (const PlacedClamp& clamp : spec.clamps) {
        if (clamp.kind != PlacedClamp::Kind::voltage) continue;
        throw ValueOutOfBoundsError({.object = "clamp '" + clamp.name + "'",
                                     .value = "a voltage clamp with scheme='staggered'",
                                     .bound = "the staggered scheme oscillates where a potential is held",
                                     .remedy = "choose scheme='backward_euler'"});
    }
}

void check_names(const CellSpec& spec) {
    std::unordered_set<std::string_view> names;
    const auto add = [&](std::string_view kind, std::string_view name) {
        if (!name.empty() && names.insert(name).second) return;
        throw ValueOutOfBoundsError({.object = "name of a " + std::string(kind),
                                     .value = "'" + std::string(name) + "'",
                                     .bound = "names are not empty, and each is given once",
                                     .remedy = "choose another"});
    };
    for (const PlacedReceptor& receptor : spec.receptors) add("receptor", receptor.name);
    for (const PlacedClamp& clamp : spec.clamps) add("clamp", clamp.name);
    const bool is_unnamed = spec.electrodes.size() == 1 && spec.electrodes.front().name.empty();
    for (const PlacedElectrode& electrode : spec.electrodes) {
        if (!is_unnamed) add("electrode", electrode.name);
    }
    names = {"V_m", "I_e"};
    for (const PerCellParameter& parameter : spec.per_cell) add("parameter of cells", parameter.name);
    for (const Probe& probe : spec.probes) add("probe", probe.name);
}

/// Sets targets of per-cell parameters to the values of their defaults, so that these are checked like all others.
void take_defaults(CellSpec& spec) {
    CellConstants constants = constants_of(spec, defaults_of(spec.per_cell));
    spec.axial_resistivity = constants.axial_resistivity;
    spec.initial_potential = constants.initial_potential;
    spec.threshold = constants.threshold;
    spec.clamps = std::move(constants.clamps);
    for (std::size_t r = 0; r < spec.receptors.size(); ++r) {
        spec.receptors[r].parameters = std::move(constants.receptors[r]);
    }
    check_length(spec.capacitance.size(), spec.compartments.size(), "capacitance of the membrane");
    for (const double capacitance : constants.capacitance) {
        check_bounds(capacitance, capacitance_bounds, "capacitance of the membrane", "uF/cm^2");
    }
}

}  // namespace

void check_cell(CellSpec& spec) {
    for (const PaintedMechanism& painted : spec.mechanisms) check(painted, spec.compartments.size());
    check_names(spec);
    check_per_cell(spec);
    for (std::uint32_t parameter = 0; parameter < spec.per_cell.size(); ++parameter)
        (void)per_cell_info(spec, parameter);
    take_defaults(spec);
    check_bounds(spec.axial_resistivity, resistivity_bounds, "axial resistivity", "ohm cm");
    check_bounds(spec.celsius, temperature_bounds, "temperature", "degrees Celsius");
    for (const PaintedMechanism& painted : spec.mechanisms) check_rates(painted, spec.celsius);
    check_bounds(spec.initial_potential, potential_bounds, "initial potential", "mV");
    check_bounds(spec.threshold, potential_bounds, "threshold", "mV");
    check_bounds(spec.refractory_time, refractory_bounds, "t_ref", "ms");
    spec.compartments.morphology().check(spec.detector, "place of the detector");
    if (spec.electrodes.empty()) throw InternalError("a cell without an electrode");
    for (const PlacedElectrode& electrode : spec.electrodes) {
        const std::string name = electrode.name.empty() ? "the electrode" : "electrode '" + electrode.name + "'";
        spec.compartments.morphology().check(electrode.place, "place of " + name);
    }
    for (const PlacedReceptor& receptor : spec.receptors) check(receptor, spec.compartments.morphology());
    check_clamps(spec.clamps, spec.compartments);
    check_scheme(spec);
    check_calcium(spec);
    for (const Probe& probe : spec.probes) check(probe, spec);
}

}  // namespace ranvier::cable
