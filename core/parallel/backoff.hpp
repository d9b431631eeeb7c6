#pragma once

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>

#include "ranvier/parallel/pause.hpp"

namespace ranvier::parallel {

/// Polling of a condition without a wake-up by another thread: the thread first spins, then yields its processor before
/// each check, and finally sleeps briefly before each.
class Backoff {
   public:
    /// @param spins number of checks without yielding
    explicit Backoff(std::uint32_t spins) : most_spins_(spins) {}

    /// Restarts with spinning, after the condition held.
    void reset() { checks_ = 0; }
    /// Waits before the next check. @param is_crowded whether other programs compete for the processors
    void wait(bool is_crowded) {
        constexpr std::uint32_t few_spins = 20;
        constexpr std::uint32_t yields = 20;
        // A sleep takes at least the resolution of the system's timers, about 50 us.
        constexpr std::chrono::nanoseconds moment{1};
        const std::uint32_t spins = is_crowded ? std::min(most_spins_, few_spins) : most_spins_;
        if (checks_ < spins) {
            ++checks_;
            pause();
        } else if (checks_ < spins + yields) {
            ++checks_;
            sched_yield();
        } else {
            std::this_thread::sleep_for(moment);
        }
    }

   private:
    std::uint32_t most_spins_;
    std::uint32_t checks_ = 0;
};

}  // namespace ranvier::parallel
