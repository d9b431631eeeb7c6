#pragma once

#include "connect/plasticity/learn_lanes.hpp"
#include "connect/plasticity/per_synapse_rule.hpp"

namespace ranvier::connect::detail {

/// The stages of LearnVisits for AVX-512; only declared on other architectures than x86-64.
template <class Real>
struct LearnAvx512;

#if defined(__x86_64__)
template <class Real>
struct LearnAvx512 {
    using Arguments = LearnArguments<Real>;
    using Visit = LearnVisit<Real>;
    using Block = LearnBlock<Real>;
    using Depth = typename Block::Depth;
    using L = Lanes<Real>;
    using Ints = typename L::Ints;
    using Reals = typename L::Reals;
    using Mask = typename L::Mask;
    static constexpr std::size_t newest = Block::newest;
    static constexpr std::size_t vectors = Block::block / L::size;
    using Masks = std::array<std::array<Mask, vectors>, newest + 1>;

    /// Places in the history are signed 32-bit indices.
    static bool has_room(const SpikeHistory<Real>& history) {
        return (newest + 1) * std::uint64_t{history.neurons()} <= std::numeric_limits<std::int32_t>::max();
    }

    // ---- loading synapses -------------------------------------------------------------------------------------------

    RANVIER_TARGET_AVX512 static Ints load_inputs(const Arguments& a, const Visit& v, Mask some, std::size_t from) {
        return a.wide_targets ? L::load_some(some, static_cast<const std::uint32_t*>(v.targets) + from)
                              : L::load16(some, static_cast<const std::uint16_t*>(v.targets) + from);
    }

    [[gnu::noinline]] RANVIER_TARGET_AVX512 static void fill(const Arguments& a, Block& b, const Visit& v,
                                                             std::size_t offset, std::size_t begin, std::size_t count) {
        const Ints first_neuron = L::all(static_cast<std::int32_t>(a.first_neuron));
        for (std::size_t k = 0; k < count; k += L::size) {
            const Mask some = L::first(count - k);
            const std::size_t from = offset + k;
            const std::size_t i = begin + k;
            const Ints input = load_inputs(a, v, some, from);
            L::store(b.targets.data() + i, L::subtract(input, first_neuron));
            L::store(b.weights.data() + i, L::load_some_reals(some, v.weights + from));
            L::store(b.row_trace.data() + i, v.synapse_traces == nullptr
                                                 ? L::all_reals(v.trace)
                                                 : L::load_some_reals(some, v.synapse_traces + from));
            Ints delay = L::all(0);
            if (v.delays != nullptr) {
                delay = a.wide_delays ? L::load16(some, static_cast<const std::uint16_t*>(v.delays) + from)
                                      : L::load8(some, static_cast<const std::uint8_t*>(v.delays) + from);
                const Ints slot = L::add(L::all(static_cast<std::int32_t>(v.slot)), delay);
                L::store(b.slots.data() + i, L::both(slot, L::all(static_cast<std::int32_t>(a.slot_mask))));
            }
            L::store(b.learnt.data() + i, L::subtract(L::all(v.learnt), delay));
            L::store(b.last.data() + i, L::subtract(L::all(v.last), delay));
            if (a.view != nullptr) continue;
            L::store(b.end.data() + i, L::subtract(L::all(v.end), delay));
            L::store(b.meets.data() + i, L::subtract(L::all(v.meets), delay));
        }
    }

    /// fill() of a single synapse: in unsorted tables, each is a row, and fill() would write whole vectors for it.
    RANVIER_ALWAYS_INLINE static void fill_one(const Arguments& a, Block& b, const Visit& v, std::size_t offset,
                                               std::size_t i) {
        b.targets[i] = input_of(a, v, offset) - a.first_neuron;
        b.weights[i] = v.weights[offset];
        b.row_trace[i] = v.synapse_traces == nullptr ? v.trace : v.synapse_traces[offset];
        std::int32_t delay = 0;
        if (v.delays != nullptr) {
            delay = a.wide_delays ? static_cast<const std::uint16_t*>(v.delays)[offset]
                                  : static_cast<const std::uint8_t*>(v.delays)[offset];
            b.slots[i] = (v.slot + static_cast<std::uint32_t>(delay)) & a.slot_mask;
        }
        b.learnt[i] = v.learnt - delay;
        b.last[i] = v.last - delay;
        if (a.view != nullptr) return;
        b.end[i] = v.end - delay;
        b.meets[i] = v.meets - delay;
    }

