#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "ranvier/base/errors.hpp"
#include "ranvier/parallel/tasks/event.hpp"
#include "ranvier/parallel/team.hpp"

/// Tasks that become ready when the events that they wait for have happened, processed by a team of workers that take
/// work from each other. Example: sums up a tree, each node once both of its children are done.
///
///     Team team(place_threads(Topology::detect(), 4, {}), {.stealing = StealingPolicy::prefer_local});
///     Tasks tasks(team);
///     std::vector<double> sums = ...;                   // of node i; its children are 2 i + 1 and 2 i + 2
///     std::vector<Event*> children_done(inner_nodes);   // of node i
///     struct Add { std::uint32_t node; };
///     const TaskType<Add> add = tasks.add_type<Add>("add", [&](TaskContext& context, const Add& task) {
///         const std::uint32_t node = task.node;
///         sums[node] = sums[2 * node + 1] + sums[2 * node + 2];
///         if (node > 0) context.signal(*children_done[(node - 1) / 2]);
///     });
///     for (std::uint32_t node = 0; node < inner_nodes; ++node) {
///         children_done[node] = &tasks.make_event(2);
///         tasks.create_after(*children_done[node], add, {node}, Home::node(node_that_owns(node)));
///     }
///     ... tasks that compute the leaves and signal the event of their parent ...
///     tasks.run();
namespace ranvier::parallel {

class TaskScheduler;
class TaskContext;

/// Assigned worker or node of a task. The task is put there when it becomes ready; the team's stealing policy decides
/// whether another worker may take it.
class Home {
   public:
    /// The worker that makes it ready.
    constexpr Home() = default;
    static constexpr Home anywhere() { return Home(); }
    static constexpr Home worker(std::uint32_t number) { return Home(static_cast<std::int64_t>(number), false); }
    /// The worker that makes it ready if that one is on this node, otherwise the workers of the node in turn.
    static constexpr Home node(std::uint32_t number) { return Home(static_cast<std::int64_t>(number), true); }

   private:
    friend class TaskScheduler;
    constexpr Home(std::int64_t number, bool is_node) : number_(number), is_node_(is_node) {}

    std::int64_t number_ = -1;
    bool is_node_ = false;
};

/// The data of a task: copied as bytes.
template <class Payload>
concept TaskPayload = std::is_trivially_copyable_v<Payload> && std::is_default_constructible_v<Payload> &&
                      sizeof(Payload) <= task_payload_bytes && alignof(Payload) <= 8;

/// A type of tasks, belongs to one Tasks.
template <TaskPayload Payload>
class TaskType {
   public:
    std::uint32_t number() const { return number_; }

   private:
    friend class Tasks;
    explicit TaskType(std::uint32_t number) : number_(number) {}
    std::uint32_t number_;
};

/// Work of one worker in tasks since the counts were last cleared.
struct TaskCounts {
    std::uint64_t executed = 0;
    std::uint64_t stolen_locally = 0;   ///< of these, from workers of the same NUMA node
    std::uint64_t stolen_remotely = 0;  ///< of these, from workers of other nodes
    std::uint64_t failed_searches = 0;  ///< attempts to steal that found no task at any worker
    std::uint64_t sleeps = 0;
};

/// All other tasks are done, and the remaining ones wait for events that no task can signal.
class DeadlockError : public StateError {
   public:
    struct Waiting {
        std::string type;
        std::uint64_t tasks = 0;
    };
    DeadlockError(ErrorFields fields, std::vector<Waiting> waiting)
        : StateError(std::move(fields)), waiting_(std::move(waiting)) {}
    /// Numbers of waiting tasks by type, without zeros.
    const std::vector<Waiting>& waiting() const noexcept { return waiting_; }

