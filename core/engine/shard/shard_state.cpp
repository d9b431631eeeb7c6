#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/shard/shard.hpp"

namespace ranvier::engine {

namespace {

using connect::WideSum;

/// Numbers whose sum is exactly that of so many quanta.
template <class Visit>
void visit_parts(WideSum quanta, double quantum, Visit visit) {
    do {
        const bool is_negative = quanta < 0;
        WideSum rest = is_negative ? -quanta : quanta;
        int shift = 0;
        while (rest >> 53 != 0) {
            rest >>= 1;
            ++shift;
        }
        const double part = std::ldexp(static_cast<double>(rest), shift) * quantum;
        visit(is_negative ? -part : part);
        const WideSum visited = rest << shift;
        quanta -= is_negative ? -visited : visited;
    } while (quanta != 0);
}

}  // namespace

void Shard::note_sent(Step next_step) {
    sent_.forget(next_step - 1 - sent_steps_);
    std::vector<LocalIndex> of_step;
    for (std::size_t i = 0; i < outbox_->size();) {
        const std::uint32_t lag = (*outbox_)[i].lag;
        of_step.clear();
        for (; i < outbox_->size() && (*outbox_)[i].lag == lag; ++i) of_step.emplace_back((*outbox_)[i].local);
        sent_.add(epoch_begin_ + lag, of_step);
    }
}

template <class Sum, class Add>
std::vector<Sum> Shard::static_inputs(std::uint32_t receptor, Step now, Steps steps, Sum nothing, Add add) const {
    const std::size_t inputs = receptors_[receptor].size;
    std::vector<Sum> sums(static_cast<std::size_t>(steps.end - steps.begin) * inputs, nothing);
    std::vector<connect::SynapseView> views;
    for (std::uint32_t kind = 0; kind < tables_.size(); ++kind) {
        const connect::SynapseTable* const table = tables_[kind].get();
        if (table == nullptr || kinds_[kind].receptor != receptor || !static_kinds_[kind]) continue;
        // Runs that arrive later have not been added yet.
        const Step end = table->reach() == 0 ? std::min(steps.end, window_end(now)) : steps.end;
        const connect::StoredSynapses& synapses = *table->synapses();
        synapses.recently_accepted()->visit_recent([&](RowIndex row, Step stamp) {
            views.clear();
            synapses.read(row, synapses.row_begin(row), synapses.row_end(row), views);
            for (const connect::SynapseView& view : views) {
                const Step arrival = stamp + view.delay;
                if (arrival < steps.begin || arrival >= end) continue;
                add(sums[static_cast<std::size_t>(arrival - steps.begin) * inputs + view.target],
                    synapses.weight(view.position));
            }
        });
    }
    return sums;
}

bool Shard::has_dynamic_inputs(std::uint32_t receptor) const {
    for (std::uint32_t kind = 0; kind < tables_.size(); ++kind) {
        const connect::StoredSynapses* const synapses = this->synapses(connect::KindIndex{kind});
        if (synapses != nullptr && synapses->size() > 0 && kinds_[kind].receptor == receptor && !static_kinds_[kind])
            return true;
    }
    return false;
}

void Shard::visit_dynamic_inputs(std::uint32_t receptor, Step now, Steps steps,
                                 const std::function<void(Step, std::uint32_t, double)>& visit) const {
    const connect::InputRing& ring = receptors_[receptor].ring;
    const auto visit_sums = [&](const auto& known, const auto& of_step, const auto& visit_rest) {
        std::size_t place = 0;
        for (Step step = steps.begin; step < steps.end; ++step) {
            const auto* const all = of_step(step);
            for (std::uint32_t input = 0; input < receptors_[receptor].size; ++input, ++place) {
                visit_rest(step, input, all[input], known[place]);
            }
        }
    };
    // Where only static synapses have added something there is nothing left, not even 0.
    if (ring.wide == nullptr) {
        visit_sums(
            static_inputs<double>(receptor, now, steps, -0.0, [](double& sum, double weight) { sum += weight; }),
            [&](Step step) { return ring.slot(step); },
            [&](Step step, std::uint32_t input, double all, double own) {
                if (std::bit_cast<std::uint64_t>(all) == std::bit_cast<std::uint64_t>(own)) return;
                visit(step, input, all - own + 0.0);
            });
        return;
    }
    const double quantum = std::ldexp(1.0, ring.exponent + 1);
    const auto add = [&](WideSum& sum, double weight) { connect::add_wide(sum, weight, ring.exponent); };
    visit_sums(
        static_inputs<WideSum>(receptor, now, steps, WideSum{0}, add), [&](Step step) { return ring.wide_slot(step); },
        [&](Step step, std::uint32_t input, WideSum all, WideSum own) {
            if (all == own) return;
            visit_parts((all >> 1) - (own >> 1), quantum, [&](double part) { visit(step, input, part); });
        });
}

void Shard::visit_unread_inputs(std::uint32_t receptor, Step now,
                                const std::function<void(Step, std::uint32_t, double)>& visit) const {
    // Neurons of some models have no receptor.
    if (receptor >= receptors_.size() || !receptors_[receptor].has_tables) return;
    const ReceptorInputs& inputs = receptors_[receptor];
    const connect::InputRing& ring = inputs.ring;
    for (const Group& group : groups_) {
        if (receptor >= group.receptors) continue;
        for (Step step = first_unread(group.population, now); step <= now; ++step) {
            const std::uint32_t first = group.first_inputs[receptor];
            for (std::uint32_t input = first; input < first + group.inputs[receptor]; ++input) {
                if (ring.wide == nullptr) {
                    const double sum = ring.slot(step)[input];
                    if (sum != 0.0 || !std::signbit(sum)) visit(step, input, sum);
                } else if (const WideSum sum = ring.wide_slot(step)[input]; sum != 0) {
                    visit_parts(sum >> 1, std::ldexp(1.0, ring.exponent + 1),
                                [&](double part) { visit(step, input, part); });
                }
            }
        }
    }
}

void Shard::add_input(std::uint32_t receptor, Step step, std::uint32_t input, double number) {
    const connect::InputRing& ring = receptors_[receptor].ring;
    if (ring.wide == nullptr) {
        ring.slot(step)[input] += number;
    } else {
        connect::add_wide(ring.wide_slot(step)[input], number, ring.exponent);
    }
}

void Shard::begin_replay(std::vector<std::pair<Step, LocalIndex>> sent) {
    replayed_ = std::move(sent);
    std::sort(replayed_.begin(), replayed_.end());
    next_replayed_ = 0;
    replays_ = true;
}

void Shard::replay(Step step) {
    if (step % window_ == 0) {
        deliver_window(step);
    }
    for (const ReceptorInputs& receptor : receptors_) {
        // Neurons have read what arrived in this step.
        if (!receptor.has_tables) continue;
        if (receptor.ring.wide != nullptr) {
            std::fill_n(receptor.ring.wide_slot(step), receptor.ring.slot_stride, WideSum{0});
        } else {
            std::fill_n(receptor.ring.slot(step), receptor.ring.slot_stride, -0.0);
        }
    }
    for (; next_replayed_ < replayed_.size() && replayed_[next_replayed_].first == step; ++next_replayed_) {
        const LocalIndex local = replayed_[next_replayed_].second;
        outbox_->push_back({layout_.id_of(local), local.value, static_cast<std::uint32_t>(step - epoch_begin_)});
    }
}

void Shard::end_replay() {
    replays_ = false;
    replayed_ = {};
}

}  // namespace ranvier::engine
