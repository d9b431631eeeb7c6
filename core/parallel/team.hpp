#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "parallel/barrier.hpp"

namespace ranvier::parallel {

/// A team of worker threads that live as long as the team and run one job at a time, all of them together.
///
/// The calling thread never works itself: it sleeps, wakes up 20 times a second, and calls `poll`, so that the owner of
/// the program (an interpreter, say) stays responsive and may stop the job by throwing.
class Team {
   public:
    /// @param threads at least 1
    /// @param pin bind worker i to processor i, if there are exactly as many as workers
    /// @param processors that the team may count on; none: all that the process may use
    /// @param alone whether no other program is known to need these processors, so that pinning and spinning harm nobody
    /// @throws StateError when the system does not give that many threads
    Team(std::uint32_t threads, bool pin, std::vector<int> processors = {}, bool alone = true);
    ~Team();
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    std::uint32_t size() const { return static_cast<std::uint32_t>(workers_.size()); }
    bool pinned() const { return pinned_; }

    /// Runs job(worker) on all workers and returns when all have returned. What a worker throws breaks the barrier, is
    /// collected, and the first one is thrown here. What `poll` throws sets stop_requested(), and is thrown here once all
    /// workers have returned.
    void run(const std::function<void(std::uint32_t)>& job, const std::function<void()>& poll = {});

    /// For workers within a job: waits for the whole team. @throws Cancelled
    void wait() { barrier_.wait(); }
    /// For workers within a job: whether the caller wants the job to end early.
    bool stop_requested() const { return stop_.load(std::memory_order_relaxed); }
    /// For workers within a job that can be given up anywhere. @throws Cancelled when a stop was requested
    void check_cancelled() const {
        if (stop_requested()) throw Cancelled{};
    }

   private:
    void work(std::uint32_t worker, int processor);
    void end();

    int process_;  ///< the threads belong to it, not to one that is forked from it
    bool pinned_ = false;
    Barrier barrier_;
    std::atomic<bool> stop_{false};
    /// Apart, because destroying a condition that threads wait for would never return: a forked copy leaves it alone.
    struct Signals {
        std::mutex mutex;
        std::condition_variable job_ready;
        std::condition_variable job_done;
    };
    std::unique_ptr<Signals> signals_ = std::make_unique<Signals>();
    const std::function<void(std::uint32_t)>* job_ = nullptr;
    std::uint64_t job_number_ = 0;
    std::uint32_t running_ = 0;
    bool ending_ = false;
    std::exception_ptr failure_;
    std::vector<std::thread> workers_;
};

}  // namespace ranvier::parallel
