#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace ranvier {

/// A fixed number of elements of a plain type, aligned to a page and not initialised: memory is placed on the NUMA node of
/// the thread that touches it first, which must be the one that will use it.
///
/// Large buffers ask for huge pages. Accesses at random to gigabytes of synapses otherwise spend their time in page walks.
template <class T>
class Buffer {
    static_assert(std::is_trivially_copyable_v<T>);

   public:
    Buffer() = default;
    explicit Buffer(std::size_t size) : size_(size) {
        if (size == 0) return;
        if (size > (std::size_t{1} << 62) / sizeof(T)) throw std::bad_alloc();
        void* memory = ::mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) throw std::bad_alloc();
        data_ = static_cast<T*>(memory);
        // Advice only: where the kernel does not know it, pages stay small.
        if (bytes() >= huge_page) ::madvise(memory, bytes(), MADV_HUGEPAGE);
    }
    ~Buffer() { release(); }
    Buffer(Buffer&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    Buffer& operator=(Buffer&& other) noexcept {
        if (this != &other) {
            release();
            data_ = std::exchange(other.data_, nullptr);
            size_ = std::exchange(other.size_, 0);
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
    static constexpr std::size_t huge_page = std::size_t{2} << 20;

    void release() {
        if (data_ != nullptr) ::munmap(data_, bytes());
        data_ = nullptr;
    }

    T* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace ranvier
