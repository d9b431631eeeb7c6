#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ranvier/base/errors.hpp"
#include "ranvier/cable/cell/per_cell_parameters.hpp"
#include "ranvier/cable/cell/spec.hpp"

/// Detection of values of per-cell parameters that do not fit together.
namespace ranvier::cable {

namespace {

using Kind = PerCellUse::Kind;

/// A linear combination of per-cell parameters plus a constant.
struct Sum {
    double constant = 0.0;
    std::map<std::uint32_t, double> factors;

    void add(double value) { constant += value; }
    void subtract(const Sum& other) {
        constant -= other.constant;
        for (const auto& [parameter, factor] : other.factors) factors[parameter] -= factor;
    }
    double least(std::span<const double> lowest, std::span<const double> highest) const {
        double sum = constant;
        for (const auto& [parameter, factor] : factors) {
            if (factor != 0.0) sum += factor * (factor > 0.0 ? lowest[parameter] : highest[parameter]);
        }
        return sum;
    }
};

const PerCellUse* use_of(const CellSpec& spec, Kind kind, std::uint32_t of, std::uint32_t index) {
    const auto found = std::ranges::find_if(spec.uses, [&](const PerCellUse& use) {
        return use.kind == kind && use.of == of && (kind == Kind::clamp_start || use.index == index);
    });
    return found == spec.uses.end() ? nullptr : &*found;
}

struct Span {
    Sum start;
    Sum end;
};

/// The time in which a clamp holds a potential, ms.
Span span_of(const CellSpec& spec, std::uint32_t clamp) {
    Sum sum;
    const auto add = [&](Kind kind, std::uint32_t index, double value) {
        if (const PerCellUse* const use = use_of(spec, kind, clamp, index)) {
            sum.factors[use->parameter] += use->profile.front();
        } else {
            sum.add(value);
        }
    };
    add(Kind::clamp_start, 0, spec.clamps[clamp].start);
    const Sum start = sum;
    for (std::uint32_t i = 0; i < spec.clamps[clamp].durations.size(); ++i) {
        add(Kind::clamp_duration, i, spec.clamps[clamp].durations[i]);
    }
    return {start, sum};
}

bool has_per_cell_times(const CellSpec& spec, std::uint32_t clamp) {
    return std::ranges::any_of(spec.uses, [&](const PerCellUse& use) {
        return (use.kind == Kind::clamp_start || use.kind == Kind::clamp_duration) && use.of == clamp;
    });
}

/// Visits pairs of voltage clamps in the same compartment if the times of at least one differ between cells.
template <class Visit>
void visit_pairs(const CellSpec& spec, Visit visit) {
    for (std::uint32_t i = 0; i < spec.clamps.size(); ++i) {
        for (std::uint32_t k = 0; k < i; ++k) {
            const PlacedClamp& clamp = spec.clamps[i];
            const PlacedClamp& other = spec.clamps[k];
            if (clamp.kind != PlacedClamp::Kind::voltage || other.kind != PlacedClamp::Kind::voltage) continue;
            if (spec.compartments.at(clamp.place, "place") != spec.compartments.at(other.place, "place")) continue;
            if (has_per_cell_times(spec, i) || has_per_cell_times(spec, k)) visit(i, k);
        }
    }
}

/// Whether the first ends before the second starts for all values.
bool is_before(const Span& first, const Span& second, std::span<const double> least, std::span<const double> greatest) {
    Sum gap = second.start;
    gap.subtract(first.end);
    return gap.least(least, greatest) >= 0.0;
}

std::optional<std::string> conflict_of_receptor(const CellSpec& spec, std::uint32_t receptor,
                                                std::span<const double> least, std::span<const double> greatest) {
    const PlacedReceptor& placed = spec.receptors[receptor];
    if (placed.model->conflict == nullptr) return std::nullopt;
    std::vector<std::uint32_t> varied;
    for (const PerCellUse& use : spec.uses) {
        if (use.kind != Kind::receptor || use.of != receptor) continue;
        if (std::ranges::find(varied, use.parameter) == varied.end()) varied.push_back(use.parameter);
    }
    if (varied.empty()) return std::nullopt;
    for (std::uint64_t corner = 0; corner < std::uint64_t{1} << varied.size(); ++corner) {
        std::vector<double> parameters = placed.parameters;
        for (const PerCellUse& use : spec.uses) {
            if (use.kind != Kind::receptor || use.of != receptor) continue;
            const auto place = static_cast<std::size_t>(std::ranges::find(varied, use.parameter) - varied.begin());
            const double value = (corner >> place & 1) == 0 ? least[use.parameter] : greatest[use.parameter];
            parameters[use.index] = use.profile.front() * value;
        }
        if (const auto reason = placed.model->conflict(parameters))
            return "of receptor '" + placed.name + "', " + *reason;
    }
    return std::nullopt;
}

}  // namespace

bool may_conflict(const CellSpec& spec) {
    bool found = false;
    visit_pairs(spec, [&](std::uint32_t, std::uint32_t) { found = true; });
    return found || std::ranges::any_of(spec.uses, [&](const PerCellUse& use) {
               return use.kind == Kind::receptor && spec.receptors[use.of].model->conflict != nullptr;
           });
}

std::optional<std::string> conflict_between(const CellSpec& spec, std::span<const double> least,
                                            std::span<const double> greatest) {
    for (std::uint32_t r = 0; r < spec.receptors.size(); ++r) {
        if (auto reason = conflict_of_receptor(spec, r, least, greatest)) return reason;
    }
    std::optional<std::string> reason;
    const bool is_one = std::ranges::equal(least, greatest);
    visit_pairs(spec, [&](std::uint32_t i, std::uint32_t k) {
        if (is_one) {
            const CellConstants one = constants_of(spec, least);
            const PlacedClamp& a = one.clamps[i];
            const PlacedClamp& b = one.clamps[k];
            if (a.start >= end_of(b) || b.start >= end_of(a)) return;
        } else {
            const Span a = span_of(spec, i);
            const Span b = span_of(spec, k);
            if (is_before(a, b, least, greatest) || is_before(b, a, least, greatest)) return;
        }
        reason = "voltage clamps '" + spec.clamps[k].name + "' and '" + spec.clamps[i].name +
                 "' would hold the same compartment at the same time; let one end before the other starts";
    });
    return reason;
}

}  // namespace ranvier::cable
