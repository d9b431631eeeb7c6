#include "connect/plasticity/learn_visits.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "connect/plasticity/learn_block.hpp"
#include "connect/plasticity/older_spikes.hpp"
#include "connect/tables/delivery_loops.hpp"

namespace ranvier::connect {

namespace {

using detail::padded;

/// Synapses are visited in blocks, of one row or of several. Those that have at least one postsynaptic spike to learn from
/// are put together, and among them those with at least two, and so on. The deepest go first, so that each synapse learns
/// from its spikes in their order, in loops without branches. All lists are filled up to whole vectors.
template <class Real>
struct LearnVisits {
    using Arguments = LearnArguments<Real>;
    using Visit = LearnVisit<Real>;
    using History = SpikeHistory<Real>;
    using View = TargetView<Real>;
    using Block = detail::LearnBlock<Real>;
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
            fill(a, b, visit, offset);
            prefetch(a, visit, offset);
            std::size_t depths = 0;
            if (a.view != nullptr) {
                b.greatest_place = a.view->greatest_place;
                depths = list_pending<true>(a, b);
            } else {
                look(a, b);
                depths = list_pending<false>(a, b);
            }
            if (b.older_count > 0) OlderSpikes::learn(a, b);
            for (std::size_t depth = depths; depth-- > 0;) learn<set>(a, b, depth);
            if (a.arrives) arrive<set>(a, b);
            store(a, b);
        }
    }

