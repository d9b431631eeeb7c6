#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace ranvier::parallel {

/// Tracks the searching and the parked workers (about to sleep, or asleep), and selects workers to wake for new tasks.
///
/// No wake-up is lost. A worker first announces its sleep and then checks for tasks once more. A worker that adds a task
/// first stores it and then checks for parked workers. All of these operations are sequentially consistent.
///
/// As few workers as possible are woken: none while another worker of the stealing group searches, since that one finds
/// the task. If it finds one and was the last to search, it checks for more tasks and wakes the next worker.
class IdleWorkers {
   public:
    /// @param groups stealing group of each worker: workers of one group may take each other's tasks
    explicit IdleWorkers(std::span<const std::uint32_t> groups);

    /// Marks all workers as awake. Only while no worker runs.
    void reset();

    void begin_search(std::uint32_t worker);
    /// Returns whether others may have to search now: this worker was the last to search, and some are parked.
    bool end_search(std::uint32_t worker);

    /// Ends the worker's search and parks it. It must then check for tasks once more, and call
    /// cancel_sleep() or sleep().
    void announce_sleep(std::uint32_t worker);
    /// The worker searches again instead of sleeping.
    void cancel_sleep(std::uint32_t worker);
    /// Sleeps until another worker wakes this one, which then searches.
    void sleep(std::uint32_t worker);

    /// Wakes a worker for a task that was stored with worker `owner`: the owner if it is parked, else a worker of its group,
    /// unless one of them searches.
    /// @param by the caller
    void wake_for(std::uint32_t owner, std::uint32_t by);
    /// Wakes one worker of the worker's group, unless one of the group searches.
    void wake_one_near(std::uint32_t worker);
    void wake_all();

   private:
    struct alignas(64) Group {
        /// Number of searching workers in the lower half, of parked workers in the upper half.
        std::atomic<std::uint64_t> state{0};
        std::mutex mutex;
        std::vector<std::uint32_t> parked;  ///< a stack: the last worker parked, whose cache is warmest, is woken first
    };
    enum WorkerState : std::uint32_t { awake, parked, woken };
    struct alignas(64) Worker {
        std::atomic<std::uint32_t> state{awake};
        std::uint32_t group = 0;
    };

    Group& group_of(std::uint32_t worker) { return groups_[workers_[worker].group]; }
    void wake(std::uint32_t worker);
    /// Returns whether the worker was parked.
    bool unpark(Group& group, std::uint32_t worker);

    std::uint32_t size_;
    std::uint32_t group_count_ = 0;
    std::unique_ptr<Worker[]> workers_;
    std::unique_ptr<Group[]> groups_;
};

}  // namespace ranvier::parallel
