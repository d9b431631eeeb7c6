#pragma once

#include <chrono>
#include <cstdint>

#include "ranvier/base/ids.hpp"

namespace ranvier::engine {

/// Seconds that one worker spent, by activity. Padded to a cache line, since workers write at the same time.
struct alignas(64) WorkerTimes {
    double update = 0.0;
    double collocate = 0.0;
    double communicate = 0.0;
    double deliver = 0.0;
    double wait = 0.0;
    double record = 0.0;
};

/// Steps between two exchanges of spikes.
struct Epoch {
    std::uint64_t number = 0;  ///< since the start; selects the outbox
    Step earliest = 1;         ///< first step of the previous epoch, from which spikes may still arrive
    Step begin = 1;
    Step end = 0;  ///< inclusive
};

/// Times of an epoch on one process, in seconds, and what was counted in it.
struct EpochTimes {
    double compute = 0.0;  ///< delivery, update, recording and collocation, mean over the workers
    double wait = 0.0;     ///< for other workers and processes: the rest of the epoch
    double exchange = 0.0; ///< by any worker
    std::uint64_t spikes_received = 0;  ///< records, whether needed here or not
    std::uint64_t spikes = 0;           ///< that neurons of this process have fired
    std::uint64_t spikes_sent = 0;      ///< records
    std::uint64_t messages = 0;
    std::uint64_t failed_checks = 0;    ///< see comm::ExchangeCounts
    std::uint64_t events = 0;           ///< spikes that reached a synapse, in the deliveries of this epoch
};

/// Measures the time between two calls, for loops whose parts take microseconds.
class LapTimer {
   public:
    using Clock = std::chrono::steady_clock;

    /// Seconds since the last call, or since construction.
    double lap() {
        const Clock::time_point now = Clock::now();
        const double seconds = std::chrono::duration<double>(now - last_).count();
        last_ = now;
        return seconds;
    }
    Clock::time_point last() const { return last_; }

   private:
    Clock::time_point last_ = Clock::now();
};

}  // namespace ranvier::engine
