#include "engine/stepping/epoch_stepping.hpp"

#include <algorithm>
#include <array>

#include "parallel/processors.hpp"

namespace ranvier::engine {

void EpochStepping::begin(Step first, Step last) {
    progress_ = Progress{};
    progress_.present = {.number = epoch_, .earliest = first, .begin = first};
    progress_.last = last;
    step_.store(first - 1, std::memory_order_relaxed);
    if (given_.traces_epochs) trace_epoch();
    begin_epoch();
}

void EpochStepping::run(std::uint32_t worker, WorkerTimes& times) {
    LapTimer timer;
    given_.team.rounds(
        worker, static_cast<std::uint32_t>(given_.shards.size()),
        [&](std::uint32_t shard) { run_item(shard, times, timer); }, [&] { return begin_next_round(times, timer); });
    times.wait += timer.lap();
}

void EpochStepping::reset_counts() {
    epoch_times_.clear();
    if (traffic_->exchange() != nullptr) traffic_->exchange()->reset_counts();
}

/// Epochs end at multiples of their length.
void EpochStepping::begin_epoch() {
    Epoch& present = progress_.present;
    present.end = std::min(progress_.last, (present.begin + epoch_steps_ - 1) / epoch_steps_ * epoch_steps_);
    progress_.kind = RoundKind::update;
}

void EpochStepping::run_item(std::uint32_t shard, WorkerTimes& times, LapTimer& timer) {
    times.wait += timer.lap();
    const Epoch& present = progress_.present;
    switch (progress_.kind) {
        case RoundKind::update:
            if (progress_.past.end > 0) traffic_->deliver(shard, progress_.past);
            update_shard(shard, times, timer);
            break;
        case RoundKind::collocate:
            traffic_->collocate(shard, present, progress_.first_transfer);
            times.collocate += timer.lap();
            break;
        case RoundKind::collect:
            traffic_->collect(shard, present);
            times.deliver += timer.lap();
            break;
        case RoundKind::finish:
            traffic_->deliver(shard, progress_.past);
            given_.shards[shard]->outboxes().begin_epoch(present.number, present.begin);
            times.deliver += timer.lap();
            break;
    }
}

/// Updates a shard to the end of the present epoch. The worker of the first shard also communicates with the other
/// processes. Reading the clock takes as long as updating some dozen neurons, so it is read only after work was done.
void EpochStepping::update_shard(std::uint32_t index, WorkerTimes& times, LapTimer& timer) {
    const Epoch& present = progress_.present;
    Shard& shard = *given_.shards[index];
    shard.outboxes().begin_epoch(present.number, present.begin);
    shard.begin_visit();
    const bool exchanges = index == 0 && traffic_->exchange() != nullptr;
    if (exchanges) {
        times.deliver += timer.lap();
        traffic_->begin(present.begin);
        times.communicate += timer.lap();
    }
    for (Step now = present.begin, last = 0; now <= present.end; now = last + 1) {
        if (replays_) {
            last = now;
            shard.replay(now);
            times.deliver += timer.lap();
            if (index == 0) traffic_->advance(shard.outboxes().of_epoch(present.number));
            continue;
        }
        last = shard.stretch_end(now, present.end);
        shard.begin_step(now);
        times.deliver += timer.lap();
        const double record_seconds = shard.advance(now, last);
        times.update += timer.lap() - record_seconds;
        times.record += record_seconds;
        if (!exchanges) continue;
        traffic_->advance(shard.outboxes().of_epoch(present.number));
        times.collocate += timer.lap();
    }
    shard.recorders().publish_bytes();
    if (index != 0) return;
    progress_.stops = stops(present.number);
    if (exchanges) times.communicate += timer.lap();
}

/// Called between two rounds. Returns whether there is another one.
bool EpochStepping::begin_next_round(WorkerTimes& times, LapTimer& timer) {
    switch (progress_.kind) {
        case RoundKind::update:
            note_failures();
            progress_.ends = progress_.stops || progress_.fails || progress_.present.end == progress_.last;
            progress_.first_transfer = true;
            if (traffic_->exchange() == nullptr) return end_epoch();
            progress_.kind = RoundKind::collocate;
            return true;
        case RoundKind::collocate:
            traffic_->transfer(progress_.ends, progress_.first_transfer, times, timer);
            progress_.kind = RoundKind::collect;
            return true;
        case RoundKind::collect:
            if (!traffic_->exchange()->more()) return end_epoch();
            traffic_->exchange()->next_round();
            times.communicate += timer.lap();
            progress_.first_transfer = false;
            progress_.kind = RoundKind::collocate;
            return true;
        case RoundKind::finish:
            epoch_ = progress_.present.number;
            break;
    }
    return false;
}

/// A run ends early if a neuron has failed; processes agree on it, see stops().
void EpochStepping::note_failures() {
    progress_.fails_here = progress_.fails_here || std::ranges::any_of(given_.shards, [](const auto& shard) {
                               return shard->groups().has_failed();
                           });
    if (is_alone()) progress_.fails = progress_.fails_here;
}

/// Called when the spikes of the present epoch have been delivered.
bool EpochStepping::end_epoch() {
    step_.store(progress_.present.end, std::memory_order_relaxed);
    if (given_.traces_epochs) trace_epoch();
    progress_.past = progress_.present;
    const Epoch& past = progress_.past;
    progress_.present = {.number = past.number + 1, .earliest = past.begin, .begin = past.end + 1};
    if (progress_.ends) {
        progress_.kind = RoundKind::finish;
    } else {
        begin_epoch();
    }
    return true;
}

/// Whether the run ends after this epoch. Processes decide together, and only every few epochs. At the same time they
/// agree how to wait, and where: a process that polls for messages takes the processor from the others if another
/// program competes for it.
bool EpochStepping::stops(std::uint64_t epoch_number) {
    if (is_alone()) return given_.team.stop_requested();
    constexpr std::uint64_t epochs_between = 16;
    if (epoch_number % epochs_between != 0) return false;
    const bool leads = given_.may_gather && given_.communicator.rank() == Rank{0};
    std::array<std::uint64_t, 5> wishes{
        given_.team.stop_requested() ? 1u : 0u,
        given_.team.is_crowded() ? 1u : 0u,
        given_.team.was_crowded_lately() ? 1u : 0u,
        leads ? static_cast<std::uint64_t>(parallel::current_processor() + 1) : 0u,
        progress_.fails_here ? 1u : 0u,
    };
    given_.communicator.reduce(wishes, comm::Reduction::greatest);
    const auto [stop, is_crowded, was_crowded_lately, processor, fails] = wishes;
    progress_.fails = fails != 0;
    // While processors are tried again, the other program may still be running.
    given_.communicator.yield_processors(was_crowded_lately != 0);
    if (given_.may_gather) given_.team.gather(is_crowded != 0 ? static_cast<int>(processor) - 1 : -1);
    return stop != 0;
}

/// Records the times since the last epoch; at the start of a run, only the reference values.
void EpochStepping::trace_epoch() {
    EpochTimes sum;
    for (const WorkerTimes& times : given_.worker_times) {
        sum.compute += times.update + times.deliver + times.record + times.collocate;
        sum.exchange += times.communicate;
    }
    sum.compute /= static_cast<double>(given_.worker_times.size());
    const comm::SpikeExchange* const exchange = traffic_->exchange();
    sum.spikes_received = exchange == nullptr ? 0 : exchange->counts().spikes_received;
    const EpochTimes& until_last = progress_.traced;
    const double seconds = progress_.epoch_timer.lap();
    if (progress_.present.end > 0) {
        EpochTimes times{.compute = sum.compute - until_last.compute,
                         .wait = 0.0,
                         .exchange = sum.exchange - until_last.exchange,
                         .spikes_received = sum.spikes_received - until_last.spikes_received};
        times.wait = std::max(0.0, seconds - times.compute - times.exchange);
        epoch_times_.push_back(times);
    }
    progress_.traced = sum;
}

}  // namespace ranvier::engine
