#pragma once

#include <cstdint>
#include <exception>
#include <string>

#include "ranvier/base/errors.hpp"
#include "ranvier/comm/communicator.hpp"

namespace ranvier::engine {

/// Runs an action that may fail on some processes only, and throws on all if it failed on any: where it did not fail,
/// a RemoteError names the process that failed. Called before a collective operation is entered. @note Collective.
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
    const auto rank = static_cast<std::uint64_t>(communicator.rank().value);
    const auto nobody = static_cast<std::uint64_t>(communicator.size());
    const std::uint64_t failed = communicator.least(failure ? rank : nobody);
    if (failure) std::rethrow_exception(failure);
    if (failed == nobody) return;
    throw RemoteError({.object = what,
                       .value = "",
                       .bound = "rank " + std::to_string(failed) + " failed",
                       .remedy = "see the message of that rank"});
}

/// Aborts the run of all processes for a failure in the middle of a collective operation, and reports it on stderr.
[[noreturn]] void end_all(comm::Communicator& communicator, const std::exception_ptr& failure);

}  // namespace ranvier::engine
