#include "engine/devices/device_stepping.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "ranvier/base/errors.hpp"
#include "ranvier/engine/times.hpp"

namespace ranvier::engine {

namespace {

/// The longest delay that the rings of the device must have room for. Of rows that it has drawn, only bounds are known, to
/// which the receptors of their blocks are laid out, whether or not any synapse has them.
Step longest_delay(const DeviceStepping::Arguments& arguments) {
    Step longest = arguments.kept_steps;
    if (arguments.drawn == nullptr) return longest;
    for (const std::vector<device::ReceptorImage>& of_block : arguments.drawn->receptors) {
        for (const device::ReceptorImage& receptor : of_block) longest = std::max<Step>(longest, receptor.delays);
    }
    return longest;
}

}  // namespace

DeviceStepping::DeviceStepping(const Arguments& arguments)
    : given_(arguments),
      has_plastic_(PlasticTables::are_in(given_.network.network())),
      image_(given_.shards, given_.layout, given_.epoch_steps, longest_delay(given_), given_.exchange_steps,
             given_.network, given_.device),
      courses_(given_.shards, given_.device),
      events_(arguments.shards.size(), 0) {
    if (given_.exchange != nullptr) {
        traffic_ = std::make_unique<DeviceTraffic>(DeviceTraffic::Arguments{.shards = given_.shards,
                                                                            .layout = given_.layout,
                                                                            .exchange = *given_.exchange,
                                                                            .addresses = *given_.addresses,
                                                                            .image = image_,
                                                                            .epoch_steps = given_.exchange_steps});
        arrivals_.resize(given_.shards.size());
    }
    load(given_.drawn != nullptr);
}

void DeviceStepping::reset_counts() {}

void DeviceStepping::begin(Step first, Step last) {
    // All threads load. On several processes, what fails here is an error of the run.
    if (traffic_) {
        attempt([&] { update_weights(); });
    } else {
        update_weights();
    }
    last_ = last;
    recorded_ = first - 1;
    was_stopped_ = false;
    step_.store(first - 1, std::memory_order_relaxed);
}

void DeviceStepping::load(bool is_drawn) {
    given_.backend.load(image_.network(is_drawn ? given_.drawn : nullptr));
    const auto copy_rows = [&](std::uint32_t worker) {
        device::BlockRows rows;
        given_.team.for_assigned_items(worker, static_cast<std::uint32_t>(given_.shards.size()),
                                       [&](std::uint32_t shard) {
                                           if (!is_drawn) {
                                               image_.copy_rows(shard, rows);
                                               given_.backend.set_rows(shard, rows);
                                           }
                                           given_.backend.set_tables(shard, image_.tables(shard));
                                       });
    };
    if (!is_drawn || has_plastic_) given_.team.run(copy_rows);
    std::ranges::fill(events_, 0);
    has_weights_ = true;
}

void DeviceStepping::update_weights() {
    if (has_weights_) return;
    load(false);
    at_ = unknown;
}

void DeviceStepping::update_rings(Step now, std::span<const std::vector<RemoteArrival>> remote) {
    for (std::uint32_t shard = 0; shard < given_.shards.size(); ++shard) {
        given_.backend.set_ring(shard, image_.plastic_ring(shard, now));
    }
    replay(now, remote, false);
    at_ = now;
}

void DeviceStepping::replay(Step now, std::span<const std::vector<RemoteArrival>> remote, bool takes_back) {
    // Each block gets all of them.
    constexpr std::size_t most_spikes = 8192;
    const auto is_in_transit = [&](Step stamp) { return stamp > now - given_.kept_steps; };
    std::vector<device::RemoteSpike> sent;
    for (std::uint32_t shard = 0; shard < given_.shards.size(); ++shard) {
        given_.shards[shard]->outboxes().visit_sent([&](Step stamp, LocalIndex local) {
            if (is_in_transit(stamp)) sent.push_back({stamp, image_.source(shard, local), 0});
        });
    }
    std::size_t most = 0;
    std::vector<std::vector<device::RemoteSpike>> by_shard(given_.shards.size());
    for (std::uint32_t shard = 0; shard < given_.shards.size(); ++shard) {
        for (std::size_t i = 0; !remote.empty() && i < remote[shard].size(); ++i) {
            const RemoteArrival& arrival = remote[shard][i];
            if (!is_in_transit(arrival.stamp)) continue;
            by_shard[shard].push_back({arrival.stamp, image_.remote_row(shard, arrival.kind, arrival.row), 0});
        }
        most = std::max(most, sent.size() + by_shard[shard].size());
    }
    for (std::size_t done = 0; done < most; done += most_spikes) {
        for (std::uint32_t shard = 0; shard < given_.shards.size(); ++shard) {
            remote_.clear();
            for (std::size_t i = done; i < done + most_spikes && i < sent.size() + by_shard[shard].size(); ++i) {
                remote_.push_back(i < sent.size() ? sent[i] : by_shard[shard][i - sent.size()]);
            }
            given_.backend.receive(shard, remote_);
        }
        given_.backend.replay(now, takes_back);
    }
}

void DeviceStepping::update_groups(Step now) {
    if (image_.cells().have_changed()) {
        const std::vector<device::CellsImage> cells = image_.cells().images();
        given_.backend.set_cells(cells, image_.cells().rates());
    }
    for (std::uint32_t shard = 0; shard < given_.shards.size(); ++shard) {
        given_.backend.set_constants(shard, image_.groups(shard));
        given_.backend.set_state(shard, image_.state(shard, now));
        image_.plastic().put_states(given_.backend, shard, now);
    }
    fetched_ = now;
    courses_.set_stimuli(image_.host_stimuli());
    courses_end_ = now;
}

void DeviceStepping::run(std::uint32_t worker, WorkerTimes& times) {
    if (worker != 0) return;
    has_state_ = false;
    if (traffic_) {
        run_with_others(times);
    } else {
        run_alone(times);
    }
}

void DeviceStepping::run_alone(WorkerTimes& times) {
    Step now = step();
    LapTimer timer;
    if (at_ != now) update_rings(now, {});
    update_groups(now);
    times.communicate += timer.lap();
    while (now < last_ && !given_.team.stop_requested()) {
        now = advance(now + 1, end_of_launch(now + 1, last_, times), times);
        step_.store(now, std::memory_order_relaxed);
        if (given_.backend.failure()) break;
    }
    timer.lap();
    courses_.take_back(now);
    fetch_state(now);
    has_state_ = true;
    check_conditions();
    if (has_plastic_) take_plastic(now, {});
    times.record += timer.lap();
}

void DeviceStepping::run_with_others(WorkerTimes& times) {
    Step now = step();
    LapTimer timer;
    // After a failure, too: then the others are not to wait.
    if (given_.communicator.greatest(at_ != now ? 1 : 0) == 1) {
        const std::vector<std::vector<RemoteArrival>> remote = traffic_->send_again(now, given_.kept_steps);
        for (auto& arrivals : arrivals_) arrivals.clear();
        attempt([&] { update_rings(now, remote); });
    }
    attempt([&] { update_groups(now); });
    times.communicate += timer.lap();
    for (bool ends = now >= last_; !ends;) {
        const Step first = now + 1;
        const Step last = std::min(last_, traffic_->epoch_end(first));
        traffic_->begin_epoch(first);
        times.communicate += timer.lap();
        attempt([&] { run_epoch(first, last, times); });
        // The recordings of all processes have the same samples.
        if (failure_) skip(last);
        timer.lap();
        const Decision decision = decide();
        was_stopped_ = decision.stops;
        ends = last == last_ || decision.stops || decision.fails;
        traffic_->end_epoch(ends, arrivals_);
        count_arrivals();
        now = last;
        step_.store(now, std::memory_order_relaxed);
        times.communicate += timer.lap();
    }
    attempt([&] {
        courses_.take_back(now);
        fetch_state(now);
        has_state_ = true;
    });
    if (has_plastic_) {
        const std::vector<std::vector<RemoteArrival>> remote = traffic_->send_again(now, given_.kept_steps);
        attempt([&] {
            hand_over();
            take_plastic(now, remote);
        });
    }
    times.record += timer.lap();
}

void DeviceStepping::run_epoch(Step first, Step last, WorkerTimes& times) {
    hand_over();
    if (given_.backend.should_settle()) given_.backend.settle(first - 1);
    for (Step now = first - 1; now < last;) {
        now = advance(now + 1, end_of_launch(now + 1, last, times), times);
        check_conditions();
    }
}

void DeviceStepping::hand_over() {
    for (std::uint32_t shard = 0; shard < given_.shards.size(); ++shard) {
        if (arrivals_[shard].empty()) continue;
        remote_.clear();
        for (const RemoteArrival& arrival : arrivals_[shard]) {
            remote_.push_back({arrival.stamp, image_.remote_row(shard, arrival.kind, arrival.row), 0});
        }
        order_remote();
        given_.backend.receive(shard, remote_);
        arrivals_[shard].clear();
    }
}

void DeviceStepping::order_remote() {
    std::ranges::sort(remote_, {}, [](const device::RemoteSpike& spike) { return std::pair(spike.step, spike.row); });
    for (std::size_t i = 1; i < remote_.size(); ++i) {
        const bool repeats = remote_[i].step == remote_[i - 1].step && remote_[i].row == remote_[i - 1].row;
        remote_[i].number = repeats ? remote_[i - 1].number + 1 : 0;
    }
    std::ranges::stable_sort(remote_, {},
                             [](const device::RemoteSpike& spike) { return std::pair(spike.step, spike.number); });
}

void DeviceStepping::take_plastic(Step now, std::span<const std::vector<RemoteArrival>> remote) {
    given_.backend.settle(now);
    replay(now, remote, true);
    for (std::uint32_t shard = 0; shard < given_.shards.size(); ++shard) {
        image_.plastic().take_states(given_.backend, shard, now);
        image_.take_inputs(given_.backend, shard, now);
    }
    replay(now, remote, false);
}

void DeviceStepping::count_arrivals() {
    for (std::uint32_t shard = 0; shard < given_.shards.size(); ++shard) {
        ShardSynapses& synapses = given_.shards[shard]->synapses();
        std::uint64_t events = 0;
        for (const RemoteArrival& arrival : arrivals_[shard]) {
            const connect::StoredSynapses& stored = *synapses.stored(arrival.kind);
            events += stored.row_end(arrival.row) - stored.row_begin(arrival.row);
        }
        synapses.add_events(events);
    }
}

DeviceStepping::Decision DeviceStepping::decide() {
    // As often as on processors; see EpochStepping::stops().
    constexpr std::uint64_t epochs_between = 16;
    if (++exchanged_epochs_ % epochs_between != 0) return {};
    std::array<std::uint64_t, 3> wishes{given_.team.stop_requested() ? 1U : 0U, failure_ ? 1U : 0U,
                                        given_.team.was_crowded_lately() ? 1U : 0U};
    given_.communicator.reduce(wishes, comm::Reduction::greatest);
    given_.communicator.yield_processors(wishes[2] != 0);
    return {.stops = wishes[0] != 0, .fails = wishes[1] != 0};
}

void DeviceStepping::check_state() const {
    if (has_state_) return;
    throw StateError({.object = "state of neurons on a device",
                      .value = "after step " + std::to_string(step()),
                      .bound = "it was lost when the last run failed",
                      .remedy = "build the simulation again, or load a saved state; recorded data are not lost"});
}

void DeviceStepping::check_conditions() const {
    const std::optional<device::Failure> failure = given_.backend.failure();
    if (!failure) return;
    const std::string step = "in step " + std::to_string(failure->step);
    if (failure->neuron == device::no_neuron) {
        throw StateError({.object = "a synapse on a device",
                          .value = step,
                          .bound = "one of its variables is infinite",
                          .remedy = "run on processors, which name the variable"});
    }
    const connect::ShardLayout& layout = given_.shards[failure->block]->layout();
    const LocalIndex local{failure->neuron};
    const network::Population& population = given_.network.network().population(layout.population_of(local));
    throw StateError(
        {.object = "neuron " + std::to_string(layout.id_of(local).value - population.first.value) + " of '" +
                   population.name + "' on a device",
         .value = step,
         .bound = population.model->relays_input ? "it cannot relay what has arrived"
                  : population.model->compartments(0) > 0
                      ? "a potential or a concentration has left its bounds, or equations have no finite solution"
                      : "a condition of its equations does not hold",
         .remedy = "run on processors, which name the variable"});
}

Step DeviceStepping::end_of_launch(Step first, Step last, WorkerTimes& times) {
    const Step end = end_of_stretch(first, last);
    if (courses_.is_empty()) return end;
    // Launches may end early, for want of room for spikes, and with other processes, each is an epoch.
    if (first > courses_end_) {
        LapTimer timer;
        courses_end_ = courses_.calculate(first, end_of_stretch(first, last_));
        given_.backend.set_courses(first, courses_.blocks());
        times.update += timer.lap();
    }
    return std::min(end, courses_end_);
}

Step DeviceStepping::end_of_stretch(Step first, Step last) const {
    // Recordings are sampled between launches; without any, progress and memory for spikes decide.
    constexpr Step most_steps = 10'000;
    Step end = std::min(last, first + most_steps - 1);
    for (const auto& shard : given_.shards) {
        for (const ShardGroup& group : shard->groups()) {
            if (!group.neurons || group.recorders.empty()) continue;
            const auto steps = shard->recorders().observed_steps(group, first, end);
            if (!steps.empty()) end = std::min(end, steps.front());
        }
    }
    return end;
}

Step DeviceStepping::advance(Step first, Step last, WorkerTimes& times) {
    LapTimer timer;
    // Few steps at a time: processes decide together whether they stop.
    const auto stops = [&] { return !traffic_ && given_.team.stop_requested(); };
    const Step reached = given_.backend.run(first, last, stops);
    times.update += timer.lap();
    at_ = reached;
    // First all that may fail, so that all shards have recorded the same steps.
    if (samples_at(reached)) fetch_state(reached);
    fired_.resize(given_.shards.size());
    for (std::uint32_t s = 0; s < given_.shards.size(); ++s) given_.backend.take_spikes(s, fired_[s]);
    for (std::uint32_t s = 0; s < given_.shards.size(); ++s) {
        Shard& shard = *given_.shards[s];
        shard.recorders().begin_samples(first, reached);
        record_spikes(s, first, reached);
        for (const ShardGroup& group : shard.groups()) {
            if (!group.neurons || group.recorders.empty()) continue;
            if (shard.recorders().observed_steps(group, reached, reached).empty()) continue;
            shard.recorders().sample(group, reached, 0, group.size);
        }
        shard.recorders().publish_bytes();
    }
    recorded_ = reached;
    ++epoch_;
    times.record += timer.lap();
    return reached;
}

bool DeviceStepping::samples_at(Step step) const {
    return std::ranges::any_of(given_.shards, [&](const auto& shard) {
        return std::ranges::any_of(shard->groups(), [&](const ShardGroup& group) {
            return group.neurons && !group.recorders.empty() &&
                   !shard->recorders().observed_steps(group, step, step).empty();
        });
    });
}

void DeviceStepping::skip(Step last) {
    for (const auto& shard : given_.shards) {
        shard->recorders().skip_samples(recorded_ + 1, last);
        shard->recorders().publish_bytes();
    }
    recorded_ = last;
}

void DeviceStepping::fetch_state(Step now) {
    if (fetched_ == now) return;
    device::BlockState state;
    for (std::uint32_t shard = 0; shard < given_.shards.size(); ++shard) {
        given_.backend.get_state(shard, state);
        image_.set_state(shard, now, state);
    }
    fetched_ = now;
}

void DeviceStepping::record_spikes(std::uint32_t s, Step first, Step last) {
    Shard& shard = *given_.shards[s];
    std::ranges::sort(fired_[s], {}, [](const device::Spike& spike) { return std::pair(spike.step, spike.neuron); });
    Outboxes& outboxes = shard.outboxes();
    outboxes.begin_epoch(epoch_, first);
    for (const device::Spike& spike : fired_[s]) {
        const LocalIndex local{spike.neuron};
        const PopulationId population = shard.layout().population_of(local);
        const NeuronId id = shard.layout().id_of(local);
        shard.recorders().remember(id, spike.step);
        ++shard.groups()[population].spikes;
        if (spike.step > last - given_.kept_steps)
            outboxes.present().push_back({id, local.value, outboxes.lag(spike.step)});
        if (traffic_) traffic_->emit(s, spike.step, id, local);
    }
    // Those in transit are then among the spikes that were sent.
    outboxes.begin_epoch(epoch_ + 1, last + 1);
    const std::uint64_t events = given_.backend.events(s);
    shard.synapses().add_events(events - events_[s]);
    events_[s] = events;
}

}  // namespace ranvier::engine
