#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "device/backend/backend.hpp"
#include "device/backend/cell_source.hpp"

namespace ranvier::device {

/// A group of detailed cells in a block.
struct CellGroupOfBlock {
    CellSource* cells = nullptr;
    u32 number = 0;  ///< among the groups of the block
    u32 first = 0;   ///< neuron of the block
    u32 count = 0;
    u32 receptors = 0;
};

/// The detailed cells of all blocks as forests (kernel/cells.hpp), and where the state of each cell is in them.
class CellForests {
   public:
    /// @param blocks the groups of each block, in the order of their numbers
    explicit CellForests(std::vector<std::vector<CellGroupOfBlock>> blocks);

    bool is_empty() const { return !programs_.has_cells; }
    /// Whether forms, thresholds or clamps have changed since the images were made.
    bool have_changed() const;
    /// The cells of all blocks, with the present values of their parameters.
    /// @throws StateError for a block with too many states
    std::vector<CellsImage> images();
    // Of the last images.
    const CellPrograms& programs() const { return programs_; }
    const std::vector<double>& rates() const { return rates_; }

    /// Reads the state of the cells of a block after step `now`. @pre state.refractory has the size of the block
    void read(std::size_t block, i64 now, BlockState& state) const;
    void write(std::size_t block, i64 now, const BlockState& state) const;

   private:
    struct Forest {
        std::vector<CellSource::Forms> forms;  ///< by group
        std::vector<u64> versions;
        std::vector<std::size_t> first_positions;  ///< by cell
        std::vector<u32> positions;  ///< of the nodes of each cell among all nodes
        std::vector<CellNode> nodes;
        std::size_t states = 0;
    };
    class Builder;

    u32 mechanism_number(const MechanismForm& form);
    u32 rate_number(const RateProgram& rate);
    u64 table_place(std::span<const double> table);
    /// Calls act(group, cell of the group, its form, the positions of its nodes) for the cells of a block.
    template <class Act>
    void for_cells(std::size_t block, const Act& act) const;

    std::vector<std::vector<CellGroupOfBlock>> blocks_;
    std::vector<Forest> forests_;
    CellPrograms programs_;
    std::vector<CellMechanism> mechanisms_;
    std::map<std::pair<const program::Program*, bool>, u32> mechanism_numbers_;
    std::map<const program::Program*, u32> rate_numbers_;
    std::vector<double> rates_;
    std::map<const double*, u64> tables_;
};

}  // namespace ranvier::device
