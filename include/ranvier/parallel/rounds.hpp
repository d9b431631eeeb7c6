#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "ranvier/parallel/barrier.hpp"
#include "ranvier/parallel/crowding.hpp"
#include "ranvier/parallel/stealing.hpp"

namespace ranvier::parallel {

/// What the items of rounds publish at their end: that they are done, a note, and a message, in one cache line for each
/// item and round. So the line is message and barrier in one: no worker counts or forwards what others have done, and
/// each reads the lines of the others, whose transfers overlap.
///
/// The lines of two successive rounds alternate. An item may read those of the previous round: none of them is written
/// before the item is done. Rounds are numbered on from job to job.
///
/// Processes of one host may go through the same rounds, each with some of the items, if the lines are in memory that
/// they share.
class RoundRecords {
   public:
    static constexpr std::size_t line_bytes = 64;
    static constexpr std::size_t message_bytes = line_bytes - 2 * sizeof(std::uint32_t);
    /// Bit of a note: no round follows.
    static constexpr std::uint32_t last = std::uint32_t{1} << 31;
    /// The items of this process among all.
    struct Share {
        std::uint32_t first = 0;
        std::uint32_t count = 0;
    };

    explicit RoundRecords(std::uint32_t items);
    /// @param memory shared by the processes of a host, zero at first, of shared_bytes(items) bytes; must outlive these
    RoundRecords(std::span<std::byte> memory, std::uint32_t items, Share here);
    static std::size_t shared_bytes(std::uint32_t items) { return (2 * std::size_t{items} + 1) * line_bytes; }

    /// Items of all processes.
    std::uint32_t items() const { return items_; }
    Share here() const { return here_; }
    bool is_shared() const { return own_lines_.empty(); }
    /// The number of the next round. Called between jobs.
    std::uint32_t next_round() const { return next_round_; }
    /// Written by the item in its round, and read by all items in the next round.
    /// @param item among those of all processes
    std::byte* message(std::uint32_t item, std::uint32_t round) { return line(item, round).message; }
    const std::byte* message(std::uint32_t item, std::uint32_t round) const { return line(item, round).message; }
    /// The note that the item has returned in this round; read by items in the next round.
    std::uint32_t note(std::uint32_t item, std::uint32_t round) const {
        return line(item, round).note.load(std::memory_order_relaxed);
    }

   private:
    friend class SharedRounds;

    struct alignas(line_bytes) Line {
        std::atomic<std::uint32_t> round{0};  ///< the latest one in which the item is done
        std::atomic<std::uint32_t> note{0};
        std::byte message[message_bytes];
    };
    static_assert(sizeof(Line) == line_bytes && std::atomic<std::uint32_t>::is_always_lock_free);

    // The lines of a round are neighbours: processors fetch lines in pairs, and one of the next round would be taken
    // from the worker that is about to write it.
    Line& line(std::uint32_t item, std::uint32_t round) { return lines_[std::size_t{round % 2} * items_ + item]; }
    const Line& line(std::uint32_t item, std::uint32_t round) const {
        return lines_[std::size_t{round % 2} * items_ + item];
    }
    /// Number of threads of all processes that sleep until an item is done: beside the lines.
    std::atomic<std::uint32_t>& sleepers() { return lines_[2 * std::size_t{items_}].round; }
    /// Publishes that an item is done.
    void publish(std::uint32_t item, std::uint32_t round, std::uint32_t note) {
        Line& published = line(item, round);
        published.note.store(note, std::memory_order_relaxed);
        // Sequentially consistent, and a read as well: others must see it before this thread checks for sleepers.
        published.round.exchange(round, std::memory_order_seq_cst);
        if (sleepers().load(std::memory_order_seq_cst) > 0) wake(published);
    }
    void wake(Line& published) const;
    /// Sleeps until the line changes, or spuriously.
    /// @param seen its round
    void sleep(const Line& awaited, std::uint32_t seen);
    /// Makes the lines of this process differ from what any thread waits for, and wakes all.
    void release_all();
    /// Restores them after that, between jobs. @pre they are not shared: other processes would not restart
    void restart();

