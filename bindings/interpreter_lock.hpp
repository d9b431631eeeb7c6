#pragma once

#include <nanobind/nanobind.h>

#include <optional>

namespace ranvier::bindings {

/// Releases the interpreter lock for a scope.
///
/// When the interpreter exits, it terminates each thread that requests the lock. In such a scope this must not
/// happen: C++ destructors do not allow it, and the process would abort. So the interpreter does not exit before all
/// threads have left; runs and builds leave at their next poll, by a SystemExit. A thread that does not leave in
/// time, for example because it waits for another process, never acquires the lock again and ends with the process.
class Unlocked {
   public:
    Unlocked();
    ~Unlocked();
    Unlocked(const Unlocked&) = delete;
    Unlocked& operator=(const Unlocked&) = delete;

   private:
    std::optional<nanobind::gil_scoped_release> released_;
};

/// Acquires the interpreter lock for a scope inside of one in which it was released.
class Locked {
   public:
    Locked();

   private:
    std::optional<nanobind::gil_scoped_acquire> acquired_;
};

/// Whether the interpreter waits for the calling thread, which holds the lock, to leave.
bool must_leave();

/// Sets Python's SystemExit, which ends a thread without a message, and throws it.
[[noreturn]] void leave();

/// Makes the interpreter wait for threads when it exits.
void bind_interpreter_lock(nanobind::module_& module);

}  // namespace ranvier::bindings
