#include "parallel/team.hpp"

#include <unistd.h>

#include <chrono>
#include <string>
#include <system_error>

#include "base/errors.hpp"
#include "parallel/processors.hpp"

namespace ranvier::parallel {

namespace {

/// About 50 microseconds: longer than the imbalance of a step, shorter than a slice of the scheduler.
constexpr std::uint32_t spins_with_own_processor = 2000;

}  // namespace

Team::Team(std::uint32_t threads, bool pin, std::vector<int> processors, bool alone)
    : process_(::getpid()),
      barrier_(threads, alone && threads <= available_processors().size() ? spins_with_own_processor : 0) {
    if (processors.empty()) processors = available_processors();
    // A smaller team is left to the scheduler: several of them, in several processes of a parameter scan for example,
    // would otherwise all sit on the first processors.
    pinned_ = pin && alone && threads == processors.size();
    workers_.reserve(threads);
    for (std::uint32_t worker = 0; worker < threads; ++worker) {
        const int processor = pinned_ ? processors[worker] : -1;
        try {
            workers_.emplace_back([this, worker, processor] { work(worker, processor); });
        } catch (const std::system_error& error) {
            end();
            throw StateError({.object = "worker threads",
                              .value = std::to_string(threads),
                              .bound = "the system refused to start number " + std::to_string(worker + 1) + " (" +
                                       error.what() + ")",
                              .remedy = "use fewer threads, or raise the limits of processes and memory"});
        }
    }
}

Team::~Team() { end(); }

void Team::end() {
    if (::getpid() != process_) {
        // A forked copy: the threads exist in the parent only, and nothing can be waited for here.
        for (std::thread& worker : workers_) worker.detach();
        static_cast<void>(signals_.release());
        return;
    }
    {
        const std::lock_guard lock(signals_->mutex);
        ending_ = true;
    }
    signals_->job_ready.notify_all();
    for (std::thread& worker : workers_) worker.join();
}

void Team::run(const std::function<void(std::uint32_t)>& job, const std::function<void()>& poll) {
    std::unique_lock lock(signals_->mutex);
    stop_.store(false, std::memory_order_relaxed);
    barrier_.mend();
    failure_ = nullptr;
    job_ = &job;
    running_ = size();
    ++job_number_;
    signals_->job_ready.notify_all();
    std::exception_ptr poll_failure;
    while (running_ > 0) {
        if (signals_->job_done.wait_for(lock, std::chrono::milliseconds(50), [this] { return running_ == 0; })) break;
        if (!poll || poll_failure) continue;
        lock.unlock();
        try {
            poll();
        } catch (...) {
            poll_failure = std::current_exception();
            stop_.store(true, std::memory_order_relaxed);
        }
        lock.lock();
    }
    job_ = nullptr;
    // A worker's own failure says more than the wish to stop that came in meanwhile.
    if (failure_) std::rethrow_exception(failure_);
    if (poll_failure) std::rethrow_exception(poll_failure);
}

void Team::work(std::uint32_t worker, int processor) {
    if (processor >= 0) pin_to_processor(processor);
    std::uint64_t seen = 0;
    std::unique_lock lock(signals_->mutex);
    for (;;) {
        signals_->job_ready.wait(lock, [&] { return ending_ || job_number_ != seen; });
        if (ending_) return;
        seen = job_number_;
        const auto& job = *job_;
        lock.unlock();
        std::exception_ptr failure;
        try {
            job(worker);
        } catch (const Cancelled&) {
            // Whoever cancelled has the reason.
            barrier_.break_up();
        } catch (...) {
            failure = std::current_exception();
            barrier_.break_up();
        }
        lock.lock();
        if (failure && !failure_) failure_ = failure;
        if (--running_ == 0) signals_->job_done.notify_all();
    }
}

}  // namespace ranvier::parallel
