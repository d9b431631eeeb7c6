#include "engine/stepping/spike_traffic.hpp"

#include <algorithm>
#include <utility>

#include "base/tight_list.hpp"
#include "connect/tables/table_kind.hpp"

namespace ranvier::engine {

namespace {

template <class T>
T& at(std::pmr::vector<T>& values, std::size_t index) {
    if (index >= values.size()) values.resize(index + 1);
    return values[index];
}

template <class Name>
void clear(std::pmr::vector<std::pmr::vector<Name>>& by_step) {
    for (std::pmr::vector<Name>& names : by_step) names.clear();
}

}  // namespace

SpikeTraffic::SpikeTraffic(std::span<const std::unique_ptr<Shard>> shards,
                           std::shared_ptr<comm::Communicator> communicator,
                           std::unique_ptr<comm::SpikeExchange> exchange, const connect::RowAddresses* addresses,
                           bool wait_apart)
    : shards_(shards),
      communicator_(std::move(communicator)),
      exchange_(std::move(exchange)),
      addresses_(addresses),
      wait_apart_(wait_apart) {
    for (const auto& shard : shards_) inboxes_.emplace_back(shard->memory()[Component::spikes]);
}

void SpikeTraffic::collocate(std::uint32_t part, const Epoch& epoch, bool first_transfer) {
    Inbox& inbox = inboxes_[part];
    if (first_transfer) {
        list_outboxes(inbox, epoch);
        // All spikes of the last epoch have been delivered.
        clear(inbox.sources);
        for (auto& by_step : inbox.rows) clear(by_step);
    }
    exchange_->collocate(part, inbox.outboxes);
}

void SpikeTraffic::transfer(bool flush, bool first_transfer, WorkerTimes& times, LapTimer& timer) {
    if (wait_apart_ && first_transfer) {
        communicator_->barrier();
        times.wait += timer.lap();
    }
    exchange_->transfer(flush);
    times.communicate += timer.lap();
}

void SpikeTraffic::list_outboxes(Inbox& inbox, const Epoch& epoch) const {
    inbox.outboxes.clear();
    for (const auto& shard : shards_) inbox.outboxes.emplace_back(shard->outboxes().of_epoch(epoch.number));
}

/// The spikes may have arrived in any number of buffers.
void SpikeTraffic::collect(std::uint32_t part, const Epoch& epoch) {
    Inbox& inbox = inboxes_[part];
    const Step first_step = first_arrivals(epoch);
    // Addresses that are ids of sources are looked up like spikes without addresses.
    const bool by_source = !exchange_->directed() || addresses_->are_sources();
    exchange_->take(part, [&](const comm::SpikeExchange::Arrivals& arrivals) {
        const auto offset = static_cast<std::size_t>(arrivals.first_step - first_step);
        if (by_source) {
            collect_sources(inbox, offset, arrivals.spikes);
        } else {
            collect_rows(inbox, offset, arrivals.spikes);
        }
    });
}

void SpikeTraffic::collect_sources(Inbox& inbox, std::size_t offset, const comm::ArrivedSpikes& spikes) {
    for (const comm::ArrivedSpike spike : spikes) {
        append(at(inbox.sources, offset + spike.lag()), NeuronId{spike.address()});
    }
}

void SpikeTraffic::collect_rows(Inbox& inbox, std::size_t offset, const comm::ArrivedSpikes& spikes) const {
    for (const comm::ArrivedSpike spike : spikes) {
        const connect::RowAddresses::Place place = addresses_->find(spike.address());
        append(at(at(inbox.rows, place.table), offset + spike.lag()), place.row);
    }
}

/// Tables need spikes in the order of their steps.
void SpikeTraffic::deliver(std::uint32_t index, const Epoch& epoch) {
    Shard& shard = *shards_[index];
    const Step first_step = first_arrivals(epoch);
    const auto kinds = static_cast<std::uint32_t>(shard.synapses().tables().size());
    std::size_t steps = 0;
    for (const Inbox& inbox : inboxes_) {
        steps = std::max(steps, inbox.sources.size());
        for (const auto& by_step : inbox.rows) steps = std::max(steps, by_step.size());
    }
    for (std::size_t step = 0; step < steps; ++step) {
        const Step stamp = first_step + static_cast<Step>(step);
        for (const Inbox& inbox : inboxes_) {
            if (step < inbox.sources.size() && !inbox.sources[step].empty()) {
                shard.synapses().accept(stamp, inbox.sources[step], epoch.end);
            }
            for (std::uint32_t kind = 0; kind < kinds; ++kind) {
                const std::size_t table = std::size_t{index} * kinds + kind;
                if (table >= inbox.rows.size() || step >= inbox.rows[table].size()) continue;
                const std::pmr::vector<RowIndex>& rows = inbox.rows[table][step];
                if (!rows.empty()) shard.synapses().accept(stamp, connect::KindIndex{kind}, rows, epoch.end);
            }
        }
    }
}

}  // namespace ranvier::engine
