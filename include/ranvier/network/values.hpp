#pragma once

#include <functional>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "ranvier/base/distribution.hpp"
#include "ranvier/base/shared_array.hpp"

namespace ranvier::network {

/// Values of many objects: one for all, one each, or drawn for each.
using Values = std::variant<double, SharedArray, Distribution>;

using NamedValues = std::map<std::string, Values, std::less<>>;

/// Sequences of a stimulator, by name.
using Sequences = std::map<std::string, std::vector<double>, std::less<>>;

}  // namespace ranvier::network
