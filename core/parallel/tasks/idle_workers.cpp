#include "parallel/tasks/idle_workers.hpp"

#include <algorithm>

namespace ranvier::parallel {

namespace {

constexpr std::uint64_t one_searching = 1;
constexpr std::uint64_t one_parked = std::uint64_t{1} << 32;

bool has_searching(std::uint64_t state) { return static_cast<std::uint32_t>(state) > 0; }
bool has_parked(std::uint64_t state) { return state >= one_parked; }

}  // namespace

IdleWorkers::IdleWorkers(std::span<const std::uint32_t> groups)
    : size_(static_cast<std::uint32_t>(groups.size())), workers_(std::make_unique<Worker[]>(groups.size())) {
    for (std::uint32_t worker = 0; worker < size_; ++worker) {
        workers_[worker].group = groups[worker];
        group_count_ = std::max(group_count_, groups[worker] + 1);
    }
    groups_ = std::make_unique<Group[]>(group_count_);
    // Nothing is allocated later.
    for (std::uint32_t worker = 0; worker < size_; ++worker) group_of(worker).parked.reserve(size_);
}

void IdleWorkers::reset() {
    for (std::uint32_t worker = 0; worker < size_; ++worker) workers_[worker].state.store(awake);
    for (std::uint32_t i = 0; i < group_count_; ++i) {
        groups_[i].state.store(0);
        groups_[i].parked.clear();
    }
}

void IdleWorkers::begin_search(std::uint32_t worker) { group_of(worker).state.fetch_add(one_searching); }

bool IdleWorkers::end_search(std::uint32_t worker) {
    const std::uint64_t state = group_of(worker).state.fetch_sub(one_searching) - one_searching;
    return !has_searching(state) && has_parked(state);
}

void IdleWorkers::announce_sleep(std::uint32_t worker) {
    Group& group = group_of(worker);
    const std::lock_guard lock(group.mutex);
    group.parked.push_back(worker);
    workers_[worker].state.store(parked);
    group.state.fetch_add(one_parked - one_searching);
}

void IdleWorkers::cancel_sleep(std::uint32_t worker) {
    Group& group = group_of(worker);
    bool was_parked = false;
    {
        const std::lock_guard lock(group.mutex);
        was_parked = unpark(group, worker);
    }
    // A worker that was chosen waits for its wake-up, which would end its next sleep otherwise.
    if (was_parked) {
        workers_[worker].state.store(awake);
    } else {
        sleep(worker);
    }
}

void IdleWorkers::sleep(std::uint32_t worker) {
    std::atomic<std::uint32_t>& state = workers_[worker].state;
    while (state.load() != woken) state.wait(parked);
    state.store(awake);
}

void IdleWorkers::wake_for(std::uint32_t owner, std::uint32_t by) {
    if (owner != by && workers_[owner].state.load() == parked) {
        Group& group = group_of(owner);
        bool chosen = false;
        {
            const std::lock_guard lock(group.mutex);
            chosen = unpark(group, owner);
        }
        if (chosen) {
            wake(owner);
            return;
        }
    }
    wake_one_near(owner);
}

void IdleWorkers::wake_one_near(std::uint32_t worker) {
    Group& group = group_of(worker);
    const std::uint64_t state = group.state.load();
    if (has_searching(state) || !has_parked(state)) return;
    std::uint32_t chosen = 0;
    {
        const std::lock_guard lock(group.mutex);
        if (group.parked.empty() || has_searching(group.state.load())) return;
        chosen = group.parked.back();
        unpark(group, chosen);
    }
    wake(chosen);
}

void IdleWorkers::wake_all() {
    for (std::uint32_t worker = 0; worker < size_; ++worker) {
        Group& group = group_of(worker);
        bool chosen = false;
        {
            const std::lock_guard lock(group.mutex);
            chosen = unpark(group, worker);
        }
        if (chosen) wake(worker);
    }
}

void IdleWorkers::wake(std::uint32_t worker) {
    // A read-modify-write: other threads must see it before this one checks for waiting threads.
    workers_[worker].state.exchange(woken);
    workers_[worker].state.notify_one();
}

bool IdleWorkers::unpark(Group& group, std::uint32_t worker) {
    const auto found = std::find(group.parked.begin(), group.parked.end(), worker);
    if (found == group.parked.end()) return false;
    group.parked.erase(found);
    group.state.fetch_sub(one_parked - one_searching);
    return true;
}

}  // namespace ranvier::parallel
