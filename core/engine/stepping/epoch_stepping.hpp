#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "engine/shard/shard.hpp"
#include "engine/stepping/parts_left.hpp"
#include "engine/stepping/spike_records.hpp"
#include "engine/stepping/spike_traffic.hpp"
#include "engine/stepping/stepping.hpp"
#include "ranvier/comm/communicator.hpp"
#include "ranvier/engine/times.hpp"
#include "ranvier/engine/trace.hpp"
#include "ranvier/parallel/rounds.hpp"
#include "ranvier/parallel/stealing.hpp"
#include "ranvier/parallel/team.hpp"

namespace ranvier::engine {

/// Arguments of EpochStepping, which must outlive it.
struct EpochSteppingArguments {
    std::span<const std::unique_ptr<Shard>> shards;
    parallel::Team& team;
    comm::Communicator& communicator;
    std::span<WorkTrace> traces;  ///< by worker
    bool may_gather = false;      ///< see MachineShare::may_gather()
    bool traces_epochs = false;
    parallel::StealingPolicy part_stealing = parallel::StealingPolicy::none;  ///< see choose_part_stealing()
};

/// Advances all shards of all processes together, from one exchange of spikes to the next.
///
/// All workers go through rounds (parallel/rounds.hpp); in each, the same is done for every shard. On one process there
/// is one round per epoch, and the records of the rounds carry the spikes; so also if processes of one host share
/// memory. With an exchange, the shard with index 0 communicates with the other processes in a separate round.
///
/// No worker tells the others what comes next: each finds it from the notes of all shards.
///
/// With epochs of one step, only arrivals in the next step must have been delivered when neurons are updated. So a shard
/// publishes its spikes before it delivers those with longer delays, in parts (PartsLeft), which workers that wait take
/// from workers that are late: because they share a core with another program, have slower cores, or were interrupted.
class EpochStepping final : public Stepping {
   public:
    explicit EpochStepping(const EpochSteppingArguments& arguments);

    /// Spikes go through an exchange.
    /// @param epoch_steps steps between two exchanges of spikes: none arrives earlier than that
    void set_traffic(std::unique_ptr<SpikeTraffic> traffic, Step epoch_steps);
    /// Spikes are in the records of the rounds.
    void set_records(std::unique_ptr<SpikeRecords> spikes, Step epoch_steps);
    /// The method of exchanging spikes with other processes, or "none": there are no others, or they exchange no epochs.
    std::string_view method() const;
    comm::ExchangeCounts counts() const;
    /// Null without one.
    comm::SpikeExchange* exchange() { return traffic_ ? &traffic_->exchange() : nullptr; }
    Step epoch_steps() const { return epoch_steps_; }
    /// Whether shards replay spikes (Shard::begin_replay()) and neurons do not advance.
    void set_replays(bool replays) { replays_ = replays; }
    /// Times of each epoch since the last reset of the counts, if they are traced. Called between runs.
    std::vector<EpochTimes> epoch_times() const;

    void begin(Step first, Step last) override;
    void run(std::uint32_t worker, WorkerTimes& times) override;
    Step step() const override { return step_.load(std::memory_order_relaxed); }
    Step reached() const override { return step(); }
    bool was_stopped() const override { return was_stopped_; }
    bool stops_for_failures() const override { return false; }
    const parallel::StealingCounts& stealing(std::uint32_t worker) const override {
        return given_.team.item_counts(worker);
    }
    /// How often a worker has added parts of a delivery of another one's shard, since the last reset.
    std::uint64_t parts_taken() const;
    void reset_counts() override;

   private:
    /// What a round does. It follows from the previous one and from its notes.
    struct Plan {
        std::uint32_t round = 1;
        WorkKind kind = WorkKind::update;  ///< the same for each shard
        Epoch present{};
        Epoch past{};  ///< the previous one; its end is 0 if there is none in this run
        bool first_transfer = true;  ///< of the present epoch
        bool ends = false;           ///< the run ends with the present epoch
        bool stops = false;          ///< all processes have decided to end early, with the present epoch
        bool has_failure = false;    ///< a neuron of a visible shard has failed in a previous epoch
    };
    /// Seconds of a worker in an epoch, and what it counted.
    struct EpochShare {
        std::uint64_t epoch = 0;
        double compute = 0.0;
        double exchange = 0.0;
        std::uint64_t spikes = 0;
        std::uint64_t events = 0;
    };
    /// What only one worker accesses.
    struct alignas(64) WorkerState {
        Plan plan;
        std::uint64_t parts_taken = 0;   ///< pieces of deliveries of other workers
        std::vector<EpochShare> shares;  ///< if epochs are traced
        EpochShare until_last;           ///< sums until the end of the last epoch
        std::uint64_t spikes = 0;        ///< since then
        std::uint64_t events = 0;        ///< since then

