#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>
#include <vector>

#include "base/aligned_array.hpp"
#include "cable/cell.hpp"
#include "cable/pool_plan.hpp"

namespace ranvier::cable {

/// A general mechanism in the compartments of a cell: its places. All arrays have one number for each of them.
struct GeneralPlan {
    explicit GeneralPlan(std::pmr::memory_resource* memory)
        : slots(memory), covered(memory), surface(memory), area(memory), diameter(memory), outside(memory) {}

    std::uint32_t painted = 0;  ///< the index of the mechanism among those of the cell
    const MechanismModel* model = nullptr;
    /// A receptor of the cell, whose sites are the places, in their order. `painted` goes on behind the mechanisms.
    std::optional<std::uint32_t> receptor;
    AlignedVector<std::uint32_t> slots;  ///< ascending, but of a receptor
    std::vector<std::uint32_t> compartments;
    std::vector<AlignedVector<double>> parameters;  ///< of a cell with the plan's own values
    /// Of a receptor pA of 1 nA, nS of 1 uS.
    AlignedVector<double> covered;   ///< pA of a density of 1 mA/cm^2, nS of 1 S/cm^2
    AlignedVector<double> surface;   ///< pA of a density of 1 mA/cm^2 through the membrane of the whole compartment
    AlignedVector<double> area;      ///< um^2
    AlignedVector<double> diameter;  ///< um
    AlignedVector<double> outside;   ///< calcium, mM; 0 where there is no pool
    std::vector<std::vector<double>> jumps;  ///< of a receptor: what a weight of 1 nS adds to a state [place][state]
    /// The pool of calcium at the place, an index of CellPlan::pools.
    std::vector<std::optional<std::uint32_t>> pools;

    // Not of a receptor.
    std::size_t place_of(std::uint32_t slot) const;
    bool is_at(std::uint32_t slot) const;
};

/// Those of a cell, by their index among its mechanisms. @param own_values values of the cell's own parameters
std::vector<GeneralPlan> plan_general(const CellSpec& spec, std::span<const double> own_values,
                                      std::span<const std::uint32_t> slot_of_node, const PoolPlan& pools,
                                      std::pmr::memory_resource* memory);

/// What programs read at a place, beside states, parameters and geometry, when they are carried out for it alone.
struct GeneralMoment {
    double potential = 0.0;  ///< mV
    double celsius = 0.0;
    double calcium = 1.0;  ///< mM
    double nernst = 0.0;   ///< see KernelPools
    double step = 0.0;     ///< ms
    double time = 0.0;     ///< ms
};

/// What the states of a place begin at.
std::vector<double> initial_states(const GeneralPlan& plan, std::size_t place, const GeneralMoment& moment);

/// mA/cm^2 of each current of a place; of a receptor nA.
/// @param parameters those of the cell at the place
std::vector<double> current_densities(const GeneralPlan& plan, std::size_t place, std::span<const double> parameters,
                                      std::span<const double> states, const GeneralMoment& moment);

/// Parameters at a place, of a cell with these values of its own.
std::vector<double> parameters_at(const GeneralPlan& plan, std::size_t place, const CellSpec& spec,
                                  std::span<const double> own_values);

}  // namespace ranvier::cable
