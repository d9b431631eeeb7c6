#include "connect/table_builder.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "base/errors.hpp"
#include "connect/shard_builder.hpp"

namespace ranvier::connect {

namespace {

constexpr std::size_t batch_synapses = 8192;
/// Synapses that all workers together hold at a time on the way from the shard that draws them to the one that stores
/// them.
constexpr std::size_t round_synapses = std::size_t{1} << 20;

bool overlap(NeuronId a, std::uint64_t a_size, NeuronId b, std::uint64_t b_size) {
    return a.value < b.value + b_size && b.value < a.value + a_size;
}

/// Whether some pair of neurons is connected by two projections of this receptor.
bool is_ambiguous(std::span<const ProjectionPlan> plans, std::uint32_t receptor) {
    std::map<std::uint32_t, std::vector<const ProjectionPlan*>> by_target;
    for (const ProjectionPlan& plan : plans) {
        if (plan.feeds(receptor)) by_target[plan.target_population.value].push_back(&plan);
    }
    for (const auto& [population, group] : by_target) {
        for (std::size_t i = 0; i < group.size(); ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                const PairSpace& a = group[i]->pairs;
                const PairSpace& b = group[j]->pairs;
                if (overlap(a.first_source, a.sources, b.first_source, b.sources) &&
                    overlap(a.first_target, a.targets, b.first_target, b.targets)) {
                    return true;
                }
            }
        }
    }
    return false;
}

TablePlan plan_table(std::span<const ProjectionPlan> plans, std::uint32_t receptor, double resolution) {
    TablePlan table;
    std::vector<RowMap::Range> ranges;
    DelaySteps least = UINT32_MAX;
    DelaySteps greatest = 0;
    for (const ProjectionPlan& plan : plans) {
        if (!plan.feeds(receptor) || plan.pairs.sources == 0 || plan.pairs.targets == 0) continue;
        ranges.push_back({plan.pairs.first_source, plan.pairs.sources, 0});
        least = std::min(least, round_delay(plan.delays.least(), 1.0 / resolution));
        greatest = std::max(greatest, round_delay(plan.delays.greatest(), 1.0 / resolution));
    }
    table.used = !ranges.empty();
    if (!table.used) return table;
    table.row_map = RowMap(std::move(ranges));
    table.tagged = is_ambiguous(plans, receptor);
    table.least_delay = least;
    table.greatest_delay = greatest;
    return table;
}

/// Weights to what will be stored: the precision of the table and the grid of the receptor.
template <class Weight>
struct RoundWeights {
    RANVIER_ALWAYS_INLINE static void run(double* __restrict weights, std::size_t count, WeightGrid grid) {
        for (std::size_t i = 0; i < count; ++i) {
            weights[i] = grid.round(static_cast<double>(static_cast<Weight>(weights[i])));
        }
    }
};

struct RoundDelays {
    RANVIER_ALWAYS_INLINE static void run(const double* __restrict milliseconds, std::size_t count,
                                          double steps_per_millisecond, DelaySteps least,
                                          std::uint16_t* __restrict out) {
        for (std::size_t i = 0; i < count; ++i) {
            out[i] = static_cast<std::uint16_t>(round_delay(milliseconds[i], steps_per_millisecond) - least);
        }
    }
};

/// A synapse on its way to the shard of its target.
struct RoutedSynapse {
    std::uint32_t row = 0;
    std::uint32_t target = 0;
    double weight = 0.0;
    std::uint16_t delay = 0;
    std::uint16_t receptor = 0;
};

std::unique_ptr<ShardBuilder> make_shard_builder(std::span<const TablePlan> plans, std::uint32_t local_neurons,
                                                 const BuildOptions& options, const parallel::Team& team) {
    const bool narrow = local_neurons <= std::uint32_t{UINT16_MAX} + 1;
    if (options.double_weights) {
        if (narrow)
            return std::make_unique<TypedShardBuilder<std::uint16_t, double>>(plans, local_neurons, options, team);
        return std::make_unique<TypedShardBuilder<std::uint32_t, double>>(plans, local_neurons, options, team);
    }
    if (narrow) return std::make_unique<TypedShardBuilder<std::uint16_t, float>>(plans, local_neurons, options, team);
    return std::make_unique<TypedShardBuilder<std::uint32_t, float>>(plans, local_neurons, options, team);
}

}  // namespace

struct TableBuilder::Implementation {
    std::span<const ProjectionPlan> plans;
    std::span<const ShardLayout> layouts;
    BuildOptions options;
    parallel::Team& team;
    std::vector<TablePlan> tables;
    std::vector<std::unique_ptr<ShardBuilder>> builders;
    /// routed[from * shards + to]
    std::vector<std::vector<RoutedSynapse>> routed;

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

