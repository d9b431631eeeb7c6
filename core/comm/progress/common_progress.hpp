#pragma once

#include <functional>
#include <vector>

#include "comm/progress/process_tree.hpp"
#include "comm/progress/progress_message.hpp"
#include "ranvier/base/ids.hpp"

namespace ranvier::comm {

/// The step that the groups of all processes have reached, so that groups that no other group waits for do not run far
/// ahead.
///
/// Each process sends the step that its branch has reached to its parent in the tree, when that passes a multiple of
/// `grid`; the root sends the minimum over all branches to all processes. This takes two messages for each edge of the
/// tree and `grid` steps, whatever the number of processes, and no process waits in a call.
///
/// When all messages have arrived, the step known to a process is less than `grid` steps behind the slowest group: the
/// minimum of rounded steps is the rounded minimum. A group that is no further than that plus `grid` may always
/// continue.
class CommonProgress {
   public:
    using Send = std::function<void(Rank to, const ProgressEntry& entry)>;

    static constexpr Step grid = 64;

    CommonProgress(Rank self, std::int32_t ranks);

    void begin(Step before);
    /// Reports that all groups of this process have reached a step.
    void note(Step least, const Send& send);
    /// Handles a message of a neighbour in the tree. @throws InternalError when the sender is not one
    void take(Rank from, const ProgressEntry& entry, const Send& send);
    /// A step that all groups of all processes have reached or passed.
    Step of_all() const { return of_all_; }

   private:
    void send_up(const Send& send);
    void send_down(Step step, const Send& send);

    ProcessTree tree_;
    Step of_self_ = 0;
    std::vector<Step> of_children_;
    Step of_branch_ = 0;
    Step of_all_ = 0;
};

}  // namespace ranvier::comm