    /// Resets what fill_and_list() appends to, if that function loads the block.
    static void begin(const Arguments& a, Block& b) {
        b.is_listed = a.view != nullptr && a.neurons == nullptr;
        b.depths[0].count = 0;
        b.listed[0] = 0;
    }

    /// fill(), list_first() and load_traces() in one, where visits share a view.
    [[gnu::noinline]] RANVIER_TARGET_AVX512 static void fill_and_list(const Arguments& a, Block& b, const Visit& v,
                                                                      std::size_t offset, std::size_t begin,
                                                                      std::size_t count) {
        const TargetView<Real>& view = *a.view;
        const std::uint32_t neurons = a.history->neurons();
        // Rows are usually sorted by target. In dense networks, the targets of a vector are then within a window of two
        // vectors, which takes a fraction of the time of a gather.
        constexpr std::uint32_t window = 2 * L::size;
        const std::uint32_t last_window = neurons < window ? 0 : neurons - window;
        const Ints first_neuron = L::all(static_cast<std::int32_t>(a.first_neuron));
        const Ints learnt = L::all(v.learnt);
        const Ints last = L::all(v.last);
        const Reals row_trace = L::all_reals(v.trace);
        Depth& depth = b.depths[0];
        std::size_t length = depth.count;
        // The first synapse may be in the middle of a vector of the block.
        const std::size_t shift = begin % L::size;
        std::uint16_t* listed = b.listed.data() + begin / L::size;
        for (std::size_t k = 0; k < count; k += L::size) {
            const Mask some = L::first(count - k);
            const std::size_t from = offset + k;
            const std::size_t i = begin + k;
            const Ints input = load_inputs(a, v, some, from);
            const Ints target = L::subtract(input, first_neuron);
            L::store(b.targets.data() + i, target);
            const Reals weights = L::load_some_reals(some, v.weights + from);
            L::store(b.weights.data() + i, weights);
            const std::uint32_t base = std::min(input_of(a, v, from) - a.first_neuron, last_window);
            const Ints at = L::subtract(target, L::all(static_cast<std::int32_t>(base)));
            Ints step;
            Reals trace;
            if (neurons >= window && L::are_below(some, at, window)) {
                step = L::pick(view.first + base, at);
                trace = L::pick_reals(view.trace + base, at);
            } else {
                step = L::gather(L::all(0), some, view.first, target);
                trace = L::gather_reals(L::all_reals(0), some, view.trace, target);
            }
            L::store(b.trace.data() + i, trace);
            const Mask is_listed = L::is_greater(some, step, learnt);
            const std::uint32_t shifted = static_cast<std::uint32_t>(is_listed) << shift;
            listed[0] |= static_cast<std::uint16_t>(shifted & ((1U << L::size) - 1U));
            *++listed = static_cast<std::uint16_t>(shifted >> L::size);
            L::store(depth.steps.data() + length, L::compress(is_listed, L::subtract(step, last)));
            L::store(depth.at.data() + length, L::compress(is_listed, target));
            L::store16(depth.list.data() + length, L::compress(is_listed, L::counted(i)));
            L::store(depth.row_trace.data() + length, row_trace);
            L::store(b.listed_learnt.data() + length, learnt);
            L::store(b.listed_last.data() + length, last);
            length += static_cast<std::size_t>(std::popcount(static_cast<std::uint32_t>(is_listed)));
        }
        depth.count = length;
    }

