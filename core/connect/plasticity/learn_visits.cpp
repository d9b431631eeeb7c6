#include "connect/plasticity/learn_visits.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "connect/plasticity/learn_avx512.hpp"
#include "connect/plasticity/learn_block.hpp"
#include "connect/plasticity/older_spikes.hpp"
#include "connect/tables/delivery_loops.hpp"

namespace ranvier::connect {

namespace {

using detail::padded;

/// Whether an instruction set has stages of its own.
template <InstructionSet set>
#if defined(__x86_64__)
constexpr bool has_stages = set == InstructionSet::avx512;
#else
constexpr bool has_stages = false;
#endif

/// Synapses are visited in blocks, of one row or of several. Those that have at least one postsynaptic spike to learn from
/// are put together, and among them those with at least two, and so on. The deepest go first, so that each synapse learns
/// from its spikes in their order, in loops without branches. All lists are filled up to whole vectors.
template <class Real>
struct LearnVisits {
    using Arguments = LearnArguments<Real>;
    using Visit = LearnVisit<Real>;
    using History = SpikeHistory<Real>;
    using Block = detail::LearnBlock<Real>;
    using Depth = typename Block::Depth;
    using Piece = typename Block::Piece;
    using OlderSpikes = detail::OlderSpikes<Real>;
    static constexpr std::size_t block = Block::block;
    static constexpr std::size_t newest = History::newest;

    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static void run(const Arguments* arguments) {
        const Arguments& a = *arguments;
        Block b;
        b.set = set;
        std::size_t visit = 0;
        std::size_t offset = 0;
        while (visit < a.visits.size()) {
            fill<set>(a, b, visit, offset);
            // What the next block will need, a part at a time: so many lines are not on their way at once.
            Ahead ahead{visit, offset};
            prefetch_part(a, ahead);
            if (a.view != nullptr) {
                b.greatest_place = a.view->greatest_place;
            } else {
                b.greatest_place = look_at<set>(a, b.targets.data(), b.end.data(), b.meets.data(), b.count,
                                                b.first.data(), b.place.data(), b.trace.data());
                if (a.rule->pairing != Pairing::all) find_first(a, b);
            }
            prefetch_part(a, ahead);
            learn<set>(a, b);
            prefetch_part(a, ahead);
            if (a.arrives) arrive(a, b);
            prefetch_part(a, ahead);
            store(a, b);
        }
    }

