#include "parallel/team.hpp"

#include <chrono>

#include "parallel/processors.hpp"

namespace ranvier::parallel {

namespace {

/// About 50 microseconds: longer than the imbalance of a step, shorter than a slice of the scheduler.
constexpr std::uint32_t spins_with_own_processor = 2000;

}  // namespace

Team::Team(std::uint32_t threads, bool pin)
    : barrier_(threads, threads <= available_processors().size() ? spins_with_own_processor : 0) {
    const std::vector<int> processors = available_processors();
    // A smaller team is left to the scheduler: several of them, in several processes of a parameter scan for example,
    // would otherwise all sit on the first processors.
    pinned_ = pin && threads == processors.size();
    workers_.reserve(threads);
    for (std::uint32_t worker = 0; worker < threads; ++worker) {
        const int processor = pinned_ ? processors[worker] : -1;
        workers_.emplace_back([this, worker, processor] { work(worker, processor); });
    }
}

Team::~Team() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    job_ready_.notify_all();
    for (std::thread& worker : workers_) worker.join();
}

void Team::run(const std::function<void(std::uint32_t)>& job, const std::function<void()>& poll) {
    std::unique_lock lock(mutex_);
    stop_.store(false, std::memory_order_relaxed);
    barrier_.mend();
    failure_ = nullptr;
    job_ = &job;
    running_ = size();
    ++job_number_;
    job_ready_.notify_all();
    std::exception_ptr poll_failure;
    while (running_ > 0) {
        if (job_done_.wait_for(lock, std::chrono::milliseconds(50), [this] { return running_ == 0; })) break;
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
    std::unique_lock lock(mutex_);
    for (;;) {
        job_ready_.wait(lock, [&] { return ending_ || job_number_ != seen; });
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
        if (--running_ == 0) job_done_.notify_all();
    }
}

}  // namespace ranvier::parallel
