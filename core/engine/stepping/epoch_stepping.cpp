#include "engine/stepping/epoch_stepping.hpp"

#include <algorithm>
#include <array>
#include <thread>
#include <utility>

#include "parallel/processors.hpp"
#include "ranvier/parallel/pause.hpp"

namespace ranvier::engine {

class EpochStepping::Parts {
   public:
    static constexpr bool exists = true;

    Parts(EpochStepping& stepping, std::uint32_t worker, WorkerTimes& times, LapTimer& timer)
        : stepping_(stepping), worker_(worker), times_(times), timer_(timer) {}

    /// Adds the parts of the worker's shards that nobody has claimed.
    void finish(std::uint32_t round) const {
        if (!stepping_.leaves_parts_) return;
        stepping_.given_.team.for_assigned_items(
            worker_, static_cast<std::uint32_t>(stepping_.given_.shards.size()), [&](std::uint32_t shard) {
                while (stepping_.add_parts(worker_, shard, round, times_, timer_)) {
                }
            });
    }

    /// Adds some parts of the shard with most of them, of the preferred victims that have any.
    bool help(std::uint32_t round) const {
        if (!stepping_.leaves_parts_) return false;
        const parallel::Victims& victims = stepping_.victims_[worker_];
        std::size_t victim = 0;
        for (const std::size_t end : victims.ends) {
            std::uint32_t shard = 0;
            std::uint32_t most = 0;
            for (; victim < end; ++victim) {
                stepping_.given_.team.for_assigned_items(
                    victims.workers[victim], static_cast<std::uint32_t>(stepping_.given_.shards.size()),
                    [&](std::uint32_t other) {
                        const std::uint32_t left = stepping_.parts_.unclaimed(other);
                        if (left <= most) return;
                        most = left;
                        shard = other;
                    });
            }
            if (most == 0 || !stepping_.add_parts(worker_, shard, round, times_, timer_)) continue;
            ++stepping_.workers_[worker_].parts_taken;
            return true;
        }
        return false;
    }

