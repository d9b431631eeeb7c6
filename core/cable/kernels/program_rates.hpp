#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "cable/kernels/rate_table.hpp"
#include "program/block_code.hpp"
#include "ranvier/base/instruction_set.hpp"

/// Rates of user-defined gates: programs that are interpreted; see GateInfo::program.
namespace ranvier::cable {

/// A gate with its parameters at a temperature.
GateOfMechanism gate_of(const GateInfo& gate, std::vector<double> parameters, double celsius);

/// Steady states and time constants (ms) for some inputs of a gate. Threads may share the code.
/// @param logarithms of calcium: see exact_rates
void carry_out_rates(const program::BlockCode& code, InstructionSet set, std::span<const double> arguments,
                     double* steady, double* tau, std::span<const double> logarithms);

/// The user-defined initial value of a gate.
/// @param logarithm of calcium, for a gate that depends on both
std::optional<double> initial_value(const GateOfMechanism& gate, double argument, double logarithm, double celsius);

/// Checks the rates of a user-defined mechanism over the ranges of potentials and concentrations of tables.
/// @throws ValueOutOfBoundsError with the gate, and the potential or the concentration
void check_program_rates(const MechanismModel& model, const std::vector<double>& parameters, double celsius);

}  // namespace ranvier::cable
