#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "base/aligned_array.hpp"
#include "cable/kernels/packed_solve.hpp"
#include "cable/plans/cell_plan.hpp"
#include "cable/plans/packed_order.hpp"

namespace ranvier::cable {

/// The constants of a step of a block of arbitrary cells. PackedOrder gives the order of nodes; constants have one value for
/// each position, 8 slot + lane.
///
/// Mechanisms are computed slot by slot, too. Where most nodes of a slot have the same mechanisms, these are computed in
/// place, with conductances of 0 for the other nodes. All other nodes are copied to *gather slots*, which follow the slots
/// of nodes and collect nodes with the same mechanisms from the whole block. Potentials are gathered before the mechanisms
/// are computed, and results are scattered back afterwards.
///
/// Lanes without a node or a gather slot have an isolated potential. Fewer than 8 receptors or electrodes are padded with
/// the last slot.
class PackedPlan {
   public:
    static constexpr std::uint32_t nowhere = ~std::uint32_t{0};
    /// The smallest number of nodes of a slot with the same mechanisms for which computing in place, for all 8 lanes, is
    /// faster than gathering.
    static constexpr std::size_t least_in_place = 5;

    struct Class {
        explicit Class(const CellPlan::Class& model, std::pmr::memory_resource* memory);

        Follows follows;
        std::vector<GateOfMechanism> gates;
        const RateTable* table;
        AlignedVector<std::uint32_t> slots;
        AlignedVector<double> present;  ///< [place][lane]: 1, or 0 where the node of a lane is not in the class
        std::vector<AlignedVector<double>> conductances;  ///< of each current [place][lane]
        std::vector<KernelCurrent> currents;
        std::vector<KernelCurrent> calcium_currents;
        double celsius = 0.0;

        std::size_t quads() const { return (gates.size() + gates_of_quad - 1) / gates_of_quad; }
        std::size_t state_size() const { return slots.size() * lanes * quads() * gates_of_quad; }
    };
    /// An element of cells at up to 8 places. Cells are indices in the block, or nowhere.
    struct Chunk {
        std::uint32_t number =
            0;  ///< of the receptor, the electrode or the clamp; a cell may have the receptor at several places
        ReceptorConstants constants;  ///< of a receptor
        std::array<std::uint32_t, lanes> receptors = {};  ///< by cell, indices of CellPlan::receptors
        std::array<std::uint32_t, lanes> cells;
        std::array<std::uint32_t, lanes> positions;
    };

    /// @param cells plans of the cells of the block, one for each
    PackedPlan(std::span<const CellPlan* const> cells, std::pmr::memory_resource* memory);

    bool has_exact_rates() const {
        return std::ranges::any_of(classes, [](const Class& each) { return each.table == nullptr; });
    }
    /// Initialises the equations of all slots before anything is added to them, so that currents can be added to each.
    void begin_all();
    std::size_t all_slots() const { return leak.size() / lanes; }
    /// The positions of a node: of its potential, and of the calculation of its mechanisms.
    std::uint32_t position(std::size_t cell, std::uint32_t slot) const { return positions[first_[cell] + slot]; }
    std::uint32_t gather_slot(std::size_t cell, std::uint32_t slot) const { return gather_slots[first_[cell] + slot]; }
    std::uint32_t class_of(std::size_t cell, std::size_t class_index) const {
        return classes_of_[first_classes_[cell] + class_index];
    }

    AlignedVector<double> axial;
    AlignedVector<double> capacity;
    AlignedVector<double> leak;
    AlignedVector<double> drive;
    AlignedVector<std::uint32_t> level_begins;
    AlignedVector<std::uint32_t> join_begins;
    AlignedVector<KernelJoin> joins;
    // How the equations of slots are initialised: see KernelLevels and KernelArguments.
    AlignedVector<std::uint32_t> begin_slots;
    AlignedVector<std::uint32_t> late_begins;
    AlignedVector<std::uint32_t> late_slots;
    AlignedVector<std::uint8_t> is_plain;
    std::size_t node_slots = 0;  ///< gather slots follow
    AlignedVector<std::uint32_t> sources;  ///< by gather slot: the position of its node; of an unused one, its position
    std::vector<Class> classes;
    PoolPlan pools;  ///< constants [pool][lane]
    std::vector<Chunk> receptors;  ///< by number
    std::vector<Chunk> electrodes;  ///< by number, then clamps by number
    std::size_t clamps_from = 0;  ///< the first electrode that is a clamp
    AlignedVector<std::uint32_t> positions;  ///< by slot of each cell's plan
    AlignedVector<std::uint32_t> gather_slots;

   private:
    using Cells = std::span<const CellPlan* const>;

    void place_nodes(Cells cells);
    void add_classes(Cells cells, std::pmr::memory_resource* memory);
    /// Assigns gather slots to nodes, and slots to classes and pools.
    void place_mechanisms(Cells cells);
    void fill_cable(Cells cells);
    void fill_classes(Cells cells, std::pmr::memory_resource* memory);
    void fill_pools(Cells cells);
    void add_receptors(Cells cells);
    void add_electrodes(Cells cells);
    /// @pre all elements that add to equations have been placed
    void choose_begins(Cells cells);

    std::vector<std::size_t> first_;  ///< by cell: its first slot among all
    std::vector<std::size_t> first_classes_;
    std::vector<std::uint32_t> classes_of_;
};

}  // namespace ranvier::cable
