#pragma once

#include <functional>
#include <vector>

#include "comm/progress/process_tree.hpp"
#include "comm/progress/progress_message.hpp"
#include "ranvier/base/ids.hpp"

namespace ranvier::comm {

/// Which step the groups of all processes have come to, so that none that nobody waits for runs far ahead of them.
///
/// Each process tells the one above it in the tree to which step its branch has come, when that is another multiple of
/// `grid`; the root tells all what is so of all. So it takes two messages for each edge of the tree and `grid` steps, whatever
/// the number of processes, and nobody waits in a call.
///
/// What a process knows when all messages have arrived is less than `grid` steps behind the group that is behind all others:
/// the least of rounded steps is the rounded least one. A group that is no further than that plus `grid` may always go on.
class CommonProgress {
   public:
    using Send = std::function<void(Rank to, const ProgressEntry& entry)>;

    static constexpr Step grid = 64;

    CommonProgress(Rank own, std::int32_t ranks);

    void begin(Step before);
    /// All groups of this process have come to a step.
    void note(Step least, const Send& send);
    /// What a neighbour sent. @throws InternalError when it does not come from one
    void take(Rank from, const ProgressEntry& entry, const Send& send);
    /// All groups of all processes have come to this step, and maybe further.
    Step of_all() const { return of_all_; }

   private:
    void tell_above(const Send& send);
    void tell_below(Step step, const Send& send);

    ProcessTree tree_;
    Step own_ = 0;
    std::vector<Step> of_children_;
    Step of_branch_ = 0;
    Step of_all_ = 0;
};

}  // namespace ranvier::comm
