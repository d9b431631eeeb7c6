#include "engine/shard/input_state.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <vector>

namespace ranvier::engine {

namespace {

using connect::WideSum;

/// Splits this number of quanta into numbers with an exact sum.
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

/// The contributions of static tables to the inputs of a receptor in some steps after `now`, step by step.
template <class Sum, class Add>
std::vector<Sum> static_inputs(const ShardInputs& inputs, const ShardSynapses& synapses, std::uint32_t receptor,
                               Step now, Steps steps, Sum nothing, Add add) {
    const std::size_t size = inputs.size(receptor);
    std::vector<Sum> sums(static_cast<std::size_t>(steps.end - steps.begin) * size, nothing);
    std::vector<connect::SynapseView> views;
    for (std::uint32_t i = 0; i < synapses.tables().size(); ++i) {
        const connect::KindIndex kind{i};
        const connect::StoredSynapses* const stored = synapses.stored(kind);
        if (stored == nullptr || synapses.receptor(kind) != receptor || !synapses.is_static(kind)) continue;
        // Deferred runs that arrive later have not been added yet.
        const bool is_deferred = synapses.table(kind)->deferred() != nullptr;
        const Step end = is_deferred ? std::min(steps.end, synapses.window_end(now)) : steps.end;
        stored->recently_accepted()->visit_recent([&](RowIndex row, Step stamp) {
            views.clear();
            stored->read(row, stored->row_begin(row), stored->row_end(row), views);
            for (const connect::SynapseView& view : views) {
                const Step arrival = stamp + view.delay;
                if (arrival < steps.begin || arrival >= end) continue;
                add(sums[static_cast<std::size_t>(arrival - steps.begin) * size + view.target],
                    stored->weight(view.position));
            }
        });
    }
    return sums;
}

}  // namespace

bool has_dynamic_inputs(const ShardSynapses& synapses, std::uint32_t receptor) {
    for (std::uint32_t i = 0; i < synapses.tables().size(); ++i) {
        const connect::KindIndex kind{i};
        const connect::StoredSynapses* const stored = synapses.stored(kind);
        if (stored == nullptr || stored->size() == 0) continue;
        if (synapses.receptor(kind) == receptor && !synapses.is_static(kind)) return true;
    }
    return false;
}

void visit_dynamic_inputs(const ShardInputs& inputs, const ShardSynapses& synapses, std::uint32_t receptor, Step now,
                          Steps steps, const std::function<void(Step, std::uint32_t, double)>& visit) {
    const connect::InputRing& ring = inputs.ring(receptor);
    const auto visit_sums = [&](const auto& known, const auto& of_step, const auto& visit_rest) {
        std::size_t place = 0;
        for (Step step = steps.begin; step < steps.end; ++step) {
            const auto* const all = of_step(step);
            for (std::uint32_t input = 0; input < inputs.size(receptor); ++input, ++place) {
                visit_rest(step, input, all[input], known[place]);
            }
        }
    };
    // If only static synapses have contributed, nothing is left, not even 0.
    if (ring.wide == nullptr) {
        visit_sums(
            static_inputs<double>(inputs, synapses, receptor, now, steps, -0.0,
                                  [](double& sum, double weight) { sum += weight; }),
            [&](Step step) { return ring.slot(step); },
            [&](Step step, std::uint32_t input, double all, double static_part) {
                if (std::bit_cast<std::uint64_t>(all) == std::bit_cast<std::uint64_t>(static_part)) return;
                visit(step, input, all - static_part + 0.0);
            });
        return;
    }
    const double quantum = std::ldexp(1.0, ring.exponent + 1);
    const auto add = [&](WideSum& sum, double weight) { connect::add_wide(sum, weight, ring.exponent); };
    visit_sums(
        static_inputs<WideSum>(inputs, synapses, receptor, now, steps, WideSum{0}, add),
        [&](Step step) { return ring.wide_slot(step); },
        [&](Step step, std::uint32_t input, WideSum all, WideSum static_part) {
            if (all == static_part) return;
            visit_parts((all >> 1) - (static_part >> 1), quantum, [&](double part) { visit(step, input, part); });
        });
}

void visit_unread_inputs(const ShardInputs& inputs, const ShardGroups& groups, std::uint32_t receptor, Step now,
                         const std::function<void(Step, std::uint32_t, double)>& visit) {
    // Neurons of some models have no receptor.
    if (!inputs.has_synapses(receptor)) return;
    const connect::InputRing& ring = inputs.ring(receptor);
    for (const ShardGroup& group : groups) {
        if (receptor >= group.receptors) continue;
        for (Step step = groups.first_unread(group.population, now); step <= now; ++step) {
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

}  // namespace ranvier::engine
