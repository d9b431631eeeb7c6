#include "ranvier/parallel/rounds.hpp"

namespace ranvier::parallel {

SharedRounds::SharedRounds(std::span<const Place> places, StealingPolicy policy, std::uint32_t spins)
    : workers_(static_cast<std::uint32_t>(places.size())),
      owners_(std::make_unique<Owner[]>(places.size())),
      victims_(places.size()),
      budget_(spins) {
    for (std::uint32_t thief = 0; thief < workers_; ++thief) {
        for (const std::uint32_t victim : list_victims(places, thief, policy).workers) {
            victims_[thief].push_back({.worker = victim, .remote = places[victim].node != places[thief].node});
        }
    }
}

void SharedRounds::begin_round() {
    // Sequentially consistent, and a read as well: others must see it before this thread checks for sleepers.
    round_.fetch_add(1, std::memory_order_seq_cst);
    round_.notify_all();
}

bool SharedRounds::is_over_soon(std::uint32_t round) const {
    constexpr int polls = 500;
    for (int poll = 0; poll < polls; ++poll) {
        if (round_.load(std::memory_order_acquire) != round || is_broken()) return true;
        pause();
    }
    return false;
}

void SharedRounds::begin_job() {
    done_.store(0, std::memory_order_relaxed);
    over_.store(false, std::memory_order_relaxed);
    broken_.store(false, std::memory_order_relaxed);
    // Items taken in a round that ended early belong to that round.
    round_.fetch_add(1, std::memory_order_seq_cst);
}

void SharedRounds::break_up(Crowding& crowding) {
    broken_.store(true, std::memory_order_release);
    begin_round();
    crowding.active_workers().wake_all();
}

}  // namespace ranvier::parallel
