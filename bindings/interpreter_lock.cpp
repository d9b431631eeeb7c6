#include "interpreter_lock.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace ranvier::bindings {

namespace nb = nanobind;

namespace {

/// A poll comes 20 times a second, or as soon as a step is done. Other threads may wait forever for another process.
constexpr std::chrono::seconds longest_wait{2};

struct Leaving {
    /// The interpreter has started to exit, on this thread.
    std::atomic<bool> begun{false};
    std::atomic<std::thread::id> thread{};
    /// The interpreter no longer waits.
    std::atomic<bool> waits_no_longer{false};
    /// Threads that have released the lock and not acquired it again.
    std::atomic<int> unlocked{0};
    /// Those of them that have requested it.
    std::atomic<int> asking{0};
};

Leaving leaving;

bool is_other_thread() { return leaving.thread.load() != std::this_thread::get_id(); }

/// Announces that the calling thread requests the lock, unless it is too late for that.
void ask() {
    leaving.asking.fetch_add(1);
    if (!leaving.waits_no_longer.load() || !is_other_thread()) return;
    leaving.asking.fetch_sub(1);
    for (;;) pause();
}

void wait_for(const std::atomic<int>& count, std::chrono::steady_clock::time_point until) {
    while (count.load() != 0 && std::chrono::steady_clock::now() < until) {
        std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
}

void wait_for_threads() {
    leaving.thread.store(std::this_thread::get_id());
    leaving.begun.store(true);
    const nb::gil_scoped_release released;
    wait_for(leaving.unlocked, std::chrono::steady_clock::now() + longest_wait);
    leaving.waits_no_longer.store(true);
    // A thread that has requested the lock before acquires it, since no other thread holds it.
    wait_for(leaving.asking, std::chrono::steady_clock::time_point::max());
}

/// A forked process has none of the threads of its parent.
void forget_other_threads() {
    leaving.unlocked.store(0);
    leaving.asking.store(0);
}

}  // namespace

Unlocked::Unlocked() {
    if (must_leave()) leave();
    leaving.unlocked.fetch_add(1);
    released_.emplace();
}

Unlocked::~Unlocked() {
    ask();
    released_.reset();
    leaving.asking.fetch_sub(1);
    leaving.unlocked.fetch_sub(1);
}

Locked::Locked() {
    ask();
    acquired_.emplace();
    leaving.asking.fetch_sub(1);
}

bool must_leave() { return leaving.begun.load() && is_other_thread(); }

void leave() {
    PyErr_SetNone(PyExc_SystemExit);
    throw nb::python_error();
}

void bind_interpreter_lock(nb::module_& /*module*/) {
    pthread_atfork(nullptr, nullptr, forget_other_threads);
    nb::module_::import_("atexit").attr("register")(nb::cpp_function(wait_for_threads));
}

}  // namespace ranvier::bindings
