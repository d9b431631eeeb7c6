#include <array>

#include "connect/rules/fixed_degree.hpp"
#include "connect/rules/rule_checks.hpp"
#include "ranvier/connect/rules/registry.hpp"

namespace ranvier::connect {

namespace {
namespace fixed_indegree_parts {

constexpr std::array parameters{
    count_info("indegree", "connections per target"),
    allow_autapses_info("whether a neuron may be drawn as its own source"),
    allow_multapses_info("whether a source may be drawn more than once for a target"),
    mask_info(),
    probability_info("probability that a pair is taken, in proportion to which partners are drawn"),
};

std::unique_ptr<RuleSampler> bind(const RuleSpec& spec, const PairSpace& pairs, std::uint64_t seed,
                                  ProjectionId projection) {
    return bind_fixed_degree(RuleSampler::Major::target, spec, pairs, seed, projection);
}

}  // namespace fixed_indegree_parts
}  // namespace

const RuleInfo fixed_indegree_rule{
    .name = "fixed_indegree",
    .summary = "every target gets the same number of connections, from sources drawn uniformly",
    .parameters = fixed_indegree_parts::parameters,
    .bind = fixed_indegree_parts::bind,
};

}  // namespace ranvier::connect
