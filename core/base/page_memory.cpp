#include "ranvier/base/page_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <new>

#include "base/aligned_array.hpp"

namespace ranvier {

namespace {

class PageMemory final : public std::pmr::memory_resource {
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        if (bytes >= separate_pages_bytes) return map_pages(bytes, alignment, bytes >= huge_page_bytes);
        return std::pmr::new_delete_resource()->allocate(bytes, std::max(alignment, line_bytes));
    }
    void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override {
        if (bytes >= separate_pages_bytes) return unmap_pages(block, bytes);
        std::pmr::new_delete_resource()->deallocate(block, bytes, std::max(alignment, line_bytes));
    }
    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }
};

}  // namespace

std::size_t page_bytes() {
    static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    return bytes;
}

std::size_t whole_pages(std::size_t bytes) { return (bytes + page_bytes() - 1) / page_bytes() * page_bytes(); }

void* map_pages(std::size_t bytes, std::size_t alignment, bool huge) {
    alignment = std::max(alignment, page_bytes());
    const std::size_t spare = alignment - page_bytes();
    if (bytes > std::numeric_limits<std::size_t>::max() / 2 - alignment) throw std::bad_alloc();
    const std::size_t needed = whole_pages(bytes);
    void* const mapped = ::mmap(nullptr, needed + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    auto* const begin = static_cast<std::byte*>(mapped);
    const std::size_t before = (alignment - reinterpret_cast<std::uintptr_t>(mapped) % alignment) % alignment;
    if (before > 0) ::munmap(begin, before);
    if (spare > before) ::munmap(begin + before + needed, spare - before);
    // Advice only. With the microcircuit at full scale (1.8 GB of synapses, 2 threads of a virtual machine, medians of
    // 5 runs in turn), huge pages reduce delivery from 0.87 to 0.72 s per simulated second, but raise building from 6.1
    // to 7.4 s: the program itself takes 15 % less time, but a host that reclaims free huge pages has to supply them
    // again. Alignment to the size of a huge page, which some kernels leave to the program, makes no difference for
    // arrays this large.
    if (huge) ::madvise(begin + before, needed, MADV_HUGEPAGE);
    return begin + before;
}

void unmap_pages(void* pages, std::size_t bytes) noexcept { ::munmap(pages, whole_pages(bytes)); }

std::pmr::memory_resource* page_memory() noexcept {
    static PageMemory memory;
    return &memory;
}

}  // namespace ranvier
