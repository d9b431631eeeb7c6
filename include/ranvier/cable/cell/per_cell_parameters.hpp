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
/// mV: the range of rate tables; see RateTable.
inline constexpr Bounds potential_bounds{.lower = -250.0, .upper = 250.0};

/// A parameter whose value differs between the cells of a population; see PaintedMechanism::per_cell and PerCellUse.
struct PerCellParameter {
    std::string name;
    double default_value = 0.0;
};

/// A target of a per-cell parameter other than a parameter of a mechanism.
struct PerCellUse {
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
    std::uint32_t parameter = 0;    ///< an index of CellSpec::per_cell
    std::uint32_t of = 0;     ///< a receptor, or a clamp
    std::uint32_t index = 0;  ///< its parameter, level or duration
    /// Factors of the value: one number or, for the capacitance, one for each compartment; its products are added to
    /// CellSpec::capacitance.
    std::vector<double> profile = {1.0};
};

/// Constants that may differ between cells, except parameters of mechanisms.
struct CellConstants {
    std::vector<double> capacitance;  ///< uF/cm^2: one value, or one for each compartment
    double axial_resistivity = 0.0;  ///< ohm cm
    double initial_potential = 0.0;  ///< mV
    double threshold = 0.0;  ///< mV
    std::vector<std::vector<double>> receptors;  ///< parameters of each
    std::vector<PlacedClamp> clamps;
};

/// The constants of a cell with these values of per-cell parameters.
CellConstants constants_of(const CellSpec& spec, std::span<const double> per_cell_values);

std::vector<double> defaults_of(std::span<const PerCellParameter> parameters);

/// Whether a per-cell parameter affects the constants that the lanes of a block share. Clamps and thresholds do not:
/// cells that differ in them can share a block.
bool changes_plan(const CellSpec& spec, std::uint32_t parameter);
/// Whether a per-cell parameter only sets the initial potential.
bool is_initial(const CellSpec& spec, std::uint32_t parameter);
/// The per-cell parameter that sets the initial potential, or null.
const PerCellParameter* initial_parameter(const CellSpec& spec);
/// Whether a number of a clamp differs between cells.
bool differs_per_cell(const CellSpec& spec, std::uint32_t clamp);

/// Checks that values with these bounds can be multiplied by some factors.
/// @throws ValueOutOfBoundsError
void check_factors(std::span<const double> factors, const Bounds& bounds, bool with_sign, const std::string& object);

/// Checks that the targets of per-cell parameters exist, and that values can be multiplied by the profiles.
/// @throws ShapeError, ValueOutOfBoundsError
void check_per_cell(const CellSpec& spec);

/// A per-cell parameter with bounds that keep all targets within their bounds.
/// @throws ValueOutOfBoundsError
models::ParameterInfo per_cell_info(const CellSpec& spec, std::uint32_t parameter);

/// Whether valid values of per-cell parameters may not fit together.
bool may_conflict(const CellSpec& spec);
/// Why some values between these do not fit together; nothing if they do.
std::optional<std::string> conflict_between(const CellSpec& spec, std::span<const double> least,
                                            std::span<const double> greatest);

}  // namespace ranvier::cable
