#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/aligned_array.hpp"
#include "cable/kernels/kernel.hpp"
#include "cable/kernels/rate_tables.hpp"
#include "cable/plans/general_plan.hpp"
#include "cable/plans/pool_plan.hpp"
#include "ranvier/cable/cell/clamp.hpp"
#include "ranvier/cable/cell/spec.hpp"

namespace ranvier::cable {

/// The constants of a step of a cell: the same for all cells of one kind with the same per-cell parameters. See
/// KernelArguments.
struct CellPlan {
    /// Compartments with the same mechanisms whose gates have the same input: the potential, calcium, or both.
    struct Class {
        explicit Class(std::pmr::memory_resource* memory) : slots(memory) {}

        Follows follows = Follows::potential;
        std::vector<std::uint32_t> painted;       ///< indices of mechanisms
        std::vector<std::uint32_t> first_gates;   ///< by mechanism: its first gate among the gates of the class
        std::vector<GateOfMechanism> gates;
        AlignedVector<std::uint32_t> slots;
        std::vector<AlignedVector<double>> conductances;
        std::vector<KernelCurrent> currents;
        std::vector<KernelCurrent> calcium_currents;  ///< into pools
        const RateTable* table = nullptr;  ///< null: rates are exact
        /// Classes of cells with the same key have the same rates and kinds of currents.
        std::vector<std::uint64_t> key;

        std::size_t quads() const { return (gates.size() + gates_of_quad - 1) / gates_of_quad; }
        /// Number of state values of one block of cells.
        std::size_t state_size() const { return slots.size() * lanes * quads() * gates_of_quad; }
        /// The first gate of a mechanism of the class.
        std::size_t first_gate(std::uint32_t mechanism) const {
            return first_gates[static_cast<std::size_t>(std::ranges::find(painted, mechanism) - painted.begin())];
        }
        /// The place of a slot in the class.
        /// @pre it is in the class
        std::size_t place_of(std::uint32_t slot) const;
    };
    /// Sites of one receptor in one compartment whose synapses share a state: all of them, or one if sites are separate.
    struct Receptor {
        std::uint32_t slot = 0;
        ReceptorConstants constants;
        std::uint32_t number = 0;  ///< index among the receptors of the cell
        std::uint32_t place = 0;   ///< index among those with this number in the same compartment
        std::vector<std::uint32_t> sites;

        /// Returns the sum of the inputs of the sites in a step, and clears them.
        /// @param inputs of the cell at the receptor
        double take(double* inputs) const {
            double sum = std::exchange(inputs[sites[0]], -0.0);
            for (std::size_t i = 1; i < sites.size(); ++i) sum += std::exchange(inputs[sites[i]], -0.0);
            return sum;
        }
    };
    struct Clamp {
        std::uint32_t slot = 0;
        ClampCourse course;
        bool holds = false;  ///< whether it holds a potential
        /// Whether it differs between cells; if so, `first_number` is the start of its numbers among those of a cell.
        /// See CellSettings.
        bool differs_per_cell = false;
        std::size_t first_number = 0;
    };

    /// @param per_cell_values values of per-cell parameters; those that do not affect the plan are ignored
    /// @param step ms
    CellPlan(const CellSpec& spec, std::span<const double> per_cell_values, double step, RateTables& tables,
             std::pmr::memory_resource* memory);

    std::size_t slots() const { return parents.size(); }
    std::uint32_t slot_at(Place place) const;
    /// Axial conductances (nS) between slots and their parents with this resistivity.
    /// @param slots by node
    static void fill_axial(const CellSpec& spec, double resistivity, std::span<const std::uint32_t> slots,
                           std::span<double> axial);
    /// The index in `receptors` of a site.
    std::size_t receptor_at(std::uint32_t number, std::uint32_t site) const {
        return receptors_of_sites_[number][site];
    }
    bool has_exact_rates() const {
        return std::ranges::any_of(classes, [](const Class& each) { return each.table == nullptr; });
    }
    const Class* class_with(std::uint32_t painted, std::uint32_t slot) const;
    /// The index in `generals` of a mechanism of the cell, if it is a general one.
    std::optional<std::size_t> general_of(std::uint32_t painted) const;
    std::optional<std::size_t> general_of_receptor(std::uint32_t number) const {
        return general_of(static_cast<std::uint32_t>(spec->mechanisms.size()) + number);
    }

    const CellSpec* spec;
    std::vector<double> per_cell_values;
    std::vector<std::uint32_t> slot_of_node;
    AlignedVector<std::uint32_t> parents;
    AlignedVector<double> axial;
    AlignedVector<double> capacity;
    AlignedVector<double> leak;
    AlignedVector<double> drive;
    /// Slots without gates that depend on the potential; see KernelArguments.
    AlignedVector<std::uint32_t> begin_slots;
    std::vector<Class> classes;
    PoolPlan pools;
    std::vector<GeneralPlan> generals;
    std::vector<Receptor> receptors;  ///< by number
    std::vector<Clamp> clamps;
    std::size_t per_cell_numbers = 0;  ///< of the clamps of a cell that differ between cells
    std::uint32_t detector = 0;
    std::vector<std::uint32_t> electrodes;

   private:
    void order_nodes();
    void add_cable(const CellConstants& constants, double capacity_time);
    void add_clamps(std::span<const PlacedClamp> given, double step);
    void add_leak(const PaintedMechanism& painted, const CurrentInfo& current);
    void add_classes(Follows follows, std::pmr::memory_resource* memory);
    void add_receptor(std::uint32_t number, std::span<const double> parameters, double step);
    void choose_begins();
    void complete(Class& compartment_class, RateTables& tables, std::pmr::memory_resource* memory);
    void add_mechanism(Class& compartment_class, std::uint32_t painted,
                       std::span<const std::uint32_t> compartment_of_slot, std::pmr::memory_resource* memory);
    /// nS of a density in S/cm^2 in a compartment.
    double conductance(const PaintedMechanism& painted, std::size_t parameter, std::uint32_t compartment) const;

    std::vector<std::vector<std::size_t>> receptors_of_sites_;  ///< by number and site
};

}  // namespace ranvier::cable