    /// fill_and_list() of a single synapse, for the same reason.
    RANVIER_ALWAYS_INLINE static void fill_and_list_one(const Arguments& a, Block& b, const Visit& v,
                                                        std::size_t offset, std::size_t i) {
        const TargetView<Real>& view = *a.view;
        const std::uint32_t target = input_of(a, v, offset) - a.first_neuron;
        const std::int32_t step = view.first[target];
        b.targets[i] = target;
        b.weights[i] = v.weights[offset];
        b.trace[i] = view.trace[target];
        const bool is_listed = step > v.learnt;
        std::uint16_t* const listed = b.listed.data() + i / L::size;
        listed[0] = static_cast<std::uint16_t>(listed[0] | static_cast<unsigned>(is_listed) << i % L::size);
        listed[1] = 0;
        // Overwritten by the next synapse unless this one is listed.
        Depth& depth = b.depths[0];
        const std::size_t length = depth.count;
        depth.steps[length] =
            static_cast<std::int32_t>(static_cast<std::uint32_t>(step) - static_cast<std::uint32_t>(v.last));
        depth.at[length] = target;
        depth.list[length] = static_cast<std::uint16_t>(i);
        depth.row_trace[length] = v.trace;
        b.listed_learnt[length] = v.learnt;
        b.listed_last[length] = v.last;
        depth.count = length + (is_listed ? 1 : 0);
    }

    // ---- spike lookup -----------------------------------------------------------------------------------------------

    /// See LearnVisits::look_up(). @param count at most a block
    [[gnu::noinline]] RANVIER_TARGET_AVX512 static std::uint32_t look_up(
        const Arguments& a, const std::uint32_t* targets, const std::int32_t* end, const std::int32_t* meets,
        std::size_t count, std::int32_t* first, std::uint32_t* place, Real* trace) {
        const std::int32_t* const steps = a.history->steps();
        std::array<std::uint16_t, Block::block + L::size> later;
        std::size_t later_count = 0;
        for (std::size_t i = 0; i < count; i += L::size) {
            const Mask some = L::first(count - i);
            const Ints target = L::load_some(some, targets + i);
            const Ints step = L::gather(L::all(0), some, steps, target);
            L::store_some(first + i, some, step);
            L::store_some(place + i, some, target);
            const Mask is_later = L::is_greater(some, step, L::load_some(some, end + i));
            L::store16(later.data() + later_count, L::compress(is_later, L::counted(i)));
            later_count += static_cast<std::size_t>(std::popcount(static_cast<std::uint32_t>(is_later)));
        }
        const std::uint32_t neurons = a.history->neurons();
        std::uint32_t greatest = neurons - 1;
        for (std::size_t k = 0; k < later_count; ++k) {
            // The newest spikes are followed by a sentinel.
            const std::size_t i = later[k];
            std::uint32_t at = targets[i] + neurons;
            while (steps[at] > end[i]) at += neurons;
            first[i] = steps[at];
            place[i] = at;
            greatest = std::max(greatest, at);
        }
        for (std::size_t i = 0; i < count; i += L::size) {
            const Mask some = L::first(count - i);
            look_up_traces(a, some, targets + i, meets + i, first + i, place + i, trace + i);
        }
        return greatest;
    }

    // ---- learning ---------------------------------------------------------------------------------------------------

    /// Lets synapses learn from postsynaptic spikes.
    [[gnu::noinline]] RANVIER_TARGET_AVX512 static void learn(const Arguments& a, Block& b) {
        Masks masks;
        if (b.is_listed) {
            std::copy_n(b.listed.begin(), (b.count + L::size - 1) / L::size, masks[0].begin());
        } else {
            list_first(a, b, masks[0]);
        }
        if (a.view != nullptr) find_places(a, b);
        std::size_t depths = b.depths[0].count > 0 ? 1 : 0;
        if (a.rule->pairing == Pairing::all) {
            if (b.greatest_place >= newest * a.history->neurons()) OlderSpikes<Real>::list(a, b);
            while (depths > 0 && b.depths[depths - 1].count > 0) {
                list_deeper(a, b, depths, masks[depths]);
                ++depths;
            }
            if (depths > 0) --depths;
        }
        if (b.older_count > 0) {
            if (b.is_listed) fill_lanes_of_visits(b);
            OlderSpikes<Real>::learn(a, b);
        }
        for (std::size_t depth = 0; depth < depths; ++depth) take_weights(b, depth, masks[depth]);
        for (std::size_t depth = depths; depth-- > 0;) learn_from(a, b, depth, masks[depth]);
    }

