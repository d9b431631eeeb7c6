#include "comm/progress/run_agreement.hpp"

#include <algorithm>
#include <limits>

namespace ranvier::comm {

RunAgreement::RunAgreement(Rank own, std::int32_t ranks) {
    if (own.value > 0) parent_ = Rank{(own.value - 1) / 2};
    for (std::int64_t child = 2 * std::int64_t{own.value} + 1; child <= 2 * std::int64_t{own.value} + 2; ++child) {
        if (child < ranks) children_.push_back(Rank{static_cast<std::int32_t>(child)});
    }
    if (parent_) neighbors_.push_back(*parent_);
    neighbors_.insert(neighbors_.end(), children_.begin(), children_.end());
    begin();
}

void RunAgreement::begin() {
    wished_ = false;
    entered_ = false;
    reports_ = 0;
    greatest_ = std::numeric_limits<Step>::min();
    stops_ = false;
    verdict_.reset();
}

void RunAgreement::wish(const Send& send) {
    // After the verdict nobody waits for it.
    if (wished_ || verdict_) return;
    wished_ = true;
    for (const Rank neighbor : neighbors_) send(neighbor, {.kind = ProgressKind::wish});
}

void RunAgreement::enter(Step latest, const Send& send) {
    entered_ = true;
    greatest_ = std::max(greatest_, latest);
    report(send);
}

void RunAgreement::take(Rank from, const ProgressEntry& entry, const Send& send) {
    switch (entry.kind) {
        case ProgressKind::wish:
            wish(send);
            break;
        case ProgressKind::report:
            if (parent_ == from) throw InternalError("a process above in the tree has reported");
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
        case ProgressKind::end:
            throw InternalError("a message about progress is not one of the tree");
    }
}

void RunAgreement::report(const Send& send) {
    if (!entered_ || reports_ < children_.size()) return;
    stops_ = stops_ || wished_;
    if (!parent_) {
        decide(greatest_, stops_, send);
        return;
    }
    send(*parent_, {.kind = ProgressKind::report, .channel = stops_ ? 1u : 0u, .step = greatest_});
}

void RunAgreement::decide(Step step, bool stops, const Send& send) {
    verdict_ = step;
    stops_ = stops;
    for (const Rank child : children_) {
        send(child, {.kind = ProgressKind::verdict, .channel = stops ? 1u : 0u, .step = step});
    }
}

}  // namespace ranvier::comm
