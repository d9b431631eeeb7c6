#pragma once

#include <optional>
#include <string>

#include "ranvier/cable/receptor.hpp"

namespace ranvier::cable {

/// A conductance that is the difference of two exponentials, normalised to a maximum of 1.
ReceptorConstants two_exponentials(double tau_rise, double tau_decay, double reversal, double step);

/// Why these time constants do not fit together; nothing if they do.
std::optional<std::string> rise_conflict(double tau_rise, double tau_decay);

}  // namespace ranvier::cable
