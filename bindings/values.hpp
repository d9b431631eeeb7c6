#pragma once

#include <nanobind/stl/shared_ptr.h>

#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "bindings.hpp"
#include "ranvier/base/distribution.hpp"
#include "ranvier/network/network.hpp"

/// Values of parameters from Python.
namespace ranvier::bindings {

/// A value from Python: one for all, an array with one each, the same in a file, drawn, or an expression.
using InputValue =
    std::variant<InputArray<double>, SharedArray, Distribution, std::shared_ptr<const connect::PairFunction>, double>;
using InputValues = std::map<std::string, InputValue>;
using InputSequences = std::map<std::string, InputArray<double>>;

/// The array of Python itself, kept alive by its holders: arrays of descriptions are immutable.
SharedArray to_shared_array(const InputArray<double>& array);
network::Values to_values(const InputValue& value);
std::map<std::string, network::Values, std::less<>> to_values(const InputValues& values);
std::map<std::string, std::vector<double>, std::less<>> to_lists(const InputSequences& sequences);
/// The spike times of all units are concatenated: those of unit i are the next `counts[i]` numbers.
std::vector<std::vector<double>> to_lists(const InputArray<double>& times, const InputArray<std::int64_t>& counts);

}  // namespace ranvier::bindings
