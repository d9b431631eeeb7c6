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

/// How long the calling thread was ready to run but waited for a processor, since it began.
///
/// Read from the scheduler's account of the thread (/proc/thread-self/schedstat). Where there is none, each time that the
/// system put the thread aside counts as a millisecond.
class RunDelay {
   public:
    /// By the thread itself.
    RunDelay();
    ~RunDelay();
    RunDelay(const RunDelay&) = delete;
    RunDelay& operator=(const RunDelay&) = delete;

    std::chrono::nanoseconds read() const;

   private:
    int file_ = -1;
};

/// When workers count as crowded: other programs take processors from them.
struct CrowdingOptions {
    /// Where workers may be while they are not bound; empty: wherever the process may be.
    std::vector<int> processors{};
    /// A worker looks this often. Longer than a slice of the scheduler, so that one look sees a program that shares.
    std::chrono::nanoseconds interval = std::chrono::milliseconds(25);
    /// The part of the time between two looks for which a worker must have waited for a processor. This must happen
    /// twice in turn, since a shorter crowding is not worth a change; once is enough if the team was crowded a moment
    /// ago.
    double share = 0.25;
    /// After this time the team tries again to have its processors to itself. Each time that this was too early, the
    /// time becomes three times as long, up to the longest. How long workers wait meanwhile does not count: while they
    /// are not bound, they share processors with each other.
    std::chrono::nanoseconds hold = std::chrono::milliseconds(500);
    std::chrono::nanoseconds longest_hold = std::chrono::seconds(12);
    /// Makes what tells a worker its delay, in place of RunDelay. For tests.
    std::function<std::function<std::chrono::nanoseconds()>(std::uint32_t worker)> make_delay{};
    ActiveWorkersOptions active_workers{};
};

/// What other programs took from a team.
struct CrowdingCounts {
    double delayed_seconds = 0.0;  ///< for which workers waited for a processor, all together
    double crowded_seconds = 0.0;  ///< for which the team counted as crowded
    std::uint64_t crowdings = 0;   ///< how often it began to
};

/// Watches whether other programs take processors from the workers of a team, and unbinds the workers while they do: a
/// bound thread waits behind another program even if other processors are free.
class Crowding {
   public:
    /// @param places where the workers belong
    Crowding(std::span<const Place> places, CrowdingOptions options);
    ~Crowding();

    /// By each worker at its beginning, before anything else: binds it to its place. Returns whether the system agreed.
    bool begin(std::uint32_t worker);
    /// By a worker between two pieces of work: looks if it is time to. Returns whether the team is crowded.
    bool look(std::uint32_t worker) {
        Watch& watch = watches_[worker];
        if (watch.gathering != gatherings_.load(std::memory_order_acquire)) follow(watch);
        const std::int64_t now = nanoseconds();
        if (now - watch.looked >= options_.interval.count()) look_now(watch, now);
        return is_crowded_.load(std::memory_order_relaxed);
    }
    bool is_crowded() const { return is_crowded_.load(std::memory_order_relaxed); }
    /// Whether the team is crowded, or was crowded so lately that it cannot know yet whether it still is. At any time.
    bool was_crowded_lately() const {
        if (is_crowded()) return true;
        if (crowdings_.load(std::memory_order_relaxed) == 0) return false;
        constexpr std::int64_t looks = 4;
        return (nanoseconds() - ended_.load(std::memory_order_relaxed)) / looks < options_.interval.count();
    }
    /// By one worker between two rounds.
    void end_round() {
        if (is_crowded() || active_workers_.any_resting()) {
            active_workers_.end_round(is_crowded(), nanoseconds(), [this] { return recent_delays(); });
        }
    }
    /// By one worker at a time: binds all workers to one processor. This is for processes that share processors and
    /// wait for each other, so that none of them waits while another one is put aside. -1: back to where they belong.
    /// Time that workers wait there begins no crowding, since they wait for each other. All processes must choose the
    /// same.
    void gather(int processor) {
        if (gathered_at_.exchange(processor, std::memory_order_relaxed) == processor) return;
        gatherings_.fetch_add(1, std::memory_order_release);
    }
    /// By a worker that begins to take part in a job.
    void begin_job(std::uint32_t worker);
    ActiveWorkers& active_workers() { return active_workers_; }

    /// Since the beginning. Between jobs.
    CrowdingCounts counts() const;

   private:
    struct alignas(64) Watch {
        std::function<std::chrono::nanoseconds()> delay;
        int processor = -1;           ///< that it belongs to
        int bound_to = -1;            ///< -1: to none
        std::uint32_t gathering = 0;  ///< that it has followed
        bool was_delayed = false;  ///< at the last look
        std::int64_t looked = 0;  ///< when
        std::int64_t delayed = 0;  ///< until then
        /// Of all looks within jobs.
        std::int64_t sum = 0;
        std::atomic<std::int64_t> recent{0};  ///< of late, read by others
    };

    static std::int64_t nanoseconds() {
        return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
    }
    std::vector<std::int64_t> recent_delays() const;
    void look_now(Watch& watch, std::int64_t now);
    /// Begins again when workers are gathered or no longer gathered: how long the worker waited before does not count.
    void follow(Watch& watch);
    /// Goes where the worker is to be now.
    void settle(Watch& watch);
    /// Whether the team was crowded a moment ago, so that it seems to be so still.
    bool was_crowded(std::int64_t now) const;
    void begin_crowding(std::int64_t now);
    void end_crowding(std::int64_t now);

    CrowdingOptions options_;
    std::unique_ptr<Watch[]> watches_;
    std::uint32_t size_;
    ActiveWorkers active_workers_;
    std::atomic<int> gathered_at_{-1};
    std::atomic<std::uint32_t> gatherings_{0};  ///< how often that has changed
    std::mutex mutex_;  ///< of those who begin or end a crowding
    std::atomic<bool> is_crowded_{false};
    std::atomic<std::int64_t> ended_{0};
    std::atomic<std::uint64_t> crowdings_{0};
    // Only with the mutex, or between jobs. Not atomic, so that the thread sanitizer tells who forgets that.
    std::int64_t crowded_until_ = 0;
    std::int64_t hold_;
    std::int64_t began_ = 0;
    std::int64_t crowded_before_ = 0;  ///< nanoseconds, without the present one
};

}  // namespace ranvier::parallel
