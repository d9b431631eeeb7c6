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

/// Checks of what users give as values. All throw before anything is changed, and name the object that is wrong.
namespace ranvier::network {

/// Least and greatest value that can occur; (0, 0) when there are none.
std::pair<double, double> range_of(const Values& values);

/// Values of `count` things that must be finite.
/// @throws ShapeError for an array of another length, ValueOutOfBoundsError
void check_values(const Values& values, const std::string& object, std::uint64_t count);

/// Values of a parameter, which must keep its bounds. @throws as above
void check_values(const Values& values, const models::ParameterInfo& info, const std::string& object,
                  std::uint64_t count);

/// What a model has to say against a set of parameters of one neuron or target.
using ConflictTest = std::function<std::optional<std::string>(std::span<const double>)>;

/// Asks a model whether the parameters of each of `count` things fit together: the elements of arrays at one index, combined
/// with the bounds of distributions; with some combinations of these, where there are many.
/// @throws ValueOutOfBoundsError
void check_conflicts(std::span<const models::ParameterInfo> infos, const NamedValues& values, std::uint64_t count,
                     const ConflictTest& conflict, const std::string& object);

/// The same for what a model has to say against parameters of one of `count` neurons, or of any, that lie between bounds:
/// see models::NeuronModel::range_conflict.
using RangeTest = std::function<std::optional<std::string>(
    std::optional<std::uint64_t> neuron, std::span<const double> least, std::span<const double> greatest)>;
void check_range_conflicts(std::span<const models::ParameterInfo> infos, const NamedValues& values, std::uint64_t count,
                           const RangeTest& conflict, const std::string& object);

}  // namespace ranvier::network
