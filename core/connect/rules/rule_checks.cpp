#include "connect/rules/rule_checks.hpp"

#include <limits>

#include "base/counted.hpp"
#include "base/sampling.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::connect {

bool pairs_differ(const RuleSpec& spec) {
    return spec.mask("mask") != nullptr || !std::holds_alternative<double>(spec.pair_value("probability"));
}

bool connects_all(const RuleSpec& spec) {
    return !pairs_differ(spec) && std::get<double>(spec.pair_value("probability")) == 1.0;
}

PairWeights pair_weights(const RuleSpec& spec, const PairSpace& pairs, RuleSampler::Major major, bool allow_autapses,
                         std::string_view parameter, double most) {
    const std::string of_rule = " of rule '" + std::string(spec.name()) + "'";
    return PairWeights({.major = major,
                        .positions = pairs.positions,
                        .mask = spec.mask("mask"),
                        .value = spec.pair_value(parameter),
                        .most = most,
                        .object = std::string(parameter) + of_rule,
                        .mask_object = "mask" + of_rule},
                       MajorView(pairs, major, allow_autapses));
}

void check_narrow(const RuleSpec& spec, const PairSpace& pairs) {
    for (const std::uint64_t number : {pairs.sources, pairs.targets}) {
        if (number <= std::numeric_limits<std::uint32_t>::max()) continue;
        throw RuleError({.object = std::string(number == pairs.sources ? "number of sources" : "number of targets") +
                                   " of rule '" + std::string(spec.name()) + "'",
                         .value = std::to_string(number),
                         .bound = "it must be below 2^32",
                         .remedy = "connect parts of the population"});
    }
}

std::uint64_t checked_product(std::string_view rule, std::uint64_t a, std::uint64_t b) {
    if (b > 0 && a > most_items / b) {
        throw RuleError({.object = "number of pairs of rule '" + std::string(rule) + "'",
                         .value = std::to_string(a) + " times " + std::to_string(b),
                         .bound = "at most 2^62 can be counted",
                         .remedy = "connect smaller parts of the populations"});
    }
    return a * b;
}

std::uint64_t count_pairs(std::string_view rule, const PairSpace& pairs, bool allow_autapses) {
    const MajorView view(pairs, RuleSampler::Major::target, allow_autapses);
    return checked_product(rule, pairs.sources, pairs.targets) - view.count_excluded(0, pairs.targets);
}

void check_degree(std::string_view rule, std::string_view parameter, const MajorView& view, RuleSampler::Major major,
                  std::uint64_t degree, bool allow_multapses) {
    const std::string object = std::string(parameter) + " of rule '" + std::string(rule) + "'";
    const bool of_target = major == RuleSampler::Major::target;
    if (degree > std::numeric_limits<std::uint32_t>::max()) {
        throw RuleError({.object = object,
                         .value = std::to_string(degree),
                         .bound = "it must be below 2^32",
                         .remedy = "lower it"});
    }
    if (view.majors() == 0 || degree == 0) return;
    const bool some_excluded = view.count_excluded(0, view.majors()) > 0;
    const std::uint64_t allowed = view.partners() - (some_excluded ? 1 : 0);
    if (allowed > 0 && (allow_multapses || degree <= allowed)) return;
    std::string bound = of_target ? "a target has only " : "a source has only ";
    bound += std::to_string(allowed) + (of_target ? " allowed sources" : " allowed targets");
    if (some_excluded) bound += " (itself excluded)";
    if (!allow_multapses) bound += " and no pair may be connected twice";
    std::string remedy = "lower it to at most " + std::to_string(allowed);
    if (!allow_multapses && allowed > 0) remedy += ", or allow multapses";
    if (some_excluded) remedy += ", or allow autapses";
    throw RuleError({.object = object, .value = std::to_string(degree), .bound = bound, .remedy = remedy});
}

void check_ring_degree(const RuleSpec& spec) {
    const std::uint64_t degree = spec.count("indegree");
    if (degree % 2 == 0) return;
    throw RuleError({.object = "indegree of rule '" + std::string(spec.name()) + "'",
                     .value = std::to_string(degree),
                     .bound = "it must be even: as many before a neuron as after it",
                     .remedy = "add or subtract one"});
}

void check_alike(const RuleSpec& spec, const PairSpace& pairs) {
    if (pairs.are_alike()) return;
    throw RuleError(
        {.object = "sources of rule '" + std::string(spec.name()) + "'",
         .value = counted(pairs.sources, "neuron") + " from id " + std::to_string(pairs.first_source.value) + " on",
         .bound = "they must be the targets, " + counted(pairs.targets, "neuron") + " from id " +
                  std::to_string(pairs.first_target.value) + " on",
         .remedy = "connect a population, or a part of it, to itself"});
}

std::uint32_t checked_ring_degree(const RuleSpec& spec, const PairSpace& pairs) {
    const std::uint64_t degree = spec.count("indegree");
    check_alike(spec, pairs);
    const auto fail = [&](std::string bound) {
        throw RuleError({.object = "indegree of rule '" + std::string(spec.name()) + "'",
                         .value = std::to_string(degree),
                         .bound = std::move(bound),
                         .remedy = "lower it"});
    };
    if (degree > 0 && pairs.targets > 0 && degree >= pairs.sources) {
        fail("it must be less than the number of sources, " + std::to_string(pairs.sources));
    }
    if (degree > std::numeric_limits<std::uint32_t>::max()) fail("it must be below 2^32");
    checked_product(spec.name(), pairs.targets, degree);
    return static_cast<std::uint32_t>(degree);
}

}  // namespace ranvier::connect
