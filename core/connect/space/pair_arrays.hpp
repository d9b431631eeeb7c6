#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ranvier/base/id_sequence.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/base/instruction_set.hpp"
#include "ranvier/connect/space/pair_function.hpp"
#include "ranvier/connect/space/positions.hpp"

namespace ranvier::connect {

/// The neurons of the pairs of a rule.
struct PairNeurons {
    std::shared_ptr<const PairPositions> positions = nullptr;  ///< null without positions
    IdSequence sources;
    IdSequence targets;
    NeuronId first_source;  ///< source 0 of the rule (PairSpace)
    NeuronId first_target;
};

/// The coordinates of neurons that have positions, with the bits of Space::at().
/// @param out an array for each axis, for as many numbers as there are ids
void copy_coordinates(InstructionSet set, const Space& space, std::span<const std::uint64_t> ids, unsigned dimensions,
                      const std::array<double*, most_dimensions>& out);

/// The quantities of many pairs, as functions of pairs take them.
class PairArrays {
   public:
    using Needed = std::array<bool, pair_quantity_count>;

    /// Replaces the content by the quantities of some pairs.
    /// @param sources, targets one index of the rule for each pair
    void compute(InstructionSet set, const PairNeurons& neurons, const Needed& needed,
                 std::span<const std::uint64_t> sources, std::span<const std::uint64_t> targets);

    /// The arrays from a pair on; null for quantities that were not needed.
    PairFunction::Quantities quantities(std::size_t begin = 0) const;

   private:
    std::vector<double>& array(PairQuantity quantity) { return arrays_[static_cast<std::size_t>(quantity)]; }

    std::array<std::vector<double>, pair_quantity_count> arrays_;
    Needed present_{};
    std::vector<std::uint64_t> ids_;
};

}  // namespace ranvier::connect
