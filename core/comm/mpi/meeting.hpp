#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace ranvier::comm::mpi {

/// Where processes of one host that wait in a collective sleep until all of them have come to it.
///
/// MPI has no call that sleeps. A process that waits there looks again and again. This takes the processor from those
/// for which it waits; and if other programs want it too, it uses up the time that the scheduler would give it later.
/// Here a process sleeps in the system until the last one that comes wakes all.
///
/// It is a count of arrivals in memory that the processes share. All of them count the same collectives. Where a process runs
/// ahead in collectives that let it, others are woken early: so whoever has been woken asks MPI what has happened.
class Meeting {
   public:
    /// How another process finds the memory.
    struct Address {
        std::int64_t process = 0;  ///< 0: nowhere
        std::int64_t file = -1;
        std::uint64_t secret = 0;  ///< stands in the memory too
    };

    Meeting() = default;
    ~Meeting();
    Meeting(const Meeting&) = delete;
    Meeting& operator=(const Meeting&) = delete;

    /// By one of the processes: makes the memory. Nowhere if the system does not give any.
    Address make();
    /// By each of the others, while the first one has not begun. Returns whether it has found the memory.
    bool join(const Address& address);
    /// By all when all have tried to join. @param processes how many there are; 0 if not all found the memory
    void begin(std::uint32_t processes);

    /// Whether there are others, and they can be waited for here.
    bool is_open() const { return processes_ > 1; }
    /// This process has come to a collective. Wakes the others if it is the last one. Returns the number of arrivals, of all
    /// processes, that complete the collective. @pre is_open()
    std::uint64_t arrive();
    /// @param arrivals as returned by arrive()
    bool all_are_here(std::uint64_t arrivals) const {
        return shared_->arrivals.load(std::memory_order_acquire) >= arrivals;
    }
    /// Returns when all are here, after `longest`, or at any time before.
    void sleep(std::uint64_t arrivals, std::chrono::nanoseconds longest);
    /// For which this process has slept here since the beginning.
    double seconds_asleep() const { return 1e-9 * static_cast<double>(asleep_.load(std::memory_order_relaxed)); }

   private:
    /// What processes share must be free of locks, and where the system can wait for it.
    struct Shared {
        std::atomic<std::uint64_t> secret{0};
        alignas(64) std::atomic<std::uint64_t> arrivals{0};
        std::atomic<std::uint32_t> complete{0};  ///< how often all were here; goes round
        std::atomic<std::uint32_t> sleepers{0};
    };
    static_assert(std::atomic<std::uint64_t>::is_always_lock_free && sizeof(std::atomic<std::uint32_t>) == 4);

    bool map(int file);

    Shared* shared_ = nullptr;
    int file_ = -1;  ///< until begin(), where the memory was made
    std::uint32_t processes_ = 0;
    std::uint64_t own_arrivals_ = 0;
    std::atomic<std::int64_t> asleep_{0};  ///< nanoseconds
};

}  // namespace ranvier::comm::mpi
