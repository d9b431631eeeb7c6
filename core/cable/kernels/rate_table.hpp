#pragma once

#include <cstddef>
#include <memory>
#include <memory_resource>
#include <span>
#include <vector>

#include "base/aligned_array.hpp"
#include "program/block_code.hpp"
#include "ranvier/cable/mechanism.hpp"

namespace ranvier::cable {

/// Gates are stored, and their rates looked up, in groups of four.
inline constexpr std::size_t gates_of_quad = 4;
/// Number of cubics and functions: two for each gate of a quad, first the steady state, then the fraction of the way
/// to it in a step.
inline constexpr std::size_t functions_of_quad = 2 * gates_of_quad;
inline constexpr std::size_t numbers_of_quad = 4 * functions_of_quad;

/// A gate of a mechanism with its parameters.
struct GateOfMechanism {
    const GateInfo* gate = nullptr;
    std::vector<double> parameters;
    /// The code of GateInfo::program with these parameters at a temperature; see gate_of().
    std::shared_ptr<const program::BlockCode> code = nullptr;
};

/// The range of a table: potentials in mV, or logarithms of concentrations.
struct RateRange {
    double lowest;
    double highest;
    double coarsest;  ///< minimum number of rows per unit
};
inline constexpr RateRange potential_range{.lowest = -250.0, .highest = 250.0, .coarsest = 0.5};
/// 7.6e-10 to 1097 mM.
inline constexpr RateRange calcium_range{.lowest = -21.0, .highest = 7.0, .coarsest = 2.0};

constexpr const RateRange& range_of(Follows follows) {
    return follows == Follows::calcium ? calcium_range : potential_range;
}

/// Steady states of some gates, and the fraction 1 - exp(-step / tau) of the way to them in a step, as functions of
/// the input of the gates: a cubic for each of many intervals. (The complement would lose the digits of slow gates.)
///
/// A row has all coefficients for the gates of one compartment: for each four gates the coefficients c0 to c3 of c0 +
/// f (c1 + f (c2 + f c3)), each for 8 functions; f goes from 0 to 1 over the interval.
class RateTable {
   public:
    /// Maximum absolute error of steady states, and maximum relative error of fractions.
    static constexpr double greatest_error = 1e-6;

    /// All gates must depend on the same single input.
    /// @param step ms.
    /// @throws ValueOutOfBoundsError with a gate whose rates are not finite
    RateTable(std::span<const GateOfMechanism> gates, double step, double celsius, std::pmr::memory_resource* memory);

    std::size_t rows() const { return rows_; }
    std::size_t quads() const { return quads_; }
    std::size_t row_size() const { return quads_ * numbers_of_quad; }
    double lowest() const { return range_.lowest; }
    double rows_per_unit() const { return rows_per_unit_; }
    const double* data() const { return numbers_.data(); }
    /// The values that the kernel uses for a gate, for an argument within the table.
    void look_up(std::size_t gate, double argument, double& steady, double& part) const;
    /// The maximum error at 16 points of each interval.
    double error() const { return error_; }
    /// Whether its error is within `greatest_error`. It is not if rates have a kink or a jump between two rows, which
    /// no table of reasonable size reproduces.
    bool is_accurate() const { return error_ <= greatest_error; }

   private:
    /// Fills the table; returns the index of the gate with the greatest error.
    std::size_t fill(std::span<const GateOfMechanism> gates, double step, double celsius);

    RateRange range_;
    std::size_t quads_;
    std::size_t rows_ = 0;
    double rows_per_unit_ = 1.0;
    double error_ = 0.0;
    AlignedVector<double> numbers_;
};

/// Steady states of a gate and fractions of the way in a step for some inputs, without a table.
/// @param logarithms of calcium, as many as `arguments`, for a gate that depends on both
void exact_rates(InstructionSet set, const GateOfMechanism& gate, double step, double celsius,
                 std::span<const double> arguments, double* steady, double* part,
                 std::span<const double> logarithms = {});

}  // namespace ranvier::cable
