#pragma once

#include <cstddef>
#include <cstring>
#include <memory_resource>

namespace ranvier {

/// Counts the bytes that are allocated from it. Blocks are filled with ones, which shows code that relies on zeros.
class CountingMemory final : public std::pmr::memory_resource {
   public:
    std::size_t bytes() const { return bytes_; }

   private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        void* const block = std::pmr::new_delete_resource()->allocate(bytes, alignment);
        std::memset(block, 0xFF, bytes);
        bytes_ += bytes;
        return block;
    }
    void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override {
        bytes_ -= bytes;
        std::pmr::new_delete_resource()->deallocate(block, bytes, alignment);
    }
    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }

    std::size_t bytes_ = 0;
};

}  // namespace ranvier
