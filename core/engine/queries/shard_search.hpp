#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <vector>

#include "engine/shard/shard.hpp"
#include "network/lowering/lowering.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/engine/simulation.hpp"
#include "ranvier/parallel/team.hpp"

namespace ranvier::engine {

/// Finds the projection of a synapse.
class ProjectionFinder {
   public:
    explicit ProjectionFinder(const network::LoweredNetwork& network)
        : network_(network), by_population_(network.ranges().size()) {
        for (const connect::ProjectionPlan& plan : network.plans()) {
            for (const PopulationId id : plan.target_populations) by_population_[id.value].push_back(&plan);
        }
    }

    /// From the tag of the synapse, or the only one that connects this source with this target.
    const connect::ProjectionPlan& find(const connect::StoredSynapses& synapses, connect::KindIndex kind,
                                        NeuronId source, PopulationId population, NeuronId target,
                                        std::uint32_t tag) const {
        if (synapses.has_tags()) return network_.plans()[tag];
        for (const connect::ProjectionPlan* plan : by_population_[population.value]) {
            const connect::PairSpace& pairs = plan->pairs;
            if (plan->feeds(kind) && source >= pairs.first_source &&
                source.value - pairs.first_source.value < pairs.sources && target >= pairs.first_target &&
                target.value - pairs.first_target.value < pairs.targets) {
                return *plan;
            }
        }
        throw InternalError("a synapse belongs to no projection");
    }

   private:
    const network::LoweredNetwork& network_;
    std::vector<std::vector<const connect::ProjectionPlan*>> by_population_;
};

inline std::vector<NeuronId> sorted_unique(const std::vector<std::uint64_t>& ids) {
    std::vector<NeuronId> sorted;
    sorted.reserve(ids.size());
    for (const std::uint64_t id : ids) sorted.emplace_back(id);
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    return sorted;
}

/// Visits the synapses of one shard that match a query: visit(kind, projection, source, target, site, view).
class ShardSearch {
   public:
    ShardSearch(const network::LoweredNetwork& network, const Shard& shard, const ConnectionQuery& query)
        : network_(network), shard_(shard), query_(query), projections_(network) {
        if (query.sources) sources_ = sorted_unique(*query.sources);
        if (query.targets) select_targets(*query.targets);
        if (query.sites) {
            sites_.assign(query.sites->begin(), query.sites->end());
            std::ranges::sort(sites_);
        }
        for (const network::Population& population : network.network().populations()) {
            const auto receptors = population.model->receptors;
            const auto found = query.receptor ? std::ranges::find(receptors, *query.receptor) : receptors.end();
            wanted_receptors_.push_back(found - receptors.begin());
        }
    }

    template <class Visit>
    void visit(const parallel::Team& team, Visit visit_synapse) {
        for (std::uint32_t i = 0; i < shard_.synapses().tables().size(); ++i) {
            const connect::KindIndex kind{i};
            const connect::SynapseTable* table = shard_.synapses().table(kind);
            if (table == nullptr || table->synapses() == nullptr || table->synapses()->size() == 0) continue;
            const connect::StoredSynapses& synapses = *table->synapses();
            if (query_.sources) {
                rows_.clear();
                table->find_rows(sources_, rows_);
                for (const RowIndex row : rows_) visit_row(synapses, kind, row, table->source(row), visit_synapse);
                continue;
            }
            for (std::uint32_t row = 0; row < table->rows(); ++row) {
                if (row % 256 == 0) team.check_cancelled();
                const NeuronId source = table->source(RowIndex{row});
                if (query_.projection && !sends(*query_.projection, source)) continue;
                visit_row(synapses, kind, RowIndex{row}, source, visit_synapse);
            }
        }
    }

   private:
    void select_targets(const std::vector<std::uint64_t>& targets) {
        selected_.resize(shard_.layout().size(), 0);
        for (const std::uint64_t target : targets) {
            for (const connect::ShardLayout::PopulationShare& share : shard_.layout().shares()) {
                const auto local = share.ids.find(NeuronId{target});
                if (local) selected_[share.offset + *local] = 1;
            }
        }
    }

    bool sends(ProjectionId projection, NeuronId source) const {
        const connect::PairSpace& pairs = network_.plans()[projection.value].pairs;
        return source >= pairs.first_source && source.value - pairs.first_source.value < pairs.sources;
    }

    template <class Visit>
    void visit_row(const connect::StoredSynapses& synapses, connect::KindIndex kind, RowIndex row, NeuronId source,
                   Visit& visit_synapse) {
        views_.clear();
        const std::ptrdiff_t receptor = network_.plan().receptor(kind);
        const connect::InputLayout& inputs = shard_.synapses().inputs(kind);
        synapses.read(row, synapses.row_begin(row), synapses.row_end(row), views_);
        for (const connect::SynapseView& view : views_) {
            const auto [local, site] = inputs.site(view.target);
            if (query_.targets && selected_[local.value] == 0) continue;
            if (query_.sites && !std::ranges::binary_search(sites_, site)) continue;
            const PopulationId population = shard_.layout().population_of(local);
            if (query_.receptor && wanted_receptors_[population.value] != receptor) continue;
            const connect::ShardLayout::PopulationShare& share = shard_.layout().share(population);
            const NeuronId target = share.ids[local.value - share.offset];
            const ProjectionId id = projections_.find(synapses, kind, source, population, target, view.tag).id;
            if (query_.projection && id != *query_.projection) continue;
            visit_synapse(kind, id, source, target, site, view);
        }
    }

    const network::LoweredNetwork& network_;
    const Shard& shard_;
    const ConnectionQuery& query_;
    std::vector<NeuronId> sources_;
    std::vector<std::uint8_t> selected_;
    std::vector<std::uint64_t> sites_;  ///< ascending
    ProjectionFinder projections_;
    std::vector<std::ptrdiff_t> wanted_receptors_;  ///< by population, if the query names one
    std::vector<connect::SynapseView> views_;
    std::pmr::vector<RowIndex> rows_;
};

}  // namespace ranvier::engine
