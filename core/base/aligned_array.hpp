#pragma once

#include <cstddef>
#include <cstdlib>
#include <limits>
#include <new>
#include <type_traits>
#include <vector>

namespace ranvier {

/// Bytes of a cache line, and of the widest vector.
inline constexpr std::size_t line_bytes = 64;

/// Allocates at multiples of a cache line.
template <class T>
struct LineAllocator {
    using value_type = T;

    LineAllocator() = default;
    template <class U>
    explicit(false) LineAllocator(const LineAllocator<U>&) noexcept {}

    T* allocate(std::size_t count) {
        if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_array_new_length();
        return static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t{line_bytes}));
    }
    void deallocate(T* pointer, std::size_t) noexcept { ::operator delete(pointer, std::align_val_t{line_bytes}); }

    friend bool operator==(LineAllocator, LineAllocator) { return true; }
};

/// A vector whose first element lies at the beginning of a cache line.
template <class T>
using AlignedVector = std::vector<T, LineAllocator<T>>;

}  // namespace ranvier
