#pragma once

#include <cstdint>
#include <vector>

#include "ranvier/base/ids.hpp"
#include "ranvier/engine/times.hpp"
#include "ranvier/parallel/stealing.hpp"

namespace ranvier::comm {
struct ExchangeCounts;
}  // namespace ranvier::comm

namespace ranvier::engine {

/// The stepping of the shards of a process: together from epoch to epoch, or each as far as its input is available.
class Stepping {
   public:
    virtual ~Stepping() = default;

    /// Prepares a run from one step to another one, both inclusive.
    virtual void begin(Step first, Step last) = 0;
    /// Runs. @note Called by all workers of the team together.
    virtual void run(std::uint32_t worker, WorkerTimes& times) = 0;
    /// The step that all shards have recently reached, within a run or after one in which a worker failed.
    virtual Step step() const = 0;
    /// The step that all shards have reached after a run: before its end, if a stop was requested.
    virtual Step reached() const = 0;
    /// Whether several processes decided to end the last run early.
    virtual bool was_stopped() const = 0;
    /// Whether processes also stop for a neuron that has failed, and not only for an interruption.
    virtual bool stops_for_failures() const = 0;
    virtual const parallel::StealingCounts& stealing(std::uint32_t worker) const = 0;
    virtual void reset_counts() = 0;
};

}  // namespace ranvier::engine
