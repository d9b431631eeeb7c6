#include "engine/stepping/async_stepping.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "ranvier/parallel/pause.hpp"

namespace ranvier::engine {

namespace {

/// The maximum lead of a shard over the slowest shard of all, as the expected progress of the latter in this time,
/// within these bounds. A shorter lead ends an interrupted run earlier; a longer one keeps a process busy while
/// others are slow.
constexpr double lead_seconds = 0.5;
constexpr Step least_lead = 2 * comm::CommonProgress::grid;
constexpr Step most_lead = comm::ProgressExchange::most_ahead;
constexpr Step unbounded = std::numeric_limits<Step>::max();

}  // namespace

AsyncStepping::AsyncStepping(std::span<const std::unique_ptr<Shard>> shards, PairDelays delays, Step most_steps,
                             parallel::Team& team, std::span<WorkTrace> traces, parallel::StealingPolicy stealing,
                             std::unique_ptr<comm::ProgressExchange> ranks)
    : delays_(std::move(delays)),
      most_steps_(most_steps),
      team_(team),
      traces_(traces),
      ranks_(std::move(ranks)),
      backoff_(team.spins() > 0 ? 1000 : 20),
      furthest_(std::make_unique<std::atomic<Step>[]>(shards.size())),
      silent_(std::make_unique<std::atomic<Step>[]>(delays_.shards())),
      states_(std::make_unique<std::atomic<State>[]>(shards.size())),
      sent_(std::make_unique<SpikeLog::Count[]>(delays_.shards())),
      workers_(std::make_unique<Worker[]>(team.size())),
      work_(team.places(), stealing, team.spins(), team.distances()) {
    groups_.reserve(shards.size());
    for (std::uint32_t index = 0; index < shards.size(); ++index) {
        groups_.push_back(std::make_unique<Group>(*shards[index], sent_[index], delays_.sources(index).size() + 1));
    }
    // Data from other processes are placed near the first shard that reads them.
    for (auto index = static_cast<std::uint32_t>(shards.size()); index < delays_.shards(); ++index) {
        const ShardMemory& memory = shards[delays_.targets(index).front()]->memory();
        remote_logs_.push_back(std::make_unique<SpikeLog>(sent_[index], memory[Component::spikes]));
    }
    remote_clocks_.resize(remote_logs_.size());
    for (std::uint32_t index = 0; index < shards.size(); ++index) {
        const auto sources = delays_.sources(index);
        std::vector<SpikeLog::Count>& read = groups_[index]->read;
        for (std::size_t i = 0; i < sources.size(); ++i) log(sources[i].shard).add_reader(read[i]);
        if (delays_.within_shard(index) > 0) groups_[index]->log.add_reader(read.back());
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
    std::ranges::fill(remote_clocks_, first - 1);
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
        team_.do_in_order(worker, work_, do_piece, [this] { poll_while_idle(); });
    } else {
        team_.do_in_order(worker, work_, do_piece);
    }
    times.wait += timer.lap();
    // All shards have reached the end, so that all spikes are available.
    team_.for_assigned_items(worker, static_cast<std::uint32_t>(groups_.size()), [&](std::uint32_t index) {
        finish(worker, index, times, timer);
        times.wait += timer.lap();
    });
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
    WorkTrace& trace = traces_[worker];
    if (trace.is_on()) trace.begin({.begin = timer.last(), .shard = index, .kind = WorkKind::visit}, times);
    const std::uint64_t events = group.shard.synapses().events();
    const Step last = plan(group, limit(index));
    if (last > before) advance(worker, index, last, times, timer);
    if (trace.is_on()) {
        trace.present().first = before + 1;
        trace.present().last = last;
        trace.present().events = group.shard.synapses().events() - events;
    }
    const bool is_last = last == target_.load();
    if (ranks_ && (last > before || is_last)) ranks_->advance(index, last, silent_[index].load(), is_last);
    if (is_last) {
        states_[index].store(State::is_done);
        if (left_.fetch_sub(1) == 1 && !ranks_) work_.close();
    } else if (last > before) {
        // Others will have advanced by its next turn.
        states_[index].store(State::ready);
        work_.put(index, last);
    } else {
        wait_or_continue(index, last);
    }
    if (last > before) {
        notify_targets(index);
        note_progress();
    }
    times.collocate += timer.lap();
    if (ranks_) {
        if (last > before || is_last) poll(false);
        times.communicate += timer.lap();
    }
    if (trace.is_on()) trace.end(times);
}

/// A shard could not advance. Either it is notified by those that do, or it finds here that they have: all of these
/// operations are sequentially consistent.
void AsyncStepping::wait_or_continue(std::uint32_t index, Step before) {
    waiting_.fetch_add(1);
    State expected = State::runs;
    if (limit(index) == before && states_[index].compare_exchange_strong(expected, State::waits)) return;
    waiting_.fetch_sub(1);
    states_[index].store(State::ready);
    work_.put(index, before);
}

/// Plans a visit up to a step: not beyond the end of the run, which another worker may move forward to the latest
/// planned step of any shard.
Step AsyncStepping::plan(Group& group, Step last) {
    group.planned.store(std::min(last, target_.load()));
    if (stops_.load()) {
        while (!target_is_final_.load()) {
            // The other processes have to agree, and a worker must handle their messages.
            if (work_.is_broken()) throw parallel::Cancelled{};
            if (ranks_) poll(true);
            parallel::pause();
        }
    }
    return std::min(group.planned.load(std::memory_order_relaxed), target_.load());
}

/// All shards must end the run after the same step. Either a worker finds the request once it has planned, or its
/// plan is found here: all of these operations are sequentially consistent. With other processes, the worker that
/// communicates with them handles the request.
void AsyncStepping::request_stop() {
    const std::lock_guard lock(stop_mutex_);
    if (stops_.exchange(true) || ranks_) return;
    end_after(latest_plan());
}

/// The latest planned step of any shard. Called when no more plans are made.
Step AsyncStepping::latest_plan() const {
    Step latest = 0;
    for (const auto& group : groups_) latest = std::max(latest, group->planned.load());
    return latest;
}

void AsyncStepping::end_after(Step last) {
    target_.store(last);
    target_is_final_.store(true);
    // Shards that have already reached the new end may be waited for.
    for (std::uint32_t index = 0; index < groups_.size(); ++index) notify(index);
}

void AsyncStepping::advance(std::uint32_t worker, std::uint32_t index, Step last, WorkerTimes& times, LapTimer& timer) {
    Group& group = *groups_[index];
    const Step delay_within = delays_.within_shard(index);
    group.shard.begin_visit();
    read_logs(worker, index, last);
    times.deliver += timer.lap();
    Step now = group.now();
    const Step first = now + 1;
    // Its spikes also arrive at the shard itself, and other processes wait for its progress.
    const Step piece =
        std::min(delay_within == 0 ? unbounded : delay_within, ranks_ ? ranks_->period(index) : unbounded);
    while (now < last) {
        const Step end = last - now > piece ? now + piece : last;
        advance_shard(group, now + 1, end, times, timer);
        group.log.append(group.shard.outboxes().of_epoch(group.visits), now + 1);
        if (ranks_) ranks_->emit(index, group.shard.outboxes().of_epoch(group.visits), now + 1);
        now = end;
        if (delay_within > 0) {
            std::vector<StampedSpike>& spikes = workers_[worker].spikes;
            spikes.clear();
            group.log.read(group.read.back(), now, spikes);
            group.inbox.take(spikes, now);
        }
        times.deliver += timer.lap();
        group.clock.store(now, std::memory_order_relaxed);
        silent_[index].store(group.shard.silent_until(now));
        if (ranks_ && now < last) {
            ranks_->advance(index, now, silent_[index].load(), false);
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

/// Reads the spikes that arrive up to a step. Later ones stay in the logs.
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

void AsyncStepping::notify_targets(std::uint32_t index) {
    if (waiting_.load() == 0) return;
    for (const std::uint32_t target : delays_.targets(index)) notify(target);
}

/// Called when a source of the shard has advanced.
void AsyncStepping::notify(std::uint32_t index) {
    std::atomic<State>& group_state = states_[index];
    State state = group_state.load();
    for (;;) {
        if (state == State::waits) {
            if (!group_state.compare_exchange_weak(state, State::ready)) continue;
            waiting_.fetch_sub(1);
            work_.put(index, groups_[index]->now());
            return;
        }
        if (state != State::runs || group_state.compare_exchange_weak(state, State::is_notified)) return;
    }
}

void AsyncStepping::arrive(std::uint32_t inlet, Step clock, Step silent, std::span<const StampedSpike> spikes) {
    const std::uint32_t index = static_cast<std::uint32_t>(groups_.size()) + inlet;
    remote_logs_[inlet]->append(spikes);
    remote_clocks_[inlet] = clock;
    silent_[index].store(silent);
    notify_targets(index);
}

void AsyncStepping::allow(std::uint32_t group, Step furthest) {
    furthest_[group].store(furthest);
    if (waiting_.load() > 0) notify(group);
}

Step AsyncStepping::read_until(std::uint32_t inlet) const {
    Step least = std::numeric_limits<Step>::max();
    for (const std::uint32_t target : delays_.targets(static_cast<std::uint32_t>(groups_.size()) + inlet)) {
        least = std::min(least, groups_[target]->now());
    }
    return least;
}

/// Communicates with the other processes, unless another worker is doing so. Returns whether anything arrived.
bool AsyncStepping::poll(bool is_idle) {
    bool any = false;
    do {
        const std::unique_lock lock(ranks_mutex_, std::try_to_lock);
        if (!lock) break;
        any = ranks_->poll(*this, is_idle) || any;
        ranks_->note_progress(is_idle ? earliest() : step());
        raise_lead();
        agree_on_end();
        // Handles messages that another worker left because the lock was taken.
    } while (is_idle && ranks_->has_more());
    return any;
}

/// Called by an idle worker. The other idle workers may sleep until it finds work for them.
void AsyncStepping::poll_while_idle() {
    if (poll(true)) {
        backoff_.reset();
    } else {
        backoff_.wait(team_.is_crowded());
    }
}

/// Raises the limit of the lead when the shards of all processes have advanced.
void AsyncStepping::raise_lead() {
    const Step reached = ranks_->reached_by_all();
    if (reached == followed_) return;
    followed_ = reached;
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began_;
    const double lead = static_cast<double>(reached - before_) / seconds.count() * lead_seconds;
    const Step last = reached + static_cast<Step>(std::clamp(lead, double{least_lead}, double{most_lead}));
    if (last <= lead_.load()) return;
    lead_.store(last);
    for (std::uint32_t index = 0; waiting_.load() > 0 && index < groups_.size(); ++index) notify(index);
}

/// The step that all shards of this process have reached.
Step AsyncStepping::earliest() const {
    Step least = unbounded;
    for (const auto& group : groups_) least = std::min(least, group->now());
    return least;
}

/// Agrees with the other processes on the end of the run; see comm::RunAgreement.
void AsyncStepping::agree_on_end() {
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

/// Whether all shards have reached the end, and all their input from other processes has arrived.
bool AsyncStepping::has_all() const {
    if (left_.load() > 0) return false;
    const Step last = target_.load();
    return std::ranges::all_of(remote_clocks_, [last](Step clock) { return clock >= last; });
}

/// Called rarely, since it visits all shards.
void AsyncStepping::note_progress() {
    const std::uint64_t visited = visited_.fetch_add(1, std::memory_order_relaxed) + 1;
    if (visited % groups_.size() != 0) return;
    step_.store(earliest(), std::memory_order_relaxed);
}

/// As after an epoch: all spikes have been passed to all tables, and the outbox is empty.
void AsyncStepping::finish(std::uint32_t worker, std::uint32_t index, WorkerTimes& times, LapTimer& timer) {
    Group& group = *groups_[index];
    const Step last = target_.load();
    WorkTrace& trace = traces_[worker];
    const std::uint64_t events = group.shard.synapses().events();
    if (trace.is_on()) {
        trace.begin({.begin = timer.last(), .last = -1, .shard = index, .kind = WorkKind::finish}, times);
    }
    read_logs(worker, index, std::numeric_limits<Step>::max());
    group.inbox.hand_over_all(last);
    group.shard.outboxes().begin_epoch(++group.visits, last + 1);
    times.deliver += timer.lap();
    if (!trace.is_on()) return;
    trace.present().events = group.shard.synapses().events() - events;
    trace.end(times);
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
