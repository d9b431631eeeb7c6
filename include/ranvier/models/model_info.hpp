#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "ranvier/base/bounds.hpp"

namespace ranvier::models {

/// Of currents (pA): what they add up to stays far from the end of single precision.
inline constexpr Bounds any_current{.lower = -1e30, .upper = 1e30};
/// Of oscillations, whose phase is told from cycles that are counted in double precision.
inline constexpr Bounds any_frequency{.lower = -1e9, .upper = 1e9};  // Hz
inline constexpr Bounds any_phase{.lower = -1e9, .upper = 1e9};      // degrees

/// Whether a synapse can have a value of its own for a parameter.
enum class PerSynapse : std::uint8_t {
    no,         ///< all synapses of a projection share it
    yes,        ///< it may be changed while a simulation runs, too
    beginning,  ///< it stays as it was given: it says how the synapse begins, or past spikes may have to be learnt from
};

/// One parameter of a model. What Python accepts, checks and documents follows from it.
struct ParameterInfo {
    std::string_view name;
    std::string_view unit;  ///< "" where there is none
    double default_value;
    Bounds bounds;
    std::string_view meaning;
    /// Whether an infinite value is valid where the bounds contain it (a stop time, say, or no lower limit).
    bool may_be_infinite = false;
    /// Of synapse models: whether each synapse may have a value of its own.
    PerSynapse per_synapse = PerSynapse::no;
    bool is_whole = false;  ///< values are whole numbers, and drawn ones are rounded
    bool is_initial = false;  ///< it only says how neurons begin, so that it stays while a simulation runs
    /// For synapse models: the parameter whose values are its default; empty: `default_value` is.
    std::string_view default_parameter = {};
};

/// The same parameter, of which each synapse may have a value of its own.
constexpr ParameterInfo per_synapse(ParameterInfo info) {
    info.per_synapse = PerSynapse::yes;
    return info;
}
/// The same, for one that says how the synapse begins.
constexpr ParameterInfo at_beginning(ParameterInfo info) {
    info.per_synapse = PerSynapse::beginning;
    return info;
}
/// Returns the parameter with the value of another one as its default.
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
    /// The parameter that gives its initial value unless the user sets it; empty: `initial_value` does.
    std::string_view initial_parameter = {};
    double initial_value = 0.0;
    /// Whether it can be recorded and read only.
    bool is_read_only = false;
};

/// A list of numbers that a model takes, for example the times and values of a step current.
struct SequenceInfo {
    std::string_view name;
    std::string_view unit;
    std::string_view meaning;
};

}  // namespace ranvier::models
