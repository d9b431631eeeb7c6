#pragma once

#include <memory>

#include "ranvier/connect/rules/rule.hpp"

/// The connections of a rule in the opposite direction.
namespace ranvier::connect {

/// The same pairs, with sources and targets exchanged.
PairSpace reversed(const PairSpace& pairs);

/// The same connections, which are drawn for the same neurons in the same order, with sources and targets exchanged.
std::unique_ptr<RuleSampler> reversed(std::unique_ptr<RuleSampler> forward);

}  // namespace ranvier::connect
