#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

#include "cable/cell/cell_fingerprint.hpp"
#include "cable/cell/checks.hpp"
#include "cable/groups/cell_group.hpp"
#include "cable/groups/device_forms.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/base/hash.hpp"
#include "ranvier/cable/groups/cell_model.hpp"

/// Populations of cells of several kinds.
namespace ranvier::cable {

namespace {

/// Maximum number of different rates: each combination of mechanisms of a kind has a separate table of 64 kB or more.
constexpr std::size_t most_rates = 256;

[[noreturn]] void refuse(std::size_t kind, const std::string& what, std::string value, std::string first) {
    throw ValueOutOfBoundsError({.object = what + " of cell " + std::to_string(kind) + " of a population",
                                 .value = std::move(value),
                                 .bound = "those of the first cell are " + std::move(first),
                                 .remedy = "give all cells of a population the same, or make several populations"});
}

template <class List, class Text>
std::string joined(const List& list, Text text) {
    std::string all;
    for (const auto& each : list) all += (all.empty() ? "" : ", ") + std::string(text(each));
    return all.empty() ? "none" : all;
}

void check_kind(const CellModel& first, const CellModel& other, std::size_t kind) {
    const models::NeuronModel& a = first;
    const models::NeuronModel& b = other;
    const auto compare = [&](const char* what, const auto& firsts, const auto& others, auto text) {
        if (joined(firsts, text) != joined(others, text))
            refuse(kind, what, joined(others, text), joined(firsts, text));
    };
    compare("receptors", a.receptors, b.receptors, [](std::string_view name) { return name; });
    const auto equations_of = [](const PlacedReceptor& receptor) {
        const MechanismModel* const general = receptor.model->general;
        if (general == nullptr) return receptor.name;
        const auto name = [](const StateInfo& state) { return state.name; };
        return receptor.name + " with states " + joined(general->general->states, name);
    };
    compare("receptors", first.spec().receptors, other.spec().receptors, equations_of);
    compare("electrodes", a.electrodes, b.electrodes, [](std::string_view name) { return name; });
    const auto with_unit = [](const auto& info) {
        return std::string(info.name) + (info.unit.empty() ? "" : " (" + std::string(info.unit) + ")");
    };
    compare("parameters", a.parameters, b.parameters, with_unit);
    compare("probes", a.variables, b.variables, with_unit);
    compare("per-cell parameters of V_init", a.variables.first(1), b.variables.first(1),
            [](const models::VariableInfo& info) { return info.initial_parameter; });
    const auto scheme = [](const CellModel& model) {
        return std::string(model.spec().scheme == Scheme::staggered ? "staggered" : "backward_euler");
    };
    if (scheme(first) != scheme(other)) refuse(kind, "scheme", scheme(other), scheme(first));
    const auto rates = [](const CellModel& model) {
        return std::string(model.spec().rates == RateMethod::exact ? "exact" : "table");
    };
    if (rates(first) != rates(other)) refuse(kind, "rates", rates(other), rates(first));
    const auto sites = [](const CellModel& model) {
        return std::string(model.spec().separate_sites ? "separate" : "sharing the state of a compartment");
    };
    if (sites(first) != sites(other)) refuse(kind, "sites of receptors", sites(other), sites(first));
    if (first.spec().refractory_time != other.spec().refractory_time) {
        refuse(kind, "t_ref", to_text(other.spec().refractory_time), to_text(first.spec().refractory_time));
    }
    if (first.spec().celsius != other.spec().celsius) {
        refuse(kind, "temperature", to_text(other.spec().celsius), to_text(first.spec().celsius));
    }
}

/// Checks the number of mechanisms with different values of rate parameters, over all kinds.
void check_rates(const std::vector<std::shared_ptr<const CellModel>>& kinds) {
    std::map<std::pair<const MechanismModel*, std::vector<double>>, std::size_t> found;
    if (kinds.front()->spec().rates == RateMethod::exact) return;
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
        for (const PaintedMechanism& painted : kinds[kind]->spec().mechanisms) {
            const auto gates = painted.mechanism->gates;
            if (gates.empty() || gates.front().follows == Follows::both) continue;
            found.try_emplace({painted.mechanism, rate_parameters(painted)}, kind);
            if (found.size() <= most_rates) continue;
            throw ValueOutOfBoundsError({.object = "cells of a population",
                                         .value = "more than " + std::to_string(most_rates) +
                                                  " mechanisms with different values of parameters that change rates",
                                         .bound = "each takes a separate table",
                                         .remedy = "give fewer different values, or rates='exact'"});
        }
    }
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
        case Probe::Kind::electrode_current:
            return "pA";
        case Probe::Kind::gate:
            break;
    }
    return "";
}

/// Bytes that a step accesses for each compartment: potentials, coefficients and the gates of a few channels.
constexpr double bytes_of_compartment = 60.0;

constexpr std::array<models::VariableInfo, 2> variables_of_compartments{
    {{.name = "V_m", .unit = "mV", .meaning = "Potential of the membrane", .is_read_only = true},
     {.name = "I_m",
      .unit = "pA",
      .meaning = "Current through the membrane, outwards: that from neighbouring compartments and electrodes",
      .is_read_only = true}}};

constexpr models::ParameterInfo electrode_current{"I_e", "pA", 0.0, models::any_current,
                                                  "Constant current, injected by the first electrode"};

}  // namespace

CellModel::CellModel(CellSpec given) : spec_(std::move(given)) {
    // The defaults of per-cell parameters are parameters of the population.
    fingerprint_ = fingerprint_of(*spec_);
    check_cell(*spec_);
    describe();
}

