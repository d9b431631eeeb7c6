#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <utility>

#include "connect/tables/stored_table.hpp"

namespace ranvier::connect {

/// Synapses whose weights only users change. A changed weight takes effect at once, also for spikes in transit.
template <class Target, class Weight>
class StaticTable : public StoredTable<Target, Weight>, public RecentlyAccepted {
   public:
    using StoredTable<Target, Weight>::StoredTable;

    const RecentlyAccepted* recently_accepted() const override { return this; }
    void set_weights(std::span<const std::uint64_t> positions, std::span<const double> weights, Step now,
                     Step window_end, const InputRing& inputs) override;

   private:
    /// A spike that may not have reached all of its targets.
    struct RecentSpike {
        std::uint32_t row = 0;
        Step stamp = 0;

        friend auto operator<=>(const RecentSpike&, const RecentSpike&) = default;
    };
};

// Compiled once, in static_table.cpp.
extern template class StaticTable<std::uint16_t, float>;
extern template class StaticTable<std::uint32_t, float>;
extern template class StaticTable<std::uint16_t, double>;
extern template class StaticTable<std::uint32_t, double>;

}  // namespace ranvier::connect
