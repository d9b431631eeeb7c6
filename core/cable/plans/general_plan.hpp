#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>
#include <vector>

#include "base/aligned_array.hpp"
#include "cable/plans/pool_plan.hpp"
#include "ranvier/cable/cell/spec.hpp"

namespace ranvier::cable {

/// A general mechanism in the compartments of a cell: its places. All arrays have one number for each of them.
struct GeneralPlan {
    explicit GeneralPlan(std::pmr::memory_resource* memory)
        : slots(memory), covered(memory), surface(memory), area(memory), diameter(memory), outside(memory) {}

    std::uint32_t painted = 0;  ///< index of the mechanism in the cell
    const MechanismModel* model = nullptr;
    /// The receptor whose sites are the places, in their order. `painted` counts receptors after the mechanisms.
    std::optional<std::uint32_t> receptor;
    AlignedVector<std::uint32_t> slots;  ///< ascending, except for a receptor
    std::vector<std::uint32_t> compartments;
    std::vector<AlignedVector<double>> parameters;  ///< of a cell with the values of the plan
    /// For a receptor: pA per nA, nS per uS.
    AlignedVector<double> covered;   ///< pA of a density of 1 mA/cm^2, nS of 1 S/cm^2
    AlignedVector<double> surface;   ///< pA of a density of 1 mA/cm^2 through the membrane of the whole compartment
    AlignedVector<double> area;      ///< um^2
    AlignedVector<double> diameter;  ///< um
    AlignedVector<double> outside;   ///< calcium, mM; 0 where there is no pool
    std::vector<std::vector<double>> jumps;  ///< of a receptor: increments of states by 1 nS [place][state]
    /// The calcium pool at the place, an index of CellPlan::pools.
    std::vector<std::optional<std::uint32_t>> pools;

    // The place of a slot; not for receptors.
    std::size_t place_of(std::uint32_t slot) const;
    bool is_at(std::uint32_t slot) const;
};

/// The plans of a cell, in the order of its mechanisms, then of its receptors.
/// @param per_cell_values values of per-cell parameters
std::vector<GeneralPlan> plan_general(const CellSpec& spec, std::span<const double> per_cell_values,
                                      std::span<const std::uint32_t> slot_of_node, const PoolPlan& pools,
                                      std::pmr::memory_resource* memory);

/// Inputs of programs at one place, except states, parameters and geometry.
struct GeneralMoment {
    double potential = 0.0;  ///< mV
    double celsius = 0.0;
    double calcium = 1.0;  ///< mM
    double nernst = 0.0;   ///< see KernelPools
    double step = 0.0;     ///< ms
    double time = 0.0;     ///< ms
};

/// The initial states of a place.
std::vector<double> initial_states(const GeneralPlan& plan, std::size_t place, const GeneralMoment& moment);

/// The density of each current at a place, mA/cm^2; nA for a receptor.
/// @param parameters those of the cell at the place
std::vector<double> current_densities(const GeneralPlan& plan, std::size_t place, std::span<const double> parameters,
                                      std::span<const double> states, const GeneralMoment& moment);

/// Parameters at a place of a cell with these values of per-cell parameters.
std::vector<double> parameters_at(const GeneralPlan& plan, std::size_t place, const CellSpec& spec,
                                  std::span<const double> per_cell_values);

}  // namespace ranvier::cable