    // ---- where synapses are ------------------------------------------------------------------------------------------

    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static void fill(const Arguments& a, Block& b, std::size_t& visit, std::size_t& offset) {
        b.count = 0;
        b.piece_count = 0;
        b.older_count = 0;
        b.near = true;
        while (visit < a.visits.size() && b.count < block && b.piece_count < Block::most_pieces) {
            const Visit& v = a.visits[visit];
            const std::size_t count = std::min(v.count - offset, block - b.count);
            const std::size_t begin = b.count;
            b.pieces[b.piece_count++] = {&v, offset, begin, begin + count};
            b.near &= v.end - v.last < Decay<Real>::near_steps || v.learnt >= v.end;
            if constexpr (has_stages<set>) {
                detail::LearnAvx512<Real>::fill(a, b, v, offset, begin, count);
            } else {
                fill_piece(a, b, v, offset, begin, count);
            }
            if (a.rule->own.any()) fill_parameters(a, b, v, offset, begin, count);
            b.count += count;
            offset += count;
            if (offset == v.count) {
                offset = 0;
                ++visit;
            }
        }
    }
    RANVIER_ALWAYS_INLINE static void fill_piece(const Arguments& a, Block& b, const Visit& v, std::size_t offset,
                                                 std::size_t begin, std::size_t count) {
        if (a.wide_targets) {
            copy(static_cast<const std::uint32_t*>(v.targets) + offset, count, b.targets.data() + begin);
        } else {
            copy(static_cast<const std::uint16_t*>(v.targets) + offset, count, b.targets.data() + begin);
        }
        copy(v.weights + offset, count, b.weights.data() + begin);
        for (std::size_t i = begin; i < begin + count; ++i) {
            b.learnt[i] = v.learnt;
            b.end[i] = v.end;
            b.last[i] = v.last;
            b.meets[i] = v.meets;
            b.row_trace[i] = v.trace;
        }
        if (v.synapse_traces != nullptr) copy(v.synapse_traces + offset, count, b.row_trace.data() + begin);
        if (v.delays == nullptr) return;
        if (a.wide_delays) {
            copy(static_cast<const std::uint16_t*>(v.delays) + offset, count, b.slots.data() + begin);
        } else {
            copy(static_cast<const std::uint8_t*>(v.delays) + offset, count, b.slots.data() + begin);
        }
        for (std::size_t i = begin; i < begin + count; ++i) {
            const auto delay = static_cast<std::int32_t>(b.slots[i]);
            b.slots[i] = (v.slot + b.slots[i]) & a.slot_mask;
            b.learnt[i] -= delay;
            b.end[i] -= delay;
            b.last[i] -= delay;
            b.meets[i] -= delay;
        }
    }
    /// Those that synapses share, too.
    [[gnu::noinline]] static void fill_parameters(const Arguments& a, Block& b, const Visit& v, std::size_t offset,
                                                  std::size_t begin, std::size_t count) {
        const std::size_t width = a.wide_targets ? sizeof(std::uint32_t) : sizeof(std::uint16_t);
        const auto first =
            static_cast<std::size_t>(static_cast<const char*>(v.targets) - static_cast<const char*>(a.first_target)) /
                width +
            offset;
        for (std::size_t k = 0; k < a.rule->own.parameter_count; ++k) {
            Real* const to = b.parameters[k].data() + begin;
            if (a.parameters[k] != nullptr) {
                copy(a.parameters[k] + first, count, to);
            } else {
                std::fill_n(to, count, a.rule->own.parameters[k].shared);
            }
        }
    }
    template <class From, class To>
    RANVIER_ALWAYS_INLINE static void copy(const From* from, std::size_t count, To* to) {
        for (std::size_t i = 0; i < count; ++i) to[i] = from[i];
    }

    struct Ahead {
        std::size_t visit;
        std::size_t offset;
    };
    RANVIER_ALWAYS_INLINE static void prefetch_part(const Arguments& a, Ahead& ahead) {
        const std::size_t width = a.wide_targets ? sizeof(std::uint32_t) : sizeof(std::uint16_t);
        for (std::size_t left = block / 4; left > 0 && ahead.visit < a.visits.size();) {
            const Visit& v = a.visits[ahead.visit];
            const std::size_t count = std::min(v.count - ahead.offset, left);
            detail::prefetch_span(static_cast<const char*>(v.targets) + ahead.offset * width, count * width);
            detail::prefetch_span(v.weights + ahead.offset, count * sizeof(Real));
            if (v.delays != nullptr) {
                const std::size_t delay_width = a.wide_delays ? sizeof(std::uint16_t) : sizeof(std::uint8_t);
                detail::prefetch_span(static_cast<const char*>(v.delays) + ahead.offset * delay_width,
                                      count * delay_width);
            }
            left -= count;
            ahead.offset += count;
            if (ahead.offset < v.count) continue;
            ahead.offset = 0;
            ++ahead.visit;
        }
    }

    // ---- what has come -----------------------------------------------------------------------------------------------

