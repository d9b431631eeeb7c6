#pragma once

#include <nanobind/nanobind.h>

#include <optional>

namespace ranvier::bindings {

/// Gives the interpreter's lock away for a scope.
///
/// When the interpreter ends while another thread is in such a scope, the thread must not be ended by the interpreter where
/// it asks for the lock, as it would be: no destructor of C++ allows that, and the process would abort. So the interpreter
/// waits with its end until all threads have left, which runs and builds do at their next poll, by a SystemExit. Who does
/// not come in time, such as a thread that waits for another process, never gets the lock again, and ends with the process.
class Unlocked {
   public:
    Unlocked();
    ~Unlocked();
    Unlocked(const Unlocked&) = delete;
    Unlocked& operator=(const Unlocked&) = delete;

   private:
    std::optional<nanobind::gil_scoped_release> released_;
};

/// Takes the interpreter's lock for a scope inside of one in which it was given away.
class Locked {
   public:
    Locked();

   private:
    std::optional<nanobind::gil_scoped_acquire> acquired_;
};

/// Whether the interpreter waits for the calling thread, which holds its lock, to leave.
bool must_leave();

/// Sets Python's SystemExit, with which a thread ends without a word, and throws it.
[[noreturn]] void leave();

/// Has the interpreter wait when it ends.
void bind_interpreter_lock(nanobind::module_& module);

}  // namespace ranvier::bindings
