#include <array>

#include "connect/rules/rule_checks.hpp"
#include "connect/rules/thinned_pairs.hpp"
#include "ranvier/connect/rules/registry.hpp"

namespace ranvier::connect {

namespace {
namespace pairwise_poisson_parts {

/// More synapses of a pair than any use of them needs; an expression that is not limited would draw for ever.
constexpr double greatest_mean = 1000.0;

constexpr std::array parameters{
    RuleParameterInfo{.name = "mean",
                      .kind = RuleParameterInfo::Kind::pair_value,
                      .bounds = {.lower = 0.0, .upper = greatest_mean},
                      .meaning = "mean number of connections of a pair"},
    allow_autapses_info("whether a neuron may connect to itself"),
    mask_info(),
};

std::unique_ptr<RuleSampler> bind(const RuleSpec& spec, const PairSpace& pairs, std::uint64_t seed,
                                  ProjectionId projection) {
    const bool allow_autapses = spec.flag("allow_autapses");
    count_pairs(spec.name(), pairs, allow_autapses);
    check_narrow(spec, pairs);
    return thinned_pairs(pair_weights(spec, pairs, RuleSampler::Major::target, allow_autapses, "mean", greatest_mean),
                         ThinnedPairs::Synapses::poisson, make_key(seed, Purpose::partner, projection.value));
}

}  // namespace pairwise_poisson_parts
}  // namespace

const RuleInfo pairwise_poisson_rule{
    .name = "pairwise_poisson",
    .summary = "each pair of a source and a target gets a Poisson number of connections, independently of others",
    .parameters = pairwise_poisson_parts::parameters,
    .bind = pairwise_poisson_parts::bind,
};

}  // namespace ranvier::connect