    /// Finds the newest spike up to `end`, and what is left of the trace after the last one before `meets`. Returns the
    /// greatest place in the history.
    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static std::uint32_t look_at(const Arguments& a, const std::uint32_t* targets,
                                                       const std::int32_t* end, const std::int32_t* meets,
                                                       std::size_t count, std::int32_t* first, std::uint32_t* place,
                                                       Real* trace) {
        if constexpr (has_stages<set>) {
            return detail::LearnAvx512<Real>::look_at(a, targets, end, meets, count, first, place, trace);
        }
        const std::int32_t* const steps = a.history->steps();
        const Real* const traces = a.history->traces();
        const std::uint32_t neurons = a.history->neurons();
        std::array<std::int32_t, block> left;  // steps, of the trace
        std::uint32_t greatest = 0;
        for (std::size_t i = 0; i < count; ++i) {
            // Behind the newest spikes there is one that never was.
            std::uint32_t at = targets[i];
            while (steps[at] > end[i]) at += neurons;
            first[i] = steps[at];
            place[i] = at;
            greatest = std::max(greatest, at);
            while (steps[at] >= meets[i]) at += neurons;
            std::int32_t before = steps[at];
            trace[i] = traces[at];
            if (at >= newest * neurons) OlderSpikes::look_before(a, targets[i], meets[i], before, trace[i]);
            // Of a neuron that has never fired the trace is 0, whatever the number of steps.
            left[i] = meets[i] - std::max(before, meets[i] - (1 << 30));
        }
        for (std::size_t i = 0; i < count; ++i) trace[i] *= a.postsynaptic(left[i]);
        return greatest;
    }

    /// Where only the first postsynaptic spike after the last presynaptic one is learnt from.
    [[gnu::noinline]] static void find_first(const Arguments& a, Block& b) {
        const std::int32_t* const steps = a.history->steps();
        const std::uint32_t neurons = a.history->neurons();
        for (std::size_t p = 0; p < b.piece_count; ++p) {
            const Visit& v = *b.pieces[p].visit;
            for (std::size_t i = b.pieces[p].begin; i < b.pieces[p].end; ++i) {
                const std::int32_t since = v.since == History::never ? v.since : v.since - (v.last - b.last[i]);
                std::uint32_t at = b.place[i];
                const bool came = steps[at] > since;
                while (steps[at] > since) at += neurons;
                b.came[i] = came ? 1 : 0;
                b.place[i] = came ? at - neurons : at;
                b.first[i] = came ? steps[at - neurons] : History::never;
                if (at >= newest * neurons) OlderSpikes::find_first(a, b, i, since);
                if (b.came[i] == 0 && a.rule->pairing == Pairing::restricted) b.trace[i] = Real{0};
            }
        }
    }

    // ---- what is to be learnt ----------------------------------------------------------------------------------------

    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static void learn(const Arguments& a, Block& b) {
        if constexpr (has_stages<set>) {
            detail::LearnAvx512<Real>::learn(a, b);
        } else {
            const std::size_t depths = list_pending(a, b);
            if (b.older_count > 0) OlderSpikes::learn(a, b);
            for (std::size_t depth = depths; depth-- > 0;) learn_from(a, b, depth);
        }
    }

    /// Lists synapses by the number of spikes that they have to learn from. Returns how many lists have any.
    RANVIER_ALWAYS_INLINE static std::size_t list_pending(const Arguments& a, Block& b) {
        const std::size_t listed = a.view != nullptr ? list_first<true>(a, b) : list_first<false>(a, b);
        if (a.rule->pairing != Pairing::all) return listed > 0 ? 1 : 0;
        if (b.greatest_place >= newest * a.history->neurons()) OlderSpikes::list(a, b);
        std::size_t depth = 0;
        while (b.depths[depth].count > 0) list_deeper(a, b, ++depth);
        return depth;
    }

    template <bool shared>
    RANVIER_ALWAYS_INLINE static std::size_t list_first(const Arguments& a, Block& b) {
        Depth& depth = b.depths[0];
        const std::int32_t* const first = shared ? a.view->first : b.first.data();
        const std::uint32_t* const places = shared ? a.view->place : b.place.data();
        std::size_t length = 0;
        for (std::size_t i = 0; i < b.count; ++i) {
            const std::int32_t step = first[shared ? b.targets[i] : i];
            depth.list[length] = static_cast<std::uint16_t>(i);
            depth.steps[length] = steps_between(b.last[i], step);
            length += step > b.learnt[i] ? 1 : 0;
        }
        for (std::size_t j = 0; j < length; ++j) {
            const std::uint16_t i = depth.list[j];
            depth.at[j] = places[shared ? b.targets[i] : i];
        }
        depth.count = length;
        return length;
    }

