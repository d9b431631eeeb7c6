#include <algorithm>
#include <array>
#include <exception>
#include <optional>
#include <utility>

#include "base/errors.hpp"
#include "base/step_times.hpp"
#include "engine/agreement.hpp"
#include "engine/simulation/simulation_implementation.hpp"
#include "network/network_checks.hpp"
#include "parallel/processors.hpp"

namespace ranvier::engine {

/// Runs a job on the team in which processes meet. If one of them throws on the way, the others would wait for it for
/// ever: so this ends the run of all. Where there are no others, nothing can go on from where workers have left off.
void Simulation::Implementation::run_together(const std::function<void(std::uint32_t)>& job, const Poll& poll) {
    std::exception_ptr interruption;
    try {
        team->run(job, [&] {
            if (!poll || interruption) return;
            try {
                poll();
            } catch (...) {
                interruption = std::current_exception();
                throw;
            }
        });
    } catch (...) {
        const std::exception_ptr failure = std::current_exception();
        // The processes have stopped together, or this one had done all that was asked for.
        if (failure == interruption) throw;
        if (!is_alone()) end_all(*communicator, failure);
        has_failed = true;
        throw;
    }
}

void Simulation::Implementation::check_whole() const {
    if (!has_failed) return;
    throw StateError({.object = "simulation",
                      .value = {},
                      .bound = "an earlier run failed, and its shards have stopped at different steps",
                      .remedy = "build it again, or load a saved state"});
}

void Simulation::Implementation::run_for_shards(const std::function<void(std::uint32_t)>& job, const Poll& poll) {
    run_together([&](std::uint32_t worker) { team->for_own_items(worker, shard_count(), job); }, poll);
}

void Simulation::Implementation::run_asynchronously(Step first, Step last, const Poll& poll) {
    async->begin(first, last);
    const auto note_end = [&] {
        step.store(has_failed ? std::max(first - 1, async->step()) : async->reached(), std::memory_order_relaxed);
        progress.stops = async->was_stopped();
        ++epoch;
    };
    const Poll poll_with_step = [&] {
        step.store(std::max(first - 1, async->step()), std::memory_order_relaxed);
        if (poll) poll();
    };
    try {
        run_together([&](std::uint32_t worker) { async->run(worker, epoch + 1, worker_times[worker]); },
                     poll ? poll_with_step : Poll{});
    } catch (...) {
        note_end();
        throw;
    }
    note_end();
}

/// All workers go through rounds, in each of which the same is done for every shard. Between two of them, one worker does
/// what has to be done once: it talks to the other processes and decides what comes next.
///
/// Without an exchange there is one round an epoch: outboxes alternate, so that the spikes of the last epoch are read while
/// those of the present one are written.
void Simulation::Implementation::run(Step steps, const Poll& poll) {
    if (steps <= 0) return;
    check_whole();
    const Step first = step.load(std::memory_order_relaxed) + 1;
    constexpr Step most_steps = std::int64_t{1} << 60;
    if (steps > most_steps - first) {
        throw ValueOutOfBoundsError({.object = "steps to run",
                                     .value = std::to_string(steps),
                                     .bound = "a simulation has at most 2^60 steps",
                                     .remedy = "run for a shorter time"});
    }
    LapTimer run_timer;
    const auto finish = [&] { phases.simulation += run_timer.lap(); };
    progress = RunProgress{};
    progress.present = {.number = epoch, .earliest = first, .begin = first};
    progress.last = first + steps - 1;
    std::exception_ptr interruption;
    const bool is_async = async && !replays;
    try {
        if (is_async) {
            run_asynchronously(first, progress.last, poll);
        } else {
            run_epochs(poll);
        }
    } catch (...) {
        // An interruption may come when the processes have done already all that was asked for: then the others agree below.
        if (is_alone() || (progress.stops && (!is_async || has_failed))) {
            finish();
            throw;
        }
        interruption = std::current_exception();
    }
    finish();
    // Where processes stopped together, those who were interrupted are not here; but with asynchronous stepping, where a neuron
    // that has failed is a reason to stop, too, and nobody knows whose reason it was.
    if (!progress.stops || is_async) {
        agree(*communicator, "run", [&] {
            check_finite();
            check_growth();
            check_rows();
        });
    }
    if (interruption) std::rethrow_exception(interruption);
    if (progress.stops && !is_alone()) {
        throw RemoteError({.object = "run",
                           .value = "",
                           .bound = "another rank was interrupted after step " + std::to_string(step.load()),
                           .remedy = "continue it on all ranks"});
    }
}

void Simulation::Implementation::run_epochs(const Poll& poll) {
    if (options.trace_epochs) trace_epoch();
    begin_epoch();
    run_together(
        [&](std::uint32_t worker) {
            WorkerTimes& times = worker_times[worker];
            LapTimer timer;
            team->rounds(
                worker, shard_count(), [&](std::uint32_t shard) { run_item(shard, times, timer); },
                [&] { return begin_next_round(times, timer); });
            times.wait += timer.lap();
        },
        poll);
}

void Simulation::Implementation::replay(Step now, Step steps) {
    const bool has_exchange = !async || is_alone();
    step.store(now - steps);
    replays = true;
    if (!has_exchange) traffic = make_epoch_traffic();
    run(steps, {});
    if (!has_exchange) traffic = std::make_unique<SpikeTraffic>(shards);
    replays = false;
    step.store(now);
}

/// Weights of some models have no bound, but sums of inputs have.
void Simulation::Implementation::check_growth() const {
    for (const auto& shard : shards) {
        for (std::uint32_t kind = 0; kind < weight_bounds.size(); ++kind) {
            const connect::LearningSynapses* const learning = shard->synapses().learning(connect::KindIndex{kind});
            if (learning == nullptr || learning->greatest_added() <= weight_bounds[kind]) continue;
            std::string name;
            for (const connect::ProjectionPlan& plan : lowered.plans()) {
                if (plan.feeds(connect::KindIndex{kind})) name = network.projections()[plan.id.value].name;
            }
            throw ValueOutOfBoundsError(
                {.object = "weight of projection " + network::quoted(name),
                 .value = to_text(learning->greatest_added()),
                 .bound =
                     "it has grown beyond " + to_text(weight_bounds[kind]) + ", and sums of such weights are not exact",
                 .remedy = "give connect() the weight_bound that is needed, or change how the synapses learn"});
        }
    }
}

/// Variables that synapses of equations share may grow without bound, since what is released of the weight is bounded.
void Simulation::Implementation::check_rows() const {
    std::optional<connect::RowFailure> first;
    connect::KindIndex first_kind;
    NeuronId first_source;
    for (const auto& shard : shards) {
        for (std::uint32_t kind = 0; kind < weight_bounds.size(); ++kind) {
            const connect::StoredSynapses* const synapses = shard->synapses().stored(connect::KindIndex{kind});
            const connect::RowState* const state = synapses == nullptr ? nullptr : synapses->row_state();
            const auto failure = state == nullptr ? std::nullopt : state->failure();
            if (!failure) continue;
            const connect::SynapseTable& table = *shard->synapses().table(connect::KindIndex{kind});
            const NeuronId source = table.has_sources() ? table.source(failure->row) : NeuronId{0};
            const auto place = std::tuple(failure->step, kind, source);
            if (first && std::tuple(first->step, first_kind.value, first_source) <= place) continue;
            first = failure;
            first_kind = connect::KindIndex{kind};
            first_source = source;
        }
    }
    if (!first) return;
    throw StateError({.object = "variable " + std::string(first->variable) + " of " +
                                std::string(lowered.synapse(first_kind).model->name),
                      .value = to_text(first->value),
                      .bound = "it must stay finite, and was not after the spike of a source at " +
                               to_text(StepTimes(network.resolution())(first->step)) + " ms",
                      .remedy = "bound it where on_pre assigns it, as by clip(..., 0, 1)"});
}

/// Parameters, weights and currents have bounds, but no check of each of them can rule out that together they lead beyond
/// what numbers hold. A neuron whose potential is NaN would never fire again.
void Simulation::Implementation::check_finite() const {
    std::optional<FirstFailure> first;
    for (const auto& shard : shards) {
        for (const ShardGroup& group : shard->groups()) {
            if (!group.neurons) continue;
            auto failure = group.neurons->failure();
            if (!failure) continue;
            const Step after = failure->step ? *failure->step * group.stride : step.load();
            const NeuronId neuron = shard->layout().share(group.population).ids[failure->neuron];
            if (first && std::pair(first->step, first->neuron) <= std::pair(after, neuron)) continue;
            first = FirstFailure{std::move(*failure), after, neuron, group.population};
        }
    }
    if (first) tell(*first);
}

void Simulation::Implementation::tell(const FirstFailure& first) const {
    const auto& population = network.population(first.population);
    const models::GroupFailure& failure = first.failure;
    const bool is_double =
        population.model->needs_double_precision || options.precision == models::Precision::double_precision;
    ErrorFields fields{.object = "state of population " + network::quoted(population.name),
                       .value = failure.value,
                       .bound = failure.what + " by step " + std::to_string(first.step),
                       .remedy = "check the units of weights, currents and parameters, or " +
                                 std::string(is_double ? "take shorter steps" : "use double precision")};
    if (!failure.remedy.empty()) fields.remedy = failure.remedy;
    if (failure.step) {
        fields.object = failure.variable + " of neuron " + std::to_string(first.neuron.value - population.first.value) +
                        " of population " + network::quoted(population.name);
        if (!failure.place.empty()) fields.object += " at " + failure.place;
        fields.bound = failure.what + ", at " + to_text(StepTimes(network.resolution())(first.step)) + " ms";
        fields.remedy = "check the units of weights, currents and parameters, or take shorter steps";
    }
    throw StateError(std::move(fields));
}

/// Epochs end at multiples of their length.
void Simulation::Implementation::begin_epoch() {
    Epoch& present = progress.present;
    present.end = std::min(progress.last, (present.begin + epoch_steps - 1) / epoch_steps * epoch_steps);
    progress.kind = RoundKind::update;
}

void Simulation::Implementation::run_item(std::uint32_t shard, WorkerTimes& times, LapTimer& timer) {
    times.wait += timer.lap();
    const Epoch& present = progress.present;
    switch (progress.kind) {
        case RoundKind::update:
            if (progress.past.end > 0) traffic->deliver(shard, progress.past);
            update_shard(shard, times, timer);
            break;
        case RoundKind::collocate:
            traffic->collocate(shard, present, progress.first_transfer);
            times.collocate += timer.lap();
            break;
        case RoundKind::collect:
            traffic->collect(shard, present);
            times.deliver += timer.lap();
            break;
        case RoundKind::finish:
            traffic->deliver(shard, progress.past);
            shards[shard]->outboxes().begin_epoch(present.number, present.begin);
            times.deliver += timer.lap();
            break;
    }
}

/// Updates a shard to the end of the present epoch. The worker that does so for the first one also talks to the other
/// processes. Reading the clock takes as long as updating some dozen neurons, so it is read only where something has been
/// done.
void Simulation::Implementation::update_shard(std::uint32_t index, WorkerTimes& times, LapTimer& timer) {
    const Epoch& present = progress.present;
    Shard& shard = *shards[index];
    shard.outboxes().begin_epoch(present.number, present.begin);
    shard.begin_visit();
    const bool exchanges = index == 0 && traffic->exchange() != nullptr;
    if (exchanges) {
        times.deliver += timer.lap();
        traffic->begin(present.begin);
        times.communicate += timer.lap();
    }
    for (Step now = present.begin, last = 0; now <= present.end; now = last + 1) {
        if (replays) {
            last = now;
            shard.replay(now);
            times.deliver += timer.lap();
            if (index == 0) traffic->advance(shard.outboxes().of_epoch(present.number));
            continue;
        }
        last = shard.stretch_end(now, present.end);
        shard.begin_step(now);
        times.deliver += timer.lap();
        const double record_seconds = shard.advance(now, last);
        times.update += timer.lap() - record_seconds;
        times.record += record_seconds;
        if (!exchanges) continue;
        traffic->advance(shard.outboxes().of_epoch(present.number));
        times.collocate += timer.lap();
    }
    shard.recorders().publish_bytes();
    if (index != 0) return;
    progress.stops = stops(present.number);
    if (exchanges) times.communicate += timer.lap();
}

/// Between two rounds. Returns whether there is another one.
bool Simulation::Implementation::begin_next_round(WorkerTimes& times, LapTimer& timer) {
    switch (progress.kind) {
        case RoundKind::update:
            note_failures();
            progress.ends = progress.stops || progress.fails || progress.present.end == progress.last;
            progress.first_transfer = true;
            if (traffic->exchange() == nullptr) return end_epoch();
            progress.kind = RoundKind::collocate;
            return true;
        case RoundKind::collocate:
            traffic->transfer(progress.ends, progress.first_transfer, times, timer);
            progress.kind = RoundKind::collect;
            return true;
        case RoundKind::collect:
            if (!traffic->exchange()->more()) return end_epoch();
            traffic->exchange()->next_round();
            times.communicate += timer.lap();
            progress.first_transfer = false;
            progress.kind = RoundKind::collocate;
            return true;
        case RoundKind::finish:
            epoch = progress.present.number;
            break;
    }
    return false;
}

/// A run ends early where a neuron has failed; processes agree on it, see stops().
void Simulation::Implementation::note_failures() {
    progress.fails_here = progress.fails_here ||
                          std::ranges::any_of(shards, [](const auto& shard) { return shard->groups().has_failed(); });
    if (is_alone()) progress.fails = progress.fails_here;
}

/// When the spikes of the present epoch are where they have to be.
bool Simulation::Implementation::end_epoch() {
    step.store(progress.present.end, std::memory_order_relaxed);
    if (options.trace_epochs) trace_epoch();
    progress.past = progress.present;
    const Epoch& past = progress.past;
    progress.present = {.number = past.number + 1, .earliest = past.begin, .begin = past.end + 1};
    if (progress.ends) {
        progress.kind = RoundKind::finish;
    } else {
        begin_epoch();
    }
    return true;
}

/// Whether the run ends after this epoch. Processes decide together, and ask each other now and then only. At the same
/// time they agree how to wait, and where: a process that looks again and again for what others send takes the
/// processor from them, where another program leaves them only a part of it.
bool Simulation::Implementation::stops(std::uint64_t epoch_number) {
    if (is_alone()) return team->stop_requested();
    constexpr std::uint64_t epochs_between = 16;
    if (epoch_number % epochs_between != 0) return false;
    const bool leads = may_gather && communicator->rank() == Rank{0};
    std::array<std::uint64_t, 5> wishes{
        team->stop_requested() ? 1u : 0u,
        team->is_crowded() ? 1u : 0u,
        team->was_crowded_lately() ? 1u : 0u,
        leads ? static_cast<std::uint64_t>(parallel::current_processor() + 1) : 0u,
        progress.fails_here ? 1u : 0u,
    };
    communicator->reduce(wishes, comm::Reduction::greatest);
    const auto [stop, is_crowded, was_crowded_lately, processor, fails] = wishes;
    progress.fails = fails != 0;
    // While it is tried whether the other program has gone, it may be still there.
    communicator->leave_processors(was_crowded_lately != 0);
    if (may_gather) team->gather(is_crowded != 0 ? static_cast<int>(processor) - 1 : -1);
    return stop != 0;
}

/// Counts what has come since the last epoch; at the beginning of a run, only remembers where counting starts.
void Simulation::Implementation::trace_epoch() {
    EpochTimes sum;
    for (const WorkerTimes& times : worker_times) {
        sum.compute += times.update + times.deliver + times.record + times.collocate;
        sum.exchange += times.communicate;
    }
    sum.compute /= static_cast<double>(threads());
    const comm::SpikeExchange* const exchange = traffic->exchange();
    sum.spikes_received = exchange == nullptr ? 0 : exchange->counts().spikes_received;
    const EpochTimes& until_last = progress.traced;
    const double seconds = progress.epoch_timer.lap();
    if (progress.present.end > 0) {
        EpochTimes own{.compute = sum.compute - until_last.compute,
                       .wait = 0.0,
                       .exchange = sum.exchange - until_last.exchange,
                       .spikes_received = sum.spikes_received - until_last.spikes_received};
        own.wait = std::max(0.0, seconds - own.compute - own.exchange);
        epoch_times.push_back(own);
    }
    progress.traced = sum;
}

}  // namespace ranvier::engine
