#include "parallel/tasks/task_scheduler.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <set>
#include <utility>

#include "base/counted.hpp"
#include "ranvier/base/errors.hpp"

// The part of the thread that owns the tasks; that of the workers is in task_workers.cpp.

namespace ranvier::parallel {

namespace {

/// Encoding of homes in records: -1 anywhere, from 0 on a worker, from -2 downwards a node.
constexpr std::int32_t anywhere = -1;

/// Clears a flag at the end of a scope.
class Released {
   public:
    explicit Released(std::atomic<bool>& flag) : flag_(flag) {}
    ~Released() { flag_.store(false); }
    Released(const Released&) = delete;
    Released& operator=(const Released&) = delete;

   private:
    std::atomic<bool>& flag_;
};

}  // namespace

// ---- inbox -----------------------------------------------------------------------------------------------------------

void TaskInbox::put(TaskRecord* task) {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(task);
    // Sequentially consistent, as the caller's check for sleepers requires.
    size_.store(tasks_.size() - first_, std::memory_order_seq_cst);
}

void TaskInbox::empty_into(std::vector<TaskRecord*>& tasks) {
    const std::lock_guard lock(mutex_);
    tasks.assign(tasks_.begin() + static_cast<std::ptrdiff_t>(first_), tasks_.end());
    tasks_.clear();
    first_ = 0;
    size_.store(0, std::memory_order_seq_cst);
}

TaskRecord* TaskInbox::take_oldest() {
    const std::lock_guard lock(mutex_);
    if (first_ == tasks_.size()) return nullptr;
    TaskRecord* const task = tasks_[first_++];
    // Taken items are removed in bulk: negligible cost on average.
    if (2 * first_ >= tasks_.size()) {
        tasks_.erase(tasks_.begin(), tasks_.begin() + static_cast<std::ptrdiff_t>(first_));
        first_ = 0;
    }
    size_.store(tasks_.size() - first_, std::memory_order_seq_cst);
    return task;
}

void TaskInbox::clear() {
    const std::lock_guard lock(mutex_);
    tasks_.clear();
    first_ = 0;
    size_.store(0, std::memory_order_seq_cst);
}

// ---- making tasks and events -----------------------------------------------------------------------------------------

TaskScheduler::TaskScheduler(Team& team)
    : team_(team),
      workers_(std::make_unique<Worker[]>(team.size() + 1)),
      idle_(stealing_groups(team.places(), team.stealing())),
      spins_(team.spins()) {
    for (std::uint32_t worker = 0; worker < team.size(); ++worker) {
        workers_[worker].victims = list_victims(team.places(), worker, team.stealing(), team.distances());
        workers_[worker].random = worker + 1;
        const std::uint32_t node = team.node_of(worker);
        const auto found = std::find(nodes_.begin(), nodes_.end(), node);
        const auto index = static_cast<std::size_t>(found - nodes_.begin());
        if (found == nodes_.end()) {
            nodes_.push_back(node);
            node_workers_.emplace_back();
        }
        node_workers_[index].push_back(worker);
    }
}

void TaskScheduler::check_caller(std::uint32_t by) const {
    if (by != outside() || !running_.load(std::memory_order_relaxed)) return;
    throw StateError({.object = "tasks",
                      .value = "running",
                      .bound = "only tasks can make tasks and events, and signal, while they run",
                      .remedy = "use the context that the task receives"});
}

std::int32_t TaskScheduler::find_home(Home home) const {
    if (home.number_ < 0) return anywhere;
    if (!home.is_node_) {
        if (home.number_ < std::int64_t{team_.size()}) return static_cast<std::int32_t>(home.number_);
        throw ValueOutOfBoundsError({.object = "home of a task",
                                     .value = "worker " + std::to_string(home.number_),
                                     .bound = "the team has " + counted(team_.size(), "worker") + ", numbered from 0",
                                     .remedy = "name one of them, or a node"});
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (nodes_[i] == home.number_) return -2 - static_cast<std::int32_t>(i);
    }
    throw ValueOutOfBoundsError({.object = "home of a task",
                                 .value = "node " + std::to_string(home.number_),
                                 .bound = "no worker of the team is on this node",
                                 .remedy = "choose a node that has workers of the team"});
}

void TaskScheduler::fill(TaskRecord& record, std::uint32_t type, const void* payload, std::size_t bytes,
                         std::int32_t home) {
    assert(type < types_.size() && bytes <= task_payload_bytes);
    record.type = type;
    record.home = home;
    std::memcpy(record.payload, payload, bytes);
}

std::uint32_t TaskScheduler::register_type(std::string name, CarryOut carry_out, int priority) {
    check_caller(outside());
    types_.push_back({.name = std::move(name), .carry_out = std::move(carry_out), .priority = priority, .lane = 0});
    for (std::uint32_t worker = 0; worker <= outside(); ++worker) workers_[worker].types.emplace_back();
    return static_cast<std::uint32_t>(types_.size() - 1);
}

void TaskScheduler::create(std::uint32_t by, std::uint32_t type, const void* payload, std::size_t bytes, Home home,
                           std::span<Event* const> events) {
    check_caller(by);
    Worker& self = workers_[by];
    const std::int32_t found_home = find_home(home);
    TaskRecord* const task = records_.take(self.records);
    fill(*task, type, payload, bytes, found_home);
    ++self.types[type].created;
    if (!events.empty()) {
        // One more than there are, so that it does not start before it is attached to all events.
        task->missing.store(static_cast<std::uint32_t>(events.size()) + 1, std::memory_order_relaxed);
        std::uint32_t satisfied = 1;
        for (Event* const event : events) {
            Waiter* const waiter = waiters_.take(self.waiters);
            waiter->task = task;
            if (event->add(*waiter)) continue;
            waiters_.give_back(self.waiters, waiter);
            ++satisfied;
        }
        if (task->missing.fetch_sub(satisfied, std::memory_order_acq_rel) != satisfied) return;
    }
    put(by, task);
}

void TaskScheduler::repeat(std::uint32_t by, std::uint32_t type, const void* payload, std::size_t bytes, Home home,
                           Event& event) {
    check_caller(by);
    if (event.kind() == EventKind::passing) {
        throw StateError({.object = "task that repeats",
                          .value = "",
                          .bound = "its event happens once and is then deleted",
                          .remedy = "make an event that repeats, or one that can be armed again"});
    }
    const std::int32_t found_home = find_home(home);
    Waiter* waiter = nullptr;
    {
        const std::lock_guard lock(lasting_mutex_);
        TaskRecord& task = repeating_tasks_.emplace_back();
        fill(task, type, payload, bytes, found_home);
        task.repeats = true;
        waiter = &repeating_waiters_.emplace_back();
        waiter->task = &task;
    }
    event.add_repeating(*waiter);
}

Event& TaskScheduler::make_event(std::uint32_t by, std::uint64_t count, EventKind kind) {
    check_caller(by);
    if (kind == EventKind::passing) {
        Worker& self = workers_[by];
        Event& event = *passing_events_.take(self.events);
        try {
            event.make(count, kind);
        } catch (...) {
            passing_events_.give_back(self.events, &event);
            throw;
        }
        return event;
    }
    const std::lock_guard lock(lasting_mutex_);
    return lasting_events_.emplace_back(count, kind);
}

void TaskScheduler::signal(std::uint32_t by, Event& event) {
    check_caller(by);
    if (!event.add_signal()) return;
    Worker& self = workers_[by];
    // The last waiter is at the front; putting it first makes the first waiter the newest, which is processed first.
    Waiter* waiter = event.release();
    while (waiter != nullptr) {
        Waiter* const next = waiter->next;
        TaskRecord* const task = waiter->task;
        waiters_.give_back(self.waiters, waiter);
        if (task->missing.fetch_sub(1, std::memory_order_acq_rel) == 1) put(by, task);
        waiter = next;
    }
    for (waiter = event.repeating_.load(std::memory_order_acquire); waiter != nullptr; waiter = waiter->next) {
        put(by, waiter->task);
    }
    if (event.kind() == EventKind::passing) passing_events_.give_back(self.events, &event);
}

// ---- runs ------------------------------------------------------------------------------------------------------------

void TaskScheduler::run(const RunOptions& options) {
    if (running_.exchange(true)) {
        throw StateError({.object = "tasks",
                          .value = "running",
                          .bound = "runs cannot be nested",
                          .remedy = "create tasks instead; the current run processes them"});
    }
    const Released released(running_);
    if (options.goal != nullptr && options.goal->kind() != EventKind::once) {
        throw StateError({.object = "goal of a run",
                          .value = "an event that repeats or passes",
                          .bound = "only an event that happens once can be a goal",
                          .remedy = "use an event that happens once, and rearm it before each run"});
    }
    prepare();
    try {
        team_.run([this](std::uint32_t worker) { work(worker); }, options.poll);
        check_finished(options.goal);
    } catch (...) {
        reset();
        throw;
    }
}

void TaskScheduler::prepare() {
    std::set<int, std::greater<>> priorities;
    for (const Type& type : types_) priorities.insert(type.priority);
    for (Type& type : types_) {
        type.lane = static_cast<std::uint32_t>(std::distance(priorities.begin(), priorities.find(type.priority)));
    }
    for (std::uint32_t worker = 0; worker < team_.size(); ++worker) {
        Worker& self = workers_[worker];
        for (const auto& lane : self.lanes) lane->clear();
        while (self.lanes.size() < priorities.size()) self.lanes.push_back(std::make_unique<Deque>());
        self.idle.store(false, std::memory_order_relaxed);
    }
    idle_.reset();
    cancelled_.store(false);
    finished_.store(false);
    active_.store(team_.size());
}

void TaskScheduler::check_finished(const Event* goal) const {
    std::vector<DeadlockError::Waiting> waiting;
    for (std::size_t type = 0; type < types_.size(); ++type) {
        std::uint64_t tasks = 0;
        for (std::uint32_t worker = 0; worker <= outside(); ++worker) {
            tasks += workers_[worker].types[type].created - workers_[worker].types[type].begun;
        }
        if (tasks > 0) waiting.push_back({.type = types_[type].name, .tasks = tasks});
    }
    const bool reached = goal == nullptr || goal->has_happened();
    if (waiting.empty() && reached) return;
    std::string bound = reached ? "" : "the goal has not been reached";
    for (const auto& [type, tasks] : waiting) {
        bound += (bound.empty() ? "" : ", ") + std::to_string(tasks) + " of type '" + type + "' are still waiting";
    }
    bound += ", and no task is left that could signal the events";
    throw DeadlockError({.object = "tasks",
                         .value = "",
                         .bound = std::move(bound),
                         .remedy = "give each event the number of signals that it gets"},
                        std::move(waiting));
}

void TaskScheduler::reset() {
    std::vector<TaskPool<TaskRecord>::Cache*> records;
    std::vector<TaskPool<Waiter>::Cache*> waiters;
    std::vector<TaskPool<Event>::Cache*> events;
    for (std::uint32_t worker = 0; worker <= outside(); ++worker) {
        Worker& self = workers_[worker];
        for (const auto& lane : self.lanes) lane->clear();
        self.inbox.clear();
        std::fill(self.types.begin(), self.types.end(), TypeCounts{});
        records.push_back(&self.records);
        waiters.push_back(&self.waiters);
        events.push_back(&self.events);
    }
    records_.collect(records);
    waiters_.collect(waiters);
    passing_events_.collect(events);
    for (Event& event : lasting_events_) event.reset();
}

void TaskScheduler::clear() {
    check_caller(outside());
    reset();
    lasting_events_.clear();
    repeating_waiters_.clear();
    repeating_tasks_.clear();
}

void TaskScheduler::clear_counts() {
    for (std::uint32_t worker = 0; worker < team_.size(); ++worker) workers_[worker].counts = {};
}

}  // namespace ranvier::parallel
