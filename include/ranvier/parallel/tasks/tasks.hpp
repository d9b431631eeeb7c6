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

/// Tasks that become ready when the events that they wait for have happened, done by a team of workers that take work from
/// each other. An example: the sum of a tree, upwards, each node once both of its children are done.
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

/// Where a task belongs. It is put there when it becomes ready; whether another worker may take it from there is for the
/// team's stealing policy to say.
class Home {
   public:
    /// With the worker that makes it ready.
    constexpr Home() = default;
    static constexpr Home anywhere() { return Home(); }
    static constexpr Home worker(std::uint32_t number) { return Home(static_cast<std::int64_t>(number), false); }
    /// With the worker that makes it ready if that one is on this node, else with the workers of the node in turn.
    static constexpr Home node(std::uint32_t number) { return Home(static_cast<std::int64_t>(number), true); }

   private:
    friend class TaskScheduler;
    constexpr Home(std::int64_t number, bool is_node) : number_(number), is_node_(is_node) {}

    std::int64_t number_ = -1;
    bool is_node_ = false;
};

/// What a task carries: copied as bytes.
template <class Payload>
concept TaskPayload = std::is_trivially_copyable_v<Payload> && std::is_default_constructible_v<Payload> &&
                      sizeof(Payload) <= task_payload_bytes && alignof(Payload) <= 8;

/// A type of tasks, of one Tasks.
template <TaskPayload Payload>
class TaskType {
   public:
    std::uint32_t number() const { return number_; }

   private:
    friend class Tasks;
    explicit TaskType(std::uint32_t number) : number_(number) {}
    std::uint32_t number_;
};

/// What one worker did in tasks since the counts were last cleared.
struct TaskCounts {
    std::uint64_t executed = 0;
    std::uint64_t stolen_locally = 0;   ///< of these, from workers of the same NUMA node
    std::uint64_t stolen_remotely = 0;  ///< of these, from workers of other nodes
    std::uint64_t vain_searches = 0;    ///< attempts to steal from anybody that found nothing
    std::uint64_t sleeps = 0;
};

/// All that could be done is done, and tasks still wait for events that nobody is left to signal.
class DeadlockError : public StateError {
   public:
    struct Waiting {
        std::string type;
        std::uint64_t tasks = 0;
    };
    DeadlockError(ErrorFields fields, std::vector<Waiting> waiting)
        : StateError(std::move(fields)), waiting_(std::move(waiting)) {}
    /// How many tasks of which types wait, none of 0.
    const std::vector<Waiting>& waiting() const noexcept { return waiting_; }

   private:
    std::vector<Waiting> waiting_;
};

/// How a run of tasks goes.
struct RunOptions {
    /// Called now and then in the calling thread; what it throws stops the run, as with Team::run.
    std::function<void()> poll{};
    /// An event of the kind `once` that must have happened at the end. A run never waits for tasks that repeat: this
    /// event shows whether they have finished or are stuck.
    const Event* goal = nullptr;
};

/// What can be done with tasks and events, both by whoever prepares a run and by tasks while they run.
class TaskCreation {
   public:
    /// Makes a task that is ready.
    /// @throws ValueOutOfBoundsError here and below when its home has no worker
    template <TaskPayload Payload>
    void create(TaskType<Payload> type, const std::type_identity_t<Payload>& payload, Home home = {}) {
        create_task(type.number(), &payload, sizeof payload, home, {});
    }
    /// Makes a task that becomes ready when the event has happened; that may be over already.
    template <TaskPayload Payload>
    void create_after(Event& event, TaskType<Payload> type, const std::type_identity_t<Payload>& payload,
                      Home home = {}) {
        Event* const events[] = {&event};
        create_task(type.number(), &payload, sizeof payload, home, events);
    }
    /// Makes a task that becomes ready when all of the events have happened.
    template <TaskPayload Payload>
    void create_after(std::span<Event* const> events, TaskType<Payload> type,
                      const std::type_identity_t<Payload>& payload, Home home = {}) {
        create_task(type.number(), &payload, sizeof payload, home, events);
    }
    /// Makes a task that becomes ready each time the event happens, and stays as long as its Tasks. It can be done by two
    /// workers at once where the event happens again before it has been done; an event that counts the task's own signal
    /// excludes that.
    template <TaskPayload Payload>
    void repeat_after(Event& event, TaskType<Payload> type, const std::type_identity_t<Payload>& payload,
                      Home home = {}) {
        repeat_task(type.number(), &payload, sizeof payload, home, event);
    }
    /// One of the signals that the event counts; with the last one it happens.
    /// @throws StateError when there were enough before
    void signal(Event& event);
    /// An event that happens when it has been signalled so often.
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

/// What a task knows of where it runs, for the time of its run.
class TaskContext : public TaskCreation {
   public:
    std::uint32_t worker() const { return worker_; }
    std::uint32_t node() const;
    /// Whether the run is to end early, for tasks that take long.
    bool stop_requested() const;

   private:
    friend class TaskScheduler;
    using TaskCreation::TaskCreation;
};

/// Tasks and events on a team. Tasks that are ready are done newest first by the worker that made them ready or that they
/// belong to, and oldest first by those that take them from it; those of types with a higher priority before others.
///
/// Its own functions, those of TaskCreation included, are for the thread that calls run(), between runs.
class Tasks : public TaskCreation {
   public:
    /// @param team must outlive it, and is free for other jobs between runs
    explicit Tasks(Team& team);
    ~Tasks();
    Tasks(const Tasks&) = delete;
    Tasks& operator=(const Tasks&) = delete;

    /// Registers a type of tasks: how errors call it, and what is done, handler(TaskContext&, const Payload&), by many
    /// workers at once.
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

    /// Does all tasks, also those that they create, until there are none left but those that repeat.
    ///
    /// What a task throws is thrown here, the first one if there are several. Then, as after any other error, tasks that
    /// had not begun are gone, passing events too, and all other events are as they were made; tasks that repeat stay.
    /// @throws DeadlockError when tasks wait for events that cannot happen any more, or the goal has not happened
    /// @throws StateError when it is called from a task, or the goal is of another kind
    void run(const RunOptions& options = {});

    /// Forgets all tasks and events.
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
