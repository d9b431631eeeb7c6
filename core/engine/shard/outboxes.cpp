#include "engine/shard/outboxes.hpp"

#include <algorithm>
#include <numeric>
#include <span>

#include "base/tight_list.hpp"

namespace ranvier::engine {

/// Populations, and blocks of their neurons, follow each other, each with sorted spikes: a counting sort by step
/// takes a fraction of the time of a comparison sort.
void Outboxes::put_in_order(std::size_t from, Step first, Step last) {
    const std::span<comm::EmittedSpike> spikes = std::span(*present_).subspan(from);
    if (spikes.size() < 2) return;
    const std::uint32_t first_lag = lag(first);
    lag_places_.assign(static_cast<std::size_t>(last - first) + 2, 0);
    for (const comm::EmittedSpike& spike : spikes) ++lag_places_[spike.lag - first_lag + 1];
    std::partial_sum(lag_places_.begin(), lag_places_.end(), lag_places_.begin());
    unordered_.clear();
    append(unordered_, std::span<const comm::EmittedSpike>(spikes));
    // Afterwards each place is the end of its lag.
    for (const comm::EmittedSpike& spike : unordered_) spikes[lag_places_[spike.lag - first_lag]++] = spike;
    std::size_t begin = 0;
    for (const std::size_t end : std::span(lag_places_).first(lag_places_.size() - 1)) {
        const std::span<comm::EmittedSpike> of_lag = spikes.subspan(begin, end - begin);
        if (!std::ranges::is_sorted(of_lag, {}, &comm::EmittedSpike::local)) {
            std::ranges::stable_sort(of_lag, {}, &comm::EmittedSpike::local);
        }
        begin = end;
    }
}

void Outboxes::note_sent(Step next_step) {
    sent_.drop_until(next_step - 1 - sent_steps_);
    std::vector<LocalIndex> of_step;
    for (std::size_t i = 0; i < present_->size();) {
        const std::uint32_t lag = (*present_)[i].lag;
        of_step.clear();
        for (; i < present_->size() && (*present_)[i].lag == lag; ++i) of_step.emplace_back((*present_)[i].local);
        sent_.add(epoch_begin_ + lag, of_step);
    }
}

}  // namespace ranvier::engine
