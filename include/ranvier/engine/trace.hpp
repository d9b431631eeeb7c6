#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ranvier/base/choice.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/engine/times.hpp"

namespace ranvier::engine {

/// The work of a worker for a shard, without a break.
enum class WorkKind : std::uint8_t {
    update,     ///< deliver the spikes of the last epoch, then update to the end of the present one
    collocate,  ///< collocate the spikes of the present epoch for the exchange
    transfer,   ///< exchange spikes, by the first shard
    collect,    ///< sort arrived spikes
    renew,      ///< prepare another transfer, by the first shard
    finish,     ///< deliver the spikes that are left at the end of a run
    parts,      ///< add some of the arrivals that the delivery of a shard has left for later, in the same round
    visit,      ///< advance the shard as far as its sources allow, with asynchronous stepping
};

}  // namespace ranvier::engine

namespace ranvier {

template <>
struct ChoiceNames<engine::WorkKind> {
    static constexpr std::string_view kind = "kind of work";
    static constexpr std::array<std::string_view, 8> names{"update", "collocate", "transfer", "collect",
                                                           "renew",  "finish",    "parts",    "visit"};
};

}  // namespace ranvier

namespace ranvier::engine {

/// One piece of work of a worker. Times are on the clock of LapTimer, which is the same on all processors.
struct TracedWork {
    LapTimer::Clock::time_point begin{};
    LapTimer::Clock::time_point end{};
    Step first = 0;  ///< steps by which the shard advances; none if last < first
    Step last = 0;
    std::uint64_t round = 0;   ///< number since the start, from 1; 0 with asynchronous stepping, which has none
    std::uint64_t events = 0;  ///< synapses reached by spikes
    std::uint32_t shard = 0;
    WorkKind kind = WorkKind::update;
    // Seconds.
    float read = 0.0F;  ///< of the spikes of other shards, before they are delivered
    float deliver = 0.0F;
    float update = 0.0F;
    float record = 0.0F;
    float collocate = 0.0F;
    float communicate = 0.0F;
    float wait = 0.0F;  ///< for other processes, if that is measured apart from communication
};

/// The latest work of a worker. No clock is read for it in addition to those of WorkerTimes, but at the end of each
/// piece and after reading spikes.
class WorkTrace {
   public:
    /// @param capacity number of pieces; 0: none are kept
    explicit WorkTrace(std::size_t capacity) : capacity_(capacity) { pieces_.reserve(capacity); }

    bool is_on() const { return capacity_ > 0; }
    /// Starts a piece. @param times of the worker until then
    void begin(const TracedWork& piece, const WorkerTimes& times) {
        present_ = piece;
        before_ = times;
    }
    /// The piece that has been started.
    TracedWork& present() { return present_; }
    void end(const WorkerTimes& times) {
        present_.end = LapTimer::Clock::now();
        present_.deliver = static_cast<float>(times.deliver - before_.deliver) - present_.read;
        present_.update = static_cast<float>(times.update - before_.update);
        present_.record = static_cast<float>(times.record - before_.record);
        present_.collocate = static_cast<float>(times.collocate - before_.collocate);
        present_.communicate = static_cast<float>(times.communicate - before_.communicate);
        present_.wait = static_cast<float>(times.wait - before_.wait);
        if (pieces_.size() < capacity_) {
            pieces_.push_back(present_);
        } else {
            pieces_[oldest_] = present_;
            oldest_ = oldest_ + 1 == capacity_ ? 0 : oldest_ + 1;
        }
    }
    /// In the order of time. Called between runs.
    std::vector<TracedWork> pieces() const {
        std::vector<TracedWork> ordered(pieces_.begin() + static_cast<std::ptrdiff_t>(oldest_), pieces_.end());
        ordered.insert(ordered.end(), pieces_.begin(), pieces_.begin() + static_cast<std::ptrdiff_t>(oldest_));
        return ordered;
    }
    void clear() {
        pieces_.clear();
        oldest_ = 0;
    }

   private:
    std::size_t capacity_;
    std::vector<TracedWork> pieces_;
    std::size_t oldest_ = 0;
    TracedWork present_;
    WorkerTimes before_;
};

}  // namespace ranvier::engine
