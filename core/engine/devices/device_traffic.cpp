#include "engine/devices/device_traffic.hpp"

#include <algorithm>

namespace ranvier::engine {

void DeviceTraffic::begin_epoch(Step first) {
    first_ = first;
    for (auto& box : boxes_) box.clear();
    given_.exchange.begin(first);
}

void DeviceTraffic::end_epoch(bool flush, std::span<std::vector<RemoteArrival>> arrivals) {
    const std::vector<std::span<const comm::EmittedSpike>> boxes(boxes_.begin(), boxes_.end());
    const auto parts = static_cast<std::uint32_t>(boxes.size());
    for (;;) {
        for (std::uint32_t part = 0; part < parts; ++part) given_.exchange.collocate(part, boxes);
        given_.exchange.transfer(flush);
        // Addresses that are ids of sources are looked up like spikes without addresses. An automatic choice of the method may
        // have changed it.
        const bool by_source = !given_.exchange.directed() || given_.addresses.are_sources();
        for (std::uint32_t part = 0; part < parts; ++part) {
            given_.exchange.take(part, [&](const comm::SpikeExchange::Arrivals& arrived) {
                if (by_source) {
                    collect_sources(arrived);
                } else {
                    collect_rows(arrived, arrivals);
                }
            });
        }
        if (!given_.exchange.more()) break;
        given_.exchange.next_round();
    }
    find_rows(arrivals);
}

void DeviceTraffic::collect_sources(const comm::SpikeExchange::Arrivals& arrived) {
    for (const comm::ArrivedSpike spike : arrived.spikes) {
        const NeuronId id{spike.address()};
        if (!given_.layout.owns(id)) sources_.emplace_back(arrived.first_step + spike.lag(), id);
    }
}

void DeviceTraffic::collect_rows(const comm::SpikeExchange::Arrivals& arrived,
                                 std::span<std::vector<RemoteArrival>> arrivals) const {
    const auto kinds = static_cast<std::uint32_t>(given_.shards.front()->synapses().tables().size());
    for (const comm::ArrivedSpike spike : arrived.spikes) {
        const connect::RowAddresses::Place place = given_.addresses.find(spike.address());
        const std::uint32_t shard = place.table / kinds;
        const connect::KindIndex kind{place.table % kinds};
        if (!given_.image.is_remote(shard, kind, place.row)) continue;
        arrivals[shard].push_back({arrived.first_step + spike.lag(), kind, place.row});
    }
}

void DeviceTraffic::find_rows(std::span<std::vector<RemoteArrival>> arrivals) {
    std::ranges::sort(sources_);
    for (std::size_t begin = 0; begin < sources_.size();) {
        const Step stamp = sources_[begin].first;
        of_step_.clear();
        for (; begin < sources_.size() && sources_[begin].first == stamp; ++begin) {
            of_step_.push_back(sources_[begin].second);
        }
        for (std::uint32_t shard = 0; shard < given_.shards.size(); ++shard) {
            const ShardSynapses& synapses = given_.shards[shard]->synapses();
            for (std::uint32_t number = 0; number < synapses.tables().size(); ++number) {
                const connect::KindIndex kind{number};
                if (synapses.table(kind) == nullptr) continue;
                rows_.clear();
                synapses.table(kind)->find_rows(of_step_, rows_);
                for (const RowIndex row : rows_) {
                    if (given_.image.is_remote(shard, kind, row)) arrivals[shard].push_back({stamp, kind, row});
                }
            }
        }
    }
    sources_.clear();
}

std::vector<std::vector<RemoteArrival>> DeviceTraffic::send_again(Step now, Step steps) {
    std::vector<std::vector<RemoteArrival>> arrivals(given_.shards.size());
    for (Step first = std::max<Step>(1, now - steps + 1), last = 0; first <= now; first = last + 1) {
        last = std::min(now, epoch_end(first));
        begin_epoch(first);
        for (std::uint32_t s = 0; s < given_.shards.size(); ++s) {
            given_.shards[s]->outboxes().visit_sent([&](Step stamp, LocalIndex local) {
                if (stamp < first || stamp > last) return;
                emit(s, stamp, given_.shards[s]->layout().id_of(local), local);
            });
        }
        end_epoch(true, arrivals);
    }
    return arrivals;
}

}  // namespace ranvier::engine
