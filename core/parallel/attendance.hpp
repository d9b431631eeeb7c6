#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

namespace ranvier::parallel {

/// How a crowded team finds the best number of workers.
struct AttendanceOptions {
    /// Each number of workers is tried for so long at a time, twice in turn with the other.
    std::chrono::nanoseconds trial = std::chrono::milliseconds(100);
    /// Rounds are counted only after this part of it, when the system has moved threads.
    std::chrono::nanoseconds settling = std::chrono::milliseconds(30);
    /// How long a number is kept until others are tried; twice as long each time that nothing changed, up to the longest.
    std::chrono::nanoseconds stay = std::chrono::milliseconds(2000);
    std::chrono::nanoseconds longest_stay = std::chrono::seconds(32);
};

/// Which workers of a team take part in its rounds, and which rest while the others do their items.
///
/// Where other programs take processors from a team, rounds wait for workers that are put aside in the middle of an
/// item, so that fewer workers get more done. At first, the workers that had to wait for their processors rest, but
/// never all of them. Later, now and then, twice or half as many take part for a while. The number that finishes more
/// rounds in the same time stays.
class Attendance {
   public:
    Attendance(std::uint32_t workers, AttendanceOptions options);

    /// Whether the worker rests. Changes between two rounds only.
    bool rests(std::uint32_t worker) const { return flags_[worker].load(std::memory_order_relaxed); }
    /// Whether any does.
    bool any_rests() const { return present_ < workers_; }
    /// By a worker that rests: sleeps until it may have to do something else. @param recalls as read before rests() was
    /// called
    void sleep(std::uint32_t recalls) const { recalls_.wait(recalls, std::memory_order_acquire); }
    std::uint32_t recalls() const { return recalls_.load(std::memory_order_acquire); }
    /// Wakes all that sleep.
    void recall();

    /// Between two rounds, by one worker.
    /// @param delays returns the time that each worker had to wait for its processor lately, ns
    template <class Delays>
    void round_is_over(bool crowded, std::int64_t now, Delays delays) {
        if (!crowded) {
            if (any_rests()) call_all();
            state_ = State::idle;
            return;
        }
        ++rounds_;
        if (state_ == State::idle || now >= next_) go_on(now, delays());
    }

    /// Workers that take part. Between jobs.
    std::uint32_t present() const { return present_; }

   private:
    enum class State : std::uint8_t { idle, settling, counting, staying };

    void call_all();
    void go_on(std::int64_t now, const std::vector<std::int64_t>& delays);
    void begin_trial(std::int64_t now);
    void settle(std::int64_t now);
    void stay(std::int64_t now);
    void set_present(std::uint32_t present);

    std::uint32_t workers_;
    AttendanceOptions options_;
    std::unique_ptr<std::atomic<bool>[]> flags_;
    std::atomic<std::uint32_t> recalls_{0};
    // The rest is touched between rounds only.
    std::uint32_t present_;
    std::vector<std::uint32_t> order_;  ///< of workers: the last ones rest first
    State state_ = State::idle;
    std::int64_t next_ = 0;  ///< when the state changes
    std::uint64_t rounds_ = 0;
    std::int64_t counted_from_ = 0;
    std::array<std::uint32_t, 2> compared_{};  ///< numbers of workers: the usual one and another
    std::array<double, 2> rates_{};            ///< rounds a nanosecond with each of them
    std::uint32_t part_ = 0;                   ///< of the trial
    std::int64_t stay_ = 0;
    bool tried_fewer_ = false;
};

}  // namespace ranvier::parallel
