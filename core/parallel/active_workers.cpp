#include "ranvier/parallel/active_workers.hpp"

#include <algorithm>
#include <numeric>

namespace ranvier::parallel {

ActiveWorkers::ActiveWorkers(std::uint32_t workers, ActiveWorkersOptions options)
    : workers_(workers),
      options_(options),
      flags_(std::make_unique<std::atomic<bool>[]>(workers)),
      active_(workers),
      order_(workers) {
    std::iota(order_.begin(), order_.end(), 0u);
}

void ActiveWorkers::wake_all() {
    wakes_.fetch_add(1, std::memory_order_seq_cst);
    wakes_.notify_all();
}

void ActiveWorkers::activate_all() { set_active(workers_); }

void ActiveWorkers::advance(std::int64_t now, const std::vector<std::int64_t>& delays) {
    if (workers_ == 1) return;
    switch (state_) {
        case State::idle: {
            std::stable_sort(order_.begin(), order_.end(),
                             [&](std::uint32_t a, std::uint32_t b) { return delays[a] < delays[b]; });
            // Workers that waited at least half as long as the one that waited longest.
            const std::int64_t much = std::max<std::int64_t>(delays[order_.back()] / 2, 1);
            const auto delayed = static_cast<std::uint32_t>(
                std::count_if(delays.begin(), delays.end(), [&](std::int64_t delay) { return delay >= much; }));
            set_active(std::max(workers_ - delayed, std::uint32_t{1}));
            stay_ = options_.stay.count();
            stay(now);
            break;
        }
        case State::staying:
            begin_trial(now);
            break;
        case State::settling:
            state_ = State::counting;
            rounds_ = 0;
            counted_from_ = now;
            next_ = now + (options_.trial - options_.settling).count();
            break;
        case State::counting: {
            rates_[part_ % 2] += static_cast<double>(rounds_) / static_cast<double>(now - counted_from_);
            ++part_;
            constexpr std::uint32_t parts = 4;
            if (part_ < parts) {
                settle(now);
                break;
            }
            // If in doubt, fewer: they leave more to the other programs.
            constexpr double doubt = 1.05;
            const bool changes =
                compared_[1] < compared_[0] ? doubt * rates_[1] > rates_[0] : rates_[1] > doubt * rates_[0];
            set_active(compared_[changes ? 1 : 0]);
            stay_ = changes ? std::int64_t{options_.stay.count()}
                            : std::min<std::int64_t>(2 * stay_, options_.longest_stay.count());
            stay(now);
            break;
        }
    }
}

void ActiveWorkers::begin_trial(std::int64_t now) {
    const std::uint32_t active = this->active();
    tried_fewer_ = active == workers_ || (active > 1 && !tried_fewer_);
    compared_ = {active, tried_fewer_ ? active / 2 : std::min(2 * active, workers_)};
    rates_ = {};
    part_ = 0;
    settle(now);
}

void ActiveWorkers::settle(std::int64_t now) {
    set_active(compared_[part_ % 2]);
    state_ = State::settling;
    next_ = now + options_.settling.count();
}

void ActiveWorkers::stay(std::int64_t now) {
    state_ = State::staying;
    next_ = now + stay_;
}

void ActiveWorkers::set_active(std::uint32_t count) {
    if (count == active()) return;
    active_.store(count, std::memory_order_relaxed);
    for (std::uint32_t place = 0; place < workers_; ++place) {
        flags_[order_[place]].store(place >= count, std::memory_order_relaxed);
    }
    wake_all();
}

}  // namespace ranvier::parallel
