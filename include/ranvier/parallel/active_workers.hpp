#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

namespace ranvier::parallel {

/// Options of the search of a crowded team for the best number of workers.
struct ActiveWorkersOptions {
    /// Duration of a trial of one number of workers; two numbers are tried twice each, in turn.
    std::chrono::nanoseconds trial = std::chrono::milliseconds(100);
    /// The first part of a trial, in which the system migrates threads: its rounds are not counted.
    std::chrono::nanoseconds settling = std::chrono::milliseconds(30);
    /// Time between trials; doubled after each trial without a change, up to the longest.
    std::chrono::nanoseconds stay = std::chrono::milliseconds(2000);
    std::chrono::nanoseconds longest_stay = std::chrono::seconds(32);
};

/// The workers of a team that take part in its rounds; the others rest while these process their items.
///
/// Where other programs compete for the processors of a team, rounds wait for workers that are preempted in the middle
/// of an item, so that fewer workers have a higher throughput. At first, the workers that had to wait for their
/// processors rest, but never all of them. From then on, a trial at intervals lets twice or half as many take part. The
/// number that finishes more rounds in the same time is kept.
class ActiveWorkers {
   public:
    ActiveWorkers(std::uint32_t workers, ActiveWorkersOptions options);

    /// Whether the worker rests. Changes in end_round() only.
    bool is_resting(std::uint32_t worker) const { return flags_[worker].load(std::memory_order_relaxed); }
    bool any_resting() const { return active() < workers_; }
    /// Called by a resting worker: sleeps until the next wake_all(). @param wakes as read before the call of
    /// is_resting()
    void sleep(std::uint32_t wakes) const { wakes_.wait(wakes, std::memory_order_acquire); }
    std::uint32_t wakes() const { return wakes_.load(std::memory_order_acquire); }
    /// Wakes all resting workers, so that they check whether they still rest.
    void wake_all();

    /// Called once in each round, by one worker.
    /// @param delays returns the recent waiting time of each worker for its processor, ns
    template <class Delays>
    void end_round(bool crowded, std::int64_t now, Delays delays) {
        if (!crowded) {
            if (any_resting()) activate_all();
            state_ = State::idle;
            return;
        }
        ++rounds_;
        if (state_ == State::idle || now >= next_) advance(now, delays());
    }

    /// Number of workers that take part.
    std::uint32_t active() const { return active_.load(std::memory_order_relaxed); }

   private:
    enum class State : std::uint8_t { idle, settling, counting, staying };

    void activate_all();
    void advance(std::int64_t now, const std::vector<std::int64_t>& delays);
    void begin_trial(std::int64_t now);
    void settle(std::int64_t now);
    void stay(std::int64_t now);
    void set_active(std::uint32_t count);

    std::uint32_t workers_;
    ActiveWorkersOptions options_;
    std::unique_ptr<std::atomic<bool>[]> flags_;
    std::atomic<std::uint32_t> wakes_{0};
    std::atomic<std::uint32_t> active_;
    // The remaining members are accessed by end_round() only.
    std::vector<std::uint32_t> order_;  ///< of workers: the last ones rest first
    State state_ = State::idle;
    std::int64_t next_ = 0;  ///< when the state changes
    std::uint64_t rounds_ = 0;
    std::int64_t counted_from_ = 0;
    std::array<std::uint32_t, 2> compared_{};  ///< numbers of workers: the current one and an alternative
    std::array<double, 2> rates_{};            ///< rounds per nanosecond with each of them
    std::uint32_t part_ = 0;                   ///< of the trial
    std::int64_t stay_ = 0;
    bool tried_fewer_ = false;
};

}  // namespace ranvier::parallel