    std::uint32_t items_;
    Share here_;
    std::vector<Line> own_lines_;  ///< empty if they are shared
    Line* lines_;                  ///< the last one has the count of sleepers
    std::uint32_t next_round_ = 1;
    bool is_released_ = false;
};

/// What workers do beside the items of rounds: nothing. Any class with these functions may take its place.
struct NoOtherWork {
    /// Whether help() may ever find something to do.
    static constexpr bool exists = false;
    /// Called by a worker after it has processed items of a round.
    void finish(std::uint32_t /*round*/) const {}
    /// Called by a worker while it waits for items of others: does a piece of work that may be done at any time, and
    /// returns whether there was one. Must not throw.
    bool help(std::uint32_t /*round*/) const { return false; }
};

/// Rounds of items, processed by all workers of a team. Each round processes each item once, and an item begins when
/// all items of the previous round are done.
///
/// Item i is assigned to worker i mod workers, which processes it first, so that its data stay in its cache. Free
/// workers take items of others that have not begun, as far as the policy allows.
///
/// Workers do not wait for workers, only for items in progress. A preempted worker delays the others only if it has
/// begun an item: it resumes in the round that is then current. So a team is not slower than one thread where another
/// program competes for its processors, as long as items may be taken over.
///
/// Implementation: nothing is done by one worker for all others, and no counter is shared, since each journey of a
/// cache line between two processors costs some 0.1 microseconds. A worker polls the lines of all items
/// (RoundRecords). Which worker takes an item is decided by a word of the owner, with the round in one half and the
/// number of its items taken in it in the other: the first worker to arrive, owner or thief, restarts the owner's
/// items, and no reset is needed. A worker that checks the items of a finished round finds all of them taken. No memory
/// is allocated.
class SharedRounds {
   public:
    /// @param places places of the workers
    /// @param spins greatest number of polls for an item of another worker before sleeping
    /// @param distances between the nodes of the places
    SharedRounds(std::span<const Place> places, StealingPolicy policy, std::uint32_t spins,
                 const NodeDistances& distances = {});

    /// Processes rounds of all items of this process in the records: body(item, round) processes one item, counted from
    /// the first one of this process, on any worker, and returns the note of its record. The rounds end with the one in
    /// which all items return a note with RoundRecords::last. Writes in an item are visible to all items of later
    /// rounds. Each worker checks in each round whether the team is crowded: meanwhile, items may be taken regardless of
    /// the policy.
    ///
    /// Called by all workers of a job with equivalent functions. A worker may come late, or find that all rounds are over.
    /// @pre prepare() was called for the job
    /// @param other_work see NoOtherWork
    /// @throws Cancelled after break_up(); exceptions of `body`, after which break_up() must be called
    template <class Body, class OtherWork>
    void run(std::uint32_t worker, Body&& body, OtherWork&& other_work, Crowding& crowding) {
        const ActiveWorkers& active_workers = crowding.active_workers();
        const auto is_resting = [&](std::uint32_t other) { return active_workers.is_resting(other); };
        Turn<Body, OtherWork> turn{worker, first_round_, body, other_work, crowding};
        for (;;) {
            if (is_broken()) throw Cancelled{};
            take_part(turn);
            if (active_workers.any_resting()) take_over(turn, is_resting);
            other_work.finish(turn.round);
            crowding.check(worker);
            const std::uint32_t round = turn.round;
            turn.round = wait_for_all(turn);
            if (turn.round == round) return;
            // Only after all of its items of a round, since others check for resting workers before they wait.
            if (is_resting(worker) && sleep_while_resting(worker, active_workers)) turn.round = latest_round();
        }
    }

