#pragma once

#if defined(__x86_64__)
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/x86_intrinsics.hpp"
#include "connect/plasticity/learn_block.hpp"
#include "connect/plasticity/learn_visits.hpp"
#include "connect/plasticity/older_spikes.hpp"
#include "ranvier/base/instruction_set.hpp"

#define RANVIER_LANES [[gnu::always_inline]] RANVIER_TARGET_AVX512 static inline

/// Learning from postsynaptic spikes with AVX-512, which can compress vectors by a mask; compilers do not vectorise
/// that themselves. The operations are those of the generic loops in learn_visits.cpp.
namespace ranvier::connect::detail {

/// Reals per register, and as many 32-bit integers.
template <class Real>
struct Lanes;

template <>
struct Lanes<float> {
    static constexpr std::size_t size = 16;
    using Reals = __m512;
    using Ints = __m512i;
    using Mask = __mmask16;

    RANVIER_LANES Mask first(std::size_t count) {
        return static_cast<Mask>(count >= size ? 0xFFFFU : (1U << count) - 1U);
    }
    RANVIER_LANES Ints all(std::int32_t value) { return _mm512_set1_epi32(value); }
    RANVIER_LANES Reals all_reals(float value) { return _mm512_set1_ps(value); }
    RANVIER_LANES Ints load(const void* from) { return _mm512_loadu_si512(from); }
    RANVIER_LANES Ints load16(Mask some, const void* from) {
        return _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(some, from));
    }
    RANVIER_LANES Ints load8(Mask some, const void* from) {
        return _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(some, from));
    }
    RANVIER_LANES Ints load_some(Mask some, const void* from) { return _mm512_maskz_loadu_epi32(some, from); }
    RANVIER_LANES Reals load_reals(const float* from) { return _mm512_loadu_ps(from); }
    RANVIER_LANES Reals load_some_reals(Mask some, const float* from) { return _mm512_maskz_loadu_ps(some, from); }
    RANVIER_LANES void store(void* to, Ints value) { _mm512_storeu_si512(to, value); }
    RANVIER_LANES void store(float* to, Reals value) { _mm512_storeu_ps(to, value); }
    RANVIER_LANES void store_some(void* to, Mask some, Ints value) { _mm512_mask_storeu_epi32(to, some, value); }
    RANVIER_LANES void store_some(float* to, Mask some, Reals value) { _mm512_mask_storeu_ps(to, some, value); }
    RANVIER_LANES void store16(void* to, Ints value) {
        _mm256_storeu_si256(static_cast<__m256i*>(to), _mm512_cvtepi32_epi16(value));
    }
    RANVIER_LANES bool are_below(Mask some, Ints values, std::uint32_t bound) {
        return _mm512_mask_cmpge_epu32_mask(some, values, all(static_cast<std::int32_t>(bound))) == 0;
    }
    RANVIER_LANES Ints add(Ints a, Ints b) { return _mm512_add_epi32(a, b); }
    RANVIER_LANES Ints subtract(Ints a, Ints b) { return _mm512_sub_epi32(a, b); }
    RANVIER_LANES Ints larger(Ints a, Ints b) { return _mm512_max_epi32(a, b); }
    RANVIER_LANES Ints smaller(Ints a, Ints b) { return _mm512_min_epi32(a, b); }
    RANVIER_LANES Ints both(Ints a, Ints b) { return _mm512_and_si512(a, b); }
    template <int bits>
    RANVIER_LANES Ints shifted(Ints a) {
        return _mm512_srai_epi32(a, bits);
    }
    RANVIER_LANES Mask is_greater(Mask some, Ints a, Ints b) { return _mm512_mask_cmpgt_epi32_mask(some, a, b); }
    RANVIER_LANES Mask is_not_less(Mask some, Ints a, Ints b) { return _mm512_mask_cmpge_epi32_mask(some, a, b); }
    RANVIER_LANES Reals times(Reals a, Reals b) { return _mm512_mul_ps(a, b); }
    RANVIER_LANES Ints chosen(Mask some, Ints otherwise, Ints value) {
        return _mm512_mask_mov_epi32(otherwise, some, value);
    }
    RANVIER_LANES Reals chosen(Mask some, Reals otherwise, Reals value) {
        return _mm512_mask_mov_ps(otherwise, some, value);
    }
    RANVIER_LANES Ints gather(Ints otherwise, Mask some, const void* base, Ints at) {
        return _mm512_mask_i32gather_epi32(otherwise, some, at, base, 4);
    }
    RANVIER_LANES Reals gather_reals(Reals otherwise, Mask some, const float* base, Ints at) {
        return _mm512_mask_i32gather_ps(otherwise, some, at, base, 4);
    }
    /// As the gathers, of the 2 * size values from `base` on.
    RANVIER_LANES Ints pick(const std::int32_t* base, Ints at) {
        return _mm512_permutex2var_epi32(load(base), at, load(base + size));
    }
    RANVIER_LANES Reals pick_reals(const float* base, Ints at) {
        return _mm512_permutex2var_ps(load_reals(base), at, load_reals(base + size));
    }
    RANVIER_LANES Ints compress(Mask some, Ints value) { return _mm512_maskz_compress_epi32(some, value); }
    RANVIER_LANES Reals compress(Mask some, Reals value) { return _mm512_maskz_compress_ps(some, value); }
    RANVIER_LANES Reals expand(Reals otherwise, Mask some, Reals value) {
        return _mm512_mask_expand_ps(otherwise, some, value);
    }
    RANVIER_LANES Ints counted(std::size_t from) {
        return _mm512_add_epi32(_mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0),
                                _mm512_set1_epi32(static_cast<std::int32_t>(from)));
    }
};

