#include "engine/state/restored_sources.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "comm/redistribution.hpp"
#include "engine/simulation/simulation_implementation.hpp"

namespace ranvier::engine {

auto RestoredSources::name_rows(std::uint64_t begin, std::uint64_t end) const -> NamedRows {
    const Simulation::Implementation& implementation = simulation_;
    const Rank all{implementation.communicator->size()};
    std::vector<std::pair<Rank, NamedRow>> found;
    std::vector<comm::Destination> destinations;
    std::uint64_t first = 0;
    for (std::uint32_t shard = 0; shard < implementation.shard_count(); ++shard) {
        const std::uint64_t sources = implementation.routing->presynaptic()->sources(shard);
        for (std::uint64_t i = std::max(begin, first); i < std::min(end, first + sources); ++i) {
            const LocalIndex local{static_cast<std::uint32_t>(i - first)};
            destinations.clear();
            implementation.routing->presynaptic()->find(shard, local.value, Rank{0}, all, destinations);
            for (const comm::Destination& one : destinations) {
                found.emplace_back(one.rank,
                                   NamedRow{one.address, implementation.layout.shard(shard).id_of(local).value});
            }
        }
        first += sources;
    }
    std::ranges::stable_sort(found, {}, [](const auto& one) { return one.first; });
    NamedRows named{.rows = {}, .counts = std::vector<std::uint64_t>(static_cast<std::size_t>(all.value), 0)};
    for (const auto& [rank, row] : found) {
        named.rows.push_back(row);
        ++named.counts[static_cast<std::size_t>(rank.value)];
    }
    return named;
}

RestoredSources::RestoredSources(Simulation::Implementation& simulation) : simulation_(simulation) {
    Simulation::Implementation& implementation = simulation;
    if (implementation.options.keep_sources || !implementation.routing->presynaptic() ||
        implementation.routing->addresses().are_sources())
        return;
    restored_ = true;
    std::vector<connect::FreeableSources*> freed;  // by shard and kind; null: the table has its sources
    for (const auto& shard : implementation.shards) {
        for (const auto& table : shard->synapses().tables()) {
            const bool frees = table && !table->has_sources();
            freed.push_back(frees ? table->synapses()->freeable_sources() : nullptr);
            if (frees) freed.back()->begin_restoring();
        }
    }
    const auto ranks = static_cast<std::uint64_t>(implementation.communicator->size());
    const std::uint64_t at_once = std::max<std::uint64_t>(1, (std::uint64_t{1} << 18) / ranks);
    std::uint64_t sources = 0;
    for (std::uint32_t shard = 0; shard < implementation.shard_count(); ++shard)
        sources += implementation.routing->presynaptic()->sources(shard);
    const std::uint64_t pieces = implementation.communicator->greatest((sources + at_once - 1) / at_once);
    comm::Redistribution<NamedRow> exchange(*implementation.communicator, implementation.options.connection_buffer);
    for (std::uint64_t piece = 0; piece < pieces; ++piece) {
        const NamedRows named = name_rows(piece * at_once, (piece + 1) * at_once);
        exchange.run(named.rows, named.counts, [&](const auto& received) {
            for (const NamedRow& row : received.records) {
                const connect::RowAddresses::Place place = implementation.routing->addresses().find(row.address);
                if (freed[place.table] == nullptr) continue;
                freed[place.table]->restore_source(place.row, NeuronId{row.source});
            }
        });
    }
}

RestoredSources::~RestoredSources() {
    if (!restored_) return;
    for (const auto& shard : simulation_.shards) shard->synapses().free_sources();
}

}  // namespace ranvier::engine
