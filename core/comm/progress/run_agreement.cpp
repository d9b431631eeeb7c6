#include "comm/progress/run_agreement.hpp"

#include <algorithm>
#include <limits>

namespace ranvier::comm {

RunAgreement::RunAgreement(Rank self, std::int32_t ranks) : tree_(self, ranks) { begin(); }

void RunAgreement::begin() {
    stop_requested_ = false;
    entered_ = false;
    reports_ = 0;
    greatest_ = std::numeric_limits<Step>::min();
    stops_ = false;
    verdict_.reset();
}

void RunAgreement::request_stop(const Send& send) {
    // No effect after the verdict.
    if (stop_requested_ || verdict_) return;
    stop_requested_ = true;
    for (const Rank neighbor : tree_.neighbors()) send(neighbor, {.kind = ProgressKind::stop_request});
}

void RunAgreement::enter(Step latest, const Send& send) {
    entered_ = true;
    greatest_ = std::max(greatest_, latest);
    report(send);
}

void RunAgreement::take(Rank from, const ProgressEntry& entry, const Send& send) {
    switch (entry.kind) {
        case ProgressKind::stop_request:
            request_stop(send);
            break;
        case ProgressKind::report:
            if (tree_.parent == from) throw InternalError("a report came from the parent in the tree");
            ++reports_;
            greatest_ = std::max(greatest_, entry.step);
            stops_ = stops_ || entry.channel != 0;
            report(send);
            break;
        case ProgressKind::verdict:
            decide(entry.step, entry.channel != 0, send);
            break;
        case ProgressKind::clock:
        case ProgressKind::read:
        case ProgressKind::branch_progress:
        case ProgressKind::all_progress:
        case ProgressKind::end:
            throw InternalError("a message to the tree has a kind that is not of the tree");
    }
}

void RunAgreement::report(const Send& send) {
    if (!entered_ || reports_ < tree_.children.size()) return;
    stops_ = stops_ || stop_requested_;
    if (!tree_.parent) {
        decide(greatest_, stops_, send);
        return;
    }
    send(*tree_.parent, {.kind = ProgressKind::report, .channel = stops_ ? 1u : 0u, .step = greatest_});
}

void RunAgreement::decide(Step step, bool stops, const Send& send) {
    verdict_ = step;
    stops_ = stops;
    for (const Rank child : tree_.children) {
        send(child, {.kind = ProgressKind::verdict, .channel = stops ? 1u : 0u, .step = step});
    }
}

}  // namespace ranvier::comm
