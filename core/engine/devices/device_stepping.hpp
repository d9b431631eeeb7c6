#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/backend/backend.hpp"
#include "engine/devices/construction_image.hpp"
#include "engine/devices/device_courses.hpp"
#include "engine/devices/device_image.hpp"
#include "engine/devices/device_traffic.hpp"
#include "engine/shard/shard.hpp"
#include "engine/stepping/stepping.hpp"
#include "ranvier/comm/communicator.hpp"
#include "ranvier/parallel/team.hpp"

namespace ranvier::engine {

/// Runs all shards on a device. Between runs the groups of the shards have the state of the neurons; spikes in transit are in
/// the rings of the device.
///
/// With several processes, the device runs one epoch at a time, after which processes exchange their spikes; those of others
/// are delivered at the beginning of the next epoch. What fails on one process is thrown after all have stopped: until then
/// it goes on taking part in the exchange.
class DeviceStepping final : public Stepping {
   public:
    struct Arguments {
        std::span<const std::unique_ptr<Shard>> shards;
        const connect::ProcessLayout& layout;
        parallel::Team& team;
        device::Backend& backend;
        const DrawnRows* drawn = nullptr;  ///< by the device; null: rows are those of tables
        const network::LoweredNetwork& network;
        std::string device;  ///< its name
        Step epoch_steps = 1;    ///< at most the shortest delay
        Step kept_steps = 0;     ///< of sent spikes; see Outboxes::keep_sent()
        comm::Communicator& communicator;
        /// With several processes, how they exchange spikes, and the rows that these reach; else null.
        comm::SpikeExchange* exchange = nullptr;
        const connect::RowAddresses* addresses = nullptr;
        Step exchange_steps = 1;  ///< longest epoch between two exchanges
    };
    /// Loads the network.
    /// @throws StateError as DeviceImage, or if it does not fit into the memory of the device
    explicit DeviceStepping(const Arguments& arguments);

    /// Weights have changed.
    void forget_weights() { has_weights_ = false; }
    /// Spikes in transit are no longer those of the device.
    void forget_spikes() { at_ = unknown; }
    /// @throws StateError if the groups have an older state than that of the present step, since a run has failed
    void check_state() const;
    /// After a run of several processes.
    /// @throws what has failed on this process
    void check() const {
        if (failure_) std::rethrow_exception(failure_);
    }

    void begin(Step first, Step last) override;
    void run(std::uint32_t worker, WorkerTimes& times) override;
    Step step() const override { return step_.load(std::memory_order_relaxed); }
    Step reached() const override { return step(); }
    bool was_stopped() const override { return was_stopped_; }
    bool stops_for_failures() const override { return false; }
    const parallel::StealingCounts& stealing(std::uint32_t /*worker*/) const override { return stealing_; }
    void reset_counts() override;

   private:
    /// Loads the network. Rows that the device has not drawn are those of tables: each worker copies the rows of its blocks, one block after another, so that the host has those of
    /// one block for each thread at once. Called by no worker.
    /// @param is_drawn whether the device has the rows
    void load(bool is_drawn);
    /// Loads the network if weights have changed since the last run.
    void update_weights();
    /// Gives the device the spikes in transit after step `now`. @param remote those of other processes, by shard; empty on one
    /// process
    void update_rings(Step now, std::span<const std::vector<RemoteArrival>> remote);
    /// Lets the device add what static synapses have in transit after step `now` to its rings, or take it back: it follows from
    /// the spikes that were sent.
    void replay(Step now, std::span<const std::vector<RemoteArrival>> remote, bool takes_back);
    /// Gives the device the state and parameters that may have changed since the last run.
    void update_groups(Step now);
    void run_alone(WorkerTimes& times);
    void run_with_others(WorkerTimes& times);
    /// Runs all steps of an epoch.
    void run_epoch(Step first, Step last, WorkerTimes& times);
    /// Counts the synapses that the spikes of other processes reach which have just arrived.
    void count_arrivals();
    /// What the processes decide together after an epoch. @note Collective.
    struct Decision {
        bool stops = false;  ///< one of them was interrupted
        bool fails = false;
    };
    Decision decide();
    /// The last step up to which no state is sampled before its end, at most `last`.
    Step end_of_stretch(Step first, Step last) const;
    /// Calculates what the device does not for the steps from `first` on, unless it is known, and returns the last step of
    /// a launch, at most `last`.
    Step end_of_launch(Step first, Step last, WorkerTimes& times);
    /// Runs a stretch, and records its spikes and the state after it. Returns the step reached.
    Step advance(Step first, Step last, WorkerTimes& times);
    bool samples_at(Step step) const;
    void record_spikes(std::uint32_t shard, Step first, Step last);
    /// After a failure, records nothing up to a step.
    void skip(Step last);
    /// @throws StateError for the first neuron for which a condition did not hold
    void check_conditions() const;
    /// Gives the groups of the shards the state of the device after step `now`.
    void fetch_state(Step now);
    /// Does what concerns this process only, unless something has failed before, and keeps its error.
    template <class Action>
    void attempt(Action action) {
        if (failure_) return;
        try {
            action();
        } catch (...) {
            failure_ = std::current_exception();
        }
    }
    /// Gives spikes of other processes to the device.
    void hand_over();
    void order_remote();
    /// Takes the state of synapses that change with spikes, and what they have added to inputs. @param remote see update_rings()
    void take_plastic(Step now, std::span<const std::vector<RemoteArrival>> remote);

    Arguments given_;
    static constexpr Step unknown = -1;
    const bool has_plastic_;

    DeviceImage image_;
    DeviceCourses courses_;
    Step courses_end_ = 0;  ///< the last step for which the device has courses
    parallel::StealingCounts stealing_;
    bool has_weights_ = false;
    Step at_ = 0;  ///< the step after which the rings of the device are
    Step last_ = 0;
    std::uint64_t epoch_ = 0;  ///< selects the outbox
    std::atomic<Step> step_{0};
    Step recorded_ = 0;  ///< the last step that recorders have samples of
    std::vector<std::vector<device::Spike>> fired_;  ///< by shard, in the last stretch
    std::vector<std::uint64_t> events_;  ///< by shard, counted so far
    Step fetched_ = unknown;             ///< the step after which the groups have the state of the device
    bool has_state_ = true;  ///< groups have the state of the present step
    // With several processes.
    std::unique_ptr<DeviceTraffic> traffic_;  ///< null on one process
    std::vector<std::vector<RemoteArrival>> arrivals_;  ///< by shard, that the device has not delivered
    std::vector<device::RemoteSpike> remote_;
    std::uint64_t exchanged_epochs_ = 0;
    bool was_stopped_ = false;
    std::exception_ptr failure_;
};

}  // namespace ranvier::engine
