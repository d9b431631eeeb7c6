#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "connect/rules/partners.hpp"
#include "ranvier/connect/rules/rule.hpp"

/// Checks and parameters shared by several rules.
namespace ranvier::connect {

// Parameters of several rules. The meaning names the neurons or pairs concerned.

constexpr RuleParameterInfo count_info(std::string_view name, std::string_view meaning) {
    return {.name = name, .kind = RuleParameterInfo::Kind::count, .bounds = not_negative, .meaning = meaning};
}
constexpr RuleParameterInfo allow_autapses_info(std::string_view meaning) {
    return {.name = "allow_autapses", .kind = RuleParameterInfo::Kind::flag, .default_value = 1.0, .meaning = meaning};
}
constexpr RuleParameterInfo allow_multapses_info(std::string_view meaning) {
    return {.name = "allow_multapses", .kind = RuleParameterInfo::Kind::flag, .default_value = 1.0, .meaning = meaning};
}

/// Number of pairs that may be connected.
/// @throws RuleError when it exceeds the limit of the samplers (2^62)
std::uint64_t count_pairs(std::string_view rule, const PairSpace& pairs, bool allow_autapses);

/// a * b, the number of synapses of a rule. @throws RuleError when it exceeds 2^62
std::uint64_t checked_product(std::string_view rule, std::uint64_t a, std::uint64_t b);

/// Checks that every major neuron can have `degree` partners. `parameter` is the name of the degree.
/// @throws RuleError
void check_degree(std::string_view rule, std::string_view parameter, const MajorView& view, RuleSampler::Major major,
                  std::uint64_t degree, bool allow_multapses);

/// Checks that `indegree` of a rule of neurons on a ring is even. @throws RuleError
void check_ring_degree(const RuleSpec& spec);

/// Checks a rule of neurons on a ring against the neurons, and returns its `indegree`.
/// @throws RuleError when the sources are not the targets, or are too few
std::uint32_t checked_ring_degree(const RuleSpec& spec, const PairSpace& pairs);

}  // namespace ranvier::connect
