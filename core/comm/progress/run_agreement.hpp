#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "comm/progress/process_tree.hpp"
#include "comm/progress/progress_message.hpp"
#include "ranvier/base/ids.hpp"

namespace ranvier::comm {

/// Agreement of all processes on the last step of a run, without waiting in a call.
///
/// Processes form a tree. A process that requests a stop informs its neighbours in the tree, which pass the request on.
/// A process that has received the request plans no further steps; one that has reached the end has none to plan. Both
/// then report the latest step that they have planned to reach: from the leaves to the root, each when its branch has
/// reported. The root sends the greatest of these steps to all. The run ends there: no process has gone further, and
/// all can go so far.
///
/// So each run has one agreement, with or without a stop request, and a process that has reached the end of the run
/// never misses the request of another one. It takes a few messages to the neighbours in the tree, at most three.
class RunAgreement {
   public:
    using Send = std::function<void(Rank to, const ProgressEntry& entry)>;

    RunAgreement(Rank self, std::int32_t ranks);

    /// The processes that it communicates with, in ascending order.
    std::vector<Rank> neighbors() const { return tree_.neighbors(); }

    void begin();
    /// Requests a stop of the run. No effect after another request is known.
    void request_stop(const Send& send);
    bool stop_requested() const { return stop_requested_; }
    /// Announces the last step that this process plans to reach, unless others go further. Once in a run.
    void enter(Step latest, const Send& send);
    bool has_entered() const { return entered_; }
    /// Handles a stop request, a report or a verdict of a neighbour.
    void take(Rank from, const ProgressEntry& entry, const Send& send);
    /// The last step of the run.
    std::optional<Step> verdict() const { return verdict_; }
    /// With the verdict: whether a stop was requested.
    bool stops() const { return stops_; }

   private:
    void report(const Send& send);
    void decide(Step step, bool stops, const Send& send);

    ProcessTree tree_;
    bool stop_requested_ = false;
    bool entered_ = false;
    std::size_t reports_ = 0;
    Step greatest_ = 0;
    bool stops_ = false;
    std::optional<Step> verdict_;
};

}  // namespace ranvier::comm
