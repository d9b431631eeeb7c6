#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <span>
#include <vector>

#include "base/tight_list.hpp"
#include "comm/progress/progress_message.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/comm/exchange/exchange.hpp"

namespace ranvier::engine {

using comm::StampedSpike;

/// The spikes of a shard in the order of their steps; other threads read them while the shard appends. Spikes that
/// all readers have read are dropped.
///
/// It uses a lock, but spikes are rare: a reader that has read all spikes does not call it.
class SpikeLog {
   public:
    using Count = std::atomic<std::uint64_t>;

    /// @param count number of spikes since the start, visible to all threads
    SpikeLog(Count& count, std::pmr::memory_resource* memory) : count_(count), spikes_(memory) {}

    /// Called before anything is appended: registers the number of spikes that a reader has read.
    void add_reader(const Count& read) { readers_.push_back(&read); }

    /// Called by the shard.
    /// @param begin the step from which lags are counted
    void append(std::span<const comm::EmittedSpike> spikes, Step begin) {
        append_all(spikes, [begin](const comm::EmittedSpike& spike) {
            return StampedSpike{begin + static_cast<Step>(spike.lag), spike.source};
        });
    }
    /// The same for the shard of another process, called by the receiver.
    void append(std::span<const StampedSpike> spikes) { append_all(spikes, std::identity{}); }
    /// Called by a reader: appends unread spikes up to this step to `out`, and counts them as read.
    void read(Count& read, Step last, std::vector<StampedSpike>& out) {
        const std::lock_guard lock(mutex_);
        const std::uint64_t next = read.load(std::memory_order_relaxed);
        const auto begin = spikes_.begin() + static_cast<std::ptrdiff_t>(next - dropped_);
        const auto end = std::find_if(begin, spikes_.end(), [last](const StampedSpike& s) { return s.stamp > last; });
        out.insert(out.end(), begin, end);
        read.store(next + static_cast<std::uint64_t>(end - begin), std::memory_order_relaxed);
    }

   private:
    template <class Spike, class Stamp>
    void append_all(std::span<const Spike> spikes, Stamp stamp) {
        if (spikes.empty() || readers_.empty()) return;
        const std::lock_guard lock(mutex_);
        drop();
        make_room(spikes_, spikes_.size() + spikes.size());
        for (const Spike& spike : spikes) spikes_.push_back(stamp(spike));
        count_.store(dropped_ + spikes_.size(), std::memory_order_release);
    }
    /// Drops read spikes once they are half of all, so that each spike is moved at most twice.
    void drop() {
        if (spikes_.size() < 64) return;
        std::uint64_t least = dropped_ + spikes_.size();
        for (const Count* const read : readers_) least = std::min(least, read->load(std::memory_order_relaxed));
        const std::uint64_t count = least - dropped_;
        if (count < spikes_.size() / 2) return;
        spikes_.erase(spikes_.begin(), spikes_.begin() + static_cast<std::ptrdiff_t>(count));
        dropped_ = least;
    }

    std::mutex mutex_;
    Count& count_;
    std::pmr::vector<StampedSpike> spikes_;
    std::uint64_t dropped_ = 0;
    std::vector<const Count*> readers_;
};

}  // namespace ranvier::engine
