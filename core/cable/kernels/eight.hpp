#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "ranvier/base/instruction_set.hpp"

namespace ranvier::cable {

/// Lanes of a slot: as many doubles as the widest vectors have.
inline constexpr std::size_t lanes = 8;

/// Vector types by size in bytes. (GCC 12 treats vectors whose size is a template parameter as scalars.)
template <std::size_t bytes>
struct VectorsOf;
template <>
struct VectorsOf<16> {
    using Doubles [[gnu::vector_size(16)]] = double;
    using Masks [[gnu::vector_size(16)]] = long long;
    using Integers [[gnu::vector_size(8)]] = std::int32_t;
};
template <>
struct VectorsOf<32> {
    using Doubles [[gnu::vector_size(32)]] = double;
    using Masks [[gnu::vector_size(32)]] = long long;
    using Integers [[gnu::vector_size(16)]] = std::int32_t;
};

template <>
struct VectorsOf<64> {
    using Doubles [[gnu::vector_size(64)]] = double;
};

/// Some numbers, in as many vectors as they fill.
///
/// GCC 12 unrolls an inner loop over 8 lanes before it vectorises, and then fails if arrays may overlap. Here each
/// operation is a vector operation by its type. Memory is accessed as bytes, so that arrays of numbers may alias
/// vectors. A vector has at most 32 bytes: a division of 64 bytes takes as long as two of 32, and the elimination,
/// which is bound by divisions, took 1.4 times as long with it. Only cubic() uses wider ones.
template <InstructionSet set, std::size_t size>
class Numbers {
    static constexpr std::size_t bytes = std::min(vector_bytes<set>, std::size_t{32});
    using Vector = VectorsOf<bytes>::Doubles;
    using Mask = VectorsOf<bytes>::Masks;
    using Integers = VectorsOf<bytes>::Integers;
    static constexpr std::size_t width = bytes / sizeof(double);
    static constexpr std::size_t count = size / width;

   public:
    RANVIER_ALWAYS_INLINE static Numbers load(const double* from) {
        Numbers result;
        for (std::size_t k = 0; k < count; ++k) {
            __builtin_memcpy(&result.vectors_[k], reinterpret_cast<const char*>(from + k * width), bytes);
        }
        return result;
    }
    RANVIER_ALWAYS_INLINE void take(const VectorsOf<32>::Doubles& vector)
        requires(bytes == 32 && count == 1)
    {
        vectors_[0] = vector;
    }
    RANVIER_ALWAYS_INLINE static Numbers all(double value) {
        Numbers result;
        for (std::size_t k = 0; k < count; ++k) result.vectors_[k] = value - Vector{};
        return result;
    }
    RANVIER_ALWAYS_INLINE void store(double* to) const {
        for (std::size_t k = 0; k < count; ++k) {
            __builtin_memcpy(reinterpret_cast<char*>(to + k * width), &vectors_[k], bytes);
        }
    }
    /// The first or the second half of them.
    RANVIER_ALWAYS_INLINE Numbers<set, size / 2> half(std::size_t which) const {
        Numbers<set, size / 2> result;
        for (std::size_t k = 0; k < count / 2; ++k) result.vectors_[k] = vectors_[which * (count / 2) + k];
        return result;
    }

    RANVIER_ALWAYS_INLINE friend Numbers operator+(const Numbers& a, const Numbers& b) {
        Numbers result;
        for (std::size_t k = 0; k < count; ++k) result.vectors_[k] = a.vectors_[k] + b.vectors_[k];
        return result;
    }
    RANVIER_ALWAYS_INLINE friend Numbers operator-(const Numbers& a, const Numbers& b) {
        Numbers result;
        for (std::size_t k = 0; k < count; ++k) result.vectors_[k] = a.vectors_[k] - b.vectors_[k];
        return result;
    }
    RANVIER_ALWAYS_INLINE friend Numbers operator*(const Numbers& a, const Numbers& b) {
        Numbers result;
        for (std::size_t k = 0; k < count; ++k) result.vectors_[k] = a.vectors_[k] * b.vectors_[k];
        return result;
    }
    RANVIER_ALWAYS_INLINE friend Numbers operator/(const Numbers& a, const Numbers& b) {
        Numbers result;
        for (std::size_t k = 0; k < count; ++k) result.vectors_[k] = a.vectors_[k] / b.vectors_[k];
        return result;
    }

    RANVIER_ALWAYS_INLINE friend Numbers greater(const Numbers& a, const Numbers& b) {
        Numbers result;
        for (std::size_t k = 0; k < count; ++k) {
            result.vectors_[k] = a.vectors_[k] > b.vectors_[k] ? a.vectors_[k] : b.vectors_[k];
        }
        return result;
    }

