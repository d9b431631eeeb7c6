#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ranvier/models/model_info.hpp"

namespace ranvier::cable {

struct MechanismModel;

/// What a step needs of the synapses of one receptor at a place. Their conductance is the difference of two exponentials, so
/// that those at one place share two numbers, whatever their weights.
struct ReceptorConstants {
    double reversal = 0.0;   ///< mV
    double decay = 0.0;      ///< what is left of the slow exponential after a step
    double rise = 0.0;       ///< of the fast one; 0: the conductance jumps
    double scale = 1.0;      ///< of weights, so that one of 1 nS gives a greatest conductance of 1 nS
    double half_decay = 0.0;  ///< after half a step
    double half_rise = 0.0;
    double blockers = 0.0;  ///< of magnesium: how many receptors are blocked for each that is not, at 0 mV; 0: none
    double block_slope = 0.0;  ///< 1/mV
};

/// Receptors at one place of a cell, which synapses reach. Each one's file defines one and registers it in `receptors()`.
struct ReceptorModel {
    std::string_view name;
    std::string_view summary;  ///< one line
    std::string_view equations;  ///< several lines, plain text
    std::string_view reference;
    std::span<const models::ParameterInfo> parameters;
    /// @param step ms
    ReceptorConstants (*constants)(std::span<const double> parameters, double step) = nullptr;
    /// Why parameters that are each within their bounds do not fit together, or nothing.
    std::optional<std::string> (*conflict)(std::span<const double> parameters) = nullptr;
    /// A general mechanism that is a point process: then there are no `constants`.
    const MechanismModel* general = nullptr;
};

/// All of them, by name ascending.
std::span<const ReceptorModel* const> receptors();
/// @throws UnknownNameError
const ReceptorModel& find_receptor(std::string_view name);

}  // namespace ranvier::cable
