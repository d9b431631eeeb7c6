#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ranvier::comm::mpi {

/// A barrier in which the processes of one host that wait in a collective sleep until all of them have reached it.
///
/// MPI has no call that sleeps: a waiting process polls, which takes the processor from the processes that it waits for
/// and, where other programs want the processor too, uses up the time that the scheduler would give it later. Here a
/// process sleeps in the system until the last one to arrive wakes all.
///
/// The barrier is a count of arrivals in shared memory. All processes count the same collectives. Where a process runs
/// ahead in collectives that allow it, others wake early: after each wake-up, a process tests whether its collective is
/// complete.
class HostBarrier {
   public:
    /// Bytes of the memory.
    static constexpr std::size_t memory_bytes() { return sizeof(Shared); }
    /// Called by all processes. @param memory shared by them, zero at first; must outlive the barrier
    void begin(std::span<std::byte> memory, std::uint32_t processes);

    /// Whether there are other processes that can be waited for here.
    bool is_open() const { return processes_ > 1; }
    /// Counts the arrival of this process at a collective; the last process to arrive wakes the others. Returns the number of
    /// arrivals of all processes that completes the collective. @pre is_open()
    std::uint64_t arrive();
    /// @param arrivals as returned by arrive()
    bool all_arrived(std::uint64_t arrivals) const {
        return shared_->arrivals.load(std::memory_order_acquire) >= arrivals;
    }
    /// Returns when all have arrived, after `longest`, or spuriously.
    void sleep(std::uint64_t arrivals, std::chrono::nanoseconds longest);
    /// Total time that this process has slept here.
    double seconds_asleep() const { return 1e-9 * static_cast<double>(asleep_.load(std::memory_order_relaxed)); }

   private:
    /// Lock-free, and of a size that futexes take.
    struct Shared {
        std::atomic<std::uint64_t> arrivals{0};
        std::atomic<std::uint32_t> complete{0};  ///< number of completed collectives; wraps around
        std::atomic<std::uint32_t> sleepers{0};
    };
    static_assert(std::atomic<std::uint64_t>::is_always_lock_free && sizeof(std::atomic<std::uint32_t>) == 4);

    Shared* shared_ = nullptr;
    std::uint32_t processes_ = 0;
    std::uint64_t local_arrivals_ = 0;
    std::atomic<std::int64_t> asleep_{0};  ///< nanoseconds
};

}  // namespace ranvier::comm::mpi
