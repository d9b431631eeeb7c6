#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace ranvier::engine {

/// Parts of deliveries that the shards have left (connect::DividedDelivery), to be added by any worker.
///
/// The worker of a shard opens its parts. Workers claim some at a time, half of those that are left, so that the last
/// ones are short, and confirm that they have added them. Only then may the shard accept further spikes.
class PartsLeft {
   public:
    /// Parts [begin, end).
    struct Claim {
        std::uint32_t begin = 0;
        std::uint32_t end = 0;

        bool is_empty() const { return begin == end; }
    };

    explicit PartsLeft(std::size_t shards) : shards_(std::make_unique<Of[]>(shards)) {}

    /// @pre are_added(shard)
    void open(std::uint32_t shard, std::uint32_t parts) {
        Of& of = shards_[shard];
        of.count = parts;
        of.added.store(0, std::memory_order_relaxed);
        // What has been prepared for the parts is visible to those who claim them.
        of.claimed.store(std::uint64_t{parts} << 32, std::memory_order_release);
    }

    /// Number of parts that nobody has claimed.
    std::uint32_t unclaimed(std::uint32_t shard) const {
        const std::uint64_t claimed = shards_[shard].claimed.load(std::memory_order_relaxed);
        return static_cast<std::uint32_t>(claimed >> 32) - static_cast<std::uint32_t>(claimed);
    }

    /// Any thread. A late one may get parts of later spikes than it has expected, which makes no difference.
    Claim claim(std::uint32_t shard) {
        std::atomic<std::uint64_t>& claimed = shards_[shard].claimed;
        std::uint64_t seen = claimed.load(std::memory_order_relaxed);
        for (;;) {
            const auto begin = static_cast<std::uint32_t>(seen);
            const std::uint32_t left = static_cast<std::uint32_t>(seen >> 32) - begin;
            if (left == 0) return {};
            const std::uint32_t some = (left + 1) / 2;
            if (claimed.compare_exchange_weak(seen, seen + some, std::memory_order_acquire,
                                              std::memory_order_relaxed)) {
                return {.begin = begin, .end = begin + some};
            }
        }
    }

    void confirm(std::uint32_t shard, const Claim& claim) {
        shards_[shard].added.fetch_add(claim.end - claim.begin, std::memory_order_release);
    }

    /// Whether all parts have been added. Called by the worker of the shard.
    bool are_added(std::uint32_t shard) const {
        return shards_[shard].added.load(std::memory_order_acquire) == shards_[shard].count;
    }

   private:
    struct alignas(64) Of {
        /// The number of parts in the upper half, of claimed ones in the lower half.
        std::atomic<std::uint64_t> claimed{0};
        std::atomic<std::uint32_t> added{0};
        std::uint32_t count = 0;  ///< accessed by workers that process the shard only
    };

    std::unique_ptr<Of[]> shards_;
};

}  // namespace ranvier::engine
