#include "connect/tables/table_builder.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "connect/rules/placed_sampler.hpp"
#include "connect/tables/source_containers.hpp"
#include "connect/tables/table_builder_implementation.hpp"
#include "connect/tables/transmitter_table.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::connect {

namespace {

constexpr std::size_t batch_synapses = 8192;

struct RoundDelays {
    RANVIER_ALWAYS_INLINE static void run(const double* __restrict milliseconds, std::size_t count, DelayGrid grid,
                                          DelaySteps least, std::uint16_t* __restrict out) {
        for (std::size_t i = 0; i < count; ++i) {
            out[i] = static_cast<std::uint16_t>(round_delay(milliseconds[i], grid) - least);
        }
    }
};

/// For tables whose targets need 16 or 32 bits.
std::unique_ptr<ShardBuilder> make_shard_builder(bool narrow, std::span<const TablePlan> plans,
                                                 std::span<const InputLayout> inputs, const BuildOptions& options,
                                                 const parallel::Team& team, TableMemory memory) {
    if (options.double_weights) {
        if (narrow)
            return std::make_unique<TypedShardBuilder<std::uint16_t, double>>(plans, inputs, options, team, memory);
        return std::make_unique<TypedShardBuilder<std::uint32_t, double>>(plans, inputs, options, team, memory);
    }
    if (narrow) return std::make_unique<TypedShardBuilder<std::uint16_t, float>>(plans, inputs, options, team, memory);
    return std::make_unique<TypedShardBuilder<std::uint32_t, float>>(plans, inputs, options, team, memory);
}

/// For tables of both widths: receptors differ in their numbers of inputs.
class MixedShardBuilder final : public ShardBuilder {
   public:
    MixedShardBuilder(std::span<const TablePlan> plans, std::span<const InputLayout> inputs,
                      const BuildOptions& options, const parallel::Team& team, TableMemory memory) {
        std::vector<TablePlan> plans_by_width[2] = {{plans.begin(), plans.end()}, {plans.begin(), plans.end()}};
        for (std::size_t kind = 0; kind < plans.size(); ++kind) {
            is_wide_.push_back(!has_narrow_targets(inputs[plans[kind].receptor].size()));
            TablePlan& other = plans_by_width[is_wide_[kind] ? 0 : 1][kind];
            other.used = false;
        }
        narrow_ = make_shard_builder(true, plans_by_width[0], inputs, options, team, memory);
        wide_ = make_shard_builder(false, plans_by_width[1], inputs, options, team, memory);
    }

    void count(KindIndex kind, const std::uint32_t* rows, std::size_t count) override {
        of(kind).count(kind, rows, count);
    }
    void allocate() override {
        narrow_->allocate();
        wide_->allocate();
    }
    void store(KindIndex kind, const SynapseBatch& batch) override { of(kind).store(kind, batch); }
    void store(KindIndex kind, const StagedBatch& batch) override { of(kind).store(kind, batch); }
    ShardTables finish(std::span<const double> quanta, bool only_static) override {
        ShardTables tables = narrow_->finish(quanta, only_static);
        ShardTables wide = wide_->finish(quanta, only_static);
        for (std::size_t kind = 0; kind < tables.size(); ++kind) {
            if (is_wide_[kind]) tables[kind] = std::move(wide[kind]);
        }
        return tables;
    }

   private:
    ShardBuilder& of(KindIndex kind) { return is_wide_[kind.value] ? *wide_ : *narrow_; }

    std::vector<bool> is_wide_;  ///< by kind
    std::unique_ptr<ShardBuilder> narrow_;
    std::unique_ptr<ShardBuilder> wide_;
};

/// Stores the synapses of each source in a separate container (SourceContainers), and makes the tables at the end, one
/// after another, so that containers are freed before the next table is allocated. Needs no first pass.
template <class Weight>
class ContainerShardBuilder final : public ShardBuilder {
   public:
    ContainerShardBuilder(std::span<const TablePlan> plans, std::span<const InputLayout> inputs,
                          const BuildOptions& options, const parallel::Team& team, TableMemory memory)
        : plans_(plans.begin(), plans.end()), inputs_(inputs), options_(options), team_(team), memory_(memory) {
        for (const TablePlan& plan : plans_) {
            containers_.push_back(plan.used ? std::make_unique<SourceContainers<Weight>>(plan.row_map.rows(),
                                                                                         plan.per_synapse_parameters())
                                            : nullptr);
        }
    }

