#pragma once

#include <cstddef>
#include <limits>
#include <memory_resource>
#include <new>
#include <type_traits>
#include <vector>

namespace ranvier {

/// Bytes of a cache line, and of the widest vector.
inline constexpr std::size_t line_bytes = 64;

/// Allocates at multiples of a cache line from a memory resource, which must outlive what was allocated.
template <class T>
class LineAllocator {
   public:
    using value_type = T;
    /// The allocator moves and swaps with its contents.
    using propagate_on_container_move_assignment = std::true_type;
    using propagate_on_container_swap = std::true_type;

    LineAllocator() = default;
    explicit(false) LineAllocator(std::pmr::memory_resource* memory) noexcept : memory_(memory) {}
    template <class U>
    explicit(false) LineAllocator(const LineAllocator<U>& other) noexcept : memory_(other.resource()) {}

    T* allocate(std::size_t count) {
        if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_array_new_length();
        return static_cast<T*>(memory_->allocate(count * sizeof(T), line_bytes));
    }
    void deallocate(T* pointer, std::size_t count) noexcept {
        memory_->deallocate(static_cast<void*>(pointer), count * sizeof(T), line_bytes);
    }
    std::pmr::memory_resource* resource() const { return memory_; }

    friend bool operator==(const LineAllocator& a, const LineAllocator& b) { return a.memory_ == b.memory_; }

   private:
    std::pmr::memory_resource* memory_ = std::pmr::new_delete_resource();
};

/// A vector whose first element is aligned to a cache line.
template <class T>
using AlignedVector = std::vector<T, LineAllocator<T>>;

}  // namespace ranvier
