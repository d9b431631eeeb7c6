#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "base/errors.hpp"
#include "engine/simulation/simulation_implementation.hpp"

namespace ranvier::engine {

Counts Simulation::counts() const {
    const Implementation& self = *implementation_;
    Counts counts;
    counts.neurons = self.network.neuron_count();
    counts.steps = step() - self.counted_from;
    counts.population_spikes.resize(self.network.populations().size(), 0);
    for (const auto& shard : self.shards) {
        counts.synapses += shard->synapses().size();
        counts.synaptic_events += shard->synapses().events();
        for (const ShardGroup& group : shard->groups()) {
            counts.population_spikes[group.population.value] += group.spikes;
            if (!group.is_source) counts.spikes += group.spikes;
        }
    }
    self.communicator->reduce(counts.population_spikes, comm::Reduction::sum);
    std::array<std::uint64_t, 3> sums{counts.synapses, counts.synaptic_events, counts.spikes};
    self.communicator->reduce(sums, comm::Reduction::sum);
    counts.synapses = sums[0];
    counts.synaptic_events = sums[1];
    counts.spikes = sums[2];
    return counts;
}

void Simulation::reset_counts() {
    Implementation& self = *implementation_;
    for (const auto& shard : self.shards) shard->reset_counts();
    self.worker_times.assign(self.threads(), {});
    self.crowding_before = self.crowding_since_start();
    self.counted_from = step();
    self.timed_from = step();
    self.phases.simulation = 0.0;
    self.epoch_times.clear();
    if (self.async) self.async->reset_counts();
    if (self.async && self.async->ranks() != nullptr) self.async->ranks()->reset_counts();
    if (self.traffic->exchange() != nullptr) self.traffic->exchange()->reset_counts();
}

Stepping Simulation::stepping() const {
    const Implementation& self = *implementation_;
    Stepping stepping{.is_asynchronous = self.async != nullptr};
    for (const auto& shard : self.shards) {
        stepping.visits += shard->visits();
        stepping.moved_bytes += static_cast<double>(shard->visits()) * shard->groups().step_bytes();
    }
    return stepping;
}

std::vector<std::uint64_t> Simulation::visits() const {
    const Implementation& self = *implementation_;
    return self.async ? self.async->visits() : std::vector<std::uint64_t>{};
}

Step Simulation::timed_steps() const { return step() - implementation_->timed_from; }

std::vector<double> Simulation::costs() const {
    const Implementation& self = *implementation_;
    const Counts counts = this->counts();
    if (!self.options.measure_costs || timed_steps() == 0) {
        throw StateError({.object = "costs of the populations",
                          .value = "",
                          .bound = "they have not been measured",
                          .remedy = "make the simulation with measure_costs, and run it"});
    }
    const std::size_t populations = self.network.populations().size();
    // In nanoseconds, of all processes: of the update by population, of delivery in all.
    std::vector<std::uint64_t> nanoseconds(populations + 1, 0);
    const auto add = [&](std::size_t i, double seconds) {
        nanoseconds[i] += static_cast<std::uint64_t>(seconds * 1e9);
    };
    for (const auto& shard : self.shards) {
        for (const ShardGroup& group : shard->groups()) add(group.population.value, group.update_seconds);
    }
    for (const WorkerTimes& times : self.worker_times) add(populations, times.deliver);
    self.communicator->reduce(nanoseconds, comm::Reduction::sum);
    // Synapses onto each population that were reached, if all sources have as many as they have on average.
    const std::span<const connect::PopulationRange> ranges = self.lowered.ranges();
    std::vector<double> events(populations, 0.0);
    double all_events = 0.0;
    for (const connect::ProjectionPlan& plan : self.lowered.plans()) {
        const network::Projection& projection = self.network.projections()[plan.id.value];
        double spikes = 0.0;
        for (const PopulationId id : self.network.populations_of(projection.sources)) {
            const double part = static_cast<double>(self.network.part_of(id, projection.sources).size());
            if (part == 0.0) continue;
            spikes += part * static_cast<double>(counts.population_spikes[id.value]) /
                      static_cast<double>(ranges[id.value].size);
        }
        if (spikes == 0.0) continue;
        const double reached =
            plan.sampler->expected_synapses() * spikes / static_cast<double>(projection.sources.size());
        for (const PopulationId id : plan.target_populations) {
            const double part = static_cast<double>(self.network.part_of(id, projection.targets).size());
            if (part > 0.0) events[id.value] += reached * part / static_cast<double>(projection.targets.size());
        }
        all_events += reached;
    }
    std::vector<double> costs(populations, 0.0);
    for (std::size_t i = 0; i < populations; ++i) {
        if (ranges[i].size == 0) continue;
        const double delivery =
            all_events > 0.0 ? static_cast<double>(nanoseconds[populations]) * events[i] / all_events : 0.0;
        costs[i] = (static_cast<double>(nanoseconds[i]) + delivery) * 1e-9 /
                   (static_cast<double>(ranges[i].size) * static_cast<double>(timed_steps()));
    }
    return costs;
}

PhaseTimes Simulation::times() const {
    PhaseTimes times = implementation_->phases;
    const double share = 1.0 / static_cast<double>(implementation_->threads());
    for (const WorkerTimes& own : implementation_->worker_times) {
        times.update += own.update * share;
        times.collocate += own.collocate * share;
        times.deliver += own.deliver * share;
        times.wait += own.wait * share;
        times.communicate += own.communicate * share;
        times.record += own.record * share;
    }
    return times;
}

Crowding Simulation::Implementation::crowding_since_start() const {
    const parallel::CrowdingCounts counts = team->crowding_counts();
    Crowding crowding{
        .delayed = counts.delayed_seconds, .crowded = counts.crowded_seconds, .asleep = communicator->seconds_asleep()};
    for (std::uint32_t worker = 0; worker < threads(); ++worker) crowding.taken_over += team->items_taken_over(worker);
    return crowding;
}

Crowding Simulation::crowding() const {
    Crowding crowding = implementation_->crowding_since_start();
    const Crowding& before = implementation_->crowding_before;
    crowding.delayed -= before.delayed;
    crowding.crowded -= before.crowded;
    crowding.taken_over -= before.taken_over;
    crowding.asleep -= before.asleep;
    return crowding;
}

std::vector<WorkerTimes> Simulation::worker_times() const { return implementation_->worker_times; }

const std::vector<EpochTimes>& Simulation::epoch_times() const { return implementation_->epoch_times; }

Traffic Simulation::traffic() const {
    const Implementation& self = *implementation_;
    Traffic traffic;
    if (const comm::SpikeExchange* exchange = self.traffic->exchange()) {
        traffic.method = exchange->name();
        traffic.counts = exchange->counts();
    }
    if (self.async && self.async->ranks() != nullptr) {
        traffic.method = self.async->ranks()->name();
        traffic.counts = self.async->ranks()->counts();
    }
    if (self.presynaptic) {
        traffic.presynaptic_entries = self.presynaptic->size();
        traffic.presynaptic_bytes = self.presynaptic->bytes();
    }
    traffic.build_rounds = self.build_rounds;
    return traffic;
}

void Simulation::Implementation::count_foreign_memory() {
    std::uint64_t bytes = 0;
    if (traffic->exchange() != nullptr) bytes += traffic->exchange()->counts().buffer_bytes;
    if (async && async->ranks() != nullptr) bytes += async->ranks()->counts().buffer_bytes;
    account.set(node_of_all, purpose_of(Component::exchange), bytes);
}

std::vector<MemoryItem> Simulation::memory() const {
    implementation_->count_foreign_memory();
    std::vector<MemoryItem> items;
    for (std::uint32_t i = 0; i < component_names.size(); ++i) {
        const std::uint64_t bytes = implementation_->account.bytes(parallel::MemoryPurpose{i});
        // Every simulation has the first ones, even if they are empty.
        if (i <= static_cast<std::uint32_t>(Component::recordings) || bytes > 0) {
            items.push_back({component_names[i], bytes});
        }
    }
    return items;
}

std::vector<NodeMemoryItem> Simulation::memory_by_node() const {
    implementation_->count_foreign_memory();
    std::vector<NodeMemoryItem> items;
    for (const parallel::MemoryAccount::Entry& entry : implementation_->account.entries()) {
        NodeMemoryItem item{
            .node = {}, .component = component_names[static_cast<std::size_t>(entry.purpose)], .bytes = entry.bytes};
        if (entry.node != parallel::any_node) item.node = entry.node;
        items.push_back(std::move(item));
    }
    return items;
}

parallel::PagesByNode Simulation::memory_pages() const {
    // Pages that are not on the owner's node lie together, where its memory was used up.
    constexpr std::size_t most_looked_at = 4096;
    parallel::PagesByNode sum;
    for (const auto& shard : implementation_->shards) sum += shard->memory().pages(most_looked_at);
    return sum;
}

}  // namespace ranvier::engine
