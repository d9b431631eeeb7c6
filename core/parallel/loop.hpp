#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "parallel/stealing.hpp"

namespace ranvier::parallel {

/// A loop that all workers of a team run together, each its own items first and then what others have not begun.
///
/// Item i belongs to worker i mod workers. Each item is done exactly once; under a policy that keeps work on its node or
/// with its owner, by a worker of that node or by the owner. Nothing is allocated, and nobody waits for anybody.
///
/// How it is used again: the workers call run() equally often and with the same counts. The number of the call is stored
/// beside the number of the owner's items that are taken, so whoever comes first, owner or thief, begins an owner's items
/// anew, and nothing has to be put back. A worker leaves a call only when all items that it could take are taken, so no
/// item of a call is lost to a worker that is already in the next one. Being taken is not being done, though: who reads
/// what a loop wrote waits for the team first.
class SharedLoop {
   public:
    /// @param places of the workers
    SharedLoop(std::span<const Place> places, StealingPolicy policy)
        : workers_(static_cast<std::uint32_t>(places.size())), owners_(std::make_unique<Owner[]>(places.size())) {
        victims_.resize(places.size());
        for (std::uint32_t thief = 0; thief < workers_; ++thief) {
            for (const std::uint32_t victim : list_victims(places, thief, policy).workers) {
                victims_[thief].push_back({.worker = victim, .remote = places[victim].node != places[thief].node});
            }
        }
    }

    /// Calls body(item) for the items from 0 to count - 1 that this worker gets. What `body` throws leaves the loop; then
    /// all workers have to leave, and begin_job() must be called before the next loop.
    template <class Body>
    void run(std::uint32_t worker, std::uint32_t count, Body&& body) {
        Owner& own = owners_[worker];
        const auto& victims = victims_[worker];
        if (victims.empty()) {
            for (std::uint64_t item = worker; item < count; item += workers_) {
                body(static_cast<std::uint32_t>(item));
                ++own.counts.own;
            }
            return;
        }
        const std::uint32_t call = ++own.call;
        // Marked here because nobody takes anything, lest the call of long ago be held for a later one after 2^31 others.
        if (worker >= count) own.taken.store(std::uint64_t{call} << 32, std::memory_order_relaxed);
        while (take(worker, count, call, body)) ++own.counts.own;
        for (const Victim& victim : victims) {
            std::uint64_t& stolen = victim.remote ? own.counts.remote : own.counts.local;
            while (take(victim.worker, count, call, body)) ++stolen;
        }
    }

    /// Makes all workers count calls from the same number again, whatever became of the last job. While none is in a loop.
    void begin_job() {
        std::uint32_t call = 0;
        for (std::uint32_t worker = 0; worker < workers_; ++worker) call = std::max(call, owners_[worker].call);
        for (std::uint32_t worker = 0; worker < workers_; ++worker) owners_[worker].call = call;
    }

    /// Items that a worker has done since the beginning. While none is in a loop.
    const StealingCounts& counts(std::uint32_t worker) const { return owners_[worker].counts; }

   private:
    struct Victim {
        std::uint32_t worker;
        bool remote;
    };
    /// Apart from each other, since only thieves disturb their owner.
    struct alignas(64) Owner {
        /// In the upper half the call, in the lower half how many of the owner's items are taken in it.
        std::atomic<std::uint64_t> taken{0};
        std::uint32_t call = 0;  ///< that the owner is in
        StealingCounts counts{};
    };

    /// Does one item of the owner. Returns whether there was one left.
    template <class Body>
    bool take(std::uint32_t owner, std::uint32_t count, std::uint32_t call, Body& body) {
        std::atomic<std::uint64_t>& taken = owners_[owner].taken;
        const std::uint64_t items = owner < count ? (count - owner - 1) / workers_ + 1 : 0;
        const std::uint64_t begin = std::uint64_t{call} << 32;
        std::uint64_t seen = taken.load(std::memory_order_relaxed);
        for (;;) {
            const auto stored = static_cast<std::uint32_t>(seen >> 32);
            const std::uint64_t before = stored == call ? seen - begin : 0;
            // A later call: all items of this one are taken.
            const bool overtaken = static_cast<std::int32_t>(stored - call) > 0;
            if (overtaken || before >= items) return false;
            // The order of what is read and written is that of the barrier; here only who does it is settled.
            if (taken.compare_exchange_weak(seen, begin + before + 1, std::memory_order_relaxed)) {
                body(static_cast<std::uint32_t>(owner + before * workers_));
                return true;
            }
        }
    }

    std::uint32_t workers_;
    std::unique_ptr<Owner[]> owners_;
    std::vector<std::vector<Victim>> victims_;
};

}  // namespace ranvier::parallel
