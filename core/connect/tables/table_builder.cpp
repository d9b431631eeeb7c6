#include "connect/tables/table_builder.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include "base/errors.hpp"
#include "comm/redistribution.hpp"
#include "connect/tables/shard_builder.hpp"
#include "connect/tables/table_plan.hpp"

namespace ranvier::connect {

namespace {

constexpr std::size_t batch_synapses = 8192;
/// Synapses that all workers together hold at a time on the way from the shard that draws them to the one that stores
/// them.
constexpr std::size_t round_synapses = std::size_t{1} << 20;

struct RoundDelays {
    RANVIER_ALWAYS_INLINE static void run(const double* __restrict milliseconds, std::size_t count,
                                          double steps_per_millisecond, DelaySteps least,
                                          std::uint16_t* __restrict out) {
        for (std::size_t i = 0; i < count; ++i) {
            out[i] = static_cast<std::uint16_t>(round_delay(milliseconds[i], steps_per_millisecond) - least);
        }
    }
};

/// A synapse on its way to the process of its target.
struct RemoteSynapse {
    std::uint64_t target = 0;  ///< place on its process
    double weight = 0.0;
    std::uint32_t row = 0;
    std::uint16_t delay = 0;
    std::uint16_t kind = 0;
};

/// A synapse on its way to the shard of its target.
struct RoutedSynapse {
    std::uint32_t row = 0;
    std::uint32_t target = 0;
    double weight = 0.0;
    std::uint16_t delay = 0;
    std::uint16_t kind = 0;
};

std::unique_ptr<ShardBuilder> make_shard_builder(std::span<const TablePlan> plans, const ShardLayout& layout,
                                                 const BuildOptions& options, const parallel::Team& team,
                                                 TableMemory memory) {
    const bool narrow = layout.size() <= std::uint32_t{UINT16_MAX} + 1;
    if (options.double_weights) {
        if (narrow)
            return std::make_unique<TypedShardBuilder<std::uint16_t, double>>(plans, layout, options, team, memory);
        return std::make_unique<TypedShardBuilder<std::uint32_t, double>>(plans, layout, options, team, memory);
    }
    if (narrow) return std::make_unique<TypedShardBuilder<std::uint16_t, float>>(plans, layout, options, team, memory);
    return std::make_unique<TypedShardBuilder<std::uint32_t, float>>(plans, layout, options, team, memory);
}

}  // namespace

struct TableBuilder::Implementation {
    const NetworkPlan& network;
    const ProcessLayout& layout;
    BuildOptions options;
    parallel::Team& team;
    std::shared_ptr<comm::Communicator> communicator;
    ProcessTables planned;
    std::vector<std::unique_ptr<ShardBuilder>> builders;
    /// routed[from * shards + to]; what comes from other processes is in routed[shards * shards + to].
    std::vector<std::vector<RoutedSynapse>> routed;
    /// By worker: what it has drawn for other processes, and which those are.
    std::vector<std::vector<RemoteSynapse>> remote;
    std::vector<std::vector<Rank>> remote_ranks;
    /// What a worker has stored.
    struct Stored {
        /// Of the kinds of a projection's synapses.
        struct ProjectionWeights {
            WeightRange positive;
            WeightRange negative;
        };
        std::vector<ProjectionWeights> weights;  ///< by projection
        /// By receptor and neuron: number of synapses. A synapse whose source may fire several times in a step counts
        /// several times.
        std::vector<Buffer<std::uint64_t>> inputs;
        std::vector<std::uint64_t> most_inputs;  ///< by receptor
    };
    std::vector<Stored> stored;

    /// What a worker needs again for every batch.
    struct Scratch {
        std::vector<std::uint32_t> degrees;
        std::vector<std::uint64_t> partners;
        std::vector<std::uint32_t> rows;
        std::vector<std::uint32_t> targets;
        std::vector<double> weights;
        std::vector<double> milliseconds;
        std::vector<std::uint16_t> delays;
    };

    std::uint32_t shards() const { return static_cast<std::uint32_t>(layout.shards().size()); }
    std::uint64_t ranks() const { return static_cast<std::uint64_t>(layout.placement().ranks()); }
    const TablePlan& table(KindIndex kind) const { return planned.tables[kind.value]; }
    std::uint32_t base_row(const ProjectionPlan& plan, KindIndex kind) const {
        return table(kind).row_map.row(plan.pairs.first_source).value;
    }

