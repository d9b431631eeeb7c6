#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "comm/redistribution.hpp"
#include "connect/tables/table_builder_implementation.hpp"

// Synapses drawn by source: on any worker, and sent to the process and shard of the target.
namespace ranvier::connect {

namespace {

/// Synapses that all workers together hold at a time, in transit from the drawing shard to the storing one.
constexpr std::size_t round_synapses = std::size_t{1} << 20;

}  // namespace

/// Draws the synapses of some sources and puts each into the bucket of its target's shard.
void TableBuilder::Implementation::route(const ProjectionPlan& plan, std::uint32_t worker, std::uint64_t begin,
                                         std::uint64_t count, bool store, Scratch& scratch) {
    scratch.index = nullptr;
    plan.sampler->draw(options.instruction_set, begin, 1, count, scratch.degrees, scratch.partners);
    const bool weights = store || plan.kind_varies();
    fill_values(plan, begin, 1, weights, store, scratch);
    std::size_t position = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        for (std::uint32_t k = 0; k < scratch.degrees[i]; ++k, ++position) {
            const NeuronId target{plan.pairs.first_target.value + scratch.partners[position]};
            const Placement::Location location = layout.placement().locate(target);
            RemoteSynapse synapse;
            synapse.target = location.place;
            synapse.row = static_cast<std::uint32_t>(begin + i);
            if (weights) synapse.weight = scratch.weights[position];
            // Without a weight there is only one kind.
            const KindIndex kind = plan.kind_of(synapse.weight);
            if (sends_ordinals(plan)) synapse.weight = k;
            synapse.kind = static_cast<std::uint16_t>(kind.value);
            if (store) {
                const DelaySteps delay = round_delay(scratch.milliseconds[position], plan.delay_grid);
                synapse.delay = static_cast<std::uint16_t>(delay - table(kind).least_delay);
            }
            if (location.rank == layout.rank()) {
                enqueue(plan, target, synapse, worker);
            } else {
                remote[worker].push_back(synapse);
                remote_ranks[worker].push_back(location.rank);
            }
        }
    }
}

/// Puts a synapse with a local target into the bucket of its shard; `from` is the worker that has drawn it, or
/// workers() if it came from another process.
void TableBuilder::Implementation::enqueue(const ProjectionPlan& plan, NeuronId target, const RemoteSynapse& synapse,
                                           std::uint32_t from) {
    // In a dry run, the same place on another process may belong to the next population.
    const PairSpace& pairs = plan.pairs;
    if (target < pairs.first_target || target.value - pairs.first_target.value >= pairs.targets) return;
    const PopulationId population = layout.population_of(target);
    if (!plan.reaches(population)) return;
    const std::uint32_t shard = layout.shard_of(target).value;
    const std::uint32_t local = layout.shard(shard).local_index(population, target).value;
    routed[from * shards() + shard].push_back({synapse.row, local, synapse.weight, synapse.delay, synapse.kind});
}

/// Sends the synapses drawn for other processes, and receives those drawn for this one.
void TableBuilder::Implementation::exchange_remote(const ProjectionPlan& plan) {
    std::vector<std::uint64_t> counts(ranks(), 0);
    for (const std::vector<Rank>& of_worker : remote_ranks) {
        for (const Rank rank : of_worker) ++counts[static_cast<std::size_t>(rank.value)];
    }
    std::vector<std::uint64_t> next(ranks(), 0);
    std::exclusive_scan(counts.begin(), counts.end(), next.begin(), std::uint64_t{0});
    std::vector<RemoteSynapse> packed(next.back() + counts.back());
    for (std::uint32_t worker = 0; worker < workers(); ++worker) {
        for (std::size_t i = 0; i < remote[worker].size(); ++i) {
            packed[next[static_cast<std::size_t>(remote_ranks[worker][i].value)]++] = remote[worker][i];
        }
        remote[worker].clear();
        remote_ranks[worker].clear();
    }
    comm::Redistribution<RemoteSynapse>(*communicator, options.buffer_bytes)
        .run(packed, counts, [&](const auto& piece) {
            for (const RemoteSynapse& synapse : piece.records) {
                enqueue(plan, layout.placement().id_at(layout.rank(), synapse.target), synapse, workers());
            }
        });
}

