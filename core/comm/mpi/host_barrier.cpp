#include "comm/mpi/host_barrier.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

namespace ranvier::comm::mpi {

void HostBarrier::begin(std::span<std::byte> memory, std::uint32_t processes) {
    shared_ = reinterpret_cast<Shared*>(memory.data());
    processes_ = processes;
}

std::uint64_t HostBarrier::arrive() {
    local_arrivals_ += processes_;
    const std::uint64_t all = shared_->arrivals.fetch_add(1, std::memory_order_seq_cst) + 1;
    // The arrival that completes a collective, even one that this process has not reached.
    if (all % processes_ != 0) return local_arrivals_;
    shared_->complete.fetch_add(1, std::memory_order_seq_cst);
    if (shared_->sleepers.load(std::memory_order_seq_cst) > 0) {
        ::syscall(SYS_futex, &shared_->complete, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
    }
    return local_arrivals_;
}

void HostBarrier::sleep(std::uint64_t arrivals, std::chrono::nanoseconds longest) {
    using Clock = std::chrono::steady_clock;
    constexpr std::int64_t second = 1'000'000'000;
    const std::timespec time{.tv_sec = longest.count() / second, .tv_nsec = longest.count() % second};
    const Clock::time_point begin = Clock::now();
    // Sleepers increment their count before they check, and the last arrival is counted before it checks for sleepers,
    // so that one of them sees the other. A completion between the two checks here changes the value that the futex
    // compares.
    shared_->sleepers.fetch_add(1, std::memory_order_seq_cst);
    const std::uint32_t seen = shared_->complete.load(std::memory_order_seq_cst);
    if (shared_->arrivals.load(std::memory_order_seq_cst) < arrivals) {
        ::syscall(SYS_futex, &shared_->complete, FUTEX_WAIT, seen, &time, nullptr, 0);
    }
    shared_->sleepers.fetch_sub(1, std::memory_order_relaxed);
    asleep_.fetch_add((Clock::now() - begin) / std::chrono::nanoseconds(1), std::memory_order_relaxed);
}

}  // namespace ranvier::comm::mpi
