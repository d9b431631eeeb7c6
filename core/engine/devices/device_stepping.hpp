#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/backend/backend.hpp"
#include "engine/devices/device_image.hpp"
#include "engine/shard/shard.hpp"
#include "engine/stepping/stepping.hpp"
#include "ranvier/parallel/team.hpp"

namespace ranvier::engine {

/// Runs all shards on a device. Between runs the groups of the shards have the state of the neurons; spikes in transit are in
/// the rings of the device.
class DeviceStepping final : public Stepping {
   public:
    struct Arguments {
        std::span<const std::unique_ptr<Shard>> shards;
        const connect::ProcessLayout& layout;
        parallel::Team& team;
        device::Backend& backend;
        const network::Network& network;
        std::string device;  ///< its name
        Step epoch_steps = 1;    ///< at most the shortest delay
        Step kept_steps = 0;     ///< of sent spikes; see Outboxes::keep_sent()
    };
    /// Loads the network.
    /// @throws StateError as DeviceImage, or if it does not fit into the memory of the device
    explicit DeviceStepping(const Arguments& arguments);

    /// Weights have changed.
    void forget_weights() { has_weights_ = false; }
    /// Spikes in transit are no longer those of the device.
    void forget_spikes() { at_ = unknown; }

    void begin(Step first, Step last) override;
    void run(std::uint32_t worker, WorkerTimes& times) override;
    Step step() const override { return step_.load(std::memory_order_relaxed); }
    Step reached() const override { return step(); }
    bool was_stopped() const override { return false; }
    bool stops_for_failures() const override { return false; }
    const parallel::StealingCounts& stealing(std::uint32_t /*worker*/) const override { return stealing_; }
    void reset_counts() override;

   private:
    /// Loads the network. Each worker copies the rows of its blocks, one block after another, so that the host has those of
    /// one block for each thread at once. Called by no worker.
    void load();
    /// Gives the device what may have changed since the last run.
    void update(Step now);
    /// The last step up to which no state is sampled before its end.
    Step end_of_stretch(Step first) const;
    /// Runs a stretch, and records its spikes and the state after it. Returns the step reached.
    Step advance(Step first, Step last, WorkerTimes& times);
    void take_spikes(std::uint32_t shard, Step first, Step last);

    Arguments given_;
    static constexpr Step unknown = -1;

    DeviceImage image_;
    parallel::StealingCounts stealing_;
    bool has_weights_ = false;
    Step at_ = 0;  ///< the step after which the rings of the device are
    Step last_ = 0;
    std::uint64_t epoch_ = 0;  ///< selects the outbox
    std::atomic<Step> step_{0};
    std::vector<device::Spike> spikes_;
    std::vector<std::uint64_t> events_;  ///< by shard, counted so far
};

}  // namespace ranvier::engine