    // ---- arrival ----------------------------------------------------------------------------------------------------

    /// Loads the traces of the targets when these are shared by visits.
    [[gnu::noinline]] RANVIER_TARGET_AVX512 static void load_traces(const Arguments& a, Block& b) {
        for (std::size_t i = 0; i < b.count; i += L::size) {
            const Ints target = L::load(b.targets.data() + i);
            L::store(b.trace.data() + i,
                     L::gather_reals(L::all_reals(0), L::first(b.count - i), a.view->trace, target));
        }
    }

   private:
    RANVIER_LANES void look_up_traces(const Arguments& a, Mask some, const std::uint32_t* targets,
                                      const std::int32_t* meets, const std::int32_t* first, const std::uint32_t* place,
                                      Real* trace) {
        const Ints neurons = L::all(static_cast<std::int32_t>(a.history->neurons()));
        const Ints present = L::load_some(some, meets);
        Ints step = L::load_some(some, first);
        Ints at = L::load_some(some, place);
        Mask later = L::is_not_less(some, step, present);
        while (later != 0) {
            at = L::chosen(later, at, L::add(at, neurons));
            step = L::gather(step, later, a.history->steps(), at);
            later = L::is_not_less(later, step, present);
        }
        Reals after = L::gather_reals(L::all_reals(0), some, a.history->traces(), at);
        const Mask beyond = L::is_not_less(some, at, L::all(static_cast<std::int32_t>(newest * a.history->neurons())));
        if (beyond != 0) find_before(a, beyond, targets, meets, step, after);
        L::store_some(trace, some, L::times(after, postsynaptic_decay(a, some, present, step)));
    }
    [[gnu::noinline]] RANVIER_TARGET_AVX512 static void find_before(const Arguments& a, Mask some,
                                                                    const std::uint32_t* targets,
                                                                    const std::int32_t* meets, Ints& step,
                                                                    Reals& trace) {
        alignas(64) std::array<std::int32_t, L::size> steps;
        alignas(64) std::array<Real, L::size> traces;
        L::store(steps.data(), step);
        L::store(traces.data(), trace);
        for (auto left = static_cast<std::uint32_t>(some); left != 0; left &= left - 1) {
            const auto lane = static_cast<std::size_t>(std::countr_zero(left));
            OlderSpikes<Real>::find_before(a, targets[lane], meets[lane], steps[lane], traces[lane]);
        }
        step = L::load(steps.data());
        trace = L::load_reals(traces.data());
    }

    /// Decay factors after some steps.
    RANVIER_LANES Reals decay(const typename Decay<Real>::View& view, Mask some, Ints steps) {
        const Mask far = L::is_not_less(some, steps, L::all(Decay<Real>::near_steps));
        const Reals near = L::gather_reals(L::all_reals(0), static_cast<Mask>(some & ~far), view.short_, steps);
        if (far == 0) return near;
        constexpr int bits = Decay<Real>::stretch_bits;
        const Ints stretch = L::smaller(L::template shifted<bits>(steps), L::all(view.last));
        const Reals of_long = L::gather_reals(L::all_reals(0), far, view.long_, stretch);
        const Ints within = L::both(steps, L::all((1 << bits) - 1));
        return L::chosen(far, near, L::times(of_long, L::gather_reals(L::all_reals(0), far, view.short_, within)));
    }
    RANVIER_LANES Reals postsynaptic_decay(const Arguments& a, Mask some, Ints meets, Ints step) {
        // A neuron that has never fired has trace 0, whatever the number of steps.
        const Ints least = L::subtract(meets, L::all(1 << 30));
        return decay(a.postsynaptic, some, L::subtract(meets, L::larger(step, least)));
    }

