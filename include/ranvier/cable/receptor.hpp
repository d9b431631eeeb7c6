#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ranvier/models/model_info.hpp"

namespace ranvier::cable {

struct MechanismModel;

/// Constants of the synapses of one receptor at a place in a step. Their conductance is the difference of two
/// exponentials, so that those at one place share two numbers, whatever their weights.
struct ReceptorConstants {
    double reversal = 0.0;   ///< mV
    double decay = 0.0;      ///< decay of the slow exponential in a step
    double rise = 0.0;       ///< of the fast one; 0: the conductance jumps
    double scale = 1.0;      ///< of weights, so that one of 1 nS gives a maximum conductance of 1 nS
    double half_decay = 0.0;  ///< decay of the slow exponential in half a step
    double half_rise = 0.0;
    double blockers = 0.0;  ///< ratio of blocked to unblocked receptors at 0 mV by magnesium; 0: no block
    double block_slope = 0.0;  ///< 1/mV
};

/// Receptors at one place of a cell, targets of synapses. The file of each one defines it and registers it in
/// `receptors()`.
struct ReceptorModel {
    std::string_view name;
    std::string_view summary;  ///< one line
    std::string_view equations;  ///< several lines, plain text
    std::string_view reference;
    std::span<const models::ParameterInfo> parameters;
    /// @param step ms
    ReceptorConstants (*constants)(std::span<const double> parameters, double step) = nullptr;
    /// Why parameters within their bounds do not fit together; nothing if they do.
    std::optional<std::string> (*conflict)(std::span<const double> parameters) = nullptr;
    /// A point process that is a general mechanism; if set, there are no `constants`.
    const MechanismModel* general = nullptr;
};

/// All receptors, by name ascending.
std::span<const ReceptorModel* const> receptors();
/// @throws UnknownNameError
const ReceptorModel& find_receptor(std::string_view name);

}  // namespace ranvier::cable