    std::uint32_t shards() const { return static_cast<std::uint32_t>(layouts.size()); }
    std::uint32_t base_row(const ProjectionPlan& plan, std::uint32_t receptor) const {
        return plan.feeds(receptor) ? tables[receptor].row_map.row(plan.pairs.first_source).value : 0;
    }

    /// One pass over all projections: counts or stores.
    void pass(std::uint32_t worker, bool store);
    void draw_by_target(const ProjectionPlan& plan, std::uint32_t worker, bool store, Scratch& scratch);
    void draw_by_source(const ProjectionPlan& plan, std::uint32_t worker, bool store, Scratch& scratch);
    void route(const ProjectionPlan& plan, std::uint32_t worker, std::uint64_t begin, std::uint64_t count, bool store,
               Scratch& scratch);
    void take_routed(const ProjectionPlan& plan, std::uint32_t worker, bool store, Scratch& scratch);
    void fill_values(const ProjectionPlan& plan, std::uint64_t begin, std::uint64_t stride, bool weights, bool delays,
                     Scratch& scratch) const;
    void hand_over(const ProjectionPlan& plan, std::uint32_t worker, bool store, Scratch& scratch);
    void round_weights(const ProjectionPlan& plan, std::uint32_t receptor, double* weights, std::size_t count) const;
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

void TableBuilder::Implementation::round_weights(const ProjectionPlan& plan, std::uint32_t receptor, double* weights,
                                                 std::size_t count) const {
    const WeightGrid grid = plan.grids[receptor];
    if (options.double_weights) {
        Dispatched<RoundWeights<double>>::call(options.instruction_set, weights, count, grid);
    } else {
        Dispatched<RoundWeights<float>>::call(options.instruction_set, weights, count, grid);
    }
}

/// Counts or stores the columns in scratch; rows are indices of sources within the projection, still without the base of
/// the table's rows.
void TableBuilder::Implementation::hand_over(const ProjectionPlan& plan, std::uint32_t worker, bool store,
                                             Scratch& scratch) {
    const std::size_t total = scratch.rows.size();
    const auto tag = static_cast<std::uint16_t>(plan.id.value);
    const auto hand = [&](std::uint32_t receptor, std::size_t begin, std::size_t count) {
        const std::uint32_t base = base_row(plan, receptor);
        for (std::size_t i = begin; i < begin + count; ++i) scratch.rows[i] += base;
        if (!store) {
            builders[worker]->count(receptor, scratch.rows.data() + begin, count);
            return;
        }
        round_weights(plan, receptor, scratch.weights.data() + begin, count);
        scratch.delays.resize(total);
        Dispatched<RoundDelays>::call(
            options.instruction_set, static_cast<const double*>(scratch.milliseconds.data()) + begin, count,
            1.0 / options.resolution, tables[receptor].least_delay, scratch.delays.data() + begin);
        builders[worker]->store(receptor, {.rows = scratch.rows.data() + begin,
                                           .targets = scratch.targets.data() + begin,
                                           .weights = scratch.weights.data() + begin,
                                           .delays = scratch.delays.data() + begin,
                                           .count = count,
                                           .tag = tag});
    };
    if (!plan.receptor_varies()) {
        hand(plan.feeds(0) ? 0 : 1, 0, total);
        return;
    }
    // Stretches of equal sign keep the order of the synapses.
    for (std::size_t begin = 0; begin < total;) {
        const std::uint32_t receptor = plan.receptor_of(scratch.weights[begin]);
        std::size_t end = begin + 1;
        while (end < total && plan.receptor_of(scratch.weights[end]) == receptor) ++end;
        hand(receptor, begin, end - begin);
        begin = end;
    }
}

void TableBuilder::Implementation::draw_by_target(const ProjectionPlan& plan, std::uint32_t worker, bool store,
                                                  Scratch& scratch) {
    const ShardLayout& layout = layouts[worker];
    const auto [skip, count] = layout.local(plan.pairs.first_target, plan.pairs.targets);
    if (count == 0) return;
    const std::uint32_t first_local =
        layout.local_index(plan.target_population, NeuronId{plan.pairs.first_target.value + skip}).value;
    const double degree = plan.sampler->expected_synapses() / static_cast<double>(plan.pairs.targets);
    const auto batch_targets = static_cast<std::uint64_t>(
        std::clamp(static_cast<double>(batch_synapses) / std::max(degree, 1e-3), 1.0, 4096.0));
    for (std::uint64_t done = 0; done < count; done += batch_targets) {
        team.check_cancelled();
        const std::uint64_t targets = std::min(batch_targets, count - done);
        const std::uint64_t begin = skip + done * shards();
        plan.sampler->draw(options.instruction_set, begin, shards(), targets, scratch.degrees, scratch.partners);
        const std::size_t total = scratch.partners.size();
        scratch.rows.resize(total);
        for (std::size_t i = 0; i < total; ++i) scratch.rows[i] = static_cast<std::uint32_t>(scratch.partners[i]);
        if (store) {
            scratch.targets.resize(total);
            std::size_t position = 0;
            for (std::uint64_t i = 0; i < targets; ++i) {
                std::fill_n(scratch.targets.data() + position, scratch.degrees[i],
                            first_local + static_cast<std::uint32_t>(done + i));
                position += scratch.degrees[i];
            }
        }
        fill_values(plan, begin, shards(), store || plan.receptor_varies(), store, scratch);
        hand_over(plan, worker, store, scratch);
    }
}

/// Draws the synapses of some sources and puts each into the box for the shard of its target.
void TableBuilder::Implementation::route(const ProjectionPlan& plan, std::uint32_t worker, std::uint64_t begin,
                                         std::uint64_t count, bool store, Scratch& scratch) {
    plan.sampler->draw(options.instruction_set, begin, 1, count, scratch.degrees, scratch.partners);
    const bool weights = store || plan.receptor_varies();
    fill_values(plan, begin, 1, weights, store, scratch);
    std::size_t position = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        for (std::uint32_t k = 0; k < scratch.degrees[i]; ++k, ++position) {
            const NeuronId target{plan.pairs.first_target.value + scratch.partners[position]};
            const auto shard = static_cast<std::uint32_t>(target.value % shards());
            RoutedSynapse synapse;
            synapse.row = static_cast<std::uint32_t>(begin + i);
            synapse.target = layouts[shard].local_index(plan.target_population, target).value;
            if (weights) {
                synapse.weight = scratch.weights[position];
                synapse.receptor = static_cast<std::uint16_t>(plan.receptor_of(synapse.weight));
            } else {
                synapse.receptor = plan.feeds(0) ? 0 : 1;
            }
            if (store) {
                const DelaySteps delay = round_delay(scratch.milliseconds[position], 1.0 / options.resolution);
                synapse.delay = static_cast<std::uint16_t>(delay - tables[synapse.receptor].least_delay);
            }
            routed[worker * shards() + shard].push_back(synapse);
        }
    }
}

