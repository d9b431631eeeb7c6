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

/// Pieces of work that are ready, each with a key: the one with the least key goes first. There is no order among all
/// workers, and no barrier: each does the first of its own pieces, and takes those of others, the first ones first, when it
/// has none, as far as the policy allows.
///
/// Piece i belongs to worker i mod workers. What a worker has written before it puts a piece is seen by who takes it.
class OrderedWork {
   public:
    /// @param places of the workers
    /// @param spins how often a worker without work looks, at most, before it sleeps
    OrderedWork(std::span<const Place> places, StealingPolicy policy, std::uint32_t spins);

    /// Forgets all pieces. While no worker runs.
    void begin();
    /// Makes a piece ready. @pre it is not ready already, and nobody does it
    void put(std::uint32_t piece, std::int64_t key);
    /// The next piece for a worker; waits until there is one. Nothing when the work is closed.
    /// @param watch called over and over by one of those that wait, who looks for what nobody wakes it for and may put pieces
    /// or close the work; none: they only wait
    /// @throws Cancelled when it was broken up
    std::optional<std::uint32_t> take(std::uint32_t worker, const std::function<void()>& watch = {});
    /// All work is done: makes all workers leave. What was written before is seen by those that leave.
    void close();
    /// The same because a worker has failed.
    void break_up();
    bool is_broken() const { return state_.load() == State::broken; }

    /// Pieces that a worker has done since the beginning. Between jobs.
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
        /// Of the first of the heap, for those who look without the lock.
        std::atomic<std::int64_t> least{none};
        std::vector<std::vector<Victim>> victims;  ///< in groups: earlier ones are asked first
        StealingCounts counts{};
    };
    static constexpr std::int64_t none = INT64_MAX;
    enum class State : std::uint32_t { open, closed, broken };

    std::optional<std::uint32_t> take_from(std::uint32_t owner);
    std::optional<std::uint32_t> look(std::uint32_t worker);
    std::optional<std::uint32_t> steal(const std::vector<Victim>& group, StealingCounts& counts);
    void end(State state);
    /// Tells those that wait that something has changed.
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