CellModel::CellModel(std::vector<std::shared_ptr<const CellModel>> kinds, std::vector<std::uint32_t> kind_of)
    : kinds_(std::move(kinds)), kind_of_(std::move(kind_of)) {
    if (kinds_.empty() || kind_of_.empty()) throw InternalError("a population without cells");
    SequenceHash hash;
    for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
        const auto cell = static_cast<std::size_t>(std::ranges::find(kind_of_, kind) - kind_of_.begin());
        check_kind(*kinds_.front(), *kinds_[kind], cell);
        hash.add(kinds_[kind]->fingerprint());
    }
    check_rates(kinds_);
    for (const std::uint32_t kind : kind_of_) hash.add(kind);
    fingerprint_ = hash.value();
    describe();
}

/// A value must be valid for all kinds.
models::ParameterInfo CellModel::info_of(std::uint32_t parameter) const {
    models::ParameterInfo info = per_cell_info(spec(), parameter);
    for (std::size_t kind = 1; kind < kinds(); ++kind) {
        const models::ParameterInfo other = per_cell_info(spec(kind), parameter);
        info.bounds.lower = std::max(info.bounds.lower, other.bounds.lower);
        info.bounds.upper = std::min(info.bounds.upper, other.bounds.upper);
        info.may_be_infinite = info.may_be_infinite && other.may_be_infinite;
        info.is_initial = info.is_initial && other.is_initial;
    }
    return info;
}

std::vector<std::uint32_t> CellModel::kinds_that_may_conflict() const {
    std::vector<std::uint32_t> found;
    for (std::uint32_t kind = 0; kind < kinds(); ++kind) {
        if (may_conflict(spec(kind))) found.push_back(kind);
    }
    return found;
}

std::optional<std::string> CellModel::range_conflict(std::optional<std::uint64_t> cell, std::span<const double> least,
                                                     std::span<const double> greatest) const {
    const std::size_t count = spec().per_cell.size();
    for (const std::uint32_t kind : conflicting_kinds_) {
        if (cell && kind_of(*cell) != kind) continue;
        // Parameter 0 is the current of the electrode.
        auto reason = conflict_between(spec(kind), least.subspan(1, count), greatest.subspan(1, count));
        if (reason) return reason;
    }
    return std::nullopt;
}

std::optional<std::string> CellModel::missing_on_devices() const {
    for (std::size_t kind = 0; kind < kinds(); ++kind) {
        if (std::optional<std::string> missing = cable::missing_on_devices(spec(kind))) return missing;
    }
    return std::nullopt;
}

std::unique_ptr<models::NeuronGroup> CellModel::create(const models::GroupArguments& arguments) const {
    return create_cell_group(*this, arguments);
}

void CellModel::describe() {
    const CellSpec& spec = this->spec();
    parameters_ = {electrode_current};
    for (std::uint32_t parameter = 0; parameter < spec.per_cell.size(); ++parameter)
        parameters_.push_back(info_of(parameter));
    conflicting_kinds_ = kinds_that_may_conflict();
    const PerCellParameter* const initial = initial_parameter(spec);
    variables_.push_back({.name = "V_m",
                          .unit = "mV",
                          .meaning = "Potential of the membrane where the cell fires; its initial value is that of the "
                                     "whole cell",
                          .initial_parameter = initial == nullptr ? std::string_view() : initial->name,
                          .initial_value = spec.initial_potential});
    for (const Probe& probe : spec.probes) {
        variables_.push_back(
            {.name = probe.name, .unit = unit_of(probe.kind), .meaning = "Probe", .is_read_only = true});
    }
    for (const PlacedReceptor& receptor : spec.receptors) receptors_.push_back(receptor.name);
    count_sites();
    for (const PlacedElectrode& electrode : spec.electrodes) {
        if (!electrode.name.empty()) electrodes_.push_back(electrode.name);
    }
    static_cast<models::NeuronInfo&>(*this) = {.name = "cell",
                                               .summary = "A morphologically detailed neuron",
                                               .equations = "",
                                               .reference = "",
                                               .parameters = parameters_,
                                               .variables = variables_,
                                               .compartment_variables = variables_of_compartments,
                                               .receptors = receptors_,
                                               .population_size = kind_of_.size(),
                                               .sites = sites_,
                                               .weight_bounds = not_negative,
                                               .weight_unit = "nS",
                                               .electrodes = electrodes_,
                                               .stretch_gain = models::StretchGain::much,
                                               .step_bytes = bytes_of_compartment * mean_compartments()};
}

double CellModel::mean_compartments() const {
    if (kind_of_.empty()) return static_cast<double>(spec().compartments.size());
    double sum = 0.0;
    for (const std::uint32_t kind : kind_of_) sum += static_cast<double>(spec(kind).compartments.size());
    return sum / static_cast<double>(kind_of_.size());
}

void CellModel::count_sites() {
    for (std::size_t receptor = 0; receptor < receptors_.size(); ++receptor) {
        std::vector<std::uint32_t>& site_counts = sites_of_kinds_.emplace_back();
        for (std::size_t kind = 0; kind < kinds(); ++kind) {
            site_counts.push_back(static_cast<std::uint32_t>(spec(kind).receptors[receptor].places.size()));
        }
    }
    for (const std::vector<std::uint32_t>& site_counts : sites_of_kinds_) {
        const auto [least, most] = std::ranges::minmax(site_counts);
        SiteCounts& counts = sites_.emplace_back(SiteCounts{.least = least, .most = most});
        if (least < most) counts = {.least = least, .most = most, .of_kind = site_counts, .kind_of = kind_of_};
    }
    if (std::ranges::all_of(sites_, [](const SiteCounts& counts) { return counts.most == 1; })) sites_.clear();
}

}  // namespace ranvier::cable