void TableBuilder::Implementation::take_routed(const ProjectionPlan& plan, std::uint32_t worker, bool store,
                                               Scratch& scratch) {
    for (std::uint32_t receptor = 0; receptor < receptors; ++receptor) {
        if (!plan.feeds(receptor)) continue;
        scratch.rows.clear();
        scratch.targets.clear();
        scratch.weights.clear();
        scratch.delays.clear();
        const std::uint32_t base = base_row(plan, receptor);
        // Boxes in the order of the shards that filled them, which is that of the sources.
        for (std::uint32_t from = 0; from < shards(); ++from) {
            for (const RoutedSynapse& synapse : routed[from * shards() + worker]) {
                if (synapse.receptor != receptor) continue;
                scratch.rows.push_back(base + synapse.row);
                scratch.targets.push_back(synapse.target);
                scratch.weights.push_back(synapse.weight);
                scratch.delays.push_back(synapse.delay);
            }
        }
        if (!store) {
            builders[worker]->count(receptor, scratch.rows.data(), scratch.rows.size());
            continue;
        }
        round_weights(plan, receptor, scratch.weights.data(), scratch.weights.size());
        builders[worker]->store(receptor, {.rows = scratch.rows.data(),
                                           .targets = scratch.targets.data(),
                                           .weights = scratch.weights.data(),
                                           .delays = scratch.delays.data(),
                                           .count = scratch.rows.size(),
                                           .tag = static_cast<std::uint16_t>(plan.id.value)});
    }
    for (std::uint32_t from = 0; from < shards(); ++from) routed[from * shards() + worker].clear();
}

void TableBuilder::Implementation::draw_by_source(const ProjectionPlan& plan, std::uint32_t worker, bool store,
                                                  Scratch& scratch) {
    const double degree = plan.sampler->expected_synapses() / static_cast<double>(plan.pairs.sources);
    const auto per_worker = static_cast<std::uint64_t>(
        std::max(1.0, static_cast<double>(round_synapses) / (std::max(degree, 1.0) * shards())));
    const std::uint64_t per_round = per_worker * shards();
    for (std::uint64_t round = 0; round < plan.pairs.sources; round += per_round) {
        const std::uint64_t begin = std::min(round + worker * per_worker, plan.pairs.sources);
        const std::uint64_t end = std::min(begin + per_worker, plan.pairs.sources);
        team.check_cancelled();
        if (end > begin) route(plan, worker, begin, end - begin, store, scratch);
        team.wait();
        take_routed(plan, worker, store, scratch);
        team.wait();
    }
}

