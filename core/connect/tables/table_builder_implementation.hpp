#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <vector>

#include "connect/tables/kept_partners.hpp"
#include "connect/tables/shard_builder.hpp"
#include "connect/tables/synapse_stage.hpp"
#include "connect/tables/table_builder.hpp"
#include "connect/tables/table_plan.hpp"

namespace ranvier::connect {

/// A synapse in transit to the process of its target.
struct RemoteSynapse {
    std::uint64_t target = 0;  ///< place on its process
    /// With per-synapse parameters, or sites: the index of the synapse among those of its source, from which weight,
    /// parameters and site are drawn on the target's shard.
    double weight = 0.0;
    std::uint32_t row = 0;
    std::uint16_t delay = 0;
    std::uint16_t kind = 0;
};

/// A synapse in transit to the shard of its target.
struct RoutedSynapse {
    std::uint32_t row = 0;
    std::uint32_t target = 0;
    double weight = 0.0;
    std::uint16_t delay = 0;
    std::uint16_t kind = 0;
};

struct TableBuilder::Implementation {
    const NetworkPlan& network;
    const ProcessLayout& layout;
    BuildOptions options;
    parallel::Team& team;
    std::shared_ptr<comm::Communicator> communicator;
    ProcessTables planned;
    PassPlan passes;
    std::vector<std::vector<KeptPartners>> kept;  ///< by shard and projection
    std::vector<bool> staged;  ///< by projection: see stages_synapses()
    std::vector<std::unique_ptr<ShardBuilder>> builders;
    std::vector<std::vector<InputLayout>> inputs;  ///< by shard and receptor
    /// routed[from * shards + to]; synapses from other processes are in routed[shards * shards + to].
    std::vector<std::vector<RoutedSynapse>> routed;
    /// By worker: synapses drawn for other processes, and their ranks.
    std::vector<std::vector<RemoteSynapse>> remote;
    std::vector<std::vector<Rank>> remote_ranks;
    /// Data of a shard's stored synapses.
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
    bool keeps_inputs = false;

    /// Buffers of a worker, reused for every batch.
    struct Scratch {
        std::vector<std::uint32_t> degrees;
        std::vector<std::uint64_t> partners;
        std::vector<std::uint32_t> places;  ///< of partners in the index of a PlacedSampler
        const PartnerIndex* index = nullptr;  ///< of the places, if it has positions
        std::vector<std::uint32_t> rows;
        std::vector<std::uint32_t> targets;  ///< neurons, then inputs
        std::vector<std::uint32_t> sites;  ///< of targets, if these have several
        std::vector<double> weights;
        std::vector<double> milliseconds;
        std::vector<std::uint16_t> delays;
        std::vector<double> room;
        std::optional<SynapseQuantities> quantities;  ///< of the synapses in `partners`
        std::vector<double> parameters;  ///< per-synapse ones, one after another
        SynapseStage stage;
    };

    std::uint32_t workers() const { return team.size(); }
    template <class Body>
    void for_assigned_shards(std::uint32_t worker, Body&& body) const {
        team.for_assigned_items(worker, shards(), body);
    }
    std::uint32_t shards() const { return static_cast<std::uint32_t>(layout.shards().size()); }
    std::uint64_t ranks() const { return static_cast<std::uint64_t>(layout.placement().ranks()); }
    const TablePlan& table(KindIndex kind) const { return planned.tables[kind.value]; }
    std::uint32_t base_row(const ProjectionPlan& plan, KindIndex kind) const {
        return table(kind).row_map.row(plan.pairs.first_source).value;
    }

    /// Does the work that rules do before they draw. @throws Cancelled when a stop was requested
    void prepare_rules(std::uint32_t worker);
    /// One pass over all projections: counts or stores.
    void pass(std::uint32_t worker, bool store);
    void draw_by_target(const ProjectionPlan& plan, std::uint32_t shard, bool store, Scratch& scratch);
    /// Targets begin, begin + stride, ... of a projection, with consecutive local indices.
    struct TargetProgression {
        std::uint64_t begin;
        std::uint64_t stride;
        std::uint64_t count;
        std::uint32_t first_local;
    };
    void draw_progression(const ProjectionPlan& plan, std::uint32_t shard, const TargetProgression& targets, bool store,
                          Scratch& scratch);
    /// Draws partners, or takes those that the first pass has kept.
    void draw_partners(const ProjectionPlan& plan, std::uint32_t shard, const TargetProgression& targets, bool store,
                       Scratch& scratch);
    void draw_by_source(const ProjectionPlan& plan, std::uint32_t worker, bool store, Scratch& scratch);
    void route(const ProjectionPlan& plan, std::uint32_t worker, std::uint64_t begin, std::uint64_t count, bool store,
               Scratch& scratch);
    void enqueue(const ProjectionPlan& plan, NeuronId target, const RemoteSynapse& synapse, std::uint32_t from);
    void exchange_remote(const ProjectionPlan& plan);
    void take_routed(const ProjectionPlan& plan, std::uint32_t shard, bool store, Scratch& scratch);
    void fill_values(const ProjectionPlan& plan, std::uint64_t begin, std::uint64_t stride, bool weights, bool delays,
                     Scratch& scratch) const;
    /// Per-synapse parameters, as fill_values().
    void fill_parameters(const ProjectionPlan& plan, std::uint64_t begin, std::uint64_t stride, Scratch& scratch) const;
    /// Sites of synapses, as fill_values() with targets as major neurons.
    void fill_sites(const ProjectionPlan& plan, std::uint64_t begin, std::uint64_t stride, Scratch& scratch) const;
    /// Draws weights, parameters and sites of the synapses of a source whose indices were sent instead of weights.
    void draw_values(const ProjectionPlan& plan, std::uint32_t shard, std::uint32_t base, Scratch& scratch) const;
    /// Whether the index of a synapse among those of its source is sent with synapses drawn by source.
    static bool sends_ordinals(const ProjectionPlan& plan) { return !plan.parameters.empty() || plan.sites != nullptr; }
    /// Replaces some targets, which are neurons, by their inputs.
    void find_inputs(std::uint32_t shard, KindIndex kind, std::size_t begin, std::size_t count, Scratch& scratch) const;
    void count_or_store(const ProjectionPlan& plan, std::uint32_t shard, bool store, Scratch& scratch);
    /// Rounds weights to the stored precision and records their range.
    void round_weights(const ProjectionPlan& plan, std::uint32_t shard, KindIndex kind, std::span<double> weights);
    void begin_storing(std::uint32_t shard, std::pmr::memory_resource* memory);
    void end_storing(std::uint32_t shard);
};

}  // namespace ranvier::connect
