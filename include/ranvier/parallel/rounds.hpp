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

/// Rounds of items that all workers of a team do together. Each round does each item once, and begins when all items of the
/// round before are done.
///
/// Item i belongs to worker i mod workers, who does it first of all, so that its data stay in its cache. What others have
/// not begun is taken by whoever is free, as far as the policy allows.
///
/// Nobody waits for a worker, only for items that are being done. A worker that the system has put aside holds up the
/// others only if it has begun an item: it comes back into whatever round is then going on. So a team is not slower than
/// one thread where another program takes processors from it, as long as items may be taken over.
///
/// How it works: the number of the round is stored beside the number of the owner's items that are taken. Whoever comes
/// first, owner or thief, begins an owner's items anew, and nothing has to be put back. A worker that looks at the items of
/// a round that is over finds all of them taken. Nothing is allocated.
class SharedRounds {
   public:
    /// @param places of the workers
    /// @param spins how often to look for the next round, at most, before sleeping
    SharedRounds(std::span<const Place> places, StealingPolicy policy, std::uint32_t spins);

    /// Goes through rounds of `count` items, at least one, until there are no more: body(item) does one, on some worker;
    /// next() says whether another round follows, and is called by the worker that did the last item of a round, while
    /// nobody does any. What is written in an item or in next() is seen in all later ones. is_crowded() is asked by each
    /// worker in each round: while it says so, items may be taken whatever the policy says.
    ///
    /// By all workers of a job, with the same count and with functions that do the same. A worker may come late, or may
    /// find that all rounds are over.
    /// @throws Cancelled when break_up() was called; what `body` and `next` throw, after which it must be called
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
            const bool crowded = crowding.look(worker);
            if (done > 0 && finish(done, count, next, crowding)) continue;
            // A worker that is only late will soon do its items itself, with its data in its cache.
            if (!crowded || is_over_soon(round)) {
                spin_then_sleep(budget_, round_, round, [&] { return is_broken(); });
                continue;
            }
            done = take_over(worker, count, round, body, [](std::uint32_t) { return true; });
            if (done > 0) finish(done, count, next, crowding);
        }
    }

    /// Forgets how the last job ended. While no worker runs.
    void begin_job();
    /// Makes all workers leave, now and until begin_job().
    void break_up(Crowding& crowding);

    /// Items that a worker has done since the beginning, by policy. Between jobs.
    const StealingCounts& counts(std::uint32_t worker) const { return owners_[worker].counts; }
    /// Those that it has done for others that the policy would have left to them.
    std::uint64_t taken_over(std::uint32_t worker) const { return owners_[worker].taken_over; }

   private:
    struct Victim {
        std::uint32_t worker;
        bool remote;
    };
    /// Apart from each other, since only thieves disturb their owner.
    struct alignas(64) Owner {
        /// In the upper half the round, in the lower half how many of the owner's items are taken in it.
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

    /// Looks for some microseconds. Returns whether the round has ended.
    bool is_over_soon(std::uint32_t round) const;

    /// Does what there is for this worker to do in a round, by the policy. Returns the number of items.
    template <class Body>
    std::uint32_t take_part(std::uint32_t worker, std::uint32_t count, std::uint32_t round, Body& body) {
        Owner& own = owners_[worker];
        std::uint32_t done = take_all(worker, count, round, body, own.counts.own);
        for (const Victim& victim : victims_[worker]) {
            done += take_all(victim.worker, count, round, body, victim.remote ? own.counts.remote : own.counts.local);
        }
        return done;
    }

    /// The same for what the policy leaves to others.
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

    /// Does one item of the owner. Returns whether there was one left.
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
            // The number of the round orders what is read and written; this only settles who does the item.
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
    // Apart from each other, so that being done does not disturb those that look for the next round.
    alignas(64) std::atomic<std::uint32_t> done_{0};
    alignas(64) std::atomic<std::uint32_t> round_{0};
};

}  // namespace ranvier::parallel
