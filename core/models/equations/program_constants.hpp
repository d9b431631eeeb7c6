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

/// Refractory periods are shorter than so many steps, which are counted in 32 bits.
inline constexpr double most_refractory_steps = 0x1p30;

/// Steps of a refractory period, rounded, or nothing if it is not one or takes too many. @param h length of a step, ms
std::optional<std::int32_t> refractory_steps(double period, double h);

/// Calls put(constant, value) for what a propagator gives. @param at the value of a result of `prepare`
void propagate(const Propagator& propagator, double h, const std::function<double(std::uint32_t)>& at,
               const std::function<void(std::uint32_t, double)>& put);

/// What the neurons of a group need of their parameters.
struct ProgramConstants {
    explicit ProgramConstants(std::pmr::memory_resource* memory) : refractory_steps(memory) {}

    /// By constant: one value for all neurons, or one for each and for what fills up the last block.
    std::vector<AlignedVector<double>> values;
    AlignedVector<std::int32_t> refractory_steps;  ///< the same

    bool is_uniform(std::size_t constant) const { return values[constant].size() == 1; }
    /// Of each constant the value that all neurons have, or none.
    std::vector<std::optional<double>> uniform() const;
    /// Takes the values of others from the same memory. An array whose length stays the same stays where it is: its pages
    /// lie near the thread that uses it.
    void take(ProgramConstants& other) noexcept;
};

class ProgramModel;

struct ConstantArguments {
    const ProgramModel* model = nullptr;
    std::span<const GroupValues> parameters;
    std::size_t size = 0;    ///< neurons
    std::size_t padded = 0;  ///< of arrays with a value for each; the rest gets the values of the first neuron
    double h = 0.1;          ///< ms
    InstructionSet instruction_set = InstructionSet::baseline;
    std::pmr::memory_resource* memory = nullptr;
    std::function<std::string(std::size_t)> name_of;  ///< of a neuron, for errors
};

/// @throws ValueOutOfBoundsError where parameters of a neuron do not fit together
ProgramConstants make_constants(const ConstantArguments& arguments);

}  // namespace ranvier::models
