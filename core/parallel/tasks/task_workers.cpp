#include <algorithm>

#include "parallel/tasks/task_scheduler.hpp"
#include "ranvier/parallel/pause.hpp"

// The part of the workers. The handling of sleepers and of the end of a run relies on sequential consistency, the
// default where no memory order is given.

namespace ranvier::parallel {

namespace {

constexpr std::uint64_t one_active = 1;
constexpr std::uint64_t one_beginning = std::uint64_t{1} << 32;

}  // namespace

std::uint32_t TaskScheduler::choose_owner(std::uint32_t by, const TaskRecord& task) {
    if (task.home >= 0) return static_cast<std::uint32_t>(task.home);
    Worker& self = workers_[by];
    if (task.home == -1) return by != outside() ? by : self.turn++ % team_.size();
    const auto node = static_cast<std::size_t>(-2 - task.home);
    if (by != outside() && team_.node_of(by) == nodes_[node]) return by;
    const std::vector<std::uint32_t>& there = node_workers_[node];
    return there[self.turn++ % there.size()];
}

void TaskScheduler::put(std::uint32_t by, TaskRecord* task) {
    const std::uint32_t owner = choose_owner(by, *task);
    if (owner == by) {
        workers_[owner].lanes[types_[task->type].lane]->push(task);
    } else {
        workers_[owner].inbox.put(task);
    }
    if (by != outside()) idle_.wake_for(owner, by);
}

void TaskScheduler::work(std::uint32_t worker) {
    try {
        while (!is_over()) {
            TaskRecord* task = take_assigned(worker);
            if (task == nullptr) task = steal(worker, true);
            if (task == nullptr) task = find_when_idle(worker);
            if (task == nullptr) return;
            carry_out(worker, *task);
        }
    } catch (...) {
        cancel();
        throw;
    }
}

void TaskScheduler::carry_out(std::uint32_t worker, TaskRecord& task) {
    Worker& self = workers_[worker];
    ++self.counts.executed;
    if (!task.repeats) ++self.types[task.type].begun;
    TaskContext context(*this, worker);
    types_[task.type].carry_out(context, task.payload);
    if (!task.repeats) records_.give_back(self.records, &task);
}

TaskRecord* TaskScheduler::take_assigned(std::uint32_t worker) {
    Worker& self = workers_[worker];
    if (!self.inbox.is_empty()) {
        self.inbox.empty_into(self.received);
        // The oldest last, which makes it the first to be processed.
        for (auto task = self.received.rbegin(); task != self.received.rend(); ++task) {
            self.lanes[types_[(*task)->type].lane]->push(*task);
        }
    }
    TaskRecord* task = nullptr;
    for (const auto& lane : self.lanes) {
        if (lane->pop(task)) return task;
    }
    return nullptr;
}

/// If `skip_idle`, leaves tasks put with idle workers to these: they are about to take them.
TaskRecord* TaskScheduler::steal(std::uint32_t worker, bool skip_idle) {
    Worker& self = workers_[worker];
    std::size_t begin = 0;
    for (const std::size_t end : self.victims.ends) {
        const auto group = std::span(self.victims.workers).subspan(begin, end - begin);
        if (TaskRecord* const task = steal_from(self, group, skip_idle)) return task;
        begin = end;
    }
    ++self.counts.failed_searches;
    return nullptr;
}

TaskRecord* TaskScheduler::steal_from(Worker& thief, std::span<const std::uint32_t> victims, bool skip_idle) {
    // From a random one on (xorshift), so that thieves spread.
    thief.random ^= thief.random << 13;
    thief.random ^= thief.random >> 7;
    thief.random ^= thief.random << 17;
    const std::size_t start = thief.random % victims.size();
    const auto worker = static_cast<std::uint32_t>(&thief - workers_.get());
    const auto count = [&](std::uint32_t victim) {
        const bool local = team_.node_of(victim) == team_.node_of(worker);
        ++(local ? thief.counts.stolen_locally : thief.counts.stolen_remotely);
    };
    TaskRecord* task = nullptr;
    for (std::size_t i = 0; i < victims.size(); ++i) {
        const std::uint32_t victim = victims[(start + i) % victims.size()];
        for (const auto& lane : workers_[victim].lanes) {
            Deque::Outcome outcome = Deque::Outcome::lost;
            while (outcome == Deque::Outcome::lost) outcome = lane->steal(task);
            if (outcome == Deque::Outcome::empty) continue;
            count(victim);
            return task;
        }
    }
    for (std::size_t i = 0; i < victims.size(); ++i) {
        const std::uint32_t victim = victims[(start + i) % victims.size()];
        Worker& owner = workers_[victim];
        if (owner.inbox.is_empty() || (skip_idle && owner.idle.load(std::memory_order_relaxed))) continue;
        task = owner.inbox.take_oldest();
        if (task == nullptr) continue;
        count(victim);
        return task;
    }
    return nullptr;
}

bool TaskScheduler::sees_work(std::uint32_t worker, bool skip_idle) const {
    const Worker& self = workers_[worker];
    if (!self.inbox.is_empty()) return true;
    return std::any_of(self.victims.workers.begin(), self.victims.workers.end(), [&](std::uint32_t victim) {
        const Worker& owner = workers_[victim];
        const bool skipped = skip_idle && owner.idle.load(std::memory_order_relaxed);
        if (!skipped && !owner.inbox.is_empty()) return true;
        return std::any_of(owner.lanes.begin(), owner.lanes.end(), [](const auto& lane) { return !lane->is_empty(); });
    });
}

/// A worker becomes active before it takes a task: otherwise the last one to become idle could see all queues empty and
/// end the run.
TaskRecord* TaskScheduler::try_to_find(std::uint32_t worker, bool skip_idle) {
    become_active();
    TaskRecord* task = take_assigned(worker);
    if (task == nullptr) task = steal(worker, skip_idle);
    if (task == nullptr) become_idle();
    return task;
}

/// Searches for a while and then sleeps, until there is a task or the run is over; then null.
TaskRecord* TaskScheduler::find_when_idle(std::uint32_t worker) {
    Worker& self = workers_[worker];
    self.idle.store(true, std::memory_order_relaxed);
    idle_.begin_search(worker);
    become_idle();
    TaskRecord* task = nullptr;
    while (task == nullptr && !is_over()) {
        for (std::uint32_t spins = spins_.get(); spins > 0 && task == nullptr && !is_over(); --spins) {
            if (sees_work(worker, true)) {
                task = try_to_find(worker, true);
            } else {
                pause();
            }
        }
        if (task != nullptr) {
            spins_.adapt(false);
        } else if (sees_work(worker, false)) {
            task = try_to_find(worker, false);
        } else {
            idle_.announce_sleep(worker);
            if (sees_work(worker, false) || is_over()) {
                idle_.cancel_sleep(worker);
            } else {
                ++self.counts.sleeps;
                idle_.sleep(worker);
                spins_.adapt(true);
            }
        }
    }
    self.idle.store(false, std::memory_order_relaxed);
    if (idle_.end_search(worker) && sees_work(worker, false)) idle_.wake_one_near(worker);
    return task;
}

bool TaskScheduler::is_over() {
    if (cancelled_.load(std::memory_order_relaxed) || finished_.load()) return true;
    if (!team_.stop_requested()) return false;
    cancel();
    return true;
}

void TaskScheduler::become_active() { active_.fetch_add(one_active + one_beginning); }

/// The last worker to become idle ends the run if no task is left. A worker that began to take one meanwhile has become
/// active, which the count shows.
void TaskScheduler::become_idle() {
    const std::uint64_t active = active_.fetch_sub(one_active) - one_active;
    if (static_cast<std::uint32_t>(active) != 0) return;
    for (std::uint32_t worker = 0; worker < team_.size(); ++worker) {
        const Worker& other = workers_[worker];
        if (!other.inbox.is_empty()) return;
        for (const auto& lane : other.lanes) {
            if (!lane->is_empty()) return;
        }
    }
    if (active_.load() == active) end();
}

void TaskScheduler::end() {
    finished_.store(true);
    idle_.wake_all();
}

void TaskScheduler::cancel() {
    if (!cancelled_.exchange(true)) idle_.wake_all();
}

}  // namespace ranvier::parallel
