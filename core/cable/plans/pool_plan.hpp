#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>

#include "base/aligned_array.hpp"
#include "ranvier/cable/cell/spec.hpp"

namespace ranvier::cable {

/// Pools of calcium of a cell, by slot ascending. See KernelPools. For a pool that is a general mechanism,
/// the kernel keeps the concentration up to rounding, and the state of the mechanism replaces it after the step.
struct PoolPlan {
    explicit PoolPlan(std::pmr::memory_resource* memory);
    /// @param per_cell_values values of per-cell parameters
    /// @param step ms
    PoolPlan(const CellSpec& spec, std::span<const double> per_cell_values, std::span<const std::uint32_t> slot_of_node,
             double step, std::pmr::memory_resource* memory);

    std::size_t size() const { return slots.size(); }
    bool is_at(std::uint32_t slot) const;
    /// The index of the pool.
    /// @pre there is one
    std::size_t place_of(std::uint32_t slot) const;
    AlignedVector<std::uint32_t> slots;
    AlignedVector<double> rest;
    AlignedVector<double> outside;  ///< mM
    AlignedVector<double> log_outside;
    AlignedVector<double> decay;
    AlignedVector<double> gain;
    AlignedVector<double> half_decay;
    AlignedVector<double> half_gain;
    double nernst = 0.0;

   private:
    void add_decaying(double rest_of_it, double share, double volume, double tau, double step);
    void add_constant();
};

}  // namespace ranvier::cable
