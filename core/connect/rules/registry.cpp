#include "connect/rules/registry.hpp"

#include <array>

#include "base/errors.hpp"

namespace ranvier::connect {

std::span<const RuleInfo* const> rules() {
    static constexpr std::array<const RuleInfo*, 9> all{
        &all_to_all_rule,      &explicit_rule,           &fixed_indegree_rule,
        &fixed_outdegree_rule, &fixed_total_number_rule, &nearest_neighbors_rule,
        &one_to_one_rule,      &pairwise_bernoulli_rule, &uniform_indegree_rule,
    };
    return all;
}

const RuleInfo& find_rule(std::string_view name) {
    std::vector<std::string_view> names;
    for (const RuleInfo* rule : rules()) {
        if (rule->name == name) return *rule;
        names.push_back(rule->name);
    }
    throw unknown_name("connection rule", name, names);
}

std::unique_ptr<RuleSampler> bind_rule(const RuleSpec& spec, const PairSpace& pairs, std::uint64_t seed,
                                       ProjectionId projection) {
    return find_rule(spec.name).bind(spec, pairs, seed, projection);
}

}  // namespace ranvier::connect
