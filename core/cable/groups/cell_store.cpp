#include "cable/groups/cell_store.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "cable/kernels/rate_table.hpp"

namespace ranvier::cable {

void BlockScratch::reserve(std::size_t slots, bool has_pools) {
    const auto grow = [&](AlignedVector<double>& values) {
        if (values.size() < slots * lanes) values.assign(slots * lanes, 0.0);
    };
    for (auto* const values : {&diagonal, &current}) grow(*values);
    if (!has_pools) return;
    for (auto* const values : {&logarithm, &calcium_conductance, &calcium_reversal}) grow(*values);
}

void advance_exactly(std::span<const GateOfMechanism> class_gates, std::span<const std::uint32_t> slots, double celsius,
                     double* gates, const Followed& followed, BlockStep& step) {
    const std::size_t count = slots.size() * lanes;
    const std::size_t stride = (class_gates.size() + gates_of_quad - 1) / gates_of_quad * gates_of_quad;
    BlockScratch& scratch = step.scratch;
    const auto gather = [&](const double* from, std::vector<double>& to) {
        if (from == nullptr) {
            to.clear();
            return;
        }
        to.resize(count);
        for (std::size_t i = 0; i < count; ++i) to[i] = from[slots[i / lanes] * lanes + i % lanes];
    };
    gather(followed.argument, scratch.gathered);
    gather(followed.logarithm, scratch.gathered_logarithm);
    scratch.steady.resize(count);
    scratch.part.resize(count);
    for (std::size_t gate = 0; gate < class_gates.size(); ++gate) {
        exact_rates(step.instruction_set, class_gates[gate], step.step, celsius, scratch.gathered,
                    scratch.steady.data(), scratch.part.data(), scratch.gathered_logarithm);
        for (std::size_t i = 0; i < count; ++i) {
            double& x = gates[i * stride + gate];
            x += (scratch.steady[i] - x) * scratch.part[i];
        }
    }
}

void CellStore::add_outside_currents(AlignedVector<double>& current, std::size_t first, std::size_t size) const {
    const double* const added = outside_currents_.data() + first;
    double* const sums = current.data();
    for (std::size_t i = 0; i < size; ++i) sums[i] += added[i];
}

void CellStore::advance_general(GeneralStates& states, const GeneralBlock& block, std::span<double> calcium,
                                BlockStep& step) {
    states.advance(block);
    states.receive(block.number, step.update.inputs, step.sites, cells_of(block.number));
    for (const GeneralOutOfBounds& out_of_bounds : states.take_out_of_bounds())
        note_general(out_of_bounds, block.number, step);
    bool left = false;
    for (double& value : calcium) {
        // NaN becomes the lowest value.
        const double kept = value < highest_calcium ? (value > lowest_calcium ? value : lowest_calcium)
                            : std::isnan(value)     ? lowest_calcium
                                                    : highest_calcium;
        left = left || kept != value;
        value = kept;
    }
    if (left) note_out_of_bounds(OutOfBounds::Of::calcium, block.number, step);
}

void CellStore::note_general(const GeneralOutOfBounds& out_of_bounds, std::size_t block, BlockStep& step) {
    const std::span<const std::uint32_t> cells = cells_of(block);
    if (out_of_bounds.cell >= cells.size()) return;
    step.out_of_bounds.note({.of = out_of_bounds.of,
                             .step = step.update.step,
                             .cell = cells[out_of_bounds.cell],
                             .slot = out_of_bounds.slot,
                             .value = out_of_bounds.value,
                             .painted = out_of_bounds.painted,
                             .variable = out_of_bounds.variable});
}

bool all_finite(std::span<const double> values) { return std::ranges::all_of(values, is_number); }

void CellStore::note_out_of_bounds(OutOfBounds::Of of, std::size_t block, BlockStep& step) {
    // Potentials leave the range of tables before the step that looks them up.
    const Step after = step.update.step - (of == OutOfBounds::Of::potential ? 1 : 0);
    if (step.out_of_bounds.first() && step.out_of_bounds.first()->step < after) return;
    const std::span<const std::uint32_t> cells = cells_of(block);
    for (std::size_t k = 0; k < cells.size(); ++k) {
        const std::size_t cell = first_of(block) + k;
        const CellPlan& plan = plan_of(cell);
        std::optional<OutOfBounds> furthest;
        const auto add = [&](std::uint32_t slot, double value) {
            if (furthest && std::abs(value) <= std::abs(furthest->value)) return;
            furthest = OutOfBounds{.of = of, .step = after, .cell = cells[k], .slot = slot, .value = value};
        };
        if (of == OutOfBounds::Of::calcium) {
            // Concentrations have been clamped to their bounds.
            for (std::size_t p = 0; p < plan.pools.size(); ++p) {
                const double value = calcium(cell, p);
                if (!(value > lowest_calcium && value < highest_calcium)) add(plan.pools.slots[p], value);
            }
        } else if (of == OutOfBounds::Of::number) {
            for (std::uint32_t slot = 0; slot < plan.slots(); ++slot) {
                if (!is_number(potential(cell, slot))) add(slot, potential(cell, slot));
            }
        } else {
            for (const CellPlan::Class& compartment_class : plan.classes) {
                if (compartment_class.table == nullptr || compartment_class.follows != Follows::potential) continue;
                for (const std::uint32_t slot : compartment_class.slots) {
                    const double value = potential(cell, slot);
                    if (!(value >= potential_range.lowest && value < potential_range.highest)) add(slot, value);
                }
            }
        }
        if (furthest) step.out_of_bounds.note(*furthest);
    }
}

}  // namespace ranvier::cable
