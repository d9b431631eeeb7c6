#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory_resource>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "ranvier/base/page_memory.hpp"

namespace ranvier {

/// A fixed number of uninitialised elements of a plain type. The kernel places memory on the NUMA node of the thread
/// that touches it first, unless the memory resource places it elsewhere: the thread that uses the buffer must touch it
/// first.
template <class T>
class Buffer {
    static_assert(std::is_trivially_copyable_v<T>);

   public:
    Buffer() = default;
    /// @param memory the resource to allocate from, which must outlive the buffer
    /// @throws std::bad_alloc
    explicit Buffer(std::size_t size, std::pmr::memory_resource* memory = page_memory())
        : size_(size), memory_(memory) {
        if (size == 0) return;
        if (size > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_alloc();
        data_ = static_cast<T*>(memory_->allocate(bytes(), alignof(T)));
    }
    ~Buffer() { release(); }
    Buffer(Buffer&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)), memory_(other.memory_) {}
    Buffer& operator=(Buffer&& other) noexcept {
        if (this != &other) {
            release();
            data_ = std::exchange(other.data_, nullptr);
            size_ = std::exchange(other.size_, 0);
            memory_ = other.memory_;
        }
        return *this;
    }

    T* data() { return data_; }
    const T* data() const { return data_; }
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    std::size_t bytes() const { return size_ * sizeof(T); }
    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }
    std::span<T> span() { return {data_, size_}; }
    std::span<const T> span() const { return {data_, size_}; }

   private:
    void release() {
        if (data_ != nullptr) memory_->deallocate(static_cast<void*>(data_), bytes(), alignof(T));
        data_ = nullptr;
    }

    T* data_ = nullptr;
    std::size_t size_ = 0;
    std::pmr::memory_resource* memory_ = nullptr;
};

}  // namespace ranvier