void TableBuilder::Implementation::pass(std::uint32_t worker, bool store) {
    Scratch scratch;
    for (const ProjectionPlan& plan : plans) {
        if (plan.pairs.sources == 0 || plan.pairs.targets == 0) continue;
        if (plan.sampler->major() == RuleSampler::Major::target) {
            draw_by_target(plan, worker, store, scratch);
        } else {
            draw_by_source(plan, worker, store, scratch);
        }
    }
}

TableBuilder::TableBuilder(std::span<const ProjectionPlan> plans, std::span<const ShardLayout> layouts,
                           BuildOptions options, parallel::Team& team)
    : implementation_(new Implementation{.plans = plans,
                                         .layouts = layouts,
                                         .options = options,
                                         .team = team,
                                         .tables = {},
                                         .builders = {},
                                         .routed = {}}) {
    for (std::uint32_t receptor = 0; receptor < receptors; ++receptor) {
        implementation_->tables.push_back(plan_table(plans, receptor, options.resolution));
        if (implementation_->tables.back().tagged && plans.size() > std::size_t{UINT16_MAX} + 1) {
            throw ValueOutOfBoundsError({.object = "number of projections",
                                         .value = std::to_string(plans.size()),
                                         .bound = "at most 65536 where projections connect the same pairs of neurons",
                                         .remedy = "join projections into one with arrays of weights and delays"});
        }
    }
    implementation_->builders.resize(layouts.size());
    implementation_->routed.resize(layouts.size() * layouts.size());
}

TableBuilder::~TableBuilder() = default;

void TableBuilder::build(std::uint32_t worker) {
    Implementation& self = *implementation_;
    // Here, so that the worker touches the memory of its shard first.
    self.builders[worker] = make_shard_builder(self.tables, self.layouts[worker].size(), self.options, self.team);
    self.pass(worker, false);
    self.builders[worker]->allocate();
    self.pass(worker, true);
}

ShardTables TableBuilder::finish(std::uint32_t worker) {
    ShardTables tables = implementation_->builders[worker]->finish();
    implementation_->builders[worker].reset();
    return tables;
}

TableEstimate estimate_tables(std::span<const ProjectionPlan> plans, std::span<const ShardLayout> layouts,
                              const BuildOptions& options) {
    TableEstimate estimate;
    for (std::uint32_t receptor = 0; receptor < TableBuilder::receptors; ++receptor) {
        const TablePlan table = plan_table(plans, receptor, options.resolution);
        if (!table.used) continue;
        double synapses = 0.0;
        for (const ProjectionPlan& plan : plans) {
            // Where the sign is drawn, the synapses are counted with the first receptor.
            if (plan.feeds(receptor) && !(receptor == 1 && plan.feeds(0)))
                synapses += plan.sampler->expected_synapses();
        }
        const double rows = table.row_map.rows();
        const DelaySteps range = table.greatest_delay - table.least_delay;
        const double delay_bytes = range == 0 ? 0.0 : (range > UINT8_MAX ? 2.0 : 1.0);
        for (const ShardLayout& layout : layouts) {
            const double share = synapses / static_cast<double>(layouts.size());
            const double target_bytes = layout.size() <= std::uint32_t{UINT16_MAX} + 1 ? 2.0 : 4.0;
            const double columns =
                share * (target_bytes + (options.double_weights ? 8.0 : 4.0) + (table.tagged ? 2.0 : 0.0));
            const double starts = 8.0 * (rows + 1.0);
            const double offset_bytes = rows > 0.0 && share / rows > 30000.0 ? 4.0 : 2.0;
            const bool ring = options.layout == TableLayout::ring ||
                              (options.layout == TableLayout::automatic && range > 0 &&
                               prefer_ring(static_cast<std::uint64_t>(share), table.row_map.rows(), range + 1,
                                           table.greatest_delay, layout.size()));
            if (ring) estimate.reach = std::max(estimate.reach, table.greatest_delay);
            const double offsets = ring ? 0.0 : rows * (range + 2.0) * offset_bytes;
            estimate.final_bytes += columns + starts + (ring ? share * delay_bytes : offsets);
            estimate.peak_bytes += columns + starts + share * delay_bytes + std::max(offsets, 8.0 * rows);
        }
    }
    return estimate;
}

}  // namespace ranvier::connect
