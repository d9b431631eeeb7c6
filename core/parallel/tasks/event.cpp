#include "ranvier/parallel/tasks/event.hpp"

#include <string>

#include "ranvier/base/errors.hpp"

namespace ranvier::parallel {

namespace {

/// Replaces the list of waiters when the event has happened: waiting is over.
Waiter happened;

void check_count(std::uint64_t count, EventKind kind) {
    if (count > 0 || kind == EventKind::once) return;
    throw ValueOutOfBoundsError({.object = "count of an event",
                                 .value = "0",
                                 .bound = "an event that repeats or passes needs at least one signal",
                                 .remedy = "count at least one, or make an event that happens once"});
}

}  // namespace

void Event::make(std::uint64_t count, EventKind kind) {
    check_count(count, kind);
    count_ = count;
    kind_ = kind;
    repeating_.store(nullptr, std::memory_order_relaxed);
    reset();
}

void Event::reset() {
    signals_.store(0, std::memory_order_relaxed);
    waiting_.store(count_ == 0 ? &happened : nullptr, std::memory_order_release);
}

std::uint64_t Event::happenings() const {
    if (kind_ == EventKind::repeating) return signals_.load(std::memory_order_acquire) / count_;
    return waiting_.load(std::memory_order_acquire) == &happened ? 1 : 0;
}

void Event::rearm(std::uint64_t count) {
    const std::uint64_t signals = signals_.load(std::memory_order_relaxed);
    const bool pending = kind_ == EventKind::repeating ? signals % count_ != 0 : signals != 0 && !has_happened();
    if (pending) {
        throw StateError({.object = "event to be rearmed",
                          .value = "",
                          .bound = "only " +
                                   std::to_string(kind_ == EventKind::repeating ? signals % count_ : signals) +
                                   " of its " + std::to_string(count_) + " signals have come",
                          .remedy = "let it happen first"});
    }
    check_count(count, kind_);
    Waiter* const waiters = waiting_.load(std::memory_order_acquire);
    if (count == 0 && waiters != nullptr && waiters != &happened) {
        throw StateError({.object = "event to be rearmed",
                          .value = "",
                          .bound = "tasks wait for it",
                          .remedy = "let it happen by a signal"});
    }
    count_ = count;
    reset();
    if (waiters != &happened && count > 0) waiting_.store(waiters, std::memory_order_release);
}

bool Event::add_signal() {
    // A passing event may be destroyed as soon as another thread has given the last signal.
    const EventKind kind = kind_;
    const std::uint64_t count = count_;
    const std::uint64_t signals = signals_.fetch_add(1, std::memory_order_acq_rel) + 1;
    if (kind == EventKind::repeating) return signals % count == 0;
    if (signals > count) {
        throw StateError({.object = "event",
                          .value = "signalled " + std::to_string(signals) + " times",
                          .bound = "it counts " + std::to_string(count),
                          .remedy = "count all of its signals, or rearm it in between"});
    }
    return signals == count;
}

Waiter* Event::release() {
    return waiting_.exchange(kind_ == EventKind::repeating ? nullptr : &happened, std::memory_order_acq_rel);
}

bool Event::add(Waiter& waiter) {
    Waiter* first = waiting_.load(std::memory_order_acquire);
    do {
        if (first == &happened) return false;
        waiter.next = first;
    } while (!waiting_.compare_exchange_weak(first, &waiter, std::memory_order_acq_rel, std::memory_order_acquire));
    return true;
}

void Event::add_repeating(Waiter& waiter) {
    waiter.next = repeating_.load(std::memory_order_relaxed);
    while (!repeating_.compare_exchange_weak(waiter.next, &waiter, std::memory_order_acq_rel)) {
    }
}

}  // namespace ranvier::parallel
