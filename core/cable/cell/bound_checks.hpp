#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "ranvier/models/model_info.hpp"

namespace ranvier::cable {

/// @throws ValueOutOfBoundsError with the name of the object
void check_bounds(double value, const Bounds& bounds, std::string object, std::string_view unit);

/// Checks the value of a parameter. NaN for a parameter without a default means that no value was given.
void check_parameter(double value, const models::ParameterInfo& info, std::string object);

/// Checks that there is one value, or one for each compartment.
/// @throws ShapeError
void check_length(std::size_t length, std::size_t compartments, std::string object);

}  // namespace ranvier::cable
