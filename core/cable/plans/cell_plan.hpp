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

/// What a step of a cell needs: the same for all cells of one kind with the same own parameters. See KernelArguments.
struct CellPlan {
    /// Compartments with the same mechanisms that have gates which follow the same: the potential, calcium, or both.
    struct Class {
        explicit Class(std::pmr::memory_resource* memory) : slots(memory) {}

        Follows follows = Follows::potential;
        std::vector<std::uint32_t> painted;       ///< indices of mechanisms
        std::vector<std::uint32_t> first_gates;   ///< of each of them among the gates of the class
        std::vector<GateOfMechanism> gates;
        AlignedVector<std::uint32_t> slots;
        std::vector<AlignedVector<double>> conductances;
        std::vector<KernelCurrent> currents;
        std::vector<KernelCurrent> calcium_currents;  ///< into pools
        const RateTable* table = nullptr;  ///< null: rates are exact
        /// Classes of cells with the same key have the same rates and kinds of currents.
        std::vector<std::uint64_t> key;

        std::size_t quads() const { return (gates.size() + gates_of_quad - 1) / gates_of_quad; }
        /// Numbers of one block of cells.
        std::size_t state_size() const { return slots.size() * lanes * quads() * gates_of_quad; }
        /// Of a mechanism that the class has: its first gate.
        std::size_t first_gate(std::uint32_t mechanism) const {
            return first_gates[static_cast<std::size_t>(std::ranges::find(painted, mechanism) - painted.begin())];
        }
        /// Of a compartment's place in the class. @pre it is there
        std::size_t place_of(std::uint32_t slot) const;
    };
    /// The sites of one receptor in one compartment, whose synapses share a state.
    struct Receptor {
        std::uint32_t slot = 0;
        ReceptorConstants constants;
        std::uint32_t number = 0;  ///< among the receptors of the cell
        std::vector<std::uint32_t> sites;

        /// The sum of the inputs of the sites in a step, which it clears. @param inputs of the cell at the receptor
        double take(double* inputs) const {
            double sum = std::exchange(inputs[sites[0]], -0.0);
            for (std::size_t i = 1; i < sites.size(); ++i) sum += std::exchange(inputs[sites[i]], -0.0);
            return sum;
        }
    };
    struct Clamp {
        std::uint32_t slot = 0;
        ClampCourse course;
        bool holds = false;  ///< a potential
        /// Whether it differs from cell to cell; then where its numbers begin among those of a cell. See CellSettings.
        bool is_own = false;
        std::size_t first_number = 0;
    };

    /// @param own_values values of the cell's own parameters, of which those that do not change the plan may be any
    /// @param step ms
    CellPlan(const CellSpec& spec, std::span<const double> own_values, double step, RateTables& tables,
             std::pmr::memory_resource* memory);

    std::size_t slots() const { return parents.size(); }
    std::uint32_t slot_at(Place place) const;
    /// nS, between a slot and its parent, with this axial resistivity. @param slots by node
    static void fill_axial(const CellSpec& spec, double resistivity, std::span<const std::uint32_t> slots,
                           std::span<double> axial);
    /// Of a site, its place among the receptors.
    std::size_t receptor_at(std::uint32_t number, std::uint32_t site) const {
        return receptors_of_sites_[number][site];
    }
    bool has_exact_rates() const {
        return std::ranges::any_of(classes, [](const Class& own) { return own.table == nullptr; });
    }
    const Class* class_with(std::uint32_t painted, std::uint32_t slot) const;
    /// The index in `generals` of a mechanism of the cell, if it is a general one.
    std::optional<std::size_t> general_of(std::uint32_t painted) const;
    std::optional<std::size_t> general_of_receptor(std::uint32_t number) const {
        return general_of(static_cast<std::uint32_t>(spec->mechanisms.size()) + number);
    }

    const CellSpec* spec;
    std::vector<double> own_values;
    std::vector<std::uint32_t> slot_of_node;
    AlignedVector<std::uint32_t> parents;
    AlignedVector<double> axial;
    AlignedVector<double> capacity;
    AlignedVector<double> leak;
    AlignedVector<double> drive;
    /// Without gates that follow the potential; see KernelArguments.
    AlignedVector<std::uint32_t> begin_slots;
    std::vector<Class> classes;
    PoolPlan pools;
    std::vector<GeneralPlan> generals;
    std::vector<Receptor> receptors;  ///< by number
    std::vector<Clamp> clamps;
    std::size_t own_numbers = 0;  ///< of the clamps of a cell that differ from cell to cell
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
    void complete(Class& own, RateTables& tables, std::pmr::memory_resource* memory);
    void add_mechanism(Class& own, std::uint32_t painted, std::span<const std::uint32_t> compartment_of_slot,
                       std::pmr::memory_resource* memory);
    /// nS: of a density in S/cm^2 in a compartment.
    double conductance(const PaintedMechanism& painted, std::size_t parameter, std::uint32_t compartment) const;

    std::vector<std::vector<std::size_t>> receptors_of_sites_;  ///< by number and site
};

}  // namespace ranvier::cable
