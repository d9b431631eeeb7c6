#pragma once

#include <cstddef>
#include <memory_resource>

namespace ranvier {

/// Blocks of at least so many bytes are pages of their own, smaller ones come from the heap: rounding to whole pages then
/// costs at most a sixteenth.
inline constexpr std::size_t own_pages_bytes = std::size_t{64} << 10;

/// Bytes of a huge page, where the system has them.
inline constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

/// Bytes of a page of the system, a power of two.
std::size_t page_bytes();
/// `bytes` rounded up to whole pages.
std::size_t whole_pages(std::size_t bytes);

/// Whole pages of zeros. They get a place, on a NUMA node, only when they are touched: by default on that of the thread
/// that touches them first.
/// @param alignment a power of two
/// @param huge ask for huge pages; where the system does not know them, and at the ends of a range that does not begin and
/// end with one, pages stay small
/// @throws std::bad_alloc
void* map_pages(std::size_t bytes, std::size_t alignment, bool huge);
/// What map_pages() gave for so many bytes.
void unmap_pages(void* pages, std::size_t bytes) noexcept;

/// Memory of the process, from the system without anything in between: large blocks are pages of their own, huge ones
/// if they are large enough for that, small blocks come from the heap. All begin at a cache line. Their contents are
/// not defined.
std::pmr::memory_resource* page_memory() noexcept;

}  // namespace ranvier
