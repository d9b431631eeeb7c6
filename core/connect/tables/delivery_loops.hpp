#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "ranvier/base/instruction_set.hpp"
#include "ranvier/connect/tables/input_sums.hpp"

/// The innermost loops of delivery, shared by all layouts of tables.
namespace ranvier::connect::detail {

constexpr std::size_t cache_line = 64;

RANVIER_ALWAYS_INLINE void prefetch_span(const void* begin, std::size_t bytes) {
    // From the start of a line, so that the last one is included.
    const char* const end = static_cast<const char*>(begin) + bytes;
    const char* line = static_cast<const char*>(begin) - reinterpret_cast<std::uintptr_t>(begin) % cache_line;
    for (; line < end; line += cache_line) __builtin_prefetch(line, 0, 3);
}

/// Number of rows by which prefetches are ahead of delivery: those whose cache lines a core can wait for at a time, since
/// further prefetches delay the accesses to the inputs and evict lines that have not been read yet.
/// @param arrays in which the synapses are
/// @param row_bytes in all of them, of a mean row
inline std::size_t rows_ahead(std::size_t arrays, std::size_t row_bytes) {
    constexpr std::size_t lines_at_once = 16;
    return std::max<std::size_t>(1, lines_at_once / (arrays + row_bytes / cache_line));
}

template <class Target, class Weight>
RANVIER_ALWAYS_INLINE void add_run(const Target* __restrict targets, const Weight* __restrict weights,
                                   std::size_t count, double* inputs) {
    std::size_t i = 0;
    // Unrolled manually: the compiler does not, since it must assume that targets repeat.
    for (; i + 4 <= count; i += 4) {
        inputs[targets[i]] += static_cast<double>(weights[i]);
        inputs[targets[i + 1]] += static_cast<double>(weights[i + 1]);
        inputs[targets[i + 2]] += static_cast<double>(weights[i + 2]);
        inputs[targets[i + 3]] += static_cast<double>(weights[i + 3]);
    }
    for (; i < count; ++i) inputs[targets[i]] += static_cast<double>(weights[i]);
}

/// The same for sums of 128 bits, which takes four to five times as long (measured in the cache).
template <class Target, class Weight>
void add_wide_run(const Target* targets, const Weight* weights, std::size_t count, WideSum* sums,
                  std::int32_t exponent) {
    for (std::size_t i = 0; i < count; ++i) add_wide(sums[targets[i]], static_cast<double>(weights[i]), exponent);
}

}  // namespace ranvier::connect::detail
