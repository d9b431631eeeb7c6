#include "cable/cell.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "base/errors.hpp"
#include "base/hash.hpp"
#include "cable/cell_group.hpp"
#include "cable/pool_plan.hpp"

namespace ranvier::cable {

namespace {

constexpr models::ParameterInfo electrode_current{"I_e", "pA", 0.0, models::any_current,
                                                  "Constant current, injected where the electrode is"};

constexpr models::Bounds capacitance_bounds{.lower = 1e-6, .upper = 1e6};  // uF/cm^2
constexpr models::Bounds resistivity_bounds{.lower = 1e-3, .upper = 1e9};  // ohm cm
constexpr models::Bounds temperature_bounds{.lower = -50.0, .upper = 100.0};
/// What rates are tabulated for; see RateTable.
constexpr models::Bounds potential_bounds{.lower = -250.0, .upper = 250.0};

void check(double value, const models::Bounds& bounds, std::string object, std::string_view unit) {
    if (bounds.contains(value)) return;
    const std::string suffix = unit.empty() ? "" : " " + std::string(unit);
    throw ValueOutOfBoundsError({.object = std::move(object),
                                 .value = to_text(value) + suffix,
                                 .bound = std::string("it must be ") + (bounds.lower_open ? "above " : "at least ") +
                                          to_text(bounds.lower) + " and at most " + to_text(bounds.upper) + suffix,
                                 .remedy = "check the unit"});
}

void check_length(std::size_t length, std::size_t compartments, std::string object) {
    if (length == 1 || length == compartments) return;
    throw ShapeError({.object = std::move(object),
                      .value = std::to_string(length) + " values",
                      .bound = "the cell has " + std::to_string(compartments) + " compartments",
                      .remedy = "give one value, or one for each compartment"});
}

bool scales_current(const MechanismModel& mechanism, std::size_t parameter) {
    return std::ranges::any_of(mechanism.currents, [&](const CurrentInfo& current) {
        return current.conductance == parameter || (current.reversal == parameter && current.gates.empty());
    });
}

/// Whether a parameter may have a value for each compartment.
bool may_differ(const MechanismModel& mechanism, std::size_t parameter) {
    return mechanism.pool != nullptr || scales_current(mechanism, parameter);
}

/// A parameter that each cell has a value of its own for.
void check_own(const PaintedMechanism& painted, std::size_t parameter) {
    const MechanismModel& model = *painted.mechanism;
    const std::string object =
        std::string(model.parameters[parameter].name) + " of mechanism " + std::string(model.name);
    if (!scales_current(model, parameter)) {
        throw ValueOutOfBoundsError(
            {.object = object,
             .value = "a value for each cell",
             .bound = "only conductances and reversal potentials of leaks can differ between cells of one kind; others "
                      "change the tables of rates",
             .remedy = "make a rv.Cell for each value, and give net.create() a list of them"});
    }
    for (const double factor : painted.parameters[parameter]) {
        check(factor, {.lower = 0.0, .upper = 1e6}, "profile of " + object, "");
    }
    if (std::ranges::max(painted.parameters[parameter]) > 0.0) return;
    throw ValueOutOfBoundsError({.object = "profile of " + object,
                                 .value = "0 everywhere",
                                 .bound = "the value of a cell must change something",
                                 .remedy = "leave the mechanism out"});
}

void check(const PaintedMechanism& painted, std::size_t compartments) {
    const MechanismModel& model = *painted.mechanism;
    const std::string name = "mechanism " + std::string(model.name);
    check_length(painted.covered.size(), compartments, "covered membrane of " + name);
    for (const double part : painted.covered) {
        check(part, {.lower = 0.0, .upper = 1.0}, "covered membrane of " + name, "");
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
        if (!painted.own.empty() && painted.own[p] >= 0) {
            check_own(painted, p);
            continue;
        }
        for (const double value : painted.parameters[p]) {
            if (!std::isnan(value) || !is_calcium_reversal(model, p)) check(value, info.bounds, object, info.unit);
        }
        if (painted.parameters[p].size() == 1 || may_differ(model, p)) continue;
        throw ShapeError(
            {.object = object,
             .value = "a value for each compartment",
             .bound = "rates and reversal potentials of gated currents are the same wherever the mechanism is",
             .remedy = "paint the mechanism once for each value"});
    }
}

void check(const PlacedReceptor& receptor, const Morphology& morphology) {
    const ReceptorModel& model = *receptor.model;
    const std::string name = "receptor '" + receptor.name + "'";
    morphology.check(receptor.place, "place of " + name);
    if (receptor.parameters.size() != model.parameters.size()) {
        throw ShapeError({.object = "parameters of " + name,
                          .value = std::to_string(receptor.parameters.size()),
                          .bound = std::string(model.name) + " has " + std::to_string(model.parameters.size()),
                          .remedy = "give each of them"});
    }
    for (std::size_t p = 0; p < model.parameters.size(); ++p) {
        const models::ParameterInfo& info = model.parameters[p];
        check(receptor.parameters[p], info.bounds, std::string(info.name) + " of " + name, info.unit);
    }
    if (model.conflict == nullptr) return;
    if (const auto reason = model.conflict(receptor.parameters)) {
        throw ValueOutOfBoundsError(
            {.object = "parameters of " + name, .value = "", .bound = *reason, .remedy = "check the units"});
    }
}

/// How many of what a probe names by `of` or `gate` there are.
std::pair<std::size_t, std::size_t> counts(const Probe& probe, const CellSpec& spec) {
    using Kind = Probe::Kind;
    if (probe.kind == Kind::conductance || probe.kind == Kind::receptor_current) return {spec.receptors.size(), 1};
    if (probe.kind == Kind::clamp_current) return {spec.clamps.size(), 1};
    const std::size_t mechanisms = spec.mechanisms.size();
    if (probe.of >= mechanisms) return {mechanisms, 1};
    const MechanismModel& model = *spec.mechanisms[probe.of].mechanism;
    if (probe.kind == Kind::gate) return {mechanisms, model.gates.size()};
    if (probe.kind == Kind::current) return {mechanisms, model.currents.size()};
    return {mechanisms, model.pool != nullptr ? 1 : 0};
}

void check(const Probe& probe, const CellSpec& spec) {
    using Kind = Probe::Kind;
    const std::string name = "probe '" + probe.name + "'";
    const bool is_of_place = probe.kind == Kind::potential || probe.kind == Kind::axial_current;
    const auto [owners, parts] = counts(probe, spec);
    if (!is_of_place && (probe.of >= owners || probe.gate >= parts))
        throw InternalError(name + " of what is not there");
    if (probe.kind == Kind::conductance || probe.kind == Kind::receptor_current || probe.kind == Kind::clamp_current) {
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

/// The staggered scheme takes potentials on from the middle of a step, so that one that is held tightly oscillates, whatever
/// the step.
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
    std::vector<std::string_view> names;
    const auto add = [&](std::string_view kind, std::string_view name) {
        if (!name.empty() && std::ranges::find(names, name) == names.end()) return names.push_back(name);
        throw ValueOutOfBoundsError({.object = "name of a " + std::string(kind),
                                     .value = "'" + std::string(name) + "'",
                                     .bound = "names are not empty, and each is given once",
                                     .remedy = "choose another"});
    };
    for (const PlacedReceptor& receptor : spec.receptors) add("receptor", receptor.name);
    for (const PlacedClamp& clamp : spec.clamps) add("clamp", clamp.name);
    names = {"V_m", "I_e"};
    for (const OwnParameter& own : spec.own) add("parameter of cells", own.name);
    for (const Probe& probe : spec.probes) add("probe", probe.name);
}

std::string_view unit_of(Probe::Kind kind) {
    switch (kind) {
        case Probe::Kind::potential:
        case Probe::Kind::calcium_reversal:
            return "mV";
        case Probe::Kind::conductance:
            return "nS";
        case Probe::Kind::current:
            return "mA/cm^2";
        case Probe::Kind::calcium:
            return "mM";
        case Probe::Kind::receptor_current:
        case Probe::Kind::axial_current:
        case Probe::Kind::clamp_current:
            return "pA";
        case Probe::Kind::gate:
            break;
    }
    return "";
}

/// Bounds are such that no parameter that is multiplied by the value leaves its own.
models::ParameterInfo info_of(const CellSpec& spec, std::uint32_t index) {
    const OwnParameter& own = spec.own[index];
    models::ParameterInfo info{own.name, "", own.default_value, models::any_number, "Of each cell"};
    bool is_used = false;
    for (const PaintedMechanism& painted : spec.mechanisms) {
        for (std::size_t p = 0; p < painted.own.size(); ++p) {
            if (painted.own[p] != static_cast<std::int32_t>(index)) continue;
            const models::ParameterInfo& scaled = painted.mechanism->parameters[p];
            if (is_used && info.unit != scaled.unit) {
                throw ValueOutOfBoundsError({.object = "parameter '" + own.name + "' of cells",
                                             .value = std::string(info.unit) + " and " + std::string(scaled.unit),
                                             .bound = "all that it gives values to have the same unit",
                                             .remedy = "choose another name for one of them"});
            }
            const double factor = std::max(1.0, std::ranges::max(painted.parameters[p]));
            info.unit = scaled.unit;
            info.bounds.lower = std::max(info.bounds.lower, scaled.bounds.lower / factor);
            info.bounds.upper = std::min(info.bounds.upper, scaled.bounds.upper / factor);
            info.meaning = scaled.meaning;
            is_used = true;
        }
    }
    if (!is_used) throw InternalError("parameter '" + own.name + "' of cells gives no value");
    check(own.default_value, info.bounds, "default of parameter '" + own.name + "' of cells", info.unit);
    return info;
}

std::uint64_t fingerprint(const CellSpec& spec) {
    SequenceHash hash;
    const auto number = [&](double value) { hash.add(std::bit_cast<std::uint64_t>(value)); };
    const auto numbers = [&](const std::vector<double>& values) {
        hash.add(values.size());
        for (const double value : values) number(value);
    };
    const auto text = [&](std::string_view letters) {
        hash.add(letters.size());
        for (const char letter : letters) hash.add(static_cast<unsigned char>(letter));
    };
    const auto place = [&](Place own) {
        hash.add(own.section);
        number(own.position);
    };
    for (const Section& section : spec.compartments.morphology().sections()) {
        hash.add(static_cast<std::uint64_t>(section.parent));
        number(section.parent_position);
        numbers(section.distances);
        numbers(section.radii);
    }
    for (const Compartment& own : spec.compartments.compartments()) place({own.section, own.end});
    numbers(spec.capacitance);
    for (const PlacedClamp& clamp : spec.clamps) {
        text(clamp.name);
        hash.add(static_cast<std::uint64_t>(clamp.kind));
        place(clamp.place);
        numbers(clamp.levels);
        numbers(clamp.durations);
        numbers({clamp.start, clamp.resistance});
    }
    for (const Probe& probe : spec.probes) {
        text(probe.name);
        hash.add(static_cast<std::uint64_t>(probe.kind));
        place(probe.place);
        hash.add(probe.of);
        hash.add(probe.gate);
    }
    numbers({spec.axial_resistivity, spec.celsius, spec.initial_potential, spec.threshold});
    hash.add(static_cast<std::uint64_t>(spec.rates));
    hash.add(static_cast<std::uint64_t>(spec.scheme));
    for (const PaintedMechanism& painted : spec.mechanisms) {
        text(painted.mechanism->name);
        numbers(painted.covered);
        for (const auto& values : painted.parameters) numbers(values);
        for (const std::int32_t own : painted.own) hash.add(static_cast<std::uint64_t>(own));
    }
    for (const OwnParameter& own : spec.own) text(own.name);
    for (const PlacedReceptor& receptor : spec.receptors) {
        text(receptor.name);
        text(receptor.model->name);
        numbers(receptor.parameters);
        place(receptor.place);
    }
    place(spec.detector);
    place(spec.electrode);
    return hash.value();
}

}  // namespace

CellModel::CellModel(CellSpec given) : spec_(std::move(given)) {
    const CellSpec& spec = *spec_;
    const std::size_t compartments = spec.compartments.size();
    check_length(spec.capacitance.size(), compartments, "capacitance of the membrane");
    for (const double capacitance : spec.capacitance) {
        check(capacitance, capacitance_bounds, "capacitance of the membrane", "uF/cm^2");
    }
    check(spec.axial_resistivity, resistivity_bounds, "axial resistivity", "ohm cm");
    check(spec.celsius, temperature_bounds, "temperature", "degrees Celsius");
    check(spec.initial_potential, potential_bounds, "initial potential", "mV");
    check(spec.threshold, potential_bounds, "threshold", "mV");
    spec.compartments.morphology().check(spec.detector, "place of the detector");
    spec.compartments.morphology().check(spec.electrode, "place of the electrode");
    for (const PaintedMechanism& painted : spec.mechanisms) check(painted, compartments);
    for (const PlacedReceptor& receptor : spec.receptors) check(receptor, spec.compartments.morphology());
    check_clamps(spec.clamps, spec.compartments);
    check_scheme(spec);
    check_calcium(spec);
    check_names(spec);
    for (const Probe& probe : spec.probes) check(probe, spec);

    describe(fingerprint(spec));
}

void CellModel::describe(std::uint64_t fingerprint) {
    const CellSpec& spec = this->spec();
    parameters_ = {electrode_current};
    for (std::uint32_t index = 0; index < spec.own.size(); ++index) {
        parameters_.push_back(info_of(spec, index));
        // A value must do for all kinds.
        models::Bounds& bounds = parameters_.back().bounds;
        for (std::size_t kind = 1; kind < kinds(); ++kind) {
            const models::Bounds other = info_of(this->spec(kind), index).bounds;
            bounds.lower = std::max(bounds.lower, other.lower);
            bounds.upper = std::min(bounds.upper, other.upper);
        }
    }
    variables_.push_back({.name = "V_m",
                          .unit = "mV",
                          .meaning = "Potential of the membrane where the cell fires; its initial value is that of the "
                                     "whole cell",
                          .initial_value = spec.initial_potential});
    for (const Probe& probe : spec.probes) {
        variables_.push_back(
            {.name = probe.name, .unit = unit_of(probe.kind), .meaning = "Probe", .is_read_only = true});
    }
    for (const PlacedReceptor& receptor : spec.receptors) receptors_.push_back(receptor.name);
    model_ = {.name = "cell",
              .summary = "A morphologically detailed neuron",
              .equations = "",
              .reference = "",
              .parameters = parameters_,
              .variables = variables_,
              .receptors = receptors_,
              .weight_bounds = models::not_negative,
              .weight_unit = "nS",
              .gains_from_stretches = true,
              .create = create_cell_group,
              .own = this,
              .own_fingerprint = fingerprint};
}

}  // namespace ranvier::cable
