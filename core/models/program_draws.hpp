#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "base/aligned_array.hpp"
#include "base/id_sequence.hpp"
#include "base/ids.hpp"
#include "base/instruction_set.hpp"
#include "base/random.hpp"

namespace ranvier::models {

/// Random bits of the draws of some neurons in a step: functions of the key of the population, the id of a neuron, the
/// step and the index of the draw.
class ProgramDraws {
   public:
    /// @param indices of all draws, ascending @param most_lanes of a call, a multiple of philox_lanes::count
    ProgramDraws(const std::vector<std::uint32_t>& indices, RandomKey key, InstructionSet set, std::size_t most_lanes,
                 std::pmr::memory_resource* memory);

    /// Draws for the neurons [begin, begin + lanes) of some; those that there are not draw as the last one.
    void draw(const IdSequence& ids, std::size_t begin, std::size_t lanes, Step step);
    /// See program::StepArguments::draws.
    const std::uint64_t* const* words() const { return words_.data(); }

   private:
    std::vector<std::uint32_t> pairs_;  ///< of draws; draw i belongs to pair i / 2
    RandomKey key_;
    InstructionSet instruction_set_;
    std::size_t most_lanes_;
    std::vector<const std::uint64_t*> words_;  ///< by index of a draw
    AlignedVector<std::uint64_t> drawn_;       ///< two draws of each block of random bits
    AlignedVector<std::uint64_t> ids_;
};

/// The bits of one draw of one neuron.
std::uint64_t program_draw(RandomKey key, NeuronId neuron, Step step, std::uint32_t index);

}  // namespace ranvier::models