    RANVIER_ALWAYS_INLINE static void list_deeper(const Arguments& a, Block& b, std::size_t level) {
        const std::int32_t* const steps = a.history->steps();
        const std::uint32_t neurons = a.history->neurons();
        const std::uint32_t oldest = (newest - 1) * neurons;
        const bool may_be_older = b.greatest_place + (level - 1) * neurons >= oldest;
        const Depth& before = b.depths[level - 1];
        Depth& depth = b.depths[level];
        std::size_t length = 0;
        for (std::size_t j = 0; j < before.count; ++j) {
            const std::uint16_t i = before.list[j];
            const std::uint32_t at = before.at[j];
            const std::int32_t step = steps[at + neurons];
            depth.list[length] = i;
            depth.at[length] = at + neurons;
            depth.steps[length] = steps_between(b.last[i], step);
            length += step > b.learnt[i] ? 1 : 0;
        }
        depth.count = length;
        if (!may_be_older) return;
        for (std::size_t j = 0; j < before.count; ++j) {
            b.older[b.older_count] = before.list[j];
            b.older_count += before.at[j] >= oldest ? 1 : 0;
        }
    }
    /// Wraps round where the later one never was; then nothing is made of it.
    RANVIER_ALWAYS_INLINE static std::int32_t steps_between(std::int32_t from, std::int32_t to) {
        return static_cast<std::int32_t>(static_cast<std::uint32_t>(to) - static_cast<std::uint32_t>(from));
    }

    // ---- what spikes do ----------------------------------------------------------------------------------------------

    /// Each of the synapses that have to learn from so many newer spikes learns from the one before these.
    RANVIER_ALWAYS_INLINE static void learn_from(const Arguments& a, Block& b, std::size_t level) {
        const LearningRule<Real>& rule = *a.rule;
        Depth& depth = b.depths[level];
        const std::size_t count = depth.count;
        const std::size_t whole = padded(count);
        for (std::size_t j = count; j < whole; ++j) {
            depth.list[j] = 0;
            depth.steps[j] = 0;
        }
        for (std::size_t j = 0; j < whole; ++j) depth.weights[j] = b.weights[depth.list[j]];
        for (std::size_t j = 0; j < whole; ++j) b.trace_of_learning[j] = b.row_trace[depth.list[j]];
        if (b.near) {
            for (std::size_t j = 0; j < whole; ++j) b.trace_of_learning[j] *= a.presynaptic.near(depth.steps[j]);
        } else {
            for (std::size_t j = 0; j < whole; ++j) b.trace_of_learning[j] *= a.presynaptic(depth.steps[j]);
        }
        if (rule.own_postsynaptic_traces > 0) {
            const Real* const own = a.history->own(0);
            for (std::size_t j = 0; j < count; ++j) b.own[j] = own[depth.at[j]];
            for (std::size_t j = count; j < whole; ++j) b.own[j] = Real{0};
        }
        if (rule.own.any()) {
            learn_own(rule.own, b, depth, whole);
        } else {
            rule.postsynaptic(b.set, depth.weights.data(), b.trace_of_learning.data(), b.own.data(), whole,
                              rule.constants.get());
        }
        for (std::size_t j = 0; j < count; ++j) b.weights[depth.list[j]] = depth.weights[j];
    }

