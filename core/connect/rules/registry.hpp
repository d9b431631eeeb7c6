#pragma once

#include "connect/rules/rule.hpp"

namespace ranvier::connect {

/// One for each rule, defined in its file. A new rule is declared here and listed in registry.cpp.
extern const RuleInfo all_to_all_rule;
extern const RuleInfo explicit_rule;
extern const RuleInfo fixed_indegree_rule;
extern const RuleInfo fixed_outdegree_rule;
extern const RuleInfo fixed_total_number_rule;
extern const RuleInfo nearest_neighbors_rule;
extern const RuleInfo one_to_one_rule;
extern const RuleInfo pairwise_bernoulli_rule;
extern const RuleInfo uniform_indegree_rule;

}  // namespace ranvier::connect
