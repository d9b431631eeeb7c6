#pragma once

#include <cstdint>
#include <memory>
#include <memory_resource>
#include <span>
#include <vector>

#include "connect/routing/row_addresses.hpp"
#include "engine/shard/shard.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/comm/communicator.hpp"
#include "ranvier/comm/exchange/exchange.hpp"
#include "ranvier/engine/times.hpp"

namespace ranvier::engine {

/// Transfers the spikes of an epoch from the outboxes of all shards of all processes to the tables of the local
/// shards by an exchange.
///
/// The workers divide the arrived spikes: each sorts a part of them by table and step, and each shard then takes its
/// spikes from all of them.
class SpikeTraffic {
   public:
    /// @param wait_apart synchronise all processes before each transfer, to time waiting and exchanging separately
    SpikeTraffic(std::span<const std::unique_ptr<Shard>> shards, std::shared_ptr<comm::Communicator> communicator,
                 std::unique_ptr<comm::SpikeExchange> exchange, const connect::RowAddresses* addresses,
                 bool wait_apart);

    const comm::SpikeExchange& exchange() const { return *exchange_; }
    comm::SpikeExchange& exchange() { return *exchange_; }

    /// Called by one worker at a time: at the start of an epoch, and after each of its steps.
    void begin(Step first_step) { exchange_->begin(first_step); }
    void advance(std::span<const comm::EmittedSpike> outbox) { exchange_->advance(0, outbox); }
    // After all shards have been updated to the end of an epoch: collocate() for each part, transfer() by one worker,
    // collect() for each part; repeated after next_round() as long as more() is true. There are as many parts as
    // shards.

    /// Collocates a part of the spikes for the exchange.
    void collocate(std::uint32_t part, const Epoch& epoch, bool first_transfer);
    /// @param flush send all pending spikes @note Collective.
    void transfer(bool flush, bool first_transfer, WorkerTimes& times, LapTimer& timer);
    /// Sorts a part of the arrived spikes.
    void collect(std::uint32_t part, const Epoch& epoch);
    /// Finally, for each shard, called by one worker: passes the spikes to its tables.
    void deliver(std::uint32_t shard, const Epoch& epoch);

   private:
    /// The sorted spikes of one part of an epoch; reused, so that nothing is allocated.
    struct alignas(64) Inbox {
        explicit Inbox(std::pmr::memory_resource* memory) : outboxes(memory), sources(memory), rows(memory) {}

        std::pmr::vector<std::span<const comm::EmittedSpike>> outboxes;
        /// By step, from the first one of the arrivals.
        std::pmr::vector<std::pmr::vector<NeuronId>> sources;
        /// The same for spikes with addresses, by table (connect::RowAddresses::Place) and step.
        std::pmr::vector<std::pmr::vector<std::pmr::vector<RowIndex>>> rows;
    };

    Step first_arrivals(const Epoch& epoch) const { return exchange_->has_latency() ? epoch.earliest : epoch.begin; }
    void list_outboxes(Inbox& inbox, const Epoch& epoch) const;
    /// @param offset steps from the first one of all arrivals to the one from which the lags of these are counted
    static void collect_sources(Inbox& inbox, std::size_t offset, const comm::ArrivedSpikes& spikes);
    void collect_rows(Inbox& inbox, std::size_t offset, const comm::ArrivedSpikes& spikes) const;

    std::span<const std::unique_ptr<Shard>> shards_;
    std::shared_ptr<comm::Communicator> communicator_;
    std::unique_ptr<comm::SpikeExchange> exchange_;
    const connect::RowAddresses* addresses_ = nullptr;
    std::vector<Inbox> inboxes_;  ///< by shard
    bool wait_apart_ = false;
};

}  // namespace ranvier::engine
