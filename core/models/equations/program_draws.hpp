#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "base/aligned_array.hpp"
#include "ranvier/base/id_sequence.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/base/instruction_set.hpp"
#include "ranvier/base/random.hpp"

namespace ranvier::models {

/// Random bits of the draws of some neurons in a step: functions of the key of the population, the id of a neuron,
/// the step and the index of the draw. A block of random bits holds two draws: those of a pair of indices or, if only
/// one of the two is drawn, those of two steps.
class ProgramDraws {
   public:
    /// @param indices of all draws, ascending
    /// @param most_lanes maximum number of lanes per call, a multiple of philox_lanes::count
    ProgramDraws(const std::vector<std::uint32_t>& indices, RandomKey key, InstructionSet set, std::size_t most_lanes,
                 std::pmr::memory_resource* memory);

    /// Draws for the neurons [begin, begin + lanes). Lanes past the last neuron repeat its draws.
    /// @param ids the same in all calls
    void draw(const IdSequence& ids, std::size_t begin, std::size_t lanes, Step step);
    /// See program::StepArguments::draws.
    const std::uint64_t* const* words() const { return words_.data(); }

   private:
    struct Pair {
        std::uint32_t number;  ///< half of the indices
        bool is_single;        ///< only one of the two is drawn
        std::uint32_t index;   ///< index of the single draw
    };

    void take_ids(const IdSequence& ids, std::size_t begin, std::size_t lanes);

    std::vector<Pair> pairs_;
    RandomKey key_;
    InstructionSet instruction_set_;
    std::size_t most_lanes_;
    std::vector<const std::uint64_t*> words_;  ///< by index of a draw
    AlignedVector<std::uint64_t> drawn_;       ///< both draws of each block of random bits
    AlignedVector<std::uint64_t> ids_;
    // The arguments of the last call.
    std::size_t begin_ = 0;
    std::size_t lanes_ = 0;
    Step step_ = -1;
};

/// The bits of one draw of one neuron.
/// @param is_single whether only one of the pair of indices is drawn
std::uint64_t program_draw(RandomKey key, NeuronId neuron, Step step, std::uint32_t index, bool is_single);

}  // namespace ranvier::models
