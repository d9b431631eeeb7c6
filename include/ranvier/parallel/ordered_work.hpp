#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "ranvier/parallel/barrier.hpp"
#include "ranvier/parallel/pinning.hpp"
#include "ranvier/parallel/stealing.hpp"

namespace ranvier::parallel {

/// Ready pieces of work, each with a key: the least key goes first. There is no global order over the workers, and no
/// barrier: each worker takes the first of its pieces, and the first ones of other workers when it has none, as far as
/// the policy allows.
///
/// Piece i is assigned to worker i mod workers. Writes of a worker before it puts a piece are visible to the worker
/// that takes the piece.
class OrderedWork {
   public:
    /// @param places places of the workers
    /// @param spins greatest number of polls of a worker without work before it sleeps
    /// @param distances between the nodes of the places
    OrderedWork(std::span<const Place> places, StealingPolicy policy, std::uint32_t spins,
                const NodeDistances& distances = {});

    /// Removes all pieces. Called while no worker runs.
    void begin();
    /// Makes a piece ready. @pre it is neither ready nor in progress
    void put(std::uint32_t piece, std::int64_t key);
    /// The next piece for a worker; waits until there is one. Nothing when the work is closed.
    /// @param watch called repeatedly by one of the waiting workers, to poll conditions without a wake-up; may put
    /// pieces or close the work; if empty, workers only wait
    /// @throws Cancelled after break_up()
    std::optional<std::uint32_t> take(std::uint32_t worker, const std::function<void()>& watch = {});
    /// All work is done: releases all workers. Earlier writes are visible to them.
    void close();
    /// Releases all workers because one has failed.
    void break_up();
    bool is_broken() const { return state_.load() == State::broken; }

    /// Pieces that a worker has done since the start. Called between jobs.
    const StealingCounts& counts(std::uint32_t worker) const { return owners_[worker].counts; }

   private:
    struct Ready {
        std::int64_t key = 0;
        std::uint32_t piece = 0;
    };
    struct Victim {
        std::uint32_t worker = 0;
        bool remote = false;
    };
    struct alignas(64) Owner {
        std::mutex mutex;
        std::vector<Ready> heap;
        /// Key of the first piece of the heap, for readers without the lock.
        std::atomic<std::int64_t> least{none};
        std::vector<std::vector<Victim>> victims;  ///< in groups, earlier ones first
        StealingCounts counts{};
    };
    static constexpr std::int64_t none = INT64_MAX;
    enum class State : std::uint32_t { open, closed, broken };

    std::optional<std::uint32_t> take_from(std::uint32_t owner);
    std::optional<std::uint32_t> find(std::uint32_t worker);
    std::optional<std::uint32_t> steal(const std::vector<Victim>& group, StealingCounts& counts);
    void end(State state);
    /// Notifies waiting workers of a change.
    void announce();
    void wait(std::uint32_t seen, const std::function<void()>& watch);

    std::uint32_t workers_;
    std::unique_ptr<Owner[]> owners_;
    SpinBudget budget_;
    std::atomic<State> state_{State::open};
    alignas(64) std::atomic<std::uint32_t> changes_{0};
    alignas(64) std::atomic<std::uint32_t> waiting_{0};
    std::atomic<bool> is_watched_{false};
};

}  // namespace ranvier::parallel