template <>
struct Lanes<double> {
    static constexpr std::size_t size = 8;
    using Reals = __m512d;
    using Ints = __m256i;
    using Mask = __mmask8;

    RANVIER_LANES Mask first(std::size_t count) {
        return static_cast<Mask>(count >= size ? 0xFFU : (1U << count) - 1U);
    }
    RANVIER_LANES Ints all(std::int32_t value) { return _mm256_set1_epi32(value); }
    RANVIER_LANES Reals all_reals(double value) { return _mm512_set1_pd(value); }
    RANVIER_LANES Ints load(const void* from) { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }
    RANVIER_LANES Ints load16(Mask some, const void* from) {
        return _mm256_cvtepu16_epi32(_mm_maskz_loadu_epi16(some, from));
    }
    RANVIER_LANES Ints load8(Mask some, const void* from) {
        return _mm256_cvtepu8_epi32(_mm_maskz_loadu_epi8(some, from));
    }
    RANVIER_LANES Ints load_some(Mask some, const void* from) { return _mm256_maskz_loadu_epi32(some, from); }
    RANVIER_LANES Reals load_reals(const double* from) { return _mm512_loadu_pd(from); }
    RANVIER_LANES Reals load_some_reals(Mask some, const double* from) { return _mm512_maskz_loadu_pd(some, from); }
    RANVIER_LANES void store(void* to, Ints value) { _mm256_storeu_si256(static_cast<__m256i*>(to), value); }
    RANVIER_LANES void store(double* to, Reals value) { _mm512_storeu_pd(to, value); }
    RANVIER_LANES void store_some(void* to, Mask some, Ints value) { _mm256_mask_storeu_epi32(to, some, value); }
    RANVIER_LANES void store_some(double* to, Mask some, Reals value) { _mm512_mask_storeu_pd(to, some, value); }
    RANVIER_LANES void store16(void* to, Ints value) {
        _mm_storeu_si128(static_cast<__m128i*>(to), _mm256_cvtepi32_epi16(value));
    }
    RANVIER_LANES bool are_below(Mask some, Ints values, std::uint32_t bound) {
        return _mm256_mask_cmpge_epu32_mask(some, values, all(static_cast<std::int32_t>(bound))) == 0;
    }
    RANVIER_LANES Ints add(Ints a, Ints b) { return _mm256_add_epi32(a, b); }
    RANVIER_LANES Ints subtract(Ints a, Ints b) { return _mm256_sub_epi32(a, b); }
    RANVIER_LANES Ints larger(Ints a, Ints b) { return _mm256_max_epi32(a, b); }
    RANVIER_LANES Ints smaller(Ints a, Ints b) { return _mm256_min_epi32(a, b); }
    RANVIER_LANES Ints both(Ints a, Ints b) { return _mm256_and_si256(a, b); }
    template <int bits>
    RANVIER_LANES Ints shifted(Ints a) {
        return _mm256_srai_epi32(a, bits);
    }
    RANVIER_LANES Mask is_greater(Mask some, Ints a, Ints b) { return _mm256_mask_cmpgt_epi32_mask(some, a, b); }
    RANVIER_LANES Mask is_not_less(Mask some, Ints a, Ints b) { return _mm256_mask_cmpge_epi32_mask(some, a, b); }
    RANVIER_LANES Reals times(Reals a, Reals b) { return _mm512_mul_pd(a, b); }
    RANVIER_LANES Ints chosen(Mask some, Ints otherwise, Ints value) {
        return _mm256_mask_mov_epi32(otherwise, some, value);
    }
    RANVIER_LANES Reals chosen(Mask some, Reals otherwise, Reals value) {
        return _mm512_mask_mov_pd(otherwise, some, value);
    }
    RANVIER_LANES Ints gather(Ints otherwise, Mask some, const void* base, Ints at) {
        return _mm256_mmask_i32gather_epi32(otherwise, some, at, base, 4);
    }
    RANVIER_LANES Reals gather_reals(Reals otherwise, Mask some, const double* base, Ints at) {
        return _mm512_mask_i32gather_pd(otherwise, some, at, base, 8);
    }
    RANVIER_LANES Ints pick(const std::int32_t* base, Ints at) {
        return _mm256_permutex2var_epi32(load(base), at, load(base + size));
    }
    RANVIER_LANES Reals pick_reals(const double* base, Ints at) {
        return _mm512_permutex2var_pd(load_reals(base), _mm512_cvtepu32_epi64(at), load_reals(base + size));
    }
    RANVIER_LANES Ints compress(Mask some, Ints value) { return _mm256_maskz_compress_epi32(some, value); }
    RANVIER_LANES Reals compress(Mask some, Reals value) { return _mm512_maskz_compress_pd(some, value); }
    RANVIER_LANES Reals expand(Reals otherwise, Mask some, Reals value) {
        return _mm512_mask_expand_pd(otherwise, some, value);
    }
    RANVIER_LANES Ints counted(std::size_t from) {
        return _mm256_add_epi32(_mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0),
                                _mm256_set1_epi32(static_cast<std::int32_t>(from)));
    }
};

}  // namespace ranvier::connect::detail
#endif