    [[gnu::noinline]] static void learn_own(const OwnRule<Real>& rule, Block& b, Depth& depth, std::size_t whole) {
        std::array<const Real*, most_rule_parameters> parameters = {};
        for (std::size_t k = 0; k < rule.parameter_count; ++k) {
            Real* const to = b.parameters_of_learning[k].data();
            for (std::size_t j = 0; j < whole; ++j) to[j] = b.parameters[k][depth.list[j]];
            parameters[k] = to;
        }
        rule.postsynaptic(b.set, depth.weights.data(), b.trace_of_learning.data(), parameters.data(), whole);
    }
    [[gnu::noinline]] static void arrive_own(const OwnRule<Real>& rule, Block& b, std::size_t whole) {
        std::array<const Real*, most_rule_parameters> parameters = {};
        for (std::size_t k = 0; k < rule.parameter_count; ++k) {
            std::fill_n(b.parameters[k].data() + b.count, whole - b.count, Real{1});
            parameters[k] = b.parameters[k].data();
        }
        rule.presynaptic(b.set, b.weights.data(), b.trace.data(), parameters.data(), whole);
    }

    RANVIER_ALWAYS_INLINE static void arrive(const Arguments& a, Block& b) {
        const LearningRule<Real>& rule = *a.rule;
        const std::size_t whole = padded(b.count);
        if (a.view != nullptr) {
            for (std::size_t i = 0; i < b.count; ++i) b.trace[i] = a.view->trace[b.targets[i]];
        }
        for (std::size_t i = b.count; i < whole; ++i) {
            b.weights[i] = Real{1};
            b.trace[i] = Real{0};
        }
        if (rule.own_presynaptic_traces > 0) {
            for (std::size_t p = 0; p < b.piece_count; ++p) {
                const Piece& piece = b.pieces[p];
                for (std::size_t i = piece.begin; i < piece.end; ++i) b.own[i] = piece.visit->own[0];
            }
            for (std::size_t i = b.count; i < whole; ++i) b.own[i] = Real{0};
        }
        if (rule.own.any()) return arrive_own(rule.own, b, whole);
        rule.presynaptic(b.set, b.weights.data(), b.trace.data(), b.own.data(), whole, rule.constants.get());
    }

    RANVIER_ALWAYS_INLINE static void store(const Arguments& a, Block& b) {
        round(a, b);
        for (std::size_t p = 0; p < b.piece_count; ++p) {
            const Piece& piece = b.pieces[p];
            const Visit& v = *piece.visit;
            copy(b.weights.data() + piece.begin, piece.end - piece.begin, v.weights + piece.offset);
            if (v.synapse_traces != nullptr && a.arrives) keep_traces(b, piece);
            if (v.inputs == nullptr) continue;
            if (v.delays == nullptr) {
                for (std::size_t i = piece.begin; i < piece.end; ++i) v.inputs[b.targets[i]] += b.added[i];
            } else {
                for (std::size_t i = piece.begin; i < piece.end; ++i)
                    v.inputs[b.slots[i] * a.slot_stride + b.targets[i]] += b.added[i];
            }
        }
    }

    /// What is added lies on the grid of the sums.
    RANVIER_ALWAYS_INLINE static void round(const Arguments& a, Block& b) {
        if (a.greatest == nullptr) return;
        // As integers, absolute values are ordered in the same way, and their maximum is found in vectors.
        using Bits = typename History::Bits;
        Bits greatest = 0;
        const double to_grid = a.to_grid;
        for (std::size_t i = 0; i < b.count; ++i) {
            const Bits bits = std::bit_cast<Bits>(b.weights[i]) & (~Bits{0} >> 1);
            greatest = greatest < bits ? bits : greatest;
        }
        for (std::size_t i = 0; i < padded(b.count); ++i) {
            b.added[i] = (static_cast<double>(b.weights[i]) + to_grid) - to_grid;
        }
        *a.greatest = std::max(*a.greatest, greatest);
    }

