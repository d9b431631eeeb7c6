#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ranvier/parallel/barrier.hpp"
#include "ranvier/parallel/crowding.hpp"
#include "ranvier/parallel/stealing.hpp"

namespace ranvier::parallel {

/// Rounds of items, processed by all workers of a team. Each round processes each item once, and begins when all items
/// of the previous round are done.
///
/// Item i is assigned to worker i mod workers, which processes it first, so that its data stay in its cache. Free
/// workers take items of others that have not begun, as far as the policy allows.
///
/// Workers do not wait for workers, only for items in progress. A preempted worker delays the others only if it has
/// begun an item: it resumes in the round that is then current. So a team is not slower than one thread where another
/// program competes for its processors, as long as items may be taken over.
///
/// Implementation: the number of the round is stored beside the number of the owner's items that are taken. The first
/// worker to arrive, owner or thief, restarts an owner's items, and no reset is needed. A worker that checks the items
/// of a finished round finds all of them taken. No memory is allocated.
class SharedRounds {
   public:
    /// @param places places of the workers
    /// @param spins greatest number of polls for the next round before sleeping
    SharedRounds(std::span<const Place> places, StealingPolicy policy, std::uint32_t spins);

    /// Processes rounds of `count` items, at least one, while next() returns true: body(item) processes one item, on
    /// any worker; next() is called by the worker that finished the last item of a round, while no other item is in
    /// progress. Writes in an item or in next() are visible in all later ones. Each worker checks in each round whether
    /// the team is crowded: meanwhile, items may be taken regardless of the policy.
    ///
    /// Called by all workers of a job, with the same count and equivalent functions. A worker may come late, or find
    /// that all rounds are over.
    /// @throws Cancelled after break_up(); exceptions of `body` and `next`, after which break_up() must be called
    template <class Body, class Next>
    void run(std::uint32_t worker, std::uint32_t count, Body&& body, Next&& next, Crowding& crowding) {
        const ActiveWorkers& active_workers = crowding.active_workers();
        for (;;) {
            const std::uint32_t wakes = active_workers.wakes();
            const std::uint32_t round = round_.load(std::memory_order_acquire);
            if (is_broken()) throw Cancelled{};
            if (over_.load(std::memory_order_relaxed)) return;
            if (active_workers.is_resting(worker)) {
                active_workers.sleep(wakes);
                continue;
            }
            std::uint32_t done = take_part(worker, count, round, body);
            done += take_over(worker, count, round, body,
                              [&](std::uint32_t other) { return active_workers.is_resting(other); });
            const bool crowded = crowding.check(worker);
            if (done > 0 && finish(done, count, next, crowding)) continue;
            // A worker that is only late will soon process its items itself, with its data in its cache.
            if (!crowded || is_over_soon(round)) {
                spin_then_sleep(budget_, round_, round, [&] { return is_broken(); });
                continue;
            }
            done = take_over(worker, count, round, body, [](std::uint32_t) { return true; });
            if (done > 0) finish(done, count, next, crowding);
        }
    }

    /// Resets the end of the last job. Called while no worker runs.
    void begin_job();
    /// Releases all workers, until begin_job().
    void break_up(Crowding& crowding);

    /// Items that a worker has processed since the start, as the policy allows. Called between jobs.
    const StealingCounts& counts(std::uint32_t worker) const { return owners_[worker].counts; }
    /// Items that it has taken over from others against the policy.
    std::uint64_t taken_over(std::uint32_t worker) const { return owners_[worker].taken_over; }

   private:
    struct Victim {
        std::uint32_t worker;
        bool remote;
    };
    /// On separate cache lines, since only thieves disturb their owner.
    struct alignas(64) Owner {
        /// The round in the upper half, the number of the owner's items taken in it in the lower half.
        std::atomic<std::uint64_t> taken{0};
        StealingCounts counts{};
        std::uint64_t taken_over = 0;
    };

    bool is_broken() const { return broken_.load(std::memory_order_acquire); }
    void begin_round();

    /// Counts items as done. Returns whether they were the last ones of the round, so that the next one has begun.
    template <class Next>
    bool finish(std::uint32_t done, std::uint32_t count, Next& next, Crowding& crowding) {
        if (done_.fetch_add(done, std::memory_order_acq_rel) + done != count) return false;
        done_.store(0, std::memory_order_relaxed);
        const bool over = !next();
        crowding.end_round();
        over_.store(over, std::memory_order_relaxed);
        begin_round();
        if (over) crowding.active_workers().wake_all();
        return true;
    }

    /// Polls for some microseconds. Returns whether the round has ended.
    bool is_over_soon(std::uint32_t round) const;

    /// Processes the items of a round that the policy gives to this worker. Returns their number.
    template <class Body>
    std::uint32_t take_part(std::uint32_t worker, std::uint32_t count, std::uint32_t round, Body& body) {
        Owner& self = owners_[worker];
        std::uint32_t done = take_all(worker, count, round, body, self.counts.assigned);
        for (const Victim& victim : victims_[worker]) {
            done += take_all(victim.worker, count, round, body, victim.remote ? self.counts.remote : self.counts.local);
        }
        return done;
    }

    /// The same for items that the policy leaves to others.
    template <class Body, class Choose>
    std::uint32_t take_over(std::uint32_t worker, std::uint32_t count, std::uint32_t round, Body& body, Choose from) {
        std::uint32_t done = 0;
        for (std::uint32_t i = worker + 1; i < worker + workers_; ++i) {
            const std::uint32_t other = i % workers_;
            if (from(other)) done += take_all(other, count, round, body, owners_[worker].taken_over);
        }
        return done;
    }

    template <class Body>
    std::uint32_t take_all(std::uint32_t owner, std::uint32_t count, std::uint32_t round, Body& body,
                           std::uint64_t& counted) {
        std::uint32_t done = 0;
        while (take(owner, count, round, body)) ++done;
        counted += done;
        return done;
    }

    /// Processes one item of the owner. Returns whether there was one left.
    template <class Body>
    bool take(std::uint32_t owner, std::uint32_t count, std::uint32_t round, Body& body) {
        std::atomic<std::uint64_t>& taken = owners_[owner].taken;
        const std::uint64_t items = owner < count ? (count - owner - 1) / workers_ + 1 : 0;
        const std::uint64_t begin = std::uint64_t{round} << 32;
        std::uint64_t seen = taken.load(std::memory_order_relaxed);
        for (;;) {
            const auto stored = static_cast<std::uint32_t>(seen >> 32);
            const std::uint64_t before = stored == round ? seen - begin : 0;
            // A later round: all items of this one are taken.
            const bool overtaken = static_cast<std::int32_t>(stored - round) > 0;
            if (overtaken || before >= items) return false;
            // The round number orders reads and writes; this only decides which worker takes the item.
            if (taken.compare_exchange_weak(seen, begin + before + 1, std::memory_order_relaxed)) {
                body(static_cast<std::uint32_t>(owner + before * workers_));
                return true;
            }
        }
    }

    std::uint32_t workers_;
    std::unique_ptr<Owner[]> owners_;
    std::vector<std::vector<Victim>> victims_;
    SpinBudget budget_;
    std::atomic<bool> over_{false};
    std::atomic<bool> broken_{false};
    // On separate cache lines, so that finished items do not disturb workers that poll for the next round.
    alignas(64) std::atomic<std::uint32_t> done_{0};
    alignas(64) std::atomic<std::uint32_t> round_{0};
};

}  // namespace ranvier::parallel
