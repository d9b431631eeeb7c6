#include "cable/cell/bound_checks.hpp"

#include <cmath>
#include <utility>

#include "base/counted.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::cable {

void check_bounds(double value, const Bounds& bounds, std::string object, std::string_view unit) {
    if (bounds.contains(value)) return;
    const std::string suffix = unit.empty() ? "" : " " + std::string(unit);
    throw ValueOutOfBoundsError({.object = std::move(object),
                                 .value = to_text(value) + suffix,
                                 .bound = std::string("it must be ") + (bounds.lower_open ? "above " : "at least ") +
                                          to_text(bounds.lower) + " and at most " + to_text(bounds.upper) + suffix,
                                 .remedy = "check the unit"});
}

void check_parameter(double value, const models::ParameterInfo& info, std::string object) {
    if (std::isnan(value) && std::isnan(info.default_value)) {
        throw ValueOutOfBoundsError({.object = std::move(object),
                                     .value = "not given",
                                     .bound = "it has no default",
                                     .remedy = "give it a value"});
    }
    check_bounds(value, info.bounds, std::move(object), info.unit);
}

void check_length(std::size_t length, std::size_t compartments, std::string object) {
    if (length == 1 || length == compartments) return;
    throw ShapeError({.object = std::move(object),
                      .value = counted(length, "value"),
                      .bound = "the cell has " + counted(compartments, "compartment"),
                      .remedy = "give one value, or one for each compartment"});
}

}  // namespace ranvier::cable
