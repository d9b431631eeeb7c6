#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "comm/progress/progress_exchange.hpp"
#include "engine/shard/shard.hpp"
#include "engine/stepping/pair_delays.hpp"
#include "engine/stepping/shard_inbox.hpp"
#include "engine/stepping/spike_log.hpp"
#include "engine/stepping/stepping.hpp"
#include "parallel/backoff.hpp"
#include "ranvier/engine/times.hpp"
#include "ranvier/engine/trace.hpp"
#include "ranvier/parallel/ordered_work.hpp"
#include "ranvier/parallel/team.hpp"

namespace ranvier::engine {

/// Advances the shards of one process without barriers (Magalhães et al. 2019).
///
/// Each shard has a clock and a log of its spikes, which its targets read. It publishes the step up to which all of
/// its spikes are in the log: its clock, or a later step if its neurons are all refractory until then. A shard may
/// advance as long as all its input is available: up to this step of each source shard plus the least delay of the
/// synapses between the two. Of the shards that can advance, the earliest goes first, as far as it can, while its
/// data are in the cache. A shard that cannot advance waits until one of its sources has advanced.
///
/// The earliest shard of all can always advance, since no delay is shorter than a step.
///
/// Shards of other processes that are read here also have a clock and a log, to which arriving spikes are appended;
/// see comm::ProgressExchange. One worker at a time communicates with the other processes: after each visit the
/// worker that has ended it, if no other worker communicates, and otherwise an idle worker, repeatedly. So no worker
/// waits for another one to communicate, none is taken from its work, messages are checked at least once per visit,
/// and the first one that arrives for idle workers is handled at once. A dedicated thread would take a processor from
/// the shards, or respond late when it shares one with a worker.
///
/// Shards that no other clock limits would run far ahead of those of slower processes, and an interrupted run would
/// continue until all have reached them. So the lead over the earliest shard of all processes is limited to the
/// progress in about half a second; see comm::CommonProgress.
class AsyncStepping final : public Stepping, private comm::ProgressReceiver {
   public:
    /// @param most_steps maximum number of steps of a shard at a time, for which its ring of inputs has room
    /// @param ranks sends clocks and spikes of these shards to other processes; null: there are none
    AsyncStepping(std::span<const std::unique_ptr<Shard>> shards, PairDelays delays, Step most_steps,
                  parallel::Team& team, std::span<WorkTrace> traces, parallel::StealingPolicy stealing,
                  std::unique_ptr<comm::ProgressExchange> ranks = nullptr);

    /// @pre the previous run has reached its end
    void begin(Step first, Step last) override;
    void run(std::uint32_t worker, WorkerTimes& times) override;
    Step step() const override { return step_.load(std::memory_order_relaxed); }
    Step reached() const override { return target_.load(); }
    bool was_stopped() const override { return ranks_ && ranks_->agreement().stops(); }
    bool stops_for_failures() const override { return true; }
    /// The exchange with other processes; null: there are none.
    comm::ProgressExchange* ranks() { return ranks_.get(); }
    const comm::ProgressExchange* ranks() const { return ranks_.get(); }

    /// Number of visits of 0, 1, ... steps since the counts were reset.
    std::vector<std::uint64_t> visits() const;
    void reset_counts() override;
    const parallel::StealingCounts& stealing(std::uint32_t worker) const override { return work_.counts(worker); }

   private:
    enum class State : std::uint8_t {
        waits,    ///< until a source shard has advanced
        ready,    ///< in the work queue
        runs,
        is_notified,  ///< runs, and a source shard has advanced meanwhile
        is_done,
    };
    struct Group {
        Group(Shard& given_shard, SpikeLog::Count& sent, std::size_t sources)
            : shard(given_shard),
              log(sent, given_shard.memory()[Component::spikes]),
              inbox(given_shard),
              read(sources) {}

        Step now() const { return clock.load(std::memory_order_relaxed); }

