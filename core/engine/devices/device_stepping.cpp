#include "engine/devices/device_stepping.hpp"

#include <algorithm>

#include "ranvier/base/errors.hpp"
#include "ranvier/engine/times.hpp"

namespace ranvier::engine {

DeviceStepping::DeviceStepping(const Arguments& arguments)
    : given_(arguments),
      image_(given_.shards, given_.layout, given_.epoch_steps, given_.network, given_.device),
      events_(arguments.shards.size(), 0) {
    load();
}

void DeviceStepping::reset_counts() {}

void DeviceStepping::begin(Step first, Step last) {
    if (!has_weights_) {
        load();
        at_ = unknown;
    }
    last_ = last;
    step_.store(first - 1, std::memory_order_relaxed);
}

void DeviceStepping::load() {
    given_.backend.load(image_.network());
    given_.team.run([&](std::uint32_t worker) {
        device::BlockRows rows;
        given_.team.for_assigned_items(worker, static_cast<std::uint32_t>(given_.shards.size()),
                                       [&](std::uint32_t shard) {
                                           image_.copy_rows(shard, rows);
                                           given_.backend.set_rows(shard, rows);
                                       });
    });
    std::ranges::fill(events_, 0);
    has_weights_ = true;
}

void DeviceStepping::update(Step now) {
    for (std::uint32_t shard = 0; shard < given_.shards.size(); ++shard) {
        if (at_ != now) given_.backend.set_ring(shard, image_.ring(shard, now));
        given_.backend.set_constants(shard, image_.groups(shard));
        given_.backend.set_state(shard, image_.state(shard, now));
    }
    at_ = now;
}

void DeviceStepping::run(std::uint32_t worker, WorkerTimes& times) {
    if (worker != 0) return;
    Step now = step();
    LapTimer timer;
    update(now);
    times.communicate += timer.lap();
    while (now < last_ && !given_.team.stop_requested()) {
        const Step end = std::min(last_, end_of_stretch(now + 1));
        now = advance(now + 1, end, times);
        step_.store(now, std::memory_order_relaxed);
        if (given_.backend.has_failed()) {
            throw StateError({.object = "neurons on a device",
                              .value = "before step " + std::to_string(now),
                              .bound = "a condition of the equations does not hold",
                              .remedy = "run on processors, which name the neuron"});
        }
    }
}

Step DeviceStepping::end_of_stretch(Step first) const {
    // Recordings are sampled between launches; without any, progress and memory for spikes decide.
    constexpr Step most_steps = 10'000;
    Step end = first + most_steps - 1;
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
    const Step reached = given_.backend.run(first, last, [&] { return given_.team.stop_requested(); });
    times.update += timer.lap();
    at_ = reached;
    device::BlockState state;
    for (std::uint32_t s = 0; s < given_.shards.size(); ++s) {
        Shard& shard = *given_.shards[s];
        given_.backend.get_state(s, state);
        image_.set_state(s, reached, state);
        shard.recorders().begin_samples(first, reached);
        take_spikes(s, first, reached);
        for (const ShardGroup& group : shard.groups()) {
            if (group.neurons && !group.recorders.empty()) shard.recorders().sample(group, reached, 0, group.size);
        }
        shard.recorders().publish_bytes();
    }
    ++epoch_;
    times.record += timer.lap();
    return reached;
}

void DeviceStepping::take_spikes(std::uint32_t s, Step first, Step last) {
    Shard& shard = *given_.shards[s];
    given_.backend.take_spikes(s, spikes_);
    std::ranges::sort(spikes_, {}, [](const device::Spike& spike) { return std::pair(spike.step, spike.neuron); });
    Outboxes& outboxes = shard.outboxes();
    outboxes.begin_epoch(epoch_, first);
    for (const device::Spike& spike : spikes_) {
        const LocalIndex local{spike.neuron};
        const PopulationId population = shard.layout().population_of(local);
        const NeuronId id = shard.layout().id_of(local);
        shard.recorders().remember(id, spike.step);
        ++shard.groups()[population].spikes;
        if (spike.step > last - given_.kept_steps)
            outboxes.present().push_back({id, local.value, outboxes.lag(spike.step)});
    }
    // Those in transit are then among the spikes that were sent.
    outboxes.begin_epoch(epoch_ + 1, last + 1);
    const std::uint64_t events = given_.backend.events(s);
    shard.synapses().add_events(events - events_[s]);
    events_[s] = events;
}

}  // namespace ranvier::engine
