#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/errors.hpp"
#include "base/hash.hpp"
#include "cable/cell.hpp"

/// Populations of cells of several kinds.
namespace ranvier::cable {

namespace {

/// Of different rates: each of a kind's combinations of mechanisms has a table of its own, of 64 kB or more.
constexpr std::size_t most_rates = 256;

[[noreturn]] void refuse(std::size_t kind, std::string what, std::string value, std::string first) {
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

void check_kind(const CellModel& first, const CellModel& own, std::size_t kind) {
    const models::NeuronModel& a = first.neuron_model();
    const models::NeuronModel& b = own.neuron_model();
    const auto compare = [&](const char* what, const auto& firsts, const auto& owns, auto text) {
        if (joined(firsts, text) != joined(owns, text)) refuse(kind, what, joined(owns, text), joined(firsts, text));
    };
    compare("receptors", a.receptors, b.receptors, [](std::string_view name) { return name; });
    const auto equations_of = [](const PlacedReceptor& receptor) {
        const MechanismModel* const general = receptor.model->general;
        if (general == nullptr) return receptor.name;
        const auto name = [](const StateInfo& state) { return state.name; };
        return receptor.name + " with states " + joined(general->general->states, name);
    };
    compare("receptors", first.spec().receptors, own.spec().receptors, equations_of);
    compare("electrodes", a.electrodes, b.electrodes, [](std::string_view name) { return name; });
    const auto with_unit = [](const auto& info) {
        return std::string(info.name) + (info.unit.empty() ? "" : " (" + std::string(info.unit) + ")");
    };
    compare("parameters", a.parameters, b.parameters, with_unit);
    compare("probes", a.variables, b.variables, with_unit);
    compare("own parameters of V_init", a.variables.first(1), b.variables.first(1),
            [](const models::VariableInfo& info) { return info.initial_parameter; });
    const auto scheme = [](const CellModel& model) {
        return std::string(model.spec().scheme == Scheme::staggered ? "staggered" : "backward_euler");
    };
    if (scheme(first) != scheme(own)) refuse(kind, "scheme", scheme(own), scheme(first));
    const auto rates = [](const CellModel& model) {
        return std::string(model.spec().rates == RateMethod::exact ? "exact" : "table");
    };
    if (rates(first) != rates(own)) refuse(kind, "rates", rates(own), rates(first));
    if (first.spec().celsius != own.spec().celsius) {
        refuse(kind, "temperature", to_text(own.spec().celsius), to_text(first.spec().celsius));
    }
}

/// Mechanisms with the values of their parameters that change rates, over all kinds.
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
                                         .bound = "each takes a table of its own",
                                         .remedy = "give fewer different values, or rates='exact'"});
        }
    }
}

}  // namespace

bool is_of_current(const MechanismModel& mechanism, std::size_t parameter) {
    return std::ranges::any_of(mechanism.currents, [&](const CurrentInfo& current) {
        return current.conductance == parameter || current.reversal == parameter;
    });
}

std::vector<double> rate_parameters(const PaintedMechanism& painted) {
    std::vector<double> values;
    for (std::size_t p = 0; p < painted.parameters.size(); ++p) {
        if (!is_of_current(*painted.mechanism, p)) values.push_back(painted.parameters[p].front());
    }
    return values;
}

CellModel::CellModel(std::vector<std::shared_ptr<const CellModel>> kinds, std::vector<std::uint32_t> kind_of)
    : kinds_(std::move(kinds)), kind_of_(std::move(kind_of)) {
    if (kinds_.empty() || kind_of_.empty()) throw InternalError("a population without cells");
    SequenceHash hash;
    for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
        const auto cell = static_cast<std::size_t>(std::ranges::find(kind_of_, kind) - kind_of_.begin());
        check_kind(*kinds_.front(), *kinds_[kind], cell);
        hash.add(kinds_[kind]->neuron_model().own_fingerprint);
    }
    check_rates(kinds_);
    for (const std::uint32_t kind : kind_of_) hash.add(kind);
    describe(hash.value());
}

}  // namespace ranvier::cable
