#include "comm/progress/common_progress.hpp"

#include <algorithm>

#include "ranvier/base/errors.hpp"

namespace ranvier::comm {

CommonProgress::CommonProgress(Rank self, std::int32_t ranks)
    : tree_(self, ranks), of_children_(tree_.children.size(), 0) {}

void CommonProgress::begin(Step before) {
    of_self_ = before;
    std::ranges::fill(of_children_, before);
    of_branch_ = before;
    of_all_ = before;
}

void CommonProgress::note(Step least, const Send& send) {
    const Step rounded = least / grid * grid;
    if (rounded <= of_self_) return;
    of_self_ = rounded;
    send_up(send);
}

void CommonProgress::take(Rank from, const ProgressEntry& entry, const Send& send) {
    if (entry.kind == ProgressKind::all_progress && tree_.parent == from) {
        send_down(entry.step, send);
        return;
    }
    const auto child = std::ranges::find(tree_.children, from);
    if (entry.kind != ProgressKind::branch_progress || child == tree_.children.end()) {
        throw InternalError("a message about the common progress does not come from a neighbour in the tree");
    }
    of_children_[static_cast<std::size_t>(child - tree_.children.begin())] = entry.step;
    send_up(send);
}

void CommonProgress::send_up(const Send& send) {
    Step least = of_self_;
    for (const Step of_child : of_children_) least = std::min(least, of_child);
    if (least <= of_branch_) return;
    of_branch_ = least;
    if (!tree_.parent) {
        send_down(least, send);
    } else {
        send(*tree_.parent, {.kind = ProgressKind::branch_progress, .step = least});
    }
}

void CommonProgress::send_down(Step step, const Send& send) {
    of_all_ = step;
    for (const Rank child : tree_.children) send(child, {.kind = ProgressKind::all_progress, .step = step});
}

}  // namespace ranvier::comm
