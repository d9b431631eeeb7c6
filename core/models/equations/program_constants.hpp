#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/aligned_array.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/base/instruction_set.hpp"
#include "ranvier/models/equations/program_description.hpp"
#include "ranvier/models/neuron.hpp"

namespace ranvier::models {

/// Upper limit of refractory periods in steps, which are counted in 32 bits.
inline constexpr double most_refractory_steps = 0x1p30;

/// A refractory period in steps, rounded; nothing if the period is invalid or takes too many steps.
/// @param h length of a step, ms
std::optional<std::int32_t> refractory_steps(double period, double h);

/// Calls put(constant, value) for each output of a propagator.
/// @param at returns the value of a result of `prepare`
void propagate(const Propagator& propagator, double h, const std::function<double(std::uint32_t)>& at,
               const std::function<void(std::uint32_t, double)>& put);

/// The values that a step of a group needs, calculated from the parameters.
struct ProgramConstants {
    explicit ProgramConstants(std::pmr::memory_resource* memory) : refractory_steps(memory) {}

    /// By constant: one value for all neurons, or one for each and for the padding of the last block.
    std::vector<AlignedVector<double>> values;
    AlignedVector<std::int32_t> refractory_steps;  ///< one value for all neurons, or one for each

    bool is_uniform(std::size_t constant) const { return values[constant].size() == 1; }
    /// The value of each constant that is the same for all neurons; nothing where it differs.
    std::vector<std::optional<double>> uniform() const;
    /// Takes over the values of others from the same memory. An array whose length does not change keeps its address:
    /// its pages are near the thread that uses it.
    void take(ProgramConstants& other) noexcept;
};

class ProgramModel;

struct ConstantArguments {
    const ProgramModel* model = nullptr;
    std::span<const GroupValues> parameters;
    std::size_t size = 0;    ///< neurons
    /// length of arrays with a value for each neuron; the padding has the values of the first neuron
    std::size_t padded = 0;
    double h = 0.1;          ///< ms
    InstructionSet instruction_set = InstructionSet::baseline;
    std::pmr::memory_resource* memory = nullptr;
    std::function<std::string(std::size_t)> name_of;  ///< name of a neuron, for errors
};

/// @throws ValueOutOfBoundsError if the parameters of a neuron do not fit together
ProgramConstants make_constants(const ConstantArguments& arguments);

}  // namespace ranvier::models
