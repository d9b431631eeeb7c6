#include "comm/exchange/gather_plan.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace ranvier::comm {

namespace {

/// The processes of recursive doubling: the first 2^steps, and a rest that is no larger.
class Doubling {
   public:
    explicit Doubling(std::int32_t ranks)
        : pairs_(static_cast<std::int32_t>(std::bit_floor(static_cast<std::uint32_t>(ranks)))), rest_(ranks - pairs_) {}

    std::int32_t pairs() const { return pairs_; }
    std::int32_t rest() const { return rest_; }
    bool in_rest(std::int32_t rank) const { return rank >= pairs_; }
    std::optional<Rank> folded_with(std::int32_t rank) const {
        if (in_rest(rank)) return Rank{rank - pairs_};
        return rank < rest_ ? std::optional(Rank{rank + pairs_}) : std::nullopt;
    }

    /// Whose blocks one of the first processes has after all steps of a distance below `distance`.
    void append_order(std::int32_t rank, std::int32_t distance, std::vector<Rank>& order) const {
        if (distance == 1) {
            order.push_back(Rank{rank});
            if (const auto folded = folded_with(rank)) order.push_back(*folded);
            return;
        }
        append_order(rank, distance / 2, order);
        append_order(rank ^ (distance / 2), distance / 2, order);
    }
    std::size_t blocks(std::int32_t rank, std::int32_t distance) const {
        const std::int32_t first = rank / distance * distance;
        return static_cast<std::size_t>(distance + std::clamp(rest_ - first, 0, distance));
    }

   private:
    std::int32_t pairs_;
    std::int32_t rest_;
};

void set_forwarded(GatherPlan& plan) {
    for (const GatherStep& step : plan.steps) plan.forwarded = std::max(plan.forwarded, step.last);
}

}  // namespace

GatherPlan bruck_plan(Rank rank, std::int32_t ranks) {
    GatherPlan plan;
    for (std::int32_t i = 0; i < ranks; ++i) plan.order.push_back(Rank{(rank.value + i) % ranks});
    for (std::int32_t have = 1; have < ranks; have *= 2) {
        const auto now = static_cast<std::size_t>(std::min(have, ranks - have));
        plan.steps.push_back({.target = Rank{(rank.value - have + ranks) % ranks},
                              .origin = Rank{(rank.value + have) % ranks},
                              .last = now,
                              .expected = now,
                              .most = now});
    }
    set_forwarded(plan);
    return plan;
}

GatherPlan doubling_plan(Rank rank, std::int32_t ranks) {
    const Doubling doubling(ranks);
    const bool in_rest = doubling.in_rest(rank.value);
    const auto all = static_cast<std::size_t>(ranks);
    GatherPlan plan;
    const std::optional<Rank> folded = doubling.folded_with(rank.value);
    if (doubling.rest() > 0) {
        plan.steps.push_back({.target = folded, .origin = folded, .last = 1, .expected = 1, .most = 1});
    }
    for (std::int32_t distance = 1; distance < doubling.pairs(); distance *= 2) {
        // The first processes have the most.
        GatherStep step{.most = doubling.blocks(0, distance)};
        if (!in_rest) {
            step.target = step.origin = Rank{rank.value ^ distance};
            step.last = doubling.blocks(rank.value, distance);
            step.expected = doubling.blocks(rank.value ^ distance, distance);
        }
        plan.steps.push_back(step);
    }
    doubling.append_order(in_rest ? folded->value : rank.value, doubling.pairs(), plan.order);
    if (doubling.rest() > 0) {
        // Both have each other's block.
        GatherStep step{.most = all - 2};
        if (in_rest) {
            std::swap(plan.order[0], plan.order[1]);
            step.origin = folded;
            step.expected = all - 2;
        } else if (folded) {
            step.target = folded;
            step.first = 2;
            step.last = all;
        }
        plan.steps.push_back(step);
    }
    set_forwarded(plan);
    return plan;
}

}  // namespace ranvier::comm