    /// Synapses whose target has fired since the last presynaptic spike.
    RANVIER_LANES void list_first(const Arguments& a, Block& b, std::array<Mask, vectors>& masks) {
        Depth& depth = b.depths[0];
        const bool shared = a.view != nullptr;
        std::size_t length = 0;
        for (std::size_t i = 0; i < b.count; i += L::size) {
            const Mask some = L::first(b.count - i);
            const Ints target = L::load(b.targets.data() + i);
            const Ints step = shared ? L::gather(L::all(0), some, a.view->first, target) : L::load(b.first.data() + i);
            const Ints learnt = L::load(b.learnt.data() + i);
            const Ints last = L::load(b.last.data() + i);
            const Mask listed = L::is_greater(some, step, learnt);
            masks[i / L::size] = listed;
            L::store(depth.steps.data() + length, L::compress(listed, L::subtract(step, last)));
            L::store(depth.at.data() + length, L::compress(listed, shared ? target : L::load(b.place.data() + i)));
            L::store(depth.row_trace.data() + length, L::compress(listed, L::load_reals(b.row_trace.data() + i)));
            L::store(b.listed_learnt.data() + length, L::compress(listed, learnt));
            L::store(b.listed_last.data() + length, L::compress(listed, last));
            L::store16(depth.list.data() + length, L::compress(listed, L::counted(i)));
            length += static_cast<std::size_t>(std::popcount(static_cast<std::uint32_t>(listed)));
        }
        depth.count = length;
    }
    /// Replaces the targets of the first list by the places of their newest spikes.
    RANVIER_LANES void find_places(const Arguments& a, Block& b) {
        Depth& depth = b.depths[0];
        for (std::size_t j = 0; j < depth.count; j += L::size) {
            const Ints target = L::load(depth.at.data() + j);
            L::store(depth.at.data() + j, L::gather(L::all(0), L::first(depth.count - j), a.view->place, target));
        }
    }
    /// What fill_and_list() does not store of each synapse.
    [[gnu::noinline]] static void fill_lanes_of_visits(Block& b) {
        for (std::size_t p = 0; p < b.piece_count; ++p) {
            const typename Block::Piece& piece = b.pieces[p];
            for (std::size_t i = piece.begin; i < piece.end; ++i) {
                b.learnt[i] = piece.visit->learnt;
                b.last[i] = piece.visit->last;
                b.row_trace[i] = piece.visit->trace;
            }
        }
    }

    /// The synapses of the previous list whose target has fired once more.
    RANVIER_LANES void list_deeper(const Arguments& a, Block& b, std::size_t level, std::array<Mask, vectors>& masks) {
        const Depth& before = b.depths[level - 1];
        Depth& depth = b.depths[level];
        const std::uint32_t neurons = a.history->neurons();
        const Ints oldest = L::all(static_cast<std::int32_t>((newest - 1) * neurons));
        const bool may_be_older = b.greatest_place + (level - 1) * neurons >= (newest - 1) * neurons;
        std::size_t length = 0;
        for (std::size_t j = 0; j < before.count; j += L::size) {
            const Mask some = L::first(before.count - j);
            const Ints list = L::load16(some, before.list.data() + j);
            Ints at = L::load(before.at.data() + j);
            if (may_be_older) add_older(b, L::is_not_less(some, at, oldest), before.list.data() + j);
            at = L::add(at, L::all(static_cast<std::int32_t>(neurons)));
            const Ints step = L::gather(L::all(0), some, a.history->steps(), at);
            // The shorter lists overwrite elements that have been read.
            const Ints learnt = L::load(b.listed_learnt.data() + j);
            const Ints last = L::load(b.listed_last.data() + j);
            const Mask listed = L::is_greater(some, step, learnt);
            masks[j / L::size] = listed;
            L::store(depth.steps.data() + length, L::compress(listed, L::subtract(step, last)));
            L::store(depth.at.data() + length, L::compress(listed, at));
            L::store(depth.row_trace.data() + length, L::compress(listed, L::load_reals(before.row_trace.data() + j)));
            L::store(b.listed_learnt.data() + length, L::compress(listed, learnt));
            L::store(b.listed_last.data() + length, L::compress(listed, last));
            L::store16(depth.list.data() + length, L::compress(listed, list));
            length += static_cast<std::size_t>(std::popcount(static_cast<std::uint32_t>(listed)));
        }
        depth.count = length;
    }
    RANVIER_LANES void add_older(Block& b, Mask older, const std::uint16_t* list) {
        for (auto left = static_cast<std::uint32_t>(older); left != 0; left &= left - 1) {
            b.older[b.older_count++] = list[std::countr_zero(left)];
        }
    }

