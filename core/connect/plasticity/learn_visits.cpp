#include "connect/plasticity/learn_visits.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "connect/plasticity/fill_block.hpp"
#include "connect/plasticity/learn_avx512.hpp"
#include "connect/plasticity/learn_block.hpp"
#include "connect/plasticity/older_spikes.hpp"
#include "connect/plasticity/per_synapse_rule.hpp"
#include "connect/plasticity/spike_lookup.hpp"
#include "connect/tables/delivery_loops.hpp"

namespace ranvier::connect {

namespace {

using detail::padded;

/// Visits synapses in blocks, of one row or of several. Synapses with at least one postsynaptic spike to learn from are
/// compacted, and among them those with at least two, and so on. The deepest lists go first, so that each synapse
/// learns from its spikes in order, in loops without branches. All lists are padded to whole vectors.
template <class Real>
struct LearnVisits {
    using Arguments = LearnArguments<Real>;
    using Visit = LearnVisit<Real>;
    using History = SpikeHistory<Real>;
    using Block = detail::LearnBlock<Real>;
    using Depth = typename Block::Depth;
    using Piece = typename Block::Piece;
    using OlderSpikes = detail::OlderSpikes<Real>;
    using Fill = detail::FillBlock<Real>;
    using Lookup = detail::SpikeLookup<Real>;
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
            // Prefetch the data of the next block, a part at a time: the number of pending cache lines is limited.
            Ahead ahead{visit, offset};
            prefetch_part(a, ahead);
            if (a.view != nullptr) {
                b.greatest_place = a.view->greatest_place;
            } else {
                b.greatest_place =
                    Lookup::template look_up<set>(a, b.targets.data(), b.end.data(), b.meets.data(), b.count,
                                                  b.first.data(), b.place.data(), b.trace.data());
                if (a.rule->pairing != Pairing::all) Lookup::find_first(a, b);
            }
            prefetch_part(a, ahead);
            learn<set>(a, b);
            prefetch_part(a, ahead);
            if (a.arrives) arrive<set>(a, b);
            prefetch_part(a, ahead);
            store(a, b);
        }
    }

    // ---- loading synapses -------------------------------------------------------------------------------------------

    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static void fill(const Arguments& a, Block& b, std::size_t& visit, std::size_t& offset) {
        b.count = 0;
        b.piece_count = 0;
        b.older_count = 0;
        b.near = true;
        if constexpr (detail::has_stages<set>) detail::LearnAvx512<Real>::begin(a, b);
        while (visit < a.visits.size() && b.count < block && b.piece_count < Block::most_pieces) {
            const Visit& v = a.visits[visit];
            const std::size_t count = std::min(v.count - offset, block - b.count);
            const std::size_t begin = b.count;
            b.pieces[b.piece_count++] = {&v, offset, begin, begin + count};
            b.near &= v.end - v.last < Decay<Real>::near_steps || v.learnt >= v.end;
            if constexpr (detail::has_stages<set>) {
                using Fill = detail::LearnAvx512<Real>;
                if (count == 1) {
                    b.is_listed ? Fill::fill_and_list_one(a, b, v, offset, begin)
                                : Fill::fill_one(a, b, v, offset, begin);
                } else if (b.is_listed) {
                    Fill::fill_and_list(a, b, v, offset, begin, count);
                } else {
                    Fill::fill(a, b, v, offset, begin, count);
                }
            } else {
                Fill::fill_piece(a, b, v, offset, begin, count);
            }
            if (a.rule->per_synapse.any()) Fill::fill_parameters(a, b, v, offset, begin, count);
            b.count += count;
            offset += count;
            if (offset == v.count) {
                offset = 0;
                ++visit;
            }
        }
        if (a.neurons != nullptr) find_neurons(a, std::span<std::uint32_t>(b.targets).first(b.count));
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

    // ---- learning ---------------------------------------------------------------------------------------------------

    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static void learn(const Arguments& a, Block& b) {
        if constexpr (detail::has_stages<set>) {
            detail::LearnAvx512<Real>::learn(a, b);
        } else {
            const std::size_t depths = list_pending(a, b);
            if (b.older_count > 0) OlderSpikes::learn(a, b);
            for (std::size_t depth = depths; depth-- > 0;) learn_from(a, b, depth);
        }
    }

    /// Lists synapses by the number of spikes that they must learn from. Returns the number of non-empty lists.
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
    /// Wraps around if the later step is the sentinel; the result is then unused.
    RANVIER_ALWAYS_INLINE static std::int32_t steps_between(std::int32_t from, std::int32_t to) {
        return static_cast<std::int32_t>(static_cast<std::uint32_t>(to) - static_cast<std::uint32_t>(from));
    }

    // ---- applying spikes --------------------------------------------------------------------------------------------

    /// Synapses that must learn from this many newer spikes learn from the previous spike.
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
        if (rule.same_side_postsynaptic_traces > 0) {
            const Real* const same_side = a.history->same_side(0);
            for (std::size_t j = 0; j < count; ++j) b.same_side[j] = same_side[depth.at[j]];
            for (std::size_t j = count; j < whole; ++j) b.same_side[j] = Real{0};
        }
        if (rule.per_synapse.any()) {
            detail::learn_per_synapse(rule.per_synapse, b, depth, whole);
        } else {
            rule.postsynaptic(b.set, depth.weights.data(), b.trace_of_learning.data(), b.same_side.data(), whole,
                              rule.constants.get());
        }
        for (std::size_t j = 0; j < count; ++j) b.weights[depth.list[j]] = depth.weights[j];
    }

    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static void arrive(const Arguments& a, Block& b) {
        const LearningRule<Real>& rule = *a.rule;
        const std::size_t whole = padded(b.count);
        if constexpr (detail::has_stages<set>) {
            if (a.view != nullptr && !b.is_listed) detail::LearnAvx512<Real>::load_traces(a, b);
        } else if (a.view != nullptr) {
            for (std::size_t i = 0; i < b.count; ++i) b.trace[i] = a.view->trace[b.targets[i]];
        }
        for (std::size_t i = b.count; i < whole; ++i) {
            b.weights[i] = Real{1};
            b.trace[i] = Real{0};
        }
        if (rule.same_side_presynaptic_traces > 0) {
            for (std::size_t p = 0; p < b.piece_count; ++p) {
                const Piece& piece = b.pieces[p];
                for (std::size_t i = piece.begin; i < piece.end; ++i) b.same_side[i] = piece.visit->same_side[0];
            }
            for (std::size_t i = b.count; i < whole; ++i) b.same_side[i] = Real{0};
        }
        if (rule.per_synapse.any()) return detail::arrive_per_synapse(rule.per_synapse, b, whole);
        rule.presynaptic(b.set, b.weights.data(), b.trace.data(), b.same_side.data(), whole, rule.constants.get());
    }

