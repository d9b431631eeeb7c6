#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ranvier::parallel {

class TaskScheduler;
class Event;

/// Bytes of the payload of a task.
inline constexpr std::size_t task_payload_bytes = 40;

/// Internal record of a task.
struct alignas(64) TaskRecord {
    TaskRecord* next = nullptr;  ///< of the pool
    std::uint32_t type = 0;
    std::int32_t home = -1;  ///< see Home
    std::atomic<std::uint32_t> missing{0};  ///< events that it still waits for
    bool repeats = false;
    alignas(8) std::byte payload[task_payload_bytes];
};

/// A task that waits for an event.
struct Waiter {
    Waiter* next = nullptr;
    TaskRecord* task = nullptr;
};

enum class EventKind : std::uint8_t {
    once,  ///< happens once, until it is rearmed; lives as long as its Tasks
    /// Restarts its count each time it happens; lives as long as its Tasks. It only counts signals: an early one, for
    /// the next round, replaces one still missing in this round. Where this can happen, alternate between two events.
    repeating,
    passing,  ///< happens once and is then destroyed
};

/// An event that happens after a given number of signals. Tasks that wait for it become ready then.
///
/// Writes before its signals are visible to threads that see the event happen and to all tasks that it makes ready.
/// Created by Tasks; signalled through Tasks and TaskContext.
class alignas(64) Event {
   public:
    Event() = default;
    Event(std::uint64_t count, EventKind kind) { make(count, kind); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;

    /// Number of signals that make it happen.
    std::uint64_t count() const { return count_; }
    EventKind kind() const { return kind_; }
    /// Number of times that it has happened: at most once unless it repeats.
    std::uint64_t happenings() const;
    bool has_happened() const { return happenings() > 0; }

    /// Restarts the count, up to `count`. Repeating and waiting tasks stay attached. Called while no thread signals it.
    /// @throws StateError when only some of its signals have come, or when it would happen without a signal while tasks
    /// wait for it
    /// @throws ValueOutOfBoundsError when the count is 0, unless it happens once: then it has happened
    void rearm(std::uint64_t count);
    void rearm() { rearm(count_); }

    Event* next = nullptr;  ///< of the pool

   private:
    friend class TaskScheduler;

    void make(std::uint64_t count, EventKind kind);
    /// Resets to the state after creation; repeating tasks stay attached.
    void reset();
    /// Counts a signal. Returns whether it made the event happen.
    bool add_signal();
    /// Returns the waiting tasks. None may be added later, unless the event repeats.
    Waiter* release();
    /// Returns whether it was added: not when the event has happened.
    bool add(Waiter& waiter);
    void add_repeating(Waiter& waiter);

    std::atomic<std::uint64_t> signals_{0};  ///< since it was armed
    std::uint64_t count_ = 1;
    std::atomic<Waiter*> waiting_{nullptr};
    std::atomic<Waiter*> repeating_{nullptr};  ///< tasks that become ready each time
    EventKind kind_ = EventKind::once;
};

}  // namespace ranvier::parallel
