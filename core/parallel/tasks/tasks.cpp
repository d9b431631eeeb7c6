#include "ranvier/parallel/tasks/tasks.hpp"

#include "parallel/tasks/task_scheduler.hpp"

namespace ranvier::parallel {

void TaskCreation::signal(Event& event) { scheduler_->signal(worker_, event); }

Event& TaskCreation::make_event(std::uint64_t count, EventKind kind) {
    return scheduler_->make_event(worker_, count, kind);
}

void TaskCreation::create_task(std::uint32_t type, const void* payload, std::size_t bytes, Home home,
                               std::span<Event* const> events) {
    scheduler_->create(worker_, type, payload, bytes, home, events);
}

void TaskCreation::repeat_task(std::uint32_t type, const void* payload, std::size_t bytes, Home home, Event& event) {
    scheduler_->repeat(worker_, type, payload, bytes, home, event);
}

std::uint32_t TaskContext::node() const { return scheduler_->team().node_of(worker_); }

bool TaskContext::stop_requested() const { return scheduler_->team().stop_requested(); }

Tasks::Tasks(Team& team) : Tasks(std::make_unique<TaskScheduler>(team)) {}

Tasks::Tasks(std::unique_ptr<TaskScheduler> scheduler)
    : TaskCreation(*scheduler, scheduler->outside()), owned_(std::move(scheduler)) {}

Tasks::~Tasks() = default;

void Tasks::run(const RunOptions& options) { owned_->run(options); }

void Tasks::clear() { owned_->clear(); }

const TaskCounts& Tasks::counts(std::uint32_t worker) const { return owned_->counts(worker); }

void Tasks::clear_counts() { owned_->clear_counts(); }

Team& Tasks::team() const { return owned_->team(); }

std::uint32_t Tasks::register_type(std::string name, std::function<void(TaskContext&, const void*)> carry_out,
                                   int priority) {
    return owned_->register_type(std::move(name), std::move(carry_out), priority);
}

}  // namespace ranvier::parallel
