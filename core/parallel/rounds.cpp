#include "ranvier/parallel/rounds.hpp"

#include <utility>

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

void SharedRounds::prepare(RoundRecords& records) {
    prepared_ = &records;
    for (std::uint32_t item = 0; item < records.items(); ++item) {
        for (const std::uint32_t round : {0u, 1u}) records.line(item, round).round.store(0, std::memory_order_relaxed);
    }
    for (std::uint32_t worker = 0; worker < workers_; ++worker)
        owners_[worker].taken.store(0, std::memory_order_relaxed);
}

void SharedRounds::begin_job() {
    records_ = std::exchange(prepared_, nullptr);
    over_.store(false, std::memory_order_relaxed);
    broken_.store(false, std::memory_order_relaxed);
}

void SharedRounds::break_up(Crowding& crowding) {
    // Several workers may fail. Once is enough, and further additions would restore the words.
    if (broken_.exchange(true, std::memory_order_acq_rel)) return;
    // A sleeping worker wakes up only if the word has changed.
    constexpr std::uint32_t far = std::uint32_t{1} << 30;
    for (std::uint32_t item = 0; records_ != nullptr && item < records_->items(); ++item) {
        for (const std::uint32_t round : {0u, 1u}) {
            std::atomic<std::uint32_t>& done = records_->line(item, round).round;
            done.fetch_add(far, std::memory_order_seq_cst);
            done.notify_all();
        }
    }
    crowding.active_workers().wake_all();
}

std::uint32_t SharedRounds::latest_round() const {
    const std::uint32_t even = records_->line(0, 0).round.load(std::memory_order_acquire);
    const std::uint32_t odd = records_->line(0, 1).round.load(std::memory_order_acquire);
    return is_before(even, odd) ? odd : even;
}

bool SharedRounds::sleep_while_resting(std::uint32_t worker, const ActiveWorkers& active_workers) const {
    bool slept = false;
    for (;;) {
        const std::uint32_t wakes = active_workers.wakes();
        if (is_broken()) throw Cancelled{};
        if (over_.load(std::memory_order_acquire) || !active_workers.is_resting(worker)) return slept;
        active_workers.sleep(wakes);
        slept = true;
    }
}

}  // namespace ranvier::parallel
