#include <array>

#include "connect/rules/fixed_degree.hpp"
#include "connect/rules/registry.hpp"
#include "connect/rules/rule_checks.hpp"

namespace ranvier::connect {

namespace {

constexpr std::array parameters{
    RuleParameterInfo{"indegree", "number of synapses of each target", "a whole number >= 0"},
    allow_autapses_info,
    allow_multapses_info,
};

std::unique_ptr<RuleSampler> bind(const RuleSpec& spec, const PairSpace& pairs, std::uint64_t seed,
                                  ProjectionId projection) {
    return bind_fixed_degree(RuleSampler::Major::target, spec, pairs, seed, projection);
}

}  // namespace

const RuleInfo fixed_indegree_rule{
    .name = "fixed_indegree",
    .summary = "every target gets the same number of synapses, with sources drawn uniformly",
    .parameters = parameters,
    .bind = bind,
};

}  // namespace ranvier::connect
