#pragma once

#include <functional>
#include <map>
#include <string>
#include <variant>

#include "base/distribution.hpp"
#include "base/shared_array.hpp"

namespace ranvier::engine {

/// A value for each of many things: one for all, one each, or drawn for each.
using Values = std::variant<double, SharedArray, Distribution>;

using NamedValues = std::map<std::string, Values, std::less<>>;

}  // namespace ranvier::engine