    /// One pass over all projections: counts or stores.
    void pass(std::uint32_t worker, bool store);
    void draw_by_target(const ProjectionPlan& plan, std::uint32_t worker, bool store, Scratch& scratch);
    /// Targets begin, begin + stride, ... of a projection, with consecutive local indices.
    struct TargetProgression {
        std::uint64_t begin;
        std::uint64_t stride;
        std::uint64_t count;
        std::uint32_t first_local;
    };
    void draw_progression(const ProjectionPlan& plan, std::uint32_t worker, const TargetProgression& targets,
                          bool store, Scratch& scratch);
    void draw_by_source(const ProjectionPlan& plan, std::uint32_t worker, bool store, Scratch& scratch);
    void route(const ProjectionPlan& plan, std::uint32_t worker, std::uint64_t begin, std::uint64_t count, bool store,
               Scratch& scratch);
    void put_in_box(const ProjectionPlan& plan, NeuronId target, const RemoteSynapse& synapse, std::uint32_t from);
    void exchange_remote(const ProjectionPlan& plan);
    void take_routed(const ProjectionPlan& plan, std::uint32_t worker, bool store, Scratch& scratch);
    void fill_values(const ProjectionPlan& plan, std::uint64_t begin, std::uint64_t stride, bool weights, bool delays,
                     Scratch& scratch) const;
    void hand_over(const ProjectionPlan& plan, std::uint32_t worker, bool store, Scratch& scratch);
    /// Rounds weights to what is stored and takes note of them.
    void round_weights(const ProjectionPlan& plan, std::uint32_t worker, KindIndex kind, std::span<double> weights);
    void begin_storing(std::uint32_t worker, std::pmr::memory_resource* memory);
    void end_storing(std::uint32_t worker);
};

/// Weights and delays of the synapses in scratch.partners, whose major neurons are begin, begin + stride, ...
void TableBuilder::Implementation::fill_values(const ProjectionPlan& plan, std::uint64_t begin, std::uint64_t stride,
                                               bool weights, bool delays, Scratch& scratch) const {
    const std::size_t total = scratch.partners.size();
    if (weights) scratch.weights.resize(total);
    if (delays) scratch.milliseconds.resize(total);
    std::size_t position = 0;
    for (std::size_t i = 0; i < scratch.degrees.size(); ++i) {
        const std::size_t degree = scratch.degrees[i];
        if (degree == 0) continue;
        const std::uint64_t major = begin + i * stride;
        if (weights) {
            plan.weights.fill(options.instruction_set, *plan.sampler, major, degree, scratch.weights.data() + position);
        }
        if (delays) {
            plan.delays.fill(options.instruction_set, *plan.sampler, major, degree,
                             scratch.milliseconds.data() + position);
        }
        position += degree;
    }
}

void TableBuilder::Implementation::round_weights(const ProjectionPlan& plan, std::uint32_t worker, KindIndex kind,
                                                 std::span<double> weights) {
    const std::size_t index = static_cast<std::size_t>(&plan - network.projections.data());
    Stored::ProjectionWeights& own = stored[worker].weights[index];
    (kind == plan.positive_kind ? own.positive : own.negative)
        .join(connect::round_as_stored(options.instruction_set, weights, options.double_weights));
}

void TableBuilder::Implementation::begin_storing(std::uint32_t worker, std::pmr::memory_resource* memory) {
    Stored& own = stored[worker];
    own.weights.resize(network.projections.size());
    own.inputs.resize(network.receptors());
    for (std::size_t kind = 0; kind < network.kinds.size(); ++kind) {
        const std::uint32_t receptor = network.kinds[kind].receptor;
        if (!planned.tables[kind].used || !own.inputs[receptor].empty()) continue;
        own.inputs[receptor] = Buffer<std::uint64_t>(layout.shard(worker).size(), memory);
        std::fill_n(own.inputs[receptor].data(), own.inputs[receptor].size(), 0);
    }
}

void TableBuilder::Implementation::end_storing(std::uint32_t worker) {
    Stored& own = stored[worker];
    for (Buffer<std::uint64_t>& inputs : own.inputs) {
        std::uint64_t& most = own.most_inputs.emplace_back(0);
        for (const std::uint64_t of_neuron : inputs.span()) most = std::max(most, of_neuron);
        inputs = {};
    }
}

/// Counts or stores the columns in scratch; rows are indices of sources within the projection, still without the base of
/// the table's rows.
void TableBuilder::Implementation::hand_over(const ProjectionPlan& plan, std::uint32_t worker, bool store,
                                             Scratch& scratch) {
    const std::size_t total = scratch.rows.size();
    const auto tag = static_cast<std::uint16_t>(plan.id.value);
    const auto hand = [&](KindIndex kind, std::size_t begin, std::size_t count) {
        const std::uint32_t base = base_row(plan, kind);
        for (std::size_t i = begin; i < begin + count; ++i) scratch.rows[i] += base;
        if (!store) {
            builders[worker]->count(kind, scratch.rows.data() + begin, count);
            return;
        }
        round_weights(plan, worker, kind, std::span(scratch.weights).subspan(begin, count));
        // The synapses of one target stand together.
        std::uint64_t* const inputs = stored[worker].inputs[network.receptor(kind)].data();
        for (std::size_t i = begin; i < begin + count;) {
            const std::uint32_t target = scratch.targets[i];
            const std::size_t first = i;
            while (i < begin + count && scratch.targets[i] == target) ++i;
            inputs[target] += std::uint64_t{plan.most_spikes} * (i - first);
        }
        scratch.delays.resize(total);
        Dispatched<RoundDelays>::call(options.instruction_set,
                                      static_cast<const double*>(scratch.milliseconds.data()) + begin, count,
                                      1.0 / options.resolution, table(kind).least_delay, scratch.delays.data() + begin);
        builders[worker]->store(kind, {.rows = scratch.rows.data() + begin,
                                       .targets = scratch.targets.data() + begin,
                                       .weights = scratch.weights.data() + begin,
                                       .delays = scratch.delays.data() + begin,
                                       .count = count,
                                       .tag = tag});
    };
    if (!plan.kind_varies()) {
        hand(plan.positive_kind, 0, total);
        return;
    }
    // Stretches of equal sign keep the order of the synapses.
    for (std::size_t begin = 0; begin < total;) {
        const KindIndex kind = plan.kind_of(scratch.weights[begin]);
        std::size_t end = begin + 1;
        while (end < total && plan.kind_of(scratch.weights[end]) == kind) ++end;
        hand(kind, begin, end - begin);
        begin = end;
    }
}

void TableBuilder::Implementation::draw_by_target(const ProjectionPlan& plan, std::uint32_t worker, bool store,
                                                  Scratch& scratch) {
    const double degree = plan.sampler->expected_synapses() / static_cast<double>(plan.pairs.targets);
    const auto batch_targets = static_cast<std::uint64_t>(
        std::clamp(static_cast<double>(batch_synapses) / std::max(degree, 1e-3), 1.0, 4096.0));
    for (const PopulationId population : plan.target_populations) {
        const ShardLayout::PopulationShare& share = layout.shard(worker).share(population);
        const IdSequence own = share.ids.within(plan.pairs.first_target, plan.pairs.targets);
        if (own.empty()) continue;
        const std::uint32_t first_local = layout.shard(worker).local_index(population, own[0]).value;
        for (std::uint64_t done = 0; done < own.size(); done += batch_targets) {
            team.check_cancelled();
            const IdSequence batch = own.subsequence(done, std::min(batch_targets, own.size() - done));
            batch.for_each_progression(
                [&](std::uint64_t position, NeuronId first, std::uint64_t stride, std::uint64_t targets) {
                    const std::uint64_t begin = first.value - plan.pairs.first_target.value;
                    const std::uint32_t local = first_local + static_cast<std::uint32_t>(done + position);
                    draw_progression(plan, worker, {begin, stride, targets, local}, store, scratch);
                });
        }
    }
}

void TableBuilder::Implementation::draw_progression(const ProjectionPlan& plan, std::uint32_t worker,
                                                    const TargetProgression& targets, bool store, Scratch& scratch) {
    plan.sampler->draw(options.instruction_set, targets.begin, targets.stride, targets.count, scratch.degrees,
                       scratch.partners);
    const std::size_t total = scratch.partners.size();
    scratch.rows.resize(total);
    for (std::size_t i = 0; i < total; ++i) scratch.rows[i] = static_cast<std::uint32_t>(scratch.partners[i]);
    if (store) {
        scratch.targets.resize(total);
        std::size_t position = 0;
        for (std::uint64_t i = 0; i < targets.count; ++i) {
            std::fill_n(scratch.targets.data() + position, scratch.degrees[i],
                        targets.first_local + static_cast<std::uint32_t>(i));
            position += scratch.degrees[i];
        }
    }
    fill_values(plan, targets.begin, targets.stride, store || plan.kind_varies(), store, scratch);
    hand_over(plan, worker, store, scratch);
}

/// Draws the synapses of some sources and puts each into the box for the shard of its target.
void TableBuilder::Implementation::route(const ProjectionPlan& plan, std::uint32_t worker, std::uint64_t begin,
                                         std::uint64_t count, bool store, Scratch& scratch) {
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
            synapse.kind = static_cast<std::uint16_t>(kind.value);
            if (store) {
                const DelaySteps delay = round_delay(scratch.milliseconds[position], 1.0 / options.resolution);
                synapse.delay = static_cast<std::uint16_t>(delay - table(kind).least_delay);
            }
            if (location.rank == layout.rank()) {
                put_in_box(plan, target, synapse, worker);
            } else {
                remote[worker].push_back(synapse);
                remote_ranks[worker].push_back(location.rank);
            }
        }
    }
}