        Shard& shard;
        /// The step that it has reached.
        std::atomic<Step> clock{0};
        /// The end of its present visit.
        std::atomic<Step> planned{0};
        SpikeLog log;
        ShardInbox inbox;
        /// Number of spikes it has read, by the place of the source among PairDelays::sources(), and last of itself.
        std::vector<SpikeLog::Count> read;
        std::uint64_t visits = 0;
    };
    struct alignas(64) Worker {
        std::vector<StampedSpike> spikes;
        std::vector<std::uint64_t> visits_by_steps;
    };

    /// The limit of a shard by the clocks of its sources.
    Step limit(std::uint32_t index) const;
    void visit(std::uint32_t worker, std::uint32_t index, WorkerTimes& times, LapTimer& timer);
    /// Advances as far as the available input allows.
    void advance(std::uint32_t worker, std::uint32_t index, Step last, WorkerTimes& times, LapTimer& timer);
    void advance_shard(Group& group, Step first, Step last, WorkerTimes& times, LapTimer& timer);
    void read_logs(std::uint32_t worker, std::uint32_t index, Step last);
    Step plan(Group& group, Step last);
    void request_stop();
    Step latest_plan() const;
    Step earliest() const;
    void raise_lead();
    void end_after(Step last);
    SpikeLog& log(std::uint32_t index) {
        return index < groups_.size() ? groups_[index]->log : *remote_logs_[index - groups_.size()];
    }
    void notify_targets(std::uint32_t index);
    bool poll(bool is_idle);
    void poll_while_idle();
    void agree_on_end();
    bool has_all() const;
    // From other processes, called by the worker that communicates.
    void arrive(std::uint32_t inlet, Step clock, Step silent, std::span<const StampedSpike> spikes) override;
    void allow(std::uint32_t group, Step furthest) override;
    Step read_until(std::uint32_t inlet) const override;
    void wait_or_continue(std::uint32_t index, Step before);
    void notify(std::uint32_t index);
    void note_progress();
    void finish(std::uint32_t worker, std::uint32_t index, WorkerTimes& times, LapTimer& timer);
    void reset_visits();

    PairDelays delays_;
    Step most_steps_;
    parallel::Team& team_;
    std::span<WorkTrace> traces_;  ///< by worker
    std::unique_ptr<comm::ProgressExchange> ranks_;
    std::mutex ranks_mutex_;      ///< of the worker that communicates
    parallel::Backoff backoff_;  ///< of the worker that polls for messages
    /// Maximum step of each shard, limited by the shards of other processes that read it.
    std::unique_ptr<std::atomic<Step>[]> furthest_;
    std::atomic<Step> lead_;  ///< limit of all shards because of slower processes
    // For the worker that communicates: start time and step of the measured progress of all processes, and the step
    // they have reached.
    std::chrono::steady_clock::time_point began_;
    Step before_ = 0;
    Step followed_ = 0;
    // Contiguous, although other threads write to them, since a visit reads those of many shards and writes one.
    // First the local shards, then those of other processes.
    std::unique_ptr<std::atomic<Step>[]> silent_;  ///< Shard::silent_until() of each
    /// Clocks of the shards of other processes, by inlet, for the worker that communicates.
    std::vector<Step> remote_clocks_;
    std::unique_ptr<std::atomic<State>[]> states_;
    std::unique_ptr<SpikeLog::Count[]> sent_;  ///< spikes since the start
    std::vector<std::unique_ptr<Group>> groups_;
    std::vector<std::unique_ptr<SpikeLog>> remote_logs_;
    std::atomic<std::uint32_t> waiting_{0};  ///< shards that wait, or are about to
    std::unique_ptr<Worker[]> workers_;
    parallel::OrderedWork work_;
    std::atomic<std::uint32_t> left_{0};  ///< shards that have not reached the end
    std::atomic<Step> target_{0};  ///< the end
    std::atomic<bool> stops_{false};
    std::atomic<bool> target_is_final_{false};
    std::mutex stop_mutex_;
    std::atomic<Step> step_{0};
    std::atomic<std::uint64_t> visited_{0};
};

}  // namespace ranvier::engine