    /// Prepares rounds of these records in the next job, which they must outlive. Called while no worker runs.
    void prepare(RoundRecords& records);
    /// Called before each job, while no worker runs.
    void begin_job();
    /// Releases all workers, until begin_job().
    void break_up(Crowding& crowding);

    /// Items that a worker has processed since the start, as the policy allows. Called between jobs.
    const StealingCounts& counts(std::uint32_t worker) const { return owners_[worker].counts; }
    /// Items that it has taken over from others against the policy.
    std::uint64_t taken_over(std::uint32_t worker) const { return owners_[worker].taken_over; }

   private:
    using Line = RoundRecords::Line;

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
    /// A worker in a round.
    template <class Body, class OtherWork>
    struct Turn {
        using Other = std::remove_cvref_t<OtherWork>;

        std::uint32_t worker;
        std::uint32_t round;
        Body& body;
        OtherWork& other_work;
        Crowding& crowding;
    };

    static constexpr std::uint32_t polls_of_late_worker = 500;
    /// Between two looks for other work, which take cache lines from those who have it.
    static constexpr std::uint32_t polls_before_help = 8;

    bool is_broken() const { return broken_.load(std::memory_order_acquire); }
    /// Rounds differ by a few only, so that their numbers may wrap around.
    static bool is_before(std::uint32_t round, std::uint32_t other) {
        return static_cast<std::int32_t>(round - other) < 0;
    }
    /// A round whose items may all begin: no item of an earlier round is left.
    std::uint32_t latest_round() const;
    /// Returns whether the worker had to sleep.
    bool sleep_while_resting(std::uint32_t worker, const ActiveWorkers& active_workers) const;

    /// Waits until all items of the round are done. Returns the next round, or the same one if it is the last. A worker
    /// that comes late, because others have taken its items over, may skip rounds.
    template <class Turn>
    std::uint32_t wait_for_all(const Turn& turn) {
        const std::uint32_t items = records_->items();
        // Each worker starts behind its own item, so that not all fetch the same line first.
        std::uint32_t item = std::min(records_->here().first + turn.worker, items - 1);
        for (std::uint32_t i = 0; i < items; ++i) {
            if (++item >= items) item = 0;
            const Line& line = records_->line(item, turn.round);
            std::uint32_t seen = line.round.load(std::memory_order_acquire);
            if (is_before(seen, turn.round)) seen = wait_for(turn, line);
            // All items of the round before that one are done.
            if (seen != turn.round) return seen;
        }
        const Line& line = records_->line(item, turn.round);
        const std::uint32_t note = line.note.load(std::memory_order_acquire);
        // The note may be that of a later round, and all that was done before that one must be visible.
        const std::uint32_t seen = line.round.load(std::memory_order_acquire);
        if (seen != turn.round) return seen;
        return (note & RoundRecords::last) != 0 ? turn.round : turn.round + 1;
    }

    /// Waits for one item, and returns the round in which it is done.
    template <class Turn>
    std::uint32_t wait_for(const Turn& turn, const Line& line) {
        const ActiveWorkers& active_workers = turn.crowding.active_workers();
        for (;;) {
            if (is_broken()) throw Cancelled{};
            if (active_workers.any_resting()) {
                take_over(turn, [&](std::uint32_t other) { return active_workers.is_resting(other); });
            }
            const bool crowded = turn.crowding.check(turn.worker);
            // A worker that is only late will soon process its items itself, with its data in its cache.
            if (poll_and_help(turn, line, crowded ? polls_of_late_worker : budget_.get())) {
                if (!crowded) budget_.adapt(false);
                return line.round.load(std::memory_order_acquire);
            }
            if (crowded) {
                // Without sleeping: it would have to wait for a processor again.
                take_over(turn, [](std::uint32_t) { return true; });
                continue;
            }
            const std::uint32_t seen = line.round.load(std::memory_order_acquire);
            if (is_before(seen, turn.round)) records_->sleep(line, seen);
            budget_.adapt(true);
        }
    }