    RANVIER_LANES Real* weights_before(Block& b, std::size_t level) {
        return level == 0 ? b.weights.data() : b.depths[level - 1].weights.data();
    }
    RANVIER_LANES std::size_t count_before(const Block& b, std::size_t level) {
        return level == 0 ? b.count : b.depths[level - 1].count;
    }
    RANVIER_LANES void take_weights(Block& b, std::size_t level, const std::array<Mask, vectors>& masks) {
        const Real* const from = weights_before(b, level);
        Real* const to = b.depths[level].weights.data();
        std::size_t length = 0;
        for (std::size_t j = 0; j < count_before(b, level); j += L::size) {
            const Mask listed = masks[j / L::size];
            L::store(to + length, L::compress(listed, L::load_reals(from + j)));
            length += static_cast<std::size_t>(std::popcount(static_cast<std::uint32_t>(listed)));
        }
        for (std::size_t j = length; j < padded(length); j += L::size) L::store(to + j, L::all_reals(Real{1}));
    }
    /// Synapses that must learn from this many newer spikes learn from the previous spike.
    RANVIER_LANES void learn_from(const Arguments& a, Block& b, std::size_t level,
                                  const std::array<Mask, vectors>& masks) {
        const LearningRule<Real>& rule = *a.rule;
        Depth& depth = b.depths[level];
        for (std::size_t j = 0; j < padded(depth.count); j += L::size) {
            const Mask some = L::first(depth.count - std::min(j, depth.count));
            const Ints steps = L::load(depth.steps.data() + j);
            const Reals left = b.near ? L::gather_reals(L::all_reals(0), some, a.presynaptic.short_, steps)
                                      : decay(a.presynaptic, some, steps);
            const Reals trace = L::load_some_reals(some, depth.row_trace.data() + j);
            L::store(b.trace_of_learning.data() + j, L::times(trace, left));
            if (rule.same_side_postsynaptic_traces == 0) continue;
            L::store(b.same_side.data() + j,
                     L::gather_reals(L::all_reals(0), some, a.history->same_side(0), L::load(depth.at.data() + j)));
        }
        if (rule.per_synapse.any()) {
            std::fill_n(depth.list.data() + depth.count, padded(depth.count) - depth.count, std::uint16_t{0});
            learn_per_synapse(rule.per_synapse, b, depth, padded(depth.count));
        } else {
            rule.postsynaptic(InstructionSet::avx512, depth.weights.data(), b.trace_of_learning.data(),
                              b.same_side.data(), padded(depth.count), rule.constants.get());
        }
        Real* const to = weights_before(b, level);
        std::size_t length = 0;
        for (std::size_t j = 0; j < count_before(b, level); j += L::size) {
            const Mask listed = masks[j / L::size];
            L::store(to + j, L::expand(L::load_reals(to + j), listed, L::load_reals(depth.weights.data() + length)));
            length += static_cast<std::size_t>(std::popcount(static_cast<std::uint32_t>(listed)));
        }
    }
};
#endif

}  // namespace ranvier::connect::detail
