#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ranvier::parallel {

class TaskScheduler;
class Event;

/// What a task may carry with it.
inline constexpr std::size_t task_payload_bytes = 40;

/// A task as the scheduler keeps it.
struct alignas(64) TaskRecord {
    TaskRecord* next = nullptr;  ///< of the pool
    std::uint32_t type = 0;
    std::int32_t home = -1;  ///< see Home
    std::atomic<std::uint32_t> missing{0};  ///< events that it waits for
    bool repeats = false;
    alignas(8) std::byte payload[task_payload_bytes];
};

/// That a task waits for an event.
struct Waiter {
    Waiter* next = nullptr;
    TaskRecord* task = nullptr;
};

enum class EventKind : std::uint8_t {
    once,       ///< happens once, until it is armed again; stays as long as its Tasks
    /// Begins to count anew whenever it has happened; stays as long as its Tasks. It only counts signals: one that
    /// comes early, for the next round, takes the place of one that is still missing in this round. Where this can
    /// happen, use two events in turn.
    repeating,
    passing,  ///< happens once, and is gone as soon as it has
};

/// Something that happens when it has been signalled as often as it counts. Tasks that wait for it become ready then.
///
/// Who sees that an event has happened, and all tasks that it makes ready, see all that was written before its signals.
/// Made by Tasks; signalled through Tasks and TaskContext.
class alignas(64) Event {
   public:
    Event() = default;
    Event(std::uint64_t count, EventKind kind) { make(count, kind); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;

    /// Signals that make it happen.
    std::uint64_t count() const { return count_; }
    EventKind kind() const { return kind_; }
    /// How often it has happened: at most once unless it repeats.
    std::uint64_t happenings() const;
    bool has_happened() const { return happenings() > 0; }

    /// Begins to count anew, up to `count`. What repeats with it and what waits for it goes on doing so. While nobody
    /// signals it.
    /// @throws StateError when some of its signals have come and others have not, or when it would happen by itself while
    /// tasks wait for it
    /// @throws ValueOutOfBoundsError when the count is 0, unless it happens once: then it has happened
    void rearm(std::uint64_t count);
    void rearm() { rearm(count_); }

    Event* next = nullptr;  ///< of the pool

   private:
    friend class TaskScheduler;

    void make(std::uint64_t count, EventKind kind);
    /// Back to how it was made; only what repeats with it still waits for it.
    void reset();
    /// One signal more. Returns whether the event has happened by it.
    bool add_signal();
    /// Those that have waited until now. None may be added later, unless it repeats.
    Waiter* release();
    /// Returns whether it was added: not when the event has happened.
    bool add(Waiter& waiter);
    void add_repeating(Waiter& waiter);

    std::atomic<std::uint64_t> signals_{0};  ///< since it was armed
    std::uint64_t count_ = 1;
    std::atomic<Waiter*> waiting_{nullptr};
    std::atomic<Waiter*> repeating_{nullptr};  ///< what becomes ready each time
    EventKind kind_ = EventKind::once;
};

}  // namespace ranvier::parallel