/// Puts a synapse whose target lives here into the box for its shard; `from` is the worker that has drawn it, or shards()
/// when it came from another process.
void TableBuilder::Implementation::put_in_box(const ProjectionPlan& plan, NeuronId target, const RemoteSynapse& synapse,
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

/// Sends what the workers have drawn for other processes, and takes what those have drawn for this one.
void TableBuilder::Implementation::exchange_remote(const ProjectionPlan& plan) {
    std::vector<std::uint64_t> counts(ranks(), 0);
    for (const std::vector<Rank>& own : remote_ranks) {
        for (const Rank rank : own) ++counts[static_cast<std::size_t>(rank.value)];
    }
    std::vector<std::uint64_t> next(ranks(), 0);
    std::exclusive_scan(counts.begin(), counts.end(), next.begin(), std::uint64_t{0});
    std::vector<RemoteSynapse> packed(next.back() + counts.back());
    for (std::uint32_t worker = 0; worker < shards(); ++worker) {
        for (std::size_t i = 0; i < remote[worker].size(); ++i) {
            packed[next[static_cast<std::size_t>(remote_ranks[worker][i].value)]++] = remote[worker][i];
        }
        remote[worker].clear();
        remote_ranks[worker].clear();
    }
    comm::Redistribution<RemoteSynapse>(*communicator, options.buffer_bytes)
        .run(packed, counts, [&](const auto& piece) {
            for (const RemoteSynapse& synapse : piece.records) {
                put_in_box(plan, layout.placement().id_at(layout.rank(), synapse.target), synapse, shards());
            }
        });
}

void TableBuilder::Implementation::take_routed(const ProjectionPlan& plan, std::uint32_t worker, bool store,
                                               Scratch& scratch) {
    const KindIndex kinds[] = {plan.positive_kind, plan.negative_kind};
    for (const KindIndex kind : std::span(kinds, plan.kind_varies() ? 2 : 1)) {
        scratch.rows.clear();
        scratch.targets.clear();
        scratch.weights.clear();
        scratch.delays.clear();
        const std::uint32_t base = base_row(plan, kind);
        // The order of the boxes does not matter: one worker has drawn all synapses of a source, and they lie in one
        // box in order.
        for (std::uint32_t from = 0; from <= shards(); ++from) {
            for (const RoutedSynapse& synapse : routed[from * shards() + worker]) {
                if (synapse.kind != kind.value) continue;
                scratch.rows.push_back(base + synapse.row);
                scratch.targets.push_back(synapse.target);
                scratch.weights.push_back(synapse.weight);
                scratch.delays.push_back(synapse.delay);
            }
        }
        if (!store) {
            builders[worker]->count(kind, scratch.rows.data(), scratch.rows.size());
            continue;
        }
        round_weights(plan, worker, kind, scratch.weights);
        std::uint64_t* const inputs = stored[worker].inputs[network.receptor(kind)].data();
        for (const std::uint32_t target : scratch.targets) inputs[target] += plan.most_spikes;
        builders[worker]->store(kind, {.rows = scratch.rows.data(),
                                       .targets = scratch.targets.data(),
                                       .weights = scratch.weights.data(),
                                       .delays = scratch.delays.data(),
                                       .count = scratch.rows.size(),
                                       .tag = static_cast<std::uint16_t>(plan.id.value)});
    }
    for (std::uint32_t from = 0; from <= shards(); ++from) routed[from * shards() + worker].clear();
}

void TableBuilder::Implementation::draw_by_source(const ProjectionPlan& plan, std::uint32_t worker, bool store,
                                                  Scratch& scratch) {
    const double degree = plan.sampler->expected_synapses() / static_cast<double>(plan.pairs.sources);
    // The same on all processes, whose rounds must agree whatever their numbers of workers; and no more than an equal share
    // of the sources.
    const std::uint64_t share = (plan.pairs.sources + ranks() - 1) / ranks();
    const auto per_rank = std::min(
        share, static_cast<std::uint64_t>(std::max(1.0, static_cast<double>(round_synapses) / std::max(degree, 1.0))));
    const std::uint64_t per_worker = (per_rank + shards() - 1) / shards();
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
        take_routed(plan, worker, store, scratch);
        team.wait();
    }
}