    // ---- where synapses are ------------------------------------------------------------------------------------------

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
            if (a.wide_targets) {
                const auto* const targets = static_cast<const std::uint32_t*>(v.targets) + offset;
                for (std::size_t i = 0; i < count; ++i) b.targets[begin + i] = targets[i];
            } else {
                const auto* const targets = static_cast<const std::uint16_t*>(v.targets) + offset;
                for (std::size_t i = 0; i < count; ++i) b.targets[begin + i] = targets[i];
            }
            const Real* const weights = v.weights + offset;
            for (std::size_t i = 0; i < count; ++i) b.weights[begin + i] = weights[i];
            if (v.synapse_traces != nullptr) {
                const Real* const traces = v.synapse_traces + offset;
                for (std::size_t i = 0; i < count; ++i) b.synapse_traces[begin + i] = traces[i];
            }
            b.count += count;
            offset += count;
            if (offset == v.count) {
                offset = 0;
                ++visit;
            }
        }
    }

    /// What the next block will need.
    RANVIER_ALWAYS_INLINE static void prefetch(const Arguments& a, std::size_t visit, std::size_t offset) {
        std::size_t left = block;
        for (; visit < a.visits.size() && left > 0; ++visit) {
            const Visit& v = a.visits[visit];
            const std::size_t count = std::min(v.count - offset, left);
            const std::size_t width = a.wide_targets ? sizeof(std::uint32_t) : sizeof(std::uint16_t);
            detail::prefetch_span(static_cast<const char*>(v.targets) + offset * width, count * width);
            detail::prefetch_span(v.weights + offset, count * sizeof(Real));
            left -= count;
            offset = 0;
        }
    }

    // ---- what has come -----------------------------------------------------------------------------------------------

    /// Finds the newest spike up to `end`, and what is left of the trace after the last one before `meets`.
    /// @param targets null: all neurons from `first_neuron` on
    RANVIER_ALWAYS_INLINE static std::uint32_t look_at(const Arguments& a, std::int32_t end, std::int32_t meets,
                                                       const std::uint32_t* targets, std::uint32_t first_neuron,
                                                       std::size_t count, std::int32_t* first, std::uint32_t* place,
                                                       Real* trace, std::int32_t* since) {
        const std::int32_t* const steps = a.history->steps();
        const Real* const traces = a.history->traces();
        const std::uint32_t neurons = a.history->neurons();
        std::uint32_t greatest = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint32_t target = targets == nullptr ? first_neuron + static_cast<std::uint32_t>(i) : targets[i];
            // Behind the newest spikes there is one that never was.
            std::uint32_t at = target;
            while (steps[at] > end) at += neurons;
            first[i] = steps[at];
            place[i] = at;
            greatest = std::max(greatest, at);
            while (steps[at] >= meets) at += neurons;
            since[i] = steps[at];
            trace[i] = traces[at];
            if (at >= newest * neurons) OlderSpikes::look_before(a, target, meets, since[i], trace[i]);
        }
        // Of a neuron that has never fired the trace is 0, whatever the number of steps.
        const std::int32_t least = meets - (1 << 30);
        for (std::size_t i = 0; i < count; ++i) trace[i] *= a.postsynaptic(meets - std::max(since[i], least));
        return greatest;
    }

    RANVIER_ALWAYS_INLINE static void look(const Arguments& a, Block& b) {
        b.greatest_place = 0;
        for (std::size_t p = 0; p < b.piece_count; ++p) {
            const Piece& piece = b.pieces[p];
            const Visit& v = *piece.visit;
            const std::size_t begin = piece.begin;
            const std::uint32_t greatest =
                look_at(a, v.end, v.meets, b.targets.data() + begin, 0, piece.end - begin, b.first.data() + begin,
                        b.place.data() + begin, b.trace.data() + begin, b.since.data() + begin);
            b.greatest_place = std::max(b.greatest_place, greatest);
            if (a.rule->pairing != Pairing::all) find_first(a, b, p);
        }
    }

    /// Where only the first postsynaptic spike after the last presynaptic one is learnt from.
    [[gnu::noinline]] static void find_first(const Arguments& a, Block& b, std::size_t p) {
        const Piece& piece = b.pieces[p];
        const Visit& v = *piece.visit;
        const std::int32_t* const steps = a.history->steps();
        const std::uint32_t neurons = a.history->neurons();
        for (std::size_t i = piece.begin; i < piece.end; ++i) {
            std::uint32_t at = b.place[i];
            const bool came = steps[at] > v.since;
            while (steps[at] > v.since) at += neurons;
            b.came[i] = came ? 1 : 0;
            b.place[i] = came ? at - neurons : at;
            b.first[i] = came ? steps[at - neurons] : History::never;
            if (at >= newest * neurons) OlderSpikes::find_first(a, b, i, v);
            if (b.came[i] == 0 && a.rule->pairing == Pairing::restricted) b.trace[i] = Real{0};
        }
    }

    // ---- what is to be learnt ----------------------------------------------------------------------------------------

    /// Lists synapses by the number of spikes that they have to learn from. Returns how many lists have any.
    template <bool shared>
    RANVIER_ALWAYS_INLINE static std::size_t list_pending(const Arguments& a, Block& b) {
        const std::int32_t* const first = shared ? a.view->first : b.first.data();
        std::size_t length = 0;
        for (std::size_t p = 0; p < b.piece_count; ++p) {
            const std::int32_t learnt = b.pieces[p].visit->learnt;
            const auto last = static_cast<std::uint32_t>(b.pieces[p].visit->last);
            for (std::size_t i = b.pieces[p].begin; i < b.pieces[p].end; ++i) {
                const std::int32_t step = first[shared ? b.targets[i] : i];
                b.list[0][length] = static_cast<std::uint16_t>(i);
                b.steps[0][length] = static_cast<std::int32_t>(static_cast<std::uint32_t>(step) - last);
                length += step > learnt ? 1 : 0;
            }
            b.ends[0][p] = length;
        }
        if (a.rule->pairing != Pairing::all) return length > 0 ? 1 : 0;
        const std::uint32_t neurons = a.history->neurons();
        if (b.greatest_place >= newest * neurons) list_older<shared>(a, b);
        std::size_t depth = 1;
        for (; length > 0; ++depth) {
            if (b.greatest_place + depth * neurons >= newest * neurons) {
                length = list_deeper<shared, true>(a, b, depth);
            } else {
                length = list_deeper<shared, false>(a, b, depth);
            }
        }
        return depth - 1;
    }

    template <bool shared, bool far>
    RANVIER_ALWAYS_INLINE static std::size_t list_deeper(const Arguments& a, Block& b, std::size_t depth) {
        const std::int32_t* const steps = a.history->steps();
        const std::uint32_t* const places = shared ? a.view->place : b.place.data();
        const std::uint32_t neurons = a.history->neurons();
        const std::uint32_t oldest = (newest - 1) * neurons;
        const bool second = depth == 1;
        std::size_t length = 0;
        std::size_t j = 0;
        for (std::size_t p = 0; p < b.piece_count; ++p) {
            const std::int32_t learnt = b.pieces[p].visit->learnt;
            const auto last = static_cast<std::uint32_t>(b.pieces[p].visit->last);
            for (const std::size_t end = b.ends[depth - 1][p]; j < end; ++j) {
                const std::uint16_t i = b.list[depth - 1][j];
                if (second) b.at[0][j] = places[shared ? b.targets[i] : i];
                const std::uint32_t at = b.at[depth - 1][j];
                if constexpr (far) {
                    b.older[b.older_count] = i;
                    b.piece_of_older[b.older_count] = static_cast<std::uint16_t>(p);
                    b.older_count += at >= oldest ? 1 : 0;
                }
                const std::int32_t step = steps[at + neurons];
                b.list[depth][length] = i;
                b.at[depth][length] = at + neurons;
                b.steps[depth][length] = static_cast<std::int32_t>(static_cast<std::uint32_t>(step) - last);
                length += step > learnt ? 1 : 0;
            }
            b.ends[depth][p] = length;
        }
        return length;
    }

    /// Of those of whose targets the newest spikes have all not come yet.
    template <bool shared>
    [[gnu::noinline]] static void list_older(const Arguments& a, Block& b) {
        const std::uint32_t* const places = shared ? a.view->place : b.place.data();
        for (std::size_t p = 0; p < b.piece_count; ++p) {
            for (std::size_t i = b.pieces[p].begin; i < b.pieces[p].end; ++i) {
                if (places[shared ? b.targets[i] : i] < newest * a.history->neurons()) continue;
                b.older[b.older_count] = static_cast<std::uint16_t>(i);
                b.piece_of_older[b.older_count++] = static_cast<std::uint16_t>(p);
            }
        }
    }

    // ---- what spikes do ----------------------------------------------------------------------------------------------

    /// Each of the synapses that have to learn from so many newer spikes learns from the one before these.
    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static void learn(const Arguments& a, Block& b, std::size_t depth) {
        const LearningRule<Real>& rule = *a.rule;
        const std::size_t count = b.ends[depth][b.piece_count - 1];
        const std::size_t whole = padded(count);
        std::uint16_t* const list = b.list[depth].data();
        std::int32_t* const steps = b.steps[depth].data();
        for (std::size_t j = count; j < whole; ++j) {
            list[j] = 0;
            steps[j] = 0;
        }
        for (std::size_t j = 0; j < whole; ++j) b.learning[j] = b.weights[list[j]];
        if (b.pieces[0].visit->synapse_traces != nullptr) {
            for (std::size_t j = 0; j < whole; ++j) b.trace_of_learning[j] = b.synapse_traces[list[j]];
        } else {
            spread_traces(b, depth);
        }
        if (b.near) {
            for (std::size_t j = 0; j < whole; ++j) b.trace_of_learning[j] *= a.presynaptic.near(steps[j]);
        } else {
            for (std::size_t j = 0; j < whole; ++j) b.trace_of_learning[j] *= a.presynaptic(steps[j]);
        }
        if (rule.own_postsynaptic_traces > 0) gather_own(a, b, depth, count);
        rule.postsynaptic(set, b.learning.data(), b.trace_of_learning.data(), b.own.data(), whole,
                          rule.constants.get());
        for (std::size_t j = 0; j < count; ++j) b.weights[list[j]] = b.learning[j];
    }

    /// The trace of each row, to its synapses. Vectors may reach into the next piece, which comes later.
    RANVIER_ALWAYS_INLINE static void spread_traces(Block& b, std::size_t depth) {
        std::size_t j = 0;
        for (std::size_t p = 0; p < b.piece_count; ++p) {
            const Real trace = b.pieces[p].visit->trace;
            const std::size_t end = b.ends[depth][p];
            for (; j < end; j += rule_lanes) {
                for (std::size_t lane = 0; lane < rule_lanes; ++lane) b.trace_of_learning[j + lane] = trace;
            }
            j = end;
        }
        for (const std::size_t whole = padded(j); j < whole; ++j) b.trace_of_learning[j] = Real{0};
    }

    RANVIER_ALWAYS_INLINE static void gather_own(const Arguments& a, Block& b, std::size_t depth, std::size_t count) {
        const Real* const own = a.history->own(0);
        for (std::size_t j = 0; j < count; ++j) b.own[j] = own[b.at[depth][j]];
        for (std::size_t j = count; j < padded(count); ++j) b.own[j] = Real{0};
    }

    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static void arrive(const Arguments& a, Block& b) {
        const LearningRule<Real>& rule = *a.rule;
        const std::size_t whole = padded(b.count);
        for (std::size_t i = b.count; i < whole; ++i) {
            b.weights[i] = Real{1};
            b.trace[i] = Real{0};
        }
        if (a.view != nullptr) {
            for (std::size_t i = 0; i < b.count; ++i) b.trace[i] = a.view->trace[b.targets[i]];
        }
        if (rule.own_presynaptic_traces > 0) {
            for (std::size_t p = 0; p < b.piece_count; ++p) {
                const Piece& piece = b.pieces[p];
                for (std::size_t i = piece.begin; i < piece.end; ++i) b.own[i] = piece.visit->own[0];
            }
            for (std::size_t i = b.count; i < whole; ++i) b.own[i] = Real{0};
        }
        rule.presynaptic(set, b.weights.data(), b.trace.data(), b.own.data(), whole, rule.constants.get());
    }

    RANVIER_ALWAYS_INLINE static void store(const Arguments& a, Block& b) {
        round(a, b);
        for (std::size_t p = 0; p < b.piece_count; ++p) {
            const Piece& piece = b.pieces[p];
            const Visit& v = *piece.visit;
            const std::size_t count = piece.end - piece.begin;
            Real* const weights = v.weights + piece.offset;
            for (std::size_t i = 0; i < count; ++i) weights[i] = b.weights[piece.begin + i];
            if (v.synapse_traces != nullptr && a.arrives) keep_traces(b, piece);
            if (v.inputs == nullptr) continue;
            for (std::size_t i = piece.begin; i < piece.end; ++i) v.inputs[b.targets[i]] += b.added[i];
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
            const Real before = b.came[i] != 0 ? Real{0} : b.synapse_traces[i] * v.left;
            traces[i - piece.begin] = before + Real{1};
        }
    }
};

