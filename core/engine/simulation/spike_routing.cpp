#include "engine/simulation/spike_routing.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/forecast/memory_samples.hpp"
#include "engine/option_choices.hpp"

namespace ranvier::engine {

void SpikeRouting::build(connect::RowNumbering numbering, Workers& workers, const Poll& poll) {
    std::vector<const connect::ShardTables*> tables;
    tables.reserve(given_.shards.size());
    for (const auto& shard : given_.shards) tables.push_back(&shard->synapses().tables());
    addresses_ = connect::RowAddresses(numbering, given_.network.plan(), std::move(tables));
    const comm::ExchangeInfo& method = choose_exchange(given_.options, given_.communicator->size());
    if (method.directed || method.name == "auto") {
        connect::PresynapticTableBuilder builder(given_.layout, addresses_, given_.communicator,
                                                 given_.options.connection_buffer, workers.team());
        workers.run_together(
            [&](std::uint32_t worker) {
                builder.build(worker, [&](std::uint32_t shard) {
                    return given_.shards[shard]->memory()[Component::presynaptic];
                });
            },
            poll);
        presynaptic_ = builder.finish();
        build_rounds_ = builder.rounds();
    }
    if (!given_.options.keep_sources) {
        for (const auto& shard : given_.shards) shard->synapses().free_sources();
    }
    if (given_.communicator->is_dry_run()) dry_run_sources_.emplace(given_.layout);
}

Step SpikeRouting::shortest_delay() const { return std::min(given_.network.shortest_delay(), longest_epoch); }

Step SpikeRouting::epoch_steps(const comm::SpikeExchange* exchange) const {
    const bool has_latency = exchange != nullptr && exchange->has_latency();
    return has_latency ? std::max<Step>(1, shortest_delay() / 2) : shortest_delay();
}

std::unique_ptr<SpikeTraffic> SpikeRouting::make_traffic() {
    const SimulationOptions& options = given_.options;
    // With two intervals, a spike emitted at the start of one arrives after the end of the next.
    const std::uint32_t intervals = shortest_delay() >= 2 ? options.intervals : 1;
    comm::ExchangeArguments arguments{
        .communicator = given_.communicator,
        .destinations = presynaptic_,
        .source_of =
            [this](Rank rank, std::uint64_t place) {
                return given_.layout.placement().id_at(rank,
                                                       dry_run_sources_ ? dry_run_sources_->there(rank, place) : place);
            },
        .place_of =
            [this](std::uint32_t shard, std::uint32_t local) {
                return given_.layout.placement().place_of(given_.layout.shard(shard).id_of(LocalIndex{local}));
            },
        .options = {.buffer_bytes = options.spike_buffer,
                    .allgather_spikes = options.allgather_spikes,
                    .workers = static_cast<std::uint32_t>(given_.shards.size()),
                    .most_sources = given_.layout.placement().places(),
                    .most_lags = static_cast<std::uint32_t>(shortest_delay()),
                    .intervals = intervals,
                    .host_ranks = options.host_ranks,
                    .finds_sources = given_.sorted && options.keep_sources}};
    const comm::ExchangeInfo& method = choose_exchange(options, given_.communicator->size());
    std::unique_ptr<comm::SpikeExchange> exchange = method.make(arguments);
    // Freed sources are restored from it.
    if (!method.keeps_destinations && options.keep_sources) {
        arguments.destinations.reset();
        presynaptic_.reset();
    }
    return std::make_unique<SpikeTraffic>(given_.shards, given_.communicator, std::move(exchange), &addresses_,
                                          options.wait_apart);
}

}  // namespace ranvier::engine