   private:
    std::vector<Waiting> waiting_;
};

/// Options of a run of tasks.
struct RunOptions {
    /// Called occasionally in the calling thread; its exceptions stop the run, as with Team::run.
    std::function<void()> poll{};
    /// An event of the kind `once` that must have happened at the end. A run never waits for repeating tasks: this
    /// event shows whether they have finished or are stuck.
    const Event* goal = nullptr;
};

/// Operations on tasks and events for the preparation of a run and for running tasks.
class TaskCreation {
   public:
    /// Creates a task that is ready.
    /// @throws ValueOutOfBoundsError here and below when its home has no worker
    template <TaskPayload Payload>
    void create(TaskType<Payload> type, const std::type_identity_t<Payload>& payload, Home home = {}) {
        create_task(type.number(), &payload, sizeof payload, home, {});
    }
    /// Creates a task that becomes ready when the event has happened, possibly at once.
    template <TaskPayload Payload>
    void create_after(Event& event, TaskType<Payload> type, const std::type_identity_t<Payload>& payload,
                      Home home = {}) {
        Event* const events[] = {&event};
        create_task(type.number(), &payload, sizeof payload, home, events);
    }
    /// Creates a task that becomes ready when all of the events have happened.
    template <TaskPayload Payload>
    void create_after(std::span<Event* const> events, TaskType<Payload> type,
                      const std::type_identity_t<Payload>& payload, Home home = {}) {
        create_task(type.number(), &payload, sizeof payload, home, events);
    }
    /// Creates a task that becomes ready each time the event happens; it lives as long as its Tasks. Two workers can
    /// process it at once if the event happens again before it is done, unless the event counts a signal of the task
    /// itself.
    template <TaskPayload Payload>
    void repeat_after(Event& event, TaskType<Payload> type, const std::type_identity_t<Payload>& payload,
                      Home home = {}) {
        repeat_task(type.number(), &payload, sizeof payload, home, event);
    }
    /// Signals the event; it happens with the last of the signals that it counts.
    /// @throws StateError when it has all its signals already
    void signal(Event& event);
    /// Creates an event that happens after `count` signals.
    /// @throws ValueOutOfBoundsError when the count is 0 and the kind not `once`
    Event& make_event(std::uint64_t count, EventKind kind = EventKind::once);

   protected:
    TaskCreation(TaskScheduler& scheduler, std::uint32_t worker) : scheduler_(&scheduler), worker_(worker) {}
    ~TaskCreation() = default;

    void create_task(std::uint32_t type, const void* payload, std::size_t bytes, Home home,
                     std::span<Event* const> events);
    void repeat_task(std::uint32_t type, const void* payload, std::size_t bytes, Home home, Event& event);

    TaskScheduler* scheduler_;
    std::uint32_t worker_;
};

/// The context of a running task.
class TaskContext : public TaskCreation {
   public:
    std::uint32_t worker() const { return worker_; }
    std::uint32_t node() const;
    /// Whether the run should end early, for long tasks.
    bool stop_requested() const;

   private:
    friend class TaskScheduler;
    using TaskCreation::TaskCreation;
};

/// Tasks and events on a team. A worker processes ready tasks newest first; others take them oldest first; those of
/// types with a higher priority precede others.
///
/// Its member functions, including those of TaskCreation, are for the thread that calls run(), between runs.
class Tasks : public TaskCreation {
   public:
    /// @param team must outlive it; free for other jobs between runs
    explicit Tasks(Team& team);
    ~Tasks();
    Tasks(const Tasks&) = delete;
    Tasks& operator=(const Tasks&) = delete;

    /// Registers a type of tasks: its name in errors, and handler(TaskContext&, const Payload&), which many workers
    /// call concurrently.
    /// @param priority types with a higher one go first, as far as a worker can choose
    template <TaskPayload Payload, class Handler>
    TaskType<Payload> add_type(std::string name, Handler handler, int priority = 0) {
        const auto carry_out = [handler = std::move(handler)](TaskContext& context, const void* bytes) {
            Payload payload;
            std::memcpy(&payload, bytes, sizeof payload);
            handler(context, std::as_const(payload));
        };
        return TaskType<Payload>(register_type(std::move(name), carry_out, priority));
    }

    /// Processes all tasks, including those that they create, until only repeating ones are left.
    ///
    /// Rethrows the first exception of a task. Then, as after any other error, tasks that had not begun and passing
    /// events are destroyed, and all other events are reset to their state after creation; repeating tasks stay.
    /// @throws DeadlockError when tasks wait for events that can no longer happen, or the goal has not happened
    /// @throws StateError when it is called from a task, or the goal is of another kind
    void run(const RunOptions& options = {});

    /// Destroys all tasks and events.
    void clear();

    const TaskCounts& counts(std::uint32_t worker) const;
    void clear_counts();
    Team& team() const;

   private:
    explicit Tasks(std::unique_ptr<TaskScheduler> scheduler);
    std::uint32_t register_type(std::string name, std::function<void(TaskContext&, const void*)> carry_out,
                                int priority);

    std::unique_ptr<TaskScheduler> owned_;
};

}  // namespace ranvier::parallel
