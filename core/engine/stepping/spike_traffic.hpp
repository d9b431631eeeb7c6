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

/// Brings the spikes of an epoch from the outboxes of all shards, here and elsewhere, to the tables of the shards here.
///
/// On one process with sorted tables that takes no exchange: the tables read the outboxes. Else the workers share what has
/// arrived: each sorts a part of it by table and step, and each shard then takes from all of them what is its own.
class SpikeTraffic {
   public:
    /// Without an exchange.
    explicit SpikeTraffic(std::span<const std::unique_ptr<Shard>> shards);
    /// @param wait_apart meet all processes before each transfer, so that waiting for them is told apart from exchanging
    SpikeTraffic(std::span<const std::unique_ptr<Shard>> shards, std::shared_ptr<comm::Communicator> communicator,
                 std::unique_ptr<comm::SpikeExchange> exchange, const connect::RowAddresses* addresses,
                 bool wait_apart);

    const comm::SpikeExchange* exchange() const { return exchange_.get(); }
    comm::SpikeExchange* exchange() { return exchange_.get(); }

    /// By one worker at a time: at the beginning of an epoch, and after each of its steps.
    void begin(Step first_step) {
        if (exchange_) exchange_->begin(first_step);
    }
    void advance(std::span<const comm::EmittedSpike> outbox) {
        if (exchange_) exchange_->advance(0, outbox);
    }
    // When all shards have been updated to the end of an epoch, its spikes are brought here, with those of other processes:
    // collocate() for each part, transfer() by one worker when that is done, collect() for each part; and so once more if
    // more() is true, after next_round(). There are as many parts as shards.

    /// Puts a part of the spikes where the exchange takes them from.
    void collocate(std::uint32_t part, const Epoch& epoch, bool first_transfer);
    /// @param flush nothing may stay on its way
    /// @note Collective.
    void transfer(bool flush, bool first_transfer, WorkerTimes& times, LapTimer& timer);
    /// Sorts a part of what has arrived.
    void collect(std::uint32_t part, const Epoch& epoch);
    /// Then, for each shard, by one worker: tells its tables.
    void deliver(std::uint32_t shard, const Epoch& epoch);

   private:
    /// What a worker has sorted for all, of an epoch; kept from one to the next, so that nothing is allocated.
    struct alignas(64) Inbox {
        explicit Inbox(std::pmr::memory_resource* memory) : outboxes(memory), sources(memory), rows(memory) {}

        std::pmr::vector<std::span<const comm::EmittedSpike>> outboxes;
        /// By step, from the first one that something has arrived from.
        std::pmr::vector<std::pmr::vector<NeuronId>> sources;
        /// The same where spikes come with addresses, by table (connect::RowAddresses::Place) and step.
        std::pmr::vector<std::pmr::vector<std::pmr::vector<RowIndex>>> rows;
    };

    void make_inboxes();
    Step first_arrivals(const Epoch& epoch) const { return exchange_->has_latency() ? epoch.earliest : epoch.begin; }
    void list_outboxes(Inbox& inbox, const Epoch& epoch) const;
    void take_outboxes(std::uint32_t shard, const Epoch& epoch);
    /// @param offset steps from the first one of all arrivals to that from which the lags of these are counted
    static void collect_sources(Inbox& inbox, std::size_t offset, const comm::ArrivedSpikes& spikes);
    void collect_rows(Inbox& inbox, std::size_t offset, const comm::ArrivedSpikes& spikes) const;
    void deliver_arrivals(std::uint32_t index, const Epoch& epoch);

    std::span<const std::unique_ptr<Shard>> shards_;
    std::shared_ptr<comm::Communicator> communicator_;
    std::unique_ptr<comm::SpikeExchange> exchange_;
    const connect::RowAddresses* addresses_ = nullptr;
    std::vector<Inbox> inboxes_;  ///< of each shard
    bool wait_apart_ = false;
};

}  // namespace ranvier::engine
