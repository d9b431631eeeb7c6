#pragma once

#include <cstdint>
#include <memory>
#include <memory_resource>
#include <span>
#include <utility>
#include <vector>

#include "connect/routing/row_addresses.hpp"
#include "engine/devices/device_image.hpp"
#include "engine/shard/shard.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/comm/exchange/exchange.hpp"
#include "ranvier/connect/placement/layout.hpp"

namespace ranvier::engine {

/// Exchanges the spikes of a device with those of other processes. All is done by one thread: the device has delivered the
/// spikes of its own neurons, so only those of other processes are passed on, as rows of tables.
class DeviceTraffic {
   public:
    struct Arguments {
        std::span<const std::unique_ptr<Shard>> shards;
        const connect::ProcessLayout& layout;
        comm::SpikeExchange& exchange;
        const connect::RowAddresses& addresses;
        const DeviceImage& image;
        Step epoch_steps = 1;  ///< longest epoch
    };
    explicit DeviceTraffic(const Arguments& arguments) : given_(arguments), boxes_(arguments.shards.size()) {}

    /// Epochs end at multiples of their length.
    Step epoch_end(Step first) const {
        return (first + given_.epoch_steps - 1) / given_.epoch_steps * given_.epoch_steps;
    }
    /// Starts an epoch without spikes. @note Collective, as what follows.
    void begin_epoch(Step first);
    /// A spike of this process in the epoch. Those of a shard come in the order of (step, neuron).
    void emit(std::uint32_t shard, Step step, NeuronId id, LocalIndex local) {
        boxes_[shard].push_back({id, local.value, static_cast<std::uint32_t>(step - first_)});
    }
    /// Ends an epoch: sends its spikes, and appends to `arrivals` those that have arrived, by shard.
    /// @param flush deliver everything in transit: this epoch is the last one of a run
    void end_epoch(bool flush, std::span<std::vector<RemoteArrival>> arrivals);
    /// Sends the spikes again that shards have sent in the last `steps` steps until `now`, and returns those of other
    /// processes, by shard.
    std::vector<std::vector<RemoteArrival>> send_again(Step now, Step steps);

   private:
    void collect_sources(const comm::SpikeExchange::Arrivals& arrived);
    void collect_rows(const comm::SpikeExchange::Arrivals& arrived,
                      std::span<std::vector<RemoteArrival>> arrivals) const;
    /// Passes on the sources that were collected.
    void find_rows(std::span<std::vector<RemoteArrival>> arrivals);

    Arguments given_;
    Step first_ = 1;  ///< of the epoch
    std::vector<std::vector<comm::EmittedSpike>> boxes_;  ///< by shard
    std::vector<std::pair<Step, NeuronId>> sources_;
    std::vector<NeuronId> of_step_;
    std::pmr::vector<RowIndex> rows_;
};

}  // namespace ranvier::engine
