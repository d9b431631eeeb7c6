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

/// Neurons whose equations are programs: what equations of a user become.
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
    std::string initial_parameter;  ///< empty: none
    double initial_value = 0.0;
};

/// What can be recorded and read only.
struct DerivedVariable {
    std::string name;
    std::string unit;
    std::string meaning;
};

/// A linear system dx/dt = A x, of whose propagator e^(A h) some entries are constants of a step.
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

/// A truth that `prepare` tells, which must hold.
struct Condition {
    std::uint32_t result = 0;
    std::string text;  ///< why values do not fit together where it does not hold
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
    /// From parameters and the length of a step, ms, to the first constants of a step and more numbers and truths.
    program::Program prepare;
    std::vector<Condition> conditions;
    std::vector<Propagator> propagators;
    /// Of a step: the first results of `prepare`, then, each once, the outputs of propagators.
    std::uint32_t constants = 0;
    std::optional<std::uint32_t> refractory;  ///< the result of `prepare` that is the refractory period, ms
    /// From variables, constants, the inputs of receptors, the current (pA, if `takes_current`), the truth whether the neuron is
    /// refractory, and, if the program wants it, the truth whether it is so for the last step, to the variables after the step,
    /// the truth whether it fires, and truths that must hold, such as that a loop has ended in time. A neuron that fires in step t is refractory
    /// in the steps t + 1 to t + round(period / h).
    program::Program step;
    /// From variables and constants to derived variables.
    program::Program observe;
    /// The reason of the failure if a truth after a step does not hold.
    std::string failure = {};

    std::uint32_t propagator_outputs() const {
        std::size_t count = 0;
        for (const Propagator& propagator : propagators) count += propagator.outputs.size();
        return static_cast<std::uint32_t>(count);
    }
    /// Constants that `prepare` makes itself.
    std::uint32_t prepared_constants() const { return constants - propagator_outputs(); }
};

/// @throws ShapeError, ValueOutOfBoundsError, UnknownNameError for what does not fit together
void check(const ProgramDescription& description);

/// Adds names, units, defaults and bounds.
void add(DescriptionHash& hash, std::span<const ProgramParameter> parameters);

/// What models tell of them: they must outlive it.
std::vector<ParameterInfo> infos_of(std::span<const ProgramParameter> parameters);

/// Of synapse models. @param refuse what, its value, and its bound: does not return
void check_synapse_parameters(
    std::span<const ProgramParameter> parameters,
    const std::function<void(const std::string& what, const std::string& value, const std::string& bound)>& refuse);

/// Adds what a program does.
void add(DescriptionHash& hash, const program::Program& program);

/// Of all that the neurons do and are called.
std::uint64_t fingerprint_of(const ProgramDescription& description);

}  // namespace ranvier::models
