#include "engine/spike_traffic.hpp"

#include <algorithm>
#include <utility>

namespace ranvier::engine {

namespace {

template <class Name>
std::vector<Name>& at_step(std::vector<std::vector<Name>>& by_step, std::size_t step) {
    if (step >= by_step.size()) by_step.resize(step + 1);
    return by_step[step];
}

}  // namespace

SpikeTraffic::SpikeTraffic(std::span<const std::unique_ptr<Shard>> shards, parallel::Team& team)
    : shards_(shards), team_(team) {}

SpikeTraffic::SpikeTraffic(std::span<const std::unique_ptr<Shard>> shards, parallel::Team& team,
                           std::shared_ptr<comm::Communicator> communicator,
                           std::unique_ptr<comm::SpikeExchange> exchange, const connect::RowAddresses* addresses,
                           bool wait_apart)
    : shards_(shards),
      team_(team),
      communicator_(std::move(communicator)),
      exchange_(std::move(exchange)),
      addresses_(addresses),
      wait_apart_(wait_apart) {}

void SpikeTraffic::take_epoch(std::uint32_t worker, std::uint64_t epoch, Step earliest, Step begin, Step end,
                              bool flush, LapTimer& timer, Scratch& scratch) {
    WorkerTimes& times = shards_[worker]->times;
    scratch.outboxes.clear();
    for (const auto& shard : shards_) scratch.outboxes.emplace_back(shard->outbox(epoch));
    if (!exchange_) {
        take_outboxes(worker, begin, end, scratch);
        times.deliver += timer.lap();
        return;
    }
    scratch.first_step = exchange_->has_latency() ? earliest : begin;
    bool more = true;
    bool first_round = true;
    while (more) {
        exchange_->collocate(worker, scratch.outboxes);
        times.collocate += timer.lap();
        team_.wait();
        times.wait += timer.lap();
        if (worker == 0) {
            if (wait_apart_ && first_round) {
                communicator_->barrier();
                times.wait += timer.lap();
            }
            more_ = exchange_->transfer(flush);
            times.communicate += timer.lap();
        }
        team_.wait();
        times.wait += timer.lap();
        more = more_;
        // Addresses that are ids of sources are looked up like those that came without one.
        const bool by_source = !exchange_->directed() || addresses_->are_sources();
        for (const comm::SpikeExchange::Arrivals& arrivals : exchange_->arrivals()) {
            collect(arrivals, by_source, scratch);
        }
        first_round = false;
        times.deliver += timer.lap();
        // Nobody may transfer again before all have read what has arrived.
        if (more) team_.wait();
        times.wait += timer.lap();
    }
    deliver(worker, end, scratch);
    times.deliver += timer.lap();
}

/// Hands the spikes of the outboxes of this process to the tables of one shard, step by step.
void SpikeTraffic::take_outboxes(std::uint32_t worker, Step begin, Step end, Scratch& scratch) {
    std::vector<NeuronId>& sources = at_step(scratch.sources, 0);
    for (Step stamp = begin; stamp <= end; ++stamp) {
        sources.clear();
        for (std::span<const comm::EmittedSpike>& outbox : scratch.outboxes) {
            std::size_t taken = 0;
            while (taken < outbox.size() && begin + outbox[taken].lag == stamp) {
                sources.push_back(outbox[taken++].source);
            }
            outbox = outbox.subspan(taken);
        }
        if (!sources.empty()) shards_[worker]->accept(stamp, sources, end);
    }
}

void SpikeTraffic::collect(const comm::SpikeExchange::Arrivals& arrivals, bool by_source, Scratch& scratch) {
    const auto offset = static_cast<std::size_t>(arrivals.first_step - scratch.first_step);
    for (const comm::ArrivedSpike spike : arrivals.spikes) {
        if (by_source) {
            at_step(scratch.sources, offset + spike.lag()).push_back(NeuronId{spike.address()});
        } else {
            at_step(scratch.addresses, offset + spike.lag()).push_back(spike.address());
        }
    }
}

/// Tables want spikes in the order of their steps.
void SpikeTraffic::deliver(std::uint32_t worker, Step end, Scratch& scratch) {
    for (std::size_t step = 0; step < std::max(scratch.sources.size(), scratch.addresses.size()); ++step) {
        const Step stamp = scratch.first_step + static_cast<Step>(step);
        if (step < scratch.sources.size() && !scratch.sources[step].empty()) {
            shards_[worker]->accept(stamp, scratch.sources[step], end);
            scratch.sources[step].clear();
        }
        if (step < scratch.addresses.size() && !scratch.addresses[step].empty()) {
            shards_[worker]->accept(stamp, scratch.addresses[step], *addresses_, end);
            scratch.addresses[step].clear();
        }
    }
}

}  // namespace ranvier::engine