    void count(KindIndex /*kind*/, const std::uint32_t* /*rows*/, std::size_t /*count*/) override {}
    void allocate() override {}
    void store(KindIndex kind, const SynapseBatch& batch) override { containers_[kind.value]->add(batch); }
    void store(KindIndex kind, const StagedBatch& batch) override { containers_[kind.value]->add(batch); }

    ShardTables finish(std::span<const double> quanta, bool only_static) override {
        ShardTables tables(plans_.size());
        for (std::size_t kind = 0; kind < plans_.size(); ++kind) {
            if (only_static && plans_[kind].dynamics != nullptr) continue;
            if (containers_[kind] != nullptr) tables[kind] = make_table(kind, quanta);
        }
        return tables;
    }

   private:
    /// Some synapses of one projection.
    struct Batch {
        explicit Batch(std::size_t parameter_count)
            : rows(batch_synapses),
              targets(batch_synapses),
              weights(batch_synapses),
              delays(batch_synapses),
              parameters(parameter_count * batch_synapses) {}

        bool is_full() const { return count == batch_synapses; }
        void add(std::uint32_t row, const typename SourceContainers<Weight>::Synapse& synapse,
                 std::span<const Weight> values) {
            rows[count] = row;
            targets[count] = synapse.target;
            weights[count] = static_cast<double>(synapse.weight);
            delays[count] = synapse.delay;
            for (std::size_t k = 0; k < values.size(); ++k) {
                parameters[k * batch_synapses + count] = static_cast<double>(values[k]);
            }
            tag = synapse.tag;
            ++count;
        }
        void pass_to(ShardBuilder& builder, KindIndex kind) {
            if (count == 0) return;
            builder.store(kind, SynapseBatch{.rows = rows.data(),
                                             .targets = targets.data(),
                                             .weights = weights.data(),
                                             .delays = delays.data(),
                                             .parameters = parameters.data(),
                                             .stride = batch_synapses,
                                             .count = count,
                                             .tag = tag});
            count = 0;
        }

        std::vector<std::uint32_t> rows;
        std::vector<std::uint32_t> targets;
        std::vector<double> weights;
        std::vector<std::uint16_t> delays;
        std::vector<double> parameters;  ///< one after another
        std::size_t count = 0;
        std::uint16_t tag = 0;
    };

    std::unique_ptr<SynapseTable> make_table(std::size_t kind, std::span<const double> quanta) {
        std::vector<TablePlan> only_this(plans_);
        for (std::size_t other = 0; other < only_this.size(); ++other) only_this[other].used = other == kind;
        const bool narrow = has_narrow_targets(inputs_[plans_[kind].receptor].size());
        const std::unique_ptr<ShardBuilder> builder =
            make_shard_builder(narrow, only_this, inputs_, options_, team_, memory_);
        const KindIndex index{static_cast<std::uint32_t>(kind)};
        const SourceContainers<Weight>& containers = *containers_[kind];
        containers.for_each(
            [&](std::uint32_t row, const auto&, std::span<const Weight>) { builder->count(index, &row, 1); });
        builder->allocate();
        Batch batch(plans_[kind].per_synapse_parameters());
        containers.for_each([&](std::uint32_t row, const auto& synapse, std::span<const Weight> parameters) {
            if (batch.is_full() || batch.tag != synapse.tag) {
                team_.check_cancelled();
                batch.pass_to(*builder, index);
            }
            batch.add(row, synapse, parameters);
        });
        batch.pass_to(*builder, index);
        containers_[kind].reset();
        return std::move(builder->finish(quanta, false)[kind]);
    }

    std::vector<TablePlan> plans_;
    std::span<const InputLayout> inputs_;  ///< by receptor
    BuildOptions options_;
    const parallel::Team& team_;
    TableMemory memory_;
    std::vector<std::unique_ptr<SourceContainers<Weight>>> containers_;  ///< by kind
};

std::unique_ptr<ShardBuilder> make_shard_builder(std::span<const TablePlan> plans, std::span<const InputLayout> inputs,
                                                 const BuildOptions& options, const parallel::Team& team,
                                                 TableMemory memory) {
    if (options.numbering == RowNumbering::sparse) {
        if (options.double_weights)
            return std::make_unique<ContainerShardBuilder<double>>(plans, inputs, options, team, memory);
        return std::make_unique<ContainerShardBuilder<float>>(plans, inputs, options, team, memory);
    }
    std::size_t narrow = 0;
    for (const TablePlan& plan : plans) narrow += has_narrow_targets(inputs[plan.receptor].size()) ? 1 : 0;
    if (narrow > 0 && narrow < plans.size()) {
        return std::make_unique<MixedShardBuilder>(plans, inputs, options, team, memory);
    }
    return make_shard_builder(narrow > 0, plans, inputs, options, team, memory);
}

}  // namespace

