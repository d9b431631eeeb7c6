#include "connect/rules/rule_checks.hpp"

#include <limits>

#include "base/sampling.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::connect {

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

}  // namespace ranvier::connect
