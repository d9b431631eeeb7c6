#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned_array.hpp"
#include "models/equations/program_constants.hpp"
#include "program/interpreter.hpp"
#include "ranvier/models/equations/program_description.hpp"
#include "ranvier/models/neuron.hpp"

namespace ranvier::models {

/// Calculates derived variables of single neurons.
class ProgramObserver {
   public:
    ProgramObserver(const ProgramDescription& description, const ProgramConstants& constants,
                    const GroupArguments& arguments);

    /// @param constants those passed to the constructor
    void read(std::size_t derived, const std::vector<AlignedVector<double>>& state, const ProgramConstants& constants,
              std::span<const std::uint32_t> neurons, double* out);

   private:
    std::vector<program::Interpreter> interpreters_;  ///< by derived variable
    AlignedVector<double> lanes_;                     ///< of each input, and of the result
};

}  // namespace ranvier::models
