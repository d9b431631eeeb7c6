#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "parallel/tasks/deque.hpp"
#include "parallel/tasks/idle_workers.hpp"
#include "parallel/tasks/task_pool.hpp"
#include "ranvier/parallel/barrier.hpp"
#include "ranvier/parallel/stealing.hpp"
#include "ranvier/parallel/tasks/event.hpp"
#include "ranvier/parallel/tasks/tasks.hpp"
#include "ranvier/parallel/team.hpp"

namespace ranvier::parallel {

/// Ready tasks put with a worker by others. They come one at a time, so a lock is enough.
class TaskInbox {
   public:
    void put(TaskRecord* task);
    /// Moves all tasks to `tasks`, in order of arrival; replaces its content.
    void empty_into(std::vector<TaskRecord*>& tasks);
    /// The oldest, or null.
    TaskRecord* take_oldest();
    /// Called by any thread; true at some moment of the call.
    bool is_empty() const { return size_.load(std::memory_order_seq_cst) == 0; }
    void clear();

   private:
    std::mutex mutex_;
    std::vector<TaskRecord*> tasks_;
    std::size_t first_ = 0;  ///< index of the first task that is not taken
    std::atomic<std::size_t> size_{0};
};

/// Implementation of Tasks, separate to keep it out of the public header.
class TaskScheduler {
   public:
    using CarryOut = std::function<void(TaskContext&, const void*)>;

    explicit TaskScheduler(Team& team);

    /// The index for calls from the thread that owns the tasks, in place of a worker.
    std::uint32_t outside() const { return team_.size(); }
    Team& team() const { return team_; }

    std::uint32_t register_type(std::string name, CarryOut carry_out, int priority);
    void create(std::uint32_t by, std::uint32_t type, const void* payload, std::size_t bytes, Home home,
                std::span<Event* const> events);
    void repeat(std::uint32_t by, std::uint32_t type, const void* payload, std::size_t bytes, Home home, Event& event);
    void signal(std::uint32_t by, Event& event);
    Event& make_event(std::uint32_t by, std::uint64_t count, EventKind kind);

    void run(const RunOptions& options);
    void clear();
    const TaskCounts& counts(std::uint32_t worker) const { return workers_[worker].counts; }
    void clear_counts();

   private:
    using Deque = StealingDeque<TaskRecord*>;
    struct Type {
        std::string name;
        CarryOut carry_out;
        int priority;
        std::uint32_t lane;  ///< deque that its tasks are put into
    };
    /// Non-repeating tasks.
    struct TypeCounts {
        std::uint64_t created = 0;
        std::uint64_t begun = 0;
    };
    struct alignas(64) Worker {
        std::vector<std::unique_ptr<Deque>> lanes;  ///< by descending priority
        TaskInbox inbox;
        std::vector<TaskRecord*> received;  ///< buffer for tasks from the inbox
        std::atomic<bool> idle{false};
        Victims victims;
        TaskPool<TaskRecord>::Cache records;
        TaskPool<Waiter>::Cache waiters;
        TaskPool<Event>::Cache events;
        std::vector<TypeCounts> types;
        TaskCounts counts;
        std::uint64_t random = 0;
        std::uint32_t turn = 0;  ///< round-robin counter over the workers of a node, or over all, for placing tasks
    };

    // Preparation and end; called by the thread that owns the tasks.
    void check_caller(std::uint32_t by) const;
    std::int32_t find_home(Home home) const;
    void fill(TaskRecord& record, std::uint32_t type, const void* payload, std::size_t bytes, std::int32_t home);
    void prepare();
    void check_finished(const Event* goal) const;
    void reset();

    // Called by workers.
    void put(std::uint32_t by, TaskRecord* task);
    std::uint32_t choose_owner(std::uint32_t by, const TaskRecord& task);
    void work(std::uint32_t worker);
    void carry_out(std::uint32_t worker, TaskRecord& task);
    TaskRecord* take_assigned(std::uint32_t worker);
    TaskRecord* steal(std::uint32_t worker, bool skip_idle);
    TaskRecord* steal_from(Worker& thief, std::span<const std::uint32_t> victims, bool skip_idle);
    TaskRecord* find_when_idle(std::uint32_t worker);
    TaskRecord* try_to_find(std::uint32_t worker, bool skip_idle);
    bool sees_work(std::uint32_t worker, bool skip_idle) const;
    bool is_over();
    void become_active();
    void become_idle();
    void cancel();
    void end();

    Team& team_;
    std::deque<Type> types_;
    std::unique_ptr<Worker[]> workers_;  ///< with one more for the owner of the tasks
    IdleWorkers idle_;
    SpinBudget spins_;
    std::vector<std::uint32_t> nodes_;                      ///< that have workers
    std::vector<std::vector<std::uint32_t>> node_workers_;  ///< of each of them
    TaskPool<TaskRecord> records_;
    TaskPool<Waiter> waiters_;
    TaskPool<Event> passing_events_;
    std::mutex lasting_mutex_;
    std::deque<Event> lasting_events_;
    std::deque<TaskRecord> repeating_tasks_;
    std::deque<Waiter> repeating_waiters_;

    std::atomic<bool> running_{false};
    alignas(64) std::atomic<bool> cancelled_{false};
    std::atomic<bool> finished_{false};
    /// Workers that process or try to take a task, in the lower half; number of times that one began to, in the upper
    /// half.
    alignas(64) std::atomic<std::uint64_t> active_{0};
};

}  // namespace ranvier::parallel
