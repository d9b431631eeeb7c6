#pragma once

#include <algorithm>
#include <cstddef>

#include "base/instruction_set.hpp"

namespace ranvier::cable {

/// Of a slot: as many numbers of double precision as the widest vectors have.
inline constexpr std::size_t lanes = 8;

/// The numbers of the 8 lanes of a slot, in as many vectors as they fill.
///
/// GCC 12 unrolls a loop over 8 lanes that stands in another loop before it looks for vectors, and then finds none where
/// arrays could overlap. Here each operation is one of vectors by its type. Memory is read and written as bytes, so that
/// arrays of numbers may be seen as such. A vector has at most 32 bytes: one of 64 takes as long for a division as two of
/// them, and the elimination, which waits for divisions, took 1.4 times as long with it.
template <InstructionSet set>
class Eight {
    static constexpr std::size_t bytes = std::min(vector_bytes<set>, std::size_t{32});
    using Vector [[gnu::vector_size(bytes)]] = double;
    // Not sizeof(Vector), which GCC 12 takes for that of a double here.
    static constexpr std::size_t width = bytes / sizeof(double);
    static constexpr std::size_t count = lanes / width;

   public:
    RANVIER_ALWAYS_INLINE static Eight load(const double* from) {
        Eight result;
        for (std::size_t k = 0; k < count; ++k) {
            __builtin_memcpy(&result.vectors_[k], reinterpret_cast<const char*>(from + k * width), bytes);
        }
        return result;
    }
    RANVIER_ALWAYS_INLINE static Eight all(double value) {
        Eight result;
        for (std::size_t k = 0; k < count; ++k) result.vectors_[k] = value - Vector{};
        return result;
    }
    RANVIER_ALWAYS_INLINE void store(double* to) const {
        for (std::size_t k = 0; k < count; ++k) {
            __builtin_memcpy(reinterpret_cast<char*>(to + k * width), &vectors_[k], bytes);
        }
    }

    RANVIER_ALWAYS_INLINE friend Eight operator+(const Eight& a, const Eight& b) {
        Eight result;
        for (std::size_t k = 0; k < count; ++k) result.vectors_[k] = a.vectors_[k] + b.vectors_[k];
        return result;
    }
    RANVIER_ALWAYS_INLINE friend Eight operator-(const Eight& a, const Eight& b) {
        Eight result;
        for (std::size_t k = 0; k < count; ++k) result.vectors_[k] = a.vectors_[k] - b.vectors_[k];
        return result;
    }
    RANVIER_ALWAYS_INLINE friend Eight operator*(const Eight& a, const Eight& b) {
        Eight result;
        for (std::size_t k = 0; k < count; ++k) result.vectors_[k] = a.vectors_[k] * b.vectors_[k];
        return result;
    }
    RANVIER_ALWAYS_INLINE friend Eight operator/(const Eight& a, const Eight& b) {
        Eight result;
        for (std::size_t k = 0; k < count; ++k) result.vectors_[k] = a.vectors_[k] / b.vectors_[k];
        return result;
    }

   private:
    Vector vectors_[count];
};

}  // namespace ranvier::cable
