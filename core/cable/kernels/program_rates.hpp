#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "cable/kernels/rate_table.hpp"
#include "program/block_code.hpp"
#include "ranvier/base/instruction_set.hpp"

/// Rates of gates that users describe: programs, which the interpreter carries out; see GateInfo::program.
namespace ranvier::cable {

/// A gate with its parameters at a temperature.
GateOfMechanism gate_of(const GateInfo& gate, std::vector<double> parameters, double celsius);

/// Steady states and time constants (ms) for some values of what a gate follows. Several threads may share the code.
/// @param logarithms of calcium: see exact_rates
void carry_out_rates(const program::BlockCode& code, InstructionSet set, std::span<const double> arguments,
                     double* steady, double* tau, std::span<const double> logarithms);

/// What a gate begins at where a user says so. @param logarithm of calcium: of a gate that follows both
std::optional<double> initial_value(const GateOfMechanism& gate, double argument, double logarithm, double celsius);

/// Looks at the rates of a mechanism that a user describes, over all potentials and concentrations that tables have.
/// @throws ValueOutOfBoundsError naming the gate, and the potential or the concentration
void check_program_rates(const MechanismModel& model, const std::vector<double>& parameters, double celsius);

}  // namespace ranvier::cable