/// Weights and delays of the synapses in scratch.partners, whose major neurons are begin, begin + stride, ...
void TableBuilder::Implementation::fill_values(const ProjectionPlan& plan, std::uint64_t begin, std::uint64_t stride,
                                               bool weights, bool delays, Scratch& scratch) const {
    const std::size_t total = scratch.partners.size();
    if (weights) scratch.weights.resize(total);
    if (delays) scratch.milliseconds.resize(total);
    const DrawnSynapses synapses{begin, stride, scratch.degrees, scratch.partners, scratch.index, scratch.places};
    // Parameters of synapses that are drawn by source are drawn where the synapses are stored.
    const bool parameters = delays && plan.sampler->major() == RuleSampler::Major::target;
    scratch.quantities = plan.quantities(options.instruction_set, synapses, weights, delays, parameters);
    SynapseQuantities* const quantities = scratch.quantities ? &*scratch.quantities : nullptr;
    if (weights) {
        plan.weights.fill(options.instruction_set, *plan.sampler, synapses, quantities, scratch.weights.data());
    }
    if (delays) {
        plan.delays.fill(options.instruction_set, *plan.sampler, synapses, quantities, scratch.milliseconds.data());
    }
}

void TableBuilder::Implementation::fill_parameters(const ProjectionPlan& plan, std::uint64_t begin,
                                                   std::uint64_t stride, Scratch& scratch) const {
    scratch.parameters.resize(plan.parameters.size() * scratch.partners.size());
    const DrawnSynapses synapses{begin, stride, scratch.degrees, scratch.partners};
    SynapseQuantities* const quantities = scratch.quantities ? &*scratch.quantities : nullptr;
    double* out = scratch.parameters.data();
    for (const SynapseValues& values : plan.parameters) {
        values.fill(options.instruction_set, *plan.sampler, synapses, quantities, out);
        out += scratch.partners.size();
    }
}

void TableBuilder::Implementation::fill_sites(const ProjectionPlan& plan, std::uint64_t begin, std::uint64_t stride,
                                              Scratch& scratch) const {
    const std::size_t total = scratch.partners.size();
    scratch.sites.resize(total);
    scratch.room.resize(total);
    std::size_t position = 0;
    for (std::size_t i = 0; i < scratch.degrees.size(); ++i) {
        // Ids between those of the targets may belong to other populations.
        if (scratch.degrees[i] == 0) continue;
        const std::uint64_t major = begin + i * stride;
        const std::uint32_t sites = plan.sites->sites(NeuronId{plan.pairs.first_target.value + major});
        plan.sites->fill(options.instruction_set, *plan.sampler, major, sites, scratch.degrees[i],
                         scratch.room.data() + position, scratch.sites.data() + position);
        position += scratch.degrees[i];
    }
}

void TableBuilder::Implementation::find_inputs(std::uint32_t shard, KindIndex kind, std::size_t begin,
                                               std::size_t count, Scratch& scratch) const {
    const InputLayout& of_receptor = inputs[shard][network.receptor(kind)];
    if (!of_receptor.has_sites()) return;
    for (std::size_t i = begin; i < begin + count;) {
        const LocalIndex neuron{scratch.targets[i]};
        const std::uint32_t first = of_receptor.input(of_receptor.shard().population_of(neuron), neuron, 0);
        // Synapses of one target are contiguous.
        for (; i < begin + count && scratch.targets[i] == neuron.value; ++i) {
            scratch.targets[i] = first + (scratch.sites.empty() ? 0 : scratch.sites[i]);
        }
    }
}

void TableBuilder::Implementation::round_weights(const ProjectionPlan& plan, std::uint32_t shard, KindIndex kind,
                                                 std::span<double> weights) {
    const std::size_t index = static_cast<std::size_t>(&plan - network.projections.data());
    Stored::ProjectionWeights& range = stored[shard].weights[index];
    (kind == plan.positive_kind ? range.positive : range.negative)
        .join(connect::round_as_stored(options.instruction_set, weights, options.double_weights));
}

