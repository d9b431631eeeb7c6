#include "cable/cell_store.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cable/rate_table.hpp"

namespace ranvier::cable {

void BlockScratch::reserve(std::size_t slots, bool has_pools) {
    const auto grow = [&](AlignedVector<double>& values) {
        if (values.size() < slots * lanes) values.assign(slots * lanes, 0.0);
    };
    for (auto* const values : {&diagonal, &current}) grow(*values);
    if (!has_pools) return;
    for (auto* const values : {&logarithm, &calcium_conductance, &calcium_reversal}) grow(*values);
}

void advance_exactly(std::span<const GateOfMechanism> own_gates, std::span<const std::uint32_t> slots, double celsius,
                     double* gates, const double* argument, BlockStep& step) {
    const std::size_t count = slots.size() * lanes;
    const std::size_t stride = (own_gates.size() + gates_of_quad - 1) / gates_of_quad * gates_of_quad;
    BlockScratch& scratch = step.scratch;
    scratch.gathered.resize(count);
    scratch.steady.resize(count);
    scratch.part.resize(count);
    for (std::size_t i = 0; i < count; ++i) scratch.gathered[i] = argument[slots[i / lanes] * lanes + i % lanes];
    for (std::size_t gate = 0; gate < own_gates.size(); ++gate) {
        exact_rates(step.instruction_set, own_gates[gate], step.step, celsius, scratch.gathered, scratch.steady.data(),
                    scratch.part.data());
        for (std::size_t i = 0; i < count; ++i) {
            double& x = gates[i * stride + gate];
            x += (scratch.steady[i] - x) * scratch.part[i];
        }
    }
}

bool all_finite(std::span<const double> values) {
    return std::ranges::all_of(values,
                               [](double value) { return std::abs(value) <= std::numeric_limits<double>::max(); });
}

}  // namespace ranvier::cable
