#include "ranvier/parallel/ordered_work.hpp"

#include <algorithm>

namespace ranvier::parallel {

namespace {

/// Equal keys are ordered by the numbers of the pieces.
constexpr auto comes_later = [](const auto& a, const auto& b) {
    return a.key != b.key ? a.key > b.key : a.piece > b.piece;
};

}  // namespace

OrderedWork::OrderedWork(std::span<const Place> places, StealingPolicy policy, std::uint32_t spins,
                         const NodeDistances& distances)
    : workers_(static_cast<std::uint32_t>(places.size())),
      owners_(std::make_unique<Owner[]>(places.size())),
      budget_(spins) {
    for (std::uint32_t worker = 0; worker < workers_; ++worker) {
        const Victims listed = list_victims(places, worker, policy, distances);
        std::size_t begin = 0;
        for (const std::size_t end : listed.ends) {
            std::vector<Victim>& group = owners_[worker].victims.emplace_back();
            for (std::size_t i = begin; i < end; ++i) {
                const std::uint32_t victim = listed.workers[i];
                group.push_back({victim, places[victim].node != places[worker].node});
            }
            begin = end;
        }
    }
}

void OrderedWork::begin() {
    for (std::uint32_t worker = 0; worker < workers_; ++worker) {
        owners_[worker].heap.clear();
        owners_[worker].least.store(none, std::memory_order_relaxed);
    }
    waiting_.store(0, std::memory_order_relaxed);
    is_watched_.store(false, std::memory_order_relaxed);
    state_.store(State::open);
}

void OrderedWork::put(std::uint32_t piece, std::int64_t key) {
    Owner& owner = owners_[piece % workers_];
    {
        const std::lock_guard lock(owner.mutex);
        owner.heap.push_back({key, piece});
        std::ranges::push_heap(owner.heap, comes_later);
        owner.least.store(owner.heap.front().key, std::memory_order_relaxed);
    }
    announce();
}

void OrderedWork::announce() {
    // Sequentially consistent, as in take(): either take() sees the change, or this thread sees that a worker waits.
    changes_.fetch_add(1);
    if (waiting_.load() > 0) changes_.notify_all();
}

std::optional<std::uint32_t> OrderedWork::take_from(std::uint32_t index) {
    Owner& owner = owners_[index];
    if (owner.least.load(std::memory_order_relaxed) == none) return std::nullopt;
    const std::lock_guard lock(owner.mutex);
    if (owner.heap.empty()) return std::nullopt;
    std::ranges::pop_heap(owner.heap, comes_later);
    const std::uint32_t piece = owner.heap.back().piece;
    owner.heap.pop_back();
    owner.least.store(owner.heap.empty() ? none : owner.heap.front().key, std::memory_order_relaxed);
    return piece;
}

/// The first piece of a group of workers.
std::optional<std::uint32_t> OrderedWork::steal(const std::vector<Victim>& group, StealingCounts& counts) {
    for (;;) {
        const Victim* first = nullptr;
        std::int64_t least = none;
        for (const Victim& victim : group) {
            const std::int64_t key = owners_[victim.worker].least.load(std::memory_order_relaxed);
            if (key >= least) continue;
            least = key;
            first = &victim;
        }
        if (first == nullptr) return std::nullopt;
        if (const auto piece = take_from(first->worker)) {
            ++(first->remote ? counts.remote : counts.local);
            return piece;
        }
    }
}

std::optional<std::uint32_t> OrderedWork::find(std::uint32_t worker) {
    Owner& self = owners_[worker];
    if (const auto piece = take_from(worker)) {
        ++self.counts.assigned;
        return piece;
    }
    for (const std::vector<Victim>& group : self.victims) {
        if (const auto piece = steal(group, self.counts)) return piece;
    }
    return std::nullopt;
}

std::optional<std::uint32_t> OrderedWork::take(std::uint32_t worker, const std::function<void()>& watch) {
    for (;;) {
        const std::uint32_t seen = changes_.load();
        const State state = state_.load();
        if (state == State::broken) throw Cancelled{};
        if (state == State::closed) return std::nullopt;
        if (const auto piece = find(worker)) return piece;
        wait(seen, watch);
    }
}

/// Waits for a change. The watching worker does not sleep; when it leaves, another waiting one replaces it.
void OrderedWork::wait(std::uint32_t seen, const std::function<void()>& watch) {
    waiting_.fetch_add(1);
    if (!watch || is_watched_.exchange(true)) {
        spin_then_sleep(budget_, changes_, seen, [] { return false; });
        waiting_.fetch_sub(1);
        return;
    }
    try {
        while (changes_.load() == seen) watch();
    } catch (...) {
        is_watched_.store(false);
        waiting_.fetch_sub(1);
        throw;
    }
    is_watched_.store(false);
    // Either a worker that starts to wait sees that none watches, or this thread sees that it waits: all operations are
    // sequentially consistent.
    if (waiting_.fetch_sub(1) > 1) announce();
}

void OrderedWork::end(State state) {
    State open = State::open;
    if (state == State::broken) {
        state_.store(state);
    } else {
        state_.compare_exchange_strong(open, state);
    }
    announce();
}

void OrderedWork::close() { end(State::closed); }
void OrderedWork::break_up() { end(State::broken); }

}  // namespace ranvier::parallel