void TableBuilder::Implementation::begin_storing(std::uint32_t shard, std::pmr::memory_resource* memory) {
    Stored& mine = stored[shard];
    mine.weights.resize(network.projections.size());
    mine.inputs.resize(network.receptors());
    for (std::size_t kind = 0; kind < network.kinds.size(); ++kind) {
        const std::uint32_t receptor = network.kinds[kind].receptor;
        if (!planned.tables[kind].used || !mine.inputs[receptor].empty()) continue;
        mine.inputs[receptor] = Buffer<std::uint64_t>(layout.shard(shard).size(), memory);
        std::fill_n(mine.inputs[receptor].data(), mine.inputs[receptor].size(), 0);
    }
}

void TableBuilder::Implementation::end_storing(std::uint32_t shard) {
    Stored& mine = stored[shard];
    for (Buffer<std::uint64_t>& counts : mine.inputs) {
        std::uint64_t& most = mine.most_inputs.emplace_back(0);
        for (const std::uint64_t of_neuron : counts.span()) most = std::max(most, of_neuron);
        if (!keeps_inputs) counts = {};
    }
}

/// Counts or stores the columns in scratch; rows are indices of sources within the projection, without the base of the
/// table's rows.
void TableBuilder::Implementation::count_or_store(const ProjectionPlan& plan, std::uint32_t shard, bool store,
                                                  Scratch& scratch) {
    const std::size_t total = scratch.rows.size();
    const auto tag = static_cast<std::uint16_t>(plan.id.value);
    const auto hand = [&](KindIndex kind, std::size_t begin, std::size_t count) {
        const std::uint32_t base = base_row(plan, kind);
        for (std::size_t i = begin; i < begin + count; ++i) scratch.rows[i] += base;
        if (!store) {
            builders[shard]->count(kind, scratch.rows.data() + begin, count);
            return;
        }
        round_weights(plan, shard, kind, std::span(scratch.weights).subspan(begin, count));
        // The synapses of one target are contiguous.
        std::uint64_t* const counts = stored[shard].inputs[network.receptor(kind)].data();
        for (std::size_t i = begin; i < begin + count;) {
            const std::uint32_t target = scratch.targets[i];
            const std::size_t first = i;
            while (i < begin + count && scratch.targets[i] == target) ++i;
            counts[target] += std::uint64_t{plan.most_spikes} * (i - first);
        }
        find_inputs(shard, kind, begin, count, scratch);
        scratch.delays.resize(total);
        Dispatched<RoundDelays>::call(options.instruction_set,
                                      static_cast<const double*>(scratch.milliseconds.data()) + begin, count,
                                      plan.delay_grid, table(kind).least_delay, scratch.delays.data() + begin);
        const SynapseBatch batch{.rows = scratch.rows.data() + begin,
                                 .targets = scratch.targets.data() + begin,
                                 .weights = scratch.weights.data() + begin,
                                 .delays = scratch.delays.data() + begin,
                                 .parameters = scratch.parameters.empty() ? nullptr : scratch.parameters.data() + begin,
                                 .stride = total,
                                 .count = count,
                                 .tag = tag};
        if (staged[plan.id.value]) {
            scratch.stage.add(batch, [&](const StagedBatch& some) { builders[shard]->store(kind, some); });
        } else {
            builders[shard]->store(kind, batch);
        }
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

void TableBuilder::Implementation::draw_by_target(const ProjectionPlan& plan, std::uint32_t shard, bool store,
                                                  Scratch& scratch) {
    const double degree = plan.sampler->expected_synapses() / static_cast<double>(plan.pairs.targets);
    const auto batch_targets = static_cast<std::uint64_t>(
        std::clamp(static_cast<double>(batch_synapses) / std::max(degree, 1e-3), 1.0, 4096.0));
    const bool stages = store && staged[plan.id.value];
    if (stages) scratch.stage.begin(base_row(plan, plan.positive_kind), plan.pairs.sources);
    for (const PopulationId population : plan.target_populations) {
        const ShardLayout::PopulationShare& share = layout.shard(shard).share(population);
        const IdSequence target_ids = share.ids.within(plan.pairs.first_target, plan.pairs.targets);
        if (target_ids.empty()) continue;
        const std::uint32_t first_local = layout.shard(shard).local_index(population, target_ids[0]).value;
        for (std::uint64_t done = 0; done < target_ids.size(); done += batch_targets) {
            team.check_cancelled();
            const IdSequence batch = target_ids.subsequence(done, std::min(batch_targets, target_ids.size() - done));
            batch.for_each_progression(
                [&](std::uint64_t position, NeuronId first, std::uint64_t stride, std::uint64_t targets) {
                    const std::uint64_t begin = first.value - plan.pairs.first_target.value;
                    const std::uint32_t local = first_local + static_cast<std::uint32_t>(done + position);
                    draw_progression(plan, shard, {begin, stride, targets, local}, store, scratch);
                });
        }
    }
    if (!stages) return;
    scratch.stage.finish([&](const StagedBatch& batch) { builders[shard]->store(plan.positive_kind, batch); });
}

void TableBuilder::Implementation::draw_partners(const ProjectionPlan& plan, std::uint32_t shard,
                                                 const TargetProgression& targets, bool store, Scratch& scratch) {
    const auto* const placed = dynamic_cast<const PlacedSampler*>(plan.sampler.get());
    scratch.index = placed != nullptr && placed->is_spatial() ? &placed->index() : nullptr;
    if (placed == nullptr) {
        plan.sampler->draw(options.instruction_set, targets.begin, targets.stride, targets.count, scratch.degrees,
                           scratch.partners);
        return;
    }
    KeptPartners& kept_of_plan = kept[shard][static_cast<std::size_t>(&plan - network.projections.data())];
    if (!store || !kept_of_plan.take(scratch.degrees, scratch.places)) {
        placed->draw_places(options.instruction_set, targets.begin, targets.stride, targets.count, scratch.degrees,
                            scratch.places);
    }
    if (!store) kept_of_plan.add(scratch.degrees, scratch.places);
    scratch.partners.resize(scratch.places.size());
    const PartnerIndex& index = placed->index();
    for (std::size_t i = 0; i < scratch.places.size(); ++i) scratch.partners[i] = index.neuron(scratch.places[i]);
}

void TableBuilder::Implementation::draw_progression(const ProjectionPlan& plan, std::uint32_t shard,
                                                    const TargetProgression& targets, bool store, Scratch& scratch) {
    draw_partners(plan, shard, targets, store, scratch);
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
    if (store) fill_parameters(plan, targets.begin, targets.stride, scratch);
    scratch.sites.clear();
    if (store && plan.sites != nullptr) fill_sites(plan, targets.begin, targets.stride, scratch);
    count_or_store(plan, shard, store, scratch);
}

void TableBuilder::Implementation::pass(std::uint32_t worker, bool store) {
    Scratch scratch;
    for (const std::uint32_t index : passes.order) {
        const ProjectionPlan& plan = network.projections[index];
        if (plan.pairs.sources == 0 || plan.pairs.targets == 0) continue;
        if (plan.sampler->major() == RuleSampler::Major::target) {
            for_assigned_shards(worker, [&](std::uint32_t shard) { draw_by_target(plan, shard, store, scratch); });
        } else {
            draw_by_source(plan, worker, store, scratch);
        }
    }
}

void TableBuilder::Implementation::prepare_rules(std::uint32_t worker) {
    for (const ProjectionPlan& plan : network.projections) {
        if (plan.pairs.sources == 0 || plan.pairs.targets == 0) continue;
        for (std::uint64_t part = worker; part < plan.sampler->preparations(); part += team.size()) {
            team.check_cancelled();
            plan.sampler->prepare(part);
        }
    }
    team.wait();
}

TableBuilder::TableBuilder(const NetworkPlan& network, const ProcessLayout& layout, BuildOptions options,
                           parallel::Team& team, std::shared_ptr<comm::Communicator> communicator)
    : implementation_(new Implementation{.network = network,
                                         .layout = layout,
                                         .options = options,
                                         .team = team,
                                         .communicator = std::move(communicator),
                                         .planned = plan_tables(network, layout, options),
                                         .passes = plan_passes(network, layout),
                                         .kept = {},
                                         .staged = {},
                                         .builders = {},
                                         .inputs = {},
                                         .routed = {},
                                         .remote = {},
                                         .remote_ranks = {},
                                         .stored = {},
                                         .keeps_inputs = false}) {
    for (const TablePlan& table : implementation_->planned.tables) {
        if (table.tagged && network.projections.size() > std::size_t{UINT16_MAX} + 1) {
            throw ValueOutOfBoundsError({.object = "number of projections",
                                         .value = std::to_string(network.projections.size()),
                                         .bound = "at most 65536 where projections connect the same pairs of neurons",
                                         .remedy = "join projections into one with arrays of weights and delays"});
        }
    }
    implementation_->staged.resize(network.projections.size());
    for (const ProjectionPlan& plan : network.projections) {
        implementation_->staged[plan.id.value] = stages_synapses(plan, layout, options);
    }
    const std::size_t shards = layout.shards().size();
    implementation_->builders.resize(shards);
    implementation_->kept.resize(shards);
    for (std::vector<KeptPartners>& of_shard : implementation_->kept) {
        for (const double most : implementation_->passes.most_kept_bytes) {
            of_shard.emplace_back(static_cast<std::uint64_t>(most / static_cast<double>(shards)));
        }
    }
    for (const ShardLayout& shard : layout.shards()) {
        std::vector<InputLayout>& of_shard = implementation_->inputs.emplace_back();
        for (std::uint32_t receptor = 0; receptor < std::max(network.receptors(), 1U); ++receptor) {
            of_shard.push_back(network.inputs_at(receptor, shard));
        }
    }
    implementation_->routed.resize((std::size_t{team.size()} + 1) * shards);
    implementation_->remote.resize(team.size());
    implementation_->remote_ranks.resize(team.size());
    implementation_->stored.resize(shards);
}

RowNumbering TableBuilder::numbering() const { return implementation_->planned.numbering; }

TableBuilder::~TableBuilder() = default;

void TableBuilder::build(std::uint32_t worker, const MemoryOfShard& memory_of) {
    Implementation& self = *implementation_;
    // Here, so that the worker touches the memory of its shards first.
    self.for_assigned_shards(worker, [&](std::uint32_t shard) {
        self.builders[shard] =
            make_shard_builder(self.planned.tables, self.inputs[shard], self.options, self.team, memory_of(shard));
    });
    self.prepare_rules(worker);
    // Containers of sources grow with each synapse.
    if (self.planned.numbering != RowNumbering::sparse) self.pass(worker, false);
    self.for_assigned_shards(worker, [&](std::uint32_t shard) {
        self.builders[shard]->allocate();
        self.begin_storing(shard, memory_of(shard).synapses);
    });
    self.pass(worker, true);
    self.for_assigned_shards(worker, [&](std::uint32_t shard) { self.end_storing(shard); });
}

WeightRange TableBuilder::weights(std::size_t plan, std::uint32_t receptor) const {
    WeightRange range;
    const NetworkPlan& network = implementation_->network;
    const ProjectionPlan& projection = network.projections[plan];
    for (const Implementation::Stored& of_shard : implementation_->stored) {
        if (network.receptor(projection.positive_kind) == receptor) range.join(of_shard.weights[plan].positive);
        if (network.receptor(projection.negative_kind) == receptor) range.join(of_shard.weights[plan].negative);
    }
    return range;
}

std::uint64_t TableBuilder::most_inputs(std::uint32_t receptor) const {
    std::uint64_t most = 0;
    for (const Implementation::Stored& of_shard : implementation_->stored)
        most = std::max(most, of_shard.most_inputs[receptor]);
    return most;
}

void TableBuilder::keep_inputs() { implementation_->keeps_inputs = true; }

std::span<const std::uint64_t> TableBuilder::inputs(std::uint32_t shard, std::uint32_t receptor) const {
    const std::vector<Buffer<std::uint64_t>>& inputs = implementation_->stored[shard].inputs;
    return receptor < inputs.size() ? inputs[receptor].span() : std::span<const std::uint64_t>{};
}

ShardTables TableBuilder::finish_static(std::uint32_t shard) {
    return implementation_->builders[shard]->finish({}, true);
}

ShardTables TableBuilder::finish(std::uint32_t shard, std::span<const double> quanta) {
    ShardTables tables = implementation_->builders[shard]->finish(quanta, false);
    implementation_->builders[shard].reset();
    std::vector<const SynapseDynamics*> dynamics;
    dynamics.reserve(implementation_->planned.tables.size());
    for (const TablePlan& plan : implementation_->planned.tables) dynamics.push_back(plan.dynamics);
    append_transmitters(tables, dynamics);
    return tables;
}

}  // namespace ranvier::connect
