#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/shard/shard.hpp"
#include "engine/stepping/spike_traffic.hpp"
#include "engine/stepping/stepping.hpp"
#include "ranvier/comm/communicator.hpp"
#include "ranvier/engine/times.hpp"
#include "ranvier/parallel/team.hpp"

namespace ranvier::engine {

/// Arguments of EpochStepping, which must outlive it.
struct EpochSteppingArguments {
    std::span<const std::unique_ptr<Shard>> shards;
    parallel::Team& team;
    comm::Communicator& communicator;
    std::span<const WorkerTimes> worker_times;  ///< of all runs
    bool may_gather = false;                    ///< see MachineShare::may_gather()
    bool traces_epochs = false;
};

/// Advances all shards of all processes together, from one exchange of spikes to the next.
///
/// All workers go through rounds; in each, the same is done for every shard. Between two rounds, one worker
/// communicates with the other processes and decides on the next round.
///
/// Without an exchange there is one round per epoch: outboxes alternate, so that the spikes of the last epoch are
/// read while those of the present one are written.
class EpochStepping final : public Stepping {
   public:
    explicit EpochStepping(const EpochSteppingArguments& arguments) : given_(arguments) {}

    /// @param epoch_steps steps between two exchanges of spikes: none arrives earlier than that
    void set_traffic(std::unique_ptr<SpikeTraffic> traffic, Step epoch_steps) {
        traffic_ = std::move(traffic);
        epoch_steps_ = epoch_steps;
    }
    const comm::SpikeExchange* exchange() const { return traffic_->exchange(); }
    Step epoch_steps() const { return epoch_steps_; }
    /// Whether shards replay spikes (Shard::begin_replay()) and neurons do not advance.
    void set_replays(bool replays) { replays_ = replays; }
    /// Times of each epoch since the last reset of the counts, if they are traced.
    const std::vector<EpochTimes>& epoch_times() const { return epoch_times_; }

    void begin(Step first, Step last) override;
    void run(std::uint32_t worker, WorkerTimes& times) override;
    Step step() const override { return step_.load(std::memory_order_relaxed); }
    Step reached() const override { return step(); }
    bool was_stopped() const override { return progress_.stops; }
    bool stops_for_failures() const override { return false; }
    const parallel::StealingCounts& stealing(std::uint32_t worker) const override {
        return given_.team.item_counts(worker);
    }
    void reset_counts() override;

   private:
    /// The work of a round, the same for each shard.
    enum class RoundKind : std::uint8_t {
        update,     ///< deliver the spikes of the last epoch, then update to the end of the present one
        collocate,  ///< collocate the spikes of the present epoch for the exchange
        collect,    ///< sort arrived spikes
        finish,     ///< deliver the spikes of the last epoch of the run
    };
    /// The progress of a run. Changed by one worker between two rounds.
    struct Progress {
        RoundKind kind = RoundKind::update;
        Epoch present;
        Epoch past;  ///< the previous one; its end is 0 if there is none in this run
        Step last = 0;
        bool first_transfer = true;  ///< of the present epoch
        bool ends = false;           ///< the run ends with the present epoch
        bool stops = false;          ///< all processes have decided to end early, with the present epoch
        bool fails_here = false;     ///< a neuron has failed in a previous epoch
        bool fails = false;          ///< a neuron of any process has failed, and all processes have agreed
        // Traced times.
        EpochTimes traced;  ///< all until the last epoch
        LapTimer epoch_timer;
    };

    /// Whether no other process waits for this one.
    bool is_alone() const { return given_.communicator.size() == 1 || given_.communicator.is_dry_run(); }
    void run_item(std::uint32_t shard, WorkerTimes& times, LapTimer& timer);
    void update_shard(std::uint32_t shard, WorkerTimes& times, LapTimer& timer);
    bool begin_next_round(WorkerTimes& times, LapTimer& timer);
    void begin_epoch();
    bool end_epoch();
    void note_failures();
    bool stops(std::uint64_t epoch_number);
    void trace_epoch();

    EpochSteppingArguments given_;
    std::unique_ptr<SpikeTraffic> traffic_;
    Step epoch_steps_ = 1;
    bool replays_ = false;
    Progress progress_;
    std::atomic<Step> step_{0};
    /// Number of epochs started; selects the outbox.
    std::uint64_t epoch_ = 0;
    std::vector<EpochTimes> epoch_times_;
};

}  // namespace ranvier::engine
