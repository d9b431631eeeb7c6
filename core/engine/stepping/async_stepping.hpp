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
#include "ranvier/parallel/ordered_work.hpp"
#include "ranvier/parallel/team.hpp"

namespace ranvier::engine {

/// Advances the shards of one process without barriers (Magalhães et al. 2019).
///
/// Each shard has a clock, and a log of its spikes, which those that get them read. It tells others up to which step all of
/// its spikes are in the log: its clock, or a later step if its neurons are all refractory till then. A shard may advance as
/// long as all that arrives is known: to this step of each shard that it gets spikes from, plus the least delay of the
/// synapses between the two. Of those that can advance, the earliest goes first, as far as it can: so it goes far while its
/// data are in the cache. A shard that cannot advance waits until one that it gets spikes from has advanced.
///
/// The shard that is earliest of all can always advance, since no delay is shorter than a step.
///
/// Shards of other processes that are read here have a clock and a log, too, to which what arrives is added; see
/// comm::ProgressExchange. One worker at a time talks to the other processes: after each visit whichever has ended one, if
/// no other worker talks at that moment, and one of those that have nothing to do, over and over. So no worker waits for
/// another one to poll, none is lost for work, messages are looked for at least once a visit, and the first one that arrives
/// for idle workers is seen at once. A thread of its own would take a processor from the shards, or come late when it shares
/// one with a worker.
///
/// Shards that nobody's clock holds up would run far ahead of those of slower processes, and who interrupts the run would wait
/// until all have come so far. So none goes further ahead of the earliest shard of all processes than these take about half a
/// second for; see comm::CommonProgress.
class AsyncStepping final : public Stepping, private comm::ProgressReceiver {
   public:
    /// @param most_steps that a shard takes at a time, for which its ring of inputs has room
    /// @param ranks how other processes are told of the clocks and spikes of these shards; null: there are none
    AsyncStepping(std::span<const std::unique_ptr<Shard>> shards, PairDelays delays, Step most_steps,
                  parallel::Team& team, parallel::StealingPolicy stealing,
                  std::unique_ptr<comm::ProgressExchange> ranks = nullptr);

    /// @pre no run has an end left that it has not come to
    void begin(Step first, Step last) override;
    void run(std::uint32_t worker, WorkerTimes& times) override;
    Step step() const override { return step_.load(std::memory_order_relaxed); }
    Step reached() const override { return target_.load(); }
    bool was_stopped() const override { return ranks_ && ranks_->agreement().stops(); }
    bool stops_for_failures() const override { return true; }
    /// How other processes are told; null: there are none.
    comm::ProgressExchange* ranks() { return ranks_.get(); }
    const comm::ProgressExchange* ranks() const { return ranks_.get(); }

    /// How many visits took 0, 1, ... steps, since the counts were reset.
    std::vector<std::uint64_t> visits() const;
    void reset_counts() override;
    const parallel::StealingCounts& stealing(std::uint32_t worker) const override { return work_.counts(worker); }

   private:
    enum class State : std::uint8_t {
        waits,    ///< until a shard that it gets spikes from has advanced
        ready,    ///< is among the work
        runs,
        is_told,  ///< runs, and such a shard has advanced meanwhile
        is_done,
    };
    struct Group {
        Group(Shard& own, SpikeLog::Count& sent, std::size_t sources)
            : shard(own), log(sent, own.memory()[Component::spikes]), inbox(own), read(sources) {}

        Step now() const { return clock.load(std::memory_order_relaxed); }

        Shard& shard;
        /// The step that it has come to.
        std::atomic<Step> clock{0};
        /// How far it will come by what it does now.
        std::atomic<Step> planned{0};
        SpikeLog log;
        ShardInbox inbox;
        /// How many spikes it has read, by the place of the source among PairDelays::sources(), and at last of its own.
        std::vector<SpikeLog::Count> read;
        std::uint64_t visits = 0;
    };
    struct alignas(64) Worker {
        std::vector<StampedSpike> spikes;
        std::vector<std::uint64_t> visits_by_steps;
    };

    /// How far a shard may go by what others have sent.
    Step limit(std::uint32_t index) const;
    void visit(std::uint32_t worker, std::uint32_t index, WorkerTimes& times, LapTimer& timer);
    /// As far as it can go by what is known.
    void advance(std::uint32_t worker, std::uint32_t index, Step last, WorkerTimes& times, LapTimer& timer);
    void advance_shard(Group& group, Step first, Step last, WorkerTimes& times, LapTimer& timer);
    void read_logs(std::uint32_t worker, std::uint32_t index, Step last);
    Step plan(Group& group, Step last);
    void request_stop();
    Step latest_plan() const;
    Step earliest() const;
    void follow_all();
    void end_after(Step last);
    SpikeLog& log(std::uint32_t index) {
        return index < groups_.size() ? groups_[index]->log : *remote_logs_[index - groups_.size()];
    }
    void tell_targets(std::uint32_t index);
    bool poll(bool is_idle);
    void watch();
    void come_to_terms();
    bool has_all() const;
    // Of other processes, by the worker that talks.
    void arrive(std::uint32_t inlet, Step clock, std::span<const StampedSpike> spikes) override;
    void allow(std::uint32_t group, Step furthest) override;
    Step read_until(std::uint32_t inlet) const override;
    void wait_or_go_on(std::uint32_t index, Step before);
    void tell(std::uint32_t index);
    void note_progress();
    void finish(std::uint32_t worker, std::uint32_t index);
    void reset_visits();

    PairDelays delays_;
    Step most_steps_;
    parallel::Team& team_;
    std::unique_ptr<comm::ProgressExchange> ranks_;
    std::mutex ranks_mutex_;      ///< of the worker that talks
    parallel::Backoff backoff_;  ///< of the worker that watches for messages
    /// How far a shard may go ahead of those of other processes that read it.
    std::unique_ptr<std::atomic<Step>[]> furthest_;
    std::atomic<Step> lead_;  ///< the step that no shard goes beyond, since those of other processes are behind
    // Of the worker that talks: since when, and from where, all processes have advanced, and the step they have come to.
    std::chrono::steady_clock::time_point began_;
    Step before_ = 0;
    Step followed_ = 0;
    // Side by side, though others write to them, since a visit reads those of many shards and writes one. First the own
    // shards, then those of other processes.
    std::unique_ptr<std::atomic<Step>[]> silent_;  ///< Shard::silent_until() of each, or the clock of one elsewhere
    std::unique_ptr<std::atomic<State>[]> states_;
    std::unique_ptr<SpikeLog::Count[]> sent_;  ///< spikes since the beginning
    std::vector<std::unique_ptr<Group>> groups_;
    std::vector<std::unique_ptr<SpikeLog>> remote_logs_;
    std::atomic<std::uint32_t> waiting_{0};  ///< shards that wait, or are about to
    std::unique_ptr<Worker[]> workers_;
    parallel::OrderedWork work_;
    std::atomic<std::uint32_t> left_{0};  ///< shards that have not come to the end
    std::atomic<Step> target_{0};  ///< the end
    std::atomic<bool> stops_{false};
    std::atomic<bool> target_is_final_{false};
    std::mutex stop_mutex_;
    std::atomic<Step> step_{0};
    std::atomic<std::uint64_t> visited_{0};
};

}  // namespace ranvier::engine
