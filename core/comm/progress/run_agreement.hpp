#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "comm/progress/process_tree.hpp"
#include "comm/progress/progress_message.hpp"
#include "ranvier/base/ids.hpp"

namespace ranvier::comm {

/// How all processes agree on the last step of a run, without ever waiting in a call.
///
/// Processes form a tree. One that wishes to end the run early tells its neighbours in the tree, which tell theirs. Who knows
/// of the wish plans no further, and who has come to the end has nothing to plan. Both then report the latest step that they
/// have planned to come to: from the leaves to the root, each when its branch has reported. The root tells all the
/// greatest of these steps. That is where the run ends: no process has gone further, and all can go so far.
///
/// So each run has one agreement, whether or not anybody wishes to stop, and a process that has come to the end of the run
/// never misses the wish of another one. It takes a few messages to the neighbours in the tree, of which there are three at
/// most.
class RunAgreement {
   public:
    using Send = std::function<void(Rank to, const ProgressEntry& entry)>;

    RunAgreement(Rank own, std::int32_t ranks);

    /// Those that it sends to, and that send to it; ascending.
    std::vector<Rank> neighbors() const { return tree_.neighbors(); }

    void begin();
    /// This process wishes to stop. Does nothing if it is known that one does.
    void wish(const Send& send);
    bool is_wished() const { return wished_; }
    /// This process will come to a step, and no further unless others do. Once in a run.
    void enter(Step latest, const Send& send);
    bool has_entered() const { return entered_; }
    /// What a neighbour sent: a wish, a report or a verdict.
    void take(Rank from, const ProgressEntry& entry, const Send& send);
    /// The last step of the run.
    std::optional<Step> verdict() const { return verdict_; }
    /// With the verdict: whether it followed a wish.
    bool stops() const { return stops_; }

   private:
    void report(const Send& send);
    void decide(Step step, bool stops, const Send& send);

    ProcessTree tree_;
    bool wished_ = false;
    bool entered_ = false;
    std::size_t reports_ = 0;
    Step greatest_ = 0;
    bool stops_ = false;
    std::optional<Step> verdict_;
};

}  // namespace ranvier::comm