    /// Stores the integer parts, which are at least 0 and below 2^31, to `to`; returns the fractions.
    RANVIER_ALWAYS_INLINE Numbers split(std::int32_t* to) const {
        Numbers rest;
        for (std::size_t k = 0; k < count; ++k) {
            const Integers whole = __builtin_convertvector(vectors_[k], Integers);
            __builtin_memcpy(reinterpret_cast<char*>(to + k * width), &whole, bytes / 2);
            rest.vectors_[k] = vectors_[k] - __builtin_convertvector(whole, Vector);
        }
        return rest;
    }

    /// Sets numbers outside [0, end) to 0, and marks them by 1 in `outside`.
    RANVIER_ALWAYS_INLINE void keep_within(double end, Numbers& outside) {
        for (std::size_t k = 0; k < count; ++k) {
            const Mask inside = (vectors_[k] >= Vector{}) & (vectors_[k] < end - Vector{});
            vectors_[k] = inside ? vectors_[k] : Vector{};
            outside.vectors_[k] = inside ? outside.vectors_[k] : 1.0 - Vector{};
        }
    }

    /// Transposes 4 rows of 4 numbers.
    RANVIER_ALWAYS_INLINE static void transpose(const Numbers (&rows)[4], double* columns, std::size_t stride)
        requires(size == 4)
    {
        if constexpr (width == 4) {
            Vector even01, odd01, even23, odd23;
            shuffle<0, 4, 2, 6>(rows[0].vectors_[0], rows[1].vectors_[0], &even01);
            shuffle<1, 5, 3, 7>(rows[0].vectors_[0], rows[1].vectors_[0], &odd01);
            shuffle<0, 4, 2, 6>(rows[2].vectors_[0], rows[3].vectors_[0], &even23);
            shuffle<1, 5, 3, 7>(rows[2].vectors_[0], rows[3].vectors_[0], &odd23);
            shuffle<0, 1, 4, 5>(even01, even23, columns);
            shuffle<0, 1, 4, 5>(odd01, odd23, columns + stride);
            shuffle<2, 3, 6, 7>(even01, even23, columns + 2 * stride);
            shuffle<2, 3, 6, 7>(odd01, odd23, columns + 3 * stride);
        } else {
            for (std::size_t k = 0; k < 2; ++k) {
                for (std::size_t r = 0; r < 4; r += 2) {
                    const Vector& a = rows[r].vectors_[k];
                    const Vector& b = rows[r + 1].vectors_[k];
                    shuffle<0, 2>(a, b, columns + 2 * k * stride + r);
                    shuffle<1, 3>(a, b, columns + (2 * k + 1) * stride + r);
                }
            }
        }
    }

   private:
    template <InstructionSet, std::size_t>
    friend class Numbers;

    template <int... indices>
    RANVIER_ALWAYS_INLINE static void shuffle(const Vector& a, const Vector& b, void* to) {
#if defined(__clang__)
        const Vector result = __builtin_shufflevector(a, b, indices...);
#else
        const Vector result = __builtin_shuffle(a, b, Mask{indices...});
#endif
        __builtin_memcpy(to, &result, bytes);
    }

    Vector vectors_[count];
};

/// c0 + f (c1 + f (c2 + f c3)) for 8 functions: `numbers` has c0 of all, then c1 of all and so on. The results are
/// those of the first four and of the others.
template <InstructionSet set>
RANVIER_ALWAYS_INLINE void cubic(const double* numbers, double f, Numbers<set, 4>& first, Numbers<set, 4>& second) {
    if constexpr (vector_bytes<set> == 64) {
        using Vector = VectorsOf<64>::Doubles;
        Vector result;
        __builtin_memcpy(&result, reinterpret_cast<const char*>(numbers + 24), 64);
        for (std::size_t c = 3; c-- > 0;) {
            Vector next;
            __builtin_memcpy(&next, reinterpret_cast<const char*>(numbers + c * 8), 64);
            result = next + (f - Vector{}) * result;
        }
        first.take(__builtin_shufflevector(result, result, 0, 1, 2, 3));
        second.take(__builtin_shufflevector(result, result, 4, 5, 6, 7));
    } else {
        using Eight = Numbers<set, 8>;
        Eight result = Eight::load(numbers + 24);
        for (std::size_t c = 3; c-- > 0;) result = Eight::load(numbers + c * 8) + Eight::all(f) * result;
        first = result.half(0);
        second = result.half(1);
    }
}

/// The numbers of the lanes of a slot.
template <InstructionSet set>
using Eight = Numbers<set, lanes>;

}  // namespace ranvier::cable
