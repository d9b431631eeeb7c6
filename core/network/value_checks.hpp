#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "ranvier/models/model_info.hpp"
#include "ranvier/network/network.hpp"

/// Checks of values given by users. All throw before anything is changed, with the name of the object.
namespace ranvier::network {

/// The smallest and the greatest possible value; (0, 0) if there are none.
std::pair<double, double> range_of(const Values& values);

/// A bound with its place, for errors.
std::string described(const ExpressionValues::Bound& bound);

/// Checks values of `count` objects, which must be finite.
/// @throws ShapeError for an array of another length, ValueOutOfBoundsError
void check_values(const Values& values, const std::string& object, std::uint64_t count);

/// Checks values of a parameter against its bounds.
/// @throws as above
void check_values(const Values& values, const models::ParameterInfo& info, const std::string& object,
                  std::uint64_t count);

/// Returns the conflict in a set of parameters of one neuron or target, if there is one.
using ConflictTest = std::function<std::optional<std::string>(std::span<const double>)>;

/// Checks that the parameters of each of `count` objects fit together: the elements of arrays at one index, combined
/// with the bounds of distributions, or with a subset of these combinations if there are many.
/// @throws ValueOutOfBoundsError
void check_conflicts(std::span<const models::ParameterInfo> infos, const NamedValues& values, std::uint64_t count,
                     const ConflictTest& conflict, const std::string& object);

/// The same for conflicts of parameters that lie between bounds, of one of `count` neurons or of any: see
/// models::NeuronModel::range_conflict.
using RangeTest = std::function<std::optional<std::string>(
    std::optional<std::uint64_t> neuron, std::span<const double> least, std::span<const double> greatest)>;
void check_range_conflicts(std::span<const models::ParameterInfo> infos, const NamedValues& values, std::uint64_t count,
                           const RangeTest& conflict, const std::string& object);

}  // namespace ranvier::network