    RANVIER_ALWAYS_INLINE static void store(const Arguments& a, Block& b) {
        round(a, b);
        for (std::size_t p = 0; p < b.piece_count; ++p) {
            const Piece& piece = b.pieces[p];
            const Visit& v = *piece.visit;
            detail::copy_values(b.weights.data() + piece.begin, piece.end - piece.begin, v.weights + piece.offset);
            if (v.synapse_traces != nullptr && a.arrives) keep_traces(b, piece);
            if (v.inputs == nullptr) continue;
            if (a.neurons != nullptr) {
                add_to_inputs(a, b, piece);
            } else if (v.delays == nullptr) {
                detail::add_run(b.targets.data() + piece.begin, b.added.data() + piece.begin, piece.end - piece.begin,
                                v.inputs);
            } else {
                for (std::size_t i = piece.begin; i < piece.end; ++i)
                    v.inputs[b.slots[i] * a.slot_stride + b.targets[i]] += b.added[i];
            }
        }
    }

    /// For targets whose neurons have several inputs each.
    [[gnu::noinline]] static void add_to_inputs(const Arguments& a, const Block& b, const Piece& piece) {
        const Visit& v = *piece.visit;
        for (std::size_t i = piece.begin; i < piece.end; ++i) {
            const std::size_t slot = v.delays == nullptr ? 0 : b.slots[i] * a.slot_stride;
            v.inputs[slot + input_of(a, v, piece.offset + (i - piece.begin))] += b.added[i];
        }
    }

    /// Rounds added values to the grid of the sums.
    RANVIER_ALWAYS_INLINE static void round(const Arguments& a, Block& b) {
        if (a.greatest == nullptr) return;
        // As integers, absolute values have the same order, and their maximum vectorises.
        using Bits = typename History::Bits;
        Bits greatest = 0;
        const double to_grid = a.to_grid;
        for (std::size_t i = 0; i < b.count; ++i) {
            const Bits bits = std::bit_cast<Bits>(b.weights[i]) & (~Bits{0} >> 1);
            greatest = greatest < bits ? bits : greatest;
        }
        // Computed before the loop: the compiler assumes that the loop may change the count, and does not vectorise
        // then.
        const std::size_t whole = padded(b.count);
        RANVIER_NO_OVERLAP
        for (std::size_t i = 0; i < whole; ++i) {
            b.added[i] = (static_cast<double>(b.weights[i]) + to_grid) - to_grid;
        }
        *a.greatest = std::max(*a.greatest, greatest);
    }

    /// A postsynaptic spike resets the presynaptic trace of a synapse to 0, and the current spike adds 1.
    RANVIER_ALWAYS_INLINE static void keep_traces(const Block& b, const Piece& piece) {
        const Visit& v = *piece.visit;
        Real* const traces = v.new_synapse_traces + piece.offset;
        for (std::size_t i = piece.begin; i < piece.end; ++i) {
            const Real before = b.came[i] != 0 ? Real{0} : b.row_trace[i] * v.left;
            traces[i - piece.begin] = before + Real{1};
        }
    }
};

}  // namespace

template <class Real>
void learn_visits(InstructionSet set, const LearnArguments<Real>& arguments) {
    Dispatched<LearnVisits<Real>>::call(detail::usable(set, arguments), &arguments);
}

template void learn_visits(InstructionSet, const LearnArguments<float>&);
template void learn_visits(InstructionSet, const LearnArguments<double>&);

}  // namespace ranvier::connect
