#include "ranvier/parallel/team.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <system_error>

#include "parallel/processors.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::parallel {

namespace {

/// About 50 microseconds: longer than the imbalance of a step, shorter than a slice of the scheduler.
constexpr std::uint32_t spins_with_separate_processors = 2000;

/// Whether no worker shares a processor with another one.
bool have_separate_processors(std::span<const Place> places, std::size_t processors) {
    if (places.size() > processors) return false;
    std::vector<int> used;
    for (const Place& place : places) {
        if (place.processor >= 0) used.push_back(place.processor);
    }
    std::sort(used.begin(), used.end());
    return std::adjacent_find(used.begin(), used.end()) == used.end();
}

std::uint32_t choose_spins(std::span<const Place> places, const TeamOptions& options) {
    switch (options.spinning) {
        case Spinning::always:
            return spins_with_separate_processors;
        case Spinning::never:
            return 0;
        case Spinning::automatic:
            break;
    }
    const std::size_t processors = options.processors.value_or(available_processors().size());
    return have_separate_processors(places, processors) ? spins_with_separate_processors : 0;
}

/// Workers that share processors preempt each other, so preemption does not indicate other programs.
CrowdingOptions crowding_options(CrowdingOptions options, std::uint32_t spins) {
    if (spins == 0 && !options.make_delay) options.interval = std::chrono::nanoseconds::max();
    return options;
}

}  // namespace

Team::Team(std::vector<Place> places, TeamOptions options)
    : process_(::getpid()),
      places_(std::move(places)),
      stealing_(options.stealing),
      distances_(std::move(options.distances)),
      spins_(choose_spins(places_, options)),
      barrier_(size(), spins_),
      rounds_(places_, stealing_, spins_, distances_),
      crowding_(places_, crowding_options(std::move(options.crowding), spins_)) {
    if (places_.empty()) throw InternalError("a team without workers");
    start();
}

void Team::start() {
    workers_.reserve(size());
    running_ = size();
    for (std::uint32_t worker = 0; worker < size(); ++worker) {
        try {
            workers_.emplace_back([this, worker] { work(worker); });
        } catch (const std::system_error& error) {
            end();
            throw StateError(
                {.object = "worker threads",
                 .value = std::to_string(size()),
                 .bound = "the system did not start thread " + std::to_string(worker + 1) + " (" + error.what() + ")",
                 .remedy = "use fewer threads, or raise the limits of processes and memory"});
        }
    }
    // Which workers could be bound is known only then.
    std::unique_lock lock(signals_->mutex);
    signals_->job_done.wait(lock, [this] { return running_ == 0; });
}

Team::~Team() { end(); }

void Team::end() {
    if (::getpid() != process_) {
        // A forked copy: the threads exist in the parent only, and waiting would not return.
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

bool Team::pinned() const {
    return std::all_of(places_.begin(), places_.end(), [](const Place& place) { return place.processor >= 0; });
}

void Team::run(const std::function<void(std::uint32_t)>& job, const std::function<void()>& poll) {
    std::unique_lock lock(signals_->mutex);
    stop_.store(false, std::memory_order_relaxed);
    barrier_.reset();
    rounds_.begin_job();
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
    // A worker's failure is more informative than a stop request at the same time.
    if (failure_) std::rethrow_exception(failure_);
    if (poll_failure) std::rethrow_exception(poll_failure);
}

void Team::break_up() {
    barrier_.break_up();
    rounds_.break_up(crowding_);
}

void Team::work(std::uint32_t worker) {
    if (!crowding_.begin(worker)) places_[worker].processor = -1;
    std::uint64_t seen = 0;
    std::unique_lock lock(signals_->mutex);
    if (--running_ == 0) signals_->job_done.notify_all();
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
            // The canceller has stored the reason.
            break_up();
        } catch (...) {
            failure = std::current_exception();
            break_up();
        }
        lock.lock();
        if (failure && !failure_) failure_ = failure;
        if (--running_ == 0) signals_->job_done.notify_all();
    }
}

}  // namespace ranvier::parallel