   private:
    EpochStepping& stepping_;
    std::uint32_t worker_;
    WorkerTimes& times_;
    LapTimer& timer_;
};

EpochStepping::EpochStepping(const EpochSteppingArguments& arguments)
    : given_(arguments), parts_(arguments.shards.size()), workers_(arguments.team.size()) {
    const std::span<const parallel::Place> places = arguments.team.places();
    for (std::uint32_t worker = 0; worker < places.size(); ++worker) {
        victims_.push_back(parallel::list_victims(places, worker, arguments.part_stealing, arguments.team.distances()));
    }
}

void EpochStepping::set_traffic(std::unique_ptr<SpikeTraffic> traffic, Step epoch_steps) {
    spikes_.reset();
    records_of_traffic_ = std::make_unique<parallel::RoundRecords>(static_cast<std::uint32_t>(given_.shards.size()));
    traffic_ = std::move(traffic);
    epoch_steps_ = epoch_steps;
}

void EpochStepping::set_records(std::unique_ptr<SpikeRecords> spikes, Step epoch_steps) {
    traffic_.reset();
    records_of_traffic_.reset();
    spikes_ = std::move(spikes);
    epoch_steps_ = epoch_steps;
}

std::string_view EpochStepping::method() const {
    if (traffic_) return traffic_->exchange().name();
    return records().is_shared() ? "shared_memory" : "none";
}

comm::ExchangeCounts EpochStepping::counts() const {
    if (traffic_) return traffic_->exchange().counts();
    return records().is_shared() ? spikes_->counts() : comm::ExchangeCounts{};
}

void EpochStepping::begin(Step first, Step last) {
    last_ = last;
    was_stopped_ = false;
    step_.store(first - 1, std::memory_order_relaxed);
    Plan plan{.round = records().next_round(), .present = {.number = epoch_, .earliest = first, .begin = first}};
    begin_epoch(plan, last);
    for (WorkerState& worker : workers_) worker.plan = plan;
    leaves_parts_ =
        given_.part_stealing != parallel::StealingPolicy::none && spikes_ != nullptr && epoch_steps_ == 1 && !replays_;
    epoch_timer_.lap();
    given_.team.prepare_rounds(records());
}

void EpochStepping::run(std::uint32_t worker, WorkerTimes& times) {
    LapTimer timer;
    if (given_.traces_epochs) workers_[worker].until_last = share_of(times);
    given_.team.rounds(
        worker, [&](std::uint32_t shard, std::uint32_t round) { return run_item(worker, shard, round, times, timer); },
        Parts(*this, worker, times, timer));
    times.wait += timer.lap();
}

std::uint64_t EpochStepping::parts_taken() const {
    std::uint64_t taken = 0;
    for (const WorkerState& worker : workers_) taken += worker.parts_taken;
    return taken;
}

void EpochStepping::reset_counts() {
    ends_.clear();
    for (WorkerState& worker : workers_) {
        worker.shares.clear();
        worker.events = 0;
        worker.spikes = 0;
        worker.parts_taken = 0;
    }
    if (traffic_) traffic_->exchange().reset_counts();
    if (spikes_) spikes_->reset_counts();
}

/// Epochs end at multiples of their length.
void EpochStepping::begin_epoch(Plan& plan, Step last) const {
    Epoch& present = plan.present;
    present.end = std::min(last, (present.begin + epoch_steps_ - 1) / epoch_steps_ * epoch_steps_);
    plan.kind = WorkKind::update;
    plan.first_transfer = true;
}

std::uint32_t EpochStepping::run_item(std::uint32_t worker, std::uint32_t shard, std::uint32_t round,
                                      WorkerTimes& times, LapTimer& timer) {
    if (leaves_parts_) complete_parts(worker, shard, round, times, timer);
    times.wait += timer.lap();
    WorkerState& state = workers_[worker];
    Plan& plan = state.plan;
    if (plan.round != round) {
        // A worker whose items others have taken over may have skipped rounds.
        if (plan.round + 1 != round) plan = plans_[(round - 1) % 2];
        follow(plan);
        if (given_.traces_epochs) trace_share(state, times);
    }
    if (shard == 0) {
        plans_[round % 2] = plan;
        step_.store(plan.present.begin - 1, std::memory_order_relaxed);
        if (given_.traces_epochs) trace_end(plan);
    }
    WorkTrace& trace = given_.traces[worker];
    // A replay repeats steps that were taken before.
    const bool traces = trace.is_on() && !replays_;
    if (!traces && !given_.traces_epochs) return work(worker, shard, times, timer);
    const ShardSynapses& synapses = given_.shards[shard]->synapses();
    const std::uint64_t events = synapses.events();
    const bool updates = plan.kind == WorkKind::update;
    if (!traces) {
        const std::uint32_t note = work(worker, shard, times, timer);
        state.count_work(synapses.events() - events, updates ? given_.shards[shard]->outboxes().present().size() : 0);
        return note;
    }
    trace.begin({.begin = timer.last(),
                 .first = updates ? plan.present.begin : 0,
                 .last = updates ? plan.present.end : -1,
                 .round = plan.round,
                 .shard = shard,
                 .kind = plan.kind},
                times);
    const std::uint32_t note = work(worker, shard, times, timer);
    trace.present().events = synapses.events() - events;
    state.count_work(synapses.events() - events, updates ? given_.shards[shard]->outboxes().present().size() : 0);
    trace.end(times);
    return note;
}

bool EpochStepping::add_parts(std::uint32_t worker, std::uint32_t shard, std::uint32_t round, WorkerTimes& times,
                              LapTimer& timer) {
    const PartsLeft::Claim claim = parts_.claim(shard);
    if (claim.is_empty()) return false;
    times.wait += timer.lap();
    WorkTrace& trace = given_.traces[worker];
    if (trace.is_on()) {
        trace.begin(
            {.begin = timer.last(), .first = 0, .last = -1, .round = round, .shard = shard, .kind = WorkKind::parts},
            times);
    }
    given_.shards[shard]->synapses().add_parts(claim.begin, claim.end);
    parts_.confirm(shard, claim);
    times.deliver += timer.lap();
    if (trace.is_on()) trace.end(times);
    return true;
}

void EpochStepping::complete_parts(std::uint32_t worker, std::uint32_t shard, std::uint32_t round, WorkerTimes& times,
                                   LapTimer& timer) {
    // Some others are being added by workers that help. One that is interrupted meanwhile needs a processor.
    constexpr std::uint32_t polls_before_yielding = 10'000;
    while (add_parts(worker, shard, round, times, timer)) {
    }
    for (std::uint32_t polls = 0; !parts_.are_added(shard); ++polls) {
        if (polls < polls_before_yielding) {
            parallel::pause();
        } else {
            std::this_thread::yield();
        }
    }
}

/// Does what the plan says for a shard, and returns the note of its record.
std::uint32_t EpochStepping::work(std::uint32_t worker, std::uint32_t shard, WorkerTimes& times, LapTimer& timer) {
    const Plan& plan = workers_[worker].plan;
    switch (plan.kind) {
        case WorkKind::update:
            if (plan.past.end > 0) deliver(worker, shard, times, timer);
            return update_shard(shard, plan, times, timer);
        case WorkKind::collocate:
            traffic_->collocate(shard, plan.present, plan.first_transfer);
            times.collocate += timer.lap();
            break;
        case WorkKind::transfer:
            if (shard == 0) traffic_->transfer(plan.ends, plan.first_transfer, times, timer);
            break;
        case WorkKind::collect: {
            std::uint32_t note = 0;
            if (traffic_) {
                traffic_->collect(shard, plan.present);
            } else {
                spikes_->read(shard, plan.round - 1);
                note = spikes_->write_more(shard, plan.round, given_.shards[shard]->outboxes().present());
            }
            times.deliver += timer.lap();
            return note;
        }
        case WorkKind::renew:
            if (shard == 0) traffic_->exchange().next_round();
            times.communicate += timer.lap();
            break;
        case WorkKind::finish:
            deliver(worker, shard, times, timer);
            given_.shards[shard]->outboxes().begin_epoch(plan.present.number, plan.present.begin);
            times.deliver += timer.lap();
            if (shard == 0) {
                epoch_ = plan.present.number;
                was_stopped_ = plan.stops;
            }
            return parallel::RoundRecords::last;
        case WorkKind::parts:
        case WorkKind::visit:
            break;
    }
    return 0;
}

/// Passes the spikes of the last epoch to the tables of a shard.
void EpochStepping::deliver(std::uint32_t worker, std::uint32_t shard, WorkerTimes& times, LapTimer& timer) {
    const Plan& plan = workers_[worker].plan;
    if (traffic_) {
        traffic_->deliver(shard, plan.past);
        return;
    }
    spikes_->read(shard, plan.round - 1);
    if (given_.traces[worker].is_on()) {
        const double seconds = timer.lap();
        times.deliver += seconds;
        given_.traces[worker].present().read = static_cast<float>(seconds);
    }
    if (leaves_parts_ && plan.kind == WorkKind::update) {
        const std::uint32_t parts = spikes_->deliver_first_parts(shard, plan.past);
        if (parts > 0) parts_.open(shard, parts);
    } else {
        spikes_->deliver(shard, plan.past);
    }
}

/// Updates a shard to the end of the present epoch, and returns the note of its record. The first shard also
/// communicates with the other processes. Reading the clock takes as long as updating some dozen neurons, so it is read
/// only after work was done.
std::uint32_t EpochStepping::update_shard(std::uint32_t index, const Plan& plan, WorkerTimes& times, LapTimer& timer) {
    const Epoch& present = plan.present;
    Shard& shard = *given_.shards[index];
    shard.outboxes().begin_epoch(present.number, present.begin);
    shard.begin_visit();
    const bool exchanges = index == 0 && traffic_ != nullptr;
    if (exchanges) {
        times.deliver += timer.lap();
        traffic_->begin(present.begin);
        times.communicate += timer.lap();
    }
    const Outboxes::Box& outbox = shard.outboxes().present();
    for (Step now = present.begin, last = 0; now <= present.end; now = last + 1) {
        if (replays_) {
            last = now;
            shard.replay(now);
            times.deliver += timer.lap();
            if (exchanges) traffic_->advance(outbox);
            continue;
        }
        last = shard.stretch_end(now, present.end);
        shard.begin_step(now);
        times.deliver += timer.lap();
        const double record_seconds = shard.advance(now, last);
        times.update += timer.lap() - record_seconds;
        times.record += record_seconds;
        if (!exchanges) continue;
        traffic_->advance(outbox);
        times.collocate += timer.lap();
    }
    shard.recorders().publish_bytes();
    std::uint32_t note = shard.groups().has_failed() ? has_failed : 0;
    if (spikes_) note |= spikes_->write(index, plan.round, outbox);
    if (index == 0) note |= stops(plan);
    if (exchanges) times.communicate += timer.lap();
    return note;
}

void EpochStepping::follow(Plan& plan) const {
    std::uint32_t notes = 0;
    for (std::uint32_t item = 0; item < records().items(); ++item) notes |= records().note(item, plan.round);
    switch (plan.kind) {
        case WorkKind::update:
            plan.stops = (notes & must_stop) != 0;
            plan.has_failure = plan.has_failure || (notes & has_failed) != 0;
            plan.ends =
                plan.stops || plan.present.end == last_ || (sees_all() ? plan.has_failure : (notes & all_failed) != 0);
            if (traffic_) {
                plan.kind = WorkKind::collocate;
            } else if ((notes & SpikeRecords::has_more) != 0) {
                plan.kind = WorkKind::collect;
            } else {
                end_epoch(plan);
            }
            break;
        case WorkKind::collocate:
            plan.kind = WorkKind::transfer;
            break;
        case WorkKind::transfer:
            plan.kind = WorkKind::collect;
            break;
        case WorkKind::collect:
            if (traffic_ && traffic_->exchange().more()) {
                plan.kind = WorkKind::renew;
            } else if ((notes & SpikeRecords::has_more) == 0) {
                end_epoch(plan);
            }
            break;
        case WorkKind::renew:
            plan.first_transfer = false;
            plan.kind = WorkKind::collocate;
            break;
        case WorkKind::finish:
        case WorkKind::parts:
        case WorkKind::visit:
            break;
    }
    ++plan.round;
}

/// Called when the spikes of the present epoch have arrived.
void EpochStepping::end_epoch(Plan& plan) const {
    plan.past = plan.present;
    plan.present = {.number = plan.past.number + 1, .earliest = plan.past.begin, .begin = plan.past.end + 1};
    if (plan.ends) {
        plan.kind = WorkKind::finish;
    } else {
        begin_epoch(plan, last_);
    }
}

/// Whether the run ends after this epoch, as bits of a note. Processes decide together, and only every few epochs. At
/// the same time they agree how to wait, and where: a process that polls for messages takes the processor from the
/// others if another program competes for it.
std::uint32_t EpochStepping::stops(const Plan& plan) {
    if (sees_all()) return given_.team.stop_requested() ? must_stop : 0;
    constexpr std::uint64_t epochs_between = 16;
    if (plan.present.number % epochs_between != 0) return 0;
    const bool leads = given_.may_gather && given_.communicator.rank() == Rank{0};
    std::array<std::uint64_t, 5> wishes{
        given_.team.stop_requested() ? 1u : 0u,
        given_.team.is_crowded() ? 1u : 0u,
        given_.team.was_crowded_lately() ? 1u : 0u,
        leads ? static_cast<std::uint64_t>(parallel::current_processor() + 1) : 0u,
        plan.has_failure ? 1u : 0u,
    };
    given_.communicator.reduce(wishes, comm::Reduction::greatest);
    const auto [stop, is_crowded, was_crowded_lately, processor, fails] = wishes;
    // While processors are tried again, the other program may still be running.
    given_.communicator.yield_processors(was_crowded_lately != 0);
    if (given_.may_gather) given_.team.gather(is_crowded != 0 ? static_cast<int>(processor) - 1 : -1);
    return (stop != 0 ? must_stop : 0) | (fails != 0 ? all_failed : 0);
}

EpochStepping::EpochShare EpochStepping::share_of(const WorkerTimes& times) {
    return {.compute = times.update + times.deliver + times.record + times.collocate, .exchange = times.communicate};
}

/// Records the times of a worker since the last epoch.
void EpochStepping::trace_share(WorkerState& state, const WorkerTimes& times) {
    const Plan& plan = state.plan;
    if (plan.kind != WorkKind::update && plan.kind != WorkKind::finish) return;
    const EpochShare sum = share_of(times);
    state.shares.push_back({.epoch = plan.past.number,
                            .compute = sum.compute - state.until_last.compute,
                            .exchange = sum.exchange - state.until_last.exchange,
                            .spikes = std::exchange(state.spikes, 0),
                            .events = std::exchange(state.events, 0)});
    state.until_last = sum;
}

void EpochStepping::trace_end(const Plan& plan) {
    if ((plan.kind != WorkKind::update && plan.kind != WorkKind::finish) || plan.past.end == 0) return;
    ends_.push_back({.epoch = plan.past.number, .seconds = epoch_timer_.lap(), .counts = counts()});
}

std::vector<EpochTimes> EpochStepping::epoch_times() const {
    std::vector<EpochTimes> epochs;
    std::vector<std::size_t> next(workers_.size(), 0);
    comm::ExchangeCounts before;
    for (const EpochEnd& end : ends_) {
        EpochTimes times{.spikes_received = end.counts.spikes_received - before.spikes_received,
                         .spikes_sent = end.counts.spikes_sent - before.spikes_sent,
                         .messages = end.counts.messages - before.messages,
                         .failed_checks = end.counts.failed_checks - before.failed_checks};
        before = end.counts;
        for (std::size_t worker = 0; worker < workers_.size(); ++worker) {
            const std::vector<EpochShare>& shares = workers_[worker].shares;
            for (std::size_t& i = next[worker]; i < shares.size() && shares[i].epoch <= end.epoch; ++i) {
                times.compute += shares[i].compute / static_cast<double>(workers_.size());
                times.exchange += shares[i].exchange;
                times.spikes += shares[i].spikes;
                times.events += shares[i].events;
            }
        }
        times.wait = std::max(0.0, end.seconds - times.compute - times.exchange);
        epochs.push_back(times);
    }
    return epochs;
}

}  // namespace ranvier::engine