void TableBuilder::Implementation::draw_values(const ProjectionPlan& plan, std::uint32_t shard, std::uint32_t base,
                                               Scratch& scratch) const {
    const std::size_t count = scratch.rows.size();
    if (plan.sites != nullptr) scratch.sites.resize(count);
    scratch.parameters.resize(plan.parameters.size() * count);
    std::vector<SynapseValues::Synapse> synapses(count);
    std::vector<std::uint64_t> sources(count);
    std::vector<std::uint64_t> targets(count);
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t source = scratch.rows[i] - base;
        const auto ordinal = static_cast<std::uint32_t>(scratch.weights[i]);
        const NeuronId target = layout.shard(shard).id_of(LocalIndex{scratch.targets[i]});
        synapses[i] = {source, ordinal};
        sources[i] = source;
        targets[i] = target.value - plan.pairs.first_target.value;
        if (plan.sites == nullptr) continue;
        scratch.sites[i] = plan.sites->site(*plan.sampler, source, ordinal, plan.sites->sites(target));
    }
    SynapseQuantities quantities(options.instruction_set, plan.neurons, std::move(sources), std::move(targets));
    for (const SynapseExpression* const each : plan.expressions(true, false, true)) quantities.need(*each);
    plan.weights.values(options.instruction_set, *plan.sampler, synapses, &quantities, scratch.weights.data());
    for (std::size_t k = 0; k < plan.parameters.size(); ++k) {
        plan.parameters[k].values(options.instruction_set, *plan.sampler, synapses, &quantities,
                                  scratch.parameters.data() + k * count);
    }
}

void TableBuilder::Implementation::take_routed(const ProjectionPlan& plan, std::uint32_t shard, bool store,
                                               Scratch& scratch) {
    const KindIndex kinds[] = {plan.positive_kind, plan.negative_kind};
    for (const KindIndex kind : std::span(kinds, plan.kind_varies() ? 2 : 1)) {
        scratch.rows.clear();
        scratch.targets.clear();
        scratch.weights.clear();
        scratch.delays.clear();
        const std::uint32_t base = base_row(plan, kind);
        // The order of the buckets does not matter: all synapses of a source are drawn by one worker, and are in one
        // bucket in order.
        for (std::uint32_t from = 0; from <= workers(); ++from) {
            for (const RoutedSynapse& synapse : routed[from * shards() + shard]) {
                if (synapse.kind != kind.value) continue;
                scratch.rows.push_back(base + synapse.row);
                scratch.targets.push_back(synapse.target);
                scratch.weights.push_back(synapse.weight);
                scratch.delays.push_back(synapse.delay);
            }
        }
        if (!store) {
            builders[shard]->count(kind, scratch.rows.data(), scratch.rows.size());
            continue;
        }
        scratch.sites.clear();
        if (sends_ordinals(plan)) draw_values(plan, shard, base, scratch);
        round_weights(plan, shard, kind, scratch.weights);
        std::uint64_t* const counts = stored[shard].inputs[network.receptor(kind)].data();
        for (const std::uint32_t target : scratch.targets) counts[target] += plan.most_spikes;
        find_inputs(shard, kind, 0, scratch.targets.size(), scratch);
        builders[shard]->store(kind, {.rows = scratch.rows.data(),
                                      .targets = scratch.targets.data(),
                                      .weights = scratch.weights.data(),
                                      .delays = scratch.delays.data(),
                                      .parameters = scratch.parameters.data(),
                                      .stride = scratch.rows.size(),
                                      .count = scratch.rows.size(),
                                      .tag = static_cast<std::uint16_t>(plan.id.value)});
    }
    for (std::uint32_t from = 0; from <= workers(); ++from) routed[from * shards() + shard].clear();
}

void TableBuilder::Implementation::draw_by_source(const ProjectionPlan& plan, std::uint32_t worker, bool store,
                                                  Scratch& scratch) {
    const double degree = plan.sampler->expected_synapses() / static_cast<double>(plan.pairs.sources);
    // The same on all processes, whose rounds must agree for any numbers of workers; and at most an equal share of the
    // sources.
    const std::uint64_t share = (plan.pairs.sources + ranks() - 1) / ranks();
    const auto per_rank = std::min(
        share, static_cast<std::uint64_t>(std::max(1.0, static_cast<double>(round_synapses) / std::max(degree, 1.0))));
    const std::uint64_t per_worker = (per_rank + workers() - 1) / workers();
    const std::uint64_t per_round = per_rank * ranks();
    for (std::uint64_t round = 0; round < plan.pairs.sources; round += per_round) {
        const std::uint64_t first = round + static_cast<std::uint64_t>(layout.rank().value) * per_rank;
        const std::uint64_t last = std::min(first + per_rank, plan.pairs.sources);
        const std::uint64_t begin = std::min(first + worker * per_worker, last);
        const std::uint64_t end = std::min(begin + per_worker, last);
        if (ranks() == 1) team.check_cancelled();
        if (end > begin) route(plan, worker, begin, end - begin, store, scratch);
        team.wait();
        if (ranks() > 1) {
            if (worker == 0) exchange_remote(plan);
            team.wait();
        }
        for_assigned_shards(worker, [&](std::uint32_t shard) { take_routed(plan, shard, store, scratch); });
        team.wait();
    }
}

}  // namespace ranvier::connect
