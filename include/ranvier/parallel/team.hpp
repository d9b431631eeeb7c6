#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "ranvier/parallel/barrier.hpp"
#include "ranvier/parallel/crowding.hpp"
#include "ranvier/parallel/ordered_work.hpp"
#include "ranvier/parallel/pinning.hpp"
#include "ranvier/parallel/rounds.hpp"
#include "ranvier/parallel/stealing.hpp"

namespace ranvier::parallel {

/// Whether waiting workers poll for a while before they sleep.
enum class Spinning : std::uint8_t {
    automatic,  ///< if each worker can have a separate processor
    always,
    never,
};

struct TeamOptions {
    Spinning spinning = Spinning::automatic;
    StealingPolicy stealing = StealingPolicy::local_and_remote;
    /// Between the nodes of the places, for policies that prefer near ones; see Topology::distances().
    NodeDistances distances = {};
    /// Number of processors available to the team; nothing: all that the process may use.
    std::optional<std::size_t> processors = std::nullopt;
    /// Effective only if each worker can have a separate processor.
    CrowdingOptions crowding = {};
};

/// A team of worker threads that live as long as the team and run one job at a time together.
///
/// The calling thread never works itself: it sleeps, wakes up 20 times a second, and calls `poll`, so that the owner of
/// the program (an interpreter, say) stays responsive and may stop the job by throwing.
class Team {
   public:
    /// @param places one for each worker, at least one. Their node numbers are arbitrary.
    /// @throws StateError when the system cannot start that many threads
    explicit Team(std::vector<Place> places, TeamOptions options = {});
    ~Team();
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    std::uint32_t size() const { return static_cast<std::uint32_t>(places_.size()); }
    /// Assigned places of the workers. One that the system refused to bind has no processor.
    std::span<const Place> places() const { return places_; }
    std::uint32_t node_of(std::uint32_t worker) const { return places_[worker].node; }
    /// Whether each worker is bound to a processor.
    bool pinned() const;
    StealingPolicy stealing() const { return stealing_; }
    const NodeDistances& distances() const { return distances_; }
    /// Greatest number of polls of waiting workers before they sleep; 0: they sleep at once.
    std::uint32_t spins() const { return spins_; }

    /// Runs job(worker) on all workers and returns when all have returned. An exception of a worker breaks the barrier;
    /// the first one is rethrown here. An exception of `poll` sets stop_requested(), and is rethrown here once all
    /// workers have returned.
    void run(const std::function<void(std::uint32_t)>& job, const std::function<void()>& poll = {});

    /// Called by workers within a job: waits for the whole team. @throws Cancelled
    void wait() { barrier_.wait(); }
    /// Prepares rounds of these records in the next job, which they must outlive. Called between jobs.
    void prepare_rounds(RoundRecords& records) { rounds_.prepare(records); }
    /// Called by each worker once within a job: processes rounds of the items of the records passed to
    /// prepare_rounds();
    /// see SharedRounds::run(). While other programs compete for the team's processors, workers are unbound, and take
    /// over items of workers that wait for a processor, regardless of the stealing policy.
    /// @param other_work see NoOtherWork
    template <class Body, class OtherWork = NoOtherWork>
    void rounds(std::uint32_t worker, Body&& body, OtherWork&& other_work = {}) {
        crowding_.begin_job(worker);
        rounds_.run(worker, std::forward<Body>(body), std::forward<OtherWork>(other_work), crowding_);
    }
    /// Called by workers within a job: calls body(item) for those of `count` items that are assigned to the worker:
    /// each workers-th one, as in rounds().
    template <class Body>
    void for_assigned_items(std::uint32_t worker, std::uint32_t count, Body&& body) const {
        for (std::uint32_t item = worker; item < count; item += size()) body(item);
    }
    /// Called by each worker once within a job: processes pieces of work, body(piece), until the work is closed.
    /// Workers are unbound while other programs compete for the team's processors.
    /// @param watch see OrderedWork::take()
    /// @throws exceptions of `body` and `watch`, after which all workers leave
    template <class Body>
    void do_in_order(std::uint32_t worker, OrderedWork& work, Body&& body, const std::function<void()>& watch = {}) {
        crowding_.begin_job(worker);
        try {
            while (const auto piece = work.take(worker, watch)) {
                body(*piece);
                crowding_.check(worker);
            }
        } catch (...) {
            work.break_up();
            throw;
        }
    }
    /// For workers within a job: whether the caller has requested a stop.
    bool stop_requested() const { return stop_.load(std::memory_order_relaxed); }
    /// For workers within a job that can be aborted anywhere. @throws Cancelled when a stop was requested
    void check_cancelled() const {
        if (stop_requested()) throw Cancelled{};
    }

    /// Whether other programs are known to compete for the team's processors. Thread-safe.
    bool is_crowded() const { return crowding_.is_crowded(); }
    bool was_crowded_lately() const { return crowding_.was_crowded_lately(); }
    /// Processor for all workers, called by one worker at a time within a job; see Crowding::gather().
    void gather(int processor) { crowding_.gather(processor); }
    /// Effects of other programs on the team since the start, during rounds. Called between jobs.
    CrowdingCounts crowding_counts() const { return crowding_.counts(); }
    /// Items of rounds that a worker has taken over because the team was crowded. Called between jobs.
    std::uint64_t items_taken_over(std::uint32_t worker) const { return rounds_.taken_over(worker); }
    /// Items of rounds that a worker has processed since the start, without those. Called between jobs.
    const StealingCounts& item_counts(std::uint32_t worker) const { return rounds_.counts(worker); }

   private:
    void start();
    void work(std::uint32_t worker);
    void end();
    /// Releases workers that wait for one that has left its job early.
    void break_up();

    int process_;  ///< owner of the threads; differs in a forked process
    std::vector<Place> places_;
    StealingPolicy stealing_;
    NodeDistances distances_;
    std::uint32_t spins_;
    Barrier barrier_;
    SharedRounds rounds_;
    Crowding crowding_;
    std::atomic<bool> stop_{false};
    /// On the heap, because destroying a condition variable with waiters would never return: a forked copy leaks it.
    struct Signals {
        std::mutex mutex;
        std::condition_variable job_ready;
        std::condition_variable job_done;
    };
    std::unique_ptr<Signals> signals_ = std::make_unique<Signals>();
    const std::function<void(std::uint32_t)>* job_ = nullptr;
    std::uint64_t job_number_ = 0;
    std::uint32_t running_ = 0;
    bool ending_ = false;
    std::exception_ptr failure_;
    std::vector<std::thread> workers_;
};

}  // namespace ranvier::parallel