    /// A postsynaptic spike sets the presynaptic trace of a synapse back to 0, and the present spike adds 1.
    RANVIER_ALWAYS_INLINE static void keep_traces(const Block& b, const Piece& piece) {
        const Visit& v = *piece.visit;
        Real* const traces = v.new_synapse_traces + piece.offset;
        for (std::size_t i = piece.begin; i < piece.end; ++i) {
            const Real before = b.came[i] != 0 ? Real{0} : b.row_trace[i] * v.left;
            traces[i - piece.begin] = before + Real{1};
        }
    }
};

template <class Real>
struct LookAtTargets {
    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static void run(const LearnArguments<Real>* arguments, std::int32_t end, std::int32_t meets,
                                          TargetView<Real>* view) {
        constexpr std::uint32_t block = LearnVisits<Real>::block;
        std::array<std::uint32_t, block> targets;
        std::array<std::int32_t, block> ends;
        std::array<std::int32_t, block> meeting;
        for (std::uint32_t i = 0; i < block; ++i) {
            targets[i] = i;
            ends[i] = end;
            meeting[i] = meets;
        }
        view->greatest_place = 0;
        const std::uint32_t neurons = arguments->history->neurons();
        for (std::uint32_t begin = 0; begin < neurons; begin += block) {
            const std::uint32_t count = std::min(block, neurons - begin);
            const std::uint32_t greatest =
                LearnVisits<Real>::template look_at<set>(*arguments, targets.data(), ends.data(), meeting.data(), count,
                                                         view->first + begin, view->place + begin, view->trace + begin);
            view->greatest_place = std::max(view->greatest_place, greatest);
            for (std::uint32_t& target : targets) target += block;
        }
    }
};

template <class Real>
struct LookAtSome {
    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static void run(const LearnArguments<Real>* arguments, const std::uint32_t* targets,
                                          const std::int32_t* end, const std::int32_t* meets, std::size_t count,
                                          std::int32_t* first, std::uint32_t* place, Real* trace) {
        LearnVisits<Real>::template look_at<set>(*arguments, targets, end, meets, count, first, place, trace);
    }
};

/// AVX-512 where its stages have room for the history, and know of no parameters.
template <class Real>
InstructionSet usable(InstructionSet set, [[maybe_unused]] const LearnArguments<Real>& arguments) {
    if constexpr (has_stages<InstructionSet::avx512>) {
        const bool is_usable = detail::LearnAvx512<Real>::has_room(*arguments.history) && !arguments.rule->own.any();
        if (set == InstructionSet::avx512 && !is_usable) return InstructionSet::avx2;
    }
    return set;
}

}  // namespace

template <class Real>
void look_at_targets(InstructionSet set, const LearnArguments<Real>& arguments, std::int32_t end, std::int32_t meets,
                     TargetView<Real>& view) {
    Dispatched<LookAtTargets<Real>>::call(usable(set, arguments), &arguments, end, meets, &view);
}

template <class Real>
void look_at_some(InstructionSet set, const LearnArguments<Real>& arguments, const std::uint32_t* targets,
                  const std::int32_t* end, const std::int32_t* meets, std::size_t count, std::int32_t* first,
                  std::uint32_t* place, Real* trace) {
    Dispatched<LookAtSome<Real>>::call(usable(set, arguments), &arguments, targets, end, meets, count, first, place,
                                       trace);
}

template <class Real>
void learn_visits(InstructionSet set, const LearnArguments<Real>& arguments) {
    Dispatched<LearnVisits<Real>>::call(usable(set, arguments), &arguments);
}

template void look_at_targets(InstructionSet, const LearnArguments<float>&, std::int32_t, std::int32_t,
                              TargetView<float>&);
template void look_at_targets(InstructionSet, const LearnArguments<double>&, std::int32_t, std::int32_t,
                              TargetView<double>&);
template void look_at_some(InstructionSet, const LearnArguments<float>&, const std::uint32_t*, const std::int32_t*,
                           const std::int32_t*, std::size_t, std::int32_t*, std::uint32_t*, float*);
template void look_at_some(InstructionSet, const LearnArguments<double>&, const std::uint32_t*, const std::int32_t*,
                           const std::int32_t*, std::size_t, std::int32_t*, std::uint32_t*, double*);
template void learn_visits(InstructionSet, const LearnArguments<float>&);
template void learn_visits(InstructionSet, const LearnArguments<double>&);

}  // namespace ranvier::connect
