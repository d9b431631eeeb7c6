#pragma once

#include <nanobind/nanobind.h>

#include <optional>

namespace ranvier::bindings {

/// Gives the interpreter's lock away for a scope.
///
/// When the interpreter ends, it would end each thread that asks for the lock. In such a scope this must not happen: no
/// destructor of C++ allows it, and the process would abort. So the interpreter does not end before all threads have
/// left; runs and builds leave at their next poll, by a SystemExit. A thread that does not come in time, because it
/// waits for another process, say, never gets the lock again and ends with the process.
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

/// Sets Python's SystemExit, with which a thread ends without a message, and throws it.
[[noreturn]] void leave();

/// Lets the interpreter wait when it ends.
void bind_interpreter_lock(nanobind::module_& module);

}  // namespace ranvier::bindings