void TableBuilder::Implementation::pass(std::uint32_t worker, bool store) {
    Scratch scratch;
    for (const ProjectionPlan& plan : network.projections) {
        if (plan.pairs.sources == 0 || plan.pairs.targets == 0) continue;
        if (plan.sampler->major() == RuleSampler::Major::target) {
            draw_by_target(plan, worker, store, scratch);
        } else {
            draw_by_source(plan, worker, store, scratch);
        }
    }
}

TableBuilder::TableBuilder(const NetworkPlan& network, const ProcessLayout& layout, BuildOptions options,
                           parallel::Team& team, std::shared_ptr<comm::Communicator> communicator)
    : implementation_(new Implementation{.network = network,
                                         .layout = layout,
                                         .options = options,
                                         .team = team,
                                         .communicator = std::move(communicator),
                                         .planned = plan_tables(network, layout, options),
                                         .builders = {},
                                         .routed = {},
                                         .remote = {},
                                         .remote_ranks = {},
                                         .stored = {}}) {
    for (const TablePlan& table : implementation_->planned.tables) {
        if (table.tagged && network.projections.size() > std::size_t{UINT16_MAX} + 1) {
            throw ValueOutOfBoundsError({.object = "number of projections",
                                         .value = std::to_string(network.projections.size()),
                                         .bound = "at most 65536 where projections connect the same pairs of neurons",
                                         .remedy = "join projections into one with arrays of weights and delays"});
        }
    }
    const std::size_t shards = layout.shards().size();
    implementation_->builders.resize(shards);
    implementation_->routed.resize((shards + 1) * shards);
    implementation_->remote.resize(shards);
    implementation_->remote_ranks.resize(shards);
    implementation_->stored.resize(shards);
}

