#pragma once

#include <cstdint>
#include <exception>
#include <string>

#include "ranvier/base/errors.hpp"
#include "ranvier/comm/communicator.hpp"

namespace ranvier::engine {

/// Runs what may fail on some processes only, and lets all fail together: where it did not fail, a RemoteError tells which
/// process did. To be used before anything collective is entered. @note Collective.
template <class Action>
void agree(comm::Communicator& communicator, const std::string& what, Action action) {
    if (communicator.size() == 1) {
        action();
        return;
    }
    std::exception_ptr failure;
    try {
        action();
    } catch (...) {
        failure = std::current_exception();
    }
    const auto own = static_cast<std::uint64_t>(communicator.rank().value);
    const auto nobody = static_cast<std::uint64_t>(communicator.size());
    const std::uint64_t failed = communicator.least(failure ? own : nobody);
    if (failure) std::rethrow_exception(failure);
    if (failed == nobody) return;
    throw RemoteError({.object = what,
                       .value = "",
                       .bound = "rank " + std::to_string(failed) + " failed",
                       .remedy = "see the message of that rank"});
}

/// Ends the run of all processes for a failure in the middle of what they do together, after telling it on stderr.
[[noreturn]] void end_all(comm::Communicator& communicator, const std::exception_ptr& failure);

}  // namespace ranvier::engine
