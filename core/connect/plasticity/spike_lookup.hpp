#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "connect/plasticity/learn_avx512.hpp"
#include "connect/plasticity/learn_block.hpp"
#include "connect/plasticity/learn_visits.hpp"
#include "connect/plasticity/older_spikes.hpp"
#include "connect/plasticity/spike_history.hpp"
#include "ranvier/base/instruction_set.hpp"

namespace ranvier::connect::detail {

/// Whether an instruction set has separate stages.
template <InstructionSet set>
#if defined(__x86_64__)
constexpr bool has_stages = set == InstructionSet::avx512;
#else
constexpr bool has_stages = false;
#endif

/// AVX-512 if its stages can index the history.
template <class Real>
InstructionSet usable(InstructionSet set, [[maybe_unused]] const LearnArguments<Real>& arguments) {
    if constexpr (has_stages<InstructionSet::avx512>) {
        const bool is_usable = LearnAvx512<Real>::has_room(*arguments.history);
        if (set == InstructionSet::avx512 && !is_usable) return InstructionSet::avx2;
    }
    return set;
}

/// Looks up the postsynaptic spikes seen by synapses of a block.
template <class Real>
struct SpikeLookup {
    using Arguments = LearnArguments<Real>;
    using Visit = LearnVisit<Real>;
    using History = SpikeHistory<Real>;
    using Block = LearnBlock<Real>;
    static constexpr std::size_t block = Block::block;
    static constexpr std::size_t newest = History::newest;

    /// Finds the newest spike up to `end`, and the rest of the trace after the last one before `meets`. Returns the
    /// greatest place in the history.
    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static std::uint32_t look_up(const Arguments& a, const std::uint32_t* targets,
                                                       const std::int32_t* end, const std::int32_t* meets,
                                                       std::size_t count, std::int32_t* first, std::uint32_t* place,
                                                       Real* trace) {
        if constexpr (has_stages<set>) {
            return LearnAvx512<Real>::look_up(a, targets, end, meets, count, first, place, trace);
        }
        const std::int32_t* const steps = a.history->steps();
        const Real* const traces = a.history->traces();
        const std::uint32_t neurons = a.history->neurons();
        std::array<std::int32_t, block> left;  // steps, of the trace
        std::uint32_t greatest = 0;
        for (std::size_t i = 0; i < count; ++i) {
            // The newest spikes are followed by a sentinel.
            std::uint32_t at = targets[i];
            while (steps[at] > end[i]) at += neurons;
            first[i] = steps[at];
            place[i] = at;
            greatest = std::max(greatest, at);
            while (steps[at] >= meets[i]) at += neurons;
            std::int32_t before = steps[at];
            trace[i] = traces[at];
            if (at >= newest * neurons) OlderSpikes<Real>::find_before(a, targets[i], meets[i], before, trace[i]);
            // A neuron that has never fired has trace 0, whatever the number of steps.
            left[i] = meets[i] - std::max(before, meets[i] - (1 << 30));
        }
        for (std::size_t i = 0; i < count; ++i) trace[i] *= a.postsynaptic(left[i]);
        return greatest;
    }

    /// For rules that learn only from the first postsynaptic spike after the last presynaptic one.
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
                if (at >= newest * neurons) OlderSpikes<Real>::find_first(a, b, i, since);
                if (b.came[i] == 0 && a.rule->pairing == Pairing::restricted) b.trace[i] = Real{0};
            }
        }
    }
};

}  // namespace ranvier::connect::detail
