#pragma once

#if defined(__aarch64__)
#include <arm_neon.h>
#endif

#include <cstddef>
#include <cstdint>

#include "ranvier/base/instruction_set.hpp"
#include "ranvier/base/random.hpp"

/// Philox on many blocks side by side, for kernels that are dispatched by instruction set.
///
/// A word occupies the lower half of a 64-bit lane, the operand of the widening multiplication. GCC 12 does not select
/// that instruction (it uses shifts and additions instead, five times slower), so inline assembly names it. Clang
/// selects it, and rejects the named instruction: it checks a function before it determines the instruction set into
/// which that is inlined.
namespace ranvier::philox_lanes {

/// Blocks of one call of run().
inline constexpr std::size_t count = 32;

namespace detail {

/// Vectors in flight, enough to hide the latency of the multiplication.
inline constexpr std::size_t vectors = 4;

template <InstructionSet set>
struct Lanes {
    using Vector [[gnu::vector_size(vector_bytes<set>)]] = std::uint64_t;
    using Words [[gnu::vector_size(vector_bytes<set>)]] = std::uint32_t;
};

/// halves = the upper half of each lane, twice. A shuffle: with AVX-512 a shift competes with the multiplication for
/// the same unit.
template <InstructionSet set, class Vector>
RANVIER_ALWAYS_INLINE void upper_half(Vector& halves, const Vector& lanes) {
    using Words = Lanes<set>::Words;
    const auto words = reinterpret_cast<Words>(lanes);
    if constexpr (sizeof(Words) == 64) {
        halves = reinterpret_cast<Vector>(
            __builtin_shufflevector(words, words, 1, 1, 3, 3, 5, 5, 7, 7, 9, 9, 11, 11, 13, 13, 15, 15));
    } else if constexpr (sizeof(Words) == 32) {
        halves = reinterpret_cast<Vector>(__builtin_shufflevector(words, words, 1, 1, 3, 3, 5, 5, 7, 7));
    } else {
        halves = reinterpret_cast<Vector>(__builtin_shufflevector(words, words, 1, 1, 3, 3));
    }
}

/// product = lower half of a * lower half of b, in every lane.
template <InstructionSet set, class Vector>
RANVIER_ALWAYS_INLINE void multiply(Vector& product, const Vector& a, const Vector& b) {
#if defined(__clang__) || !(defined(__x86_64__) || defined(__aarch64__))
    product = (a & 0xFFFFFFFF) * (b & 0xFFFFFFFF);
#elif defined(__aarch64__)
    product = vmull_u32(vmovn_u64(a), vmovn_u64(b));
#else
    if constexpr (set == InstructionSet::avx512) {
        asm("vpmuludq %2, %1, %0" : "=v"(product) : "v"(a), "v"(b));
    } else if constexpr (set == InstructionSet::avx2) {
        asm("vpmuludq %2, %1, %0" : "=x"(product) : "x"(a), "x"(b));
    } else {
        product = a;
        asm("pmuludq %1, %0" : "+x"(product) : "x"(b));
    }
#endif
}

}  // namespace detail

/// The counters of block i are the lower halves of c0[i] to c3[i]; the upper halves are ignored. Words 0 and 1 of its
/// result go to first[i], words 2 and 3 to second[i], the earlier one in the lower half.
template <InstructionSet set>
RANVIER_ALWAYS_INLINE void run(RandomKey key, const std::uint64_t* c0, const std::uint64_t* c1, const std::uint64_t* c2,
                               const std::uint64_t* c3, std::uint64_t* first, std::uint64_t* second) {
    using Vector = detail::Lanes<set>::Vector;
    using detail::vectors;
    constexpr std::size_t lanes = sizeof(Vector) / sizeof(std::uint64_t);
    const Vector lower_half = Vector{} + 0xFFFFFFFF;
    const Vector multiplier0 = Vector{} + 0xD2511F53;
    const Vector multiplier1 = Vector{} + 0xCD9E8D57;
    for (std::size_t begin = 0; begin < count; begin += vectors * lanes) {
        Vector x0[vectors], x1[vectors], x2[vectors], x3[vectors];
#pragma GCC unroll 4
        for (std::size_t v = 0; v < vectors; ++v) {
            __builtin_memcpy(&x0[v], c0 + begin + v * lanes, sizeof(Vector));
            __builtin_memcpy(&x1[v], c1 + begin + v * lanes, sizeof(Vector));
            __builtin_memcpy(&x2[v], c2 + begin + v * lanes, sizeof(Vector));
            __builtin_memcpy(&x3[v], c3 + begin + v * lanes, sizeof(Vector));
        }
        Vector key0 = Vector{} + std::uint64_t{key.low};
        Vector key1 = Vector{} + std::uint64_t{key.high};
#pragma GCC unroll 10
        for (int round = 0; round < 10; ++round) {
#pragma GCC unroll 4
            for (std::size_t v = 0; v < vectors; ++v) {
                Vector product0, product1, upper0, upper1;
                detail::multiply<set>(product0, x0[v], multiplier0);
                detail::multiply<set>(product1, x2[v], multiplier1);
                // Upper halves need no masking: they never reach a lower half.
                detail::upper_half<set>(upper0, product0);
                detail::upper_half<set>(upper1, product1);
                x0[v] = upper1 ^ x1[v] ^ key0;
                x2[v] = upper0 ^ x3[v] ^ key1;
                x1[v] = product1;
                x3[v] = product0;
            }
            key0 += 0x9E3779B9;
            key1 += 0xBB67AE85;
        }
#pragma GCC unroll 4
        for (std::size_t v = 0; v < vectors; ++v) {
            const Vector words01 = (x0[v] & lower_half) | x1[v] << 32;
            const Vector words23 = (x2[v] & lower_half) | x3[v] << 32;
            __builtin_memcpy(first + begin + v * lanes, &words01, sizeof(Vector));
            __builtin_memcpy(second + begin + v * lanes, &words23, sizeof(Vector));
        }
    }
}

}  // namespace ranvier::philox_lanes
