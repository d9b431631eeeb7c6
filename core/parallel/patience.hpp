#pragma once

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>

#include "parallel/pause.hpp"

namespace ranvier::parallel {

/// How a thread waits for something that nobody wakes it for, so that it must look again and again: at first it looks at
/// once, then it offers its processor to others before each look, and at last it sleeps for a moment.
class Patience {
   public:
    /// @param looks at once
    explicit Patience(std::uint32_t looks) : most_looks_(looks) {}

    /// What was waited for has come.
    void begin() { looks_ = 0; }
    /// It has not. @param is_crowded other programs want the processors
    void pass(bool is_crowded) {
        constexpr std::uint32_t few_looks = 20;
        constexpr std::uint32_t offers = 20;
        // Sleeping takes as long as the system's timers are coarse, which is about 50 us.
        constexpr std::chrono::nanoseconds moment{1};
        const std::uint32_t looks = is_crowded ? std::min(most_looks_, few_looks) : most_looks_;
        if (looks_ < looks) {
            ++looks_;
            pause();
        } else if (looks_ < looks + offers) {
            ++looks_;
            sched_yield();
        } else {
            std::this_thread::sleep_for(moment);
        }
    }

   private:
    std::uint32_t most_looks_;
    std::uint32_t looks_ = 0;
};

}  // namespace ranvier::parallel
