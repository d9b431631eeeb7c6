#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ranvier/base/errors.hpp"
#include "ranvier/cable/cell/own_parameters.hpp"
#include "ranvier/cable/cell/spec.hpp"

/// Which values of own parameters do not fit together.
namespace ranvier::cable {

namespace {

using Kind = OwnUse::Kind;

/// A sum of numbers and of own parameters with factors.
struct Sum {
    double constant = 0.0;
    std::map<std::uint32_t, double> factors;

    void add(double value) { constant += value; }
    void subtract(const Sum& other) {
        constant -= other.constant;
        for (const auto& [own, factor] : other.factors) factors[own] -= factor;
    }
    double least(std::span<const double> lowest, std::span<const double> highest) const {
        double sum = constant;
        for (const auto& [own, factor] : factors) {
            if (factor != 0.0) sum += factor * (factor > 0.0 ? lowest[own] : highest[own]);
        }
        return sum;
    }
};

const OwnUse* use_of(const CellSpec& spec, Kind kind, std::uint32_t of, std::uint32_t index) {
    const auto found = std::ranges::find_if(spec.uses, [&](const OwnUse& use) {
        return use.kind == kind && use.of == of && (kind == Kind::clamp_start || use.index == index);
    });
    return found == spec.uses.end() ? nullptr : &*found;
}

struct Span {
    Sum start;
    Sum end;
};

/// When a clamp holds a potential, ms.
Span span_of(const CellSpec& spec, std::uint32_t clamp) {
    Sum sum;
    const auto add = [&](Kind kind, std::uint32_t index, double value) {
        if (const OwnUse* const use = use_of(spec, kind, clamp, index)) {
            sum.factors[use->own] += use->profile.front();
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

bool has_own_times(const CellSpec& spec, std::uint32_t clamp) {
    return std::ranges::any_of(spec.uses, [&](const OwnUse& use) {
        return (use.kind == Kind::clamp_start || use.kind == Kind::clamp_duration) && use.of == clamp;
    });
}

/// Pairs of voltage clamps that are in one compartment, one of which has times of its own.
template <class Visit>
void visit_pairs(const CellSpec& spec, Visit visit) {
    for (std::uint32_t i = 0; i < spec.clamps.size(); ++i) {
        for (std::uint32_t k = 0; k < i; ++k) {
            const PlacedClamp& own = spec.clamps[i];
            const PlacedClamp& other = spec.clamps[k];
            if (own.kind != PlacedClamp::Kind::voltage || other.kind != PlacedClamp::Kind::voltage) continue;
            if (spec.compartments.at(own.place, "place") != spec.compartments.at(other.place, "place")) continue;
            if (has_own_times(spec, i) || has_own_times(spec, k)) visit(i, k);
        }
    }
}

/// Whether the first is over when the second starts, whatever the values are.
bool is_before(const Span& first, const Span& second, std::span<const double> least, std::span<const double> greatest) {
    Sum gap = second.start;
    gap.subtract(first.end);
    return gap.least(least, greatest) >= 0.0;
}

std::optional<std::string> conflict_of_receptor(const CellSpec& spec, std::uint32_t receptor,
                                                std::span<const double> least, std::span<const double> greatest) {
    const PlacedReceptor& own = spec.receptors[receptor];
    if (own.model->conflict == nullptr) return std::nullopt;
    std::vector<std::uint32_t> varied;
    for (const OwnUse& use : spec.uses) {
        if (use.kind != Kind::receptor || use.of != receptor) continue;
        if (std::ranges::find(varied, use.own) == varied.end()) varied.push_back(use.own);
    }
    if (varied.empty()) return std::nullopt;
    for (std::uint64_t corner = 0; corner < std::uint64_t{1} << varied.size(); ++corner) {
        std::vector<double> parameters = own.parameters;
        for (const OwnUse& use : spec.uses) {
            if (use.kind != Kind::receptor || use.of != receptor) continue;
            const auto place = static_cast<std::size_t>(std::ranges::find(varied, use.own) - varied.begin());
            const double value = (corner >> place & 1) == 0 ? least[use.own] : greatest[use.own];
            parameters[use.index] = use.profile.front() * value;
        }
        if (const auto reason = own.model->conflict(parameters)) return "of receptor '" + own.name + "', " + *reason;
    }
    return std::nullopt;
}

}  // namespace

bool may_conflict(const CellSpec& spec) {
    bool found = false;
    visit_pairs(spec, [&](std::uint32_t, std::uint32_t) { found = true; });
    return found || std::ranges::any_of(spec.uses, [&](const OwnUse& use) {
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
