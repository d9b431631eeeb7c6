#include "ranvier/parallel/rounds.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>
#include <utility>

#include "ranvier/base/errors.hpp"

namespace ranvier::parallel {

namespace {

/// Longest sleep, for the case that the thread is released by something else than the line.
constexpr long longest_sleep_ns = 20'000'000;

int private_flag(bool is_shared) { return is_shared ? 0 : FUTEX_PRIVATE_FLAG; }

}  // namespace

RoundRecords::RoundRecords(std::uint32_t items)
    : items_(items),
      here_{.first = 0, .count = items},
      own_lines_(2 * std::size_t{items} + 1),
      lines_(own_lines_.data()) {}

RoundRecords::RoundRecords(std::span<std::byte> memory, std::uint32_t items, Share here)
    : items_(items), here_(here), lines_(reinterpret_cast<Line*>(memory.data())) {
    if (memory.size() < shared_bytes(items) || reinterpret_cast<std::uintptr_t>(lines_) % line_bytes != 0) {
        throw InternalError("too little shared memory for records of rounds");
    }
}

void RoundRecords::wake(Line& published) const {
    ::syscall(SYS_futex, &published.round, FUTEX_WAKE | private_flag(is_shared()), INT_MAX, nullptr, nullptr, 0);
}

void RoundRecords::sleep(const Line& awaited, std::uint32_t seen) {
    const std::timespec longest{.tv_sec = 0, .tv_nsec = longest_sleep_ns};
    // The count is raised before the system compares the line, and the line is written before the count is checked, so
    // that one of the two threads sees the other.
    sleepers().fetch_add(1, std::memory_order_seq_cst);
    ::syscall(SYS_futex, &awaited.round, FUTEX_WAIT | private_flag(is_shared()), seen, &longest, nullptr, 0);
    sleepers().fetch_sub(1, std::memory_order_seq_cst);
}

void RoundRecords::release_all() {
    constexpr std::uint32_t far = std::uint32_t{1} << 30;
    is_released_ = true;
    for (std::uint32_t item = here_.first; item < here_.first + here_.count; ++item) {
        for (const std::uint32_t round : {0u, 1u}) {
            line(item, round).round.fetch_add(far, std::memory_order_seq_cst);
            wake(line(item, round));
        }
    }
}

void RoundRecords::restart() {
    is_released_ = false;
    next_round_ = 1;
    for (Line& line : own_lines_) line.round.store(0, std::memory_order_relaxed);
}

SharedRounds::SharedRounds(std::span<const Place> places, StealingPolicy policy, std::uint32_t spins,
                           const NodeDistances& distances)
    : workers_(static_cast<std::uint32_t>(places.size())),
      owners_(std::make_unique<Owner[]>(places.size())),
      victims_(places.size()),
      budget_(spins) {
    for (std::uint32_t thief = 0; thief < workers_; ++thief) {
        for (const std::uint32_t victim : list_victims(places, thief, policy, distances).workers) {
            victims_[thief].push_back({.worker = victim, .remote = places[victim].node != places[thief].node});
        }
    }
}

void SharedRounds::prepare(RoundRecords& records) {
    prepared_ = &records;
    if (records.is_released_) records.restart();
    const std::uint64_t before = std::uint64_t{records.next_round() - 1} << 32;
    for (std::uint32_t worker = 0; worker < workers_; ++worker) {
        owners_[worker].taken.store(before, std::memory_order_relaxed);
    }
}

void SharedRounds::begin_job() {
    records_ = std::exchange(prepared_, nullptr);
    if (records_ != nullptr) first_round_ = records_->next_round();
    over_.store(false, std::memory_order_relaxed);
    broken_.store(false, std::memory_order_relaxed);
}

void SharedRounds::break_up(Crowding& crowding) {
    // Several workers may fail. Once is enough, and further additions would restore the words.
    if (broken_.exchange(true, std::memory_order_acq_rel)) return;
    if (records_ != nullptr) records_->release_all();
    crowding.active_workers().wake_all();
}

std::uint32_t SharedRounds::latest_round() const {
    const std::uint32_t item = records_->here().first;
    const std::uint32_t even = records_->line(item, 0).round.load(std::memory_order_acquire);
    const std::uint32_t odd = records_->line(item, 1).round.load(std::memory_order_acquire);
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
