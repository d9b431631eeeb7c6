#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>

#include "ranvier/parallel/pause.hpp"

namespace ranvier::parallel {

/// Thrown in workers that must stop: because another worker failed, or at the caller's request.
class Cancelled : public std::exception {
   public:
    const char* what() const noexcept override { return "interrupted"; }
};

/// Adaptive number of polls of a waiting thread before it sleeps. An unsuccessful wait halves the number for the next
/// one, so that threads that wait long, or whose processors other programs need, soon sleep at once. But a wake-up
/// takes as long as a short wait: a thread that sleeps at once delays others, which then sleep as well. Therefore a
/// thread occasionally polls the initial number of times, and success restores that number for all.
class SpinBudget {
   public:
    /// @param most 0: never poll, since another thread that is waited for needs the processor
    explicit SpinBudget(std::uint32_t most) : most_(most), budget_(most) {}

    std::uint32_t get() const { return budget_.load(std::memory_order_relaxed); }
    void adapt(bool slept) {
        const std::uint32_t budget = get();
        std::uint32_t next = most_;
        if (slept) {
            constexpr std::uint32_t sleeps_between_trials = 16;
            const std::uint32_t sleeps = sleeps_.load(std::memory_order_relaxed) + 1;
            sleeps_.store(sleeps, std::memory_order_relaxed);
            if (sleeps % sleeps_between_trials != 0) next = std::max(budget / 2, most_ / 64);
        }
        if (next != budget) budget_.store(next, std::memory_order_relaxed);
    }

   private:
    std::uint32_t most_;
    std::atomic<std::uint32_t> budget_;
    std::atomic<std::uint32_t> sleeps_{0};
};

/// Waits until `word` differs from `seen`, or until ends() returns true: polls for a while, then sleeps. The waits of a
/// simulation step take microseconds, and waking a sleeper takes longer than that; but with more threads than
/// processors, polling would keep the others from running.
/// @pre a thread that changes the word, or ends the wait otherwise, changes the word and notifies its waiters
template <class IsOver>
void spin_then_sleep(SpinBudget& budget, const std::atomic<std::uint32_t>& word, std::uint32_t seen, IsOver ends) {
    const auto is_over = [&] { return word.load(std::memory_order_acquire) != seen || ends(); };
    for (std::uint32_t spins = budget.get(); spins > 0; --spins) {
        if (is_over()) {
            budget.adapt(false);
            return;
        }
        pause();
    }
    while (!is_over()) word.wait(seen, std::memory_order_acquire);
    budget.adapt(true);
}

/// A barrier for a fixed number of threads that can be broken, so that no thread waits for one that failed.
class Barrier {
   public:
    /// @param spins greatest number of polls before sleeping
    Barrier(std::uint32_t threads, std::uint32_t spins) : threads_(threads), budget_(spins) {}

    /// Waits until all threads have arrived. @throws Cancelled when the barrier was broken.
    void wait() {
        if (threads_ == 1) return;
        const std::uint32_t generation = generation_.load(std::memory_order_acquire);
        if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
            arrived_.store(0, std::memory_order_relaxed);
            // Sequentially consistent, and a read as well: others must see it before this thread checks for sleepers.
            generation_.fetch_add(1, std::memory_order_seq_cst);
            generation_.notify_all();
        } else {
            spin_then_sleep(budget_, generation_, generation, [&] { return is_broken(); });
        }
        if (is_broken()) throw Cancelled{};
    }

    /// Makes all current and later waits throw, until reset() is called while no thread waits.
    void break_up() {
        broken_.store(true, std::memory_order_release);
        generation_.fetch_add(1, std::memory_order_seq_cst);
        generation_.notify_all();
    }
    void reset() {
        arrived_.store(0, std::memory_order_relaxed);
        broken_.store(false, std::memory_order_release);
    }

   private:
    bool is_broken() const { return broken_.load(std::memory_order_acquire); }

    std::uint32_t threads_;
    SpinBudget budget_;
    // On separate cache lines, so that arrivals do not disturb polling threads.
    alignas(64) std::atomic<std::uint32_t> arrived_{0};
    alignas(64) std::atomic<std::uint32_t> generation_{0};
    std::atomic<bool> broken_{false};
};

}  // namespace ranvier::parallel