template <class Real>
struct LookAtTargets {
    RANVIER_ALWAYS_INLINE static void run(const LearnArguments<Real>* arguments, std::int32_t end, std::int32_t meets,
                                          TargetView<Real>* view) {
        constexpr std::uint32_t block = 512;
        std::array<std::int32_t, block> since;
        view->greatest_place = 0;
        const std::uint32_t neurons = arguments->history->neurons();
        for (std::uint32_t begin = 0; begin < neurons; begin += block) {
            const std::uint32_t count = std::min(block, neurons - begin);
            const std::uint32_t greatest =
                LearnVisits<Real>::look_at(*arguments, end, meets, nullptr, begin, count, view->first + begin,
                                           view->place + begin, view->trace + begin, since.data());
            view->greatest_place = std::max(view->greatest_place, greatest);
        }
    }
};

}  // namespace

template <class Real>
void look_at_targets(InstructionSet set, const LearnArguments<Real>& arguments, std::int32_t end, std::int32_t meets,
                     TargetView<Real>& view) {
    Dispatched<LookAtTargets<Real>>::call(set, &arguments, end, meets, &view);
}

template <class Real>
void learn_visits(InstructionSet set, const LearnArguments<Real>& arguments) {
    Dispatched<LearnVisits<Real>>::call(set, &arguments);
}

template void look_at_targets(InstructionSet, const LearnArguments<float>&, std::int32_t, std::int32_t,
                              TargetView<float>&);
template void look_at_targets(InstructionSet, const LearnArguments<double>&, std::int32_t, std::int32_t,
                              TargetView<double>&);
template void learn_visits(InstructionSet, const LearnArguments<float>&);
template void learn_visits(InstructionSet, const LearnArguments<double>&);

}  // namespace ranvier::connect
