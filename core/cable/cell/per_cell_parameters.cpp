#include "ranvier/cable/cell/per_cell_parameters.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/counted.hpp"
#include "cable/cell/bound_checks.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/cable/cell/spec.hpp"

namespace ranvier::cable {

namespace {

using Kind = PerCellUse::Kind;

/// Upper limit of the factors in profiles.
constexpr double greatest_factor = 1e6;

bool is_of_clamp(Kind kind) {
    return kind == Kind::clamp_start || kind == Kind::clamp_level || kind == Kind::clamp_duration ||
           kind == Kind::clamp_resistance;
}

/// Visits the parameters of mechanisms that are scaled by a per-cell parameter.
template <class Visit>
void visit_mechanisms(const CellSpec& spec, std::uint32_t parameter, Visit visit) {
    for (const PaintedMechanism& painted : spec.mechanisms) {
        for (std::size_t p = 0; p < painted.per_cell.size(); ++p) {
            if (painted.per_cell[p] == static_cast<std::int32_t>(parameter)) visit(painted, p);
        }
    }
}

/// The parameter description of the target of a use.
models::ParameterInfo info_of(const CellSpec& spec, const PerCellUse& use) {
    switch (use.kind) {
        case Kind::capacitance:
            return {"C_m", "uF/cm^2", 0.0, capacitance_bounds, "Capacitance of the membrane"};
        case Kind::axial_resistivity:
            return {"R_a", "ohm cm", 0.0, resistivity_bounds, "Axial resistivity"};
        case Kind::initial_potential:
            return {"V_init", "mV", 0.0, potential_bounds, "Potential at which a cell begins"};
        case Kind::threshold:
            return {"threshold", "mV", 0.0, potential_bounds, "Threshold of the detector"};
        case Kind::receptor:
            return spec.receptors[use.of].model->parameters[use.index];
        case Kind::clamp_start:
            return {"start", "ms", 0.0, start_bounds, "Start of a clamp"};
        case Kind::clamp_level:
            if (spec.clamps[use.of].kind == PlacedClamp::Kind::current) {
                return {"amplitude", "pA", 0.0, models::any_current, "Current of a clamp"};
            }
            return {"level", "mV", 0.0, level_bounds, "Potential of a clamp"};
        case Kind::clamp_duration:
            return {"duration", "ms", 0.0, duration_bounds, "Duration of a level of a clamp"};
        case Kind::clamp_resistance:
            break;
    }
    return {"resistance", "MOhm", 0.0, resistance_bounds, "Resistance of a voltage clamp"};
}

std::string object_of(const CellSpec& spec, const PerCellUse& use) {
    std::string name(info_of(spec, use).name);
    if (use.kind == Kind::receptor) return name + " of receptor '" + spec.receptors[use.of].name + "'";
    if (is_of_clamp(use.kind)) return name + " of clamp '" + spec.clamps[use.of].name + "'";
    return name;
}

/// Whether the target of a use exists.
bool exists(const CellSpec& spec, const PerCellUse& use) {
    if (use.parameter >= spec.per_cell.size() || use.profile.empty()) return false;
    if (use.kind == Kind::receptor) {
        return use.of < spec.receptors.size() && use.index < spec.receptors[use.of].parameters.size();
    }
    if (!is_of_clamp(use.kind)) return true;
    if (use.of >= spec.clamps.size()) return false;
    const PlacedClamp& clamp = spec.clamps[use.of];
    if (use.kind == Kind::clamp_level) return use.index < clamp.levels.size();
    if (use.kind == Kind::clamp_duration) return use.index < clamp.durations.size();
    return use.kind != Kind::clamp_resistance || clamp.kind == PlacedClamp::Kind::voltage;
}

void check_profile(const CellSpec& spec, const PerCellUse& use) {
    const std::string object = object_of(spec, use);
    Bounds bounds = info_of(spec, use).bounds;
    if (use.kind == Kind::capacitance) {
        check_length(use.profile.size(), spec.compartments.size(), "profile of " + object);
        bounds.lower = 0.0;  // an addend may be 0
    } else if (use.profile.size() != 1) {
        throw ShapeError({.object = "profile of " + object,
                          .value = counted(use.profile.size(), "value"),
                          .bound = "a cell has one value for it",
                          .remedy = "give one number"});
    }
    check_factors(use.profile, bounds, bounds.lower < 0.0, object);
}

/// Restricts the bounds of a value so that the value itself, and its product with `factor` plus `given`, stay within
/// `wanted`.
void restrict(Bounds& bounds, Bounds wanted, double factor, double given = 0.0) {
    if (factor == 0.0) return;
    if (factor < 0.0) {
        wanted = {.lower = -wanted.upper, .upper = -wanted.lower, .lower_open = false, .upper_open = wanted.lower_open};
        factor = -factor;
    }
    const double larger = std::max(1.0, factor);
    const double smaller = std::min(1.0, factor);
    if (given == 0.0) {
        const double lower = wanted.lower / (wanted.lower < 0.0 ? larger : smaller);
        const double upper = wanted.upper / (wanted.upper < 0.0 ? smaller : larger);
        if (lower > bounds.lower) bounds.lower_open = wanted.lower_open;
        bounds.lower = std::max(bounds.lower, lower);
        bounds.upper = std::min(bounds.upper, upper);
    } else {
        bounds.lower = std::max(bounds.lower, given < wanted.lower ? (wanted.lower - given) / factor : 0.0);
        bounds.upper = std::min(bounds.upper, (wanted.upper - given) / larger);
    }
}

/// Merges the description of another target of a parameter into `info`, if they are compatible.
void join(models::ParameterInfo& info, bool& is_used, const models::ParameterInfo& other,
          const PerCellParameter& parameter) {
    if (is_used && info.unit != other.unit) {
        throw ValueOutOfBoundsError({.object = "parameter '" + parameter.name + "' of cells",
                                     .value = std::string(info.unit) + " and " + std::string(other.unit),
                                     .bound = "all its targets must have the same unit",
                                     .remedy = "choose another name for one of them"});
    }
    if (!is_used) info.meaning = other.meaning;
    info.unit = other.unit;
    is_used = true;
}

/// Only the last level of a clamp may have an infinite duration.
bool may_be_infinite(const CellSpec& spec, const PerCellUse& use) {
    return use.kind == Kind::clamp_duration && use.index + 1 == spec.clamps[use.of].durations.size();
}

/// The capacitance to which that of a per-cell parameter is added.
double given_capacitance(const CellSpec& spec, const PerCellUse& use, std::size_t compartment) {
    return use.profile.size() == 1 ? std::ranges::max(spec.capacitance) : value_at(spec.capacitance, compartment);
}

void apply(CellConstants& constants, const PerCellUse& use, double value, std::size_t compartments) {
    const double product = use.profile.front() * value;
    switch (use.kind) {
        case Kind::capacitance:
            if (constants.capacitance.size() == 1 && use.profile.size() > 1) {
                constants.capacitance.assign(compartments, constants.capacitance.front());
            }
            for (std::size_t c = 0; c < constants.capacitance.size(); ++c) {
                constants.capacitance[c] += value_at(use.profile, c) * value;
            }
            return;
        case Kind::axial_resistivity:
            constants.axial_resistivity = product;
            return;
        case Kind::initial_potential:
            constants.initial_potential = product;
            return;
        case Kind::threshold:
            constants.threshold = product;
            return;
        case Kind::receptor:
            constants.receptors[use.of][use.index] = product;
            return;
        case Kind::clamp_start:
            constants.clamps[use.of].start = product;
            return;
        case Kind::clamp_level:
            constants.clamps[use.of].levels[use.index] = product;
            return;
        case Kind::clamp_duration:
            constants.clamps[use.of].durations[use.index] = product;
            return;
        case Kind::clamp_resistance:
            constants.clamps[use.of].resistance = product;
            return;
    }
}

}  // namespace

CellConstants constants_of(const CellSpec& spec, std::span<const double> per_cell_values) {
    CellConstants constants{.capacitance = spec.capacitance,
                            .axial_resistivity = spec.axial_resistivity,
                            .initial_potential = spec.initial_potential,
                            .threshold = spec.threshold,
                            .receptors = {},
                            .clamps = spec.clamps};
    for (const PlacedReceptor& receptor : spec.receptors) constants.receptors.push_back(receptor.parameters);
    for (const PerCellUse& use : spec.uses)
        apply(constants, use, per_cell_values[use.parameter], spec.compartments.size());
    return constants;
}

std::vector<double> defaults_of(std::span<const PerCellParameter> parameters) {
    std::vector<double> defaults;
    for (const PerCellParameter& each : parameters) defaults.push_back(each.default_value);
    return defaults;
}

bool changes_plan(const CellSpec& spec, std::uint32_t parameter) {
    bool found = false;
    visit_mechanisms(spec, parameter, [&](const PaintedMechanism&, std::size_t) { found = true; });
    return found || std::ranges::any_of(spec.uses, [&](const PerCellUse& use) {
               return use.parameter == parameter && (use.kind == Kind::capacitance ||
                                                     use.kind == Kind::axial_resistivity || use.kind == Kind::receptor);
           });
}

bool is_initial(const CellSpec& spec, std::uint32_t parameter) {
    return !changes_plan(spec, parameter) && std::ranges::all_of(spec.uses, [&](const PerCellUse& use) {
        return use.parameter != parameter || use.kind == Kind::initial_potential;
    });
}

const PerCellParameter* initial_parameter(const CellSpec& spec) {
    const auto found = std::ranges::find(spec.uses, Kind::initial_potential, &PerCellUse::kind);
    return found == spec.uses.end() ? nullptr : &spec.per_cell[found->parameter];
}

bool differs_per_cell(const CellSpec& spec, std::uint32_t clamp) {
    return std::ranges::any_of(spec.uses,
                               [&](const PerCellUse& use) { return is_of_clamp(use.kind) && use.of == clamp; });
}

void check_factors(std::span<const double> factors, const Bounds& bounds, bool with_sign, const std::string& object) {
    Bounds allowed{.lower = with_sign ? -greatest_factor : 0.0, .upper = greatest_factor};
    allowed.lower_open = !with_sign && !bounds.contains(0.0);
    for (const double factor : factors) check_bounds(factor, allowed, "profile of " + object, "");
    if (std::ranges::any_of(factors, [](double factor) { return factor != 0.0; })) return;
    throw ValueOutOfBoundsError({.object = "profile of " + object,
                                 .value = "0 everywhere",
                                 .bound = "the value of a cell must change something",
                                 .remedy = "give a number in place of rv.per_cell()"});
}

void check_per_cell(const CellSpec& spec) {
    for (const PerCellUse& use : spec.uses) {
        if (!exists(spec, use)) throw InternalError("a per-cell parameter refers to a missing element");
        check_profile(spec, use);
    }
}

models::ParameterInfo per_cell_info(const CellSpec& spec, std::uint32_t index) {
    const PerCellParameter& parameter = spec.per_cell[index];
    models::ParameterInfo info{parameter.name, "", parameter.default_value, any_number, "Of each cell"};
    bool is_used = false;
    info.may_be_infinite = true;
    visit_mechanisms(spec, index, [&](const PaintedMechanism& painted, std::size_t p) {
        const models::ParameterInfo& scaled = painted.mechanism->parameters[p];
        join(info, is_used, scaled, parameter);
        for (const double factor : painted.parameters[p]) restrict(info.bounds, scaled.bounds, factor);
        info.may_be_infinite = false;
    });
    for (const PerCellUse& use : spec.uses) {
        if (use.parameter != index) continue;
        const models::ParameterInfo scaled = info_of(spec, use);
        join(info, is_used, scaled, parameter);
        for (std::size_t c = 0; c < use.profile.size(); ++c) {
            const double given = use.kind == Kind::capacitance ? given_capacitance(spec, use, c) : 0.0;
            restrict(info.bounds, scaled.bounds, use.profile[c], given);
        }
        info.may_be_infinite = info.may_be_infinite && may_be_infinite(spec, use);
    }
    if (!is_used) throw InternalError("parameter '" + parameter.name + "' of cells has no target");
    check_bounds(parameter.default_value, info.bounds, "default of parameter '" + parameter.name + "' of cells",
                 info.unit);
    if (!info.may_be_infinite && std::isinf(parameter.default_value)) {
        throw ValueOutOfBoundsError({.object = "default of parameter '" + parameter.name + "' of cells",
                                     .value = "infinite",
                                     .bound = "only the duration of the last level of a clamp can be",
                                     .remedy = "give a number"});
    }
    info.is_initial = is_initial(spec, index);
    return info;
}

}  // namespace ranvier::cable
