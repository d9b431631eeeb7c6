#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "connect/rules/pair_weights.hpp"
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

constexpr RuleParameterInfo mask_info() {
    return {.name = "mask",
            .kind = RuleParameterInfo::Kind::mask,
            .meaning = "the targets around a source that may be connected; without one, all"};
}
/// @param default_value nothing: the user must give it
constexpr RuleParameterInfo probability_info(std::string_view meaning, std::optional<double> default_value = 1.0) {
    return {.name = "probability",
            .kind = RuleParameterInfo::Kind::pair_value,
            .default_value = default_value,
            .bounds = {.lower = 0.0, .upper = 1.0},
            .meaning = meaning};
}

/// Whether pairs differ: with a mask, or a probability that is a function.
bool pairs_differ(const RuleSpec& spec);
/// Whether a rule connects all pairs that it would connect without a mask and a probability.
bool connects_all(const RuleSpec& spec);
/// The probability, or another pair_value, and the mask of a rule.
/// @throws RuleError without the positions that they need
PairWeights pair_weights(const RuleSpec& spec, const PairSpace& pairs, RuleSampler::Major major, bool allow_autapses,
                         std::string_view parameter = "probability", double most = 1.0);

/// Checks that indices of sources and targets fit 32 bits. @throws RuleError
void check_narrow(const RuleSpec& spec, const PairSpace& pairs);

/// Number of pairs that may be connected.
/// @throws RuleError when it exceeds the limit of the samplers (2^62)
std::uint64_t count_pairs(std::string_view rule, const PairSpace& pairs, bool allow_autapses);

/// a * b, the number of synapses of a rule. @throws RuleError when it exceeds 2^62
std::uint64_t checked_product(std::string_view rule, std::uint64_t a, std::uint64_t b);

/// Checks that every major neuron can have `degree` partners. `parameter` is the name of the degree.
/// @throws RuleError
void check_degree(std::string_view rule, std::string_view parameter, const MajorView& view, RuleSampler::Major major,
                  std::uint64_t degree, bool allow_multapses);

/// Checks that the sources are the targets. @throws RuleError
void check_alike(const RuleSpec& spec, const PairSpace& pairs);

/// Checks that `indegree` of a rule of neurons on a ring is even. @throws RuleError
void check_ring_degree(const RuleSpec& spec);

/// Checks a rule of neurons on a ring against the neurons, and returns its `indegree`.
/// @throws RuleError when the sources are not the targets, or are too few
std::uint32_t checked_ring_degree(const RuleSpec& spec, const PairSpace& pairs);

}  // namespace ranvier::connect
