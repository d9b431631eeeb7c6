#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "ranvier/base/bounds.hpp"

namespace ranvier::models {

/// Bounds of currents (pA): their sums stay far below the limit of single precision.
inline constexpr Bounds any_current{.lower = -1e30, .upper = 1e30};
/// Bounds of oscillations, whose phase is calculated from cycles counted in double precision.
inline constexpr Bounds any_frequency{.lower = -1e9, .upper = 1e9};  // Hz
inline constexpr Bounds any_phase{.lower = -1e9, .upper = 1e9};      // degrees

/// Whether a parameter of synapses may differ between them.
enum class PerSynapse : std::uint8_t {
    no,         ///< all synapses of a projection share it
    yes,        ///< it may be changed while a simulation runs
    /// it is fixed when the simulation starts: it is an initial value, or past spikes may still have to be learnt
    /// from
    beginning,
};

/// One parameter of a model. Validation and documentation in Python follow from it.
struct ParameterInfo {
    std::string_view name;
    std::string_view unit;  ///< "" where there is none
    double default_value;
    Bounds bounds;
    std::string_view meaning;
    /// Whether an infinite value is valid if the bounds contain it (a stop time, or no lower limit).
    bool may_be_infinite = false;
    /// For synapse models: whether the parameter may differ between synapses.
    PerSynapse per_synapse = PerSynapse::no;
    bool is_whole = false;  ///< values are whole numbers, and drawn ones are rounded
    bool is_initial = false;  ///< it only sets the initial state of neurons and cannot change while a simulation runs
    /// For synapse models: the parameter whose values are the default; empty: `default_value` is.
    std::string_view default_parameter = {};
};

/// The same parameter, which may differ between synapses.
constexpr ParameterInfo per_synapse(ParameterInfo info) {
    info.per_synapse = PerSynapse::yes;
    return info;
}
/// The same for an initial value of synapses.
constexpr ParameterInfo at_beginning(ParameterInfo info) {
    info.per_synapse = PerSynapse::beginning;
    return info;
}
/// The same parameter with the value of another one as its default.
constexpr ParameterInfo follows(ParameterInfo info, std::string_view parameter) {
    info.default_parameter = parameter;
    return info;
}
constexpr ParameterInfo whole(ParameterInfo info) {
    info.is_whole = true;
    return info;
}

/// One state variable of a neuron model: it can be recorded, read, and set.
struct VariableInfo {
    std::string_view name;
    std::string_view unit;
    std::string_view meaning;
    /// The parameter that gives the initial value unless the user sets it; empty: `initial_value` does.
    std::string_view initial_parameter = {};
    double initial_value = 0.0;
    /// Whether it can only be recorded and read.
    bool is_read_only = false;
};

/// A list of numbers that a model takes, for example the times and values of a step current.
struct SequenceInfo {
    std::string_view name;
    std::string_view unit;
    std::string_view meaning;
};

}  // namespace ranvier::models
