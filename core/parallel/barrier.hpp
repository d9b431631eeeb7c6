#pragma once

#include <atomic>
#include <cstdint>

namespace ranvier::parallel {

/// Thrown in workers that are told to give up: because another worker failed, or because the caller asked.
struct Cancelled {};

/// A barrier for a fixed number of threads that can be broken, so that no thread waits for one that failed.
///
/// A thread spins for a while before it sleeps: the waits of a simulation step are microseconds, and waking a sleeper
/// takes longer than that. With more threads than processors, spinning would keep the others from running.
class Barrier {
   public:
    /// @param spins how often to look before sleeping
    Barrier(std::uint32_t threads, std::uint32_t spins) : threads_(threads), spins_(spins) {}

    /// Waits until all threads have arrived. @throws Cancelled when the barrier was broken.
    void wait() {
        if (threads_ == 1) return;
        const std::uint32_t generation = generation_.load(std::memory_order_acquire);
        if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
            arrived_.store(0, std::memory_order_relaxed);
            generation_.store(generation + 1, std::memory_order_release);
            generation_.notify_all();
        } else {
            std::uint32_t spin = 0;
            while (generation_.load(std::memory_order_acquire) == generation && !is_broken()) {
                if (spin < spins_) {
                    ++spin;
                    __builtin_ia32_pause();
                } else {
                    generation_.wait(generation, std::memory_order_acquire);
                }
            }
        }
        if (is_broken()) throw Cancelled{};
    }

    /// Makes all present and later waits throw, until mend() is called while no thread waits.
    void break_up() {
        broken_.store(true, std::memory_order_release);
        generation_.fetch_add(1, std::memory_order_acq_rel);
        generation_.notify_all();
    }
    void mend() {
        arrived_.store(0, std::memory_order_relaxed);
        broken_.store(false, std::memory_order_release);
    }

   private:
    bool is_broken() const { return broken_.load(std::memory_order_acquire); }

    std::uint32_t threads_;
    std::uint32_t spins_;
    // Apart from each other, so that arriving does not disturb those that look.
    alignas(64) std::atomic<std::uint32_t> arrived_{0};
    alignas(64) std::atomic<std::uint32_t> generation_{0};
    std::atomic<bool> broken_{false};
};

}  // namespace ranvier::parallel