        void count_work(std::uint64_t more_events, std::uint64_t more_spikes) {
            events += more_events;
            spikes += more_spikes;
        }
    };
    /// An epoch as seen by its first shard.
    struct EpochEnd {
        std::uint64_t epoch = 0;
        double seconds = 0.0;
        comm::ExchangeCounts counts;  ///< since the last reset
    };
    /// The work of a worker beside the items of rounds: parts of deliveries.
    class Parts;
    // Bits of the note of a shard, beside those of SpikeRecords.
    static constexpr std::uint32_t has_failed = std::uint32_t{1} << SpikeRecords::note_bits;
    static constexpr std::uint32_t must_stop = has_failed << 1;   ///< by decision of all processes
    static constexpr std::uint32_t all_failed = has_failed << 2;  ///< processes agree that a neuron has failed

    parallel::RoundRecords& records() { return spikes_ ? spikes_->records() : *records_of_traffic_; }
    const parallel::RoundRecords& records() const { return spikes_ ? spikes_->records() : *records_of_traffic_; }
    /// Whether the notes are those of all shards of the network.
    bool sees_all() const { return is_alone() || spikes_ != nullptr; }
    /// Whether no other process waits for this one.
    bool is_alone() const { return given_.communicator.size() == 1 || given_.communicator.is_dry_run(); }
    std::uint32_t run_item(std::uint32_t worker, std::uint32_t shard, std::uint32_t round, WorkerTimes& times,
                           LapTimer& timer);
    /// Adds parts of a shard that nobody has claimed. Returns whether there were any.
    bool add_parts(std::uint32_t worker, std::uint32_t shard, std::uint32_t round, WorkerTimes& times, LapTimer& timer);
    /// Waits until all parts of a shard have been added, and adds those that are left.
    void complete_parts(std::uint32_t worker, std::uint32_t shard, std::uint32_t round, WorkerTimes& times,
                        LapTimer& timer);
    std::uint32_t work(std::uint32_t worker, std::uint32_t shard, WorkerTimes& times, LapTimer& timer);
    void deliver(std::uint32_t worker, std::uint32_t shard, WorkerTimes& times, LapTimer& timer);
    std::uint32_t update_shard(std::uint32_t shard, const Plan& plan, WorkerTimes& times, LapTimer& timer);
    /// Turns the plan of the previous round into that of the next one.
    void follow(Plan& plan) const;
    void begin_epoch(Plan& plan, Step last) const;
    void end_epoch(Plan& plan) const;
    std::uint32_t stops(const Plan& plan);
    static EpochShare share_of(const WorkerTimes& times);
    static void trace_share(WorkerState& state, const WorkerTimes& times);
    void trace_end(const Plan& plan);

    EpochSteppingArguments given_;
    // One of them is null.
    std::unique_ptr<SpikeTraffic> traffic_;
    std::unique_ptr<SpikeRecords> spikes_;
    std::unique_ptr<parallel::RoundRecords> records_of_traffic_;
    Step epoch_steps_ = 1;
    bool replays_ = false;
    PartsLeft parts_;
    bool leaves_parts_ = false;
    std::vector<parallel::Victims> victims_;  ///< of each worker, for parts
    Step last_ = 0;  ///< of the run
    std::vector<WorkerState> workers_;
    /// The plans of the last two rounds, by parity: for workers that have skipped rounds.
    std::array<Plan, 2> plans_;
    std::atomic<Step> step_{0};
    bool was_stopped_ = false;
    /// Number of epochs started; selects the outbox.
    std::uint64_t epoch_ = 0;
    // Traced times.
    std::vector<EpochEnd> ends_;
    LapTimer epoch_timer_;
};

}  // namespace ranvier::engine
