#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "connect/tables/delivery_loops.hpp"
#include "connect/tables/ring_table.hpp"

namespace ranvier::connect::detail {

template <class Target, class Weight, class Delay>
struct ScaledArguments {
    const std::uint64_t* begins;
    const std::uint64_t* ends;
    const double* factors;  ///< of rows
    std::size_t count;
    const Target* targets;
    const Weight* weights;
    const Delay* delays;
    Step base;  ///< step in which the least delay arrives
    InputRing inputs;
    double to_grid;     ///< what rounds to the grid of the sums when it is added and taken off again
    std::size_t ahead;  ///< rows that are fetched before they are needed
};

/// Adds all synapses of each row at once, each into the slot of its arrival: the weight times the factor of the row, rounded
/// to the grid of the sums.
template <class Target, class Weight, class Delay, bool wide = false>
struct DeliverScaled {
    using Arguments = ScaledArguments<Target, Weight, Delay>;
    static constexpr bool same_delay = std::is_same_v<Delay, SameDelay>;
    static constexpr std::size_t block = 256;

    RANVIER_ALWAYS_INLINE static void run(const Arguments* arguments) {
        const Arguments& a = *arguments;
        std::array<double, block> added;
        for (std::size_t r = 0; r < a.count; ++r) {
            if (r + a.ahead < a.count) prefetch(a, r + a.ahead);
            const double factor = a.factors[r];
            const double to_grid = a.to_grid;
            for (std::uint64_t begin = a.begins[r]; begin < a.ends[r]; begin += block) {
                const std::size_t count = std::min<std::uint64_t>(block, a.ends[r] - begin);
                const Weight* const weights = a.weights + begin;
                for (std::size_t i = 0; i < count; ++i) {
                    added[i] = (static_cast<double>(weights[i]) * factor + to_grid) - to_grid;
                }
                add(a, begin, count, added.data());
            }
        }
    }

   private:
    RANVIER_ALWAYS_INLINE static void prefetch(const Arguments& a, std::size_t row) {
        const std::uint64_t begin = a.begins[row];
        const auto length = static_cast<std::size_t>(a.ends[row] - begin);
        prefetch_span(a.targets + begin, length * sizeof(Target));
        prefetch_span(a.weights + begin, length * sizeof(Weight));
        if constexpr (!same_delay) prefetch_span(a.delays + begin, length * sizeof(Delay));
    }

    RANVIER_ALWAYS_INLINE static void add(const Arguments& a, std::uint64_t begin, std::size_t count,
                                          const double* added) {
        const Target* const targets = a.targets + begin;
        if constexpr (wide) {
            for (std::size_t i = 0; i < count; ++i) {
                Step arrival = a.base;  // NOLINT(misc-const-correctness): of one delay it never changes
                if constexpr (!same_delay) arrival += a.delays[begin + i];
                add_wide(a.inputs.wide_slot(arrival)[targets[i]], added[i], a.inputs.exponent);
            }
        } else if constexpr (same_delay) {
            add_run(targets, added, count, a.inputs.slot(a.base));
        } else {
            const Delay* const delays = a.delays + begin;
            for (std::size_t i = 0; i < count; ++i) a.inputs.slot(a.base + delays[i])[targets[i]] += added[i];
        }
    }
};

}  // namespace ranvier::connect::detail
