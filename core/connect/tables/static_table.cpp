#include "connect/tables/static_table.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace ranvier::connect {

template <class Target, class Weight>
void StaticTable<Target, Weight>::set_weights(std::span<const std::uint64_t> positions, std::span<const double> weights,
                                              Step now, Step window_end, const InputRing& inputs) {
    // Inputs have been written for arrivals before this step.
    const Step written_end = this->deferred() == nullptr ? std::numeric_limits<Step>::max() : window_end;
    std::vector<RecentSpike> recent;
    this->visit_recent([&](RowIndex row, Step stamp) { recent.push_back({row.value, stamp}); });
    std::sort(recent.begin(), recent.end());
    for (std::size_t i = 0; i < positions.size(); ++i) {
        const std::uint64_t position = positions[i];
        const auto before = static_cast<double>(this->columns_.weights[position]);
        this->columns_.weights[position] = static_cast<Weight>(weights[i]);
        if (recent.empty() || weights[i] == before) continue;
        const RowIndex row = this->row_of(position);
        const auto first = std::lower_bound(recent.begin(), recent.end(), RecentSpike{row.value, 0});
        for (auto spike = first; spike != recent.end() && spike->row == row.value; ++spike) {
            const Step arrival = spike->stamp + this->delay_at(row, position);
            if (arrival <= now || arrival >= written_end) continue;
            const std::uint32_t input = this->target(position);
            if (inputs.wide == nullptr) {
                inputs.slot(arrival)[input] += weights[i] - before;
            } else {
                inputs.wide_slot(arrival)[input] +=
                    to_wide(weights[i], inputs.exponent) - to_wide(before, inputs.exponent);
            }
        }
    }
}

template class StaticTable<std::uint16_t, float>;
template class StaticTable<std::uint32_t, float>;
template class StaticTable<std::uint16_t, double>;
template class StaticTable<std::uint32_t, double>;

}  // namespace ranvier::connect
