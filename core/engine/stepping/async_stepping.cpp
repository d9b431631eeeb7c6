#include "engine/stepping/async_stepping.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "ranvier/parallel/pause.hpp"

namespace ranvier::engine {

namespace {

/// How much further ahead of the shard that is behind all others a shard may go than where that one will be after so many
/// seconds, within these bounds. The less, the earlier an interrupted run ends; the more, the longer a process has something
/// to do while others are slow.
constexpr double lead_seconds = 0.5;
constexpr Step least_lead = 2 * comm::CommonProgress::grid;
constexpr Step most_lead = comm::ProgressExchange::most_ahead;
constexpr Step unbounded = std::numeric_limits<Step>::max();

}  // namespace

AsyncStepping::AsyncStepping(std::span<const std::unique_ptr<Shard>> shards, PairDelays delays, Step most_steps,
                             parallel::Team& team, parallel::StealingPolicy stealing,
                             std::unique_ptr<comm::ProgressExchange> ranks)
    : delays_(std::move(delays)),
      most_steps_(most_steps),
      team_(team),
      ranks_(std::move(ranks)),
      backoff_(team.spins() > 0 ? 1000 : 20),
      furthest_(std::make_unique<std::atomic<Step>[]>(shards.size())),
      silent_(std::make_unique<std::atomic<Step>[]>(delays_.shards())),
      states_(std::make_unique<std::atomic<State>[]>(shards.size())),
      sent_(std::make_unique<SpikeLog::Count[]>(delays_.shards())),
      workers_(std::make_unique<Worker[]>(team.size())),
      work_(team.places(), stealing, team.spins()) {
    groups_.reserve(shards.size());
    for (std::uint32_t index = 0; index < shards.size(); ++index) {
        groups_.push_back(std::make_unique<Group>(*shards[index], sent_[index], delays_.sources(index).size() + 1));
    }
    // What comes from other processes lies near the first shard that reads it.
    for (auto index = static_cast<std::uint32_t>(shards.size()); index < delays_.shards(); ++index) {
        const ShardMemory& memory = shards[delays_.targets(index).front()]->memory();
        remote_logs_.push_back(std::make_unique<SpikeLog>(sent_[index], memory[Component::spikes]));
    }
    for (std::uint32_t index = 0; index < shards.size(); ++index) {
        const auto sources = delays_.sources(index);
        std::vector<SpikeLog::Count>& read = groups_[index]->read;
        for (std::size_t i = 0; i < sources.size(); ++i) log(sources[i].shard).add_reader(read[i]);
        if (delays_.own(index) > 0) groups_[index]->log.add_reader(read.back());
    }
    reset_visits();
}

void AsyncStepping::begin(Step first, Step last) {
    stops_.store(false);
    target_is_final_.store(false);
    target_.store(last);
    step_.store(first - 1);
    left_.store(static_cast<std::uint32_t>(groups_.size()));
    waiting_.store(0);
    work_.begin();
    if (ranks_) ranks_->begin(first - 1, *this);
    lead_.store(ranks_ ? first - 1 + least_lead : unbounded);
    began_ = std::chrono::steady_clock::now();
    before_ = followed_ = first - 1;
    for (std::uint32_t index = 0; index < delays_.shards(); ++index) silent_[index].store(first - 1);
    for (std::uint32_t index = 0; index < groups_.size(); ++index) {
        Group& group = *groups_[index];
        group.clock.store(first - 1);
        group.planned.store(first - 1);
        states_[index].store(State::ready);
        work_.put(index, first - 1);
    }
}

void AsyncStepping::run(std::uint32_t worker, WorkerTimes& times) {
    LapTimer timer;
    const auto do_piece = [&](std::uint32_t index) {
        times.wait += timer.lap();
        visit(worker, index, times, timer);
    };
    if (ranks_) {
        team_.do_in_order(worker, work_, do_piece, [this] { watch(); });
    } else {
        team_.do_in_order(worker, work_, do_piece);
    }
    times.wait += timer.lap();
    // All shards have come to the end, so that all spikes are known.
    team_.for_assigned_items(worker, static_cast<std::uint32_t>(groups_.size()),
                             [&](std::uint32_t index) { finish(worker, index); });
    times.deliver += timer.lap();
}

Step AsyncStepping::limit(std::uint32_t index) const {
    Step limit = groups_[index]->now() + most_steps_;
    if (ranks_) limit = std::min({limit, furthest_[index].load(), lead_.load()});
    for (const PairDelays::Pair& pair : delays_.sources(index)) {
        limit = std::min(limit, silent_[pair.shard].load() + pair.least);
    }
    return limit;
}

void AsyncStepping::visit(std::uint32_t worker, std::uint32_t index, WorkerTimes& times, LapTimer& timer) {
    Group& group = *groups_[index];
    if (team_.stop_requested() || group.shard.groups().has_failed()) request_stop();
    states_[index].store(State::runs);
    const Step before = group.now();
    const Step last = plan(group, limit(index));
    if (last > before) advance(worker, index, last, times, timer);
    const bool is_last = last == target_.load();
    if (ranks_ && (last > before || is_last)) ranks_->advance(index, last, is_last);
    if (is_last) {
        states_[index].store(State::is_done);
        if (left_.fetch_sub(1) == 1 && !ranks_) work_.close();
    } else if (last > before) {
        // When its turn comes, others will have advanced.
        states_[index].store(State::ready);
        work_.put(index, last);
    } else {
        wait_or_go_on(index, last);
    }
    if (last > before) {
        tell_targets(index);
        note_progress();
    }
    times.collocate += timer.lap();
    if (!ranks_) return;
    if (last > before || is_last) poll(false);
    times.communicate += timer.lap();
}

/// A shard could not advance. Either it is told by those that do, or it sees here that they have: all of these operations are
/// sequentially consistent.
void AsyncStepping::wait_or_go_on(std::uint32_t index, Step before) {
    waiting_.fetch_add(1);
    State expected = State::runs;
    if (limit(index) == before && states_[index].compare_exchange_strong(expected, State::waits)) return;
    waiting_.fetch_sub(1);
    states_[index].store(State::ready);
    work_.put(index, before);
}

/// The end of a visit that may last until a step: not after that of the run, which another worker may bring forward to the
/// latest one that any shard has planned to come to.
Step AsyncStepping::plan(Group& group, Step last) {
    group.planned.store(std::min(last, target_.load()));
    if (stops_.load()) {
        while (!target_is_final_.load()) {
            // The other processes have to agree, and one of the workers must listen to them.
            if (work_.is_broken()) throw parallel::Cancelled{};
            if (ranks_) poll(true);
            parallel::pause();
        }
    }
    return std::min(group.planned.load(std::memory_order_relaxed), target_.load());
}

/// All shards are to end the run after the same step. Either a worker sees the wish to stop once it has planned, or its plan
/// is seen here: all of these operations are sequentially consistent. Where there are other processes, the worker that talks
/// to them sees the wish.
void AsyncStepping::request_stop() {
    const std::lock_guard lock(stop_mutex_);
    if (stops_.exchange(true) || ranks_) return;
    end_after(latest_plan());
}

/// The latest step that any shard has planned to come to. Where plans are made no more.
Step AsyncStepping::latest_plan() const {
    Step latest = 0;
    for (const auto& group : groups_) latest = std::max(latest, group->planned.load());
    return latest;
}

void AsyncStepping::end_after(Step last) {
    target_.store(last);
    target_is_final_.store(true);
    // Those that have come to the new end already may wait for others.
    for (std::uint32_t index = 0; index < groups_.size(); ++index) tell(index);
}

void AsyncStepping::advance(std::uint32_t worker, std::uint32_t index, Step last, WorkerTimes& times, LapTimer& timer) {
    Group& group = *groups_[index];
    const Step own_delay = delays_.own(index);
    group.shard.begin_visit();
    read_logs(worker, index, last);
    times.deliver += timer.lap();
    Step now = group.now();
    const Step first = now + 1;
    // Its own spikes arrive while it advances, and other processes wait for what it does.
    const Step piece = std::min(own_delay == 0 ? unbounded : own_delay, ranks_ ? ranks_->period(index) : unbounded);
    while (now < last) {
        const Step end = last - now > piece ? now + piece : last;
        advance_shard(group, now + 1, end, times, timer);
        group.log.append(group.shard.outboxes().of_epoch(group.visits), now + 1);
        if (ranks_) ranks_->emit(index, group.shard.outboxes().of_epoch(group.visits), now + 1);
        now = end;
        if (own_delay > 0) {
            std::vector<StampedSpike>& spikes = workers_[worker].spikes;
            spikes.clear();
            group.log.read(group.read.back(), now, spikes);
            group.inbox.take(spikes, now);
        }
        times.deliver += timer.lap();
        group.clock.store(now, std::memory_order_relaxed);
        silent_[index].store(group.shard.silent_until(now));
        if (ranks_ && now < last) {
            ranks_->advance(index, now, false);
            times.collocate += timer.lap();
            poll(false);
            times.communicate += timer.lap();
        }
    }
    ++workers_[worker].visits_by_steps[static_cast<std::size_t>(last - first) + 1];
}

void AsyncStepping::advance_shard(Group& group, Step first, Step last, WorkerTimes& times, LapTimer& timer) {
    Shard& shard = group.shard;
    shard.outboxes().begin_epoch(++group.visits, first);
    for (Step now = first, end = 0; now <= last; now = end + 1) {
        group.inbox.hand_over(now - 1);
        end = std::min(shard.stretch_end(now, last), group.inbox.next_due());
        shard.begin_step(now);
        times.deliver += timer.lap();
        const double record_seconds = shard.advance(now, end);
        times.update += timer.lap() - record_seconds;
        times.record += record_seconds;
    }
    shard.recorders().publish_bytes();
}

/// What arrives up to a step. Spikes that arrive later stay where they are.
void AsyncStepping::read_logs(std::uint32_t worker, std::uint32_t index, Step last) {
    Group& group = *groups_[index];
    std::vector<StampedSpike>& spikes = workers_[worker].spikes;
    const Step now = group.now();
    const auto sources = delays_.sources(index);
    for (std::size_t i = 0; i < sources.size(); ++i) {
        const PairDelays::Pair pair = sources[i];
        if (group.read[i].load(std::memory_order_relaxed) == sent_[pair.shard].load(std::memory_order_acquire))
            continue;
        spikes.clear();
        log(pair.shard).read(group.read[i], last - pair.least, spikes);
        if (!spikes.empty()) group.inbox.take(spikes, now);
    }
}

void AsyncStepping::tell_targets(std::uint32_t index) {
    if (waiting_.load() == 0) return;
    for (const std::uint32_t target : delays_.targets(index)) tell(target);
}

/// A shard that it gets spikes from has advanced.
void AsyncStepping::tell(std::uint32_t index) {
    std::atomic<State>& own = states_[index];
    State state = own.load();
    for (;;) {
        if (state == State::waits) {
            if (!own.compare_exchange_weak(state, State::ready)) continue;
            waiting_.fetch_sub(1);
            work_.put(index, groups_[index]->now());
            return;
        }
        if (state != State::runs || own.compare_exchange_weak(state, State::is_told)) return;
    }
}

void AsyncStepping::arrive(std::uint32_t inlet, Step clock, std::span<const StampedSpike> spikes) {
    const std::uint32_t index = static_cast<std::uint32_t>(groups_.size()) + inlet;
    remote_logs_[inlet]->append(spikes);
    silent_[index].store(clock);
    tell_targets(index);
}

void AsyncStepping::allow(std::uint32_t group, Step furthest) {
    furthest_[group].store(furthest);
    if (waiting_.load() > 0) tell(group);
}

Step AsyncStepping::read_until(std::uint32_t inlet) const {
    Step least = std::numeric_limits<Step>::max();
    for (const std::uint32_t target : delays_.targets(static_cast<std::uint32_t>(groups_.size()) + inlet)) {
        least = std::min(least, groups_[target]->now());
    }
    return least;
}

/// Talks to the other processes, unless another worker does so at this moment. Returns whether anything arrived.
bool AsyncStepping::poll(bool is_idle) {
    bool any = false;
    do {
        const std::unique_lock lock(ranks_mutex_, std::try_to_lock);
        if (!lock) break;
        any = ranks_->poll(*this, is_idle) || any;
        ranks_->note_progress(is_idle ? earliest() : step());
        follow_all();
        come_to_terms();
        // What another worker left meanwhile, which found the lock taken.
    } while (is_idle && ranks_->has_more());
    return any;
}

/// Of a worker that has nothing else to do. The others may sleep until it finds something for them.
void AsyncStepping::watch() {
    if (poll(true)) {
        backoff_.reset();
    } else {
        backoff_.wait(team_.is_crowded());
    }
}

/// Lets shards go on where those of all processes have advanced.
void AsyncStepping::follow_all() {
    const Step reached = ranks_->reached_by_all();
    if (reached == followed_) return;
    followed_ = reached;
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began_;
    const double lead = static_cast<double>(reached - before_) / seconds.count() * lead_seconds;
    const Step last = reached + static_cast<Step>(std::clamp(lead, double{least_lead}, double{most_lead}));
    if (last <= lead_.load()) return;
    lead_.store(last);
    for (std::uint32_t index = 0; waiting_.load() > 0 && index < groups_.size(); ++index) tell(index);
}

/// The step that all shards of this process have come to.
Step AsyncStepping::earliest() const {
    Step least = unbounded;
    for (const auto& group : groups_) least = std::min(least, group->now());
    return least;
}

/// Agrees with the other processes on the end of the run; see comm::RunAgreement.
void AsyncStepping::come_to_terms() {
    const comm::RunAgreement& agreement = ranks_->agreement();
    if (team_.stop_requested() || agreement.stop_requested()) stops_.store(true);
    if (stops_.load()) ranks_->request_stop();
    bool has_all_here = has_all();
    if (!agreement.has_entered() && (stops_.load() || has_all_here)) ranks_->enter(latest_plan());
    if (!agreement.verdict()) return;
    if (!target_is_final_.load()) {
        lead_.store(unbounded);
        end_after(*agreement.verdict());
        has_all_here = has_all();
    }
    if (!has_all_here) return;
    ranks_->end();
    if (ranks_->is_over()) work_.close();
}

/// Whether all shards have come to the end, and all that they read has come here.
bool AsyncStepping::has_all() const {
    if (left_.load() > 0) return false;
    const Step last = target_.load();
    for (std::size_t index = groups_.size(); index < delays_.shards(); ++index) {
        if (silent_[index].load() < last) return false;
    }
    return true;
}

/// Now and then, since it looks at all shards.
void AsyncStepping::note_progress() {
    const std::uint64_t visited = visited_.fetch_add(1, std::memory_order_relaxed) + 1;
    if (visited % groups_.size() != 0) return;
    step_.store(earliest(), std::memory_order_relaxed);
}

/// As after an epoch: all spikes have been told to all tables, and the outbox is empty.
void AsyncStepping::finish(std::uint32_t worker, std::uint32_t index) {
    Group& group = *groups_[index];
    const Step last = target_.load();
    read_logs(worker, index, std::numeric_limits<Step>::max());
    group.inbox.hand_over_all(last);
    group.shard.outboxes().begin_epoch(++group.visits, last + 1);
}

std::vector<std::uint64_t> AsyncStepping::visits() const {
    std::vector<std::uint64_t> visits(static_cast<std::size_t>(most_steps_) + 1, 0);
    for (std::uint32_t worker = 0; worker < team_.size(); ++worker) {
        for (std::size_t steps = 0; steps < visits.size(); ++steps) {
            visits[steps] += workers_[worker].visits_by_steps[steps];
        }
    }
    return visits;
}

void AsyncStepping::reset_counts() {
    reset_visits();
    if (ranks_) ranks_->reset_counts();
}

void AsyncStepping::reset_visits() {
    for (std::uint32_t worker = 0; worker < team_.size(); ++worker) {
        workers_[worker].visits_by_steps.assign(static_cast<std::size_t>(most_steps_) + 1, 0);
    }
}

}  // namespace ranvier::engine
