#include <array>

#include "connect/rules/fixed_degree.hpp"
#include "connect/rules/rule_checks.hpp"
#include "ranvier/connect/rules/registry.hpp"

namespace ranvier::connect {

namespace {
namespace fixed_outdegree_parts {

constexpr std::array parameters{
    count_info("outdegree", "connections per source"),
    allow_autapses_info("whether a neuron may be drawn as its own target"),
    allow_multapses_info("whether a target may be drawn more than once for a source"),
    mask_info(),
    probability_info("probability that a pair is taken, in proportion to which partners are drawn"),
};

std::unique_ptr<RuleSampler> bind(const RuleSpec& spec, const PairSpace& pairs, std::uint64_t seed,
                                  ProjectionId projection) {
    return bind_fixed_degree(RuleSampler::Major::source, spec, pairs, seed, projection);
}

}  // namespace fixed_outdegree_parts
}  // namespace

const RuleInfo fixed_outdegree_rule{
    .name = "fixed_outdegree",
    .summary = "every source gets the same number of connections, to targets drawn uniformly",
    .parameters = fixed_outdegree_parts::parameters,
    .bind = fixed_outdegree_parts::bind,
};

}  // namespace ranvier::connect
