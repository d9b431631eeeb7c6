#pragma once

#include <array>

#include "ranvier/connect/rules/rule.hpp"

/// Every rule, defined in its file. Declare a new one here and add it to the list below.
namespace ranvier::connect {

extern const RuleInfo all_to_all_rule;
extern const RuleInfo explicit_rule;
extern const RuleInfo explicit_rows_rule;
extern const RuleInfo fixed_indegree_rule;
extern const RuleInfo fixed_outdegree_rule;
extern const RuleInfo fixed_total_number_rule;
extern const RuleInfo nearest_neighbors_rule;
extern const RuleInfo one_to_one_rule;
extern const RuleInfo pairwise_bernoulli_rule;
extern const RuleInfo pairwise_poisson_rule;
extern const RuleInfo small_world_rule;
extern const RuleInfo uniform_indegree_rule;
extern const RuleInfo unordered_bernoulli_rule;

inline constexpr std::array all_rules{
    &all_to_all_rule,          &explicit_rule,           &explicit_rows_rule,     &fixed_indegree_rule,
    &fixed_outdegree_rule,     &fixed_total_number_rule, &nearest_neighbors_rule, &one_to_one_rule,
    &pairwise_bernoulli_rule,  &pairwise_poisson_rule,   &small_world_rule,       &uniform_indegree_rule,
    &unordered_bernoulli_rule,
};

}  // namespace ranvier::connect
