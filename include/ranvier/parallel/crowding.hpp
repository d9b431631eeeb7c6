#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "ranvier/parallel/active_workers.hpp"
#include "ranvier/parallel/pinning.hpp"

namespace ranvier::parallel {

/// Time that the calling thread was ready to run but waited for a processor, since it started.
///
/// Read from the scheduler's statistics of the thread (/proc/thread-self/schedstat). Where these are missing, each
/// preemption counts as a millisecond.
class RunDelay {
   public:
    /// Called by the thread itself.
    RunDelay();
    ~RunDelay();
    RunDelay(const RunDelay&) = delete;
    RunDelay& operator=(const RunDelay&) = delete;

    std::chrono::nanoseconds read() const;

   private:
    int file_ = -1;
};

/// Criteria for crowding: other programs compete with workers for their processors.
struct CrowdingOptions {
    /// Processors of unbound workers; empty: all processors of the process.
    std::vector<int> processors{};
    /// Interval between the checks of a worker. Longer than a slice of the scheduler, so that one check detects a
    /// competing program.
    std::chrono::nanoseconds interval = std::chrono::milliseconds(25);
    /// The part of the interval between two checks for which a worker must have waited for a processor. This must
    /// happen twice in succession, since a shorter crowding does not justify a change; once is enough if the team was
    /// crowded shortly before.
    double share = 0.25;
    /// After this time the team tries to bind its workers again. Each time that this was too early, the time is
    /// tripled, up to the longest. Waiting times meanwhile do not count: unbound workers share processors with each
    /// other.
    std::chrono::nanoseconds hold = std::chrono::milliseconds(500);
    std::chrono::nanoseconds longest_hold = std::chrono::seconds(12);
    /// Creates the function that returns a worker's delay, in place of RunDelay. For tests.
    std::function<std::function<std::chrono::nanoseconds()>(std::uint32_t worker)> make_delay{};
    ActiveWorkersOptions active_workers{};
};

/// Effects of other programs on a team.
struct CrowdingCounts {
    double delayed_seconds = 0.0;  ///< total time that workers waited for a processor
    double crowded_seconds = 0.0;  ///< time for which the team was crowded
    std::uint64_t crowdings = 0;  ///< number of times that crowding began
};

/// Detects other programs that compete for the processors of a team's workers, and unbinds the workers meanwhile: a
/// bound thread waits behind another program even if other processors are free.
class Crowding {
   public:
    /// @param places assigned places of the workers
    Crowding(std::span<const Place> places, CrowdingOptions options);
    ~Crowding();

    /// Called first by each worker: binds it to its place. Returns whether the system accepted that.
    bool begin(std::uint32_t worker);
    /// Called by a worker between two pieces of work: checks if the interval has passed. Returns whether the team is
    /// crowded.
    bool check(std::uint32_t worker) {
        Watch& watch = watches_[worker];
        if (watch.gathering != gatherings_.load(std::memory_order_acquire)) follow(watch);
        const std::int64_t now = nanoseconds();
        if (now - watch.checked >= options_.interval.count()) check_now(watch, now);
        return is_crowded_.load(std::memory_order_relaxed);
    }
    bool is_crowded() const { return is_crowded_.load(std::memory_order_relaxed); }
    /// Whether the team is crowded, or was so recently that the next check is pending. Thread-safe.
    bool was_crowded_lately() const {
        if (is_crowded()) return true;
        if (crowdings_.load(std::memory_order_relaxed) == 0) return false;
        constexpr std::int64_t checks = 4;
        return (nanoseconds() - ended_.load(std::memory_order_relaxed)) / checks < options_.interval.count();
    }
    /// Called by one worker in each round, after that of the previous round.
    void end_round() {
        if (is_crowded() || active_workers_.any_resting()) {
            active_workers_.end_round(is_crowded(), nanoseconds(), [this] { return recent_delays(); });
        }
    }
    /// Binds all workers to one processor. For processes that share processors and wait for each other, so that none of
    /// them waits for a preempted one. -1: back to their places. Waiting times there do not count as crowding, since
    /// the workers wait for each other. All processes must choose the same processor. Called by one worker at a time.
    void gather(int processor) {
        if (gathered_at_.exchange(processor, std::memory_order_relaxed) == processor) return;
        gatherings_.fetch_add(1, std::memory_order_release);
    }
    /// Called by a worker that joins a job.
    void begin_job(std::uint32_t worker);
    ActiveWorkers& active_workers() { return active_workers_; }

    /// Since the start. Called between jobs.
    CrowdingCounts counts() const;

   private:
    struct alignas(64) Watch {
        std::function<std::chrono::nanoseconds()> delay;
        int processor = -1;           ///< assigned one
        int bound_to = -1;            ///< -1: to none
        std::uint32_t gathering = 0;  ///< last one applied
        bool was_delayed = false;     ///< at the last check
        std::int64_t checked = 0;     ///< time of the last check
        std::int64_t delayed = 0;     ///< until then
        /// Sum over all checks within jobs.
        std::int64_t sum = 0;
        std::atomic<std::int64_t> recent{0};  ///< recent, read by other workers
    };

    static std::int64_t nanoseconds() {
        return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
    }
    std::vector<std::int64_t> recent_delays() const;
    void check_now(Watch& watch, std::int64_t now);
    /// Restarts the measurement when workers are gathered or no longer gathered: earlier waiting times do not count.
    void follow(Watch& watch);
    /// Binds the worker to its current processors.
    void settle(Watch& watch);
    /// Whether the team was crowded shortly before, so that it probably still is.
    bool was_crowded(std::int64_t now) const;
    void begin_crowding(std::int64_t now);
    void end_crowding(std::int64_t now);

    CrowdingOptions options_;
    std::unique_ptr<Watch[]> watches_;
    std::uint32_t size_;
    ActiveWorkers active_workers_;
    std::atomic<int> gathered_at_{-1};
    std::atomic<std::uint32_t> gatherings_{0};  ///< number of changes
    std::mutex mutex_;  ///< of threads that begin or end a crowding
    std::atomic<bool> is_crowded_{false};
    std::atomic<std::int64_t> ended_{0};
    std::atomic<std::uint64_t> crowdings_{0};
    // Guarded by the mutex, or accessed between jobs. Not atomic, so that the thread sanitizer detects violations.
    std::int64_t crowded_until_ = 0;
    std::int64_t hold_;
    std::int64_t began_ = 0;
    std::int64_t crowded_before_ = 0;  ///< nanoseconds, without the current crowding
};

}  // namespace ranvier::parallel