RowNumbering TableBuilder::numbering() const { return implementation_->planned.numbering; }

TableBuilder::~TableBuilder() = default;

void TableBuilder::build(std::uint32_t worker, TableMemory memory) {
    Implementation& self = *implementation_;
    // Here, so that the worker touches the memory of its shard first.
    self.builders[worker] =
        make_shard_builder(self.planned.tables, self.layout.shard(worker), self.options, self.team, memory);
    self.pass(worker, false);
    self.builders[worker]->allocate();
    self.begin_storing(worker, memory.synapses);
    self.pass(worker, true);
    self.end_storing(worker);
}

WeightRange TableBuilder::weights(std::size_t plan, std::uint32_t receptor) const {
    WeightRange range;
    const NetworkPlan& network = implementation_->network;
    const ProjectionPlan& projection = network.projections[plan];
    for (const Implementation::Stored& own : implementation_->stored) {
        if (network.receptor(projection.positive_kind) == receptor) range.join(own.weights[plan].positive);
        if (network.receptor(projection.negative_kind) == receptor) range.join(own.weights[plan].negative);
    }
    return range;
}

std::uint64_t TableBuilder::most_inputs(std::uint32_t receptor) const {
    std::uint64_t most = 0;
    for (const Implementation::Stored& own : implementation_->stored) most = std::max(most, own.most_inputs[receptor]);
    return most;
}

ShardTables TableBuilder::finish(std::uint32_t worker, std::span<const double> quanta) {
    ShardTables tables = implementation_->builders[worker]->finish(quanta);
    implementation_->builders[worker].reset();
    return tables;
}

}  // namespace ranvier::connect
