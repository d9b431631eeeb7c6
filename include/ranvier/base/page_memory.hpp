#pragma once

#include <cstddef>
#include <memory_resource>

namespace ranvier {

/// Blocks of at least this size are mapped as separate pages, smaller ones come from the heap: rounding to whole pages
/// then costs at most a sixteenth.
inline constexpr std::size_t separate_pages_bytes = std::size_t{64} << 10;

/// Bytes of a huge page, where the system supports them.
inline constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

/// Bytes of a page of the system, a power of two.
std::size_t page_bytes();
/// `bytes` rounded up to whole pages.
std::size_t whole_pages(std::size_t bytes);

/// Whole pages of zeros. The kernel places a page on a NUMA node when it is first touched, by default on that of the
/// touching thread.
/// @param alignment a power of two
/// @param huge request huge pages; pages stay small where the system does not support them, and at the ends of a range
/// that are not aligned to huge pages
/// @throws std::bad_alloc
void* map_pages(std::size_t bytes, std::size_t alignment, bool huge);
/// Unmaps a result of map_pages() with the same size.
void unmap_pages(void* pages, std::size_t bytes) noexcept;

/// The memory resource of the process, directly on the system: large blocks are mapped as separate pages, as huge pages
/// if they are large enough, and small blocks come from the heap. All are aligned to cache lines and uninitialised.
std::pmr::memory_resource* page_memory() noexcept;

}  // namespace ranvier
