#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ranvier/cable/cell/clamp.hpp"
#include "ranvier/models/model_info.hpp"

namespace ranvier::cable {

struct CellSpec;

inline constexpr Bounds capacitance_bounds{.lower = 1e-6, .upper = 1e6};  // uF/cm^2
inline constexpr Bounds resistivity_bounds{.lower = 1e-3, .upper = 1e9};  // ohm cm
/// mV: what rates are tabulated for; see RateTable.
inline constexpr Bounds potential_bounds{.lower = -250.0, .upper = 250.0};

/// A parameter of which each cell of a population has a value of its own; see PaintedMechanism::own and OwnUse.
struct OwnParameter {
    std::string name;
    double default_value = 0.0;
};

/// What an own parameter gives values to, beside parameters of mechanisms.
struct OwnUse {
    enum class Kind : std::uint8_t {
        capacitance,
        axial_resistivity,
        initial_potential,
        threshold,
        receptor,
        clamp_start,
        clamp_level,
        clamp_duration,
        clamp_resistance,
    };

    Kind kind = Kind::threshold;
    std::uint32_t own = 0;    ///< an index of CellSpec::own
    std::uint32_t of = 0;     ///< a receptor, or a clamp
    std::uint32_t index = 0;  ///< its parameter, level or duration
    /// What the value is multiplied by: one number; of the capacitance one, or one for each compartment, and what comes out
    /// is added to CellSpec::capacitance.
    std::vector<double> profile = {1.0};
};

/// What a cell has that can be its own, beside parameters of mechanisms.
struct CellConstants {
    std::vector<double> capacitance;  ///< uF/cm^2: one value, or one for each compartment
    double axial_resistivity = 0.0;  ///< ohm cm
    double initial_potential = 0.0;  ///< mV
    double threshold = 0.0;  ///< mV
    std::vector<std::vector<double>> receptors;  ///< parameters of each
    std::vector<PlacedClamp> clamps;
};

/// Of a cell with these values of its own parameters.
CellConstants constants_of(const CellSpec& spec, std::span<const double> own_values);

std::vector<double> defaults_of(std::span<const OwnParameter> own);

/// Whether what cells calculate in a step in the same way changes with an own parameter. Clamps and thresholds do not: cells that
/// differ in them can lie in the lanes of one block.
bool changes_plan(const CellSpec& spec, std::uint32_t own);
/// Whether an own parameter only says at which potential cells begin.
bool is_initial(const CellSpec& spec, std::uint32_t own);
/// The own parameter that the initial potential comes from, or none.
const OwnParameter* initial_parameter(const CellSpec& spec);
/// Whether a number of a clamp differs from cell to cell.
bool has_own(const CellSpec& spec, std::uint32_t clamp);

/// That values with these bounds can be multiplied by some factors. @throws ValueOutOfBoundsError
void check_factors(std::span<const double> factors, const Bounds& bounds, bool with_sign, const std::string& object);

/// That what own parameters give values to is there, and that values can be multiplied by the profiles.
/// @throws ShapeError, ValueOutOfBoundsError
void check_own(const CellSpec& spec);

/// Bounds are such that nothing that comes from the value leaves its own. @throws ValueOutOfBoundsError
models::ParameterInfo own_info(const CellSpec& spec, std::uint32_t own);

/// Whether values of own parameters that each keep their bounds may not fit together.
bool may_conflict(const CellSpec& spec);
/// Why they do not, for some that lie between these, or nothing.
std::optional<std::string> conflict_between(const CellSpec& spec, std::span<const double> least,
                                            std::span<const double> greatest);

}  // namespace ranvier::cable
