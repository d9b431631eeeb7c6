#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "connect/space/partner_index.hpp"
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

/// Pairs of the neurons begin, begin + stride, ... and their partners, given as places in an index of positions.
struct PlacedPairs {
    const PartnerIndex* index = nullptr;
    std::uint64_t begin = 0;
    std::uint64_t stride = 1;
    std::span<const std::uint32_t> degrees;
    std::span<const std::uint32_t> places;
    bool partners_are_sources = true;
};

/// The quantities of many pairs, as functions of pairs take them.
class PairArrays {
   public:
    using Needed = std::array<bool, pair_quantity_count>;

    /// Replaces the content by the quantities of some pairs.
    /// @param sources, targets one index of the rule for each pair
    /// @param placed the same pairs, if they are known by places: coordinates are then copied from the index
    void compute(InstructionSet set, const PairNeurons& neurons, const Needed& needed,
                 std::span<const std::uint64_t> sources, std::span<const std::uint64_t> targets,
                 const PlacedPairs* placed = nullptr);

    /// The arrays from a pair on; null for quantities that were not needed.
    PairFunction::Quantities quantities(std::size_t begin = 0) const;

   private:
    void copy_placed(InstructionSet set, const PairNeurons& neurons, const PlacedPairs& placed);
    std::vector<double>& array(PairQuantity quantity) { return arrays_[static_cast<std::size_t>(quantity)]; }

    std::array<std::vector<double>, pair_quantity_count> arrays_;
    Needed present_{};
    std::vector<std::uint64_t> ids_;
    std::array<std::vector<double>, most_dimensions> of_majors_;
};

}  // namespace ranvier::connect
