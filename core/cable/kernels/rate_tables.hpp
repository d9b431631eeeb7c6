#pragma once

#include <map>
#include <memory>
#include <memory_resource>
#include <span>
#include <utility>
#include <vector>

#include "cable/kernels/rate_table.hpp"

namespace ranvier::cable {

/// The rate tables of the cells of a group. Compartments with the same gates share one, across cells.
class RateTables {
   public:
    /// @param step ms
    RateTables(double step, double celsius, std::pmr::memory_resource* memory)
        : step_(step), celsius_(celsius), memory_(memory) {}

    /// Null if no table is accurate: such rates are calculated exactly. The address of a table does not change.
    /// @throws ValueOutOfBoundsError, see RateTable
    const RateTable* of(std::span<const GateOfMechanism> gates) {
        Key key;
        for (const GateOfMechanism& gate : gates) key.emplace_back(gate.gate, gate.parameters);
        auto& table = tables_[std::move(key)];
        if (table == nullptr) table = std::make_unique<RateTable>(gates, step_, celsius_, memory_);
        return table->is_accurate() ? table.get() : nullptr;
    }

   private:
    using Key = std::vector<std::pair<const GateInfo*, std::vector<double>>>;

    double step_;
    double celsius_;
    std::pmr::memory_resource* memory_;
    std::map<Key, std::unique_ptr<RateTable>> tables_;
};

}  // namespace ranvier::cable
