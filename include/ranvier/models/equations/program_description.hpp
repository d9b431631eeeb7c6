#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ranvier/base/description_hash.hpp"
#include "ranvier/models/model_info.hpp"
#include "ranvier/program/program.hpp"

/// Neurons whose equations are programs: the lowered form of user-defined neuron models.
namespace ranvier::models {

struct ProgramParameter {
    std::string name;
    std::string unit;
    double default_value = 0.0;
    Bounds bounds;
    std::string meaning;
};

/// A state variable.
struct ProgramVariable {
    std::string name;
    std::string unit;
    std::string meaning;
    std::string initial_parameter;  ///< empty: no such parameter
    double initial_value = 0.0;
};

/// A derived variable, which can only be recorded and read.
struct DerivedVariable {
    std::string name;
    std::string unit;
    std::string meaning;
};

/// A linear system dx/dt = A x; some entries of its propagator e^(A h) are constants of a step.
struct Propagator {
    struct Output {
        std::uint32_t row = 0;
        std::uint32_t column = 0;
        std::uint32_t constant = 0;
    };

    std::uint32_t size = 0;
    std::vector<std::int32_t> entries;  ///< of A, 1/ms, by row: results of `prepare`, or -1 for 0
    std::vector<Output> outputs;
};

/// A condition among the results of `prepare`, which must hold.
struct Condition {
    std::uint32_t result = 0;
    std::string text;  ///< the error if it does not hold
};

struct ProgramDescription {
    std::string name;
    std::string summary;
    std::string equations;
    std::string reference;
    std::vector<ProgramParameter> parameters;
    std::vector<ProgramVariable> variables;
    std::vector<DerivedVariable> derived;
    std::vector<std::string> receptors;
    bool sign_chooses_receptor = false;  ///< between the first two
    std::string weight_unit;
    bool takes_current = true;
    /// From parameters and the length of a step (ms) to the first constants of a step, and additional numbers and
    /// conditions.
    program::Program prepare;
    std::vector<Condition> conditions;
    std::vector<Propagator> propagators;
    /// Number of constants of a step: the first results of `prepare`, then the outputs of propagators, each once.
    std::uint32_t constants = 0;
    std::optional<std::uint32_t> refractory;  ///< index of the refractory period (ms) in the results of `prepare`
    /// From variables, constants, the inputs of receptors, the current (pA, if `takes_current`), whether the neuron
    /// is refractory, and optionally whether this is its last refractory step, to the variables after the step,
    /// whether it fires, and conditions that must hold, such as that a loop has ended in time. A neuron that fires in
    /// step t is refractory in the steps t + 1 to t + round(period / h).
    program::Program step;
    /// From variables and constants to derived variables.
    program::Program observe;
    /// The error if a condition after a step does not hold.
    std::string failure = {};

    std::uint32_t propagator_outputs() const {
        std::size_t count = 0;
        for (const Propagator& propagator : propagators) count += propagator.outputs.size();
        return static_cast<std::uint32_t>(count);
    }
    /// Number of constants that `prepare` calculates.
    std::uint32_t prepared_constants() const { return constants - propagator_outputs(); }
};

/// @throws ShapeError, ValueOutOfBoundsError, UnknownNameError if the parts do not fit together
void check(const ProgramDescription& description);

/// Adds names, units, defaults and bounds.
void add(DescriptionHash& hash, std::span<const ProgramParameter> parameters);

/// The parameters as models describe them. The argument must outlive the result.
std::vector<ParameterInfo> infos_of(std::span<const ProgramParameter> parameters);

/// Checks the parameters of a synapse model.
/// @param refuse called with object, value and bound; does not return
void check_synapse_parameters(
    std::span<const ProgramParameter> parameters,
    const std::function<void(const std::string& what, const std::string& value, const std::string& bound)>& refuse);

/// Adds the operations of a program.
void add(DescriptionHash& hash, const program::Program& program);

/// Hash of the whole description: behaviour and names.
std::uint64_t fingerprint_of(const ProgramDescription& description);

}  // namespace ranvier::models