    /// Returns whether an item is done in the round, or later.
    template <class Turn>
    static bool poll_and_help(const Turn& turn, const Line& line, std::uint32_t polls) {
        if constexpr (Turn::Other::exists) {
            for (;;) {
                const std::uint32_t some = std::min(polls, polls_before_help);
                if (poll(line, turn.round, some)) return true;
                if (turn.other_work.help(turn.round)) continue;
                if (polls == some) return false;
                polls -= some;
            }
        } else {
            return poll(line, turn.round, polls);
        }
    }
    static bool poll(const Line& line, std::uint32_t round, std::uint32_t polls) {
        for (;; --polls) {
            if (!is_before(line.round.load(std::memory_order_acquire), round)) return true;
            if (polls == 0) return false;
            pause();
        }
    }

    /// Processes the items of a round that the policy gives to this worker.
    template <class Turn>
    void take_part(const Turn& turn) {
        Owner& self = owners_[turn.worker];
        take_all(turn, turn.worker, self.counts.assigned);
        for (const Victim& victim : victims_[turn.worker]) {
            take_all(turn, victim.worker, victim.remote ? self.counts.remote : self.counts.local);
        }
    }

    /// The same for items that the policy leaves to others.
    template <class Turn, class Choose>
    void take_over(const Turn& turn, Choose from) {
        for (std::uint32_t i = turn.worker + 1; i < turn.worker + workers_; ++i) {
            const std::uint32_t other = i % workers_;
            if (from(other)) take_all(turn, other, owners_[turn.worker].taken_over);
        }
    }

    template <class Turn>
    void take_all(const Turn& turn, std::uint32_t owner, std::uint64_t& counted) {
        while (take(turn, owner)) ++counted;
    }

    /// Processes one item of the owner. Returns whether there was one left.
    template <class Turn>
    bool take(const Turn& turn, std::uint32_t owner) {
        std::atomic<std::uint64_t>& taken = owners_[owner].taken;
        const std::uint32_t count = records_->here().count;
        const std::uint64_t items = owner < count ? (count - owner - 1) / workers_ + 1 : 0;
        const std::uint64_t begin = std::uint64_t{turn.round} << 32;
        std::uint64_t seen = taken.load(std::memory_order_relaxed);
        for (;;) {
            const auto stored = static_cast<std::uint32_t>(seen >> 32);
            const std::uint64_t before = stored == turn.round ? seen - begin : 0;
            // A later round: all items of this one are taken.
            if (is_before(turn.round, stored) || before >= items) return false;
            // Records order reads and writes; this only decides which worker takes the item.
            if (taken.compare_exchange_weak(seen, begin + before + 1, std::memory_order_relaxed)) {
                process(turn, static_cast<std::uint32_t>(owner + before * workers_));
                return true;
            }
        }
    }

    template <class Turn>
    void process(const Turn& turn, std::uint32_t item) {
        const std::uint32_t note = turn.body(item, turn.round);
        const bool is_over = (note & RoundRecords::last) != 0;
        // The first item of a round is processed by one worker, after that of the previous round.
        if (item == 0) {
            turn.crowding.end_round();
            if (is_over) records_->next_round_ = turn.round + 1;
        }
        records_->publish(records_->here().first + item, turn.round, note);
        if (item == 0 && is_over) {
            over_.store(true, std::memory_order_relaxed);
            turn.crowding.active_workers().wake_all();
        }
    }

    std::uint32_t workers_;
    std::unique_ptr<Owner[]> owners_;
    std::vector<std::vector<Victim>> victims_;
    SpinBudget budget_;
    RoundRecords* prepared_ = nullptr;
    RoundRecords* records_ = nullptr;  ///< of the job
    std::uint32_t first_round_ = 1;    ///< of the job
    std::atomic<bool> over_{false};
    std::atomic<bool> broken_{false};
};

}  // namespace ranvier::parallel
